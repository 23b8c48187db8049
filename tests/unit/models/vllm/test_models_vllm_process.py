from types import SimpleNamespace
from typing import Any

import pytest

from evalui.models.vllm.process import _generate_answer


def output(reason: str | None, stop: int | str | None = None) -> Any:
    text = SimpleNamespace(
        token_ids=[5, 6], finish_reason=reason, stop_reason=stop, cumulative_logprob=-1.0
    )
    return SimpleNamespace(outputs=[text])


@pytest.mark.parametrize(
    ("reason", "stop", "ids", "ended"),
    [
        ("stop", 6, [5], True),
        ("stop", None, [5], True),
        ("stop", "###", [5, 6], True),
        ("length", None, [5, 6], False),
    ],
)
def test_a_text_ends_or_is_cut(reason: str, stop: int | str | None, ids: list[int], ended: bool):
    found = _generate_answer({}, output(reason, stop))
    assert (found["ids"], found["ended"]) == (ids, ended)


@pytest.mark.parametrize("reason", ["abort", "error", "repetition", None])
def test_a_text_that_breaks_off_is_no_answer(reason: str | None):
    assert _generate_answer({}, output(reason)) == {"refused": f"the text broke off ({reason})"}
