"""The public names of multiple-choice cells: stable in every language, shares in per cent.

Objects of JSON have their properties in the order of these fields; columns of tables are picked
from the same ones or stand beside them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from evalui.report.export.encoder import (
    Fields,
    Property,
    letter,
    optional,
    percent,
    percent_range,
    same,
    within,
)
from evalui.report.export.metric_fields import choice_format, choice_ranges
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import Consistency, OrderAgreement, PositionTable
from evalui.scoring.bias.probabilities import Calibration, CalibrationBin, LabelMass, PrideEstimate
from evalui.scoring.cell_summary import SubjectGroup, Summary
from evalui.scoring.choice.answer_format import ReadingMetrics
from evalui.scoring.comparisons import CellComparison, ComparisonSet, IncomparablePair
from evalui.scoring.statistics.intervals import ClusteredMean
from evalui.scoring.statistics.tests import McNemar, RankBand
from evalui.types import Interval, LeftOut, Reading


@dataclass(frozen=True, slots=True)
class PublicPrior:
    """PriDe's prior with the ranges of its shares, as `Summary.priors` has them."""

    estimate: PrideEstimate
    ranges: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class PublicBias:
    """The bias figures of the questions with one number of options, beside the prior's ranges."""

    figures: StratumBias
    ranges: tuple[Interval, ...] = ()

    @property
    def prior(self) -> PublicPrior | None:
        """None where there are no probabilities."""
        return PublicPrior(self.figures.prior, self.ranges) if self.figures.prior else None


def public_biases(summary: Summary) -> list[PublicBias]:
    """Every stratum of a cell with the ranges of its prior."""
    strata = summary.bias.strata if summary.bias else ()
    return [PublicBias(stratum, summary.priors.get(stratum.n_options, ())) for stratum in strata]


# ---------------------------------------------------------------- cells of multiple choice

CELL: Fields = same("dataset", "model") | {"mode": "label"}

CELL_STATE: Fields = {
    **within("cell", CELL),
    "orders": "cell.pattern",
    "signature": "cell.signature",
    **same("state", "error"),
}

COUNTS: Fields = {
    "n": "n",
    "n_all_orders": Property("robust.n", absent=0),
    "trials": "done",
    "planned": "total",
}

# What stands behind the registered metrics of a cell.
METRICS: Fields = {
    "ranges": Property("figures", choice_ranges),
    "readings": "readings",
    "format": Property("figures", choice_format),
    "incomplete": "incomplete",
    "naming_options": "naming",
    "duplicate_options": "duplicates",
    "positions": "positions",
    "groups": "groups",
}

ALL_METRICS: Fields = {
    **METRICS,
    "clusters": "mean_over_orders",
    "label_mass": "bias.mass",
    "bias": Property("", public_biases),
}


def _means(group: SubjectGroup, *, of: str) -> Mapping[str, float] | None:
    """The means of several subjects by question and by subject; those of one are the same."""
    single = group.kind == "subject"
    means = {"figures": group.micro} if single else {"micro": group.micro, "macro": group.macro}
    return means.get(of)


def _mean(of: str) -> Property:
    return optional(Property("", lambda group: _means(group, of=of)))


_CHOICES: Mapping[type, Fields] = {
    ReadingMetrics: {
        "accuracy": percent("accuracy"),
        "range": percent_range("accuracy"),
        "unreadable": percent("unreadable"),
        **same("tied", "rules"),
    },
    Reading: {"choice": letter("choice"), **same("credit", "rule", "tied")},
    PositionTable: {
        "options": "n_options",
        "questions": "n_questions",
        "trials": "n_trials",
        **same("counts", "unreadable", "tied"),
        "recalls": percent("recalls"),
        "recall_ranges": percent_range("recalls"),
        "shares": percent("shares"),
        "share_ranges": percent_range("shares"),
        "rstd": "rstd",
    },
    SubjectGroup: {
        **same("kind", "name", "name_zh", "subjects", "n"),
        "acc_origin_range": percent_range("accuracy"),
        "order_sensitivity": percent("gap"),
        "order_sensitivity_range": percent_range("gap"),
        "order_sensitivity_p": "gap_p",
        **{name: _mean(name) for name in ("figures", "micro", "macro")},
    },
    ClusteredMean: {
        "mean_over_orders": percent("interval"),
        "se": percent("se"),
        "t_range": percent_range("t_interval"),
        **same("design_effect", "n_effective"),
        "trials": "n_trials",
    },
    LabelMass: same("mean", "quantiles") | {"trials": "n"},
}


# ---------------------------------------------------------------- option bias and calibration

