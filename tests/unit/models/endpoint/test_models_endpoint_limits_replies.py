import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

import pytest

from evalui.models.endpoint.limits import (
    BASE_BYTES,
    COMMON_REPLY_BYTES,
    MAX_REPLY_BYTES,
    InvalidContentEncoding,
    ReplyMemoryBudget,
    ReplyReservation,
    ReplyTooLong,
    check_items,
    read_all,
    read_beginning,
    reply_byte_limit,
)

LIMIT = 2**20


async def sent(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def whole(pieces: Iterable[bytes], headers: Mapping[str, str], room: ReplyReservation) -> bytes:
    return asyncio.run(read_all(sent(pieces), headers, room))


def beginning(pieces: Iterable[bytes], headers: Mapping[str, str], most: int) -> bytes:
    return asyncio.run(read_beginning(sent(pieces), headers, most))


ZIPPED = {"content-encoding": "gzip"}


class Counted:
    """Pieces, counted as they are taken."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.bytes += len(piece)
            yield piece


def endless(piece: bytes = b" " * 2**16) -> Iterator[bytes]:
    while True:
        yield piece


def bomb() -> Iterator[bytes]:
    """200 MB of blanks, in 0.2 MB."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    block = b" " * 2**20
    for _ in range(200):
        if piece := pack.compress(block):
            yield piece
    yield pack.flush()


@pytest.fixture
def room() -> Iterator[ReplyReservation]:
    with ReplyMemoryBudget().reserve(LIMIT) as room:
        yield room


def test_an_endless_reply_is_read_up_to_its_limit(room: ReplyReservation):
    pieces = Counted(endless())
    with pytest.raises(ReplyTooLong):
        whole(pieces, {}, room)
    assert pieces.bytes <= LIMIT + 2**16


def test_a_bomb_is_unpacked_up_to_the_limit(room: ReplyReservation):
    pieces = Counted(bomb())
    with pytest.raises(ReplyTooLong):
        whole(pieces, ZIPPED, room)
    assert pieces.bytes < 2**15  # of 0.2 MB


def test_a_bomb_costs_no_more_memory_than_the_limit(room: ReplyReservation):
    import tracemalloc

    packed = list(bomb())
    tracemalloc.start()
    with pytest.raises(ReplyTooLong):
        whole(packed, ZIPPED, room)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * LIMIT


def test_compressed_nothing_is_not_read_for_ever(room: ReplyReservation):
    flushed = b"\x00\x00\x00\xff\xff"  # a stored block of no bytes
    head = gzip.compress(b"")[:10]

    def pieces() -> Iterator[bytes]:
        yield head
        yield from endless(flushed * 10_000)

    taken = Counted(pieces())
    with pytest.raises(ReplyTooLong):
        whole(taken, ZIPPED, room)
    assert taken.bytes <= LIMIT + 2**16


def test_a_reply_that_states_it_is_too_long_is_not_read(room: ReplyReservation):
    pieces = Counted(endless())
    with pytest.raises(ReplyTooLong):
        whole(pieces, {"content-length": str(LIMIT + 1)}, room)
    assert pieces.bytes == 0


def test_a_reply_is_read_whole(room: ReplyReservation):
    text = bytes(range(256)) * 4000
    assert whole([text[:70_000], text[70_000:]], {}, room) == text
    packed = gzip.compress(text)
    single = [packed[place : place + 1] for place in range(len(packed))]
    assert whole(single, ZIPPED, room) == text


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_what_was_not_requested_is_no_reply(room: ReplyReservation, encoding: str):
    with pytest.raises(InvalidContentEncoding):
        whole([b"{}"], {"content-encoding": encoding}, room)


def test_a_packed_reply_that_breaks_off_is_none(room: ReplyReservation):
    with pytest.raises(InvalidContentEncoding):
        whole([gzip.compress(b"x" * 1000)[:-9]], ZIPPED, room)
    with pytest.raises(InvalidContentEncoding):
        whole([b"not packed"], ZIPPED, room)


def test_of_an_error_only_the_beginning_is_read():
    pieces = Counted(endless(b"oops " * 1000))
    assert beginning(pieces, {}, 100) == (b"oops " * 20)
    assert pieces.bytes == 5000
    assert len(beginning(bomb(), ZIPPED, 100)) <= 100


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, BASE_BYTES),
        ({"prompt": "abcd", "max_tokens": 6}, BASE_BYTES + 512 * 10),
        ({"prompt": "abcd", "max_tokens": 6, "logprobs": 5}, BASE_BYTES + 512 * 10 * 6),
        ({"prompt": [7] * 100, "max_tokens": 1, "prompt_logprobs": 0}, BASE_BYTES + 512 * 101),
        (
            {
                "messages": [{"role": "user", "content": "abc"}, {"role": "a", "content": "de"}],
                "max_completion_tokens": 5,
                "logprobs": True,
                "top_logprobs": 20,
            },
            BASE_BYTES + 512 * 10 * 21,
        ),
        ({"prompt": "x" * 10_000, "logprob_token_ids": [1] * 50}, MAX_REPLY_BYTES),
        ({"prompt": None, "max_tokens": -5, "logprobs": "many"}, BASE_BYTES),
    ],
)
def test_a_reply_may_be_as_long_as_its_request_makes_it(body: dict[str, object], expected: int):
    assert reply_byte_limit(body) == expected


