"""Questions as a page lists and shows them: filtered by the database, which reads no more."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Row
from typing import get_args

from evalui.errors import StoreError
from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.modes.prompts.templates import choose_template
from evalui.runs.cells import mode_settings, permutes_options, repeated
from evalui.runs.database.codec import decode_sample, decode_variant
from evalui.runs.database.connection import Database
from evalui.runs.database.records import (
    CellRow,
    Facets,
    ListedQuestion,
    OutcomeFilter,
    QuestionDetail,
    QuestionFilter,
    QuestionSort,
    TrialMark,
    TrialOutcome,
)
from evalui.runs.database.trials import VariantOrder, contestant_cells, read_trials_of
from evalui.runs.signature import is_shown_in
from evalui.runs.spec import ModeSpec
from evalui.scoring.choice.permutations import variants
from evalui.types import Request, Sample, Trial, Variant

_DATASET = "(SELECT dataset FROM cell WHERE id = :cell)"
_OF_THE_FILE = {
    "subject": "s.subject = :subject",
    "capability": "json_extract(s.body, '$[4].capability') = :capability",
}
# A rule and the two slots must meet in one and the same trial.
_OF_ONE_TRIAL = {
    "rule": "t.rule = :rule",
    "gold": "t.target = :gold",
    "picked": "t.choice = :picked",
}
_TRIALS = "FROM trial t WHERE t.cell = :cell AND t.sample = s.id"
_IN_QUESTION = "s.id = :find OR s.question LIKE :like ESCAPE '\\'"
_IN_REPLY = "t.reply LIKE :like ESCAPE '\\'"
# In a conversation the text may stand in any turn.
_IN_TURNS = """t.turns IS NOT NULL AND EXISTS (
    SELECT 1 FROM json_each(t.turns) WHERE value LIKE :like ESCAPE '\\')"""
# Each condition must hold for a trial of the question, of several conditions each for one.
_OUTCOMES: Mapping[OutcomeFilter, tuple[str, ...]] = {
    "": (),
    "wrong": ("t.origin AND t.credit = 0",),
    "right": ("t.origin AND t.credit = 1",),
    "order_sensitive": ("t.credit = 1", "t.credit < 1"),
    "unreadable": ("t.choice IS NULL AND NOT t.tied",),
    "tied": ("t.tied",),
    "answered": ("t.rule NOT IN ('empty', 'cut')",),
    "empty": ("t.rule = 'empty'",),
    "cut": ("t.rule = 'cut'",),
}
# Without a reference there is nothing to sort by: such questions come last either way.
_ORDERS: Mapping[QuestionSort, str] = {
    "file": "s.place",
    "worst": f"json_extract(s.body, '$[3]') = '[]', (SELECT max(t.credit) {_TRIALS}), s.place",
    "best": f"json_extract(s.body, '$[3]') = '[]', (SELECT max(t.credit) {_TRIALS}) DESC, s.place",
}
SORTS: tuple[QuestionSort, ...] = get_args(QuestionSort)
MAX_MARKS = 8  # orders of a question that a list tells apart; of more, the right ones are counted
CellMarks = Mapping[int, tuple[TrialMark, ...]]  # of a question: every order, by cell


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a model was sent about one order of a question.

    `scored` are the same requests without worked examples and opening: where they are the end of
    what was sent, the question that was scored begins there.
    """

    variant: Variant
    requests: tuple[Request, ...]
    scored: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """The trials of a judge's `cell` on one question; `names` are the contestants in order."""

    cell: int
    judge: str
    names: tuple[str, ...]
    trials: tuple[Trial, ...]


def read_matching(database: Database, row: CellRow, wanted: QuestionFilter) -> tuple[int, ...]:
    """The places in the file of the answered questions that pass every filter, as sorted."""
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in wanted.find)
    values = {name: getattr(wanted, name) for name in (*_OF_THE_FILE, *_OF_ONE_TRIAL, "find")}
    rows = database.rows(
        _matching_query(wanted, written=row.cell.gives == "answers"),
        {"cell": row.id, "like": f"%{escaped}%", **values},
    )
    return tuple(each["place"] for each in rows)


