"""Questions as a page lists and shows them: found by what the file, texts and outcomes hold."""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evalui.errors import StoreError
from evalui.scoring.trial_columns import TrialColumns, columns_of, join_columns
from evalui.store.codec import decode_sample
from evalui.store.column_blocks import decode_outcomes
from evalui.store.connection import Database
from evalui.store.runs import CellRow
from evalui.store.trials import contestant_cells, order_ranks, read_trials_of
from evalui.types import Sample, Trial

TrialOutcome = Literal["right", "wrong", "unreadable", "tied"]
OutcomeFilter = Literal[
    "", "wrong", "right", "order_sensitive", "unreadable", "tied", "answered", "empty", "cut"
]
QuestionSort = Literal["file", "worst", "best"]  # of written answers: by ROUGE-L's f

_DATASET = "(SELECT dataset FROM cell WHERE id = :cell)"
_OF_THE_FILE = {
    "subject": "s.subject = :subject",
    "capability": "json_extract(s.body, '$[4].capability') = :capability",
}
_TRIALS = "FROM trial t WHERE t.cell = :cell AND t.sample = s.id"
# Python looks at few: a mark that holds the text is no place of it.
_IN_QUESTION = """s.id = :find OR s.question LIKE :like ESCAPE '\\'
    AND without_pictures(s.question) LIKE :like ESCAPE '\\'"""
_IN_REPLY = "t.reply LIKE :like ESCAPE '\\'"
# In a conversation the text may stand in any turn.
_IN_TURNS = """t.turns IS NOT NULL AND EXISTS (
    SELECT 1 FROM json_each(t.turns) WHERE value LIKE :like ESCAPE '\\')"""
SORTS: tuple[QuestionSort, ...] = get_args(QuestionSort)
MAX_MARKS = 8  # orders of a question that a list tells apart; of more, the right ones are counted
_UNANSWERED = ("empty", "cut")  # rules of written answers


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """Which questions of a cell are listed, and in which order; "" and None filter nothing.

    `wrong` and `right` speak of the file's own order; `order_sensitive` is right in some orders
    and not in all; the last three are of written answers. `rule`, `gold` and `picked` (slots, from
    0) must meet in one trial. `find` is looked for in questions and replies, or is an id.
    """

    outcome: OutcomeFilter = ""
    subject: str = ""
    capability: str = ""
    rule: str = ""
    gold: int | None = None
    picked: int | None = None
    find: str = ""
    sort: QuestionSort = "file"


@dataclass(frozen=True, slots=True)
class TrialMark:
    """What a list says of one trial; `credit` is ROUGE-L's f if a written answer has references."""

    outcome: TrialOutcome
    rule: str
    credit: float


CellMarks = Mapping[int, tuple[TrialMark, ...]]  # of a question: every order, by cell


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """One question of a list. `marks` are those of each cell's trials, in variant order."""

    place: int
    sample: Sample
    marks: Mapping[int, tuple[TrialMark, ...]]


@dataclass(frozen=True, slots=True)
class QuestionDetail:
    """One question with its trials in variant order, by cell; `place` counts the file from 0."""

    place: int
    sample: Sample
    trials: Mapping[int, tuple[Trial, ...]]


@dataclass(frozen=True, slots=True)
class Facets:
    """What the questions of a cell can be filtered by; `n_options` is the most any of them has."""

    subjects: tuple[str, ...]
    rules: tuple[str, ...]
    n_options: int
    capabilities: tuple[str, ...] = ()


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
    values = {name: getattr(wanted, name) for name in (*_OF_THE_FILE, "find")}
    rows = database.rows(
        _matching_query(wanted, written=row.cell.gives == "answers"),
        {"cell": row.id, "like": f"%{escaped}%", **values},
    )
    of_one_trial = (wanted.rule, wanted.gold, wanted.picked) != ("", None, None)
    if of_one_trial or wanted.outcome or wanted.sort != "file":
        columns = _outcomes(database, row.id)
        passing = np.ones(len(columns.ids), dtype=np.bool_)
        for of_trials in _conditions(columns, wanted):
            of_questions = np.zeros_like(passing)
            of_questions[columns.sample[of_trials]] = True
            passing &= of_questions
        kept = {id_ for id_, passes in zip(columns.ids, passing.tolist(), strict=True) if passes}
        rows = [each for each in rows if each["id"] in kept]
        if wanted.sort != "file":
            best = np.full(len(columns.ids), -np.inf)
            np.maximum.at(best, columns.sample, columns.reading.credit)
            credits = dict(zip(columns.ids, best.tolist(), strict=True))
            sign = 1 if wanted.sort == "worst" else -1
            # Without a reference there is nothing to sort by: such questions come last either way.
            rows.sort(key=lambda each: (each["is_bare"], sign * credits[each["id"]]))
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
    """The marks of these questions in these cells, by question and cell, as in `ListedQuestion`."""
    marks: dict[str, dict[int, tuple[TrialMark, ...]]] = {id_: {} for id_ in sample_ids}
    for cell_id in cell_ids:
        columns = _outcomes(database, cell_id, sample_ids)
        if not len(columns):
            continue
        is_wanted = np.array([id_ in marks for id_ in columns.ids])
        rows = np.flatnonzero(is_wanted[columns.sample])
        rows = rows[np.argsort(order_ranks(database, cell_id, columns)[rows], kind="stable")]
        made: dict[str, list[TrialMark]] = defaultdict(list)
        for place, mark in zip(columns.sample[rows].tolist(), _marks(columns, rows), strict=True):
            made[columns.ids[place]].append(mark)
        for id_, own in made.items():
            marks[id_][cell_id] = tuple(own)
    return {**marks}


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
    columns = _outcomes(database, row.id)
    times = np.bincount(columns.reading.rule, minlength=len(columns.rules)).tolist()
    rules = sorted(
        (rule for rule, n in zip(columns.rules, times, strict=True) if n),
        key=lambda rule: (-times[columns.rule_place(rule)], rule),
    )
    return Facets(subjects, tuple(rules), int(columns.n_options.max(initial=0)))


