"""The figures of written answers, from trials as they are stored."""

from dataclasses import replace

import pytest
from open_examples import (
    answer_trial,
    answered_result,
    answers_result,
    judge_result,
    rating_result,
    samples,
)

from evalui.report.analyses.open_answers.figures import answers
from evalui.scoring.arena.verdicts import rating_cells
from evalui.scoring.pairs import compare_answers
from evalui.types import CellResult


def test_marks_have_a_mean_on_the_judges_own_scale():
    judged = rating_result({"late": [10, 8, 9], "weak": [1, 2, None]})
    (late,) = answers([answers_result("late"), judged])[0].ratings
    assert (late.judge, late.scale, late.n, late.unscored) == ("judge-local", "rating", 3, 0)
    assert late.mean
    assert late.mean.value == pytest.approx(9)
    assert 8 <= late.mean.low < 9 < late.mean.high <= 10
    (weak,) = answers([answers_result("weak"), judged])[0].ratings
    assert (weak.n, weak.unscored) == (2, 1)
    assert weak.mean
    assert weak.mean.value == pytest.approx(1.5)


def test_correctness_is_a_share():
    judged = rating_result({"late": [1, 1, 0, 1]}, scale="correct")
    (found,) = answers([answers_result("late"), judged])[0].ratings
    assert found.scale == "correct"
    assert found.mean
    assert found.mean.value == pytest.approx(0.75)


def test_a_judge_that_gave_no_readable_mark_has_no_mean():
    judged = rating_result({"late": [None, None]})
    (found,) = answers([answers_result("late"), judged])[0].ratings
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
    results = [answered_result(*"x" * len(figures), figures=figures) for figures in (first, second)]
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
