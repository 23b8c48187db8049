"""The model role, what a catalog knows of a model, and the registry of backends."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from evalui.access import Owned
from evalui.errors import ModelError
from evalui.registry import Registry
from evalui.types import Ability, Generate, Request, Response, Sample, Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model as models.toml describes it, before anything is loaded.

    `path` is a folder or a hub id, `adapter` the folder of a LoRA adapter on top of it. `chat`:
    whether prompts go through the chat template unless a run states otherwise, `max_length` is in
    tokens, `baseline` marks scripted models, `options` are settings of the backend alone.
    `input_price` and `output_price` are US dollars for a million tokens read and written.
    `owner` is who added it, "" for the administrator; beside the owner only `people` see and use
    it, unless `everyone` may. `teams` are of an earlier version, and nobody any more.
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
    baseline: bool = False
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    input_price: float = 0.0
    output_price: float = 0.0
    adapter: str = ""
    owner: str = ""
    everyone: bool = True
    people: list[str] = field(default_factory=list[str])
    teams: list[str] = field(default_factory=list[str])

    @property
    def owned(self) -> Owned:
        """The model, with its key, as `access.may` knows it."""
        return Owned(self.owner, users=frozenset(self.people), everyone=self.everyone)

    @property
    def names_teams(self) -> bool:
        """Whether it names teams and no people: until it does, its owner alone sees it."""
        return bool(self.teams) and not self.people

    @property
    def judges_only(self) -> bool:
        """Whether the model compares answers and gives none: `options.role` is "judge"."""
        return self.options.get("role") == "judge"


class Model(Protocol):
    """Answers requests, in whichever order is fastest.

    It may also have `notes`, see `load_notes`, and be `is_nondeterministic` or `is_instant`.
    """

    name: str
    fingerprint: str
    abilities: frozenset[Ability]

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield each request's index and response, as soon as it is known.

        Raises:
            MissingAbility: a request is of a kind the model cannot answer.
            Unreachable: no server answers now; what was not yielded may be requested again.
            RequestRejected: after everything else was yielded, some requests were rejected
                permanently.
            ModelError: the model failed; no response is ever made up.
        """
        ...

    def close(self) -> None:
        """Free the device."""
        ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The response to the request with this key."""

    key: int
    response: T


@dataclass(frozen=True, slots=True)
class Rejection:
    """The request with this key was rejected permanently, and why."""

    key: int
    reason: str


class RequestStream(Protocol):
    """Requests on their way to a model that takes further ones while it answers, from one thread.

    Once `receive` has raised, what was not received has to be sent again, by another stream.
    """

    @property
    def width(self) -> int:
        """How many requests the model works on at a time."""
        ...

    @property
    def max_width(self) -> int:
        """How many it may be sent at a time, at most."""
        ...

    @property
    def waiting(self) -> int:
        """How many requests, refused by a busy model or failed, wait to be sent once more."""
        ...

    def send(self, requests: Sequence[tuple[int, Request]], *, first: bool = False) -> None:
        """Have requests answered, each with its key; `first`: before those that wait."""
        ...

    def receive(self, timeout_s: float) -> Sequence[Answer[Response] | Rejection]:
        """What has come of requests; waits for something until the time is over.

        Raises as `Model.answer`, but for `RequestRejected`.
        """
        ...

    def usage(self) -> Usage:
        """Tokens read and written for these requests so far, failed attempts included."""
        ...

    def close(self) -> None:
        """End what is under way."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A model that takes further requests while it answers: no answer is waited for."""

    def stream(self) -> RequestStream:
        """Begin to send requests; to be closed."""
        ...


