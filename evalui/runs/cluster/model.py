"""One model on a Ray cluster: an actor per accelerator, or per few cores, each holding the model.

To a run this is a model as any other. Requests travel in shards; the shard of an actor that is
lost goes to another one. What travels is the entry of the catalog, requests and responses:
evalui and the model's files must lie on every machine, at the same path.
"""

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic, sleep
from typing import Any, cast

from evalui.errors import EvaluiError, ModelError, RequestRejected, Unreachable
from evalui.models import BACKENDS, Model, ModelEntry, open_model
from evalui.models.base import loads_weights, traits_of
from evalui.models.local.fp32 import library_of
from evalui.runs.cluster.actor import ActorInfo, ModelActor, RemoteFailure, ShardResult, connect
from evalui.settings import Settings
from evalui.store.codec import decode_sentence
from evalui.types import Ability, Request, Response

SHARDS_PER_ACTOR = 2  # shards given to an actor at a time: one in hand, one that waits
_SHARDS_PER_BATCH = (
    4  # shards that each actor gets of a batch, so that the slowest is not waited for long
)
_MIN_SHARD_SIZE = 8  # requests of a shard; fewer share too little
NO_ACTOR_TIMEOUT_S = (
    5.0  # without any actor for so long, the run waits, which can be seen and stopped
)
MAX_LOSSES = 3  # of a shard, or of actors in a row before they hold the model
_SCAN_INTERVAL_S = 1.0  # how often the cluster is looked at for machines that came or went
_LOADING_KEY = "error.cluster-loads"

_log = logging.getLogger(__name__)

RequestIndices = tuple[int, ...]  # of requests, in the list given to `answer`


@dataclass(slots=True)
class _Actor:
    handle: Any
    info_ref: Any  # the reference to what it says of itself, until that is known
    is_ready: bool = False
    has_been_ready: bool = False  # the model, at any time
    shards: dict[Any, RequestIndices] = field(default_factory=dict[Any, RequestIndices])


