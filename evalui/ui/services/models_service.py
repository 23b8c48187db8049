"""The models of the server as the pages work with them: catalog, states, trials and devices."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalui.errors import EvaluiError, ModelError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, find, read_catalog
from evalui.models.destinations import is_loopback
from evalui.models.local.memory_estimate import Footprint, footprint
from evalui.models.user_catalog import (
    Wanted,
    add,
    additions_beside,
    read_added,
    read_models,
    remove,
)
from evalui.runs.access import may_see
from evalui.runs.database.store import Store
from evalui.runs.database.throughput import paces
from evalui.runs.worker import devices, model_tests
from evalui.runs.worker.devices import Memory, WorkerRow
from evalui.runs.worker.model_tests import TrialRow
from evalui.settings import Settings
from evalui.ui.services.model_status import Look, States

_WAIT_S = 5.0  # the longest that a choice of models waits for an endpoint
_GLANCE_S = 0.3  # the same of the page that asks again by itself
_BEING_ASKED = sentence("error.being-asked")


@dataclass(frozen=True, slots=True)
class Seat:
    """A worker as one person may see it: of other people's work (not `seen`) only that it is busy.

    `run_name` is "" if it is at no run of theirs.
    """

    row: WorkerRow
    seen: bool
    run_name: str = ""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The memory of the machine and of its GPUs."""

    machine: Memory
    gpus: tuple[Memory, ...]

    def takes_gpu(self, entry: ModelEntry) -> bool:
        """Whether the model would be loaded on a GPU."""
        return entry.device != "cpu" and bool(devices.visible(self.gpus))

    def free(self, entry: ModelEntry) -> int:
        """Bytes free where the model would be loaded: the GPU of its number, 0 unless told."""
        if not self.takes_gpu(entry):
            return self.machine.free
        number = entry.device.partition(":")[2] or "0"
        seen = devices.visible(self.gpus)
        known = number.isdecimal() and int(number) < len(seen)
        return seen[int(number)].free if known else 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """The Ray cluster on which models are opened; "" is one that a worker starts on this machine.

    `cores` are those of an actor where no machine has an accelerator.
    """

    address: str
    cores: int


class Shelf:
    """One per server; safe to share between threads."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._database = store.database
        self._store = store
        self._states = States()
        self._additions = additions_beside(settings.database)

    def catalog(self) -> dict[str, ModelEntry]:
        """All models by name, read anew, so that the administrator need not restart the server."""
        return read_models(self._settings.models, self._additions)

    def states(self) -> list[ModelState]:
        """Each model with what it can do here."""
        entries = list(self.catalog().values())
        known = self._states.of(entries, wait_s=_WAIT_S)
        return [
            look.state or ModelState(entry, frozenset(), _BEING_ASKED)
            for entry, look in zip(entries, known, strict=True)
        ]

    def glance(self) -> dict[str, Look]:
        """What is known of each model by name, at once."""
        entries = self.catalog()
        return dict(
            zip(entries, self._states.of(list(entries.values()), wait_s=_GLANCE_S), strict=True)
        )

    def ask_again(self, name: str) -> None:
        """Ask the model's endpoint now; raises `UnknownName` if there is none of that name."""
        self._states.ask_again(self._entry(name))

    def added(self) -> frozenset[str]:
        """The names of the models added on the page."""
        return frozenset(read_added(self._additions))

    def shadowed(self) -> frozenset[str]:
        """Those of them whose name models.toml has taken since, so that they are not used."""
        return self.added() & read_catalog(self._settings.models).keys()

    # Adding and removing

    @property
    def may_edit(self) -> bool:
        """Whether the page may change the catalog: told by the administrator, else only where
        nobody but this machine can reach the page.
        """
        told, host = self._settings.edit_models, self._settings.host
        if told is not None:
            return told
        return is_loopback(host) and not self._settings.allowed_hosts

    def add(self, wanted: Wanted) -> ModelEntry:
        """Add a model; raises `ModelError` if it is wrong or nobody may."""
        self._check_may_edit()
        return add(self._additions, wanted, catalog=self._settings.models)

    def remove(self, name: str) -> None:
        """Take an added model out again; raises `ModelError` if it was not added here."""
        self._check_may_edit()
        remove(self._additions, name)

    def _check_may_edit(self) -> None:
        if not self.may_edit:
            raise ModelError(
                "models-not-yours",
            )

    # Trials

    def try_model(self, name: str, owner: str) -> None:
        """Queue a trial of a model; raises `UnknownName` if there is none of that name."""
        model_tests.queue_trial(self._database, self._entry(name), owner)

    def trials(self, owner: str) -> dict[str, TrialRow]:
        """The last trial of each model that this person asked for."""
        return model_tests.trials_of(self._database, owner)

    # Devices

    @property
    def cluster(self) -> Cluster | None:
        """Where models are opened, None if on this machine."""
        if self._settings.engine == "local":
            return None
        return Cluster(self._settings.ray_address, self._settings.ray_cores)

    def hardware(self) -> Hardware:
        """The memory of this machine, now."""
        return Hardware(devices.machine(), devices.gpus())

    def seats(self, owner: str) -> list[Seat]:
        """The workers, as this person may see them."""
        return [self._seat(row, owner) for row in devices.workers(self._database)]

    def footprint(self, state: ModelState, hardware: Hardware) -> Footprint | None:
        """What a model will take, None if that is not known."""
        entry = state.entry
        if entry.backend == "scripted" or state.problem:
            return None
        gpu = hardware.takes_gpu(entry)
        budget = self._settings.token_budget
        return footprint(entry, parameters=entry.parameters, token_budget=budget, gpu=gpu)

    def speeds(self) -> Mapping[str, Mapping[str, float]]:
        """Requests per second as last measured, by model and mode; without worked examples."""
        found: dict[str, dict[str, float]] = {}
        for (model, mode, shots), pace in paces(self._database).items():
            if not shots:
                found.setdefault(model, {})[mode] = pace.rate
        return found

    def _entry(self, name: str) -> ModelEntry:
        return find(self.catalog(), name)

    def _seat(self, row: WorkerRow, owner: str) -> Seat:
        if row.run:
            try:
                run = self._store.run(row.run)
            except EvaluiError:  # deleted just now
                return Seat(row, seen=False)
            seen = may_see(run.owner, owner)
            return Seat(row, seen, run.name if seen else "")
        trial = model_tests.trial_at(self._database, row.name)
        # A worker tells that it is busy and its trial that it is taken at different moments: what
        # belongs to nobody may be somebody else's.
        return Seat(row, not row.busy or (trial is not None and may_see(trial.owner, owner)))
