import threading
from collections.abc import Sequence

import pytest

from evalui.models.endpoint import tokenizer as endpoint_tokens
from evalui.models.endpoint.json_values import Json
from evalui.models.endpoint.tokenizer import ServerTokenizer, TokenizationCache


def test_what_is_forgotten_meanwhile_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch):
    """Threads that recall one thing while others make room for another."""
    monkeypatch.setattr(endpoint_tokens, "_MAX_ENTRIES", 1)
    memory = TokenizationCache()

    class Sly(dict[object, object]):
        """Forgets all between a look and the next, as when another thread is quicker."""

        def __contains__(self, key: object) -> bool:
            known = super().__contains__(key)
            self.clear()
            return known

    memory._entries = Sly()
    found = [memory.get("a", lambda: 7) == 7 for _ in range(3)]
    assert found == [True] * 3


def test_threads_wait_for_the_same_key_only():
    memory, asked, asking, go_on = (
        TokenizationCache(),
        list[str](),
        threading.Event(),
        threading.Event(),
    )

    def ask(key: str) -> str:
        asked.append(key)
        asking.set()
        assert go_on.wait(5.0)
        return key.upper()

    found: list[str] = []
    same = [
        threading.Thread(target=lambda: found.append(memory.get_once("a", lambda: ask("a"))))
        for _ in range(4)
    ]
    for each in same:
        each.start()
    asking.wait()
    assert memory.get_once("b", lambda: "B") == "B"
    go_on.set()
    for each in same:
        each.join()
    assert (asked, found) == (["a"], ["A"] * 4)


def test_what_one_thread_failed_to_fetch_is_fetched_by_the_next():
    memory = TokenizationCache()
    with pytest.raises(ZeroDivisionError):
        memory.get_once("a", lambda: 1 // 0)
    assert memory.get_once("a", lambda: 7) == 7


def test_what_a_server_states_at_length_is_forgotten_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(endpoint_tokens, "_MAX_TOTAL_LENGTH", 100)
    memory = TokenizationCache()
    for key in range(10):
        memory.get(key, lambda: tuple(range(60)))
        assert sum(map(len, memory._entries.values())) <= 100


def tokenizer(alone: Sequence[int], begun: Sequence[int]) -> ServerTokenizer:
    def post(_path: str, body: Json) -> Json:
        tokens = list(begun if body["add_special_tokens"] else alone)
        return {"tokens": tokens, "count": len(tokens)}

    return ServerTokenizer("m", "m", post, TokenizationCache())


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
    assert (found.bos_ids, found.empty_context_id) == (lead, lead[0] if lead else None)
