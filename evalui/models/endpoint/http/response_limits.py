"""How much of a server's reply is read: up to a limit of its own, within what all may take.

Bytes are counted after decompression, and before it too: either may be endless.
"""

import re
import zlib
from collections import deque
from collections.abc import AsyncIterable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from asyncio import Future

BASE_BYTES = 2**20  # bytes that any reply may have
BYTES_PER_TOKEN = (
    512  # bytes of a token with its text, its bytes as numbers, and its log-probability
)
# Lists, objects and their members: parsed, each takes up to some hundred bytes of memory, and
# in the reply as few as three. A log-probability has five of them in sixty bytes or more, and the
# limit in bytes is several times what an honest reply has.
BASE_ITEMS = 20_000
_BYTES_PER_ITEM = 48
MAX_REPLY_BYTES = 64 * 2**20  # bytes of a reply, whatever was requested
MAX_IN_FLIGHT_BYTES = 256 * 2**20  # bytes of all replies that are being read, in one process
COMMON_REPLY_BYTES = 2**18  # bytes; nearly all replies are shorter
_DECOMPRESSED_CHUNK = 2**16  # bytes that are decompressed at a time
_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for the format
_PLAIN = ("", "identity")
_ZIPPED = ("gzip", "x-gzip")
ACCEPTED = "gzip"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)  # of JSON


