"""Which modes are offered for which models, and how many of them can do each."""

import re

import pytest

from evalui.messages import messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState
from evalui.types import Ability
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.judging import can_judge
from evalui.ui.pages.evaluate.mode_list import mode_list, preset_fields
from evalui.ui.pages.evaluate.model_list import OfferedModel


def _offered(name: str, *abilities: Ability) -> OfferedModel:
    return OfferedModel(ModelState(ModelEntry(name, "openai"), frozenset(abilities), ""))


DECIDER = _offered("decider", "decide")
LETTERS = _offered("letters", "next_token", "generate")


def _asides(form: Form, *models: OfferedModel) -> dict[str, str]:
    """What the list says of each mode for options."""
    page = mode_list(messages("en"), models, form, ("multiple_choice",))
    rows = re.findall(r'value="(\w+)".*?</label>', page, re.DOTALL)
    texts = [re.sub(r"<[^>]+>", " ", row) for row in re.split(r'(?=<input[^>]*value=")', page)[1:]]
    return dict(zip(rows, texts, strict=True))


def test_who_only_decides_has_the_modes_that_can_be_decisions():
    said = _asides({"models": ["decider"]}, DECIDER)
    assert "1 model" in said["multiple_choice"]
    for mode in ("generation", "cloze"):
        assert messages("en")("modes.none_here") in said[mode]
    assert messages("en")("modes.none_here") not in said["choices_only"]
    assert preset_fields("robust", {"models": ["decider"]}, [DECIDER])["modes"] == [
        "multiple_choice"
    ]


@pytest.mark.parametrize(("spellings", "able"), [("common", 2), ("lm_eval", 1), ("decision", 1)])
def test_what_stands_for_an_option_decides_who_is_able(spellings: str, able: int):
    form: Form = {"models": ["decider", "letters"], "spellings": spellings}
    said = _asides(form, DECIDER, LETTERS)["multiple_choice"]
    assert ("all 2 models" if able == 2 else f"{able} of 2 models") in said


def test_who_decides_can_judge():
    assert can_judge(DECIDER.state)
    assert not can_judge(_offered("scorer", "next_token").state)
