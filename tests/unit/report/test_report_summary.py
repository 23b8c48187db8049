from dataclasses import replace

import pytest

from evalui.report.summary import summarise
from evalui.types import Trial

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
    assert summarise(make_result(_PICKS)).circular.value == pytest.approx(expected)


def test_order_sensitivity_counts_questions_right_as_written_only(make_result):
    summary = summarise(make_result(_PICKS))
    assert summary.order_sensitivity.value == pytest.approx(0.25)
    assert summary.only_as_written == 1


def test_lost_is_the_share_of_the_answers_right_as_written(make_result):
    assert summarise(make_result(_PICKS)).lost == pytest.approx(1 / 2)


def test_nothing_is_lost_where_nothing_was_right(make_result):
    assert summarise(make_result({"q0": [1, 1, 1, 2]})).lost is None


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
    assert summary.main_positions.n_options == 4


def test_in_the_order_as_written_alone_there_is_no_order_figure(make_result):
    summary = summarise(make_result({"q0": [0]}, pattern="origin"))
    assert (summary.robust, summary.circular, summary.order_sensitivity) == (None, None, None)
    assert (summary.chance_robust, summary.lost) == (None, None)


def test_a_cell_without_trials_has_no_figures(make_result):
    summary = summarise(make_result({}, total=8, state="waiting"))
    assert (summary.done, summary.total, summary.n) == (0, 8, 0)
    assert (summary.accuracy, summary.chance, summary.format) == (None, None, None)
    assert summary.main_positions is None


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
    assert summarise(replace(result, trials=scored)).positions == ()


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
