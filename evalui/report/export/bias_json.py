"""Option bias, calibration and pairs as plain JSON objects, shares in per cent, stable names."""

import math
from collections.abc import Sequence
from typing import Any

from evalui.report.analyses.statistics.pairs import CellComparison, ComparisonSet
from evalui.scoring.calibration import Calibration, LabelMass
from evalui.scoring.position_bias.consistency import Consistency, OrderAgreement
from evalui.scoring.position_bias.counts import RecallSpread, RecallSpreadRange
from evalui.scoring.position_bias.pride import PrideEstimate
from evalui.scoring.position_bias.significance import BiasTests
from evalui.scoring.position_bias.summary import StratumBias
from evalui.scoring.statistics.intervals import ClusteredMean
from evalui.types import LETTERS, Interval

JsonObject = dict[str, Any]  # what `json.dumps` takes


def bias_object(bias: StratumBias, priors: Sequence[Interval] = ()) -> JsonObject:
    """All bias figures of the questions with one number of options; `priors` have the ranges."""
    original = bias.original_floor
    return {
        "options": bias.n_options,
        "questions": bias.n,
        "light": bias.level,
        **_spread(bias.spread, bias.spread_range),
        **_tests(bias.tests),
        "rstd_original": original.rstd if original else None,
        "rstd_original_floor": original.mean if original else None,
        "rstd_original_floor95": original.percentile_95 if original else None,
        "rstd_original_p": original.p if original else None,
        "gold": list(bias.gold_counts),
        "gold_p": bias.gold_p,
        "consistency": _consistency(bias.consistency) if bias.consistency else None,
        "prior": _prior(bias.prior, priors) if bias.prior else None,
        "calibration": _calibration(bias.calibration) if bias.calibration else None,
        "ece_all_orders": None if bias.ece is None else 100 * bias.ece,
        "brier_all_orders": bias.brier,
    }


def clusters_object(clustered: ClusteredMean) -> JsonObject:
    """The mean over orders with its clustered error, in points, and its design effect."""
    return {
        "mean_over_orders": percent(clustered.interval),
        "se": None if clustered.se is None else 100 * clustered.se,
        "t_range": percent_range(clustered.t_interval),
        "design_effect": clustered.design_effect,
        "n_effective": clustered.n_effective,
        "trials": clustered.n_trials,
    }


def mass_object(mass: LabelMass) -> JsonObject:
    """The label mass: its mean and its quantiles at 5, 25, 50, 75 and 95 %, as shares."""
    return {"mean": mass.mean, "quantiles": list(mass.quantiles), "trials": mass.n}


def comparison_object(comparison: ComparisonSet) -> JsonObject:
    """All pairs of one dataset and mode, and the ranks that follow."""
    return {
        "dataset": comparison.dataset,
        "mode": comparison.label,
        "measure": comparison.measure,
        "pairs": [pair_object(pair) for pair in comparison.pairs],
        "not_compared": [
            {"first": no.first.model, "second": no.second.model, "differs": list(no.differences)}
            for no in comparison.incomparable
        ],
        "ranks": [
            {
                "model": place.name,
                "value": 100 * place.value,
                "band": place.band,
                "from": place.low,
                "to": place.high,
            }
            for place in comparison.ranks
        ],
        "not_ranked": {cell.model: why for cell, why in comparison.unranked.items()},
    }


def pair_object(pair: CellComparison) -> JsonObject:
    """The paired difference of two cells in points, with McNemar's table."""
    found, table = pair.paired, pair.mcnemar
    return {
        "first": pair.first.model,
        "second": pair.second.model,
        "n": pair.n,
        "points": 100 * found.difference,
        "range": [100 * found.low, 100 * found.high],
        "se": 100 * found.se,
        "p": found.p,
        "p_holm": pair.adjusted,
        "identical": found.all_equal,
        "apart": pair.significant,
        "finding": pair.finding,
        "detectable": None if pair.detectable is None else 100 * pair.detectable,
        "mcnemar": None
        if table is None
        else {
            "first_only": table.first_only,
            "second_only": table.second_only,
            "exact_p": table.exact,
            "mid_p": table.mid,
        },
    }


