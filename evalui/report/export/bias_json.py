"""Option bias, calibration and pairs as plain JSON objects, shares in per cent, stable names."""

import math
from collections.abc import Sequence
from typing import Any

from evalui.report.analyses.statistics.pairs import Comparison, Pair
from evalui.scoring.calibration import Calibration, Mass
from evalui.scoring.position_bias.consistency import Agreement, Consistency
from evalui.scoring.position_bias.pride import Prior
from evalui.scoring.position_bias.recall_spread import Spread, SpreadRange
from evalui.scoring.position_bias.significance import BiasTests
from evalui.scoring.position_bias.summary import Bias
from evalui.scoring.statistics.intervals import Clustered
from evalui.types import LETTERS, Interval

JsonObject = dict[str, Any]  # what `json.dumps` takes


def bias_object(found: Bias, priors: Sequence[Interval] = ()) -> JsonObject:
    """All bias figures of the questions with one number of options; `priors` have the ranges."""
    original = found.original
    return {
        "options": found.n_options,
        "questions": found.n,
        "light": found.light,
        **_spread(found.spread, found.spread_range),
        **_tests(found.tests),
        "rstd_original": original.rstd if original else None,
        "rstd_original_floor": original.mean if original else None,
        "rstd_original_floor95": original.upper if original else None,
        "rstd_original_p": original.p if original else None,
        "gold": list(found.gold),
        "gold_p": found.gold_p,
        "consistency": _consistency(found.consistency) if found.consistency else None,
        "prior": _prior(found.prior, priors) if found.prior else None,
        "calibration": _calibration(found.calibration) if found.calibration else None,
        "ece_all_orders": None if found.ece is None else 100 * found.ece,
        "brier_all_orders": found.brier,
    }


def clusters_object(found: Clustered) -> JsonObject:
    """The mean over orders with its clustered error, in points, and its design effect."""
    return {
        "mean_over_orders": percent(found.interval),
        "se": None if found.se is None else 100 * found.se,
        "t_range": percent_range(found.t_interval),
        "design_effect": found.design_effect,
        "n_effective": found.n_effective,
        "trials": found.n_trials,
    }


def mass_object(found: Mass) -> JsonObject:
    """The label mass: its mean and its quantiles at 5, 25, 50, 75 and 95 %, as shares."""
    return {"mean": found.mean, "quantiles": list(found.quantiles), "trials": found.n}


def comparison_object(found: Comparison) -> JsonObject:
    """All pairs of one dataset and mode, and the ranks that follow."""
    return {
        "dataset": found.dataset,
        "mode": found.label,
        "measure": found.measure,
        "pairs": [pair_object(pair) for pair in found.pairs],
        "not_compared": [
            {"first": no.first.model, "second": no.second.model, "differs": list(no.parts)}
            for no in found.refused
        ],
        "ranks": [
            {
                "model": place.name,
                "value": 100 * place.value,
                "band": place.band,
                "from": place.low,
                "to": place.high,
            }
            for place in found.places
        ],
        "not_ranked": {cell.model: why for cell, why in found.unranked.items()},
    }


def pair_object(pair: Pair) -> JsonObject:
    """The paired difference of two cells in points, with McNemar's table."""
    found, table = pair.found, pair.table
    return {
        "first": pair.first.model,
        "second": pair.second.model,
        "n": pair.n,
        "points": 100 * found.difference,
        "range": [100 * found.low, 100 * found.high],
        "se": 100 * found.se,
        "p": found.p,
        "p_holm": pair.adjusted,
        "identical": found.identical,
        "apart": pair.apart,
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


def _spread(found: Spread, ranged: SpreadRange | None) -> JsonObject:
    finite = found.ckld is not None and math.isfinite(found.ckld)
    return {
        "rstd": found.rstd,
        "rstd_range": list(ranged.rstd) if ranged else None,
        "rsd": found.rsd,
        "ckld": found.ckld if finite else None,
        "ckld_infinite": found.ckld == math.inf,
        "ckld_smoothed": found.ckld_smoothed,
        "ckld_smoothed_range": list(ranged.ckld_smoothed) if ranged else None,
        "never_chosen": [LETTERS[slot] for slot in found.never],
        "furthest_from_fair": None if found.furthest is None else 100 * found.furthest,
    }


def _tests(found: BiasTests) -> JsonObject:
    permuted, recalls, wald = found.permuted, found.recalls, found.clustered
    return {
        "rstd_floor": permuted.floor if permuted else None,
        "rstd_floor95": permuted.floor95 if permuted else None,
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
        "silent": found.silent,
        "majority_vote": 100 * found.votes,
        "right_in_some_orders": percent(found.some),
        "sensitivity_gap": percent(found.sensitivity_gap),
        "sensitivity_gap_range": percent_range(found.sensitivity_gap),
    }


def _agreement(found: Agreement) -> JsonObject:
    return {
        "plurality": 100 * found.plurality,
        "pairs": 100 * found.pairs,
        "kappa": found.kappa,
    }


def _prior(found: Prior, ranges: Sequence[Interval]) -> JsonObject:
    return {
        "pride_prior": [100 * share for share in found.prior],
        "pride_prior_ranges": [percent_range(interval) for interval in ranges],
        "mass_by_slot": [100 * share for share in found.mass],
        "soft_recalls": [None if share is None else 100 * share for share in found.soft_recalls],
        "permutation_average": percent(found.averaged),
        "permutation_average_range": percent_range(found.averaged),
        "pride_before": percent(found.plain),
        "pride_after": percent(found.debiased),
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
