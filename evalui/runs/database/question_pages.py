"""Pages of questions, filtered by the database: no more than a page is ever read."""

import json
from collections import defaultdict
from dataclasses import dataclass
from sqlite3 import Row

from evalui.errors import StoreError
from evalui.modes import MODES
from evalui.runs.cells import mode_settings, trials_to_run
from evalui.runs.database.codec import decode_sample, decode_variant
from evalui.runs.database.connection import Database
from evalui.runs.database.datasets import read_cell_dataset
from evalui.runs.database.records import (
    CellRow,
    Facets,
    OutcomeFilter,
    QuestionDetail,
    QuestionPage,
    QuestionPageRow,
    TrialOutcome,
)
from evalui.runs.database.trials import VariantOrder, in_order, read_contestants
from evalui.runs.spec import ModeSpec
from evalui.types import Request, Variant

# One question per row; a filter that is empty lets everything pass. Wrong and right speak of the
# order in the file; a rule and the two slots must meet in one and the same trial.
_MATCHING = """
    FROM sample s
    JOIN trial t ON t.sample = s.id AND t.cell = :cell
    WHERE s.dataset = (SELECT dataset FROM cell WHERE id = :cell) AND s.role = 'sample'
        AND (:subject = '' OR s.subject = :subject)
    GROUP BY s.place
    HAVING max(
            (:rule = '' OR t.rule = :rule)
            AND (:gold IS NULL OR t.target = :gold)
            AND (:picked IS NULL OR t.choice IS :picked)
        )
        AND (:find = '' OR s.id = :find OR s.question LIKE :like ESCAPE '\\'
            OR max(coalesce(t.reply, '') LIKE :like ESCAPE '\\'))
        AND CASE :outcome
            WHEN 'wrong' THEN max(t.origin AND t.credit = 0)
            WHEN 'right' THEN max(t.origin AND t.credit = 1)
            WHEN 'order_sensitive' THEN max(t.credit = 1) AND min(t.credit) < 1
            WHEN 'unreadable' THEN max(t.choice IS NULL AND NOT t.tied)
            WHEN 'tied' THEN max(t.tied)
            ELSE 1
        END
"""
_COUNT = "SELECT count(*) FROM (SELECT s.place" + _MATCHING + ")"  # noqa: S608 (two constants)
_PAGE_ROWS = (
    "SELECT s.id, s.line, s.subject, s.question"
    + _MATCHING
    + "ORDER BY s.place LIMIT :limit OFFSET :offset"
)
_QUESTION = (
    "SELECT body FROM sample WHERE id = ? AND role = 'sample'"
    " AND dataset = (SELECT dataset FROM cell WHERE id = ?)"
)


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a model was sent about one order of a question."""

    variant: Variant
    requests: tuple[Request, ...]


def read_question_page(
    database: Database,
    cell_id: int,
    *,
    outcome: OutcomeFilter = "",
    subject: str = "",
    rule: str = "",
    gold_slot: int | None = None,
    picked_slot: int | None = None,
    find: str = "",
    offset: int = 0,
    limit: int = 100,
) -> QuestionPage:
    """The questions of a cell that pass every filter, in file order, from `offset` on.

    `wrong` and `right` speak of the file's own order; `order_sensitive` is right in some
    orders and not in all. `rule`, `gold_slot` and `picked_slot` must meet in one trial. `find` is
    looked for in questions and replies, or is an id.
    """
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in find)
    values = {
        "cell": cell_id,
        "outcome": outcome,
        "subject": subject,
        "rule": rule,
        "gold": gold_slot,
        "picked": picked_slot,
        "find": find,
        "like": f"%{escaped}%",
        "limit": limit,
        "offset": offset,
    }
    counted = database.row(_COUNT, values)
    shown = database.rows(_PAGE_ROWS, values)
    outcomes = _outcomes(database, cell_id, tuple(row["id"] for row in shown))
    return QuestionPage(
        total=counted[0] if counted else 0,
        rows=tuple(
            QuestionPageRow(
                row["id"], row["line"], row["subject"], row["question"], outcomes[row["id"]]
            )
            for row in shown
        ),
    )


def has_question(database: Database, cell_id: int, sample_id: str) -> bool:
    """Whether the cell's dataset has this question."""
    return bool(database.row(_QUESTION, (sample_id, cell_id)))


