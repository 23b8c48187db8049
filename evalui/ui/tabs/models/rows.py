"""What one row of the Models page's catalog tells, and what all rows share."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState, ModelStatus
from evalui.models.memory_estimate import Footprint
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.services.models_service import WorkerView


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model of the catalog with everything its row tells.

    `free_bytes` are bytes where it would be loaded, None where that is not known. `worker` is the
    worker that has it, `base` what it was tuned from. `added`: on this page.
    """

    entry: ModelEntry
    status: ModelStatus
    test: ModelTestRow | None
    footprint: Footprint | None
    free_bytes: int | None
    speeds: Mapping[str, float]
    worker: WorkerView | None
    base: ModelEntry | None
    added: bool

    @property
    def state(self) -> ModelState | None:
        """What is known of it, None before it has answered."""
        return self.status.state

    @property
    def usable(self) -> bool:
        """Whether nothing is known against it."""
        return self.state is not None and not self.state.problem

    @property
    def remote(self) -> bool:
        """Whether it is asked over a network."""
        return traits_of(self.entry).remote

    @property
    def local(self) -> bool:
        """Whether it computes on this server, or on the cluster that belongs to it."""
        return traits_of(self.entry).loads_weights

    @property
    def fits(self) -> bool:
        """Whether there is room for it, as far as known; what is loaded has its room."""
        loaded = self.worker is not None and self.worker.row.has_loaded_model
        if self.footprint is None or self.free_bytes is None or loaded:
            return True
        return self.footprint.total <= self.free_bytes


@dataclass(frozen=True, slots=True)
class RowContext:
    """What the rows share: what a trial waits for, who may edit, and which removal is asked.

    `wait_sentence` is the sentence of a trial that is queued. `checked_at` is when the files were
    last looked at because somebody came or clicked, in Unix time.
    """

    wait_sentence: str
    may_edit: bool
    confirming: str = ""
    checked_at: float = 0.0