def read_listed(
    database: Database, cell_ids: Sequence[int], places: Sequence[int]
) -> tuple[ListedQuestion, ...]:
    """The questions at these places of the cells' one dataset, as listed there.

    Each has a mark for every trial of every cell.
    """
    bodies = database.rows(
        f"SELECT s.place, s.body FROM sample s WHERE s.dataset = {_DATASET}"  # noqa: S608
        " AND s.role = 'sample' AND s.place IN (SELECT value FROM json_each(:places))",
        {"cell": cell_ids[0], "places": json.dumps(list(places))},
    )
    samples = {row["place"]: decode_sample(row["body"]) for row in bodies}
    marks = read_marks(database, cell_ids, [sample.id for sample in samples.values()])
    return tuple(
        ListedQuestion(place, samples[place], marks[samples[place].id])
        for place in places
        if place in samples
    )


def read_marks(
    database: Database, cell_ids: Sequence[int], sample_ids: Sequence[str]
) -> dict[str, CellMarks]:
    """The marks of these questions in these cells, by question and cell, as in `ListedQuestion`.

    Where marks are only counted, equal ones are counted by the database: a list of a thousand
    questions in 24 orders would read 24,000 rows for each model.
    """
    counted = _marks_by(database, "NULL", cell_ids, sample_ids)
    few = [id_ for id_, own in counted.items() if any(len(m) <= MAX_MARKS for m in own.values())]
    for id_, own in _marks_by(database, "t.variant", cell_ids, few).items():
        counted[id_] |= {cell: m for cell, m in own.items() if len(m) <= MAX_MARKS}
    return {**counted}


def _marks_by(
    database: Database, apart: str, cell_ids: Sequence[int], sample_ids: Sequence[str]
) -> dict[str, dict[int, tuple[TrialMark, ...]]]:
    """The marks of trials, equal ones read together unless they differ in the column `apart`."""
    rows = database.rows(
        f"SELECT t.cell, t.sample, {apart} AS variant, t.choice IS NULL AS unread, t.credit,"  # noqa: S608
        " t.tied, t.rule, count(*) AS n, c.pattern FROM trial t JOIN cell c ON c.id = t.cell"
        " WHERE t.cell IN (SELECT value FROM json_each(?))"
        " AND t.sample IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3, 4, 5, 6, 7",
        (json.dumps(list(cell_ids)), json.dumps(list(sample_ids))),
    )
    orders = {row["cell"]: VariantOrder(row["pattern"]) for row in rows}
    placed: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        placed[row["sample"], row["cell"]].append(row)
    marks: dict[str, dict[int, tuple[TrialMark, ...]]] = {id_: {} for id_ in sample_ids}
    for (sample_id, cell_id), trials in placed.items():
        if trials[0]["variant"] is not None:
            order = orders[cell_id]
            trials.sort(key=lambda row: order.sort_key(decode_variant(row["variant"])))
        marks[sample_id][cell_id] = tuple(_mark(row) for row in trials for _ in range(row["n"]))
    return marks


def read_place(database: Database, cell_id: int, sample_id: str) -> int | None:
    """The place in the file of a question of the cell's dataset, None if it has no such one."""
    row = database.row(
        f"SELECT place FROM sample WHERE id = :id AND role = 'sample' AND dataset = {_DATASET}",  # noqa: S608
        {"id": sample_id, "cell": cell_id},
    )
    return row["place"] if row else None


def read_question(database: Database, cell_ids: Sequence[int], sample_id: str) -> QuestionDetail:
    """One question with all its trials in these cells of one dataset.

    Raises:
        StoreError: the dataset has no such question.
    """
    row = database.row(
        f"SELECT place, body FROM sample WHERE dataset = {_DATASET}"  # noqa: S608
        " AND role = 'sample' AND id = :id",
        {"id": sample_id, "cell": cell_ids[0]},
    )
    if row is None:
        raise StoreError("no-question", cell=cell_ids[0], sample=sample_id)
    return QuestionDetail(
        row["place"],
        decode_sample(row["body"]),
        {id_: read_trials_of(database, id_, sample_id) for id_ in cell_ids},
    )


def read_facets(database: Database, row: CellRow) -> Facets:
    """What a cell's questions can be filtered by.

    Subjects, and the capabilities of open questions, in file order; of multiple choice the rules
    that have fired, most frequent first.
    """
    subjects = _distinct(database, row, "subject")
    if row.cell.gives == "answers":
        capabilities = _distinct(database, row, "json_extract(body, '$[4].capability')")
        return Facets(subjects, (), 0, capabilities)
    rules = database.rows(
        "SELECT rule FROM trial WHERE cell = ? GROUP BY rule ORDER BY count(*) DESC, rule",
        (row.id,),
    )
    # The longest has the most options; the index of the trials has it without their rows.
    longest = database.row(
        "SELECT variant, max(length(variant)) FROM trial WHERE cell = ?", (row.id,)
    )
    variant = longest["variant"] if longest else None
    options = len(decode_variant(variant).permutation) if variant is not None else 0
    return Facets(subjects, tuple(rule["rule"] for rule in rules), options)


