"""The figures of written answers, from trials as they are stored."""

from dataclasses import replace

import pytest
from open_examples import answer_trial, answers_result, judge_result, rating_result, samples

from evalui.report.analyses.open_answers.figures import (
    answers,
    compare_answers,
    rating_cells,
    summarise_answers,
)
from evalui.types import CellResult, Sample


def _answered(*replies: str, figures: tuple[float, ...] = (), references: str = "r") -> CellResult:
    """A cell of answers, every question with one reference."""
    asked = {f"q{n}": Sample(f"q{n}", "Why?", target=(references,)) for n in range(len(replies))}
    figures = figures or (0.5,) * len(replies)
    trials = tuple(
        answer_trial(sample, reply, figure=figure)
        for sample, reply, figure in zip(asked.values(), replies, figures, strict=True)
    )
    return replace(answers_result("m"), samples=asked, trials=trials, total=len(trials))


def test_means_are_over_questions_with_a_reference():
    found = summarise_answers(answers_result("late"))
    # Each third of twelve questions has no reference.
    assert (found.questions, found.n, found.compared) == (12, 12, 8)
    assert found.means["rouge-l-f"].value == pytest.approx(0.9)
    assert found.means["rouge-l-f"].n == 8
    assert len(found.means) == 15


def test_a_mean_has_a_range_over_questions():
    mean = summarise_answers(_answered(*"abcd", figures=(0.0, 0.2, 0.8, 1.0))).means["bleu-4"]
    assert mean.value == pytest.approx(0.5)
    assert 0 <= mean.low < 0.3
    assert 0.7 < mean.high <= 1


def test_blank_and_cut_answers_are_counted():
    result = _answered("good", " ", "long")
    long = answer_trial(result.samples["q2"], "long", cut=True)
    found = summarise_answers(replace(result, trials=(*result.trials[:2], long)))
    assert (found.n, found.empty, found.truncated) == (3, 1, 1)
    # The blank one counts as 0.
    assert found.means["rouge-1-f"].value == pytest.approx(1 / 3)


def test_the_length_is_the_median_in_characters_of_all_turns():
    result = _answered("ab", "abcd", "abc")
    assert summarise_answers(result).length == 3
    talk = answer_trial(result.samples["q2"], "abc", turns=3)
    assert summarise_answers(replace(result, trials=(*result.trials[:2], talk))).length == 4


def test_a_cell_without_answers_has_no_figures():
    found = summarise_answers(answers_result("late", done=0))
    assert (found.n, found.compared, found.means, found.corpus) == (0, 0, {}, None)
    assert found.length == 0
    assert found.state == "running"


def test_without_references_there_are_counts_only():
    asked = {"q": Sample("q", "Write a poem.")}
    trials = (answer_trial(asked["q"], "Roses are red."),)
    found = summarise_answers(replace(answers_result("m"), samples=asked, trials=trials))
    assert (found.n, found.compared, found.means, found.corpus) == (1, 0, {}, None)


def test_corpus_figures_compare_the_reply_with_its_references():
    found = summarise_answers(_answered("a b c d x", references="a b c d e"))
    assert found.corpus
    assert found.corpus.bleu == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_a_conversation_is_compared_turn_by_turn_where_each_has_its_reference():
    sample = Sample("q", "Hello?", target=("one two three four", "five six seven eight"))
    turns = ("one two three four", "five six seven eight")
    trial = replace(answer_trial(sample, turns[1]), turns=turns)
    result = replace(answers_result("m"), samples={"q": sample}, trials=(trial,))
    found = summarise_answers(result).corpus
    assert found
    assert found.bleu == pytest.approx(100)
    swapped = replace(result, trials=(replace(trial, turns=turns[::-1]),))
    worse = summarise_answers(swapped).corpus
    assert worse
    assert worse.bleu < 1


# ---------------------------------------------------------------- marks of a judge


