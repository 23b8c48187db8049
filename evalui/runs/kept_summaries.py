"""What the trials of a cell come to, kept in the store: computed once, when the cell has ended."""

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from evalui import __version__
from evalui.errors import StoreError
from evalui.registry import plugin_versions
from evalui.runs.database.connection import Database
from evalui.runs.database.records import CellRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.trials import read_result
from evalui.runs.spec import JUDGE, OPEN
from evalui.scoring.cell_summary import FIGURES_VERSION, Summary, is_unfinished, summarise
from evalui.scoring.metrics import METRICS
from evalui.types import CellResult

_log = logging.getLogger(__name__)


def summary_reader(database: Database, run_id: str) -> Callable[[CellResult], Summary]:
    """The summary of each cell of a run, see `read_summary`; raises `UnknownRun`."""
    ids = {row.cell: row.id for row in read_cells(database, run_id)}
    return lambda result: read_summary(database, ids[result.cell], result)


def read_summary(database: Database, cell_id: int, result: CellResult) -> Summary:
    """The summary that is kept of a cell, else a new one, which is kept if the cell has ended.

    It is computed anew for other trials, by another version, and with other plug-ins.
    """
    if is_unfinished(result):
        return summarise(result)
    if kept := find_summary(database, cell_id, result):
        return kept
    summary = summarise(result)
    try:
        keep_summary(database, cell_id, summary)
    except StoreError as error:  # a full disk, say: the reader has the figures nevertheless
        _log.warning("The summary of a cell cannot be kept: %s", error)
    return summary


def find_summary(database: Database, cell_id: int, result: CellResult) -> Summary | None:
    """The summary that is kept of a cell, None if there is none of these trials and figures."""
    row = database.row(
        "SELECT body FROM kept_figures WHERE cell = ? AND version = ? AND done = ?",
        (cell_id, _version(), len(result.trials)),
    )
    if row is None:
        return None
    return replace(_decode(row["body"]), state=result.state, error=result.error)


def summarise_ending(database: Database, row: CellRow) -> None:
    """Keep the summary of a cell whose last trial is written, so that no reader computes it.

    Raises:
        StoreError: the store cannot be written.
    """
    if row.cell.mode in (OPEN, JUDGE):
        return
    result = read_result(database, row.run_id, row.id)
    try:
        summary = summarise(replace(result, state="done"))
    except Exception:  # noqa: BLE001 (it may be of another package)
        # The page that computes it again reports its error.
        _log.exception("The summary of %s on %s failed", row.cell.model, row.cell.dataset)
        return
    keep_summary(database, row.id, summary)


def keep_summary(database: Database, cell_id: int, summary: Summary) -> None:
    """Keep the summary of an ended cell, unless the store is read only.

    Raises:
        StoreError: the store cannot be written.
    """
    if database.read_only:
        return
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO kept_figures (cell, version, done, body)"
            " SELECT id, ?, ?, ? FROM cell WHERE id = ?",
            (_version(), summary.done, _encode(summary), cell_id),
        )


@cache
def _version() -> str:
    """Of the figures: their names, what computes them, and the form in which they are kept."""
    form = json.dumps([_adapter().json_schema(), sorted(METRICS)], sort_keys=True)
    digest = hashlib.sha256(form.encode()).hexdigest()[:12]
    return " ".join((__version__, FIGURES_VERSION, digest, *plugin_versions("evalui.metrics")))


@cache
def _adapter() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)


def _encode(summary: Summary) -> str:
    # The standard encoder writes infinite numbers by names that the decoder knows.
    return json.dumps(_adapter().dump_python(summary), ensure_ascii=False)


def _decode(body: str) -> Summary:
    return _adapter().validate_json(body)
