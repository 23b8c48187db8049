"""All figures of option bias of one cell: counts, spreads, tests, debiasing, calibration, level.

The thresholds of the level are judgement, not literature; docs/metrics-bias.md lists them with
their reasons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalui.scoring.bias.counts import (
    Consistency,
    PositionTable,
    RecallSpread,
    RecallSpreadRange,
    consistency,
    position_tables_of_grids,
    recall_spread,
    recall_spread_range,
)
from evalui.scoring.bias.keys import KeyOrPlace, Pull, key_or_place
from evalui.scoring.bias.probabilities import (
    LabelMass,
    PrideEstimate,
    estimate_pride,
    summarise_label_mass,
)
from evalui.scoring.bias.significance import (
    N_DRAWS,
    BiasTests,
    NoiseFloor,
    bias_tests,
    gold_balance,
    noise_floor,
)
from evalui.scoring.calibration import (
    Calibration,
    RiskCoverage,
    calibration,
    pooled_calibration,
    risk_coverage,
)
from evalui.scoring.cautions import EXPLORATORY_BELOW, HIDDEN_BELOW, MIN_LABEL_MASS
from evalui.scoring.cell_trials import cell_trials
from evalui.scoring.choice.decisions import are_dealt
from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.types import Labels, Pattern, Trial

BiasLevel = Literal["green", "amber", "red", "mass", "few", "na"]
_LEVELS: tuple[BiasLevel, ...] = ("green", "amber", "red")  # of the levels that a test has found


@dataclass(frozen=True, slots=True)
class StratumBias:
    """The bias of the `n` questions with `n_options` options that were presented in every order.

    `position` and `spread` are over all orders. `original_floor` is RStd of the original order with
    its noise floor. `calibration` is of the original order; `ece` and `brier` are over all orders,
    without ranges. None where a figure needs several orders or probabilities that are not there.
    `gold_counts` counts the answers per slot in the original order, `gold_p` is its chi-square p.
    `spread_range` has the ranges of `spread` over resampled questions. `mass` is the mean label
    mass of the cell's trials, None of replies. `adjusted_p` is the p-value of the permutation test
    that decides the `level`: corrected for the models that it stands beside, if there are any.
    `risk` is what is gained by acting on sure answers, None without probabilities or draws.
    `keys` says whether keys or places move choices, None unless keys were dealt.
    """

    n_options: int
    n: int
    position: PositionTable
    spread: RecallSpread
    original_floor: NoiseFloor | None
    consistency: Consistency | None
    prior: PrideEstimate | None
    calibration: Calibration | None
    ece: float | None
    brier: float | None
    tests: BiasTests
    level: BiasLevel
    gold_counts: tuple[int, ...]
    gold_p: float
    spread_range: RecallSpreadRange | None = None
    mass: float | None = None
    adjusted_p: float | None = None
    risk: RiskCoverage | None = None
    keys: KeyOrPlace | None = None

    @property
    def strength(self) -> tuple[int, float]:
        """What orders models by their bias: the level, then how far a slot's share is from 1/K."""
        level = _LEVELS.index(self.level) if self.level in _LEVELS else -1
        return level, self.spread.max_share_deviation or 0.0


@dataclass(frozen=True, slots=True)
class CellBias:
    """The bias of a cell, by number of options, fewest first; nothing is pooled over them.

    Questions that lack an order, or whose options may not move, are in none. `mass` is over all
    trials.
    """

    strata: tuple[StratumBias, ...]
    mass: LabelMass | None

    @property
    def largest_stratum(self) -> StratumBias | None:
        """The number of options with the most questions; None without any."""
        return max(self.strata, key=lambda stratum: stratum.n, default=None)


