"""Runs that are there already: in a folder, in a store of this machine, on a server."""

import os
import shutil
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from evalui.errors import SpecError, StoreError, UnknownRun
from evalui.library.run import Run
from evalui.library.sources import REPORT_FILE, FolderSource, ServerSource, StoreSource
from evalui.local_runs import STORE_NAME, load_settings, read_model_entries
from evalui.report.frames.base import Columns, FrameColumn, frame
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import WORKER_TIMEOUT_S, read_runs

if TYPE_CHECKING:
    import pandas as pd

    from evalui.client import Client

_SERVER = ("http://", "https://")
_PERMALINK = "/r/"
RUN_COLUMNS: Columns = {
    "id": FrameColumn("str", "id of the run, which `open` takes"),
    "name": FrameColumn("str", "its name"),
    "state": FrameColumn("category", "queued, running, done, failed or cancelled"),
    "done": FrameColumn("Int64", "trials that are done"),
    "total": FrameColumn("Int64", "trials planned"),
    "created": FrameColumn("datetime64[ms, UTC]", "when it was queued"),
    "owner": FrameColumn("category", "whose it is"),
}


def open_run(
    place: str | Path,
    *,
    run: str = "",
    models_file: str | Path | None = None,
    token: str = "",
    insecure: bool = False,
) -> Run:
    """A run that is there already.

    `place` is a folder that `evalui run` or `evaluate` wrote (of several runs in its store the
    newest, unless `run` is an id), a store file, the log of another harness or a folder of its logs
    as `evalui import` reads them (kept nowhere), the id of a run in the store of the data folder,
    or the address of a run on a server (`https://box/?run=ID`, `https://box/r/ID`). A server takes
    `token`, unless the address has one; `insecure` sends it over plain http to another machine.
    `models_file` is the models.toml that a run of a store was done with, where it was another than
    that of the settings: it says which models are baselines, and what they cost.

    Raises:
        UnknownRun: there is no such run.
        ModelError: a models.toml cannot be read.
        StoreError: there is no store, or it cannot be read.
        DataError: a file or a folder holds neither a run nor a log.
        SpecError: an address names no run.
        EvaluiError: the server cannot be reached, or refuses.
    """
    if str(place).startswith(_SERVER):
        client, named = _server(str(place), token, insecure=insecure)
        run_id = run or named
        if not run_id:
            raise SpecError("address-no-run", address=client.url)
        return Run(run_id, ServerSource(client, run_id))
    path = Path(place)
    store = path / STORE_NAME if path.is_dir() else path
    if store.is_file() and not (path.is_file() and _is_log(path)):
        return _open_in(store, run, models_file)
    if path.is_file() or (path.is_dir() and not (path / REPORT_FILE).exists()):
        return _open_log(path)
    if path.is_dir():
        return Run("", FolderSource(path))
    if run or len(path.parts) > 1:  # no id has a slash
        raise StoreError("no-store", path=str(path))
    return _open_in(load_settings().database, str(place), models_file)


def list_runs(
    place: str | Path | None = None, *, token: str = "", insecure: bool = False
) -> "pd.DataFrame":
    """A row per run, the newest first; docs/python.md lists the columns.

    `place` is a folder that `evalui run` wrote, a store file, or the address of a server; None
    takes the store of the data folder. Without a store there are no rows.

    Raises:
        StoreError: the store cannot be read, or a place that was named has none.
        EvaluiError: the server cannot be reached, or refuses.
    """
    return frame(_rows(place, token, insecure=insecure), RUN_COLUMNS)


def _rows(place: str | Path | None, token: str, *, insecure: bool) -> list[dict[str, Any]]:
    if place is not None and str(place).startswith(_SERVER):
        client, _ = _server(str(place), token, insecure=insecure)
        return [_row(each) for each in client.runs()]
    path = load_settings().database if place is None else Path(place)
    store = path / STORE_NAME if path.is_dir() else path
    if not store.is_file():
        if place is None:
            return []
        raise StoreError("no-store", path=str(store))
    _end_lost_runs(store)
    with closing(Database(store, read_only=True)) as database:
        return [_row(each) for each in read_runs(database)]


def _row(run: Any) -> dict[str, Any]:
    """A run of a store or of a server, which have the same fields."""
    named = {name: getattr(run, name) for name in ("id", "name", "state", "done", "total", "owner")}
    return named | {"created": _utc(run.created)}


def _utc(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _open_in(store: Path, run_id: str, models_file: str | Path | None) -> Run:
    if not store.is_file():
        raise StoreError("no-store", path=str(store))
    catalog = read_model_entries(load_settings(), Path(models_file) if models_file else None)
    _end_lost_runs(store)
    database = Database(store, read_only=True)
    try:
        named = run_id or _newest(database)
        return Run(named, StoreSource(database, named, catalog))
    except BaseException:
        database.close()
        raise


def _end_lost_runs(store: Path) -> None:
    """End the runs of scripts that were killed; where no server has the store, nobody else does."""
    with closing(Database(store, read_only=True)) as database:
        lost = queue.has_lost_scripts(database, WORKER_TIMEOUT_S)
    if lost and os.access(store, os.W_OK):
        with closing(Database(store)) as database:
            queue.requeue_lost(database, silent_s=WORKER_TIMEOUT_S)


def _is_log(path: Path) -> bool:
    """Whether a file is no store; an empty one may be a store that was just made."""
    from evalui.store.bundle import is_store

    return path.stat().st_size > 0 and not is_store(path)


def _open_log(path: Path) -> Run:
    """The finished run of another harness, in a temporary store that goes with it."""
    from evalui.harnesses.importing import import_run

    folder = Path(mkdtemp(prefix="evalui-"))
    database = Database(folder / STORE_NAME)
    try:
        run_id = import_run(database, [path]).run_id
        return Run(run_id, StoreSource(database, run_id, {}, folder))
    except BaseException:
        database.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _newest(database: Database) -> str:
    """The id of the newest run of a store; raises `UnknownRun` if it has none."""
    for row in read_runs(database):
        return row.id
    raise UnknownRun("store-no-run", path=str(database.path))


def _server(address: str, token: str, *, insecure: bool) -> "tuple[Client, str]":
    """The server of an address of one of its pages, and the run that the address names."""
    from evalui.client import Client

    parts = urlsplit(address)
    query = parse_qs(parts.query)
    path, named, run_id = parts.path.partition(_PERMALINK)
    base = urlunsplit((parts.scheme, parts.netloc, path.rstrip("/"), "", ""))
    run_id = run_id.partition("/")[0] if named else query.get("run", [""])[0]
    return Client(base, token or query.get("token", [""])[0], insecure=insecure), run_id