class ClusterModel:
    """A model held by the actors of a cluster; see `models.base.Model`.

    Until `wait_until_ready` has returned nothing is known of the model. `connect` returns the ray
    module while the cluster is there, see `actor.connect`. `cores` are those of an actor where no
    machine has an accelerator. Actors are started on machines that join later, too.
    """

    def __init__(self, entry: ModelEntry, connect: Callable[[], Any], *, cores: int = 2) -> None:
        self.name = entry.name
        self.fingerprint = ""
        self.abilities: frozenset[Ability] = frozenset()
        self.notes: tuple[str, ...] = ()
        self._entry = entry
        self._connect = connect
        self._ray: Any = None  # until it is connected
        self._cores = 0 if entry.device.startswith("cuda") else cores
        self._accelerators = BACKENDS[entry.backend].accelerators(entry)
        self._actors: list[_Actor] = []
        self._last_scan = -_SCAN_INTERVAL_S
        self._n_slots = 0
        self._startup_failures = 0  # actors in a row that were lost before they held the model
        self._last_loss = ""
        self._stopped = threading.Event()

    def wait_until_ready(self) -> None:
        """Return as soon as an actor holds the model.

        Raises:
            Unreachable: none does after some seconds; it goes on loading, so wait again. Or the
                head of the cluster is gone.
            ModelError: the model cannot be loaded on the cluster, or there is none.
        """
        began = monotonic()
        while not self._any_ready():
            self._admit_ready_actors(self._wait_for_references())
            if not self._any_ready() and monotonic() - began > NO_ACTOR_TIMEOUT_S:
                raise self._no_actor_error()

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield responses shard by shard, in the order in which actors finish."""
        todo = deque(shards(len(requests), len(self._actors)))
        losses: Counter[RequestIndices] = Counter()
        refused: EvaluiError | None = None
        self._stopped.clear()
        try:
            while todo or any(actor.shards for actor in self._actors):
                self.wait_until_ready()
                self._dispatch(todo, requests)
                done = self._wait_for_references()
                failures: list[RemoteFailure] = []
                for places, answered in self._collect_results(done, todo, losses):
                    for place, response in answered.responses:
                        yield places[place], response
                    failures += [answered.failure] if answered.failure else []
                refused = _raise_or_first_refusal(failures) or refused
                self._admit_ready_actors(done)
                if self._stopped.is_set():
                    raise Unreachable("cluster-stopped", model=self.name)
        finally:
            self._cancel_dispatched()
        if refused:
            raise refused

    def stop(self) -> None:
        """End the `answer` under way within a second or so; its shards may take much longer."""
        self._stopped.set()

    def is_for(self, entry: ModelEntry) -> bool:
        """Whether it is this very entry that is held."""
        return entry == self._entry

    def close(self) -> None:
        """End the actors, which frees their devices."""
        for actor in self._actors:
            self._ray.kill(actor.handle)
        self._actors.clear()

    def _any_ready(self) -> bool:
        return any(actor.is_ready for actor in self._actors)

    def _dispatch(self, todo: deque[RequestIndices], requests: Sequence[Request]) -> None:
        """Hand out shards, one to every actor before any gets a second."""
        for load in range(SHARDS_PER_ACTOR):
            for actor in self._actors:
                if todo and actor.is_ready and len(actor.shards) == load:
                    places = todo.popleft()
                    shard = [requests[place] for place in places]
                    actor.shards[actor.handle.answer.remote(shard)] = places

    def _wait_for_references(self) -> list[Any]:
        """The references that are known within a second, of actors that start or answer."""
        self._start_missing_actors()
        references = [actor.info_ref for actor in self._actors if not actor.is_ready]
        references += [each for actor in self._actors for each in actor.shards]
        if not references:
            sleep(min(_SCAN_INTERVAL_S, 0.2))
            return []
        done, _ = self._ray.wait(references, num_returns=1, timeout=_SCAN_INTERVAL_S)
        return done

    def _collect_results(
        self, done: Sequence[Any], todo: deque[RequestIndices], losses: Counter[RequestIndices]
    ) -> list[tuple[RequestIndices, ShardResult]]:
        """What has been answered. Shards of lost actors go back to the front of `todo`."""
        collected: list[tuple[RequestIndices, ShardResult]] = []
        for actor in list(self._actors):
            for reference in [each for each in actor.shards if each in done]:
                answered = self._resolve(actor, reference)
                if answered is None:
                    todo.extendleft(reversed(actor.shards.values()))
                    self._recheck_idle()
                    # Only the oldest, which was in hand, can have ended the actor.
                    self._count_loss(losses, next(iter(actor.shards.values())))
                    break
                collected.append((actor.shards.pop(reference), cast(ShardResult, answered)))
        return collected

    def _recheck_idle(self) -> None:
        """Ask the idle actors whether they are there. What ended one may have ended all of its
        machine, and that must not be held against the requests they would be given next.
        """
        for actor in self._actors:
            if actor.is_ready and not actor.shards:
                actor.is_ready, actor.info_ref = False, actor.handle.about.remote()

    def _count_loss(self, losses: Counter[RequestIndices], places: RequestIndices) -> None:
        losses[places] += 1
        if losses[places] >= MAX_LOSSES:
            raise ModelError(
                "cluster-poison",
                n=MAX_LOSSES,
                requests=len(places),
                model=self.name,
                reason=self._last_loss,
            )

    def _admit_ready_actors(self, done: Sequence[Any]) -> None:
        """Take actors in that have loaded the very model that the others hold."""
        for actor in [each for each in self._actors if not each.is_ready and each.info_ref in done]:
            about = self._resolve(actor, actor.info_ref)
            if about is None:
                self._startup_failures += not actor.has_been_ready
                continue
            self._admit(actor, cast(ActorInfo, about))
        if self._startup_failures >= MAX_LOSSES:
            raise ModelError("cluster-unloadable", model=self.name, reason=self._last_loss)

    def _admit(self, actor: _Actor, about: ActorInfo) -> None:
        if about.failure:
            raise about.failure.error()
        if self.fingerprint and about.fingerprint != self.fingerprint:
            raise ModelError("cluster-differs", path=self._entry.path)
        self.fingerprint, self.abilities = about.fingerprint, about.abilities
        self.notes = tuple(map(decode_sentence, about.notes))
        self._startup_failures = 0
        actor.is_ready = actor.has_been_ready = True

    def _resolve(self, actor: _Actor, reference: Any) -> object | None:
        """What a reference stands for; None if its actor, or the answer on its way, is lost."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause from error  # the code over there is at fault, not the machine
        except errors.RayError as error:
            self._actors.remove(actor)
            self._last_loss = _loss_reason(error)
            _log.warning("An actor of %s is lost: %s", self.name, self._last_loss)
            # It may only be out of reach. It must not come back beside the one in its place.
            self._ray.kill(actor.handle)
            return None

    def _start_missing_actors(self) -> None:
        """Start an actor for every seat that has none."""
        if monotonic() - self._last_scan < _SCAN_INTERVAL_S:
            return
        self._last_scan = monotonic()
        try:
            self._ray = self._connect()
        except Unreachable:
            self._actors.clear()  # they end with their head
            raise
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        self._n_slots, options = actor_slots(
            machines, cores=self._cores, accelerators=self._accelerators
        )
        while len(self._actors) < self._n_slots:
            make = self._ray.remote(**options, max_restarts=0, max_task_retries=0)(ModelActor)
            handle = make.remote(self._entry)
            self._actors.append(_Actor(handle, handle.about.remote()))

    def _no_actor_error(self) -> Unreachable:
        if self._n_slots:
            return Unreachable("cluster-loads", model=self.name, reason=self._last_loss)
        return Unreachable("cluster-full", model=self.name, reason=self._last_loss)

    def _cancel_dispatched(self) -> None:
        """Forget what was given out, then cancel it: a late answer must not meet a new call."""
        given = [reference for actor in self._actors for reference in actor.shards]
        for actor in self._actors:
            actor.shards.clear()
        for reference in given:
            self._ray.cancel(reference)


