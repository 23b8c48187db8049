"""`evalui doctor`: what is wrong with a machine, a data folder and the settings, a line each.

Nothing is changed, and no contents of the store are shown.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from evalui.errors import EvaluiError, StoreError
from evalui.local_runs import read_model_entries

if TYPE_CHECKING:
    from evalui.settings import Settings

_STORE_FILES = ("evalui.sqlite", "evalui.sqlite-wal", "evalui.sqlite-shm")
_PRIVATE = (*_STORE_FILES, "access-token", "model-keys.json", "models-added.toml", "secret-key")
_MAX_LOG_BYTES = 2**28  # of the write-ahead log: more of it is left by a reader that never ends
_MAX_AHEAD_S = 300.0  # that the store may be ahead of the clock
_TIMEOUT_S = 3.0  # for the program at our port
_NEWEST_SQL = "SELECT max(coalesce(finished, started, created)) FROM run"


def faults(settings: "Settings") -> Iterator[str]:
    """Every fault, where it is first; none of a machine on which all is well."""
    yield from _gpu_faults()
    yield from _file_faults(settings.data_dir)
    if settings.database.is_file():
        yield from _store_faults(settings.database)
    yield from _disk_faults(settings.data_dir)
    yield from _port_faults(settings)
    yield from _model_faults(settings)


def _gpu_faults() -> Iterator[str]:
    from evalui.runs.worker.devices import gpus, visible_gpus

    present = gpus()
    if not present:
        if Path("/dev/nvidia0").exists():
            yield "gpu: there is one, but its driver gives no answer (nvidia-smi states more)"
        return
    if visible_gpus(present):
        import torch

        if not torch.cuda.is_available():
            yield f"gpu: the driver has {len(present)}, but torch {torch.__version__} uses none"


def _file_faults(folder: Path) -> Iterator[str]:
    if not folder.exists():
        return  # made by the first start
    # Root may examine the folder of the server's user.
    owner = os.geteuid() or folder.stat().st_uid
    for path in (folder, *(folder / name for name in _PRIVATE)):
        try:
            state = path.lstat()
        except FileNotFoundError:
            continue
        mode = stat.S_IMODE(state.st_mode)
        if state.st_uid != owner:
            yield f"files: {path} belongs to another user (number {state.st_uid})"
        if mode & 0o077 and not stat.S_ISLNK(state.st_mode):
            yield f"files: {path} is open to other users (mode {mode:04o}); chmod go= {path}"


def _store_faults(path: Path) -> Iterator[str]:
    from evalui.store.connection import damage_of, has_tables

    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
        yield f"store: {log} has {log.stat().st_size:,} bytes; restart what uses the store"
    try:
        damage = damage_of(path)
    except StoreError as error:
        yield f"store: it cannot be examined. {error}"
        return
    if damage:
        yield f"store: {path} is damaged: {damage}"
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as opened:
            has_tables(opened, path)
            (newest,) = opened.execute(_NEWEST_SQL).fetchone()
    except sqlite3.Error as error:
        yield f"store: {path} cannot be read: {error}"
        return
    except EvaluiError as error:
        yield f"store: {error}"
        return
    if newest and newest > time.time() + _MAX_AHEAD_S:
        ahead = newest - time.time()
        yield f"clock: the newest run of the store is {ahead:,.0f} s ahead of this machine's clock"


def _disk_faults(folder: Path) -> Iterator[str]:
    from evalui.runs.upkeep.monitor import disk_use

    use = disk_use(next(place for place in (folder, *folder.parents) if place.exists()))
    if use.is_nearly_full or use.is_full:
        yield f"disk: {use.share:.0%} in use, {use.free:,} bytes are free"


def _port_faults(settings: "Settings") -> Iterator[str]:
    from evalui.web.address import address_of, check_door, listen

    try:
        check_door(settings)
        with listen(settings.host, settings.port, only_here=settings.auth == "token"):
            return
    except EvaluiError as error:
        reason = error
    with listen(settings.host, 0) as other:
        address = address_of(other, "").rpartition(":")[0]
    try:
        with urlopen(f"{address}:{settings.port}/healthz", timeout=_TIMEOUT_S) as answer:
            if b'"revision"' in answer.read(1000):
                return  # our own server, at work
    except (OSError, ValueError):
        pass
    yield f"port: {reason}"


def _model_faults(settings: "Settings") -> Iterator[str]:
    from evalui.models.catalog import problem_of

    try:
        entries = read_model_entries(settings)
    except EvaluiError as error:
        yield f"models: {error}"
        return
    for name, entry in entries.items():
        if problem := problem_of(entry):  # keys, files, and whether an endpoint answers
            yield f"model {name}: {problem}"
