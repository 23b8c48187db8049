"""Two models compared in any metric."""

from dataclasses import replace

import numpy as np
import pytest
from bias_examples import Pick, cell_result, halting, right
from open_examples import answer_trial, answered_result, answers_result, samples

from evalui.scoring.cell_summary import summarise
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.comparisons import CellComparison, compare_pairs
from evalui.scoring.metrics import Metric, compute_figures, known_metrics
from evalui.scoring.pairs import compare_answers, compare_metric, decided_pairs
from evalui.types import CellResult, Interval, Variant


def accuracy(cell: CellTrials) -> float:
    """The accuracy as written, of which the core does not know that it is a mean."""
    return float(cell.columns.reading.credit[cell.columns.is_origin].mean())


def macro(cell: CellTrials) -> float:
    credit = cell.columns.reading.credit
    subject = cell.questions.subject
    return float(np.mean([credit[subject == name].mean() for name in sorted(set(subject))]))


def never(_question: int, _order: int, target: int) -> int:
    return (target + 1) % 4


RESULTS = [cell_result(right, model="sure", n=60), cell_result(halting(3), model="less", n=60)]


def test_a_mean_over_questions_is_compared_question_by_question():
    (pair,) = compare_metric(RESULTS, known_metrics()["robust"])
    assert (pair.first, pair.second, pair.metric, pair.n) == ("sure", "less", "robust", 60)
    assert pair.low < pair.value < pair.high
    assert pair.value == pytest.approx(20 / 60)  # one question in three


def test_a_metric_that_states_its_values_by_question_is_not_computed_anew_for_a_comparison():
    def compute(cell: CellTrials) -> float:
        raise AssertionError(len(cell))

    def by_question(cell: CellTrials) -> dict[str, float]:
        return {t.sample_id: t.reading.credit for t in cell if t.variant.is_origin}

    (pair,) = compare_metric(RESULTS, Metric("own", compute, by_question=by_question))
    (known,) = compare_metric(RESULTS, known_metrics()["acc_origin"])
    assert replace(pair, metric="acc_origin") == known


def test_the_jackknife_of_a_mean_is_its_standard_error():
    (pair,) = compare_metric(RESULTS, Metric("own_accuracy", accuracy))
    credits = [
        {t.sample_id: t.reading.credit for t in one.trials if t.variant.is_origin}
        for one in RESULTS
    ]
    differences = np.array([credits[0][name] - credits[1][name] for name in RESULTS[0].samples])
    assert pair.value == pytest.approx(differences.mean())
    se = differences.std(ddof=1) / len(differences) ** 0.5
    assert (pair.high - pair.low) / 2 / 2.093 == pytest.approx(se, rel=0.35)  # t of 19 degrees


def test_a_macro_average_of_a_package_is_compared_and_told_apart():
    metric = Metric("macro", macro, needs="subjects")
    pairs = compare_metric(RESULTS, metric)
    assert [*decided_pairs(pairs, metric)] == [("sure", "less")]
    assert [*decided_pairs(pairs, replace(metric, direction="lower"))] == [("less", "sure")]
    assert [*decided_pairs(pairs, replace(metric, direction="none"))] == []


def test_a_metric_that_lacks_what_it_needs_is_not_compared():
    bare = [
        replace(one, samples={k: replace(s, metadata={}) for k, s in one.samples.items()})
        for one in RESULTS
    ]
    assert compare_metric(bare, Metric("macro", macro, needs="subjects")) == ()


def test_equal_models_are_not_told_apart_by_a_jackknife_without_spread():
    alike = [RESULTS[0], replace(RESULTS[0], cell=replace(RESULTS[0].cell, model="same"))]
    (pair,) = compare_metric(alike, Metric("own_accuracy", accuracy))
    assert (pair.value, pair.low, pair.high, pair.p) == (0, 0, 0, 1)


def test_a_difference_that_all_groups_share_has_the_p_value_of_their_signs():
    whole = [RESULTS[0], cell_result(never, model="never", n=3)]
    (pair,) = compare_metric(whole, Metric("own_accuracy", accuracy))
    assert (pair.value, pair.p, pair.n) == (1, 0.25, 3)


def repeated(*parts: CellResult) -> CellResult:
    """A cell whose questions were asked once for each of the parts."""
    trials = [
        replace(each, variant=Variant(each.variant.permutation, repeat))
        for repeat, part in enumerate(parts)
        for each in part.trials
    ]
    return replace(parts[0], trials=tuple(trials))


@pytest.mark.parametrize("name", ["acc_origin", "robust", "majority", "pass_at_2"])
def test_models_that_were_asked_several_times_are_compared_by_questions(name: str):
    sure, less = RESULTS
    both = [repeated(sure, sure, sure), repeated(less, sure, less)]
    figures = [compute_figures(one.trials, one.cell.pattern)[name] for one in both]
    (pair,) = compare_metric(both, known_metrics()[name])
    assert pair.n == 60
    first, second = figures
    assert isinstance(first, Interval)
    assert isinstance(second, Interval)
    assert pair.value == pytest.approx(first.value - second.value)


def test_written_answers_of_several_repeats_count_once_for_each_question():
    written = [answers_result(model) for model in ("early", "late")]
    once, thrice = ([repeated(*[one] * n) for one in written] for n in (1, 3))
    metric = known_metrics()["rouge-l-f"]
    (plain,), (pair,) = compare_metric(once, metric), compare_metric(thrice, metric)
    assert (pair.n, pair.p) == (plain.n, plain.p)
    assert (pair.value, pair.low, pair.high) == pytest.approx((plain.value, plain.low, plain.high))
    first, second = (
        compute_figures(each.trials, "origin", answers="texts")[metric.name]
        for each in (once[0], thrice[0])
    )
    assert isinstance(first, Interval)
    assert isinstance(second, Interval)
    assert (first.n, first.value, first.low) == pytest.approx((second.n, second.value, second.low))


@pytest.mark.parametrize("n", [20, 40])
def test_an_accuracy_has_the_test_of_the_ranking_wherever_it_is_compared(n: int):
    """Thirteen models of which the best is right on all and the last on a thirteenth: 78 pairs."""

    def able(skill: int) -> Pick:
        return lambda question, _, target: (target + (question % 13 >= skill)) % 4

    cells = [
        cell_result(able(skill), model=f"m{skill}", pattern="origin", n=n)
        for skill in range(13, 0, -1)
    ]
    ranked = compare_pairs([summarise(cell, with_bias=False) for cell in cells], "accuracy")
    chosen = compare_metric(cells, known_metrics()["acc_origin"])
    expected = {
        frozenset((pair.first.model, pair.second.model)): pair.adjusted
        for pair in ranked
        if isinstance(pair, CellComparison)
    }
    assert {frozenset((pair.first, pair.second)): pair.p for pair in chosen} == expected
    assert expected[frozenset(("m13", "m1"))] < 0.001


def test_written_answers_of_thirteen_models_can_be_told_apart():
    written = [
        answered_result(*"x" * 40, figures=[float(q % 13 < skill) for q in range(40)])
        for skill in range(13, 0, -1)
    ]
    named = [
        replace(one, cell=replace(one.cell, model=f"m{place}")) for place, one in enumerate(written)
    ]
    pairs = compare_answers(named, "rouge-l-f")
    assert len(pairs) == 78
    assert pairs[11].p < 0.001


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
