"""The frames of multiple choice: the columns of each, and its rows from summaries of cells.

Slots are letters, ranges those at 95 %. What depends on a run's metrics stands in `overview` and in
`groups` behind the declared columns.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from evalui.proportions import wilson_interval
from evalui.report.frames.base import (
    HIGH,
    LOW,
    Columns,
    FrameColumn,
    Row,
    interval,
    percent,
    ranged,
)
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cell_summary import SubjectGroup, Summary, labels_of
from evalui.scoring.choice.decisions import names_of_keys
from evalui.scoring.choice.options import variant_label, variants
from evalui.scoring.comparisons import CellComparison, ComparisonSet
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.types import LETTERS, Cell, Interval

Part = TypeVar("Part")
DATASET = FrameColumn("category", "name of the dataset")
MODEL = FrameColumn("category", "name of the model")
MODE = FrameColumn("category", "mode, with what tells it from others of that mode")
CELL: Columns = {"dataset": DATASET, "model": MODEL, "mode": MODE}
SIGNATURE = FrameColumn("category", "how the figures are made")
STATE = FrameColumn("category", "waiting, running, done, failed, cancelled, impossible")
ERROR = FrameColumn("str", "why it failed or cannot run, else empty")

OPTIONS = FrameColumn("Int64", "number of options; questions with others are never pooled")
_SLOT = FrameColumn("category", "the position, by its letter")
_MEASURE = FrameColumn("category", "accuracy, robust or mean_over_orders")
_POINTS = "standard deviation of the recalls, in points"

OVERVIEW: Columns = {
    **CELL,
    "orders": FrameColumn("category", "orders of the options: origin, circular, all_possible"),
    "state": STATE,
    "questions": FrameColumn("Int64", "questions of the dataset"),
    "n": FrameColumn("Int64", "questions answered in the order as written"),
    "trials": FrameColumn("Int64", "trials that are in"),
    "planned": FrameColumn("Int64", "trials planned"),
    "n_all_orders": FrameColumn("Int64", "questions answered in every order"),
    "incomplete": FrameColumn("Int64", "questions that lack an order"),
    "naming_options": FrameColumn("Int64", "questions with an option that names another"),
    "duplicate_options": FrameColumn("Int64", "questions of which two options are the same"),
    "mean_over_orders_se": FrameColumn("float64", "standard error of mean_over_orders, in points"),
    "mean_over_orders_t_low": FrameColumn("float64", "lower end of its interval by the t test"),
    "mean_over_orders_t_high": FrameColumn("float64", "upper end of it"),
    "mean_over_orders_trials": FrameColumn("Int64", "trials it rests on"),
    "design_effect": FrameColumn("float64", "variance of that mean over that of lone trials"),
    "n_effective": FrameColumn("float64", "lone trials that would tell as much"),
    "label_mass_trials": FrameColumn("Int64", "trials with probabilities"),
    **{
        f"label_mass_q{share:02}": FrameColumn("float64", f"quantile of label_mass at {share} %")
        for share in (5, 25, 50, 75, 95)
    },
    "error": ERROR,
    "signature": SIGNATURE,
}
READINGS: Columns = {
    **CELL,
    "reading": FrameColumn("category", "the rule of reading"),
    **ranged("accuracy", "accuracy under it in the order as written"),
    **ranged("unreadable", "share of the answers that it cannot read"),
    "tied": FrameColumn("Int64", "answers of which several options tie at the top"),
    "signature": SIGNATURE,
}
RULES: Columns = {
    **CELL,
    "reading": FrameColumn("category", "the rule of reading"),
    "rule": FrameColumn("category", "what it found in the answers"),
    "answers": FrameColumn("Int64", "in how many, in the order as written"),
    "signature": SIGNATURE,
}
GROUPS: Columns = {
    **CELL,
    "kind": FrameColumn("category", "subject, category, hard or all"),
    "group": FrameColumn("category", "its name"),
    "group_zh": FrameColumn("category", "its Chinese name, empty where none is known"),
    "n": FrameColumn("Int64", "questions"),
    "subjects": FrameColumn("Int64", "how many subjects it has"),
    "mean": FrameColumn(
        "category", "micro weighs questions, macro subjects; empty where they are equal"
    ),
    **ranged("acc_origin", "accuracy in the order as written; no macro mean has the range"),
    **ranged("order_sensitivity", "right as written, but not in every order; of no macro mean"),
    "order_sensitivity_n": FrameColumn("Int64", "questions that this share rests on"),
    "order_sensitivity_p": FrameColumn("float64", "p of the test against all other questions"),
    "signature": SIGNATURE,
}
POSITIONS: Columns = {
    **CELL,
    "options": OPTIONS,
    "slot": _SLOT,
    "questions": FrameColumn("Int64", "questions shown in every order"),
    "picks": FrameColumn("Int64", "trials in which the position was chosen"),
    **ranged("share_of_picks", "the same as a share of the readable trials"),
    **ranged("recall", "share of right answers that are chosen when they stand here"),
    "chance": FrameColumn("float64", "share of picks and recall of a blind guess"),
    "gold": FrameColumn("Int64", "right answers that stand here in the order as written"),
    "rstd": FrameColumn("float64", _POINTS),
    "rstd_floor95": FrameColumn("float64", "what 95 % of models without a bias stay below"),
    "permutation_p": FrameColumn("float64", "p of the permutation test of rstd"),
    "light": FrameColumn("category", "verdict on the bias, see docs/metrics-bias.md"),
    "signature": SIGNATURE,
}
CONFUSION: Columns = {
    **CELL,
    "options": OPTIONS,
    "gold": FrameColumn("category", "where the right answer stood, by its letter"),
    "picked": FrameColumn("category", "the letter that was chosen, unreadable or tied"),
    "trials": FrameColumn("Int64", "how often"),
    **ranged("share", "the same as a share of the answers with the right one here"),
    "answers": FrameColumn("Int64", "answers with the right one here"),
    "questions": FrameColumn("Int64", "questions behind them, by which the interval is made"),
    "signature": SIGNATURE,
}
CONSISTENCY: Columns = {
    **CELL,
    "options": OPTIONS,
    "orders": FrameColumn("Int64", "orders in which each question was shown"),
    "same_position": FrameColumn("Int64", "how often its most frequent position was chosen"),
    "same_option": FrameColumn("Int64", "how often its most frequent option was chosen"),
    "questions": FrameColumn("Int64", "questions of which both are so"),
    **ranged("share", "the same as a share of the questions"),
    "n": FrameColumn("Int64", "questions shown in every order"),
    "signature": SIGNATURE,
}
PRIORS: Columns = {
    **CELL,
    "options": OPTIONS,
    "slot": _SLOT,
    "origin": FrameColumn(
        "category", "prior: PriDe's, from probabilities; picks: share of the readable answers"
    ),
    **ranged("share", "how much the position draws, whatever stands there"),
    "n": FrameColumn("Int64", "questions"),
    "chance": FrameColumn("float64", "what is fair"),
    "mass": FrameColumn("float64", "mean probability of the position's letter, in per cent"),
    "soft_recall": FrameColumn(
        "float64", "mean probability of the right answer when it is here, in per cent"
    ),
    "light": FrameColumn("category", "verdict on the bias, see docs/metrics-bias.md"),
    "signature": SIGNATURE,
}
BIAS: Columns = {
    **CELL,
    "options": OPTIONS,
    "questions": FrameColumn("Int64", "questions shown in every order"),
    "light": FrameColumn("category", "verdict on the bias, see docs/metrics-bias.md"),
    "light_p": FrameColumn("float64", "p that decides it: corrected for the models of the dataset"),
    **ranged("rstd", _POINTS),
    "rsd": FrameColumn("float64", "the same over their mean"),
    "ckld": FrameColumn("float64", "divergence of picks from right answers; missing if infinite"),
    "ckld_infinite": FrameColumn("boolean", "whether it is, since a position is never chosen"),
    **ranged("ckld_smoothed", "the same with half a choice more for each position"),
    "never_chosen": FrameColumn("str", "positions that are never chosen, by their letters"),
    "furthest_from_fair": FrameColumn("float64", "most a share of picks is off 1/K, in points"),
    "rstd_floor": FrameColumn("float64", "mean of rstd without a bias"),
    "rstd_floor95": FrameColumn("float64", "what 95 % of models without a bias stay below"),
    "permutation_p": FrameColumn("float64", "p of the permutation test of rstd"),
    "permutation_draws": FrameColumn("Int64", "its draws"),
    "permutation_seed": FrameColumn("Int64", "its seed"),
    "cochran_q": FrameColumn("float64", "Cochran's Q of right and wrong by position"),
    "cochran_p": FrameColumn("float64", "its p"),
    "wald_t2": FrameColumn("float64", "Wald's statistic of the picks"),
    "wald_p": FrameColumn("float64", "its p"),
    "tied_left_out": FrameColumn("Int64", "tied trials, which are in no test"),
    "rstd_original": FrameColumn("float64", "rstd of the order as written"),
    "rstd_original_floor": FrameColumn("float64", "its mean without a bias"),
    "rstd_original_floor95": FrameColumn("float64", "what 95 % stay below"),
    "rstd_original_p": FrameColumn("float64", "share of draws that reach it"),
    "gold_p": FrameColumn("float64", "p that right answers stand evenly in the file"),
    "orders": FrameColumn("Int64", "orders in which each question was shown"),
    **{
        f"{of}_{what}": FrameColumn("float64", f"{meaning} on the {called}")
        for of, called in (("content", "option"), ("position", "position"))
        for what, meaning in (
            ("plurality", "share of orders with the most frequent answer, by agreement"),
            ("pairs", "share of pairs of orders that agree"),
            ("kappa", "the same beyond chance, no share,"),
        )
    },
    "plurality_chance": FrameColumn("float64", "plurality of a blind guess"),
    "silent": FrameColumn("Int64", "questions without a readable answer"),
    "majority_vote": FrameColumn("float64", "accuracy of the majority over the orders"),
    "right_in_some_orders": FrameColumn("float64", "share right in one order or more"),
    **ranged("sensitivity_gap", "share right in some orders, but not in all"),
    **ranged("permutation_average", "accuracy of the mean probabilities over the orders"),
    "pride_before": FrameColumn("float64", "accuracy in the order as written"),
    "pride_after": FrameColumn("float64", "the same with PriDe's prior taken off"),
    "pride_rstd_before": FrameColumn("float64", "rstd of the order as written"),
    "pride_rstd_after": FrameColumn("float64", "the same with the prior taken off"),
    "calibration_n": FrameColumn("Int64", "questions of the next two"),
    "calibration_ece": FrameColumn("float64", "expected calibration error, as written"),
    "calibration_brier": FrameColumn("float64", "Brier score, 0 to 2, as written"),
    "ece_all_orders": FrameColumn("float64", "expected calibration error over all orders"),
    "brier_all_orders": FrameColumn("float64", "Brier score over all orders"),
    "signature": SIGNATURE,
}
FLIPS: Columns = {
    **CELL,
    "options": OPTIONS,
    "first": FrameColumn("category", "an order, each option by the letter of its place"),
    "second": FrameColumn("category", "another one; both empty for all pairs together"),
    **ranged("changed", "share of the questions of which the second changes the chosen option"),
    "n": FrameColumn("Int64", "questions with a choice in both"),
    "signature": SIGNATURE,
}
KEYS: Columns = {
    **CELL,
    "options": OPTIONS,
    "by": FrameColumn("category", "place or key: what the slots of the row are"),
    "mover": FrameColumn("category", "what moves choices at 5 %: key, place, both or neither"),
    "picked_most": FrameColumn("str", "number of the place, or the key, that is picked most"),
    **ranged("share_of_picks", "its share of the readable trials"),
    "chance": FrameColumn("float64", "that of a blind guess"),
    "rstd": FrameColumn("float64", _POINTS),
    "rstd_floor95": FrameColumn("float64", "what 95 % of models without such an effect stay below"),
    "permutation_p": FrameColumn("float64", "p of the permutation test, not corrected"),
    "questions": FrameColumn("Int64", "questions shown in every order"),
    "signature": SIGNATURE,
}
PAIRS: Columns = {
    "dataset": DATASET,
    "mode": MODE,
    "measure": FrameColumn(
        "category", "accuracy, robust, mean_over_orders or the name of a metric"
    ),
    "first": FrameColumn("category", "the model with the higher mean; of named metrics either"),
    "second": FrameColumn("category", "the other model"),
    "n": FrameColumn("Int64", "questions both answered"),
    "points": FrameColumn(
        "float64", "mean of the first minus that of the second, in points or the metric's unit"
    ),
    "points_low": LOW,
    "points_high": HIGH,
    "se": FrameColumn("float64", "standard error of the difference, in points"),
    "p": FrameColumn("float64", "p of the paired t test; missing of named metrics"),
    "p_holm": FrameColumn("float64", "p after Holm's correction for the pairs of a dataset"),
    "identical": FrameColumn("boolean", "whether both have the same questions right"),
    "apart": FrameColumn("boolean", "whether the difference is significant"),
    "finding": FrameColumn("category", "apart, steady, level, same, guessing or few"),
    "detectable": FrameColumn("float64", "difference found with 80 % power, in points"),
    "settings": FrameColumn("category", "settings in which they were asked otherwise"),
    "mcnemar_first_only": FrameColumn("Int64", "questions only the first has right"),
    "mcnemar_second_only": FrameColumn("Int64", "questions only the second has right"),
    "mcnemar_exact_p": FrameColumn("float64", "p of McNemar's exact test"),
    "mcnemar_mid_p": FrameColumn("float64", "mid-p of the same"),
    "signature_second": FrameColumn("category", "how the figures of the second are made"),
    "signature": FrameColumn("category", "how the figures are made, of two cells of the first"),
}
INCOMPARABLE: Columns = {
    "dataset": DATASET,
    "mode": MODE,
    "measure": _MEASURE,
    "first": FrameColumn("category", "a model"),
    "second": FrameColumn("category", "another one, with which it is not compared"),
    "differs": FrameColumn("str", "what differs, after commas; empty: they share no two questions"),
    "signature_second": FrameColumn("category", "how the figures of the second are made"),
    "signature": FrameColumn("category", "how those of the first are made"),
}
RANKS: Columns = {
    **CELL,
    "measure": _MEASURE,
    "value": FrameColumn("float64", "the share by which it is ranked"),
    "band": FrameColumn("Int64", "which of the bands, from 1: no test tells its models apart"),
    "from": FrameColumn("Int64", "best place of its band"),
    "to": FrameColumn("Int64", "worst place of it"),
    "unranked": FrameColumn("category", "why it has no place: guessing or baseline; else empty"),
    "signature": SIGNATURE,
}


# ---------------------------------------------------------------- cells


def overview(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell: counts and metrics with their ranges, then OpenCompass's by their names."""
    for summary in summaries:
        mean, mass = summary.mean_over_orders, summary.bias.mass if summary.bias else None
        yield {
            **cell_names(summary.cell),
            "orders": summary.cell.pattern,
            "state": summary.state,
            "questions": summary.questions,
            "n": summary.n,
            "trials": summary.done,
            "planned": summary.total,
            "n_all_orders": summary.robust.n if summary.robust else 0,
            "incomplete": len(summary.incomplete),
            "naming_options": len(summary.naming),
            "duplicate_options": len(summary.duplicates),
            "mean_over_orders_se": percent(mean and mean.se),
            "mean_over_orders_t_low": percent(mean and mean.t_interval.low),
            "mean_over_orders_t_high": percent(mean and mean.t_interval.high),
            "mean_over_orders_trials": mean and mean.n_trials,
            "design_effect": mean and mean.design_effect,
            "n_effective": mean and mean.n_effective,
            "label_mass_trials": mass and mass.n,
            **dict.fromkeys(_QUANTILES),
            **dict(zip(_QUANTILES, mass.quantiles if mass else (), strict=False)),
            **figure_columns(metrics_in("files"), summary.figures),
            # The accuracy as written stands among the metrics, with its range.
            **{name: value for name, value in summary.metrics.items() if name != "acc_origin"},
            "error": summary.error,
            "signature": summary.cell.signature,
        }