def read_question(database: Database, cell_id: int, sample_id: str) -> QuestionDetail:
    """One question with all its trials; raises `StoreError` if the cell has no such question."""
    row = database.row(_QUESTION, (sample_id, cell_id))
    if row is None:
        raise StoreError("no-question", cell=cell_id, sample=sample_id)
    trials = database.rows(
        "SELECT t.sample, t.variant, t.reply, t.body, c.pattern"
        " FROM trial t JOIN cell c ON c.id = t.cell WHERE t.cell = ? AND t.sample = ?",
        (cell_id, sample_id),
    )
    return QuestionDetail(decode_sample(row["body"]), in_order(trials))


def read_facets(database: Database, cell_id: int) -> Facets:
    """The subjects of a cell in file order, and the rules that have fired, most frequent first."""
    subjects = database.rows(
        "SELECT subject FROM sample WHERE dataset = (SELECT dataset FROM cell WHERE id = :cell)"
        " AND role = 'sample' AND place < (SELECT questions FROM cell WHERE id = :cell)"
        " GROUP BY subject ORDER BY min(place)",
        {"cell": cell_id},
    )
    rules = database.rows(
        "SELECT rule FROM trial WHERE cell = ? GROUP BY rule ORDER BY count(*) DESC, rule",
        (cell_id,),
    )
    most = database.row(
        "SELECT max(length(variant) - length(replace(variant, ',', '')) + 1) AS options"
        " FROM trial WHERE cell = ?",
        (cell_id,),
    )
    return Facets(
        subjects=tuple(row["subject"] for row in subjects),
        rules=tuple(row["rule"] for row in rules),
        n_options=(most["options"] or 0) if most else 0,
    )


def read_sent_prompts(database: Database, row: CellRow, sample_id: str) -> tuple[SentPrompt, ...]:
    """The requests of every variant of one question, made again, in the order of the variants.

    Those that only earlier responses call for are left out.

    Raises:
        StoreError: the cell has no such question.
    """
    dataset = read_cell_dataset(database, row.id)
    sample = read_question(database, row.id, sample_id).sample
    mode = ModeSpec.model_validate_json(row.plan)
    contestants = read_contestants(database, row) if mode.judging else ()
    scorer = MODES[mode.mode]
    setting = mode_settings(mode, dataset.shots, contestants)
    return tuple(
        SentPrompt(variant, scorer.plan(sample, variant, setting))
        for _, variant in trials_to_run(mode, row.cell.pattern, (sample,), setting)
    )


def _outcomes(
    database: Database, cell_id: int, sample_ids: tuple[str, ...]
) -> dict[str, tuple[TrialOutcome, ...]]:
    rows = database.rows(
        "SELECT t.sample, t.variant, t.choice, t.credit, t.tied, c.pattern FROM trial t"
        " JOIN cell c ON c.id = t.cell"
        " WHERE t.cell = ? AND t.sample IN (SELECT value FROM json_each(?))",
        (cell_id, json.dumps(sample_ids)),
    )
    by_sample: dict[str, list[tuple[tuple[int, tuple[int, ...]], TrialOutcome]]] = defaultdict(list)
    orders = VariantOrder(rows[0]["pattern"]) if rows else None
    for row in rows:
        assert orders, "there are rows"
        place = orders.sort_key(decode_variant(row["variant"]))
        by_sample[row["sample"]].append((place, _outcome(row)))
    return {
        sample: tuple(outcome for _, outcome in sorted(placed))
        for sample, placed in by_sample.items()
    }


def _outcome(row: Row) -> TrialOutcome:
    if row["tied"]:
        return "tied"
    if row["choice"] is None:
        return "unreadable"
    return "right" if row["credit"] == 1 else "wrong"
