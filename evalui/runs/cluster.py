"""One model on a Ray cluster: an actor per accelerator, or per few cores, each holding the model.

To a run this is a model as any other. Requests travel in portions; the portion of an actor that
is lost goes to another one. What travels is the entry of the catalog, requests and responses:
evalui and the model's files must lie on every machine, at the same path.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

from evalui.errors import EvaluiError, ModelError, Refused, Sentence, Unreachable, Value
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import Noted
from evalui.settings import Settings
from evalui.types import Ability, Request, Response

PER_ACTOR = 2  # portions given to an actor at a time: one in hand, one that waits
_SHARES = 4  # portions that each actor gets of a window, so that the slowest is not waited for long
_FEWEST = 8  # requests of a portion; fewer share too little
_ALONE_S = 60.0  # without any actor for so long, the cluster counts as unreachable
_LOADING_S = 1800.0  # a large model may take its time
_LOOK_S = 1.0  # how often the cluster is looked at for machines that came or went
_TAUGHT = ("scripted", "openai")  # learn from the run, or have machines of their own

_log = logging.getLogger(__name__)

# What is raised at the other end, by name: an exception with its sentence does not travel.
_KINDS: Mapping[str, type[EvaluiError]] = {
    kind.__name__: kind for kind in (ModelError, Refused, Unreachable)
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, told at the other end: its kind by name, its sentence, and when to ask again."""

    kind: str
    text: str
    rule: str
    values: Mapping[str, Value]
    retry_after_s: float = 0.0

    def error(self) -> EvaluiError:
        """The error as it was raised over there."""
        error = _KINDS.get(self.kind, ModelError)(self.text)
        error.sentence = Sentence(self.text, self.rule, self.values)
        if isinstance(error, Unreachable):
            error.retry_after_s = self.retry_after_s
        return error


@dataclass(frozen=True, slots=True)
class About:
    """What an actor says of the model it holds."""

    fingerprint: str
    abilities: frozenset[Ability]
    notes: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a portion: (place in the portion, response), and why it broke off."""

    responses: tuple[tuple[int, Response], ...]
    failure: Failure | None = None


class Holder:
    """What runs inside an actor: it holds the model."""

    def __init__(self, entry: ModelEntry) -> None:
        self._model: Model | None = None
        self._failure: Failure | None = None
        try:
            self._model = open_model(entry)
        except EvaluiError as error:
            self._failure = _told(error)

    def about(self) -> About:
        """Which model it holds, or why it holds none."""
        if self._model is None:
            return About("", frozenset(), failure=self._failure)
        notes = self._model.notes if isinstance(self._model, Noted) else ()
        return About(
            self._model.fingerprint, self._model.abilities, tuple(str(each) for each in notes)
        )

    def answer(self, requests: Sequence[Request]) -> Answered:
        """The responses to a portion of requests."""
        assert self._model is not None, "only an actor that holds a model is given work"
        responses: list[tuple[int, Response]] = []
        try:
            responses.extend(self._model.answer(requests))
        except EvaluiError as error:
            return Answered(tuple(responses), _told(error))
        return Answered(tuple(responses))


@dataclass(slots=True)
class _Actor:
    handle: Any
    about: Any  # the reference to what it says of itself, until that is known
    ready: bool = False
    portions: dict[Any, tuple[int, ...]] = field(default_factory=dict[Any, tuple[int, ...]])


class ClusterModel:
    """A model held by the actors of a cluster; see `models.base.Model`.

    `cores` are those of an actor where no machine has an accelerator. Actors are started on
    machines that join later, too.

    Raises:
        ModelError: the model cannot be loaded on the cluster.
        Unreachable: no machine of the cluster could take it.
    """

    def __init__(self, entry: ModelEntry, ray: Any, *, cores: int = 2) -> None:
        self.name = entry.name
        self.fingerprint = ""
        self.abilities: frozenset[Ability] = frozenset()
        self.notes: tuple[str, ...] = ()
        self._entry = entry
        self._ray = ray
        self._cores = cores
        self._accelerators = int(entry.options.get("tensor_parallel", 1))
        self._actors: list[_Actor] = []
        self._looked = -_LOOK_S
        self._lost = ""
        self._wait_for_one(_LOADING_S)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield responses portion by portion, whichever actor is first."""
        todo = deque(portions(len(requests), len(self._actors)))
        refused: EvaluiError | None = None
        try:
            while todo or any(actor.portions for actor in self._actors):
                if not any(actor.ready for actor in self._actors):
                    todo.extend(self._taken_back())
                    self._wait_for_one(_ALONE_S)
                self._give(todo, requests)
                for places, answered in self._wait(todo):
                    for place, response in answered.responses:
                        yield places[place], response
                    refused = self._checked(answered.failure) or refused
        finally:
            for actor in self._actors:
                for reference in actor.portions:
                    self._ray.cancel(reference)
                actor.portions.clear()
        if refused:
            raise refused

    def close(self) -> None:
        """End the actors, which frees their devices."""
        for actor in self._actors:
            self._ray.kill(actor.handle)
        self._actors.clear()

    def _give(self, todo: deque[tuple[int, ...]], requests: Sequence[Request]) -> None:
        """Hand out portions, one to everybody before anybody gets a second."""
        for load in range(PER_ACTOR):
            for actor in self._actors:
                if todo and actor.ready and len(actor.portions) == load:
                    places = todo.popleft()
                    asked = [requests[place] for place in places]
                    actor.portions[actor.handle.answer.remote(asked)] = places

    def _wait(self, todo: deque[tuple[int, ...]]) -> list[tuple[tuple[int, ...], Answered]]:
        """What has been answered within a second; lost portions go back to the front of `todo`."""
        self._look()
        references = [actor.about for actor in self._actors if not actor.ready]
        references += [each for actor in self._actors for each in actor.portions]
        if not references:
            return []
        done, _ = self._ray.wait(references, num_returns=1, timeout=_LOOK_S)
        found: list[tuple[tuple[int, ...], Answered]] = []
        for actor in list(self._actors):
            try:
                if not actor.ready and actor.about in done:
                    self._welcome(actor)
                for reference in [each for each in actor.portions if each in done]:
                    answered = cast(Answered, self._ray.get(reference))
                    found.append((actor.portions.pop(reference), answered))
            except self._ray.exceptions.RayActorError as error:
                todo.extendleft(reversed(self._drop(actor, error)))
        return found

    def _wait_for_one(self, patience_s: float) -> None:
        """Return as soon as an actor holds the model."""
        began = monotonic()
        while not any(actor.ready for actor in self._actors):
            self._wait(deque())
            if monotonic() - began > patience_s:
                raise Unreachable(
                    "No machine of the cluster has room for {model}. {reason}",
                    "cluster-full",
                    model=self.name,
                    reason=self._lost,
                )

    def _look(self) -> None:
        """Start an actor for every seat that has none."""
        if monotonic() - self._looked < _LOOK_S:
            return
        self._looked = monotonic()
        resources = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        count, options = seats(resources, cores=self._cores, accelerators=self._accelerators)
        while len(self._actors) < count:
            make = self._ray.remote(**options, max_restarts=0, max_task_retries=0)(Holder)
            handle = make.remote(self._entry)
            self._actors.append(_Actor(handle, handle.about.remote()))

    def _welcome(self, actor: _Actor) -> None:
        """Take an actor in, if it holds the very model that the others hold."""
        about = cast(About, self._ray.get(actor.about))
        if about.failure:
            raise about.failure.error()
        if self.fingerprint and about.fingerprint != self.fingerprint:
            raise ModelError(
                "The machines of the cluster hold different models under {path}: the same files, "
                "the same kind of device and the same version of evalui are needed on each.",
                "cluster-differs",
                path=self._entry.path,
            )
        self.fingerprint, self.abilities = about.fingerprint, about.abilities
        self.notes = about.notes
        actor.ready = True

    def _drop(self, actor: _Actor, error: Exception) -> list[tuple[int, ...]]:
        """Forget a lost actor; the portions that it had."""
        self._actors.remove(actor)
        self._lost = str(error).partition("\n")[0]
        _log.warning("An actor of %s is lost: %s", self.name, self._lost)
        # It may only be out of reach. It must not come back beside the one that replaces it.
        self._ray.kill(actor.handle)
        return list(actor.portions.values())

    def _taken_back(self) -> list[tuple[int, ...]]:
        taken = [places for actor in self._actors for places in actor.portions.values()]
        for actor in self._actors:
            actor.portions.clear()
        return taken

    def _checked(self, failure: Failure | None) -> EvaluiError | None:
        """A refusal is told at the end, anything else at once."""
        if failure is None:
            return None
        error = failure.error()
        if isinstance(error, Refused):
            return error
        raise error