def test_marks_have_a_mean_on_the_judges_own_scale():
    judged = rating_result({"late": [10, 8, 9], "weak": [1, 2, None]})
    (late,) = summarise_answers(answers_result("late"), [judged]).ratings
    assert (late.judge, late.scale, late.n, late.unscored) == ("judge-local", "rating", 3, 0)
    assert late.mean
    assert late.mean.value == pytest.approx(9)
    assert 8 <= late.mean.low < 9 < late.mean.high <= 10
    (weak,) = summarise_answers(answers_result("weak"), [judged]).ratings
    assert (weak.n, weak.unscored) == (2, 1)
    assert weak.mean
    assert weak.mean.value == pytest.approx(1.5)


def test_correctness_is_a_share():
    judged = rating_result({"late": [1, 1, 0, 1]}, scale="correct")
    (found,) = summarise_answers(answers_result("late"), [judged]).ratings
    assert found.scale == "correct"
    assert found.mean
    assert found.mean.value == pytest.approx(0.75)


def test_a_judge_that_gave_no_readable_mark_has_no_mean():
    judged = rating_result({"late": [None, None]})
    (found,) = summarise_answers(answers_result("late"), [judged]).ratings
    assert (found.mean, found.n, found.unscored) == (None, 0, 2)


def test_a_run_attaches_marks_to_the_model_and_dataset_they_are_about():
    results = [
        answers_result("late"),
        answers_result("late", dataset="other"),
        rating_result({"late": [9], "weak": [1]}),
        judge_result(),
    ]
    here, there = answers(results)
    assert [one.mean and one.mean.value for one in here.ratings] == [pytest.approx(9)]
    assert there.ratings == ()


def test_a_judge_that_has_not_begun_is_asked_as_the_others_are():
    late = replace(rating_result({}, judge="late"), state="failed", error="No answer.")
    results = [answers_result("late"), rating_result({"late": [9]}), late]
    assert rating_cells(results) == tuple(results[1:])
    (summary,) = answers(results)
    assert [(one.judge, one.n, one.error) for one in summary.ratings] == [
        ("judge-local", 1, ""),
        ("late", 0, "No answer."),
    ]
    assert rating_cells([judge_result(), judge_result(judge="late", done=0)]) == ()
    assert rating_cells([late]) == ()


# ---------------------------------------------------------------- pairs


def _pair_of(first: tuple[float, ...], second: tuple[float, ...]) -> list[CellResult]:
    results = [_answered(*"x" * len(figures), figures=figures) for figures in (first, second)]
    return [
        replace(result, cell=replace(result.cell, model=name))
        for result, name in zip(results, "mn", strict=True)
    ]


def test_two_models_differ_by_the_mean_over_shared_questions():
    (pair,) = compare_answers(_pair_of((0.9, 0.7, 0.8), (0.4, 0.4, 0.1)), "rouge-l-f")
    assert (pair.first, pair.second, pair.n) == ("m", "n", 3)
    assert pair.value == pytest.approx(0.5)
    assert pair.low <= pair.value <= pair.high
    # All of 2^3 signs but the observed and its mirror give less: p is about 1/4.
    assert 0.2 < pair.p < 0.3


def test_questions_that_one_model_lacks_do_not_count():
    first, second = _pair_of((0.9, 0.7, 0.8), (0.4, 0.4, 0.1))
    (pair,) = compare_answers([first, replace(second, trials=second.trials[:2])], "rouge-l-f")
    assert pair.n == 2
    assert pair.value == pytest.approx(0.4)


def test_p_values_are_adjusted_for_the_number_of_pairs():
    alone = compare_answers([answers_result("late"), answers_result("early")], "bleu-1")
    three = compare_answers([answers_result(name) for name in ("late", "early", "weak")], "bleu-1")
    assert len(three) == 3
    assert three[0].p == pytest.approx(3 * alone[0].p, rel=0.5)
    assert three[0].p > 2 * alone[0].p


def test_only_models_of_one_dataset_are_compared():
    results = [answers_result("late"), answers_result("early", dataset="other")]
    assert compare_answers(results, "rouge-l-f") == ()


def test_without_references_there_is_nothing_to_compare():
    bare = {key: replace(one, target=()) for key, one in samples().items()}
    results = [
        replace(
            answers_result(name),
            samples=bare,
            trials=tuple(answer_trial(one, "x") for one in bare.values()),
        )
        for name in ("late", "early")
    ]
    assert compare_answers(results, "rouge-l-f") == ()
