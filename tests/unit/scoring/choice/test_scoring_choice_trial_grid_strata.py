import numpy as np
import pytest
from scoring_examples import question_outcomes
from strata_examples import answered, as_trials, simulated

from evalui.scoring.choice.options import variants
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, strata

CIRCLE = [order.permutation for order in variants(3, "circular")]


def question(name: str, choices: list[int | None], *, gold: int = 1):
    return [
        answered(name, order, order.index(gold), choice)
        for order, choice in zip(CIRCLE, choices, strict=True)
    ]


def test_a_stratum_says_which_option_each_slot_shows_and_where_each_option_stands():
    (one,) = strata(question("q", [1, 2, 0]), "circular")
    assert one.orders.tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    assert one.slot_of.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert one.target.tolist() == [[1, 2, 0]]
    assert one.gold.tolist() == [1]
    assert one.content.tolist() == [[1, 1, 1]]
    assert one.correct.all()


def test_an_answer_that_is_none_keeps_its_code_and_is_never_right():
    trials = question("q", [None, 2, 2])
    (one,) = strata(trials, "circular")
    assert one.content.tolist() == [[UNREADABLE, 1, 0]]
    assert one.correct.tolist() == [[False, True, False]]
    assert one.n_tied == 0


def test_numbers_of_options_are_kept_apart_fewest_first():
    pair = [answered("p", order, 0, 0) for order in ((0, 1), (1, 0))]
    found = strata(question("q", [0, 0, 0]) + pair, "circular")
    assert [(one.n_options, one.ids.tolist()) for one in found] == [(2, ["p"]), (3, ["q"])]


def test_questions_that_lack_an_order_or_name_options_are_left_out():
    naming = [answered("n", order, 0, 0, fixed="naming") for order in CIRCLE]
    (one,) = strata(question("q", [0, 0, 0]) + question("torn", [0, 0, 0])[:2] + naming, "circular")
    assert one.ids.tolist() == ["q"]
    assert strata(naming, "circular") == ()


def test_probabilities_are_there_for_all_trials_or_not_at_all():
    model = simulated(4, np.random.default_rng(0))
    trials = as_trials(model)
    (one,) = strata(list(reversed(trials)), "circular")
    assert one.probabilities is not None
    assert model.probabilities is not None
    assert one.probabilities[::-1] == pytest.approx(model.probabilities)
    bare = answered("q0", (0, 1, 2, 3), 0, 0)
    (one,) = strata([*trials[1:], bare], "circular")
    assert one.probabilities is None


def test_ties_are_counted():
    (one,) = strata(question("q", [0, 1, 2]), "circular")
    one.choice[0, 1] = TIED
    assert one.n_tied == 1


def test_the_outcomes_of_questions():
    whole = simulated(3, np.random.default_rng(1))
    trials = [*as_trials(whole), answered("torn", (0, 1, 2, 3), 2, 2)]
    naming = [answered("n", order, 0, 0, fixed="naming") for order in ((0, 1), (1, 0))]
    found = question_outcomes(trials + naming, "circular")
    assert set(found["accuracy"]) == {"q0", "q1", "q2", "torn", "n"}
    assert set(found["mean_over_orders"]) == set(found["robust"]) == {"q0", "q1", "q2"}
    means = list(found["mean_over_orders"].values())
    assert means == pytest.approx(whole.correct.mean(axis=1).tolist())
    assert list(found["robust"].values()) == whole.correct.all(axis=1).tolist()
    assert found["accuracy"]["torn"] == 1.0