def percent(interval: Interval | None) -> float | None:
    """The value in per cent."""
    return None if interval is None else 100 * interval.value


def percent_range(interval: Interval | None) -> list[float] | None:
    """Both ends in per cent."""
    return None if interval is None else [100 * interval.low, 100 * interval.high]


def _spread(found: RecallSpread, ranged: RecallSpreadRange | None) -> JsonObject:
    finite = found.ckld is not None and math.isfinite(found.ckld)
    return {
        "rstd": found.rstd,
        "rstd_range": list(ranged.rstd) if ranged else None,
        "rsd": found.rsd,
        "ckld": found.ckld if finite else None,
        "ckld_infinite": found.ckld == math.inf,
        "ckld_smoothed": found.ckld_smoothed,
        "ckld_smoothed_range": list(ranged.ckld_smoothed) if ranged else None,
        "never_chosen": [LETTERS[slot] for slot in found.never_chosen],
        "furthest_from_fair": None
        if found.max_share_deviation is None
        else 100 * found.max_share_deviation,
    }


def _tests(found: BiasTests) -> JsonObject:
    permuted, recalls, wald = found.permutation, found.cochran_q, found.wald
    return {
        "rstd_floor": permuted.mean_rstd if permuted else None,
        "rstd_floor95": permuted.rstd_95 if permuted else None,
        "permutation_p": permuted.p if permuted else None,
        "permutation_draws": permuted.draws if permuted else None,
        "permutation_seed": permuted.seed if permuted else None,
        "cochran_q": recalls.statistic if recalls else None,
        "cochran_p": recalls.p if recalls else None,
        "wald_t2": wald.statistic if wald else None,
        "wald_p": wald.p if wald else None,
        "tied_left_out": found.tied,
    }


def _consistency(found: Consistency) -> JsonObject:
    return {
        "orders": found.n_orders,
        "content": _agreement(found.content),
        "position": _agreement(found.position),
        "plurality_chance": 100 * found.chance,
        "grid_rows_position_columns_content": [list(row) for row in found.grid],
        "silent": found.never_answered,
        "majority_vote": 100 * found.majority_accuracy,
        "right_in_some_orders": percent(found.any_order),
        "sensitivity_gap": percent(found.sensitivity_gap),
        "sensitivity_gap_range": percent_range(found.sensitivity_gap),
    }


def _agreement(found: OrderAgreement) -> JsonObject:
    return {
        "plurality": 100 * found.plurality,
        "pairs": 100 * found.pairs,
        "kappa": found.kappa,
    }


def _prior(found: PrideEstimate, ranges: Sequence[Interval]) -> JsonObject:
    return {
        "pride_prior": [100 * share for share in found.prior],
        "pride_prior_ranges": [percent_range(interval) for interval in ranges],
        "mass_by_slot": [100 * share for share in found.mean_probabilities],
        "soft_recalls": [None if share is None else 100 * share for share in found.soft_recalls],
        "permutation_average": percent(found.averaged_accuracy),
        "permutation_average_range": percent_range(found.averaged_accuracy),
        "pride_before": percent(found.plain_accuracy),
        "pride_after": percent(found.debiased_accuracy),
        "pride_rstd_before": found.rstd_plain,
        "pride_rstd_after": found.rstd_debiased,
    }


def _calibration(found: Calibration) -> JsonObject:
    return {
        "n": found.n,
        "ece": 100 * found.ece,
        "brier": found.brier,
        "bins": [
            {
                "from": bin_.low,
                "to": bin_.high,
                "confidence": bin_.confidence,
                "accuracy": percent(bin_.accuracy),
                "range": percent_range(bin_.accuracy),
                "n": bin_.accuracy.n if bin_.accuracy else 0,
            }
            for bin_ in found.bins
        ],
    }
