"""What the trials of a cell come to, kept in the store: computed once, when the cell has ended.

Of written answers at work, what their texts come to is kept too: each text is read once.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeVar

import numpy as np
from pydantic import TypeAdapter

from evalui.errors import StoreError
from evalui.registry import plugin_versions
from evalui.runs.results import read_result
from evalui.scoring.answer_summary import AnswerSummary, ranking_metric, summarise_answers
from evalui.scoring.arena.figures import (
    Arena,
    ArenaRecord,
    arena_of_judges,
    duel_groups,
    with_opencompass_elo,
)
from evalui.scoring.cell_summary import FIGURES_VERSION, Summary, SummarySource, summarise
from evalui.scoring.metrics import known_metrics
from evalui.scoring.pairs import (
    AnswerPair,
    answer_groups,
    compare_answers,
)
from evalui.scoring.texts.tally import TextTally, tally_texts
from evalui.scoring.trial_columns import columns_of
from evalui.store.connection import Database
from evalui.store.runs import CellRow, read_cells
from evalui.types import Cell, CellResult, Sample, Trial, is_unfinished
from evalui.version import __version__

_log = logging.getLogger(__name__)
T = TypeVar("T")
_Cells = tuple[tuple[int, int], ...]  # the ids of cells, each with its number of trials


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of a cell of written answers or of a judge.

    What rests on several cells is kept with the first: the arena of a panel, and the pairs of
    models in a text figure, each with the cells that it was computed from.
    """

    answers: AnswerSummary | None = None
    arenas: tuple[tuple[_Cells, ArenaRecord], ...] = ()
    pairs: tuple[tuple[_Cells, str, tuple[AnswerPair, ...]], ...] = ()


def summary_source(database: Database, run_id: str) -> SummarySource:
    """The summaries of the cells of a run, see `read_summary`; raises `UnknownRun`."""
    ids = cell_ids(read_cells(database, run_id))
    return SummarySource(
        lambda result: read_summary(database, _id_of(ids, result), result),
        lambda result: read_answer_summary(database, _id_of(ids, result), result),
        partial(read_arena, database, ids),
        partial(_read_pairs, database, ids),
    )


def cell_ids(rows: Iterable[CellRow]) -> Mapping[Cell, int]:
    """The ids of cells by cell, and by what stays of one: once its model is loaded, its signature
    names the fingerprint, and a run at work may be read before and after that.
    """
    every = [*rows]
    return {_unsigned(row.cell): row.id for row in every} | {row.cell: row.id for row in every}


def _id_of(ids: Mapping[Cell, int], result: CellResult) -> int:
    cell = result.cell
    return ids[cell] if cell in ids else ids[_unsigned(cell)]


def _unsigned(cell: Cell) -> Cell:
    return replace(cell, signature="")


def read_summary(database: Database, cell_id: int, result: CellResult) -> Summary:
    """The summary that is kept of a cell, else a new one, which is kept if the cell has ended.

    It is computed anew for other trials, by another version, and with other plug-ins.
    """
    if is_unfinished(result):
        return summarise(result)
    if kept := find_summary(database, cell_id, result):
        return kept
    summary = summarise(result)
    _keep_if_possible(database, cell_id, len(result.trials), summary)
    return summary


def find_summary(database: Database, cell_id: int, result: CellResult) -> Summary | None:
    """The summary that is kept of a cell, None if there is none of these trials and figures."""
    kept = _find(database, cell_id, len(result.trials), Summary)
    return kept and replace(kept, state=result.state, error=result.error)


def read_answer_summary(database: Database, cell_id: int, result: CellResult) -> AnswerSummary:
    """The same as `read_summary` of a cell of written answers."""
    done = len(result.trials)
    kept = _find(database, cell_id, done, _Kept) or _Kept()
    if kept.answers:
        return replace(kept.answers, state=result.state, error=result.error)
    result = replace(result, trials=columns_of(result.trials))
    summary = summarise_answers(result, _tally(database, cell_id, result))
    if not is_unfinished(result):
        _keep_if_possible(database, cell_id, done, replace(kept, answers=summary))
    return summary


def read_arena(database: Database, ids: Mapping[Cell, int], results: Sequence[CellResult]) -> Arena:
    """The same of one judge of duels, or of the panel that several are; `ids` as `cell_ids`."""
    if any(map(is_unfinished, results)):
        return arena_of_judges(results)
    of = _cells(ids, results)
    kept = _find(database, *of[0], _Kept) or _Kept()
    for one, record in kept.arenas:
        if one == of:
            return record.arena_of(results)
    arena = arena_of_judges(results)
    _keep_arena(database, of, arena)
    return arena


