import asyncio
from collections.abc import Sequence

import pytest

from evalui.models.endpoint import logprobs as endpoint_tokens
from evalui.models.endpoint.logprobs import ServerTokenizer, TokenizationCache
from evalui.models.endpoint.protocol import Json


def test_what_is_forgotten_meanwhile_is_known_to_whoever_needs_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(endpoint_tokens, "_MAX_ENTRIES", 1)

    async def send(_: str, body: Json) -> Json:
        return {"tokens": [len(body["prompt"])], "count": 1}

    found = ServerTokenizer("m", "m", send, TokenizationCache())
    texts = ["a", "bb", "ccc"]
    assert asyncio.run(found.complete(lambda: found.encode(texts))) == [[1], [2], [3]]


def test_the_same_is_fetched_once_and_others_do_not_wait_for_it():
    asked: list[str] = []

    async def fetch_all() -> list[str]:
        memory, go_on = TokenizationCache(), asyncio.Event()

        async def fetch() -> str:
            asked.append("a")
            await go_on.wait()
            return "A"

        async def other() -> str:
            return "B"

        same = [asyncio.create_task(memory.get_once("a", fetch)) for _ in range(4)]
        await asyncio.sleep(0)
        assert await memory.get_once("b", other) == "B"
        go_on.set()
        return list(await asyncio.gather(*same))

    assert asyncio.run(fetch_all()) == ["A"] * 4
    assert asked == ["a"]


def test_what_one_failed_to_fetch_is_fetched_by_the_next():
    async def fail() -> int:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def succeed() -> int:
        return 7

    async def both() -> list[object]:
        memory = TokenizationCache()
        tried = (memory.get_once("a", fail), memory.get_once("a", succeed))
        return list(await asyncio.gather(*tried, return_exceptions=True))

    failed, found = asyncio.run(both())
    assert isinstance(failed, ZeroDivisionError)
    assert found == 7


def test_what_a_server_states_at_length_is_forgotten_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(endpoint_tokens, "_MAX_TOTAL_LENGTH", 100)
    memory = TokenizationCache()
    for key in range(10):
        memory.keep(key, tuple(range(60)))
        assert sum(map(len, memory._entries.values())) <= 100


def tokenizer(alone: Sequence[int], begun: Sequence[int]) -> ServerTokenizer:
    async def send(_: str, body: Json) -> Json:
        tokens = list(begun if body["add_special_tokens"] else alone)
        return {"tokens": tokens, "count": len(tokens)}

    return ServerTokenizer("m", "m", send, TokenizationCache())


@pytest.mark.parametrize(
    ("alone", "begun", "lead"),
    [
        ((64,), (1, 64), (1,)),
        ((64,), (0, 1, 64), (0, 1)),
        ((64,), (64,), ()),
        ((64,), (64, 2), ()),  # T5 and its like put a token behind the text
        ((64,), (101, 64, 102), ()),
        ((64, 65), (64,), ()),
    ],
)
def test_only_what_stands_before_a_text_is_its_lead(
    alone: Sequence[int], begun: Sequence[int], lead: tuple[int, ...]
):
    found = tokenizer(alone, begun)
    told = asyncio.run(found.complete(lambda: (found.bos_ids, found.empty_context_id)))
    assert told == (lead, lead[0] if lead else None)