def measure_bias(
    trials: Sequence[Trial],
    pattern: Pattern,
    *,
    draws: int = N_DRAWS,
    seed: int = 0,
    labels: Labels = "",
) -> CellBias:
    """Every bias figure of a cell under each trial's headline; `labels` are those of the options.

    `draws` of 0 leaves out the permutation tests, and with them the floors, those of calibration
    too, and lights.
    """
    if not trials:
        return CellBias((), None)
    cell = cell_trials(trials, pattern)
    held = summarise_label_mass(cell.columns.mass[cell.columns.has_mass])
    mean = held.mean if held else None
    return CellBias(
        strata=tuple(
            _stratum_bias(stratum, position, draws=draws, seed=seed, label_mass=mean, labels=labels)
            for stratum, position in zip(
                cell.strata, position_tables_of_grids(cell.grids), strict=True
            )
        ),
        mass=held,
    )


def _stratum_bias(
    stratum: OptionCountStratum,
    position: PositionTable,
    *,
    draws: int,
    seed: int,
    label_mass: float | None,
    labels: Labels,
) -> StratumBias:
    tests = bias_tests(stratum, draws=draws, seed=seed, dealt=are_dealt(labels))
    uneven = recall_spread(position)
    gold, gold_p = gold_balance(stratum.target[:, 0], stratum.n_options)
    chances = stratum.chances
    overall = None if chances is None else pooled_calibration(chances, stratum.target)
    bias = StratumBias(
        n_options=stratum.n_options,
        n=stratum.n,
        position=position,
        spread=uneven,
        original_floor=noise_floor(stratum, draws=draws, seed=seed) if draws else None,
        consistency=consistency(stratum),
        prior=estimate_pride(stratum),
        calibration=None
        if chances is None
        else calibration(
            chances[:, 0], stratum.target[:, 0], stratum.cluster, draws=draws, seed=seed
        ),
        ece=overall.ece if overall else None,
        brier=overall.brier if overall else None,
        tests=tests,
        level="na",
        gold_counts=gold,
        gold_p=gold_p,
        mass=label_mass,
        spread_range=recall_spread_range(
            stratum.choice,
            stratum.target,
            stratum.n_options,
            stratum.cluster,
            resamples=draws,
            seed=seed,
        )
        if draws
        else None,
        risk=risk_coverage(stratum, seed=seed) if draws else None,
        keys=key_or_place(
            stratum,
            labels,
            draws=draws,
            seed=seed,
            place=Pull(position, uneven, tests.permutation),
        )
        if tests.permutation
        else None,
    )
    return with_light(bias, tests.permutation.p if tests.permutation else None)


def with_light(bias: StratumBias, p: float | None) -> StratumBias:
    """The same with the level that follows from a p-value of its permutation test."""
    permuted = bias.tests.permutation
    level = bias_level(
        n=bias.n,
        p=p,
        max_share_deviation=bias.spread.max_share_deviation,
        rstd=bias.spread.rstd,
        floor95=permuted.rstd_95 if permuted else None,
        mass=bias.mass,
    )
    return replace(bias, adjusted_p=p, level=level)


def bias_level(
    *,
    n: int,
    p: float | None,
    max_share_deviation: float | None,
    rstd: float | None,
    floor95: float | None,
    mass: float | None = None,
) -> BiasLevel:
    """The level of the position bias of `n` questions.

    "na": no test. "mass": the labels hold on average less than a tenth of the probability
    (`mass`, None where there are replies), so that nothing follows from what they hold. "few":
    below 30 questions, or below 100 where the test finds nothing, which
    must never read as "no bias". "green": p >= .05, or no slot's share is 3 points or more from
    1/K (`max_share_deviation`). "red": p < .05 and RStd over twice its 95 % floor, or a share more
    than 10 points off. "amber": the rest.
    """
    if p is None or max_share_deviation is None:
        return "na"
    if mass is not None and mass < MIN_LABEL_MASS:
        return "mass"
    if n < HIDDEN_BELOW or (p >= 0.05 and n < EXPLORATORY_BELOW):
        return "few"
    if p >= 0.05 or max_share_deviation < 0.03:
        return "green"
    is_strong = rstd is not None and floor95 is not None and rstd > 2 * floor95
    return "red" if is_strong or max_share_deviation > 0.10 else "amber"
