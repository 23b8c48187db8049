"""A server that behaves as a profile says; its model is right on exactly 80 % of questions.

A profile is a table of profiles.toml. Its model knows every answer but those to questions whose
number is divisible by 5, there it is wrong, so any figure but 80 % is the client's doing.
"""

import gzip
import json
import math
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

Json = dict[str, Any]

THOUGHT = (
    "Option A looks tempting; maybe the answer is A. But let me check each option again. "
    "The answer is A? No. "
)
THOUGHT_TOKENS = 120
EFFORT_TOKENS = {"none": 0, "low": 20}
RESET_S = 40_000.0  # until a quota of the day is there again
MARKS = {
    "tags": ("<think>\n", "</think>\n\n"),
    "opened": ("", "</think>\n\n"),
    "kimi": ("◁think▷", "◁/think▷"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "thought": ("<thought>\n**Weighing**\n", "\n</thought>"),
    "twice": (
        "<think>\n",
        "</think>\n\n<think>\nThe answer is A? No.\n</think>\n\n",
    ),
    "harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
}


def is_right(number: int) -> bool:
    """Whether the model knows the answer to a question."""
    return number % 5 != 0


def city_of(number: int) -> str:
    """What the model says is the city of a land."""
    return f"Townburg {number}" if is_right(number) else "Nowhere"


@dataclass(frozen=True)
class Knowledge:
    """What the model makes of a prompt: the text of its reply, and the letter it is about."""

    reply: str
    letter: str = ""


def understand(prompt: str) -> Knowledge:
    """What the model would reply to the last question of a prompt."""
    if "<answer" in prompt:
        numbers = re.findall(r"city of land (\d+)", prompt)
        shown = re.search(r"<answer[^>]*>(.*?)</answer", prompt, re.DOTALL)
        right = bool(shown) and f"Townburg {numbers[-1]}" in shown[1] and "think" not in shown[1]
        return Knowledge("[[correct]]" if right else "[[incorrect]]")
    if items := list(re.finditer(r"Item (\d+):", prompt)):
        number = int(items[-1][1])
        options = re.findall(r"^([A-D])[.、] ?(.*)$", prompt[items[-1].start() :], re.MULTILINE)
        letter = next((name for name, text in options if text.strip() == f"fits {number}"), "A")
        letter = letter if is_right(number) else "BCDA"["ABCD".index(letter)]
        return Knowledge(letter, letter)
    if lands := re.findall(r"city of land (\d+)", prompt):
        return Knowledge(city_of(int(lands[-1])))
    return Knowledge("B", "B")


def first_tokens(letter: str) -> list[tuple[str, float]]:
    """The most probable first tokens of a reply that begins with a letter, the best first."""
    letters = [(letter or "B", 0.8), *((each, 0.05) for each in "ABCD" if each != (letter or "B"))]
    words = ["The", "**", "Answer", " B", "\n", "Based", "I", "To", "Option", "Let", "(", "It"]
    rest = [(word, 0.025 * 0.5**place) for place, word in enumerate(words)]
    return _logprobs([*letters, *rest, *((f"w{place}", 1e-7) for place in range(9))])


def first_thoughts(mark: str) -> list[tuple[str, float]]:
    """The same of a reply that begins with a thought, or with the mark that opens one."""
    words = ["Okay", "Hmm", "First", "Alright", "A", "Let", "The", "So", "I", "B", "C", "D"]
    shares = [0.6, 0.2, 0.1, 0.03, 0.02, 0.01, 0.01, 0.005, 0.004, 0.001, 0.001, 0.001]
    if mark:
        return _logprobs(
            [
                (mark, 0.9999),
                *((word, share * 1e-4) for word, share in zip(words, shares, strict=True)),
            ]
        )
    return _logprobs(
        [*zip(words, shares, strict=True), *((f"w{place}", 1e-5) for place in range(9))]
    )


def _logprobs(shares: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(((word, math.log(share)) for word, share in shares), key=lambda each: -each[1])


@dataclass
class Refusal(Exception):
    """An answer that is no reply."""

    status: int
    body: object
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class FakeServer:
    """`with FakeServer(profile) as server:` listens at `server.url` until the end."""

    def __init__(self, profile: Json) -> None:
        self.profile = profile
        self.requests: list[tuple[str, Json]] = []
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._http = _Listener(("127.0.0.1", 0), self._handler())
        self.root = f"http://127.0.0.1:{self._http.server_port}"
        self.base = profile.get("base", "/v1")
        self.url = self.root + profile.get("address", self.base)

    def __enter__(self) -> "FakeServer":
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def respond(self, path: str, body: Json, headers: Mapping[str, str]) -> object:
        """The body of the answer to a request; raises `Refusal`."""
        where, _, query = path.partition("?")
        with self._lock:
            self.requests.append((where, body))
        self._check_key(headers, parse_qs(query))
        if not where.startswith(f"{self.base}/"):
            raise Refusal(404, {"detail": "Not Found"})
        route = where.removeprefix(f"{self.base}/")
        self._check_rules(route, body)
        if route == "models":
            names = self.profile.get("lists", [self.profile["model"]])
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
        routes = {
            "chat": "chat/completions",
            "completions": "completions",
            "responses": "responses",
        }
        served = {routes[name] for name in self.profile.get("interfaces", ["chat"])}
        if route not in served:
            raise Refusal(404, {"detail": "Not Found"})
        answer = getattr(self, f"_{route.partition('/')[0]}")(body)
        return self._altered(route, body, answer)

    def _check_key(self, headers: Mapping[str, str], query: Mapping[str, list[str]]) -> None:
        key, carrier = self.profile.get("key", ""), self.profile.get("key_header", "")
        sent = headers.get(carrier, "") if carrier else headers.get("authorization", "")
        if key and sent != (key if carrier else f"Bearer {key}"):
            raise Refusal(401, {"error": {"message": "Access denied due to invalid key."}})
        for name in self.profile.get("query", []):
            if name not in query:
                raise Refusal(404, {"error": {"code": "404", "message": "Resource not found"}})

    def _check_rules(self, route: str, body: Json) -> None:
        for place, rule in enumerate(self.profile.get("refuse", [])):
            if self._applies(f"refuse{place}", rule, route, body):
                time.sleep(rule.get("delay_s", 0.0))
                if "status" not in rule and "body" not in rule:
                    continue
                reset = str(int((time.time() + RESET_S) * 1000))
                content = rule.get("body", "").replace("@reset", reset)
                parsed = json.loads(content) if content[:1] in ("{", "[", '"') else content
                headers = {
                    name: value.replace("@reset", reset)
                    for name, value in rule.get("headers", {}).items()
                }
                raise Refusal(rule.get("status", 400), parsed, headers)

    def counts(self, name: str, every: int) -> bool:
        """Whether this is one in `every` of what is counted by a name; 0 is never."""
        with self._lock:
            self._counts[name] += 1
            return bool(every) and self._counts[name] % every == 0

    def _applies(self, name: str, rule: Json, route: str, body: Json) -> bool:
        """Whether the conditions of a rule hold; it counts the requests for which they do."""
        if rule.get("route", "chat/completions") != route:
            return False
        if "contains" in rule and rule["contains"] not in json.dumps(body, ensure_ascii=False):
            return False
        if not _field_applies(rule, body):
            return False
        with self._lock:
            self._counts[name] += 1
            count = self._counts[name]
        if "every" in rule:
            return count % rule["every"] == 0
        if "only" in rule:
            return count in rule["only"]
        return count > rule.get("after", 0)

    def _chat(self, body: Json) -> Json:
        prompt = _text_of(body["messages"][-1]["content"])
        known = understand(prompt)
        limit = body.get("max_completion_tokens", body.get("max_tokens", 16_000))
        message, reason, written = self._message(known.reply, limit, thinks=self._thinks(body))
        if isinstance(message.get("content"), str) and reason == "stop":
            message["content"] += self.profile.get("goes_on", "")
        choice: Json = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        if body.get("logprobs") and self.profile.get("logprobs", True):
            choice["logprobs"] = self._first(body, known, thinks=self._thinks(body))
        return self._answer("chat.completion", choice, prompt, written)

    def _completions(self, body: Json) -> Json:
        prompt = body["prompt"]
        if not isinstance(prompt, str):
            raise Refusal(400, {"error": {"message": "prompt must be a string"}})
        known = understand(prompt)
        choice: Json = {"index": 0, "text": f" {known.reply}", "finish_reason": "stop"}
        if body.get("echo") and self.profile.get("echo"):
            choice |= _echo(prompt)
        elif body.get("logprobs") and self.profile.get("completion_logprobs"):
            tops = [(f" {word}", logprob) for word, logprob in first_tokens(known.letter)]
            listed = dict(tops[: body["logprobs"]])
            choice["logprobs"] = {
                "tokens": [tops[0][0]],
                "token_logprobs": [tops[0][1]],
                "top_logprobs": [listed],
            }
        return self._answer("text_completion", choice, prompt, 2)

    def _responses(self, body: Json) -> Json:
        prompt = _text_of(body["input"][-1]["content"])
        reply, limit = understand(prompt).reply, body["max_output_tokens"]
        effort = _lookup(body, "reasoning.effort")
        enough = limit > EFFORT_TOKENS.get(effort, THOUGHT_TOKENS)
        output: list[Json] = [{"type": "reasoning", "summary": []}]
        if enough:
            parts = [{"type": "output_text", "text": reply, "annotations": []}]
            output.append({"type": "message", "role": "assistant", "content": parts})
        why = {"incomplete_details": {"reason": "max_output_tokens"}}
        return {
            "object": "response",
            "model": self.profile.get("reported", body["model"]),
            "status": "completed" if enough else "incomplete",
            **({} if enough else why),
            "output": output,
            "usage": {"input_tokens": 30, "output_tokens": 122, "total_tokens": 152},
        }

    def _answer(self, kind: str, choice: Json, prompt: str, written: int) -> Json:
        read = len(prompt) // 4
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        model = self.profile.get("reported", self.profile["model"])
        return {"object": kind, "model": model, "choices": [choice], "usage": usage}

    def _thinks(self, body: Json) -> bool:
        """Whether this reply begins with thoughts; `think_if` names what turns them on or off."""
        style = self.profile.get("thinks", "")
        switch = self.profile.get("think_if")
        if not switch:
            return bool(style)
        stated = _lookup(body, switch["field"])
        return bool(style) and (switch["default"] if stated is None else stated == switch["value"])

    def _message(self, reply: str, limit: int, *, thinks: bool) -> tuple[Json, str, int]:
        """The message of a reply of at most `limit` tokens, why it ends, and how many it has."""
        tokens = len(reply.split()) + 1
        finish = self.profile.get("finish", "stop")
        if not thinks:
            cut = limit < tokens
            text = " ".join(reply.split()[:limit]) if cut else reply
            return self._plain(text), "length" if cut else finish, min(limit, tokens)
        enough = limit >= THOUGHT_TOKENS + tokens
        thought = THOUGHT if enough else " ".join(THOUGHT.split()[: max(1, limit)])
        message = self._thinking(thought, reply if enough else None)
        return message, finish if enough else "length", min(limit, THOUGHT_TOKENS + tokens)

    def _plain(self, text: str) -> Json:
        if field_name := self.profile.get("swallowed"):
            return {"role": "assistant", "content": None, field_name: text}
        if self.profile.get("content") == "parts":
            return {"role": "assistant", "content": [{"type": "text", "text": text}]}
        return {"role": "assistant", "content": text}

    def _thinking(self, thought: str, reply: str | None) -> Json:
        style = self.profile["thinks"]
        if style in MARKS:
            begin, end = MARKS[style]
            text = f"{begin}{thought}" if reply is None else f"{begin}{thought}{end}{reply}"
            return {"role": "assistant", "content": text}
        if style == "parts":
            inside = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
            spoken = [] if reply is None else [{"type": "text", "text": reply}]
            return {"role": "assistant", "content": [inside, *spoken]}
        if style == "hidden":
            return {"role": "assistant", "content": reply or ""}
        if style == "missing":
            return {"role": "assistant", **({} if reply is None else {"content": reply})}
        return {"role": "assistant", "content": reply, style: thought}

    def _first(self, body: Json, known: Knowledge, *, thinks: bool) -> Json:
        thinks = thinks or bool(self.profile.get("first_is_word"))
        tops = (
            first_thoughts(self.profile.get("first", "")) if thinks else first_tokens(known.letter)
        )
        spelt = self.profile.get("blank", " ")
        rows = [
            {"token": word.replace(" ", spelt), "logprob": logprob, "bytes": None}
            for word, logprob in tops
        ]
        if self.profile.get("spells_ids"):
            rows = [row | {"token": f"token_id:{32 + place}"} for place, row in enumerate(rows)]
        listed = rows[: body.get("top_logprobs", 0)]
        shown = listed[1:] if self.profile.get("lists_others_only") else listed
        return {"content": [{**rows[0], "top_logprobs": shown}]}

    def _altered(self, route: str, body: Json, answer: Json) -> object:
        for place, rule in enumerate(self.profile.get("alter", [])):
            if self._applies(f"alter{place}", rule, route, body):
                answer |= json.loads(rule.get("answer", "{}"))
                if "choice" in rule:
                    answer["choices"][0] |= json.loads(rule["choice"])
                if rule.get("twice"):
                    answer["choices"].append(answer["choices"][0] | {"index": 1})
                if rule.get("whole"):
                    return json.loads(rule["whole"])
        if self.profile.get("streams") or body.get("stream"):
            return _as_events(answer)
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            answered = 0  # on this connection

            def do_GET(self) -> None:
                self._reply({})

            def do_POST(self) -> None:
                self._reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

            def _reply(self, body: Json) -> None:
                transport = fake.profile.get("transport", {})
                if "instead" in transport:  # of anything in HTTP/1.1
                    self.wfile.write(bytes.fromhex(transport["instead"]))
                    self.close_connection = True
                    return
                status, headers = 200, dict[str, str]()
                names = {name.lower(): value for name, value in self.headers.items()}
                try:
                    content = fake.respond(self.path, body, names)
                except Refusal as refusal:
                    status, content, headers = refusal.status, refusal.body, dict(refusal.headers)
                sent = (content if isinstance(content, str) else json.dumps(content)).encode()
                before = b"\n\n   \n" if fake.profile.get("keeps_alive") else b""
                if encoding := transport.get("encoding"):
                    headers["Content-Encoding"] = encoding
                    sent = gzip.compress(sent) if encoding == "gzip" else b"(\xb5/\xfd" + sent
                self.send_response(status)
                self.send_header("Content-Length", str(len(before + sent)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.answered += 1
                if fake.counts("half", transport.get("half_every", 0)):
                    self.wfile.write(sent[: len(sent) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(before + sent)
                if self.answered == transport.get("reset_after"):
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.wfile.flush()
                    time.sleep(0.01)  # the answer leaves before the connection is cut
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that was stopped


def _text_of(content: Any) -> str:
    return (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )


def _lookup(body: Json, path: str) -> Any:
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _field_applies(rule: Json, body: Json) -> bool:
    """Whether the field that a rule is about has a value it does not allow."""
    if "field" not in rule:
        return True
    value = _lookup(body, rule["field"])
    if "unless" in rule:  # what it must have
        return value != rule["unless"]
    if value is None:
        return False
    return (
        value > rule["above"]
        if "above" in rule
        else value < rule["below"]
        if "below" in rule
        else (value == rule["equals"] if "equals" in rule else bool(value) or value == [])
    )


def _echo(prompt: str) -> Json:
    """A prompt with its scores: the option that the model holds right is the most probable."""
    tokens = re.findall(r"\s*\S+|\s+$", prompt)
    numbers = re.findall(r"Item (\d+):", prompt)
    number = int(numbers[-1]) if numbers else 0
    wanted = f"fits {number}" if is_right(number) else f"odd {number}a"
    good = prompt.rstrip().endswith(wanted)
    scores: list[float | None] = [None, *(-0.1 if good else -3.0 for _ in tokens[1:])]
    tops = [None, *({token: score} for token, score in zip(tokens[1:], scores[1:], strict=True))]
    listed = {"tokens": tokens, "token_logprobs": scores, "top_logprobs": tops, "text_offset": []}
    return {"text": prompt, "logprobs": listed}


def _as_events(answer: Json) -> str:
    """An answer as a stream of events, the reply cut into its letters."""
    choice = answer["choices"][0]
    message = choice["message"]
    text, thoughts = message["content"] or "", message.get("reasoning_content")
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": thoughts}] if thoughts else []
    deltas += [{"content": each} for each in text]
    pieces = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    pieces.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    base = {"object": "chat.completion.chunk", "model": answer["model"]}
    chunks = [base | {"choices": [piece]} for piece in pieces]
    chunks.append(base | {"choices": [], "usage": answer["usage"]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ": keep-alive\n\n" + "".join(lines) + "data: [DONE]\n\n"