def opener(settings: Settings) -> Callable[[ModelEntry], Model]:
    """How the worker opens a model: in its own process, or on the cluster.

    Models that are taught by the run or live behind an endpoint stay in the worker's process.
    """
    if settings.engine == "local":
        return open_model

    def open_there(entry: ModelEntry) -> Model:
        if entry.backend in _TAUGHT:
            return open_model(entry)
        return ClusterModel(entry, connect(settings.ray_address), cores=settings.ray_cores)

    return open_there


def connect(address: str) -> Any:
    """The ray module, connected to the cluster at `address`; "" starts one on this machine.

    Raises:
        ModelError: ray is not installed.
        Unreachable: nobody answers at the address.
    """
    try:
        import ray as package
    except ImportError as error:
        raise ModelError(
            "The engine is ray, which is not installed. Install evalui with the extra [ray].",
            "no-ray",
        ) from error
    ray = cast(Any, package)  # typed only in part
    if ray.is_initialized():
        return ray
    try:
        ray.init(
            address=address or None,
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
        raise Unreachable(
            "The cluster at {address} cannot be reached: {reason}",
            "no-cluster",
            address=address or "127.0.0.1",
            reason=str(error).partition("\n")[0],
        ) from error
    return ray


def seats(
    machines: Sequence[Mapping[str, float]], *, cores: int, accelerators: int = 1
) -> tuple[int, dict[str, float]]:
    """How many actors fit on machines with these resources, and what each asks for.

    With accelerators anywhere an actor asks for `accelerators` of them, else for `cores`; never
    for a resource of its own name, which it would keep from everybody else for ever.
    """
    if any(machine.get("GPU", 0) >= accelerators for machine in machines):
        count = sum(int(machine.get("GPU", 0)) // accelerators for machine in machines)
        return count, {"num_gpus": accelerators, "num_cpus": 0}
    count = sum(int(machine.get("CPU", 0)) // cores for machine in machines)
    return count, {"num_cpus": cores}


def portions(count: int, actors: int) -> list[tuple[int, ...]]:
    """The places 0..count-1 in runs of neighbours, which share most of their prompts."""
    size = max(_FEWEST, -(-count // (max(1, actors) * _SHARES)))
    return [tuple(range(begin, min(begin + size, count))) for begin in range(0, count, size)]


def _told(error: EvaluiError) -> Failure:
    return Failure(
        type(error).__name__,
        str(error.sentence),
        getattr(error.sentence, "key", ""),
        {name: str(value) for name, value in getattr(error.sentence, "values", {}).items()},
        getattr(error, "retry_after_s", 0.0),
    )
