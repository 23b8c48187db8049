from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, often_first, right, with_probabilities
from scoring_examples import question_outcomes

from evalui.report.analyses.warnings import evidence
from evalui.scoring.cautions import cautions
from evalui.scoring.cell_summary import Summary, adjust_lights, pair_summary, summarise
from evalui.scoring.choice.decisions import read_decision
from evalui.types import Decision, Trial

# Worked by hand: q0 right in every order; q1 always A; q2 right as written, then unreadable;
# q3 ties as written, then right.
_PICKS = {
    "q0": "right",
    "q1": [0, 0, 0, 0],
    "q2": [2, None, None, None],
    "q3": ["tie", 0, 1, 2],
}


def test_accuracy_is_that_of_the_order_as_written(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.accuracy.value == pytest.approx(2.5 / 4)
    assert (summary.n, summary.accuracy.n) == (4, 4)
    assert summary.metrics["acc_origin"] == pytest.approx(62.5)


def test_robust_accuracy_is_right_in_every_order(make_result):
    assert summarise(make_result(_PICKS)).robust.value == pytest.approx(0.25)


def test_mean_over_orders_gives_ties_their_part(make_result):
    expected = (1 + 0.25 + 0.25 + (0.5 + 3) / 4) / 4
    assert summarise(make_result(_PICKS)).mean_over_orders.interval.value == pytest.approx(expected)


def test_order_sensitivity_counts_questions_right_as_written_only(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.order_sensitivity.value == pytest.approx(0.25)
    assert summary.order_sensitivity.value * summary.order_sensitivity.n == 1


def test_lost_is_the_share_of_the_answers_right_as_written(make_result):
    assert summarise(make_result(_PICKS)).lost_with_order == pytest.approx(1 / 2)


def test_nothing_is_lost_where_nothing_was_right(make_result):
    assert summarise(make_result({"q0": [1, 1, 1, 2]})).lost_with_order is None


def test_unreadable_and_tied_answers_are_counted_apart(make_result):
    summary = summarise(make_result(_PICKS))
    assert (summary.unreadable, summary.unreadable_origin, summary.ties) == (3, 0, 1)
    assert summary.readable.value == pytest.approx(1 - 3 / 16)
    assert summary.readable.low < summary.readable.value < summary.readable.high


def test_chance_is_the_mean_over_the_questions(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.chance == pytest.approx(1 / 4)
    assert summary.chance_robust == pytest.approx(1 / 4**4)


def test_questions_with_fewer_options_have_their_own_chance(make_result):
    four, two = make_result({"q0": "right"}), make_result({"p0": "right"}, options=2)
    both = replace(
        four, samples={**four.samples, **two.samples}, trials=four.trials + two.trials, total=6
    )
    summary = summarise(both)
    assert summary.chance == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert summary.chance_robust == pytest.approx((1 / 256 + 1 / 4) / 2)
    assert [table.n_options for table in summary.positions] == [2, 4]


def test_in_the_order_as_written_alone_there_is_no_order_figure(make_result):
    summary = summarise(make_result({"q0": [0]}, pattern="origin"))
    assert (summary.robust, summary.mean_over_orders, summary.order_sensitivity) == (None,) * 3
    assert (summary.chance_robust, summary.lost_with_order) == (None, None)


def test_a_cell_without_trials_has_no_figures(make_result):
    summary = summarise(make_result({}, total=8, state="waiting"))
    assert (summary.done, summary.total, summary.n) == (0, 8, 0)
    assert (summary.accuracy, summary.chance, summary.format) == (None, None, None)
    assert summary.positions == ()


def test_a_cell_that_has_not_asked_the_order_as_written_yet_has_no_accuracy(make_result):
    result = make_result({"q0": "right"})
    late = replace(result, trials=result.trials[1:])
    summary = summarise(late)
    assert (summary.accuracy, summary.chance, summary.readings) == (None, None, {})
    assert summary.incomplete == ("q0",)


def test_questions_that_name_options_leave_the_order_figures_only(make_result):
    summary = summarise(make_result({"q0": "right", "q1": [3]}, naming=["q1"]))
    assert summary.accuracy.value == pytest.approx(0.5)
    assert (summary.robust.value, summary.robust.n) == (1.0, 1)
    assert summary.naming == ("q1",)


def test_without_shown_options_there_is_no_position(make_result):
    result = make_result({"q0": [0]}, pattern="origin", mode="cloze")
    scored: tuple[Trial, ...] = tuple(
        replace(trial, scores={"raw": (-1.0, -2.0, -3.0, -4.0)}) for trial in result.trials
    )
    found = summarise(replace(result, trials=scored))
    assert (found.positions, found.bias, found.main_bias) == ((), None, None)


def test_a_question_short_of_an_order_is_told(make_result):
    summary = summarise(make_result({"q0": "right", "q1": [1, 2]}))
    assert summary.incomplete == ("q1",)
    assert summary.robust.n == 1


def test_the_rules_of_reading_are_compared_on_the_order_as_written(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.readings["tolerant"].accuracy.value == pytest.approx(2.5 / 4)
    assert summary.readings["tolerant"].accuracy.n == 4


def test_the_cell_keeps_its_state_and_error(make_result):
    summary = summarise(make_result({"q0": [0]}, state="failed", error="Out of memory."))
    assert (summary.state, summary.error) == ("failed", "Out of memory.")


def test_bias_is_told_per_number_of_options(make_result):
    four, two = make_result({"q0": "right"}), make_result({"p0": "right"}, options=2)
    both = replace(four, trials=four.trials + two.trials, samples={**four.samples, **two.samples})
    summary = summarise(both)
    assert [found.n_options for found in summary.bias.strata] == [2, 4]
    assert summary.bias_of(2).position == summary.positions[0]
    assert summary.bias_of(3) is None


def test_a_fond_model_has_a_red_light_and_a_steady_one_a_green_one():
    assert summarise(cell_result(fond)).main_bias.level == "red"
    assert summarise(cell_result(right)).main_bias.level == "green"


def test_a_cell_at_work_is_not_tested_on_every_answer():
    at_work = summarise(cell_result(fond, state="running"))
    assert at_work.main_bias.tests.permutation is None
    assert at_work.main_bias.level == "na"
    assert at_work.main_bias.spread.rstd is not None
    probable = with_probabilities(cell_result(fond, state="running"))
    assert summarise(probable).priors == {}


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_cell_that_is_no_longer_at_work_is_tested(state: str):
    assert summarise(cell_result(fond, state=state)).main_bias.tests.permutation is not None


def test_the_mean_over_orders_has_its_clustered_error():
    summary = summarise(cell_result(fond))
    assert summary.mean_over_orders.interval == summary.figures["mean_over_orders"]
    assert summary.mean_over_orders.design_effect > 1


def test_priors_have_ranges_around_the_estimate():
    summary = summarise(with_probabilities(cell_result(fond)))
    ranges, prior = summary.priors[4], summary.main_bias.prior.prior
    assert [interval.value for interval in ranges] == pytest.approx(list(prior))
    assert all(interval.low < interval.value < interval.high for interval in ranges)
    assert ranges[0].n == 120


def test_without_probabilities_there_is_no_prior():
    summary = summarise(cell_result(fond))
    assert (summary.priors, summary.main_bias.prior) == ({}, None)


def test_outcomes_are_the_values_of_single_questions(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.outcomes["accuracy"] == {"q0": 1, "q1": 0, "q2": 1, "q3": 0.5}
    assert summary.outcomes["robust"] == {"q0": 1, "q1": 0, "q2": 0, "q3": 0}
    assert summary.outcomes["mean_over_orders"] == pytest.approx(
        {"q0": 1, "q1": 0.25, "q2": 0.25, "q3": 3.5 / 4}
    )


def test_outcomes_leave_out_what_was_not_asked(make_result):
    result = make_result({"q0": "right", "q1": [1, 2], "q2": [0]}, naming=["q2"])
    found = question_outcomes(result.trials[1:], "circular")
    assert set(found["accuracy"]) == {"q1", "q2"}
    assert found["robust"] == {}


def test_in_one_order_only_accuracy_has_outcomes(make_result):
    assert list(summarise(make_result({"q0": [0]}, pattern="origin")).outcomes) == ["accuracy"]


def test_options_of_one_text_are_listed(make_result):
    result = make_result({"q0": "right", "q1": "right"})
    trials = [
        replace(trial, fixed_reason="duplicates") if trial.sample_id == "q1" else trial
        for trial in result.trials
    ]
    found = summarise(replace(result, trials=tuple(trials)))
    assert found.duplicates == ("q1",)
    assert found.robust
    assert (found.n, found.robust.n) == (2, 1)


def test_the_right_answers_of_a_fond_model_depend_on_the_position():
    found = summarise(cell_result(right)).main_bias
    assert found.tests.cochran_q.p == 1
    assert summarise(cell_result(fond)).main_bias.tests.cochran_q.p < 0.001


def lit(models: int, p: float | None = None) -> list[str]:
    """The lights of as many models, of which the first likes A; its test may have another p."""
    first = summarise(cell_result(fond, model="fond"))
    if p is not None and first.bias:
        (stratum,) = first.bias.strata
        assert stratum.tests.permutation
        permutation = replace(stratum.tests.permutation, p=p)
        stratum = replace(stratum, tests=replace(stratum.tests, permutation=permutation))
        first = replace(first, bias=replace(first.bias, strata=(stratum,)))
    other = summarise(cell_result(right))
    others = [replace(other, cell=replace(other.cell, model=f"m{i}")) for i in range(models - 1)]
    adjusted = adjust_lights(adjust_lights([first, *others]))
    return [one.main_bias.level for one in adjusted if one.main_bias]


def test_the_position_lights_of_all_models_are_tested_together():
    """Benjamini-Hochberg: one p of .02 among thirteen models is what chance gives."""
    assert lit(1, 0.02) == ["red"]
    assert lit(13, 0.02) == ["green"] * 13


def test_a_strong_bias_shows_among_any_number_of_models():
    assert lit(80) == ["red", *["green"] * 79]


def test_a_model_that_always_says_the_most_frequent_position_is_no_better_than_guessing():
    first = often_first(cell_result(lambda *_: 0, pattern="origin"))
    summary = summarise(first)
    assert summary.accuracy
    assert summary.chance == pytest.approx(summary.accuracy.value) != 1 / 4
    assert not summary.above_chance
    assert not pair_summary(first).above_chance
    assert [each.rule for each in cautions(evidence(summary, summary.accuracy))][:2] == [
        "exploratory",
        "guessing",
    ]
    assert summarise(often_first(cell_result(right, pattern="origin"))).above_chance


def test_in_every_order_no_position_is_frequent():
    assert summarise(often_first(cell_result(right))).chance == 1 / 4


def decided(labels: str, decision: Decision, *, spellings: str = "decision") -> Summary:
    """Sixty questions of which each decision is the same, whatever the question."""
    signature = f"d@1|mode:multiple_choice|spell:{spellings}|labels:{labels}|model:m"
    asked = cell_result(right, n=60, mode="multiple_choice", signature=signature)

    def graded(trial: Trial) -> Trial:
        read = read_decision(decision, ("A", "B", "C", "D"), trial.target)
        return replace(
            trial,
            headline="forced",
            readings=read.readings,
            probabilities=read.probabilities,
            mass=read.mass,
        )

    return summarise(replace(asked, trials=tuple(map(graded, asked.trials))))


def test_decisions_are_counted_and_told_apart_by_key_and_place():
    """The first place has seven tenths of every question: keys that are dealt have a fair share."""
    found = decided('"dealt"', Decision((0.7, 0.1, 0.1, 0.1), 0))
    assert found.decided
    assert (found.decided.n, found.decided.rounded, found.decided.disagreeing) == (240, 1, 0)
    assert found.main_bias
    assert found.main_bias.keys
    assert found.main_bias.keys.mover == "place"
    assert found.main_bias.keys.place.table == found.main_bias.position
    assert found.main_bias.keys.place.test == found.main_bias.tests.permutation


def test_letters_in_order_are_places_and_no_decision_is_counted_of_others():
    found = decided('""', Decision((0.7, 0.1, 0.1, 0.1), 0))
    assert found.main_bias
    assert found.main_bias.keys is None
    assert found.decided
    assert decided('""', Decision((0.7, 0.1, 0.1, 0.1), 0), spellings="common").decided is None


def test_one_refusal_leaves_the_calibration_of_the_others():
    asked = with_probabilities(cell_result(fond, n=60))
    first, *rest = asked.trials
    found = summarise(replace(asked, trials=(replace(first, probabilities=()), *rest))).main_bias
    assert found
    assert found.calibration
    assert (found.calibration.n, found.calibration.left_out) == (59, 1)
    assert found.ece is not None
    assert found.prior is None