class ClusterOpener:
    """Opens models on the cluster.

    Models that are taught by the run or live behind an endpoint stay in the worker's process.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loading: ClusterModel | None = None  # on its way while the worker asks again

    def __call__(self, entry: ModelEntry) -> Model:
        """The model; raises as `ClusterModel.wait_until_ready` does."""
        entry = self._with_library(entry)
        if self._loading and not self._loading.is_for(entry):
            self.cancel_loading()
        if not loads_weights(entry):  # it learns from the run, or has machines of its own
            return open_model(entry)
        if self._loading is None:
            there = partial(connect, self._settings.ray_address)
            self._loading = ClusterModel(entry, there, cores=self._settings.ray_cores)
        try:
            self._loading.wait_until_ready()
        except Unreachable:
            raise
        except Exception:  # raised again; nothing else would free its resources
            self.cancel_loading()
            raise
        model, self._loading = self._loading, None
        return model

    def _with_library(self, entry: ModelEntry) -> ModelEntry:
        """The entry with the worker's own library, since all actors must use the same one."""
        if not traits_of(entry).has_fp32_library or entry.device.startswith("cuda"):
            return entry
        library = library_of(entry, self._settings)
        return replace(entry, options={**entry.options, "fp32": library})

    def cancel_loading(self) -> None:
        """Free the resources of a model that is loading and no longer waited for."""
        if self._loading:
            self._loading.close()
            self._loading = None


def model_opener(settings: Settings) -> Callable[[ModelEntry], Model]:
    """How the worker opens a model: in its own process, or on the cluster."""
    return open_model if settings.engine == "local" else ClusterOpener(settings)


def is_loading(error: Unreachable) -> bool:
    """Whether only the cluster takes its time to load the model."""
    return error.sentence.key == _LOADING_KEY


def actor_slots(
    machines: Sequence[Mapping[str, float]], *, cores: int, accelerators: int = 1
) -> tuple[int, dict[str, float]]:
    """How many actors fit on machines with these resources, and what each asks for.

    With accelerators anywhere, or for a model that needs several, an actor asks for
    `accelerators` of them, else for `cores` (0: accelerators only); never for a resource of its
    own name, which it would keep from all others for ever.
    """
    if not cores or accelerators > 1 or any(machine.get("GPU", 0) >= 1 for machine in machines):
        count = sum(int(machine.get("GPU", 0)) // accelerators for machine in machines)
        return count, {"num_gpus": accelerators, "num_cpus": 0}
    count = sum(int(machine.get("CPU", 0)) // cores for machine in machines)
    return count, {"num_cpus": cores}


def shards(count: int, actors: int) -> list[RequestIndices]:
    """The places 0..count-1 in runs of neighbours, which share most of their prompts."""
    size = max(_MIN_SHARD_SIZE, -(-count // (max(1, actors) * _SHARDS_PER_BATCH)))
    return [tuple(range(begin, min(begin + size, count))) for begin in range(0, count, size)]


def _raise_or_first_refusal(failures: Sequence[RemoteFailure]) -> EvaluiError | None:
    """A refusal, which is raised at the end; anything worse is raised at once."""
    refused: EvaluiError | None = None
    for failure in failures:
        error = failure.error()
        if not isinstance(error, RequestRejected):
            raise error
        refused = refused or error
    return refused


def _loss_reason(error: Exception) -> str:
    """Why an actor is lost, in one line. One that was never made ends with its error's own."""
    lines = str(error).strip().splitlines() or [""]
    return lines[-1 if getattr(error, "actor_init_failed", False) else 0].strip()
