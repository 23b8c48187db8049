"""The models of one worker: opened, kept loaded for the next run that uses the same, closed."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalui.models import Model, ModelEntry
from evalui.models.base import loads_weights
from evalui.runs.cluster.model import ClusterOpener
from evalui.runs.worker.devices import device_of, on_own_device
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.store.connection import Database
from evalui.store.runs import read_workers

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _KeptModel:
    entry: ModelEntry
    files: tuple[tuple[str, int, int], ...]
    model: Model
    since: float


class ModelKeeper:
    """Opens models by `opener` and keeps the last one for `idle_s` seconds, 0 for none.

    On a cluster none is kept: its devices are also those of other workers. `own_device` is the
    one that the worker was started for, "" if for any.
    """

    def __init__(
        self,
        database: Database,
        opener: Callable[[ModelEntry], Model],
        status: WorkerStatus,
        *,
        idle_s: float = 0.0,
        own_device: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._opener = opener
        self._status = status
        self._idle_s = 0.0 if self.are_elsewhere else idle_s
        self._own_device = own_device
        self._clock = clock
        self._kept: _KeptModel | None = None

    @property
    def are_elsewhere(self) -> bool:
        """Whether a cluster opens the models, which is asked for one at a time."""
        return isinstance(self._opener, ClusterOpener)

    @property
    def has_kept(self) -> bool:
        """Whether a model is loaded that no run uses now."""
        return self._kept is not None

    def open(self, entry: ModelEntry) -> Model:
        """The model for a run: the one that is kept, if it is the same, else loaded anew.

        Raises what the opener raises.
        """
        kept = self._kept
        if kept and (kept.entry, kept.files) == (entry, _files(entry)):
            self._kept = None
            return kept.model
        if not loads_weights(entry):
            return self._opener(entry)
        self.close()
        return self._opener(on_own_device(entry, self._own_device))

    def open_anew(self, entry: ModelEntry) -> Model:
        """The model for a test, which measures how long it loads; raises as `open` does."""
        if loads_weights(entry):
            self.close()
        return self._opener(on_own_device(entry, self._own_device))

    def cancel_loading(self) -> None:
        """Free what a model holds that a cluster still loads."""
        if isinstance(self._opener, ClusterOpener):
            self._opener.cancel_loading()

    def keep(self, entry: ModelEntry, model: Model) -> None:
        """Take back a model that works; one that is not kept is closed."""
        if self._idle_s and loads_weights(entry):
            self._kept = _KeptModel(entry, _files(entry), model, self._clock())
        else:
            model.close()

    def close(self) -> None:
        """Close the model that is kept."""
        if kept := self._kept:
            self._kept = None
            kept.model.close()

    def close_if_unused(self) -> None:
        """Close the model that is kept if no run has needed it for long, or if another worker
        loads one into the same memory.
        """
        kept = self._kept
        if kept and (self._clock() - kept.since > self._idle_s or self._memory_is_needed()):
            _log.info("%s is no longer kept loaded", kept.entry.name)
            self.close()
            self.report_idle()

    def report_idle(self) -> None:
        """Report that the worker does nothing, and which model it keeps."""
        if kept := self._kept:
            self._status.update(
                model=kept.entry.name, device=self.device_of(kept.entry), keeps=True
            )
        else:
            self._status.update()

    def device_of(self, entry: ModelEntry) -> str:
        """Where a model computes, as `devices.device_of` names it."""
        device = device_of(entry)
        return self._own_device if self._own_device and device.startswith("cuda") else device

    def _memory_is_needed(self) -> bool:
        """Whether a worker is loading a model on this machine where this one has its own."""
        machine = self._status.name.rpartition(":")[0]
        return any(
            row.is_busy
            and row.model
            and not row.device
            and (not row.own_device or self._own_device in ("", row.own_device))
            and row.name.rpartition(":")[0] == machine
            for row in read_workers(self._database)
        )


def _files(entry: ModelEntry) -> tuple[tuple[str, int, int], ...]:
    """The name, time and size of each file of a model; () if it is not in a folder."""
    files: list[tuple[str, int, int]] = []
    for folder in filter(None, (entry.path, entry.adapter)):
        with suppress(OSError):  # a hub id, or gone: then loading it anew reports that
            stats = [(path, path.stat()) for path in sorted(Path(folder).iterdir())]
            files += [(str(path), stat.st_mtime_ns, stat.st_size) for path, stat in stats]
    return tuple(files)
