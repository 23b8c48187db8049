"""The models of the server as the pages work with them: catalog, states, trials and devices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalui.access import LOCAL_PERSON, Deed, Owned, Person, may, require
from evalui.accounts.audit import record
from evalui.accounts.people import read_accounts
from evalui.app.permissions import checks, requires
from evalui.errors import EvaluiError, ModelError
from evalui.messages import sentence
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import (
    ModelState,
    ModelStatus,
    find_entry,
    probe_again,
    read_catalog,
    statuses,
    without_answer,
)
from evalui.models.endpoint.limits import is_loopback
from evalui.models.memory_estimate import Footprint, footprint
from evalui.models.new_model import InvalidModelForm, NewModelForm, header_variables
from evalui.models.user_catalog import (
    add_model,
    additions_path,
    change_model,
    read_added,
    read_models,
    remove_model,
)
from evalui.runs.worker import devices, model_tests
from evalui.runs.worker.devices import DeviceMemory
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.settings import Settings
from evalui.shipped_files import ASSETS
from evalui.store.connection import Database
from evalui.store.runs import RunRow, WorkerRow, read_runs_of_worker, read_workers
from evalui.store.usage import throughputs, waiting_models

_WAIT_S = 5.0  # the longest that a choice of models waits for an endpoint
_STATUS_WAIT_S = 0.3  # the same of the page that asks again by itself
_QUERY_PENDING = sentence("error.being-asked")


ModelGroup = Literal["here", "endpoints", "demo"]


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker as one user may see it: of other users' work (not `visible`) only that it is busy.

    `runs` are those at work that the user may see, that of `row` first, and `others` is how many
    more there are.
    """

    row: WorkerRow
    visible: bool
    runs: tuple[RunRow, ...] = ()
    others: int = 0

    @property
    def run_name(self) -> str:
        """The name of the run of `row`, "" if it is at none that the user may see."""
        return next((run.name for run in self.runs if run.id == self.row.run), "")


@dataclass(frozen=True, slots=True)
class Hardware:
    """The memory of the machine and of its GPUs."""

    machine: DeviceMemory
    gpus: tuple[DeviceMemory, ...]

    def takes_gpu(self, entry: ModelEntry) -> bool:
        """Whether the model would be loaded on a GPU."""
        return entry.device != "cpu" and bool(devices.visible_gpus(self.gpus))

    def free(self, entry: ModelEntry) -> int:
        """Bytes free where the model would be loaded: the GPU of its number, 0 unless known."""
        device = self._device(entry)
        return device.free if device else 0

    def total(self, entry: ModelEntry) -> int:
        """Bytes of the device where the model would be loaded, 0 unless known."""
        device = self._device(entry)
        return device.total if device else 0

    def _device(self, entry: ModelEntry) -> DeviceMemory | None:
        if not self.takes_gpu(entry):
            return self.machine
        number = entry.device.partition(":")[2] or "0"
        seen = devices.visible_gpus(self.gpus)
        known = number.isdecimal() and int(number) < len(seen)
        return seen[int(number)] if known else None


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """The Ray cluster on which models are opened; "" is one that a worker starts on this machine.

    `cores` are those of an actor where no machine has an accelerator.
    """

    address: str
    cores: int


def is_demo(entry: ModelEntry) -> bool:
    """Whether the entry is one of the tiny models that come with evalui."""
    return bool(entry.path) and Path(entry.path).is_relative_to(ASSETS / "models")


def is_from_hub(entry: ModelEntry) -> bool:
    """Whether its files are fetched from the hub."""
    return traits_of(entry).loads_weights and not Path(entry.path).is_absolute()


def group_of(entry: ModelEntry) -> ModelGroup:
    """The group that a model stands in on the pages: `here`, `endpoints` or `demo`."""
    if entry.baseline or is_demo(entry):
        return "demo"
    return "endpoints" if traits_of(entry).remote else "here"