@dataclass(frozen=True, slots=True)
class BackendTraits:
    """What the rest of the program must know of a kind of model, whatever it is called.

    `remote`: it computes at the servers of others, and `path` is its name there. `rule_based`: it
    follows a rule and understands nothing. `needs_question`: it cannot answer a prompt that leaves
    the question out. `opens_folders`: it opens a folder or a hub id, so the page offers it for one.
    `needs_full_length_cache`: it starts only with memory for one input of the longest length.
    `has_fp32_library`: options.fp32 chooses the library that computes in float32 on a CPU.
    `only_decides`: it asks servers for decisions, whatever else they can do.
    """

    remote: bool = False
    rule_based: bool = False
    needs_question: bool = False
    opens_folders: bool = False
    needs_full_length_cache: bool = False
    has_fp32_library: bool = False
    only_decides: bool = False

    @property
    def loads_weights(self) -> bool:
        """Whether opening a model loads weights on this machine, or on the cluster."""
        return not (self.remote or self.rule_based)


@dataclass(frozen=True, slots=True)
class ProbeStatus:
    """How far a backend is with finding out what a model can do.

    `is_known` is false before the first answer, `pending` true while the model is probed, for the
    first time or again. `checked_at` is when it was last probed, in Unix time, None before that.
    """

    is_known: bool = True
    pending: bool = False
    checked_at: float | None = None


