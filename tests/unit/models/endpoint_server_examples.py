"""A small OpenAI-compatible server for tests, which misbehaves on demand.

It has no network inside: a token is a word with its leading blank, and what comes next is fixed.
"""

import base64
import io
import json
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from PIL import Image

Json = dict[str, Any]

DECISIONS_UNTRIED = (
    'it is asked by chat or completions; to ask it for decisions, let its backend be "decision"'
)
MODEL = "toy"
COLOURS = {"red": (255, 0, 0), "blue": (0, 0, 255), "green": (0, 128, 0), "gold": (255, 215, 0)}
NEXT = {" B": 0.5, " A": 0.2, "B": 0.1, " C": 0.05, " D": 0.04, " the": 0.03}


@dataclass(frozen=True)
class Reply:
    """One thing that goes wrong. `cut`: the connection ends in the middle of the body.

    `stream`: the pieces of the body, whose length nobody says, instead of `body`.
    """

    status: int = 200
    body: object = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    stream: Callable[[], Iterable[bytes]] | None = None


@dataclass
class Behaviour:
    """What the server can do. `alter` changes an answer before it is sent.

    `refused` are fields that chat turns down, each with OpenAI's sentence for it.
    """

    chat: bool = True
    completions: bool = True
    logprobs: bool = True
    echo: bool = True
    turns: bool = False  # chat scores its prompt
    pictures: Literal["ignored", "seen", "refused"] = "ignored"  # see `_shown`
    scores_pictures: bool = True  # with `turns`
    responses: bool = False  # has OpenAI's newer interface
    schema: bool = False  # chat writes the first word that each field of a schema allows
    most: int = 20  # top_logprobs
    key: str = ""
    refused: Mapping[str, Reply] = field(default_factory=dict)
    alter: Callable[[Json], object] = lambda answer: answer


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a client waits a second when its connection is not queued