def read_judged(database: Database, row: CellRow, sample_id: str) -> JudgedQuestion:
    """What the judge of a cell said of the answers to one question."""
    names = tuple(name for _, name in contestant_cells(database, row))
    trials = read_trials_of(database, row.id, sample_id)
    return JudgedQuestion(row.id, row.cell.model, names, trials)


def _matching_query(wanted: QuestionFilter, *, written: bool) -> str:
    """The query for the answered questions that pass by what the file and the texts hold."""
    in_text = [_IN_QUESTION, _any_trial(_IN_REPLY), *([_any_trial(_IN_TURNS)] if written else [])]
    conditions = (
        f"s.dataset = {_DATASET} AND s.role = 'sample'",
        *(sql for name, sql in _OF_THE_FILE.items() if getattr(wanted, name)),
        _any_trial("true"),
        *([f"({' OR '.join(in_text)})"] if wanted.find else []),
    )
    is_bare = "0" if wanted.sort == "file" else "json_extract(s.body, '$[3]') = '[]'"
    return (
        f"SELECT s.place, s.id, {is_bare} AS is_bare FROM sample s"  # noqa: S608
        f" WHERE {' AND '.join(conditions)} ORDER BY s.place"
    )


def _any_trial(condition: str) -> str:
    return f"EXISTS (SELECT 1 {_TRIALS} AND {condition})"


def _outcomes(
    database: Database, cell_id: int, sample_ids: Sequence[str] | None = None
) -> TrialColumns:
    """What came out of the trials of a cell; with questions, of the blocks that have theirs."""
    query = "SELECT body FROM trial_block WHERE cell = :cell"
    if sample_ids is not None:
        spans = database.rows(
            "SELECT min(id) AS first, max(id) AS last FROM trial WHERE cell = ?"
            " AND sample IN (SELECT value FROM json_each(?)) GROUP BY sample",
            (cell_id, json.dumps(list(sample_ids))),
        )
        listed = database.rows(
            "SELECT first FROM trial_block WHERE cell = ? ORDER BY first", (cell_id,)
        )
        firsts = [row["first"] for row in listed]
        wanted = {
            first
            for span in spans
            for first in firsts[
                bisect_right(firsts, span["first"]) - 1 : bisect_right(firsts, span["last"])
            ]
        }
        query += " AND first IN (SELECT value FROM json_each(:wanted))"
    else:
        wanted = set[int]()
    bodies = database.rows(
        f"{query} ORDER BY first", {"cell": cell_id, "wanted": json.dumps(sorted(wanted))}
    )
    return join_columns([decode_outcomes(row["body"]) for row in bodies] or [columns_of(())])


def _conditions(columns: TrialColumns, wanted: QuestionFilter) -> Iterator[NDArray[np.bool_]]:
    """For each condition the trials that meet it: one of a question must, for each another may."""
    reading = columns.reading
    # A rule and the two slots must meet in one and the same trial.
    of_one_trial = np.ones(len(columns), dtype=np.bool_)
    if wanted.rule:
        of_one_trial &= reading.rule == columns.rule_place(wanted.rule)
    if wanted.gold is not None:
        of_one_trial &= columns.target == wanted.gold
    if wanted.picked is not None:
        of_one_trial &= reading.choice == wanted.picked
    yield of_one_trial
    match wanted.outcome:
        case "":
            pass
        case "wrong":
            yield columns.is_origin & (reading.credit == 0)
        case "right":
            yield columns.is_origin & (reading.credit == 1)
        case "order_sensitive":
            yield reading.credit == 1
            yield reading.credit < 1
        case "unreadable":
            yield reading.unreadable
        case "tied":
            yield reading.tied
        case "answered":
            yield ~np.isin(reading.rule, [columns.rule_place(rule) for rule in _UNANSWERED])
        case "empty" | "cut":
            yield reading.rule == columns.rule_place(wanted.outcome)


def _marks(columns: TrialColumns, rows: NDArray[np.intp]) -> Iterator[TrialMark]:
    """The marks of some trials; there are few different ones, which trials share."""
    reading = columns.reading.take(rows)
    parts: list[list[Any]] = [
        part.tolist() for part in (reading.rule, reading.credit, reading.tied, reading.unreadable)
    ]
    every: list[tuple[int, float, bool, bool]] = list(zip(*parts, strict=True))
    known: dict[tuple[int, float, bool, bool], TrialMark] = {}
    for each in every:
        if each not in known:
            rule, credit, tied, unread = each
            outcome: TrialOutcome = (
                "tied" if tied else "unreadable" if unread else "right" if credit == 1 else "wrong"
            )
            known[each] = TrialMark(outcome, columns.rules[rule], credit)
        yield known[each]


def _distinct(database: Database, row: CellRow, value: str) -> tuple[str, ...]:
    """The values of a column among a cell's questions, each once, in file order."""
    rows = database.rows(
        f"SELECT {value} FROM sample WHERE dataset = {_DATASET}"  # noqa: S608 (a constant)
        " AND role = 'sample' AND place < :questions GROUP BY 1 ORDER BY min(place)",
        {"cell": row.id, "questions": row.questions},
    )
    return tuple(each[0] for each in rows if each[0])