def _keep_arena(database: Database, of: _Cells, arena: Arena) -> None:
    kept = _find(database, *of[0], _Kept) or _Kept()
    others = (each for each in kept.arenas if len(each[0]) != len(of))
    arenas = (*others, (of, ArenaRecord.of(arena)))
    _keep_if_possible(database, *of[0], replace(kept, arenas=arenas))


def _read_pairs(
    database: Database, ids: Mapping[Cell, int], results: Sequence[CellResult], figure: str
) -> tuple[AnswerPair, ...]:
    """The same of every pair of written answers; kept beside the summary of the first of them."""
    of = _cells(ids, results)
    kept = _find(database, *of[0], _Kept)
    for one, name, pairs in kept.pairs if kept else ():
        if (one, name) == (of, figure):
            return pairs
    pairs = compare_answers(results, figure)
    if kept and not any(map(is_unfinished, results)):
        others = (each for each in kept.pairs if each[0] == of)
        added = replace(kept, pairs=(*others, (of, figure, pairs)))
        _keep_if_possible(database, *of[0], added)
    return pairs


def summarise_ending(database: Database, row: CellRow) -> None:
    """Keep the summary of a cell whose last trial is written, so that no reader computes it.

    With the last cell of several, what they come to together is kept as well.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        _summarise_ending(database, row)
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 (it may be of another package)
        # The page that computes it again reports its error.
        _log.exception("The summary of %s on %s failed", row.cell.model, row.cell.dataset)


def _summarise_ending(database: Database, row: CellRow) -> None:
    mode, gives = row.cell.mode, row.cell.gives
    result = replace(read_result(database, row.run_id, row.id), state="done")
    alike = [
        each
        for each in read_cells(database, row.run_id)
        if (each.cell.mode, each.dataset_key) == (mode, row.dataset_key)
    ]
    ids = cell_ids(alike)
    if gives == "answers":
        read_answer_summary(database, row.id, result)
    elif gives == "choices":
        read_summary(database, row.id, result)
    elif duel_groups([result]):
        _summarise_arena(database, ids, [result])
    open_ = [each for each in alike if each.state in ("waiting", "running") and each.id != row.id]
    if open_ or gives == "choices":
        return
    results = [
        result if each.id == row.id else read_result(database, row.run_id, each.id)
        for each in alike
    ]
    for judges in duel_groups(results):
        if len(judges) > 1:
            _summarise_arena(database, ids, judges)
    for group in answer_groups(results):
        if len(group) > 1:
            summaries = [read_answer_summary(database, _id_of(ids, each), each) for each in group]
            _read_pairs(database, ids, group, ranking_metric(summaries).figure)


def _summarise_arena(
    database: Database, ids: Mapping[Cell, int], results: Sequence[CellResult]
) -> None:
    """Keep the arena of judges, with what takes too long for a reader."""
    arena = read_arena(database, ids, results)
    whole = with_opencompass_elo(arena)
    if whole is not arena:
        _keep_arena(database, _cells(ids, results), whole)


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


def _cells(ids: Mapping[Cell, int], results: Sequence[CellResult]) -> _Cells:
    return tuple((_id_of(ids, result), len(result.trials)) for result in results)


def _find(database: Database, cell_id: int, done: int, kind: type[T]) -> T | None:
    row = database.row(
        "SELECT body FROM kept_figures WHERE cell = ? AND version = ? AND done = ?",
        (cell_id, _version(kind), done),
    )
    return _decode(row["body"], kind) if row else None


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


_TEXTS = f"{__version__} {FIGURES_VERSION} texts"  # the version of what texts come to


def _keep_if_possible(database: Database, cell_id: int, done: int, kept: Summary | _Kept) -> None:
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
    form = json.dumps([_adapter(kind).json_schema(), sorted(known_metrics())], sort_keys=True)
    digest = hashlib.sha256(form.encode()).hexdigest()[:12]
    plugins = (*plugin_versions("evalui.metrics"), *plugin_versions("evalui.scorers"))
    return " ".join((__version__, FIGURES_VERSION, digest, *plugins))


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def _encode(kept: object) -> str:
    # The standard encoder writes infinite numbers by names that the decoder knows.
    plain = _adapter(type(kept)).dump_python(kept)
    return json.dumps(plain, ensure_ascii=False, default=sorted)  # sets


def _decode(body: str, kind: type[T]) -> T:
    return _adapter(kind).validate_json(body)