def test_replies_in_flight_stay_within_the_budget():
    budget = ReplyMemoryBudget(
        total=8 * COMMON_REPLY_BYTES
    )  # six for the rest: one reply of the limit below
    taken, most = 0, 0

    async def reply() -> None:
        nonlocal taken, most
        with budget.reserve(4 * COMMON_REPLY_BYTES) as room:
            for share in range(1, 5):
                await room.grow(share * COMMON_REPLY_BYTES)
                taken += COMMON_REPLY_BYTES
                most = max(most, taken)
                await asyncio.sleep(0)
            taken -= 4 * COMMON_REPLY_BYTES

    async def replies() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(*(reply() for _ in range(40)))

    asyncio.run(replies())
    assert 0 < most <= 8 * COMMON_REPLY_BYTES


def test_a_reply_that_is_given_up_leaves_its_place_to_the_next():
    budget = ReplyMemoryBudget(total=4 * COMMON_REPLY_BYTES)  # one beginning

    async def take(held: asyncio.Event) -> None:
        with budget.reserve(COMMON_REPLY_BYTES) as room:
            await room.grow(1)
            await held.wait()

    async def give_up() -> None:
        held, free = asyncio.Event(), asyncio.Event()
        free.set()
        first, second = asyncio.create_task(take(held)), asyncio.create_task(take(free))
        third = asyncio.create_task(take(free))
        await asyncio.sleep(0)
        second.cancel()
        held.set()
        async with asyncio.timeout(60):
            await asyncio.gather(first, second, third, return_exceptions=True)
        assert third.exception() is None

    asyncio.run(give_up())
    assert budget.common._free == COMMON_REPLY_BYTES


def test_the_longest_reply_fits_while_all_beginnings_are_taken():
    async def fill() -> None:
        budget = ReplyMemoryBudget()
        rooms = [ReplyReservation(budget, BASE_BYTES) for _ in range(255)]
        for room in rooms:
            await room.grow(1)
        with budget.reserve(MAX_REPLY_BYTES) as room:
            await room.grow(MAX_REPLY_BYTES)

    asyncio.run(fill())


@pytest.mark.parametrize(
    "body", [b"[" + b"[]," * 400_000 + b"0]", b'{"a":[' + b'{"a":0},' * 400_000 + b"0]}"]
)
def test_json_that_would_fill_the_memory_is_refused_before_it_is_parsed(body: bytes):
    with pytest.raises(ReplyTooLong):
        check_items(body, 4 * 2**20)


def test_honest_replies_have_fewer_items_than_they_may():
    check_items(json.dumps({"text": '1, 2, [3], {4}, ",' * 100_000}).encode(), 4 * 2**20)
    tokens = 2_000
    listed = {f" token {n}": -1.2345678 for n in range(20)}
    reply = {"choices": [{"logprobs": {"top_logprobs": [listed] * tokens}}]}
    asked = {"prompt": "one word " * (tokens // 2), "logprobs": 20, "max_tokens": 1}
    check_items(json.dumps(reply).encode(), reply_byte_limit(asked))
