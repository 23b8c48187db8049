"""A chat server that costs little: `python endpoint_server.py` prints its port once it listens.

The first part of a path says how long an answer takes and what goes wrong, see `MANNERS`; each base
URL is `http://127.0.0.1:PORT/MANNER/NAME/v1`. GET /stat tells what was asked since it was asked
last. No program that is measured shares its process.
"""

import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

BUSY_LIMIT = 32  # requests that `busy` takes at a time
_RETRY_AFTER_S = 1
_JUDGE = "judge"  # the NAME of a base URL that answers with a verdict


@cache
def _reply(name: str, question: str = "") -> bytes:
    # Answers that are the same would be judged once, and equal verdicts read once.
    text = f"{question} is right.\n[[Answer 1]]" if question else f"The answer is B. ({name})"
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 50, "completion_tokens": 6, "total_tokens": 56}
    reply = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }
    return json.dumps(reply).encode()


@cache
def _models(name: str) -> bytes:
    # By its own name, too: models of one name are taken for one model, whose replies are kept.
    listed = [{"id": each, "object": "model"} for each in ("fake", name)]
    return json.dumps({"object": "list", "data": listed}).encode()


_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_QUESTION = re.compile(rb"Question (\w+)")


@dataclass(frozen=True)
class Manner:
    """`seconds` draws how long an answer takes, `mean` is their mean; `refuses` gives a status
    other than 200, or 0, by the number of requests that are being answered.
    """

    mean: float
    seconds: Callable[[], float]
    refuses: Callable[[int], int] = lambda _: 0


def _tail() -> float:
    return 3.0 if random.random() < 0.02 else 0.05


MANNERS = {
    "fixed": Manner(0.02, lambda: 0.02),
    "exponential": Manner(0.3, lambda: min(6.0, random.expovariate(1 / 0.3))),
    "tail": Manner(0.109, _tail),
    "limited": Manner(0.02, lambda: 0.02, lambda _: 429 if random.random() < 0.1 else 0),
    "busy": Manner(0.02, lambda: 0.02, lambda live: 429 if live >= BUSY_LIMIT else 0),
    "errors": Manner(0.02, lambda: 0.02, lambda _: 500 if random.random() < 0.05 else 0),
}


class Counts:
    """What was asked: answers, refusals, the most at a time, and how often each question."""

    def __init__(self) -> None:
        self.answered = self.refused = self.most = self.connections = 0
        self.live: Counter[str] = Counter()  # by base URL
        self.asked: Counter[bytes] = Counter()

    def told(self) -> bytes:
        """As JSON; counting begins anew."""
        twice = sum(times - 1 for times in self.asked.values())
        told = {name: getattr(self, name) for name in ("answered", "refused", "most")}
        told |= {"connections": self.connections, "twice": twice, "asked": len(self.asked)}
        self.answered = self.refused = self.most = self.connections = 0
        self.asked.clear()
        return json.dumps(told).encode()


COUNTS = Counts()


class Connection(asyncio.Protocol):
    """One connection; it takes one request at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "of TCP"
        self._transport = transport
        self._received = b""
        COUNTS.connections += 1

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        found = _LENGTH.search(self._received, 0, end + 2)
        whole = end + 4 + (int(found[1]) if found else 0)
        if len(self._received) < whole:
            return
        head, body = self._received[:end], self._received[end + 4 : whole]
        self._received = self._received[whole:]
        self._serve(head.split(b" ", 2)[1].decode(), body)

    def _serve(self, path: str, body: bytes) -> None:
        _, manner, *rest = path.split("/")
        if manner == "stat":
            self._send(200, COUNTS.told())
        elif rest[-1] == "models":
            self._send(200, _models(rest[0]))
        elif rest[-2:] != ["chat", "completions"]:
            self._send(404, b'{"error": {"message": "no such page"}}')
        else:
            self._answer(manner, rest[0], body)

    def _answer(self, manner: str, name: str, body: bytes) -> None:
        how, place = MANNERS[manner], f"{manner}/{name}"
        question = _QUESTION.search(body)
        # What is asked to find out what the server can do meets nothing of this.
        if question and (status := how.refuses(COUNTS.live[place])):
            COUNTS.refused += 1
            self._send(status, b'{"error": {"message": "busy"}}')
            return
        if question:
            COUNTS.answered += 1
            COUNTS.asked[question[1]] += 1
        COUNTS.live[place] += 1
        COUNTS.most = max(COUNTS.most, COUNTS.live[place])
        seconds = how.seconds() if question else 0.0
        reply = _reply(name, question[1].decode()) if question and name == _JUDGE else _reply(name)
        asyncio.get_running_loop().call_later(seconds, self._end, place, reply)

    def _end(self, place: str, reply: bytes) -> None:
        COUNTS.live[place] -= 1
        self._send(200, reply)

    def _send(self, status: int, body: bytes) -> None:
        if self._transport.is_closing():
            return
        wait = b"Retry-After: %d\r\n" % _RETRY_AFTER_S if status == 429 else b""
        head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
        self._transport.write(head % (status, len(body), wait) + body)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