class ToyServer:
    """`with ToyServer() as server:`; `script` are replies to the next requests, in order."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.script: deque[Reply] = deque()
        self.always: Reply | None = None
        self.asked: list[tuple[str, Json, dict[str, str]]] = []
        self.gone = False
        self.streamed = 0  # bytes of streams that the system has taken
        self._lock = threading.Lock()
        self._server = _Listener(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "ToyServer":
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Be gone, as a killed process is: with what it was at work on."""
        self.gone = True
        self._server.shutdown()
        self._server.server_close()

    def posts(self, path: str = "v1/completions") -> list[Json]:
        """The bodies sent to a path that ends so."""
        return [body for where, body, _ in self.asked if where.endswith(path)]

    def respond(self, path: str, body: Json, headers: dict[str, str]) -> Reply:
        with self._lock:
            self.asked.append((path, body, headers))
            planned = self.script.popleft() if self.script else self.always
        if planned is not None:
            return planned
        key = self.behaviour.key
        if key and headers.get("authorization") != f"Bearer {key}":
            told = f"Incorrect API key: {headers.get('authorization', '')}"
            return Reply(401, {"error": {"message": told}})
        made = self.made(path.partition("?")[0], body)
        if made.status != 200:
            return made
        return replace(made, body=self.behaviour.alter(made.body))  # type: ignore[arg-type]

    def made(self, path: str, body: Json) -> Reply:
        """The answer to a request for which nothing else is planned."""
        return _answer(self.behaviour, path, body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        toy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two writes: 40 ms otherwise

            def do_GET(self) -> None:
                self._send(toy.respond(self.path, {}, self._lower()))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                reply = toy.respond(self.path, body, self._lower())
                time.sleep(reply.delay)
                if toy.gone:
                    self.close_connection = True
                    return
                toy.streamed += _stream(self, reply) if reply.stream else self._send(reply)

            def _lower(self) -> dict[str, str]:
                return {name.lower(): value for name, value in self.headers.items()}

            def _send(self, reply: Reply) -> int:
                as_text = isinstance(reply.body, str)
                sent = (reply.body if as_text else json.dumps(reply.body)).encode()  # type: ignore[union-attr]
                try:
                    self.send_response(reply.status)
                    kind = "text/html" if as_text else "application/json"
                    self.send_header("content-type", kind)
                    self.send_header("content-length", str(len(sent)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(sent[: len(sent) // 2] if reply.cut else sent)
                except OSError:
                    self.close_connection = True  # whoever asked is gone
                self.close_connection = self.close_connection or reply.cut
                return 0

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _stream(handler: BaseHTTPRequestHandler, reply: Reply) -> int:
    """Send a body whose end is the end of the connection; the bytes that the system has taken."""
    handler.close_connection = True
    sent = 0
    try:
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        for piece in reply.stream() if reply.stream else ():
            handler.wfile.write(piece)
            sent += len(piece)
    except OSError:
        pass  # whoever asked is gone
    return sent


def refusal(told: str, status: int = 400) -> Reply:
    """An error in OpenAI's manner."""
    return Reply(status, {"error": {"message": told, "type": "invalid_request_error"}})


# What OpenAI's reasoning models turn down, in the order in which it is told.
THINKING = {
    "max_tokens": refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead."
    ),
    "temperature": refusal(
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
        "value is supported."
    ),
    "stop": refusal("Unsupported parameter: 'stop' is not supported with this model."),
    "logprobs": refusal("You are not allowed to request logprobs from this model", 403),
}


def words(text: str) -> list[str]:
    """The tokens of a text: each word with the blank before it, each mark by itself."""
    return re.findall(r"\s?\w+|\s|[^\w\s]", text)


def logprob(token: str) -> float:
    """What the server thinks of a token, wherever it stands."""
    return -len(token) / 4


def _answer(can: Behaviour, path: str, body: Json) -> Reply:
    if path.endswith("/models"):
        return Reply(200, {"data": [{"id": MODEL, "root": "/models/toy"}]})
    if body.get("model") != MODEL:
        return Reply(404, {"error": {"message": f"The model {body.get('model')} does not exist"}})
    if path.endswith("/chat/completions") and can.chat:
        return _chat(can, body)
    if path.endswith("/responses") and can.responses:
        return _response(can, body)
    if path.endswith("/v1/completions") and can.completions:
        return _completion(can, body)
    return Reply(404, {"detail": "Not Found"})


def _chat(can: Behaviour, body: Json) -> Reply:
    for name, reply in can.refused.items():
        if name in body:
            return reply
    content, told = body["messages"][-1]["content"], ""
    if _has_pictures(content):
        if can.pictures == "refused":
            return refusal("toy is not a multimodal model")
        told = _shown(content) if can.pictures == "seen" else ""
    top = body.get("top_logprobs", 0)
    if can.logprobs and top > can.most:
        return Reply(400, {"error": {"message": f"top_logprobs must be at most {can.most}"}})
    choice: Json = {
        "index": 0,
        "message": {"role": "assistant", "content": told or f"You said: {_text_of(content)}"},
        "finish_reason": "stop",
    }
    if can.schema and "response_format" in body:
        choice["message"]["content"] = json.dumps(_fitting(body["response_format"]))
    if can.logprobs and body.get("logprobs"):
        likely = {told: 0.9, "?": 0.05} if told else NEXT
        listed = [{"token": token, "logprob": math.log(p)} for token, p in likely.items()]
        choice["logprobs"] = {"content": [listed[0] | {"top_logprobs": listed[:top]}]}
    answer = _told([choice], read=len(words(str(body["messages"]))))
    unscored = not can.scores_pictures and any(map(_has_pictures, _contents(body)))
    if can.turns and "prompt_logprobs" in body and not unscored:
        answer |= _turns(body)
    return Reply(200, answer)


def _response(can: Behaviour, body: Json) -> Reply:
    """What chat replies to the same, in the form of the Responses API."""
    turns = [{"role": turn["role"], "content": _as_chat(turn["content"])} for turn in body["input"]]
    reply = _chat(can, {"messages": turns})
    if reply.status != 200:
        return reply
    text = reply.body["choices"][0]["message"]["content"]  # type: ignore[index]
    message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    return Reply(200, {"model": MODEL, "status": "completed", "output": [message]})


def _as_chat(content: str | list[Json]) -> str | list[Json]:
    if isinstance(content, str):
        return content
    assert {part["type"] for part in content} <= {"input_text", "input_image"}
    return [
        {"type": "text", "text": part["text"]}
        if "text" in part
        else {"type": "image_url", "image_url": {"url": part["image_url"]}}
        for part in content
    ]


def _contents(body: Json) -> list[str | list[Json]]:
    return [turn["content"] for turn in body["messages"]]


def _has_pictures(content: str | list[Json]) -> bool:
    return not isinstance(content, str) and any(part["type"] == "image_url" for part in content)


def _text_of(content: str | list[Json]) -> str:
    """A content as a text, in which a picture is a word; scores depend on its colour."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or f" {_colour(part)}" for part in content)


def _shown(content: list[Json]) -> str:
    """The letter of the option that names the colour of the first picture, else that colour; of
    options that are pictures themselves the letter of that whose colour the text names.
    """
    text, pictures = "", list[tuple[str, str]]()  # each with the letter before it
    for part in content:
        if part["type"] == "text":
            text += part["text"]
        else:
            letter = re.search(r"\b([A-Z])[.、] ?$", text)
            pictures.append((letter[1] if letter else "", _colour(part)))
    if options := {colour: letter for letter, colour in pictures if letter}:
        return next(letter for colour, letter in options.items() if colour in text.split())
    named = re.findall(r"^([A-Z])[.、] ?(\w+)$", text, re.MULTILINE)
    colour = pictures[0][1]
    return next((letter for letter, option in named if option == colour), colour)


def _colour(part: Json) -> str:
    head, _, body = part["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64", head
    with Image.open(io.BytesIO(base64.b64decode(body))) as image:
        shown = image.convert("RGB").getpixel((image.width // 2, image.height // 2))
    return next(name for name, colour in COLOURS.items() if colour == shown)


def painted(colour: str, side: int = 32) -> bytes:
    """A PNG file of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), COLOURS[colour]).save(file, "PNG")
    return file.getvalue()


def _fitting(response_format: Json) -> Json:
    fields = response_format["json_schema"]["schema"]["properties"]
    return {name: field.get("enum", ["because"])[0] for name, field in fields.items()}


def _turns(body: Json) -> Json:
    """What vLLM tells of the tokens that its template makes of a conversation."""
    pieces = ["<s>"]
    for turn in body["messages"]:
        pieces += [f"<{turn['role']}>", *words(_text_of(turn["content"]))]
    if body.get("add_generation_prompt", True):
        pieces.append("<assistant>")
    rows = [
        {str(sum(text.encode())): {"logprob": logprob(text), "rank": 1, "decoded_token": text}}
        for text in pieces[1:]
    ]
    return {"prompt_logprobs": [None, *rows], "usage": {"prompt_tokens": len(pieces)}}


def _completion(can: Behaviour, body: Json) -> Reply:
    prompt = body["prompt"]
    if not isinstance(prompt, str):
        return Reply(400, {"error": {"message": "prompt must be a string"}})
    choice: Json = {"index": 0, "text": f" {prompt[-8:]}", "finish_reason": "length"}
    if can.logprobs and body.get("logprobs"):
        if body["logprobs"] > can.most:
            return Reply(400, {"error": {"message": f"logprobs must be at most {can.most}"}})
        tops = {token: math.log(p) for token, p in list(NEXT.items())[: body["logprobs"]]}
        choice["logprobs"] = {"tokens": [" B"], "token_logprobs": [-1.0], "top_logprobs": [tops]}
    if can.echo and body.get("echo"):
        tokens = words(prompt)
        scores: list[float | None] = [None, *map(logprob, tokens[1:])]
        choice["logprobs"] = {"tokens": tokens, "token_logprobs": scores}
        choice["text"] = prompt
    return Reply(200, _told([choice], read=len(words(prompt))))


def _told(choices: list[Json], *, read: int) -> Json:
    usage = {"prompt_tokens": read, "completion_tokens": 2}
    return {"model": MODEL, "choices": choices, "usage": usage}


class Names:
    """A resolver that answers from a list, one entry for each time; the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, *_: object) -> list[str]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return answer
