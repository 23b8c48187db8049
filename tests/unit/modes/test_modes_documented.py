"""What the pages on modes, models and judging name, and what they show."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from evalui.messages import LANGUAGES, messages
from evalui.models.scripted.rules import RULES
from evalui.modes import MODES, ModeTraits
from evalui.modes.open_answer import PLAIN_PROMPTS as PLAIN_FORMS
from evalui.modes.prompts.rubrics import RUBRICS, VERDICT_FORMATS, Rubric, parse_rubric
from evalui.types import Pattern

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("judging.md", [*RUBRICS, *VERDICT_FORMATS, *Rubric.__dataclass_fields__]),
        ("models.md", [*RULES, "input_price", "output_price"]),
        ("extend.md", list(ModeTraits.__dataclass_fields__)),
        ("modes.md", [form.name for form in PLAIN_FORMS.values()]),
    ],
)
def test_everything_with_a_name_is_on_its_page(page: str, names: list[str]):
    words = (DOCS / page).read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in words] == []


def test_the_name_of_a_mode_on_pages_stands_beside_its_name_in_files():
    page, words = (DOCS / "modes.md").read_text(encoding="utf-8"), messages("en")
    pairs = {name: words(f"mode.{name}") for name in MODES}
    pairs |= {name: words(f"set.orders_{name}") for name in get_args(Pattern)}
    assert [name for name, label in pairs.items() if f"| `{name}` | {label} |" not in page] == []


def test_the_rubric_on_the_page_is_a_rubric():
    page = (DOCS / "judging.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert parse_rubric(json.loads(example)).name == "funny.1"


@pytest.mark.parametrize("name", list(RUBRICS))
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_shipped_rubric_has_a_name_for_the_screen(language: str, name: str):
    assert f"rubric.{name}" in messages("zh" if language == "zh" else "en")
