"""Everything that open questions can be asked with has a name in both languages."""

from typing import get_args

import pytest

from evalui.messages import messages
from evalui.modes.prompts.rubrics import RUBRICS, VERDICT_FORMATS
from evalui.runs.contest import PairPlan
from evalui.store.question_pages import SORTS
from evalui.types import ConflictRule, DatasetKind, PresentationOrders


def given_words(gives: str) -> tuple[str, str]:
    """What a run's row says of cells that give this: none yet, and how good they are."""
    return f"no_{gives}_given", f"good_{gives}"


@pytest.mark.parametrize(
    "key",
    [
        *(f"kind.{name}" for name in get_args(DatasetKind)),
        *(f"form.{name}" for name in VERDICT_FORMATS),
        *(f"rubric.{name}" for name in RUBRICS),
        *(
            f"judge.orders_{name}{part}"
            for name in get_args(PresentationOrders)
            for part in ("", "_short")
        ),
        *(f"judge.pairs_{name}{part}" for name in get_args(PairPlan) for part in ("", "_short")),
        *(f"judge.conflict_{name}" for name in get_args(ConflictRule)),
        *(f"judge.{name}" for name in ("instruction", "closing")),
        *(f"sort.{name}" for name in SORTS),
        *(f"runs.{key}" for gives in ("answers", "verdicts") for key in given_words(gives)),
        "columns.sheet",
        "columns.kind",
        "mode.question_answer_recorded",
        "report.html",
        "report.html_about",
    ],
)
def test_every_name_of_open_questions_is_translated(key: str):
    assert key in messages("en")
    assert key in messages("zh")
