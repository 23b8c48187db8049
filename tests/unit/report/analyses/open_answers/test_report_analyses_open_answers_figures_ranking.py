from dataclasses import replace

import pytest
from open_examples import answer_trial, answers_result, samples

from evalui.report.analyses.arena.narrative import text_title
from evalui.report.analyses.open_answers.document import recall_reason
from evalui.scoring.answer_summary import answers, ranking_metric
from evalui.scoring.pairs import compare_answers
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import CellResult


def _cell(model: str, length: int, *, recall: float, f: float, reference: str = "三个字"):
    """Answers of `length` characters, each question with one reference of its own."""
    asked = {key: replace(one, target=(reference,)) for key, one in samples(12).items()}
    trials = tuple(
        replace(
            trial := answer_trial(one, "字" * length),
            scores={**trial.scores, RECALL: (recall,), MAIN: (f,)},
        )
        for one in asked.values()
    )
    return replace(answers_result(model), samples=asked, trials=trials)


def _told(*cells: CellResult) -> str:
    figure = ranking_metric(answers(cells)).figure
    return text_title(answers(cells), "en", pairs=compare_answers(cells, figure))


def test_scripted_models_are_no_peers_of_real_ones():
    cells = [_cell("real", 3, recall=0.5, f=0.4), _cell("script", 3, recall=1.0, f=1.0)]
    title = text_title(answers(cells), "en", rule_based={"script"})
    assert "real" in title
    assert "script" not in title
    assert "script" in text_title(answers(cells[1:]), "en", rule_based={"script"})


def test_answers_over_five_times_as_long_as_the_references_lead_with_recall():
    found = ranking_metric(answers([_cell("m", 16, recall=0.5, f=0.1)]))
    assert (found.figure, found.reference_length, found.answer_length) == (RECALL, 3, 16)


def test_answers_of_five_times_the_length_lead_with_f():
    assert ranking_metric(answers([_cell("m", 15, recall=0.5, f=0.1)])).figure == MAIN


def test_all_models_decide_together():
    cells = [_cell(name, n, recall=0.5, f=0.1) for name, n in (("a", 3), ("b", 40), ("c", 50))]
    assert ranking_metric(answers(cells)).answer_length == 40
    assert ranking_metric(answers(cells)).figure == RECALL
    assert ranking_metric(answers(cells[:1])).figure == MAIN


def test_only_what_is_compared_with_a_reference_counts():
    cell = _cell("m", 16, recall=0.5, f=0.1)
    asked = {key: replace(one, target=()) for key, one in list(cell.samples.items())[:9]}
    bare = tuple(answer_trial(one, "x") for one in asked.values())
    mixed = replace(cell, samples={**cell.samples, **asked}, trials=(*bare, *cell.trials[9:]))
    assert ranking_metric(answers([mixed])).answer_length == 16


def test_without_references_nothing_is_brief():
    asked = {key: replace(one, target=()) for key, one in samples(4).items()}
    trials = tuple(answer_trial(one, "x" * 99) for one in asked.values())
    cell = replace(answers_result("m", n=4), samples=asked, trials=trials)
    assert ranking_metric(answers([cell])).figure == MAIN
    assert recall_reason(ranking_metric(answers([cell])), "en") == ""


def test_the_reason_is_given_in_both_languages():
    found = ranking_metric(answers([_cell("m", 130, recall=0.5, f=0.1)]))
    assert recall_reason(found, "en") == (
        "References are 3 characters, answers 130 (medians): "
        "recall or a judge says more than ROUGE-L."
    )
    assert recall_reason(found, "zh") == (
        "参考答案 3 字，回答 130 字（中位数）：召回率或裁判比 ROUGE-L 更能说明问题。"
    )
    one = ranking_metric(answers([_cell("m", 130, recall=0.5, f=0.1, reference="熵")]))
    assert recall_reason(one, "en").startswith("References are 1 character, answers 130")


def test_the_longer_answer_that_holds_more_of_the_reference_is_named_first():
    brief, long = _cell("brief", 100, recall=0.4, f=0.3), _cell("long", 160, recall=0.6, f=0.1)
    assert _told(brief, long).startswith("long covers the references best: recall (ROUGE-L) 0.60")
    assert "long" in text_title(answers([brief, long]), "zh")


def test_the_title_names_no_winner_where_the_pair_has_none():
    first, second = answers(
        [_cell("a", 99, recall=0.50, f=0.1), _cell("b", 99, recall=0.49, f=0.1)]
    )
    cells = [_cell("a", 99, recall=0.50, f=0.1), _cell("b", 99, recall=0.49, f=0.1)]
    (pair,) = compare_answers(cells, RECALL)
    told = text_title([first, second], "en", pairs=[replace(pair, p=0.2)])
    assert told == "Against the references, a and b cannot be told apart"
    assert text_title([first, second], "en", pairs=[replace(pair, p=0.01)]).startswith("a covers")
    other = [replace(pair, p=0.01, metric=MAIN)]
    with pytest.raises(AssertionError, match="the figure that leads"):
        text_title([first, second], "en", pairs=other)
