"""A comparison as blocks: what is drawn, what folds, and in which order."""

from dataclasses import replace
from typing import get_args

import pytest
from bias_examples import cell_result, halting, right
from comparison_examples import CASES, compared, comparison_page, contenders
from open_examples import answers_result

from evalui.messages import messages
from evalui.report.analyses.comparison import compare, comparison_blocks
from evalui.report.blocks import Card, Details, Headline, PlotCell, Table, ValueCell
from evalui.report.render.markdown import as_markdown
from evalui.scoring.scorers import SCORERS, ReplyScorer
from evalui.types import Language


def drawn(name: str) -> Table:
    """The table of marks of a case."""
    card = next(block for block in comparison_page(name, "en") if isinstance(block, Card))
    table = card.blocks[0]
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("name", CASES)
def test_the_sentence_is_first_then_the_marks_then_what_folds(name: str, language: Language):
    head, card, *folded = comparison_page(name, language)
    assert isinstance(head, Headline)
    assert isinstance(card, Card)
    assert all(isinstance(block, Details) and block.finding for block in folded)
    keys = [block.key for block in folded if isinstance(block, Details)]
    assert keys[:2] == ["sure", "parts"]
    assert keys[-1] == "know"
    assert len(set(keys)) == len(keys)


def test_a_mark_stands_at_its_difference_with_its_range():
    for row in drawn("two apart").rows:
        plot, figure = row[1], row[2]
        assert isinstance(plot, PlotCell)
        assert isinstance(figure, ValueCell)
        (mark,) = plot.marks
        assert float(figure.value.lstrip("+")) == pytest.approx(mark.value, abs=1)
        assert mark.low is not None
        assert mark.high is not None
        assert mark.low < mark.value < mark.high


def test_what_cannot_be_seen_is_grey_only_where_nothing_is_told_apart():
    cells = [row[1] for row in drawn("two level").rows]
    assert all(isinstance(cell, PlotCell) and cell.grey for cell in cells)
    assert "Grey:" in as_markdown(comparison_page("two level", "en"))
    cells = [row[1] for row in drawn("two apart").rows]
    assert not any(isinstance(cell, PlotCell) and cell.grey for cell in cells)


def test_the_axis_is_as_wide_on_both_sides_and_holds_all_ranges():
    for name in CASES:
        table = drawn(name)
        axis = table.columns[1].axis
        assert axis
        assert axis.low == -axis.high
        marks = [
            mark for row in table.rows if isinstance(row[1], PlotCell) for mark in row[1].marks
        ]
        assert all(mark.high is None or mark.high <= axis.high for mark in marks)


def test_more_pairs_than_eight_fold():
    case = compared({f"m{k}": halting(k) for k in range(2, 7)}, n=60)
    assert len(case.pairs) == 10
    blocks = comparison_blocks(messages("en"), case, case.pair(""))
    card = next(block for block in blocks if isinstance(block, Card))
    assert isinstance(card.blocks[0], Table)
    assert len(card.blocks[0].rows) == 8
    rest = next(b for b in blocks if isinstance(b, Details) and b.key == "pairs")
    assert rest.finding == "2 narrower differences."


def test_each_model_alone_is_given_where_rows_are_pairs():
    text = as_markdown(comparison_page("three, one ahead", "en"))
    assert "sure is highest with 100 %, fond lowest with 50 %." in text
    assert "Each model alone" not in as_markdown(comparison_page("two apart", "en"))


def test_written_answers_are_compared_in_their_own_unit():
    table = drawn("three written")
    axis = table.columns[1].axis
    assert axis
    assert all(label == "0" or "." in label for label in axis.labels)
    assert "paired t test" in as_markdown(comparison_page("three written", "en"))


def test_written_answers_are_compared_by_the_values_of_another_scorer(
    monkeypatch: pytest.MonkeyPatch,
):
    added = ReplyScorer(lambda _sample, _reply: 0.5, label={"en": "Edit similarity"})
    monkeypatch.setitem(SCORERS._entries, "similar", added)  # pyright: ignore[reportPrivateUsage]
    results = [
        replace(
            one, trials=[replace(t, scores={**t.scores, "similar": (value,)}) for t in one.trials]
        )
        for one, value in ((answers_result("late"), 0.75), (answers_result("weak"), 0.25))
    ]
    assert compare(contenders(results), results).measures == ("rouge", "similar")
    case = compare(contenders(results), results, "similar")
    text = as_markdown(comparison_blocks(messages("en"), case, case.pair("")))
    assert "late has the higher Edit similarity: 0.50 above weak." in text
    assert "Number of questions by Edit similarity" in text
    assert "Closer to the reference" not in text


def test_any_text_metric_can_be_compared_by_its_name():
    results = [answers_result(model) for model in ("late", "weak")]
    case = compare(contenders(results), results, "bleu-1")
    assert (case.measure, case.measures) == ("bleu-1", ("rouge", "bleu-1"))
    assert "late has the higher bleu-1" in as_markdown(
        comparison_blocks(messages("en"), case, case.pair(""))
    )


def test_without_a_pair_the_sentence_says_that_nothing_is_shared():

    results = [cell_result(right, model="a", n=1), cell_result(right, model="b", n=1)]
    case = compare(contenders(results), results)
    (head,) = comparison_blocks(messages("en"), case, case.pair(""))
    assert isinstance(head, Headline)
    assert head.text == "They share fewer than two questions, so there is nothing to compare."


def test_how_the_models_were_asked_otherwise_is_named():
    answers = [answers_result(name) for name in ("late", "early")]
    for results in ([cell_result(right, model=name) for name in ("sure", "same")], answers):
        first, other = results
        signature = other.cell.signature + "|temp:0.7"
        results = [first, replace(other, cell=replace(other.cell, signature=signature))]
        page = as_markdown(comparison_blocks(messages("en"), compare(contenders(results), results)))
        assert f"Asked with other settings than {first.cell.model}: temp:–/0.7." in page