_QUANTILES = tuple(name for name in OVERVIEW if name.startswith("label_mass_q"))


def readings(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell and rule of reading."""
    for summary in summaries:
        for name, one in summary.readings.items():
            yield {
                **cell_names(summary.cell),
                "reading": name,
                **interval("accuracy", one.accuracy),
                **interval("unreadable", one.unreadable),
                "tied": one.tied,
                "signature": summary.cell.signature,
            }


def rules(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, rule of reading and what it found."""
    for summary in summaries:
        for name, one in summary.readings.items():
            for rule, answers in one.rules.items():
                yield {
                    **cell_names(summary.cell),
                    "reading": name,
                    "rule": rule,
                    "answers": answers,
                    "signature": summary.cell.signature,
                }


def groups(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per subject; of several subjects one by question (micro), one by subject (macro)."""
    return of_cells(summaries, lambda summary: summary.groups, _means)


def _means(group: SubjectGroup) -> Iterator[Row]:
    means = {"micro": group.micro, "macro": group.macro}
    for mean, values in ({"": group.micro} if group.kind == "subject" else means).items():
        # Ranges are those of all questions together, so they belong to no macro mean.
        accuracy, gap = (None, None) if mean == "macro" else (group.accuracy, group.gap)
        yield {
            "kind": group.kind,
            "group": group.name,
            "group_zh": group.name_zh,
            "n": group.n,
            "subjects": len(group.subjects),
            "mean": mean,
            **interval("acc_origin", accuracy),
            **interval("order_sensitivity", gap),
            "order_sensitivity_n": gap and gap.n,
            "order_sensitivity_p": None if gap is None else group.gap_p,
            **values,
        }


# ---------------------------------------------------------------- positions


def positions(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and slot: what is picked there, and what is recalled."""
    for summary in summaries:
        for table in summary.positions:
            bias = summary.bias_of(table.n_options)
            permuted = bias and bias.tests.permutation
            for slot in range(table.n_options):
                yield {
                    **cell_names(summary.cell),
                    "options": table.n_options,
                    "slot": LETTERS[slot],
                    "questions": table.n_questions,
                    "picks": table.slot_counts[slot],
                    **interval("share_of_picks", table.shares[slot]),
                    **interval("recall", table.recalls[slot]),
                    "chance": 100 * table.chance,
                    "gold": bias and bias.gold_counts[slot],
                    "rstd": table.rstd,
                    "rstd_floor95": permuted and permuted.rstd_95,
                    "permutation_p": permuted and permuted.p,
                    "light": bias and bias.level,
                    "signature": summary.cell.signature,
                }


def confusion(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per square of the heat map: right answer's slot, picked slot, number of trials."""
    return of_cells(summaries, lambda summary: summary.positions, _squares)


def _squares(table: PositionTable) -> Iterator[Row]:
    for gold, counted in enumerate(table.counts):
        picked = dict(zip(LETTERS, counted, strict=False))
        picked |= {"unreadable": table.unreadable[gold], "tied": table.tied[gold]}
        answers = sum(picked.values())
        # With many orders a question stands in the row several times.
        questions = min(answers, table.n_questions)
        for name, trials in picked.items():
            share = wilson_interval(trials / answers * questions, questions) if answers else None
            yield {
                "options": table.n_options,
                "gold": LETTERS[gold],
                "picked": name,
                "trials": trials,
                **interval("share", share),
                "answers": answers,
                "questions": questions,
            }


def consistency(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per square of the grid of steady slots and options."""
    return of_cells(summaries, strata, _steady)


def _steady(bias: StratumBias) -> Iterator[Row]:
    if steady := bias.consistency:
        for slots, row in enumerate(steady.grid, start=1):
            for options, questions in enumerate(row, start=1):
                yield {
                    "options": bias.n_options,
                    "orders": steady.n_orders,
                    "same_position": slots,
                    "same_option": options,
                    "questions": questions,
                    **interval("share", wilson_interval(questions, steady.n)),
                    "n": steady.n,
                }


def priors(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and slot: what draws the model there.

    PriDe's prior where there are probabilities, with the range of a bootstrap over questions, else
    the share of readable answers. A cell that answered in one order alone has none to speak of.
    """
    for summary in summaries:
        for bias in strata(summary):
            prior = summary.priors.get(bias.n_options)
            shares = prior or [share for share in bias.position.shares if share]
            of = bias.prior
            for slot, share in enumerate(shares) if len(shares) == bias.n_options else ():
                yield {
                    **cell_names(summary.cell),
                    "options": bias.n_options,
                    "slot": LETTERS[slot],
                    "origin": "prior" if prior else "picks",
                    **interval("share", share),
                    "n": share.n,
                    "chance": 100 / bias.n_options,
                    "mass": percent(of and of.mean_probabilities[slot]),
                    "soft_recall": percent(of and of.soft_recalls[slot]),
                    "light": bias.level,
                    "signature": summary.cell.signature,
                }


def bias(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell and number of options: unevenness, tests, agreement, priors, calibration."""
    return of_cells(summaries, strata, lambda bias: iter([_bias_row(bias)]))


def _bias_row(bias: StratumBias) -> Row:
    spread, tests, plain = bias.spread, bias.tests, bias.original_floor
    permuted, steady, prior, fit = tests.permutation, bias.consistency, bias.prior, bias.calibration
    ends = bias.spread_range
    return {
        "options": bias.n_options,
        "questions": bias.n,
        "light": bias.level,
        "light_p": bias.adjusted_p,
        **_value("rstd", spread.rstd, ends and ends.rstd),
        "rsd": spread.rsd,
        "ckld": spread.ckld if spread.ckld is not None and math.isfinite(spread.ckld) else None,
        "ckld_infinite": spread.ckld == math.inf,
        **_value("ckld_smoothed", spread.ckld_smoothed, ends and ends.ckld_smoothed),
        "never_chosen": " ".join(LETTERS[slot] for slot in spread.never_chosen),
        "furthest_from_fair": percent(spread.max_share_deviation),
        "rstd_floor": permuted and permuted.mean_rstd,
        "rstd_floor95": permuted and permuted.rstd_95,
        "permutation_p": permuted and permuted.p,
        "permutation_draws": permuted and permuted.draws,
        "permutation_seed": permuted and permuted.seed,
        "cochran_q": tests.cochran_q and tests.cochran_q.statistic,
        "cochran_p": tests.cochran_q and tests.cochran_q.p,
        "wald_t2": tests.wald and tests.wald.statistic,
        "wald_p": tests.wald and tests.wald.p,
        "tied_left_out": tests.tied,
        "rstd_original": plain and plain.rstd,
        "rstd_original_floor": plain and plain.mean,
        "rstd_original_floor95": plain and plain.percentile_95,
        "rstd_original_p": plain and plain.p,
        "gold_p": bias.gold_p,
        "orders": steady and steady.n_orders,
        **{
            f"{name}_{what}": of and scale * getattr(of, what)
            for name, of in (
                ("content", steady and steady.content),
                ("position", steady and steady.position),
            )
            for what, scale in (("plurality", 100), ("pairs", 100), ("kappa", 1))
        },
        "plurality_chance": percent(steady and steady.chance),
        "silent": steady and steady.never_answered,
        "majority_vote": percent(steady and steady.majority_accuracy),
        "right_in_some_orders": _middle(steady and steady.any_order),
        **interval("sensitivity_gap", steady and steady.sensitivity_gap),
        **interval("permutation_average", prior and prior.averaged_accuracy),
        "pride_before": _middle(prior and prior.plain_accuracy),
        "pride_after": _middle(prior and prior.debiased_accuracy),
        "pride_rstd_before": prior and prior.rstd_plain,
        "pride_rstd_after": prior and prior.rstd_debiased,
        "calibration_n": fit and fit.n,
        "calibration_ece": percent(fit and fit.ece.value),
        "calibration_brier": fit and fit.brier.value,
        "ece_all_orders": percent(bias.ece),
        "brier_all_orders": bias.brier,
    }


def flips(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and pair of orders, after one for all pairs together."""
    for summary in summaries:
        for bias in strata(summary):
            flips = bias.consistency.flips if bias.consistency else None
            orders = variants(bias.n_options, summary.cell.pattern) if flips else ()
            labels = [variant_label(order) for order in orders]
            changed = [("", "", flips.share)] if flips else []
            changed += [
                (labels[each.first], labels[each.second], each.share)
                for each in (flips.pairs if flips else ())
            ]
            for first, second, share in changed:
                yield {
                    **cell_names(summary.cell),
                    "options": bias.n_options,
                    "first": first,
                    "second": second,
                    **interval("changed", share),
                    "n": share and share.n,
                    "signature": summary.cell.signature,
                }


def keys(summaries: Iterable[Summary]) -> Iterator[Row]:
    """Two rows per cell with dealt keys and number of options: by place, by key."""
    for summary in summaries:
        names = names_of_keys(labels_of(summary.cell))
        for bias in strata(summary):
            of, numbers = bias.keys, [str(slot + 1) for slot in range(bias.n_options)]
            for by, side, named in (
                (("place", of.place, numbers), ("key", of.key, names)) if of else ()
            ):
                counts = side.table.slot_counts
                slot = counts.index(max(counts))
                yield {
                    **cell_names(summary.cell),
                    "options": bias.n_options,
                    "by": by,
                    "mover": of and of.mover,
                    "picked_most": named[slot],
                    **interval("share_of_picks", side.table.shares[slot]),
                    "chance": 100 * side.table.chance,
                    "rstd": side.spread.rstd,
                    "rstd_floor95": side.test.rstd_95,
                    "permutation_p": side.test.p,
                    "questions": bias.n,
                    "signature": summary.cell.signature,
                }


# ---------------------------------------------------------------- models against each other


def pairs(compared: Iterable[ComparisonSet]) -> Iterator[Row]:
    """A row per pair of cells of one dataset and mode, tested question by question."""
    for one in compared:
        for pair in one.pairs:
            yield {"dataset": one.dataset, "mode": one.label, **pair_row(pair)}


def pair_row(pair: CellComparison) -> Row:
    """Two cells and their test."""
    paired, table = pair.paired, pair.mcnemar
    return {
        "measure": pair.measure,
        "first": pair.first.model,
        "second": pair.second.model,
        "n": pair.n,
        "points": percent(paired.difference),
        "points_low": percent(paired.low),
        "points_high": percent(paired.high),
        "se": percent(paired.se),
        "p": paired.p,
        "p_holm": pair.adjusted,
        "identical": paired.all_equal,
        "apart": pair.significant,
        "finding": pair.finding,
        "detectable": percent(pair.detectable),
        "settings": pair.settings,
        "mcnemar_first_only": table and table.first_only,
        "mcnemar_second_only": table and table.second_only,
        "mcnemar_exact_p": table and table.exact,
        "mcnemar_mid_p": table and table.mid,
        "signature_second": pair.second.signature,
        "signature": pair.first.signature,
    }


def incomparable(compared: Iterable[ComparisonSet]) -> Iterator[Row]:
    """A row per pair of cells that are not compared."""
    for one in compared:
        for pair in one.incomparable:
            yield {
                "dataset": one.dataset,
                "mode": one.label,
                "measure": one.measure,
                "first": pair.first.model,
                "second": pair.second.model,
                "differs": ", ".join(pair.differences),
                "signature_second": pair.second.signature,
                "signature": pair.first.signature,
            }


def ranks(compared: Iterable[ComparisonSet], summaries: Sequence[Summary]) -> Iterator[Row]:
    """A row per model that has a place, the best first, then those that can have none."""
    cells = {each.cell: each.cell.signature for each in summaries}
    signatures = {(cell.dataset, cell.label, cell.model): cells[cell] for cell in cells}
    for one in compared:
        names = {"dataset": one.dataset, "mode": one.label, "measure": one.measure}
        for rank in one.ranks:
            yield {
                **names,
                "model": rank.name,
                "value": percent(rank.value),
                "band": rank.band,
                "from": rank.low,
                "to": rank.high,
                "unranked": "",
                "signature": signatures[one.dataset, one.label, rank.name],
            }
        for cell, why in one.unranked.items():
            yield {**names, "model": cell.model, "unranked": why, "signature": cell.signature}


# ---------------------------------------------------------------- parts of rows


def cell_names(cell: Cell) -> Row:
    """Which cell it is."""
    return {"dataset": cell.dataset, "model": cell.model, "mode": cell.label}


def figure_columns(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> Row:
    """The metrics that have a figure, each range as two columns."""
    row: Row = {}
    for metric in metrics:
        if metric.name in figures:
            figure = figures[metric.name]
            row[metric.name], *ends = public_figure(metric, figure)
            if metric.ranged or isinstance(figure, Interval):
                row |= dict(zip((f"{metric.name}_low", f"{metric.name}_high"), ends, strict=True))
    return row


def public_figure(
    metric: Metric, figure: Figure
) -> tuple[float | None, float | None, float | None]:
    """A figure with the ends of its range, as frames have them: a share in per cent."""
    scale = 100 if metric.unit == "share" else 1
    if isinstance(figure, Interval):
        return scale * figure.value, scale * figure.low, scale * figure.high
    return (figure if figure is None or scale == 1 else scale * figure), None, None


def of_cells(
    summaries: Iterable[Summary],
    parts: Callable[[Summary], Iterable[Part]],
    rows: Callable[[Part], Iterator[Row]],
) -> Iterator[Row]:
    """The rows of each part of a cell between the names of the cell and its signature."""
    for summary in summaries:
        for part in parts(summary):
            for row in rows(part):
                yield cell_names(summary.cell) | row | {"signature": summary.cell.signature}


def strata(summary: Summary) -> Sequence[StratumBias]:
    """The bias figures of a cell, one for each number of options."""
    return summary.bias.strata if summary.bias else ()


def _value(name: str, value: float | None, ends: tuple[float, float] | None) -> Row:
    low, high = ends or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _middle(of: Interval | None) -> float | None:
    return percent(of and of.value)
