"""The scoring core on plain DataFrames: the same functions and figures as in a report.

Every function takes rows of one model, or of as many as `by` tells apart, and gives a frame. Shares
are in per cent, intervals are at 95 %. docs/metrics.md and docs/metrics-bias.md have the formulas.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any, cast

import pandas as pd

from evalui.errors import DataError, SpecError
from evalui.library.choice_rows import choice_result, read_repeats, require_columns
from evalui.modes import MODES, ModeSettings, grader_of
from evalui.report.analyses.statistics import (
    MEASURES,
    IncomparablePair,
    compare_cells,
    main_measure,
    shared_measures,
)
from evalui.report.export.frame_columns import (
    METRIC_COLUMNS,
    PAIR_COLUMNS,
    POSITION_COLUMNS,
    STANDING_COLUMNS,
    FrameColumn,
)
from evalui.report.export.frames import frame, metric_pair_row, pair_row, position_rows
from evalui.report.export.json import cell_object, encode
from evalui.report.export.metric_rows import (
    Row,
    answer_metrics,
    choice_metrics,
    opencompass_elo_columns,
)
from evalui.report.imports.battles import OUTCOME_OF, battle_statistics, read_battle
from evalui.report.imports.predictions import JsonlRow
from evalui.scoring.answer_summary import summarise_answers
from evalui.scoring.arena.agreement import RaterAgreement, cohen_kappa, fleiss_kappa
from evalui.scoring.cell_summary import summarise
from evalui.scoring.choice.circular import Measure
from evalui.scoring.metrics import known_metrics
from evalui.scoring.pairs import compare_metric
from evalui.types import (
    Cell,
    CellResult,
    Duel,
    GeneratedText,
    Sample,
    Trial,
    Variant,
    Verdict,
)

_SCORED = ("metric", "value", "low", "high", "n", "unit", "direction")
SCORE_COLUMNS: Mapping[str, FrameColumn] = {
    name: METRIC_COLUMNS[name] for name in ("group", *_SCORED, "kind", "mean")
}
BIAS_COLUMNS: Mapping[str, FrameColumn] = {
    name: column
    for name, column in POSITION_COLUMNS.items()
    if name not in ("dataset", "model", "mode", "signature")
}
COMPARISON_COLUMNS: Mapping[str, FrameColumn] = {
    name: column for name, column in PAIR_COLUMNS.items() if name not in ("dataset", "mode")
}
RATING_COLUMNS: Mapping[str, FrameColumn] = {
    name: column
    for name, column in STANDING_COLUMNS.items()
    if name not in ("dataset", "judge", "signature") and not name.startswith("style_")
}
TEXT_COLUMNS: Mapping[str, FrameColumn] = {name: METRIC_COLUMNS[name] for name in _SCORED}
AGREEMENT_COLUMNS: Mapping[str, FrameColumn] = {
    "statistic": FrameColumn("category", "cohen of two raters, fleiss of all"),
    "first": FrameColumn("category", "a rater; empty of all"),
    "second": FrameColumn("category", "another rater; empty of all"),
    "n": FrameColumn("Int64", "pairs of answers that both judged; of all, that two or more did"),
    "agreement": FrameColumn("float64", "share of them with the same outcome, in per cent"),
    "agreement_low": FrameColumn("float64", "lower end of its 95 % interval"),
    "agreement_high": FrameColumn("float64", "upper end of its 95 % interval"),
    "kappa": FrameColumn("float64", "agreement beyond chance; missing where it is undefined"),
    "kappa_low": FrameColumn("float64", "lower end of its 95 % interval"),
    "kappa_high": FrameColumn("float64", "upper end of its 95 % interval"),
}


def score_choices(
    rows: pd.DataFrame, *, by: str | Sequence[str] = (), options: int | None = None
) -> pd.DataFrame:
    """Accuracy, and accuracy over the orders of the options, as OpenCompass's CircularEval has it.

    `rows` has a row per question and order: `id` of the question, `choice`, the chosen letter as
    shown (missing if unreadable), and `answer`, the right letter as shown. The order stands in
    `permutation` (`permutation[slot]` is the number, from 0, of the option shown in that slot) or
    in `order` as `Run.trials` has it; without either, all questions are in the order of the file
    and have so many `options`. Further columns count where they are there: `tied` with `credit`,
    `fixed_order` (naming, duplicates), `subject` and `category`, which give groups, `p_A`, `p_B`, …
    with `label_mass`, and what makes questions less than independent: `cluster` (a passage, a
    document), or the same text in `question` and `options`.

    A row of the result is a metric of all questions, or of a `group`; `by` names columns whose
    values are scored apart, and which stand in front.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index: a letter
            that is none of the options, an order twice, another right option.
    """
    return _apart(rows, by, SCORE_COLUMNS, lambda own: _choice_rows(own, options))


def position_bias(
    rows: pd.DataFrame, *, by: str | Sequence[str] = (), options: int | None = None
) -> pd.DataFrame:
    """Whether a model favours a position: a row per number of options and slot.

    `rows` and `by` are those of `score_choices`, of questions whose options were shown. With each
    slot stand the figures of its number of options: RStd (Zheng et al., arXiv 2309.03882), what
    95 % of unbiased models stay below, and the p of the permutation test.

    Raises:
        DataError: as `score_choices` does.
    """

    def of_one(own: pd.DataFrame) -> Iterable[Row]:
        return position_rows(cell_object(summarise(choice_result(own, options=options))))

    return _apart(rows, by, BIAS_COLUMNS, of_one)


def compare(
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    measure: str | None = None,
    options: int | None = None,
) -> pd.DataFrame:
    """The paired test of two models on the questions that both answered, as one row.

    Both frames are those of `score_choices`, each of one model, which `model` names if it is there
    (else "first" and "second"). `measure` is accuracy, robust (right in every order) or
    mean_over_orders, whose interval and p are those of a paired t test over questions, beside
    McNemar's test, and whose row names the model with the higher mean first; or the name of any
    metric of options (docs/metrics.md), tested in the same way where it is a mean over
    questions, else by a jackknife over groups of questions. None takes
    robust where both have it, else accuracy.

    Raises:
        DataError: as `score_choices` does, or the frames share fewer than two questions.
        SpecError: the frames have no such measure.
    """
    results = [
        _named_result(own, options, named) for own, named in ((first, "first"), (second, "second"))
    ]
    one, other = (summarise(result, with_bias=False) for result in results)
    wanted = measure or main_measure([one, other])
    shared = shared_measures([one, other])
    known: Mapping[str, Measure] = {each: each for each in MEASURES if each in shared}
    chosen = known.get(wanted)
    if chosen is None:
        return frame([_metric_pair(results, wanted, shared)], COMPARISON_COLUMNS)
    made = compare_cells(one, other, chosen)
    if isinstance(made, IncomparablePair):
        if not made.differences:
            raise DataError("frames-apart")
        raise DataError("frames-differ", parts=", ".join(made.differences))
    return frame([pair_row(encode(made)) | {"measure": chosen}], COMPARISON_COLUMNS)


def _metric_pair(results: Sequence[CellResult], name: str, shared: Sequence[str]) -> Row:
    """The row of a metric that is no measure of its own."""
    metric = known_metrics().get(name)
    if name in MEASURES or metric is None or metric.answers != "choices":
        raise SpecError("no-measure", measure=name, known=", ".join(shared))
    pairs = compare_metric(results, metric)
    if not pairs:
        raise DataError("frames-apart")
    return metric_pair_row(asdict(pairs[0]))


def ratings(battles: pd.DataFrame, *, opencompass_elo: bool = False) -> pd.DataFrame:
    """ELO and Bradley-Terry ratings with 95 % intervals, a row per model, the best first.

    `battles` has a row per battle: `model_a`, `model_b`, `winner` (model_a, model_b, tie for two
    good answers, neither for two bad ones), and in `question` the id of the question, in all rows
    or in none: intervals resample questions. Bradley-Terry is missing where it has no finite value.
    Of more than 500 battles, `opencompass_elo_mean` and `_std` are missing unless `opencompass_elo`
    asks for them (a second for each 1,000 battles).

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index.
    """
    require_columns(battles, "model_a", "model_b", "winner")
    if battles.empty:
        raise DataError("frame-empty")
    named = [n for n in ("model_a", "model_b", "winner", "question", "judged") if n in battles]
    read = [read_battle(row) for row in _json_rows(battles[named])]
    questions = [battle.question is None for battle in read]
    if len(set(questions)) > 1:
        raise DataError("row-some-questions", place=_place(battles.index[questions.index(True)]))
    known = battle_statistics(read, opencompass_elo=opencompass_elo)
    rows = sorted(_rating_rows(known), key=lambda row: (-(row["bradley_terry"] or 0), -row["elo"]))
    return frame(
        (row | {"place": place} for place, row in enumerate(rows, start=1)), RATING_COLUMNS
    )


def agreement(verdicts: pd.DataFrame, *, rater: str = "by") -> pd.DataFrame:
    """How far raters agree on pairs of answers: Cohen's kappa of each two, Fleiss' of all.

    `verdicts` has a row per verdict: `question`, `model_a`, `model_b`, `winner` (model_a, model_b,
    tie, neither; missing if unreadable) and the column that `rater` names: `by` in `Run.votes`,
    `judge` in `Run.verdicts`. Questions of several datasets are told apart by `dataset`. Who gave
    different outcomes to one pair has no preference: a tie.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index.
    """
    require_columns(verdicts, "question", "model_a", "model_b", "winner", rater)
    cast: dict[str, list[Verdict]] = {}
    for verdict in _verdicts(verdicts, rater):
        cast.setdefault(verdict.rater, []).append(verdict)
    rows = [
        _agreement_row("cohen", first, second, made)
        for first, second in combinations(cast, 2)
        if (made := cohen_kappa(cast[first], cast[second]))
    ]
    if len(cast) > 1 and (all_of_them := fleiss_kappa(list(cast.values()))):
        rows.append(_agreement_row("fleiss", "", "", all_of_them))
    return frame(rows, AGREEMENT_COLUMNS)


def score_texts(rows: pd.DataFrame) -> pd.DataFrame:
    """ROUGE, BLEU, exact match and token F1 of written answers, as a report has them.

    `rows` has `prediction`, a text, and `reference`, a text or a list of texts of which the closest
    counts. With `id`, the question, and `repeat`, which reply to it from 1, questions weigh the
    same, and pass@k, majority and agreement of replies come, too. A row of the result is a metric:
    its mean over the rows with a 95 % interval of the bootstrap, or sacreBLEU's corpus BLEU and
    chrF.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index: a repeat
            that is no whole number from 1, another reference of the same question.
    """
    result = _answers(rows)
    figures = encode(summarise_answers(result))
    kept = (row for row in answer_metrics(figures) if row["metric"] != "cut")  # unknown here
    return frame(kept, TEXT_COLUMNS)


def text_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """The text metrics of each row in per cent, with the index of `rows`, see `score_texts`.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index.
    """
    trials = _answers(rows).trials
    scored = [{name: 100 * value for name, (value,) in trial.scores.items()} for trial in trials]
    return pd.DataFrame(scored, index=rows.index, dtype="float64")


# ---------------------------------------------------------------- choices


def _apart(
    rows: pd.DataFrame,
    by: str | Sequence[str],
    columns: Mapping[str, FrameColumn],
    of_one: Callable[[pd.DataFrame], Iterable[Row]],
) -> pd.DataFrame:
    """The rows that `of_one` makes of each part, with the values of `by` in front."""
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        return frame(of_one(rows), columns)
    require_columns(rows, *names)
    if rows.empty:
        raise DataError("frame-empty")
    groups = rows.groupby(names, sort=False, observed=True, dropna=False)
    scored = [
        row | dict(zip(names, cast("tuple[Any, ...]", values), strict=True))
        for values, own in groups
        for row in of_one(own)
    ]
    given = {name: FrameColumn("category", "as it was given") for name in names}
    return frame(scored, given | dict(columns))


def _choice_rows(rows: pd.DataFrame, options: int | None) -> Iterator[Row]:
    cell = cell_object(summarise(choice_result(rows, options=options), with_bias=False))
    cell["figures"]["format"] = None  # rows do not hold the replies
    return choice_metrics(cell)


def _named_result(rows: pd.DataFrame, options: int | None, name: str) -> CellResult:
    if "model" in rows.columns and len(models := rows["model"].dropna().unique()) == 1:
        name = str(models[0])
    return choice_result(rows, options=options, name=name)


# ---------------------------------------------------------------- battles


def _json_rows(rows: pd.DataFrame) -> Iterator[JsonlRow]:
    """Each row without what is missing in it."""
    for index, values in zip(rows.index, rows.to_dict("records"), strict=True):
        there = {str(name): value for name, value in values.items() if not _is_missing(value)}
        yield JsonlRow(_place(index), there)


def _place(index: object) -> str:
    return f"row {index}"


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value != value  # NaN alone differs from itself


def _rating_rows(known: Mapping[str, Any]) -> Iterator[Row]:
    elo, fitted = known["elo"], known["bradley_terry"]
    medians: Mapping[str, Any] = elo["opencompass"]["models"] or {}
    for model, counts in known["table"].items():
        low, high = elo["question_range"].get(model, (None, None))
        rating = fitted["ratings"][model] or {"rating": None, "low": None, "high": None}
        rank = fitted["ranks"][model] or {"low": None, "high": None, "with_leader": None}
        yield {
            "model": model,
            "n": counts["n"],
            "win": counts["W"],
            "tie": counts["T"],
            "lose": counts["L"],
            "score": known["scores"][model],
            "win_rate": counts["win_rate"],
            "elo": elo["permutations"]["median"][model],
            "elo_low": low,
            "elo_high": high,
            **opencompass_elo_columns(medians.get(model)),
            "bradley_terry": rating["rating"],
            "bradley_terry_low": rating["low"],
            "bradley_terry_high": rating["high"],
            "rank_low": rank["low"],
            "rank_high": rank["high"],
            "with_leader": rank["with_leader"],
        }


def _verdicts(rows: pd.DataFrame, rater: str) -> Iterator[Verdict]:
    datasets = "dataset" in rows.columns
    for row in _json_rows(rows):
        winner = row.values.get("winner")
        if winner is not None and winner not in OUTCOME_OF:
            known = ", ".join(OUTCOME_OF)
            raise DataError("row-winner", place=row.location, winner=str(winner), known=known)
        question = f"{row.values.get('dataset', '') if datasets else ''}/{row.name('question')}"
        duel = Duel(question, row.name("model_a"), row.name("model_b"))
        if duel.model_a == duel.model_b:
            raise DataError("row-itself", place=row.location, model=duel.model_a)
        outcome = None if winner is None else OUTCOME_OF[winner]
        yield Verdict(duel, outcome, row.name(rater))


def _agreement_row(statistic: str, first: str, second: str, made: RaterAgreement) -> Row:
    kappa = made.kappa
    return {
        "statistic": statistic,
        "first": first,
        "second": second,
        "n": made.n,
        "agreement": 100 * made.raw.value,
        "agreement_low": 100 * made.raw.low,
        "agreement_high": 100 * made.raw.high,
        "kappa": kappa and kappa.value,
        "kappa_low": kappa and kappa.low,
        "kappa_high": kappa and kappa.high,
    }


# ---------------------------------------------------------------- texts


def _answers(rows: pd.DataFrame) -> CellResult:
    """The rows as a cell of written answers, graded as its mode does."""
    require_columns(rows, "prediction", "reference")
    if rows.empty:
        raise DataError("frame-empty")
    name = grader_of("written")
    mode, setting = MODES[name], ModeSettings(shots={}, chat=True)  # texts stay as they are
    samples: dict[str, Sample] = {}
    trials: list[Trial] = []
    repeats = read_repeats(rows)
    if any(repeats):
        require_columns(rows, "id")
    ids = [str(each) for each in rows["id"]] if any(repeats) else map(str, range(len(rows)))
    given = _json_rows(rows[["prediction", "reference"]])
    for id_, repeat, row in zip(ids, repeats, given, strict=True):
        sample = Sample(id_, "", target=_references(row))
        if samples.setdefault(id_, sample) != sample:
            raise DataError("row-other-reference", place=row.location, id=id_)
        reply = GeneratedText(row.text("prediction"))
        trials.append(mode.grade(sample, Variant((), repeat), [reply], setting))
    cell = Cell("", "", name, name, "origin", "", mode.gives)
    return CellResult(cell, samples, trials, len(trials))


def _references(row: JsonlRow) -> tuple[str, ...]:
    given = row.field("reference")
    references = (given,) if isinstance(given, str) else tuple(given)
    if not references:
        raise DataError("row-no-reference", place=row.location)
    for each in references:
        if not isinstance(each, str):
            raise DataError("row-reference", place=row.location, value=str(each)[:60])
    return references
