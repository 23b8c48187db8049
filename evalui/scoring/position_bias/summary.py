"""All figures of option bias of one cell: the front of the modules that compute them."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.scoring.calibration import Calibration, Mass, calibration, mass, over_orders
from evalui.scoring.cautions import Evidence, Light, light
from evalui.scoring.choice.answer_format import FormatFigures
from evalui.scoring.choice.strata import Stratum, from_grids
from evalui.scoring.choice.trial_grid import Grid, grids, left_out
from evalui.scoring.position_bias.consistency import Consistency, consistency
from evalui.scoring.position_bias.counts import PositionTable, tables_of
from evalui.scoring.position_bias.pride import Prior, prior
from evalui.scoring.position_bias.recall_spread import Spread, SpreadRange, spread, spread_range
from evalui.scoring.position_bias.significance import (
    DRAWS,
    BiasTests,
    Floor,
    bias_tests,
    gold_balance,
    original_floor,
)
from evalui.types import Pattern, Trial


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of the `n` questions that have `n_options` options and were asked in every order.

    `position` and `spread` are over all orders. `original` is RStd of the original order with its
    noise floor. `calibration` is of the original order; `ece` and `brier` are over all orders,
    without ranges. None where a figure needs several orders or probabilities that are not there.
    `gold` counts the answers per slot in the original order, `gold_p` is its chi-square p.
    `spread_range` has the ranges of `spread` over resampled questions. `mass` is the mean label
    mass of the cell's trials, None of replies.
    """

    n_options: int
    n: int
    position: PositionTable
    spread: Spread
    original: Floor | None
    consistency: Consistency | None
    prior: Prior | None
    calibration: Calibration | None
    ece: float | None
    brier: float | None
    tests: BiasTests
    light: Light
    gold: tuple[int, ...]
    gold_p: float
    spread_range: SpreadRange | None = None
    mass: float | None = None


@dataclass(frozen=True, slots=True)
class CellBias:
    """The bias of a cell, by number of options, fewest first; nothing is pooled over them.

    The questions in `incomplete` lack an order, those in `naming` have options that name other
    options, those in `duplicates` options of the same text; none is in any figure. `mass` is over
    all trials. `chance` is the accuracy of blind guessing over all questions.
    """

    strata: tuple[Bias, ...]
    incomplete: tuple[str, ...]
    naming: tuple[str, ...]
    duplicates: tuple[str, ...]
    mass: Mass | None
    chance: float | None
    n: int

    @property
    def largest(self) -> Bias | None:
        """The number of options with the most questions; None without any."""
        return max(self.strata, key=lambda found: found.n, default=None)


def bias(
    trials: Sequence[Trial],
    pattern: Pattern,
    *,
    reading: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> CellBias:
    """Every bias figure of a cell under one reading; None takes each trial's headline.

    `draws` of 0 leaves out the permutation tests, and with them the floors and lights.
    """
    tables = grids(trials, pattern, reading=reading)
    positions = tables_of(tables)
    found = from_grids(tables, trials, pattern)
    held = mass([trial.mass for trial in trials if trial.mass is not None])
    mean = held.mean if held else None
    return CellBias(
        strata=tuple(
            _bias(stratum, position, draws=draws, seed=seed, held=mean)
            for stratum, position in zip(found, positions, strict=True)
        ),
        incomplete=left_out(tables, ""),
        naming=left_out(tables, "naming"),
        duplicates=left_out(tables, "duplicates"),
        mass=held,
        chance=_chance(tables),
        n=sum(len(table.ids) for table in tables),
    )


def evidence(found: CellBias, form: FormatFigures, headline: str) -> Evidence:
    """What `lights.cautions` can be told of a cell; `form` is over the same trials and readings.

    The rest is added with `dataclasses.replace`: the accuracy of the original order, choices only,
    the judge, and what differs from another cell.
    """
    largest, read = found.largest, form.readings[headline]
    priors = largest.prior if largest else None
    return Evidence(
        n=found.n,
        chance=found.chance,
        accuracy=read.accuracy,
        unreadable=read.unreadable,
        gap=form.gap.value if form.gap else None,
        index_hits=form.index_hits / form.n_trials,
        mass=form.mass,
        tied=read.tied / form.n_trials,
        incomplete=len(found.incomplete),
        naming=len(found.naming),
        duplicates=len(found.duplicates),
        gold=largest.gold if largest else (),
        gold_p=largest.gold_p if largest else None,
        rstd_plain=priors.rstd_plain if priors else None,
        rstd_debiased=priors.rstd_debiased if priors else None,
    )


def _bias(
    stratum: Stratum, position: PositionTable, *, draws: int, seed: int, held: float | None
) -> Bias:
    tests, uneven = bias_tests(stratum, draws=draws, seed=seed), spread(position)
    gold, gold_p = gold_balance(stratum.target[:, 0], stratum.n_options)
    chances = stratum.probabilities
    overall = over_orders(chances, stratum.target) if chances is not None else None
    return Bias(
        n_options=stratum.n_options,
        n=stratum.n,
        position=position,
        spread=uneven,
        original=original_floor(stratum, draws=draws, seed=seed) if draws else None,
        consistency=consistency(stratum),
        prior=prior(stratum),
        calibration=calibration(chances[:, 0], stratum.target[:, 0])
        if chances is not None
        else None,
        ece=overall.ece if overall else None,
        brier=overall.brier if overall else None,
        tests=tests,
        light=light(
            n=stratum.n,
            p=tests.permuted.p if tests.permuted else None,
            furthest=uneven.furthest,
            rstd=uneven.rstd,
            floor95=tests.permuted.floor95 if tests.permuted else None,
            mass=held,
        ),
        gold=gold,
        gold_p=gold_p,
        mass=held,
        spread_range=spread_range(
            stratum.choice, stratum.target, stratum.n_options, resamples=draws, seed=seed
        )
        if draws
        else None,
    )


def _chance(tables: Sequence[Grid]) -> float | None:
    n = sum(len(table.ids) for table in tables)
    return sum(len(table.ids) / table.n_options for table in tables) / n if n else None