def orders_of(row: CellRow, sample: Sample) -> tuple[Variant, ...]:
    """The orders in which a cell shows the options of a question, as written first, by repeat."""
    plan = ModeSpec.model_validate_json(row.plan)
    shown = row.cell.pattern if permutes_options(MODES[plan.mode], row.cell.pattern) else "origin"
    orders = repeated(variants(len(sample.choices), shown), plan.repeats)
    return tuple(order for order in orders if is_shown_in(sample, order, row.cell.signature))


def read_sent_prompt(
    database: Database, row: CellRow, sample: Sample, variant: Variant
) -> SentPrompt:
    """The requests of one order of a question, made again.

    Those that only earlier responses call for are left out. A judge's cell has no such questions.
    """
    mode = ModeSpec.model_validate_json(row.plan)
    examples = database.rows(
        f"SELECT body FROM sample WHERE dataset = {_DATASET} AND role = 'shot'"  # noqa: S608
        " AND subject = :subject ORDER BY place",
        {"cell": row.id, "subject": sample.subject},
    )
    setting = mode_settings(mode, [decode_sample(each["body"]) for each in examples])
    scorer = MODES[mode.mode]
    return SentPrompt(
        variant,
        plan_requests(scorer, sample, variant, setting),
        plan_requests(scorer, sample, variant, _without_examples(sample, setting)),
    )


def read_judged(database: Database, row: CellRow, sample_id: str) -> JudgedQuestion:
    """What the judge of a cell said of the answers to one question."""
    names = tuple(name for _, name in contestant_cells(database, row))
    trials = read_trials_of(database, row.id, sample_id)
    return JudgedQuestion(row.id, row.cell.model, names, trials)


def _matching_query(wanted: QuestionFilter, *, written: bool) -> str:
    """The query for the places that pass; the values of the filter are its parameters.

    Of each question the trials are read until one meets the condition, so that a cell of a million
    is not read whole.
    """
    same_trial = " AND ".join(_set_conditions(wanted, _OF_ONE_TRIAL))
    of_trials = [each for each in (same_trial, *_OUTCOMES[wanted.outcome]) if each]
    in_text = [_IN_QUESTION, _any_trial(_IN_REPLY), *([_any_trial(_IN_TURNS)] if written else [])]
    conditions = (
        f"s.dataset = {_DATASET} AND s.role = 'sample'",
        *_set_conditions(wanted, _OF_THE_FILE),
        _any_trial("true"),
        *map(_any_trial, of_trials),
        *([f"({' OR '.join(in_text)})"] if wanted.find else []),
    )
    where = " AND ".join(conditions)
    return f"SELECT s.place FROM sample s WHERE {where} ORDER BY {_ORDERS[wanted.sort]}"  # noqa: S608


def _any_trial(condition: str) -> str:
    return f"EXISTS (SELECT 1 {_TRIALS} AND {condition})"


def _set_conditions(wanted: QuestionFilter, conditions: Mapping[str, str]) -> list[str]:
    return [sql for name, sql in conditions.items() if getattr(wanted, name) not in ("", None)]


def _without_examples(sample: Sample, setting: ModeSettings) -> ModeSettings:
    template = setting.template or choose_template(sample)
    return replace(setting, shots={}, template=replace(template, opening=""))


def _distinct(database: Database, row: CellRow, value: str) -> tuple[str, ...]:
    """The values of a column among a cell's questions, each once, in file order."""
    rows = database.rows(
        f"SELECT {value} FROM sample WHERE dataset = {_DATASET}"  # noqa: S608 (a constant)
        " AND role = 'sample' AND place < :questions GROUP BY 1 ORDER BY min(place)",
        {"cell": row.id, "questions": row.questions},
    )
    return tuple(each[0] for each in rows if each[0])


def _mark(row: Row) -> TrialMark:
    outcome: TrialOutcome = (
        "tied"
        if row["tied"]
        else "unreadable"
        if row["unread"]
        else "right"
        if row["credit"] == 1
        else "wrong"
    )
    return TrialMark(outcome, row["rule"], row["credit"])
