"""The model role, what a catalog knows of a model, and the registry of backends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from evalui.registry import Registry
from evalui.types import Ability, Request, Response, Usage


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model as models.toml describes it, before anything is loaded.

    `path` is a folder or a hub id, `adapter` the folder of a LoRA adapter on top of it. `chat` says
    whether prompts go through the chat template unless a run says otherwise, `max_length` is in
    tokens, `baseline` marks scripted models, `options` are settings of the backend alone. `speed`,
    in prompt tokens per second, serves the estimate until this server has timed the model itself;
    0 leaves the time unknown.
    `input_price` and `output_price` are US dollars for a million tokens read and written.
    """

    name: str
    backend: str
    path: str = ""
    revision: str = ""
    dtype: str = "auto"
    device: str = "auto"
    chat: bool = False
    max_length: int = 0
    notes: str = ""
    parameters: int = 0
    speed: int = 0
    baseline: bool = False
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    input_price: float = 0.0
    output_price: float = 0.0
    adapter: str = ""

    @property
    def judges_only(self) -> bool:
        """Whether the model compares answers and gives none: `options.role` is "judge"."""
        return self.options.get("role") == "judge"


class Model(Protocol):
    """Answers requests, in whichever order is fastest."""

    name: str
    fingerprint: str
    abilities: frozenset[Ability]

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield each request's index and response, as soon as it is known.

        Raises:
            MissingAbility: a request is of a kind the model cannot answer.
            Unreachable: nobody answers now; what was not yielded may be asked again.
            Refused: after everything else was yielded, some requests were turned down for good.
            ModelError: the model failed; no response is ever made up.
        """
        ...

    def close(self) -> None:
        """Free the device."""
        ...


class Backend(Protocol):
    """How one kind of model is described and opened."""

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """What the model can answer; a scripted one depends on its rule."""
        ...

    def problem(self, entry: ModelEntry) -> str:
        """Why the model cannot be loaded here, in one sentence; "" if nothing is known against it.

        Looks at files and settings only: nothing is loaded.
        """
        ...

    def open(self, entry: ModelEntry) -> Model:
        """Load the model; raises `ModelError` with the reason if it cannot be."""
        ...


@runtime_checkable
class UsageTracking(Protocol):
    """A model whose every token is counted, since somebody may pay for it."""

    def usage(self) -> Usage:
        """Tokens read and written since the model was opened, failed attempts included."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A model whose answers may be given up while they are waited for."""

    def stop(self) -> None:
        """End the `answer` under way with `Unreachable`; from any thread."""
        ...


@runtime_checkable
class HasLoadNotes(Protocol):
    """A model of which something is to be known once it is loaded, one sentence each."""

    notes: tuple[str, ...]


@runtime_checkable
class NondeterministicModel(Protocol):
    """A model whose replies may come out otherwise at any temperature, if `is_nondeterministic`."""

    is_nondeterministic: bool


@runtime_checkable
class ExplainsMissingAbilities(Protocol):
    """A backend that knows why its model lacks an ability."""

    def missing_reasons(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """For each ability the model lacks, the reason as "it ...", without a full stop."""
        ...


BACKENDS: Registry[Backend] = Registry("model backend")


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one model of a run was requested, and what it took.

    `requests` are those behind its answers. `read` and `written` are tokens, 0 if they are not
    counted. `prices` are the US dollars for a million tokens read and written, `dollars` what all
    cost at them; None where no price is given. `why` is the reason why the model does not answer
    now, `since` the time of that (seconds since 1970); "" if it answers.
    """

    model: str
    requests: int
    read: int
    written: int
    prices: tuple[float, float] | None = None
    dollars: float | None = None
    why: str = ""
    since: float = 0.0
