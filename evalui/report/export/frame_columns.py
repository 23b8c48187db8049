"""The columns of each DataFrame of figures, declared once: names, dtypes, meanings."""

from collections.abc import Mapping

from evalui.report.frames.base import FrameColumn

_DATASET = FrameColumn("category", "name of the dataset")
_MODEL = FrameColumn("category", "name of the model")
_MODE = FrameColumn("category", "mode, with what tells it from others of that mode")
_JUDGE = FrameColumn("category", "who judged; empty where nobody did")
_SIGNATURE = FrameColumn("category", "how the figures are made")
_LOW = FrameColumn("float64", "lower end of its 95 % interval")
_HIGH = FrameColumn("float64", "upper end of its 95 % interval")

CELL_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "model": FrameColumn("category", "name of the model, or of the judge"),
    "mode": _MODE,
    "orders": FrameColumn(
        "category", "orders of the options: origin, circular, all_possible; of a judge its own"
    ),
    "state": FrameColumn("category", "waiting, running, done, failed, cancelled, impossible"),
    "error": FrameColumn("str", "why it failed or cannot run, else empty"),
    "signature": _SIGNATURE,
}
METRIC_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "group": FrameColumn("category", "subject or group of subjects; empty for the whole dataset"),
    "model": FrameColumn("category", "name of the model; of a judge's own figures, of the judge"),
    "mode": _MODE,
    "settings": _SIGNATURE,
    "metric": FrameColumn("category", "public name of the metric, as in docs/metrics.md"),
    "value": FrameColumn("float64", "its value in its unit"),
    "low": _LOW,
    "high": _HIGH,
    "n": FrameColumn(
        "Int64",
        "questions it rests on, or verdicts of a judge's own figures; missing where report.json "
        "does not state it",
    ),
    "unit": FrameColumn("category", "percent, probability, count, characters or number"),
    "direction": FrameColumn("category", "which values are better: higher, lower or none"),
    "kind": FrameColumn(
        "category",
        "what the group is: empty, subject, category, hard or all; subjects or datasets of "
        "`summary_groups`",
    ),
    "mean": FrameColumn("category", "micro weighs questions, macro subjects; empty where equal"),
    "judge": _JUDGE,
    "missing": FrameColumn(
        "category", "members of a summary group without the metric, after commas; else empty"
    ),
}
PAIR_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "mode": _MODE,
    "measure": FrameColumn(
        "category", "accuracy, robust, mean_over_orders or the name of a metric"
    ),
    "first": FrameColumn("category", "the model with the higher mean; of named metrics either"),
    "second": FrameColumn("category", "the other model"),
    "n": FrameColumn("Int64", "questions both answered"),
    "points": FrameColumn(
        "float64", "mean of the first minus that of the second, in points or the metric's unit"
    ),
    "points_low": _LOW,
    "points_high": _HIGH,
    "se": FrameColumn("float64", "standard error of the difference, in points"),
    "p": FrameColumn("float64", "p of the paired t test; missing of named metrics"),
    "p_holm": FrameColumn("float64", "p after Holm's correction for the pairs of a dataset"),
    "apart": FrameColumn("boolean", "whether the difference is significant"),
    "finding": FrameColumn("category", "apart, steady, level, same, guessing or few"),
    "detectable": FrameColumn("float64", "difference found with 80 % power, in points"),
    "mcnemar_first_only": FrameColumn("Int64", "questions only the first has right"),
    "mcnemar_second_only": FrameColumn("Int64", "questions only the second has right"),
    "mcnemar_exact_p": FrameColumn("float64", "p of McNemar's exact test"),
    "mcnemar_mid_p": FrameColumn("float64", "mid-p of the same"),
}
POSITION_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "model": _MODEL,
    "mode": _MODE,
    "options": FrameColumn("Int64", "number of options; questions with others are never pooled"),
    "slot": FrameColumn("category", "the position, by its letter"),
    "questions": FrameColumn("Int64", "questions shown in every order"),
    "picks": FrameColumn("Int64", "trials in which the position was chosen"),
    "share_of_picks": FrameColumn("float64", "the same as a share of the readable trials"),
    "share_of_picks_low": _LOW,
    "share_of_picks_high": _HIGH,
    "recall": FrameColumn("float64", "share of right answers that are chosen when they stand here"),
    "recall_low": _LOW,
    "recall_high": _HIGH,
    "chance": FrameColumn("float64", "share of picks and recall of a blind guess"),
    "rstd": FrameColumn("float64", "standard deviation of the recalls, in points"),
    "rstd_floor95": FrameColumn("float64", "what 95 % of models without a bias stay below"),
    "permutation_p": FrameColumn("float64", "p of the permutation test of rstd"),
    "light": FrameColumn("category", "verdict on the bias, see docs/metrics-bias.md"),
    "signature": _SIGNATURE,
}
STANDING_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "judge": FrameColumn("category", "who judged: a model, panel or people"),
    "place": FrameColumn("Int64", "place in the table, from 1"),
    "model": _MODEL,
    "n": FrameColumn("Int64", "battles"),
    "win": FrameColumn("Int64", "battles won"),
    "tie": FrameColumn("Int64", "battles without a winner"),
    "lose": FrameColumn("Int64", "battles lost"),
    "score": FrameColumn("Int64", "OpenCompass's score"),
    "win_rate": FrameColumn("float64", "wins and half of the ties"),
    "elo": FrameColumn("float64", "median ELO over seeded orders of the battles, start 1000"),
    "elo_low": _LOW,
    "elo_high": _HIGH,
    "opencompass_elo_mean": FrameColumn(
        "float64",
        "OpenCompass's elo_score [Mean]; missing of people and open runs, and where it is not kept",
    ),
    "opencompass_elo_std": FrameColumn(
        "float64", "its [Std]: noise of the random orders, no error of sampling"
    ),
    "bradley_terry": FrameColumn("float64", "Bradley-Terry rating on the scale of ELO"),
    "bradley_terry_low": _LOW,
    "bradley_terry_high": _HIGH,
    "style_controlled": FrameColumn("float64", "the same with length and style held equal"),
    "style_controlled_low": _LOW,
    "style_controlled_high": _HIGH,
    "rank_low": FrameColumn("Int64", "best rank of its 95 % interval"),
    "rank_high": FrameColumn("Int64", "worst rank of it"),
    "with_leader": FrameColumn("boolean", "whether it does not differ from the leader"),
    "signature": _SIGNATURE,
}
_BATTLE_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "question": FrameColumn("str", "id of the question"),
    "model_a": FrameColumn("category", "whose answer was shown first"),
    "model_b": FrameColumn("category", "whose answer was shown second"),
    "winner": FrameColumn("category", "model_a, model_b, tie or neither; missing if unreadable"),
}
VERDICT_COLUMNS: Mapping[str, FrameColumn] = {
    **_BATTLE_COLUMNS,
    "judge": FrameColumn("category", "the judge"),
    "rule": FrameColumn("category", "the rule that read the verdict"),
    "strength": FrameColumn("Int64", "3 for much better, where the form has it"),
    "reply": FrameColumn("str", "what the judge wrote"),
    "injected": FrameColumn("boolean", "whether an answer spoke to the judge"),
    "retried": FrameColumn("boolean", "whether the judge was prompted twice"),
    "probabilities": FrameColumn("object", "a dict from winner to probability, where there is one"),
    "signature": _SIGNATURE,
}
VOTE_COLUMNS: Mapping[str, FrameColumn] = {
    **_BATTLE_COLUMNS,
    "by": FrameColumn("category", "who voted"),
    "comment": FrameColumn("str", "what they wrote"),
    "created": FrameColumn("datetime64[ms, UTC]", "when"),
    "seconds": FrameColumn("float64", "how long the pair was looked at, in seconds"),
    "assigned": FrameColumn("boolean", "whether the pair was assigned to this person"),
    "adjudicated": FrameColumn("category", "the winner that was decided on for the pair"),
}
RUN_COLUMNS: Mapping[str, FrameColumn] = {
    "id": FrameColumn("str", "id of the run, which `open` takes"),
    "name": FrameColumn("str", "its name"),
    "state": FrameColumn("category", "queued, running, done, failed or cancelled"),
    "done": FrameColumn("Int64", "trials that are done"),
    "total": FrameColumn("Int64", "trials planned"),
    "created": FrameColumn("datetime64[ms, UTC]", "when it was queued"),
    "owner": FrameColumn("category", "whose it is"),
}
