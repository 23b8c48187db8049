"""What the trials of a cell come to, kept in the store: computed once, when the cell has ended.

Of written answers at work, what their texts come to is kept too: each text is read once.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Generic, TypeVar

import numpy as np
from pydantic import TypeAdapter

from evalui import __version__
from evalui.errors import StoreError
from evalui.registry import plugin_versions
from evalui.runs.database.connection import Database
from evalui.runs.database.records import CellRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.trials import read_result, read_results
from evalui.runs.spec import JUDGE, OPEN
from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.arena.figures import Arena, arena_of_judges, duel_groups
from evalui.scoring.arena.record import ArenaRecord
from evalui.scoring.cell_summary import FIGURES_VERSION, Summary, is_unfinished, summarise
from evalui.scoring.metrics import METRICS
from evalui.scoring.summary_source import SummarySource
from evalui.scoring.text_tally import TextTally, tally_texts
from evalui.scoring.trial_columns import columns_of
from evalui.types import Cell, CellResult, Sample, Trial

_log = logging.getLogger(__name__)
S = TypeVar("S", Summary, AnswerSummary)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Judged:
    """The arena of a judge, and that of the panel that it is the first of.

    Each with the cells that it was computed from and their numbers of trials.
    """

    records: tuple[tuple[tuple[tuple[int, int], ...], ArenaRecord], ...] = ()


@dataclass(frozen=True, slots=True)
class _Form(Generic[S]):
    """What is kept of a kind of cells, and what computes it of a cell by its id."""

    kind: type[S]
    summarise: Callable[[Database, int, CellResult], S]


def summary_source(database: Database, run_id: str) -> SummarySource:
    """The summaries of the cells of a run, see `read_summary`; raises `UnknownRun`."""
    ids = {row.cell: row.id for row in read_cells(database, run_id)}
    return SummarySource(
        lambda result: read_summary(database, ids[result.cell], result),
        lambda result: read_answer_summary(database, ids[result.cell], result),
        lambda results: read_arena(database, ids, results),
    )


def read_summary(database: Database, cell_id: int, result: CellResult) -> Summary:
    """The summary that is kept of a cell, else a new one, which is kept if the cell has ended.

    It is computed anew for other trials, by another version, and with other plug-ins.
    """
    return _read(database, cell_id, result, _CHOICES)


def read_answer_summary(database: Database, cell_id: int, result: CellResult) -> AnswerSummary:
    """The same of a cell of written answers."""
    return _read(database, cell_id, result, _ANSWERS)


def read_arena(database: Database, ids: Mapping[Cell, int], results: Sequence[CellResult]) -> Arena:
    """The same of one judge of duels, or of the panel that several are; `ids` are by cell."""
    if any(map(is_unfinished, results)):
        return arena_of_judges(results)
    of = tuple((ids[result.cell], len(result.trials)) for result in results)
    kept = _find(database, of[0][0], results[0], _Judged) or _Judged()
    for one, record in kept.records:
        if one == of:
            return record.arena_of(results)
    arena = arena_of_judges(results)
    others = (each for each in kept.records if len(each[0]) != len(of))
    _keep_if_possible(database, *of[0], _Judged((*others, (of, ArenaRecord.of(arena)))))
    return arena


def find_summary(database: Database, cell_id: int, result: CellResult) -> Summary | None:
    """The summary that is kept of a cell, None if there is none of these trials and figures."""
    kept = _find(database, cell_id, result, Summary)
    return kept and replace(kept, state=result.state, error=result.error)


def summarise_ending(database: Database, row: CellRow) -> None:
    """Keep the summary of a cell whose last trial is written, so that no reader computes it.

    Raises:
        StoreError: the store cannot be written.
    """
    try:
        if row.cell.mode == JUDGE:
            _keep_arenas(database, row)
            return
        form = _ANSWERS if row.cell.mode == OPEN else _CHOICES
        result = read_result(database, row.run_id, row.id)
        summary = form.summarise(database, row.id, replace(result, state="done"))
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 (it may be of another package)
        # The page that computes it again reports its error.
        _log.exception("The summary of %s on %s failed", row.cell.model, row.cell.dataset)
        return
    _keep(database, row.id, _version(form.kind), len(result.trials), summary)


class GrowingTexts:
    """What the texts of a cell at work come to, kept with each batch that is written of it."""

    def __init__(self, database: Database, row: CellRow) -> None:
        self._database = database
        self._row = row
        self._tally: TextTally | None = None
        self._samples: Mapping[str, Sample] = {}

    def add(self, trials: Sequence[Trial]) -> None:
        """Count the texts of a batch that was written just now.

        Raises:
            StoreError: the store cannot be written.
        """
        if self._tally:
            self._tally = tally_texts(trials, self._samples, self._tally)
        else:  # what another worker has left may be there before the batch
            result = read_result(self._database, self._row.run_id, self._row.id)
            self._tally = _tally(self._database, self._row.id, result)
            self._samples = result.samples
        _keep(self._database, self._row.id, _TEXTS, self._tally.n, self._tally)


def _read(database: Database, cell_id: int, result: CellResult, form: _Form[S]) -> S:
    if is_unfinished(result):
        return form.summarise(database, cell_id, result)
    if kept := _find(database, cell_id, result, form.kind):
        return replace(kept, state=result.state, error=result.error)
    summary = form.summarise(database, cell_id, result)
    _keep_if_possible(database, cell_id, len(result.trials), summary)
    return summary


def _find(database: Database, cell_id: int, result: CellResult, kind: type[T]) -> T | None:
    row = database.row(
        "SELECT body FROM kept_figures WHERE cell = ? AND version = ? AND done = ?",
        (cell_id, _version(kind), len(result.trials)),
    )
    if row is None:
        return None
    return _decode(row["body"], kind)


def _summarise_answers(database: Database, cell_id: int, result: CellResult) -> AnswerSummary:
    result = replace(result, trials=columns_of(result.trials))
    return summarise_answers(result, _tally(database, cell_id, result))


def _tally(database: Database, cell_id: int, result: CellResult) -> TextTally:
    """What the texts of these trials come to, from what is kept of the first of them."""
    columns = columns_of(result.trials)
    row = database.row(
        "SELECT body FROM kept_figures WHERE cell = ? AND version = ? AND done <= ?",
        (cell_id, _TEXTS, len(columns)),
    )
    kept = _decode(row["body"], TextTally) if row else TextTally()
    new = columns.take(np.argsort(columns.number)[kept.n :])
    return tally_texts(new, result.samples, kept)


_CHOICES = _Form(Summary, lambda _, __, result: summarise(result))
_ANSWERS = _Form(AnswerSummary, _summarise_answers)
_TEXTS = f"{__version__} {FIGURES_VERSION} texts"  # the version of what texts come to


def _keep_arenas(database: Database, row: CellRow) -> None:
    """Keep the arena of a judge that has ended, and that of the panel if it was the last of it."""
    ids = {each.cell: each.id for each in read_cells(database, row.run_id)}
    results = [
        replace(each, state="done") if ids[each.cell] == row.id else each
        for each in read_results(database, row.run_id)
    ]
    for group in duel_groups(results):
        own = [each for each in group if ids[each.cell] == row.id]
        if own:
            read_arena(database, ids, own)
        if own and len(group) > 1 and not any(map(is_unfinished, group)):
            read_arena(database, ids, group)


def _keep_if_possible(
    database: Database, cell_id: int, done: int, kept: "Summary | AnswerSummary | _Judged"
) -> None:
    try:
        _keep(database, cell_id, _version(type(kept)), done, kept)
    except StoreError as error:  # a full disk, say: the reader has the figures nevertheless
        _log.warning("The summary of a cell cannot be kept: %s", error)


def _keep(database: Database, cell_id: int, version: str, done: int, kept: object) -> None:
    """Keep figures of a cell with so many trials, unless the store is read only.

    Raises:
        StoreError: the store cannot be written.
    """
    if database.read_only:
        return
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO kept_figures (cell, version, done, body)"
            " SELECT id, ?, ?, ? FROM cell WHERE id = ?",
            (version, done, _encode(kept), cell_id),
        )


@cache
def _version(kind: type[T]) -> str:
    """Of the figures: their names, what computes them, and the form in which they are kept."""
    form = json.dumps([_adapter(kind).json_schema(), sorted(METRICS)], sort_keys=True)
    digest = hashlib.sha256(form.encode()).hexdigest()[:12]
    return " ".join((__version__, FIGURES_VERSION, digest, *plugin_versions("evalui.metrics")))


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def _encode(kept: object) -> str:
    # The standard encoder writes infinite numbers by names that its decoder knows.
    plain = _adapter(type(kept)).dump_python(kept)
    return json.dumps(plain, ensure_ascii=False, default=sorted)  # sets


def _decode(body: str, kind: type[T]) -> T:
    return _adapter(kind).validate_python(json.loads(body))