_SPREAD: Fields = {
    "rstd": "spread.rstd",
    "rstd_range": "spread_range.rstd",
    "rsd": "spread.rsd",
    "ckld": Property("spread.ckld", lambda ckld: ckld if math.isfinite(ckld) else None),
    "ckld_infinite": Property("spread.ckld", lambda ckld: ckld == math.inf, absent=False),
    "ckld_smoothed": "spread.ckld_smoothed",
    "ckld_smoothed_range": "spread_range.ckld_smoothed",
    "never_chosen": letter("spread.never_chosen"),
    "furthest_from_fair": percent("spread.max_share_deviation"),
}
_TESTS: Fields = {
    "rstd_floor": "permutation.mean_rstd",
    "rstd_floor95": "permutation.rstd_95",
    "permutation_p": "permutation.p",
    "permutation_draws": "permutation.draws",
    "permutation_seed": "permutation.seed",
    "cochran_q": "cochran_q.statistic",
    "cochran_p": "cochran_q.p",
    "wald_t2": "wald.statistic",
    "wald_p": "wald.p",
    "tied_left_out": "tied",
}

_BIAS: Mapping[type, Fields] = {
    PublicBias: within(
        "figures",
        {
            "options": "n_options",
            "questions": "n",
            "light": "level",
            "light_p": "adjusted_p",
            **_SPREAD,
            **within("tests", _TESTS),
            "rstd_original": "original_floor.rstd",
            "rstd_original_floor": "original_floor.mean",
            "rstd_original_floor95": "original_floor.percentile_95",
            "rstd_original_p": "original_floor.p",
            "gold": "gold_counts",
            **same("gold_p", "consistency", "prior", "calibration"),
            "ece_all_orders": percent("ece"),
            "brier_all_orders": "brier",
        },
    )
    | {"prior": "prior"},  # with its ranges, in the same place
    Consistency: {
        "orders": "n_orders",
        **same("content", "position"),
        "plurality_chance": percent("chance"),
        "grid_rows_position_columns_content": "grid",
        "silent": "never_answered",
        "majority_vote": percent("majority_accuracy"),
        "right_in_some_orders": percent("any_order"),
        "sensitivity_gap": percent("sensitivity_gap"),
        "sensitivity_gap_range": percent_range("sensitivity_gap"),
    },
    OrderAgreement: {
        "plurality": percent("plurality"),
        "pairs": percent("pairs"),
        "kappa": "kappa",
    },
    PublicPrior: {
        "pride_prior": percent("estimate.prior"),
        "pride_prior_ranges": percent_range("ranges"),
        "mass_by_slot": percent("estimate.mean_probabilities"),
        "soft_recalls": percent("estimate.soft_recalls"),
        "permutation_average": percent("estimate.averaged_accuracy"),
        "permutation_average_range": percent_range("estimate.averaged_accuracy"),
        "pride_before": percent("estimate.plain_accuracy"),
        "pride_after": percent("estimate.debiased_accuracy"),
        "pride_rstd_before": "estimate.rstd_plain",
        "pride_rstd_after": "estimate.rstd_debiased",
    },
    Calibration: {"n": "n", "ece": percent("ece"), **same("brier", "bins")},
    CalibrationBin: {
        "from": "low",
        "to": "high",
        "confidence": "confidence",
        "accuracy": percent("accuracy"),
        "range": percent_range("accuracy"),
        "n": Property("accuracy.n", absent=0),
    },
}


# ---------------------------------------------------------------- models against each other

PAIR: Fields = {
    "first": "first.model",
    "second": "second.model",
    "n": "n",
    "points": percent("paired.difference"),
    "range": percent_range("paired"),
    "se": percent("paired.se"),
    "p": "paired.p",
    "p_holm": "adjusted",
    "identical": "paired.all_equal",
    "apart": "significant",
    "finding": "finding",
    "detectable": percent("detectable"),
    "settings": "settings",
    "mcnemar": "mcnemar",
}
MCNEMAR: Fields = same("first_only", "second_only") | {"exact_p": "exact", "mid_p": "mid"}

_COMPARISONS: Mapping[type, Fields] = {
    ComparisonSet: {
        "dataset": "dataset",
        "mode": "label",
        **same("measure", "pairs"),
        "not_compared": "incomparable",
        "ranks": "ranks",
        "not_ranked": Property(
            "unranked", lambda unranked: {cell.model: why for cell, why in unranked.items()}
        ),
    },
    CellComparison: PAIR,
    IncomparablePair: {
        "first": "first.model",
        "second": "second.model",
        "differs": "differences",
    },
    RankBand: {
        "model": "name",
        "value": percent("value"),
        "band": "band",
        "from": "low",
        "to": "high",
    },
    McNemar: MCNEMAR,
    LeftOut: same("rule", "dataset", "what", "mode", "why", "rows"),
}

CHOICE_NAMES: Mapping[type, Fields] = {**_CHOICES, **_BIAS, **_COMPARISONS}
