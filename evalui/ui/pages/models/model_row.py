"""One model of the Models page: everything its row shows, and the one state it is in."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalui.app.models_service import ModelStatus, WorkerView, group_of, is_from_hub
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.memory_estimate import Footprint
from evalui.runs.worker.model_tests import ModelTestRow


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model of the catalog with everything its row shows.

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
    def group(self) -> str:
        """The group it stands in: `here`, `endpoints` or `demo`."""
        return group_of(self.entry)

    @property
    def usable(self) -> bool:
        """Whether nothing is known against it."""
        return self.state is not None and not self.state.problem

    @property
    def is_away(self) -> bool:
        """Whether its endpoint does not answer now, which may pass by itself."""
        return self.state is not None and self.state.is_endpoint_down

    @property
    def remote(self) -> bool:
        """Whether it is reached over a network."""
        return traits_of(self.entry).remote

    @property
    def local(self) -> bool:
        """Whether it computes on this server, or on the cluster that belongs to it."""
        return traits_of(self.entry).loads_weights

    @property
    def is_loaded(self) -> bool:
        """Whether a worker has it ready."""
        return self.worker is not None and self.worker.row.has_loaded_model

    @property
    def fits(self) -> bool:
        """Whether there is room for it, as far as known; what is loaded has its room."""
        if self.footprint is None or self.free_bytes is None or self.is_loaded:
            return True
        return self.footprint.total <= self.free_bytes

    @property
    def test_is_pending(self) -> bool:
        """Whether its test waits or runs."""
        return self.test is not None and self.test.is_pending

    @property
    def last_test_failed(self) -> bool:
        """Whether its last test failed, and it was not probed since."""
        test, checked_at = self.test, self.status.checked_at or 0.0
        return bool(
            test and test.state == "failed" and (test.finished or test.created) > checked_at
        )

    @property
    def condition(self) -> tuple[str, str]:
        """Its one state: the kind of the icon, and the key of the word."""
        if self.state is None or self.status.pending:
            return "go", "catalog.asked"
        if self.state.problem:  # what may pass must not look like what has to be mended
            return ("warn", "catalog.away") if self.is_away else ("bad", "catalog.problem")
        if self.worker and not self.is_loaded:
            return "go", "catalog.loading"
        if self.worker:
            return ("ok", "catalog.loaded") if self.local else ("go", "catalog.in_use")
        if self.test and self.test.is_pending:
            is_running = self.test.state == "running"
            return ("go", "tried.running") if is_running else ("na", "tried.queued")
        if self.remote:
            return (
                ("warn", "catalog.silent") if self.last_test_failed else ("ok", "catalog.answers")
            )
        if is_from_hub(self.entry):
            return "na", "catalog.hub"
        if not self.fits:
            return "warn", "catalog.tight"
        return "ok", "catalog.loadable" if self.local else "catalog.always"
