"""The first sentence of a run in which no model beats guessing."""

from dataclasses import replace
from typing import Any

import pytest

from evalui.report.analyses.overview.document import choice_blocks
from evalui.report.analyses.overview.narrative import guessing_lines
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import with_question
from evalui.report.blocks import Heading, Paragraph
from evalui.report.compile import blocks, compile_report, first_sentence
from evalui.report.export.files import write
from evalui.report.render.markdown import as_markdown
from evalui.types import Cell, Interval

NOBODY = "No model beats guessing on these questions."


def cell(model: str, low: float, high: float, n: int = 240, **change: Any) -> Summary:
    """A cell whose accuracy has this range, where guessing gives a quarter."""
    mode = change.pop("mode", "multiple_choice")
    where = Cell(change.pop("dataset", "d"), model, mode, mode, "origin", "")
    share = Interval((low + high) / 2, low, high, n)
    plain = Summary(where, "done", "", n, n, n, n=n, accuracy=share, chance=0.25)
    return replace(plain, **change)


LATE, EARLY = cell("late", 0.22, 0.33), cell("early", 0.18, 0.29)
KNOWING = cell("knowing", 0.26, 0.38)


def test_nobody_beats_guessing_in_both_languages():
    assert guessing_lines([LATE, EARLY], "en", baselines=()) == (
        NOBODY,
        "The best, late, is right on 28 % (22–33); guessing scores 25 %. So nobody is ranked.",
    )
    assert guessing_lines([LATE, EARLY], "zh", baselines=()) == (
        "在这些题上，没有模型好于乱猜。",
        "最好的 late 答对 28 %（22–33）；随机为 25 %。因此不排名。",
    )


def test_one_model_alone_is_not_called_the_best():
    assert guessing_lines([LATE], "en", baselines=())[1] == (
        "late is right on 28 % (22–33); guessing scores 25 %."
    )


@pytest.mark.parametrize(
    ("summaries", "said"),
    [
        ([LATE, KNOWING], False),
        ([], False),
        ([replace(LATE, accuracy=None, state="failed")], False),
        ([cell("late", 0.1, 0.5, n=29)], False),
        ([LATE, cell("few", 0.1, 0.5, n=29)], True),
        ([LATE, cell("few", 0.8, 1.0, n=29)], False),
        # A range that ends at chance includes it; one below chance is no better either.
        ([cell("late", 0.25, 0.4)], True),
        ([cell("late", 0.05, 0.2)], True),
        # A script counts only where there is nothing else.
        ([LATE, cell("script", 0.9, 1.0)], True),
        ([cell("script", 0.9, 1.0)], False),
        ([cell("script", 0.2, 0.3)], True),
        # Without its question nobody should beat guessing, and who does knows nothing of it.
        ([LATE, cell("late", 0.4, 0.5, mode="choices_only")], True),
        ([cell("late", 0.2, 0.3, mode="choices_only")], False),
        ([LATE, cell("late", 0.4, 0.5, mode="cloze")], False),
    ],
)
def test_when_it_is_said(summaries: list[Summary], said: bool):
    assert bool(guessing_lines(summaries, "en", baselines={"script"})) == said


def test_a_run_at_work_has_not_come_to_its_end():
    live = [LATE, replace(EARLY, state="running")]
    assert guessing_lines(live, "en", baselines=())[0].startswith("So far no model beats")
    assert guessing_lines(live, "zh", baselines=())[0].startswith("到目前为止")


def test_the_best_is_told_by_its_mode_where_there_are_several():
    told = guessing_lines([LATE, cell("late", 0.2, 0.3, mode="cloze")], "en", baselines=())
    assert told[1].startswith("The best, late · multiple choice, letters, is right on 28 %")


def test_the_cells_that_show_their_question():
    blind = cell("late", 0.2, 0.3, mode="choices_only")
    assert with_question([LATE, blind]) == [LATE]
    assert with_question([blind]) == [blind]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_is_the_first_sentence_of_the_written_report(make_result, language):
    picks = {f"q{i}": [i // 4 % 4] for i in range(80)}
    results = [make_result(picks, model=m, pattern="origin") for m in ("one", "other")]
    report = compile_report("run", results)
    heading, first, second = list(blocks(report, language))[:3]
    assert isinstance(heading, Heading)
    wanted = guessing_lines(report.summaries, language, baselines=())
    assert (first, second) == (Paragraph(wanted[0], strong=True), Paragraph(wanted[1]))
    assert first_sentence(report, language) == wanted[0]
    page = write(report, "html", language).decode()
    assert page.index(wanted[0]) < page.index("<img") < page.index("<table")
    text = as_markdown(list(choice_blocks(report.summaries, language, baselines=())))
    assert text.startswith(f"**{wanted[0]}**")
    assert not any(word in text for word in ("beats o", "Rank 1", "第 1 档", "比 o"))


def test_a_run_without_figures_has_a_first_sentence_too(make_result):
    report = compile_report("run", [make_result({}, state="waiting")])
    assert first_sentence(report, "en") == "No answers yet"