class ReplyTooLong(Exception):
    """A reply has more bytes than an honest one could have; `limit` is that many."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class InvalidContentEncoding(Exception):
    """A reply is not compressed in the manner that was requested, or breaks off."""


def reply_byte_limit(body: Mapping[str, Any]) -> int:
    """The bytes that a reply to a request may have.

    A base, and for each token of the prompt and each new one as many for itself and for each
    log-probability requested. A text counts a token for each character, which is more than it has.
    """
    tokens = sum(_max_prompt_tokens(body.get(field)) for field in ("prompt", "messages", "tokens"))
    tokens += max(
        _requested_count(body.get(field)) for field in ("max_tokens", "max_completion_tokens")
    )
    fields = ("logprobs", "top_logprobs", "prompt_logprobs", "logprob_token_ids")
    listed = max(_requested_count(body.get(field)) for field in fields)
    return min(MAX_REPLY_BYTES, BASE_BYTES + BYTES_PER_TOKEN * tokens * (1 + listed))


class ReplyReservation:
    """What one reply may take: `limit` bytes, of which those in use are reserved in the budget."""

    def __init__(self, budget: "ReplyMemoryBudget", limit: int) -> None:
        self._budget = budget
        self.limit = limit
        self._common = self._rest = 0

    async def grow(self, size: int) -> None:
        """Take what a reply of `size` bytes needs, once there is as much; raises `ReplyTooLong`."""
        if size > self.limit:
            raise ReplyTooLong(self.limit)
        if not self._common:
            await self._budget.common.acquire(COMMON_REPLY_BYTES)
            self._common = COMMON_REPLY_BYTES
        if size > COMMON_REPLY_BYTES and not self._rest:
            # All it may ever need at once: two that wait for each other's rest would never end.
            await self._budget.rest.acquire(self.limit)
            self._rest = self.limit

    def release(self) -> None:
        """Give everything back."""
        self._budget.common.release(self._common)
        self._budget.rest.release(self._rest)
        self._common = self._rest = 0


class ReplyMemoryBudget:
    """The bytes of all replies that are being read, and not yet parsed, at one time.

    A quarter is for the beginnings of replies, the rest for those few that are longer. A reply
    that waits for the rest holds a beginning only, and one that has both needs nothing more, so
    none waits for ever. `total` must be at least 4/3 of `MAX_REPLY_BYTES`.
    """

    def __init__(self, total: int = MAX_IN_FLIGHT_BYTES) -> None:
        self.common = _FairByteSemaphore(total // 4)
        self.rest = _FairByteSemaphore(total - total // 4)

    @contextmanager
    def reserve(self, limit: int) -> Generator[ReplyReservation]:
        """The memory of a reply, until it is parsed. Nothing is taken before it arrives."""
        reservation = ReplyReservation(self, limit)
        try:
            yield reservation
        finally:
            reservation.release()


class _FairByteSemaphore:
    """So many bytes, given out in the order in which they are requested; of one event loop."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._waiting: deque[tuple[int, Future[None]]] = deque()

    async def acquire(self, size: int) -> None:
        """Wait for so many bytes and take them."""
        if self._free >= size and not self._waiting:
            self._free -= size
            return
        import asyncio

        given = asyncio.get_running_loop().create_future()
        self._waiting.append((size, given))
        try:
            await given
        except asyncio.CancelledError:
            if given.cancelled():
                with suppress(ValueError):  # it was its turn already
                    self._waiting.remove((size, given))
                self._give()  # to those behind it
            else:
                self.release(size)
            raise

    def release(self, size: int) -> None:
        """Give so many bytes back."""
        self._free += size
        self._give()

    def _give(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            size, given = self._waiting.popleft()
            if not given.cancelled():  # else it is on its way out
                self._free -= size
                given.set_result(None)


# One in each process: what it protects is the memory of the process.
REPLY_MEMORY = ReplyMemoryBudget()


async def read_all(
    pieces: AsyncIterable[bytes], headers: Mapping[str, str], reservation: ReplyReservation
) -> bytes:
    """The whole body of a reply, decompressed.

    Raises:
        ReplyTooLong: it has more bytes than are reserved, or its header states more.
        InvalidContentEncoding: it cannot be decompressed.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > reservation.limit:
        raise ReplyTooLong(reservation.limit)
    body = bytearray()
    unpack = _unpacker(headers.get("content-encoding", ""))
    received = 0
    async for piece in pieces:
        received += len(piece)
        if received > reservation.limit:  # as compressed nothing may be endless
            raise ReplyTooLong(reservation.limit)
        for part in unpack.feed(piece):
            await reservation.grow(len(body) + len(part))
            body += part
    rest = unpack.end()
    await reservation.grow(len(body) + len(rest))
    return bytes(body + rest)


def check_items(body: bytes, limit: int) -> None:
    """Raise `ReplyTooLong` for JSON that would fill the memory when it is parsed.

    `limit` are the bytes that the reply may have.
    """
    most = BASE_ITEMS + limit // _BYTES_PER_ITEM
    if _count_items(body) > most and _count_items(_STRING.sub(b"", body)) > most:
        raise ReplyTooLong(limit)


def _count_items(body: bytes) -> int:
    return body.count(b",") + body.count(b"[") + body.count(b"{")


async def read_beginning(
    pieces: AsyncIterable[bytes], headers: Mapping[str, str], most: int
) -> bytes:
    """The first bytes of a body, decompressed as far as it can be; `most` at most."""
    body = bytearray()
    received = 0
    try:
        unpack = _unpacker(headers.get("content-encoding", ""))
        async for piece in pieces:
            received += len(piece)
            for part in unpack.feed(piece):
                body += part
                if len(body) >= most:
                    return bytes(body[:most])
            if received > most:
                break
    except InvalidContentEncoding:
        pass  # what has been read is what is known of an error
    return bytes(body)


def _max_prompt_tokens(value: object) -> int:
    """The tokens of a prompt at most: characters of texts, numbers in lists."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return _max_prompt_tokens(cast("dict[str, object]", value).get("content"))
    if isinstance(value, list):
        each = cast("list[object]", value)
        return sum(1 if isinstance(one, int) else _max_prompt_tokens(one) for one in each)
    return 0


def _requested_count(value: object) -> int:
    """How many log-probabilities or tokens a field requests: a number, a list, or whether any."""
    if isinstance(value, list):
        return len(cast("list[object]", value))
    return max(0, int(value)) if isinstance(value, int) else 0


class _Plain:
    """A body that is not compressed."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What a piece of the body is."""
        yield piece

    def end(self) -> bytes:
        """What is left when the body has ended."""
        return b""


class _Gzip:
    """A body that is compressed, unpacked a little at a time."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What a piece of the body unpacks to."""
        left = piece
        try:
            while left and not self._inflate.eof:
                yield self._inflate.decompress(left, _DECOMPRESSED_CHUNK)
                left = self._inflate.unconsumed_tail
        except zlib.error as error:
            raise InvalidContentEncoding from error

    def end(self) -> bytes:
        """What is left; raises `InvalidContentEncoding` if the body has broken off."""
        try:
            rest = self._inflate.flush()
        except zlib.error as error:
            raise InvalidContentEncoding from error
        if not self._inflate.eof:
            raise InvalidContentEncoding
        return rest


def _unpacker(encoding: str) -> _Plain | _Gzip:
    kind = encoding.strip().lower()
    if kind in _PLAIN:
        return _Plain()
    if kind in _ZIPPED:
        return _Gzip()
    raise InvalidContentEncoding
