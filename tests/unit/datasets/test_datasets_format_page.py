"""The page on formats is complete; the example of a format of one's own is tests/flow's."""

from pathlib import Path

import pytest

from evalui.datasets import ANSWER_KEYS
from evalui.messages import messages

FAULTS = {key.split(".")[1] for key in messages("en").by_key if key.startswith("fault.")}
PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


@pytest.mark.parametrize("name", [*sorted(FAULTS), *ANSWER_KEYS])
def test_every_rule_and_answer_key_is_explained(name: str) -> None:
    assert f"| `{name}` |" in PAGE.read_text(encoding="utf-8")