class ModelsService:
    """One per server; safe to share between threads. `person` is who sends the request."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        person: Callable[[], Person] = lambda: LOCAL_PERSON,
    ) -> None:
        self._person = person
        self._settings = settings
        self._database = database
        self._additions = additions_path(settings.database)

    def require(self, deed: Deed, run_id: str = "") -> None:
        """Raise `NotAllowed` unless the person may do a deed; no run belongs to it."""
        assert not run_id, "models have no run"
        require(self._person(), deed)

    @checks("nothing: what shows models to a person asks `catalog`")
    def all_models(self) -> dict[str, ModelEntry]:
        """All models by name, read anew, so that the administrator need not restart the server."""
        settings = self._settings
        return read_models(settings.models, self._additions, settings.endpoint_hosts)

    @checks("which models the person may see")
    def catalog(self) -> dict[str, ModelEntry]:
        """Those of them that the person may see and use."""
        person = self._person()
        return {
            name: entry
            for name, entry in self.all_models().items()
            if may(person, "see", entry.owned)
        }

    @checks("nothing: names that decide how figures are drawn")
    def baselines(self) -> frozenset[str]:
        """The scripted models, which are drawn grey and never ranked."""
        return frozenset(each.name for each in self.all_models().values() if each.baseline)

    @checks("nothing: names that decide how figures are drawn")
    def scripted(self) -> frozenset[str]:
        """The models that follow a rule; a judge among them is marked as one."""
        models = self.all_models().values()
        return frozenset(entry.name for entry in models if traits_of(entry).rule_based)

    @checks("nothing: when the catalog was written")
    def catalog_stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Another value whenever one of the files that `catalog` reads was written."""
        return tuple(map(_stamp, (self._settings.models, self._additions)))

    @checks("which models the person may see")
    def states(self) -> list[ModelState]:
        """Each model with what it can do here."""
        known = self._statuses(self.catalog(), _WAIT_S)
        return [
            status.state or ModelState(entry, frozenset(), _QUERY_PENDING)
            for entry, status in known
        ]

    @checks("which models the person may see")
    def current_statuses(self) -> dict[str, ModelStatus]:
        """What is known of each model by name, at once."""
        known = self._statuses(self.catalog(), _STATUS_WAIT_S)
        return {entry.name: status for entry, status in known}

    def _statuses(
        self, catalog: Mapping[str, ModelEntry], wait_s: float
    ) -> list[tuple[ModelEntry, ModelStatus]]:
        """The one status of each model: as probed, unless a worker waits for its answers now."""
        entries = list(catalog.values())
        waits = waiting_models(self._database)
        return [
            (entry, without_answer(status, waits[entry.name].reason))
            if entry.name in waits and traits_of(entry).remote
            else (entry, status)
            for entry, status in zip(entries, statuses(entries, wait_s=wait_s), strict=True)
        ]

    @requires("start")
    def refresh(self, name: str) -> None:
        """Ask the model's endpoint now; raises `UnknownName` if there is none of that name."""
        probe_again(self._entry(name))

    @checks("which models the person may see")
    def added(self) -> dict[str, ModelEntry]:
        """The models added on the page that the person may see and use, by name."""
        person, added = self._person(), read_added(self._additions, self._settings.endpoint_hosts)
        return {name: each for name, each in added.items() if may(person, "see", each.owned)}

    @checks("which models the person may see")
    def changeable(self) -> frozenset[str]:
        """The names of those that are the person's own; to an administrator of all."""
        person = self._person()
        return frozenset(n for n, each in self.added().items() if may(person, "change", each.owned))

    @checks("which models the person may see")
    def shadowed(self) -> frozenset[str]:
        """Those of them whose name models.toml has taken since, so that they are not used."""
        return self.changeable() & read_catalog(self._settings.models).keys()

    @checks("that the person may change the catalog, see `may_edit`")
    def people_for(self, entry: ModelEntry | None = None) -> list[str] | None:
        """Whom a model can name beside its owner, None where there are no accounts."""
        if self._settings.auth == "token":
            return None
        self._check_may_edit()
        owner = entry.owner if entry else self._person().name
        return [each.name for each in read_accounts(self._database) if each.name != owner]

    # Adding and removing

    @property
    def may_edit(self) -> bool:
        """Whether the person may change the catalog: with accounts if their role allows it, else if
        the administrator does, else only where nobody but this machine can reach the page.
        """
        if self._settings.read_only:
            return False
        if self._settings.auth != "token":
            return self._settings.edit_models is not False and may(self._person(), "add_models")
        allowed, host = self._settings.edit_models, self._settings.host
        if allowed is not None:
            return allowed
        return is_loopback(host) and not self._settings.allowed_hosts

    @checks("that the person may change the catalog, see `may_edit`, and whose the model is")
    def add(self, wanted: NewModelForm) -> ModelEntry:
        """Add a model of the person's; raises `ModelError` if it is wrong or they may not."""
        self._check_may_edit()
        self._check_rights(wanted, None)
        settings, hosts = self._settings, self._settings.endpoint_hosts
        owner = "" if settings.auth == "token" else self._person().name
        entry = add_model(
            self._additions, wanted, catalog=settings.models, hosts=hosts, owner=owner
        )
        self._record("add-model", entry)
        return entry

    @checks("that the person may change the catalog, see `may_edit`, and whose the model is")
    def added_entry(self, name: str) -> ModelEntry:
        """The added model of that name, to change it.

        Raises:
            ModelError: none was added under it that the person may see, or it is another's.
        """
        entry = self.added().get(name)
        if entry is None:
            raise ModelError("model-not-added", name=name)
        if not may(self._person(), "change", entry.owned):
            raise ModelError("model-of-another", name=name, owner=entry.owner)
        return entry

    @checks("that the person may change the catalog, see `may_edit`, and whose the model is")
    def change(self, wanted: NewModelForm) -> ModelEntry:
        """Change an added model; raises `ModelError` if it is wrong or they may not."""
        self._check_may_edit()
        self._check_rights(wanted, self.added_entry(wanted.name))
        entry = change_model(self._additions, wanted, hosts=self._settings.endpoint_hosts)
        self._record("change-model", entry)
        return entry

    @checks("that the person may change the catalog, see `may_edit`, and whose the model is")
    def remove(self, name: str) -> None:
        """Take an added model out again; raises as `added_entry` does."""
        self._check_may_edit()
        entry = self.added_entry(name)
        remove_model(self._additions, name)
        self._record("remove-model", entry)

    def _check_rights(self, wanted: NewModelForm, before: ModelEntry | None) -> None:
        """Raise `InvalidModelForm` for what the person may not decide of a model."""
        people = self.people_for(before)
        if people is None:
            return
        if unknown := [name for name in wanted.people or () if name not in people]:
            raise InvalidModelForm({"people": sentence("error.no-person", name=unknown[0])})
        if self._person().role == "admin":
            return
        variable = before.options.get("api_key_env", "") if before else ""
        # It would send a key of the server to an address of the person's choosing.
        if wanted.key_variable and (
            before is None
            or (wanted.key_variable, wanted.address) != (variable, before.options.get("base_url"))
        ):
            raise InvalidModelForm({"key_variable": sentence("error.key-variable-administrators")})
        headers: dict[str, str] = before.options.get("headers", {}) if before else {}
        known = {value.removeprefix("$") for value in headers.values()}
        same_place = before is not None and wanted.address == before.options.get("base_url")
        if (named := set(header_variables(wanted))) and not (same_place and named <= known):
            raise InvalidModelForm({"headers": sentence("error.key-variable-administrators")})

    def _record(self, deed: str, entry: ModelEntry) -> None:
        """Keep in the audit log what was done, on a server with accounts."""
        if self._settings.auth != "token":
            address = str(entry.options.get("base_url", ""))
            record(self._database, self._person(), deed, f"model {entry.name}", address=address)

    def _check_may_edit(self) -> None:
        if not self.may_edit:
            raise ModelError("models-not-yours")

    # Trials

    @requires("start")
    def queue_test(self, name: str, owner: str) -> None:
        """Queue a trial of a model; raises `UnknownName` if there is none of that name."""
        model_tests.queue_model_test(self._database, self._entry(name), owner)

    @checks("nothing: tests of the named owner")
    def tests(self, owner: str) -> dict[str, ModelTestRow]:
        """The last trial of each model that this person asked for."""
        return model_tests.model_tests(self._database, owner)

    # Devices

    @property
    def cluster(self) -> ClusterSettings | None:
        """Where models are opened, None if on this machine."""
        if self._settings.engine == "local":
            return None
        return ClusterSettings(self._settings.ray_address, self._settings.ray_cores)

    @checks("nothing: of this machine")
    def hardware(self) -> Hardware:
        """The memory of this machine, now."""
        return Hardware(devices.machine_memory(), devices.gpus())

    @checks("which runs and models the person may see")
    def workers(self, person: Person) -> list[WorkerView]:
        """The workers, as this person may see them."""
        return [self._worker_view(row, person) for row in read_workers(self._database)]

    @checks("nothing: of this machine")
    def footprint(self, state: ModelState, hardware: Hardware) -> Footprint | None:
        """What a model will take, None if that is not known."""
        entry = state.entry
        if traits_of(entry).rule_based or state.problem:
            return None
        gpu = hardware.takes_gpu(entry)
        budget = self._settings.token_budget
        return footprint(entry, parameters=entry.parameters, token_budget=budget, gpu=gpu)

    @checks("nothing: how fast models are")
    def speeds(self) -> Mapping[str, Mapping[str, float]]:
        """Requests per second as last measured, by model and mode; without worked examples."""
        speeds: dict[str, dict[str, float]] = {}
        for (model, mode, shots), rate in throughputs(self._database).items():
            if not shots:
                speeds.setdefault(model, {})[mode] = rate
        return speeds

    def _entry(self, name: str) -> ModelEntry:
        return find_entry(self.catalog(), name)

    def _catalog_or_nothing(self) -> Mapping[str, ModelEntry]:
        """The models, none while a file of them is broken, of which the page tells elsewhere."""
        try:
            return self.catalog()
        except EvaluiError:
            return {}

    def _worker_view(self, row: WorkerRow, person: Person) -> WorkerView:
        if row.keeps:
            return WorkerView(row, row.model in self._catalog_or_nothing())
        runs = read_runs_of_worker(self._database, row)
        seen = tuple(run for run in runs if may(person, "see", run.owned))
        if row.run:
            visible = any(run.id == row.run for run in seen)
        else:
            # A worker tells that it is busy and its trial that it is taken at different moments:
            # what belongs to nobody may be somebody else's.
            trial = model_tests.model_test_of_worker(self._database, row.name)
            is_own = trial is not None and may(person, "see", Owned(trial.owner))
            visible = is_own or not row.is_busy
        return WorkerView(row, visible, seen, len(runs) - len(seen))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
