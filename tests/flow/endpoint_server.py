"""A small server of the chat protocol, with scripted answers; a program, so it can be killed.

`python endpoint_server.py PORT FOLDER`: prints its port once it listens. Before each request it
reads FOLDER/mood.json: `status` is what it answers with (200 unless told otherwise), be it to a
`share` of the questions of a run alone, drawn at random; `refuse` a text in prompts that it turns
down by HTTP 400, or with the reply of `REFUSALS` that `refusal` names, `delay` the seconds an
answer takes, `manner` one of `MANNERS` in which it misbehaves ("" for none). Once it has been asked
`most` questions of a run, all others wait until the mood changes. FOLDER/log has a line for
every question it has answered, with the time, written after the answer was sent; FOLDER/refused one
for each that met the status. It serves the models `MODELS`, of which the last judges.
"""

import hashlib
import itertools
import json
import random
import socket
import struct
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODELS = ("tiny", "other", "judge")
TOKENS = (40, 6)  # read and written for each question


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = Path()
    turns = itertools.count()

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self.reply(
                200,
                {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]},
            )
        else:
            self.reply(404, {"error": {"message": "no such page"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            self.reply(404, {"error": {"message": "no such page"}})
            return
        prompt = body["messages"][-1]["content"]
        of_run = " plus " in prompt
        mood = self.mood(of_run)
        time.sleep(mood["delay"])
        is_met = random.random() < mood["share"] if of_run else mood["share"] == 1
        if mood["status"] != 200 and is_met:
            self.note("refused", prompt)
            self.reply(mood["status"], {"error": {"message": "overloaded"}})
        elif mood["manner"]:
            MANNERS[mood["manner"]](self)
        elif mood["refuse"] and mood["refuse"] in prompt and not mood["refusal"]:
            self.reply(400, {"error": {"message": "the prompt is too long"}})
        elif mood["refuse"] and mood["refuse"] in prompt:
            body = answer(prompt, body["model"])
            body["choices"][0] |= REFUSALS[mood["refusal"]]
            self.reply(200, body)
        else:
            self.reply(200, answer(prompt, body["model"]))
            self.note("log", prompt)

    def mood(self, counts: bool) -> dict[str, Any]:
        turn = next(self.turns) if counts else 0  # one step, so threads need no lock
        while turn >= (mood := json.loads((self.folder / "mood.json").read_text()))["most"] > 0:
            time.sleep(0.1)  # a file tells nobody when it changes
        return mood

    def reply(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def note(self, file: str, prompt: str) -> None:
        # One write of one short line is not mixed with another's.
        with (self.folder / file).open("a", encoding="utf-8") as log:
            log.write(json.dumps([time.time(), prompt]) + "\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def endless(handler: Handler) -> None:
    """A reply that goes on for ever, as fast as it is taken."""
    begin(handler)
    while True:
        handler.wfile.write(b" " * 2**16)


def drip(handler: Handler) -> None:
    """A reply that goes on for ever, a byte at a time."""
    begin(handler)
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.05)  # what it is for


def bomb(handler: Handler) -> None:
    """Two gigabytes of blanks in two megabytes."""
    begin(handler, ("Content-Encoding", "gzip"))
    pack = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for _ in range(2000):
        handler.wfile.write(pack.compress(b" " * 2**20))
    handler.wfile.write(pack.flush())


def redirect(handler: Handler) -> None:
    """A place elsewhere, at which nobody listens."""
    handler.send_response(307)
    handler.send_header("Location", "http://elsewhere.invalid/v1/chat/completions?token=secret")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def drop(handler: Handler) -> None:
    """No answer at all: the connection ends."""
    handler.close_connection = True


def reset(handler: Handler) -> None:
    """No answer at all: the connection is torn down."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def half(handler: Handler) -> None:
    """Half of an answer, whose whole length was stated."""
    content = json.dumps(answer("half")).encode()
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])


def malformed(handler: Handler) -> None:
    """No JSON, though it is said to be."""
    begin(handler)
    handler.wfile.write(b'{"choices": [{"message": {"content": "The answer is (A')


def stall(handler: Handler) -> None:
    """Nothing, for longer than anybody waits."""
    handler.close_connection = True
    time.sleep(30)  # what it is for


MANNERS = {
    manner.__name__: manner
    for manner in (endless, drip, bomb, redirect, drop, reset, half, malformed, stall)
}

# Replies that are no answer, by what is the matter with them.
REFUSALS = {
    "cut within thoughts": {
        "message": {"role": "assistant", "content": "<think>Maybe A. Or"},
        "finish_reason": "length",
    },
    "nothing but thoughts": {
        "message": {"role": "assistant", "content": "", "reasoning_content": "Maybe A."},
        "finish_reason": "length",
    },
    "answered within thoughts": {
        "message": {"role": "assistant", "content": None, "reasoning_content": "It is A."},
        "finish_reason": "stop",
    },
    "filtered": {
        "message": {"role": "assistant", "content": ""},
        "finish_reason": "content_filter",
    },
    "calls a tool": {
        "message": {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        "finish_reason": "tool_calls",
    },
    "broken off": {
        "message": {"role": "assistant", "content": "The answer"},
        "finish_reason": "error",
    },
    "no choice": {"index": 7},
}


def begin(handler: Handler, *headers: tuple[str, str]) -> None:
    handler.close_connection = True  # whose end is the end of the body
    handler.send_response(200)
    for name, value in (("Content-Type", "application/json"), *headers):
        handler.send_header(name, value)
    handler.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024  # who is not queued waits a second

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that was stopped


def answer(prompt: str, model: str = MODELS[0]) -> dict[str, Any]:
    drawn = hashlib.sha256(prompt.encode()).digest()[0] % 4
    if model == MODELS[-1]:
        text = f"[[Answer {1 + drawn % 2}]]"
    else:
        text = f"The answer is ({'ABCD'[(drawn + MODELS.index(model)) % 4]})."
    said = {"role": "assistant", "content": text}
    read, written = TOKENS
    return {
        "id": "a",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def listening(port: int) -> Server:
    """A server at the port; 0 chooses one that no outgoing connection is given meanwhile."""
    for _ in range(100):
        try:
            return Server(("127.0.0.1", port or random.randrange(20_000, 32_000)), Handler)
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"port {port} is taken")


if __name__ == "__main__":
    Handler.folder = Path(sys.argv[2])
    server = listening(int(sys.argv[1]))
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