class Backend(ABC):
    """How one kind of model is described and opened.

    A backend that probes servers overrides `probe_status` and `probe_again`, so that
    a page need not wait for them.
    """

    traits: BackendTraits = BackendTraits()

    @abstractmethod
    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """What the model can answer; a scripted one depends on its rule."""

    @abstractmethod
    def problem(self, entry: ModelEntry) -> str:
        """Why the model cannot be loaded here, in one sentence; "" if nothing is known against it.

        Looks at files and settings only: nothing is loaded.
        """

    @abstractmethod
    def open(self, entry: ModelEntry) -> Model:
        """Load the model; raises `ModelError` with the reason if it cannot be."""

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """Which settings of `Generate.settings`, and whether "temperature", change its replies.

        A run that asks for another is refused before it starts.
        """
        del entry
        return frozenset()

    def missing_reasons(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """For each ability the model lacks, the reason as "it ...", without a full stop.

        Empty where the backend knows no better reason than evalui.
        """
        del entry
        return {}

    def plain_only(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """Why abilities hold for plain prompts alone and for no conversation, by ability; the
        reason as in `missing_reasons`.
        """
        del entry
        return {}

    def unavailable_addresses(self, entry: ModelEntry) -> Mapping[str, str]:
        """Those of the model's addresses that cannot be used now, and why, in one sentence each."""
        del entry
        return {}

    def addresses(self, entry: ModelEntry) -> str:
        """A digest of where the model's servers are, which stands in its fingerprint; "" if it has
        none.
        """
        del entry
        return ""

    def sees_pictures(self, entry: ModelEntry) -> bool:
        """Whether the model is shown the pictures of a question, see `Request.pictures`."""
        del entry
        return False

    def text_only(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """Why abilities hold for texts alone and for no pictures, by ability; the reason as in
        `missing_reasons`. Empty where the backend knows none.
        """
        del entry
        return {}

    def accelerators(self, entry: ModelEntry) -> int:
        """How many accelerators the model needs where there are any."""
        del entry
        return 1

    def swapping_addresses(self, entries: Sequence[ModelEntry]) -> Mapping[str, frozenset[str]]:
        """By the name of an entry, those of its addresses at which a server would load the model
        of one of these entries in place of another's. Nothing is loaded by asking.
        """
        del entries
        return {}

    def probe_status(self, entry: ModelEntry, *, wait_s: float) -> ProbeStatus:
        """What is known of the model, probing it in the background if that is old.

        Waits for what was never probed, up to `wait_s` seconds after that began.
        """
        del entry, wait_s
        return ProbeStatus()

    def probe_again(self, entry: ModelEntry) -> None:
        """Probe the model now, in the background; what is known stays until there is more."""
        del entry


@runtime_checkable
class UsageTracking(Protocol):
    """A model whose every token is counted, since tokens may cost money."""

    def usage(self) -> Usage:
        """Tokens read and written since the model was opened, failed attempts included."""
        ...


@runtime_checkable
class Watched(Protocol):
    """A model of which servers of others tell what it is."""

    def changes(self) -> Sequence[str]:
        """What they have said of it that was not so all the time, one sentence each."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A model whose `answer` can be ended while it waits."""

    def stop(self) -> None:
        """End the `answer` under way with `Unreachable`; from any thread."""
        ...


@runtime_checkable
class NeedsAnswerKey(Protocol):
    """A model that may be shown the answers before it is prompted."""

    def set_answer_key(self, samples: Sequence[Sample]) -> None:
        """Know the answers to these, and no others, from now on; changes the fingerprint."""
        ...


# What the allocators of a CPU and of vLLM report.
_NO_MEMORY = ("can't allocate memory", "out of memory", "No available memory for the cache blocks")

BACKENDS: Registry[Backend] = Registry("model backend")


def load_notes(model: Model) -> tuple[str, ...]:
    """What is to be known of a model once it is loaded, one sentence each."""
    return getattr(model, "notes", ())


def sampling_seed(seed: int, request: Generate, *, bits: int = 63) -> int:
    """The seed by which the tokens of a reply are drawn, of so many bits.

    It depends on the `seed` of the model's entry, the seed of the run, the prompt and the repeat:
    each repeat is a draw of its own, the first one that of a run without repeats.
    """
    repeat = f"|{request.repeat}" if request.repeat else ""
    of_run = f"|seed {request.seed}" if request.seed else ""
    digest = hashlib.sha256(f"{seed}|{request.prompt!r}{repeat}{of_run}".encode()).digest()
    n_bytes = (bits + 1) // 8
    return int.from_bytes(digest[:n_bytes], "big") >> (8 * n_bytes - bits)


def addresses_of(fingerprint: str) -> str:
    """The digest of a model's addresses in its fingerprint; "" of one that has none."""
    parts = fingerprint.split(":")
    return parts[1] if len(parts) == 3 and parts[0] == "openai" else ""


def is_nondeterministic(model: Model) -> bool:
    """Whether replies of the model may differ at any temperature."""
    return getattr(model, "is_nondeterministic", False)


def is_instant(model: Model) -> bool:
    """Whether the model answers a request sooner than a kept response is read."""
    return getattr(model, "is_instant", False)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of a model's library, or of Python, is that memory is exhausted."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's
        return True
    return isinstance(error, RuntimeError) and any(part in str(error) for part in _NO_MEMORY)


def traits_of(entry: ModelEntry) -> BackendTraits:
    """The traits of the entry's backend; those of an ordinary one where it is unknown."""
    return BACKENDS[entry.backend].traits if entry.backend in BACKENDS else BackendTraits()


def is_remote(backend: str) -> bool:
    """Whether a backend asks the servers of others; false for one that does not exist."""
    return backend in BACKENDS and BACKENDS[backend].traits.remote


def loads_weights(entry: ModelEntry) -> bool:
    """Whether opening the model loads weights; false for a backend that does not exist."""
    return entry.backend in BACKENDS and BACKENDS[entry.backend].traits.loads_weights


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


@dataclass(frozen=True, slots=True)
class ReplyCount:
    """How many replies of a model a run rests on that one run requested, from `made` on (seconds
    since 1970).

    `run` is "" for the run itself, None where an earlier version kept the replies.
    """

    model: str
    replies: int
    run: str | None = ""
    made: float = 0.0


class KeptReplies:
    """Stands for `model` where only replies that are kept may be used."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint  # by which its replies are found
        self.abilities = model.abilities
        self.is_nondeterministic = is_nondeterministic(model)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Nothing: raises `ModelError`, for these requests have no reply that is kept."""
        raise ModelError("only-kept-replies", model=self.name, n=len(requests))

    def close(self) -> None:
        """Nothing is held; whoever opened the model closes it."""
