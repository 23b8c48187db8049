"""The scoring core on plain DataFrames: the same functions and figures as in a report.

Every function takes rows of one model, or of as many as `by` tells apart, and gives a frame. Shares
are in per cent, intervals are at 95 %. docs/metrics.md and docs/metrics-bias.md have the formulas.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalui.errors import DataError, SpecError
from evalui.modes import MODES, ModeSettings, grader_of
from evalui.report.frames.arena import STANDINGS, rating
from evalui.report.frames.base import Columns, FrameColumn, Row, frame, interval
from evalui.report.frames.choices import PAIRS, POSITIONS, pair_row, positions
from evalui.report.frames.metrics import METRICS, answer_metrics, choice_metrics, metric_pair
from evalui.report.imports.battles import OUTCOME_OF, battle_statistics, read_battle
from evalui.report.imports.predictions import JsonlRow
from evalui.scoring.answer_summary import summarise_answers
from evalui.scoring.arena.agreement import RaterAgreement, cohen_kappa, fleiss_kappa
from evalui.scoring.cell_summary import summarise
from evalui.scoring.choice.circular import Measure
from evalui.scoring.choice.options import pattern_of
from evalui.scoring.comparisons import (
    MEASURES,
    IncomparablePair,
    compare_cells,
    main_measure,
    shared_measures,
)
from evalui.scoring.metrics import metric_named, metrics_in
from evalui.scoring.pairs import compare_metric
from evalui.scoring.trial_columns import (
    FIXED_REASONS,
    NO_CHOICE,
    Ragged,
    ReadingColumns,
    TrialColumns,
    TrialText,
)
from evalui.types import (
    LETTERS,
    MAX_REPEATS,
    Cell,
    CellResult,
    Duel,
    GeneratedText,
    Sample,
    Trial,
    Variant,
    Verdict,
)

_READING = "given"  # the one reading that rows have
_MAX_PERMUTED = 8  # options: with 9 a question has 362,880 orders
_SUBJECT = ("subject", "category")
_SHARED = ("question", "options", "cluster")  # by which questions are known to be the same
_SLOT_OF = {letter: slot for slot, letter in enumerate(LETTERS)}
_SCORED = ("metric", "value", "low", "high", "n", "unit", "direction")
_RATED = (
    *("place", "model", "n", "win", "tie", "lose", "score", "win_rate"),
    *("elo", "elo_low", "elo_high", "opencompass_elo_mean", "opencompass_elo_std"),
    *("bradley_terry", "bradley_terry_low", "bradley_terry_high"),
    *("rank_low", "rank_high", "with_leader"),
)
_OF_RUNS = ("dataset", "model", "mode", "settings", "signature", "signature_second")
SCORE_COLUMNS: Columns = {name: METRICS[name] for name in ("group", *_SCORED, "kind", "mean")}
BIAS_COLUMNS: Columns = {name: POSITIONS[name] for name in POSITIONS if name not in _OF_RUNS}
COMPARISON_COLUMNS: Columns = {name: PAIRS[name] for name in PAIRS if name not in _OF_RUNS}
RATING_COLUMNS: Columns = {name: STANDINGS[name] for name in _RATED}
TEXT_COLUMNS: Columns = {name: METRICS[name] for name in _SCORED}
AGREEMENT_COLUMNS: Columns = {
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
        return positions([summarise(_choice_result(own, options=options))])

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
    return frame([pair_row(made)], COMPARISON_COLUMNS)


def _metric_pair(results: Sequence[CellResult], name: str, shared: Sequence[str]) -> Row:
    """The row of a metric that is no measure of its own."""
    metric = metric_named(name)
    if name in MEASURES or metric is None or metric.answers != "choices":
        raise SpecError("no-measure", measure=name, known=", ".join(shared))
    pairs = compare_metric(results, metric)
    if not pairs:
        raise DataError("frames-apart")
    return metric_pair(pairs[0])


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
    _require_columns(battles, "model_a", "model_b", "winner")
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
    _require_columns(verdicts, "question", "model_a", "model_b", "winner", rater)
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
    figures = summarise_answers(result)
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


def _require_columns(rows: pd.DataFrame, *names: str) -> None:
    """Raises `DataError` with the columns that are missing, and those that are there."""
    if missing := [name for name in names if name not in rows.columns]:
        known = ", ".join(map(str, rows.columns))
        raise DataError("frame-columns", missing=", ".join(missing), known=known)


def _read_repeats(rows: pd.DataFrame) -> list[int]:
    """Which repeat of its order each row is, from 0; the column counts from 1.

    Raises:
        DataError: the first row whose `repeat` is no whole number from 1, by its index.
    """
    if "repeat" not in rows.columns:
        return [0] * len(rows)
    values = pd.to_numeric(rows["repeat"], errors="coerce").astype("float64")
    given = values.where(rows["repeat"].notna(), 1.0).to_numpy()
    wrong = ~np.isin(given, np.arange(1, MAX_REPEATS + 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        value = str(rows["repeat"].iloc[row])[:60]
        raise DataError("frame-repeat", row=str(rows.index[row]), value=value, last=MAX_REPEATS)
    return [int(each) - 1 for each in given.tolist()]


# ---------------------------------------------------------------- choices


def _apart(
    rows: pd.DataFrame,
    by: str | Sequence[str],
    columns: Columns,
    of_one: Callable[[pd.DataFrame], Iterable[Row]],
) -> pd.DataFrame:
    """The rows that `of_one` makes of each part, with the values of `by` in front."""
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        return frame(of_one(rows), columns)
    _require_columns(rows, *names)
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
    summary = summarise(_choice_result(rows, options=options), with_bias=False)
    unknown = {metric.name for metric in metrics_in("form")}  # rows do not hold the replies
    return (row for row in choice_metrics(summary) if row["metric"] not in unknown)


def _named_result(rows: pd.DataFrame, options: int | None, name: str) -> CellResult:
    if "model" in rows.columns and len(models := rows["model"].dropna().unique()) == 1:
        name = str(models[0])
    return _choice_result(rows, options=options, name=name)


def _choice_result(rows: pd.DataFrame, *, options: int | None, name: str = "") -> CellResult:
    """The rows as one cell of the model `name`; `options` where no row says how many it has.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index.
    """
    _require_columns(rows, "id", "choice", "answer")
    if rows.empty:
        raise DataError("frame-empty")
    orders, order = _orders(rows, options)
    sizes = np.array([len(one.permutation) for one in orders])[order]
    codes, ids = pd.factorize(rows["id"].astype("str"))
    target = _slots(rows, "answer", sizes)
    choice = _slots(rows, "choice", sizes)
    if (target < 0).any():
        raise _row_error(rows, int(np.argmax(target < 0)), "answer", sizes)
    columns = TrialColumns(
        ids=tuple(ids),
        orders=orders,
        headlines=(_READING,),
        rules=(_READING,),
        sample=codes.astype(np.int32),
        order=order,
        headline=np.zeros(len(rows), dtype=np.int32),
        target=target.astype(np.int32),
        readings={_READING: _reading(rows, choice, target)},
        probabilities=_probabilities(rows, sizes),
        mass=_numbers(rows, "label_mass", 0.0),
        has_mass=~np.isnan(_numbers(rows, "label_mass", np.nan)),
        scores={},
        merged=np.zeros(len(rows), dtype=np.int32),
        truncated=np.zeros(len(rows), dtype=np.bool_),
        fixed=_fixed(rows),
        number=np.arange(len(rows), dtype=np.int64),
        texts=_no_texts,
    )
    _check_questions(rows, columns)
    pattern, most = pattern_of(orders), int(sizes.max())
    if pattern == "all_possible" and most > _MAX_PERMUTED:
        raise DataError("frame-orders", n=most, most=_MAX_PERMUTED)
    cell = Cell("", name, _READING, _READING, pattern, "")
    return CellResult(cell, _samples(rows, list(ids)), columns, len(columns))


def _orders(
    rows: pd.DataFrame, options: int | None
) -> tuple[tuple[Variant, ...], NDArray[np.int32]]:
    """The distinct orders of the options, and the place of that of each row."""
    if "permutation" in rows.columns:
        given = [tuple(each) for each in rows["permutation"]]
    elif "order" in rows.columns:
        given = [_permutation_of_label(str(each)) for each in rows["order"]]
    elif options is not None:
        given = [tuple(range(options))] * len(rows)
    else:
        raise DataError("frame-options")
    known: dict[tuple[tuple[Any, ...], int], int] = {}
    repeats = _read_repeats(rows)
    places = [known.setdefault(each, len(known)) for each in zip(given, repeats, strict=True)]
    for (permutation, _), first in zip(known, _firsts(places), strict=True):
        if sorted(permutation) != list(range(len(permutation))) or len(permutation) < 2:
            row = str(rows.index[first])
            raise DataError("frame-permutation", row=row, value=str(permutation)[:60])
    return tuple(Variant(*each) for each in known), np.array(places, dtype=np.int32)


def _firsts(places: Sequence[int]) -> list[int]:
    """Where each place comes first; they come in their order."""
    return np.unique(np.array(places), return_index=True)[1].tolist()


def _permutation_of_label(label: str) -> tuple[int, ...]:
    """The inverse of `variant_label`; what is no label is no permutation either."""
    slots = [_SLOT_OF.get(letter, NO_CHOICE) for letter in label]
    if NO_CHOICE in slots:
        return ()
    return tuple(sorted(range(len(slots)), key=slots.__getitem__))


def _slots(rows: pd.DataFrame, name: str, sizes: NDArray[np.intp]) -> NDArray[np.int16]:
    """Letters as slots; NO_CHOICE where one is missing."""
    codes, letters = pd.factorize(rows[name])
    table = np.array([_SLOT_OF.get(str(letter), NO_CHOICE) for letter in letters])
    missing = codes < 0
    slots = np.where(missing, NO_CHOICE, np.append(table, NO_CHOICE)[codes].astype(np.intp))
    wrong = ~missing & ((slots < 0) | (slots >= sizes))
    if wrong.any():
        raise _row_error(rows, int(np.argmax(wrong)), name, sizes)
    return slots.astype(np.int16)


def _row_error(rows: pd.DataFrame, place: int, name: str, sizes: NDArray[np.intp]) -> DataError:
    return DataError(
        "frame-letter",
        row=str(rows.index[place]),
        column=name,
        value=str(rows[name].iloc[place]),
        last=LETTERS[int(sizes[place]) - 1],
    )


def _reading(
    rows: pd.DataFrame, choice: NDArray[np.int16], target: NDArray[np.int16]
) -> ReadingColumns:
    tied = _marks(rows, "tied") & (choice < 0)
    credit = (choice == target).astype(np.float64)
    if tied.any():
        _require_columns(rows, "credit")
        credit = np.where(tied, _numbers(rows, "credit", 0.0), credit)
    return ReadingColumns(choice, credit, np.zeros(len(rows), dtype=np.int32), tied)


def _marks(rows: pd.DataFrame, name: str) -> NDArray[np.bool_]:
    if name not in rows.columns:
        return np.zeros(len(rows), dtype=np.bool_)
    return rows[name].astype("boolean").fillna(value=False).to_numpy(dtype=np.bool_)


def _numbers(rows: pd.DataFrame, name: str, missing: float) -> NDArray[np.float64]:
    if name not in rows.columns:
        return np.full(len(rows), missing)
    values = np.asarray(rows[name].astype("float64"), dtype=np.float64)
    return np.where(np.isnan(values), missing, values)


def _probabilities(rows: pd.DataFrame, sizes: NDArray[np.intp]) -> Ragged:
    """Those of p_A, p_B, … by slot; of a row that lacks one of its slots none."""
    names = [f"p_{letter}" for letter in LETTERS[: int(sizes.max())]]
    table = np.column_stack([_numbers(rows, name, np.nan) for name in names])
    wanted = np.arange(len(names)) < sizes[:, None]
    whole = np.asarray(~(np.isnan(table) & wanted).any(axis=1), dtype=np.bool_)
    lengths = np.where(whole, sizes, 0).astype(np.int32)
    return Ragged(table[wanted & whole[:, None]], lengths)


def _fixed(rows: pd.DataFrame) -> NDArray[np.int8]:
    if "fixed_order" not in rows.columns:
        return np.zeros(len(rows), dtype=np.int8)
    reasons = rows["fixed_order"].astype("str").fillna("")
    for reason in reasons.unique():
        if reason not in FIXED_REASONS:
            known = ", ".join(filter(None, FIXED_REASONS))
            raise DataError("frame-fixed", value=str(reason), known=known)
    return np.array([FIXED_REASONS.index(each) for each in reasons], dtype=np.int8)


def _check_questions(rows: pd.DataFrame, columns: TrialColumns) -> None:
    """Raises `DataError` where a question has one order twice, or different right options."""
    n_orders = len(columns.orders)
    keys = columns.sample.astype(np.int64) * n_orders + columns.order
    again = pd.Series(keys).duplicated().to_numpy()
    if again.any():
        place = int(np.argmax(again))
        raise DataError(
            "frame-again", row=str(rows.index[place]), id=columns.ids[int(columns.sample[place])]
        )
    width = max(len(one.permutation) for one in columns.orders)
    shown = np.full((n_orders, width), -1)
    for place, one in enumerate(columns.orders):
        shown[place, : len(one.permutation)] = one.permutation
    content = shown[columns.order, columns.target]
    first = np.zeros(len(columns.ids), dtype=np.intp)
    _, starts = np.unique(columns.sample, return_index=True)
    first[:] = content[starts]
    other = content != first[columns.sample]
    if other.any():
        place = int(np.argmax(other))
        raise DataError(
            "frame-other-answer",
            row=str(rows.index[place]),
            id=columns.ids[int(columns.sample[place])],
        )


def _samples(rows: pd.DataFrame, ids: Sequence[str]) -> Mapping[str, Sample]:
    """The questions with what the rows say of them; the first row of each counts."""
    named = [name for name in (*_SUBJECT, *_SHARED) if name in rows.columns]
    if not named:
        return {name: Sample(name, "") for name in ids}
    first = rows.assign(id=rows["id"].astype("str")).drop_duplicates("id")
    texts = {name: first[name].astype("str").fillna("").tolist() for name in named}
    return {
        sample_id: _sample(sample_id, {name: own[place] for name, own in texts.items()})
        for place, sample_id in enumerate(first["id"].tolist())
    }


def _sample(sample_id: str, texts: Mapping[str, str]) -> Sample:
    return Sample(
        sample_id,
        texts.get("question", ""),
        tuple(texts.get("options", "").splitlines()),
        metadata={name: texts[name] for name in _SUBJECT if texts.get(name)},
        cluster=texts.get("cluster", ""),
    )


def _no_texts(numbers: NDArray[np.int64]) -> list[TrialText]:
    return [(None, ())] * len(numbers)


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
        median = medians.get(model)
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
            "opencompass_elo_mean": median and median["mean"],
            "opencompass_elo_std": median and median["std"],
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
    return {
        "statistic": statistic,
        "first": first,
        "second": second,
        "n": made.n,
        **interval("agreement", made.raw),
        **rating("kappa", made.kappa),
    }


# ---------------------------------------------------------------- texts


def _answers(rows: pd.DataFrame) -> CellResult:
    """The rows as a cell of written answers, graded as its mode does."""
    _require_columns(rows, "prediction", "reference")
    if rows.empty:
        raise DataError("frame-empty")
    name = grader_of("written")
    mode, setting = MODES[name], ModeSettings(shots={}, chat=True)  # texts stay as they are
    samples: dict[str, Sample] = {}
    trials: list[Trial] = []
    repeats = _read_repeats(rows)
    if any(repeats):
        _require_columns(rows, "id")
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
