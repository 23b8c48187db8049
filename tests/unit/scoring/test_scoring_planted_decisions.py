"""Is each fault that was put into a model found, and none where there is none? Seeds are fixed.

A rate over R runs may lie 3 standard errors, 3 sqrt(p (1 - p) / R), above the promised one.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from planted_deciders import PlantedDecider, decided_trials, planted_questions, right_texts

from evalui.scoring.bias.counts import OrderFlips, order_flips
from evalui.scoring.bias.keys import KeyOrPlace, by_key, key_or_place
from evalui.scoring.bias.significance import permutation_test
from evalui.scoring.calibration import Calibration, calibration, risk_coverage
from evalui.scoring.cell_trials import cell_trials
from evalui.scoring.choice.answer_format import DecisionCounts, decision_counts
from evalui.scoring.choice.decisions import MISSING, NAMED, NEUTRAL_KEYS, REFUSED
from evalui.scoring.comparisons import at_equal_coverage
from evalui.types import Cell, CellResult, Decision, Labels, Pattern, Trial

RUNS, QUESTIONS, DRAWS = 200, 40, 199
ASKED = planted_questions(QUESTIONS)


def planted(
    labels: Labels = "dealt",
    pattern: Pattern = "circular",
    *,
    seed: int = 0,
    n: int = 120,
    **faults: Any,
) -> list[Trial]:
    """The trials of a model that wavers between orders, so that a bias has something to move."""
    asked = planted_questions(n)
    decider = PlantedDecider(right_texts(asked), seed=seed, wavers=True, **faults)
    return decided_trials(decider, asked, pattern, labels)


@pytest.fixture(scope="module")
def honest() -> list[list[Trial]]:
    """Runs of models without a fault."""
    return [planted(seed=seed, n=QUESTIONS) for seed in range(RUNS)]


def alarms(runs: Sequence[list[Trial]], found: Callable[[list[Trial]], bool]) -> float:
    return fmean(map(found, runs))


ONE_IN_TWENTY = 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)


def p_by_place(trials: Sequence[Trial]) -> float:
    (stratum,) = cell_trials(trials, "circular").strata
    found = permutation_test(stratum, draws=DRAWS)
    assert found
    return found.p


@pytest.mark.parametrize("labels", ["", "dealt", "texts", "neutral"])
def test_a_preferred_place_is_found_under_every_kind_of_key(labels: Labels):
    assert p_by_place(planted(labels, by_place=(1.0,))) < 0.001


@pytest.mark.slow
def test_a_place_is_suspected_of_one_honest_model_in_twenty_at_most(honest: list[list[Trial]]):
    assert alarms(honest, lambda trials: p_by_place(trials) < 0.05) <= ONE_IN_TWENTY


@pytest.mark.slow
def test_the_honest_model_is_honest(honest: list[list[Trial]]):
    trials = [trial for run in honest for trial in run]
    for low, high in ((0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.0)):
        of_bin = [trial for trial in trials if low < max(trial.probabilities) <= high]
        sure = fmean(max(trial.probabilities) for trial in of_bin)
        right = fmean(trial.reading.credit for trial in of_bin)
        assert right == pytest.approx(sure, abs=3 * math.sqrt(0.25 / len(of_bin)))
    assert fmean(trial.reading.credit for trial in trials) == pytest.approx(0.7, abs=0.01)


def moved(trials: Sequence[Trial], labels: Labels = "dealt") -> KeyOrPlace:
    (stratum,) = cell_trials(trials, "circular").strata
    found = key_or_place(stratum, labels, draws=DRAWS)
    assert found
    return found


def test_a_letter_in_order_is_a_place():
    assert p_by_place(planted("", by_key={"B": 1.0})) < 0.001


@pytest.mark.parametrize(
    ("labels", "faults", "mover"),
    [
        ("dealt", {"by_key": {"B": 1.5}}, "key"),
        ("neutral", {"by_key": {NEUTRAL_KEYS[1]: 1.5}}, "key"),
        ("dealt", {"by_place": (1.5,)}, "place"),
        ("neutral", {"by_place": (1.5,)}, "place"),
        ("dealt", {"by_place": (1.5,), "by_key": {"D": 1.5}}, "both"),
        ("dealt", {}, "neither"),
    ],
)
def test_whether_key_or_place_moves_a_choice_is_told(
    labels: Labels, faults: dict[str, Any], mover: str
):
    assert moved(planted(labels, **faults), labels).mover == mover


def p_by_key(trials: Sequence[Trial]) -> float:
    (stratum,) = cell_trials(trials, "circular").strata
    found = permutation_test(by_key(stratum, "dealt"), draws=DRAWS)
    assert found
    return found.p


@pytest.mark.slow
def test_a_key_is_suspected_of_one_honest_model_in_twenty_at_most(honest: list[list[Trial]]):
    assert alarms(honest, lambda trials: p_by_key(trials) < 0.05) <= ONE_IN_TWENTY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faults", "p_of_other"),
    [({"by_place": (1.0,)}, p_by_key), ({"by_key": {"B": 1.0}}, p_by_place)],
)
def test_a_pull_of_the_one_is_no_pull_of_the_other(
    faults: dict[str, Any], p_of_other: Callable[[list[Trial]], float]
):
    runs = [planted(seed=seed, n=25, **faults) for seed in range(RUNS)]
    assert alarms(runs, lambda trials: p_of_other(trials) < 0.05) <= ONE_IN_TWENTY


def test_a_choice_that_a_place_pulls_flips_and_a_steady_one_never_does():
    asked = planted_questions(120)

    def flips(**faults: Any) -> OrderFlips:
        trials = decided_trials(PlantedDecider(right_texts(asked), **faults), asked)
        (stratum,) = cell_trials(trials, "circular").strata
        return order_flips(stratum)

    steady = flips().share
    assert steady
    assert (steady.value, steady.n) == (0, 120)
    pulled = flips(by_place=(1.5,))
    assert pulled.share
    assert pulled.share.low > 0.05
    assert len(pulled.pairs) == 6


# ---------------------------------------------------------------- calibration


FIGURES = ("ece", "brier", "nll", "aurc")


def calibrated(trials: Sequence[Trial]) -> Calibration:
    written = [trial for trial in trials if trial.variant.is_origin]
    (stratum,) = cell_trials(written, "origin").strata
    assert stratum.chances is not None
    found = calibration(stratum.chances[:, 0], stratum.target[:, 0], draws=DRAWS)
    assert found
    return found


def shown(trials: Sequence[Trial]) -> list[bool]:
    """Which figures lie outside what a perfectly calibrated model has."""
    found = calibrated(trials)
    return [getattr(found, name).shows_something for name in FIGURES]


@pytest.mark.slow
def test_a_calibration_is_doubted_of_one_honest_model_in_twenty_at_most(
    honest: list[list[Trial]],
):
    rates = np.mean([shown(trials) for trials in honest], axis=0)
    assert (rates <= ONE_IN_TWENTY).all(), rates


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.85, 0.95])
def test_a_server_that_rounds_makes_no_honest_model_seem_too_sure(accuracy: float):
    given = {"accuracy": accuracy, "decimals": 2, "n": 100}
    runs = (planted("", "origin", seed=seed, **given) for seed in range(RUNS))
    rates = np.mean([shown(trials) for trials in runs], axis=0)
    assert (rates <= ONE_IN_TWENTY).all(), rates


@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("temperature", [0.4, 2.5])
def test_a_model_that_is_too_sure_or_not_sure_enough_is_found_in_every_figure(
    temperature: float, decimals: int | None
):
    trials = planted(temperature=temperature, decimals=decimals, n=200)
    assert shown(trials) == [True] * 4
    found = calibrated(trials)
    sure = fmean(max(trial.probabilities) for trial in trials)
    right = fmean(trial.reading.credit for trial in trials)
    assert (sure > right) == (temperature < 1)
    assert found.ece.floor_high is not None
    assert found.ece.value > found.ece.floor_high


def test_temperature_is_no_matter_of_place_or_key():
    trials = planted(temperature=0.4, seed=1)
    assert p_by_place(trials) > 0.05


@pytest.mark.slow
def test_what_a_threshold_is_worth_is_what_the_honest_model_says(honest: list[list[Trial]]):
    """The half that checks it was not chosen by, so that its range keeps its promise."""
    held: list[bool] = []
    for trials in honest:
        (stratum,) = cell_trials(trials, "circular").strata
        assert stratum.chances is not None
        confidence = stratum.chances[:, 0].max(axis=1)
        risk = risk_coverage(stratum)
        assert risk
        for act in risk.act:
            if act.threshold is not None and act.right:
                promised = confidence[confidence >= act.threshold].mean()
                held.append(act.right.low <= promised <= act.right.high)
    assert len(held) > RUNS
    assert fmean(held) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(held))


def cell_of(trials: Sequence[Trial], name: str) -> CellResult:
    cell = Cell("lands", name, "multiple_choice", "multiple_choice", "circular", name)
    ids = {trial.sample_id for trial in trials}
    samples = {sample.id: sample for sample in planted_questions(len(ids))}
    return CellResult(cell, samples, trials, len(trials))


def differ(one: Sequence[Trial], other: Sequence[Trial]) -> bool:
    """Whether two models differ at some coverage, corrected for all of them."""
    found = at_equal_coverage(cell_of(one, "one"), cell_of(other, "other"), resamples=399)
    return any(each.adjusted < 0.05 for each in found)


@pytest.mark.slow
def test_two_models_at_equal_coverage_differ_where_one_knows_more(honest: list[list[Trial]]):
    pairs = list(zip(honest[::2], honest[1::2], strict=True))
    assert fmean(differ(*pair) for pair in pairs) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(pairs))
    one = planted(n=200, seed=1)
    assert differ(one, planted(n=200, seed=2, accuracy=0.95))
    assert not differ(one, planted(n=200, seed=1, temperature=0.4))  # it is surer of everything


# ---------------------------------------------------------------- what servers do


@pytest.mark.parametrize("decimals", [None, 2])
def test_each_refusal_gap_and_wrong_sum_is_counted_and_none_is_guessed(decimals: int | None):
    asked = planted_questions(120)
    faults: dict[str, Any] = {"refuses": 0.05, "silent": 0.1, "unsummed": 0.15, "contrary": 0.2}
    decider = PlantedDecider(right_texts(asked), decimals=decimals, **faults)
    made: list[Decision] = []

    def noted(context: str, question: str, options: Sequence[tuple[str, str]]) -> Decision:
        made.append(decider(context, question, options))
        return made[-1]

    trials = decided_trials(noted, asked)
    given = [decision.probabilities for decision in made if decision.probabilities]
    best = [[place for place in range(4) if each[place] == max(each)] for each in given]
    named = [decision.choice for decision in made if decision.probabilities]
    counts = decision_counts(trials)
    assert counts == DecisionCounts(
        n=len(made),
        refused=sum(decision.refused for decision in made),
        missing=sum(not each.probabilities and not each.refused for each in made),
        no_sum=sum(sum(each) < 0.9 for each in given),
        tied=sum(len(places) > 1 for places in best),
        rounded=decimals,
        truncated=0,
        disagreeing=sum(choice not in places for choice, places in zip(named, best, strict=True)),
    )
    assert min(counts.refused, counts.missing, counts.no_sum, counts.disagreeing) > 10
    assert sum(trial.unreadable for trial in trials) == counts.refused
    rules = Counter(trial.reading.rule for trial in trials)
    assert (rules[REFUSED], rules[NAMED], rules[MISSING]) == (counts.refused, counts.missing, 0)
    origin = [trial for trial in trials if trial.variant.is_origin]
    kept = calibrated(trials)
    assert kept.left_out == sum(not trial.probabilities for trial in origin)
    assert kept.n == len(origin) - kept.left_out


def test_the_faults_of_a_server_are_none_of_the_model():
    """What remains of an honest model's decisions is as honest."""
    trials = planted(refuses=0.1, silent=0.1, unsummed=0.1, n=200, seed=4)
    assert shown(trials) == [False] * 4
    assert p_by_place(trials) > 0.05


def test_a_server_that_leaves_out_probabilities_seems_to_change_nothing():
    asked = planted_questions(120)
    decider = PlantedDecider(right_texts(asked), accuracy=0.9, silent=0.1)
    (stratum,) = cell_trials(decided_trials(decider, asked), "circular").strata
    risk = risk_coverage(stratum)
    assert risk
    for gate in risk.gates:
        assert gate.same
        assert gate.passed
        assert (gate.same.value, gate.passed.value) == (1, 1)
    share = order_flips(stratum).share
    assert share
    assert share.value == 0
