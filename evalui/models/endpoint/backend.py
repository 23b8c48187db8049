"""The `openai` backend: any model behind an OpenAI-compatible HTTP interface; and `decision`.

Servers are probed in the background and remembered for a while, for workers that open a model and
pages that show one. pydantic and aiohttp are imported when an entry is read and a request is sent.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.errors import MissingAbility, ModelError, Unreachable
from evalui.messages import Sentence, sentence
from evalui.models.base import (
    BACKENDS,
    Answer,
    Backend,
    BackendTraits,
    Model,
    ModelEntry,
    ProbeStatus,
    Rejection,
)
from evalui.models.endpoint.probe import (
    Capabilities,
    common_capabilities,
    loads_on_demand,
    probe,
    probe_decisions,
)
from evalui.models.endpoint.protocol import Api, RetryableError, ServedModel
from evalui.models.endpoint.requests import Job, RequestBuilder
from evalui.models.tokenization import Tokenizer
from evalui.types import (
    ABILITY_OF,
    Ability,
    Request,
    Response,
    Usage,
    prompt_of,
)

if TYPE_CHECKING:
    from evalui.models.endpoint.config import Endpoint
    from evalui.models.endpoint.driver import JobStream, RetryPolicy
    from evalui.models.endpoint.server import HttpServer, ServerIdentity

# How long a success and a failure are taken for the present state. A probe costs some requests, so
# a server that works is left alone for longer than one that may come back.
SUCCESS_TTL_S, FAILURE_TTL_S = 600.0, 30.0
FIRST_PROBE_WAIT_S = 12.0  # a page waits no longer for a server that was never probed
_REFRESH_WINDOW_S = 120.0  # a model that is opened again within this time uses the same probe
_NO_USAGE = Usage(0, 0)
Prober = Callable[["HttpServer", str], Capabilities]
VERSION = "openai.4"  # part of every fingerprint: raise it when an answer may change
_ALL: frozenset[Ability] = frozenset({"next_token", "loglik", "generate", "decide"})
_TOKENIZER_FILES = ("*token*", "vocab.*", "merges.txt", "*.jinja", "*.model")
_LISTING_TIMEOUT_S = 5.0  # lists of models come at once
_OPEN_TIMEOUT_S = 45.0  # a worker waits longer for a first answer than a page does


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """The state of each URL: `available` ones answer, `unavailable` ones do not now, and
    `misconfigured` ones never will as they are. What is not known yet is in none of them.

    `retry_after_s` is for how long all that are down requested no requests. `probe_usage` is what
    the probes cost, reported once: to the next caller of `refresh`. `status`: whether anything more
    is waited for, whether one of them is being probed, and when the last probe ended.
    """

    available: Mapping[str, Capabilities]
    unavailable: Mapping[str, str]
    misconfigured: Mapping[str, str]
    retry_after_s: float = 0.0
    probe_usage: Usage = _NO_USAGE
    status: ProbeStatus = field(default_factory=ProbeStatus)


@dataclass(slots=True)
class _ServerRecord:
    capabilities: Capabilities | None = None
    probe_usage: Usage = _NO_USAGE
    reason: str = ""
    is_misconfigured: bool = False
    unforeseen: Exception | None = None  # raised by the next `get`, then forgotten
    first_probe_at: float = 0.0  # the first time; who looks again and again waits only once
    probed_at: float = 0.0  # by the clock of `EndpointStatus`
    checked_at: float | None = None  # the same moment in Unix time, as pages show it
    done: threading.Event = field(default_factory=threading.Event)
    is_probing: bool = False
    retry_at: float = 0.0  # when the server accepts requests again, as it stated
    refresh_pending: bool = False  # `refresh` did not wait for the end of this probe


class EndpointStatus:
    """Probes each server once in a while, all of an endpoint's at the same time."""

    def __init__(self, prober: Prober = probe, clock: Callable[[], float] = time.monotonic) -> None:
        self._prober = prober
        self._clock = clock
        self._records: dict[tuple[str, str, int], _ServerRecord] = {}
        # Protects the records: threads of pages and workers share them.
        self._lock = threading.Lock()
        # Held while a server is probed, by its URL: two probes would make one that loads models on
        # demand load one in place of the other for each request.
        self._turns: dict[str, threading.Lock] = {}

    def get(self, endpoint: "Endpoint", *, wait_s: float = FIRST_PROBE_WAIT_S) -> StatusSnapshot:
        """What is known of the endpoint's servers.

        Waits for those that were never probed before, up to `wait_s` after that began. Of the
        others the last state is returned, and they are probed again in the background when it
        is old.
        """
        records = {url: self._record(endpoint, url) for url in endpoint.urls}
        for record in records.values():
            record.done.wait(max(0.0, record.first_probe_at + wait_s - self._clock()))
        self._raise_unforeseen(endpoint, records)
        # First: a probe that ends between the next lines is shown by the next call.
        is_pending = any(record.is_probing for record in records.values())
        known = {url: record for url, record in records.items() if record.done.is_set()}
        failed = {url: record for url, record in known.items() if not record.capabilities}
        retry_at = min((record.retry_at for record in records.values()), default=0.0)
        checked = [record.checked_at for record in known.values() if record.checked_at]
        return StatusSnapshot(
            {url: record.capabilities for url, record in known.items() if record.capabilities},
            {url: each.reason for url, each in failed.items() if not each.is_misconfigured},
            {url: each.reason for url, each in failed.items() if each.is_misconfigured},
            max(0.0, retry_at - self._clock()),
            status=ProbeStatus(
                all(self._is_known(record) for record in records.values()),
                is_pending,
                max(checked, default=None),
            ),
        )

    def probe_again(self, endpoint: "Endpoint") -> None:
        """Probe all servers now, in the background; what is known stays until there is more."""
        with self._lock:
            for url in endpoint.urls:
                self._start_probe(self._find_or_add(endpoint, url), endpoint, url)

    def refresh(self, endpoint: "Endpoint", *, wait_s: float) -> StatusSnapshot:
        """As `get`, but without what was known before: a server may have got other weights under
        the same name.

        A probe that lasts longer than `wait_s` is not begun again by the next call, which
        returns its result, once.
        """
        with self._lock:
            for url in endpoint.urls:
                record = self._records.get(_key(endpoint, url))
                if record and record.done.is_set() and not self._is_refresh_pending(record):
                    del self._records[_key(endpoint, url)]
        snapshot = self.get(endpoint, wait_s=wait_s)
        known = {*snapshot.available, *snapshot.unavailable, *snapshot.misconfigured}
        spent: list[Usage] = []
        with self._lock:
            for url in endpoint.urls:
                if record := self._records.get(_key(endpoint, url)):
                    record.refresh_pending = url not in known
                    # Two calls at the same time share the probe: one of them pays for it.
                    spent.append(record.probe_usage)
                    record.probe_usage = _NO_USAGE
        read = sum(each.prompt_tokens for each in spent)
        written = sum(each.completion_tokens for each in spent)
        return replace(snapshot, probe_usage=Usage(read, written))

    def _is_refresh_pending(self, record: _ServerRecord) -> bool:
        return record.refresh_pending and self._clock() - record.probed_at < _REFRESH_WINDOW_S

    def _record(self, endpoint: "Endpoint", url: str) -> _ServerRecord:
        with self._lock:
            record = self._find_or_add(endpoint, url)
            lasts = SUCCESS_TTL_S if record.capabilities else FAILURE_TTL_S
            old = not record.done.is_set() or self._clock() - record.probed_at > lasts
            if old:
                self._start_probe(record, endpoint, url)
            return record

    def _find_or_add(self, endpoint: "Endpoint", url: str) -> _ServerRecord:
        added = _ServerRecord(first_probe_at=self._clock())
        return self._records.setdefault(_key(endpoint, url), added)

    def _start_probe(self, record: _ServerRecord, endpoint: "Endpoint", url: str) -> None:
        if record.is_probing:
            return
        record.is_probing = True
        threading.Thread(
            target=self._probe, args=(record, endpoint, url), name="endpoint-probe", daemon=True
        ).start()

    def _raise_unforeseen(self, endpoint: "Endpoint", records: Mapping[str, _ServerRecord]) -> None:
        """Raise what no probe should end with, and forget it, so that the next call probes anew."""
        for url, record in records.items():
            if record.unforeseen:
                with self._lock:
                    self._records.pop(_key(endpoint, url), None)
                raise record.unforeseen

    def _is_known(self, record: _ServerRecord) -> bool:
        """Whether it was probed, or has been waited for long enough."""
        return record.done.is_set() or self._clock() - record.first_probe_at >= FIRST_PROBE_WAIT_S

    def _probe(self, record: _ServerRecord, endpoint: "Endpoint", url: str) -> None:
        # It waits as long as a run does: the first request may load the model.
        server = _server(endpoint, url)
        capabilities, reason, wrong, busy_s = None, "", False, 0.0
        try:
            with self._turn(endpoint, url):
                ask = probe_decisions if endpoint.api == "decision" else self._prober
                capabilities = ask(server, endpoint.model)
        except RetryableError as error:
            reason, busy_s = error.reason, error.retry_after_s
        except ModelError as error:
            reason, wrong = error.sentence, True
        except Exception as error:  # noqa: BLE001 (raised again by `get`)
            record.unforeseen = error
        finally:
            server.close()
            with self._lock:
                record.capabilities, record.reason = capabilities, reason
                record.is_misconfigured = wrong
                record.probe_usage = server.usage
                record.probed_at, record.checked_at = self._clock(), time.time()
                record.retry_at = record.probed_at + busy_s
                record.is_probing = False
                record.done.set()

    @contextmanager
    def _turn(self, endpoint: "Endpoint", url: str) -> Generator[None]:
        """One of several probes of a server; after the others if it loads models on demand."""
        with self._lock:
            turn = self._turns.setdefault(url, threading.Lock())
        is_held = turn.acquire(blocking=False) or (_is_on_demand(endpoint, url) and turn.acquire())
        try:
            yield
        finally:
            if is_held:
                turn.release()


def usable_capabilities(endpoint: "Endpoint", snapshot: StatusSnapshot) -> Capabilities:
    """What all servers that answer can do, by the interface that the catalog allows.

    Raises:
        ModelError: none of them will ever serve the model.
        Unreachable: none of them answers now.
    """
    if not snapshot.available:
        raise unavailable_error(snapshot)
    common = common_capabilities(list(snapshot.available.values()))
    return restrict_to_api(common, endpoint.api, tokenizer=endpoint.tokenizer is not None)


def restrict_to_api(capabilities: Capabilities, api: Api, *, tokenizer: bool) -> Capabilities:
    """What is left when only one of the interfaces may be used.

    `tokenizer`: the model's tokenizer lies here, so the server need not have one.
    """
    left = replace(
        capabilities,
        decisions=capabilities.decisions if api in ("auto", "decision") else "",
        has_tokenizer_routes=(capabilities.has_tokenizer_routes or tokenizer) and api != "chat",
    )
    if api == "chat":
        # Completions may have had the letters, so that nothing was missing.
        thinks = {"next_token": sentence("error.endpoint-thinks")} if left.thinks else {}
        return replace(
            left,
            completions=False,
            completion_top=0,
            echo=False,
            accepts_token_ids=False,
            missing_reasons={**left.missing_reasons, **thinks},
        )
    if api == "completions":
        return replace(
            left,
            chat=False,
            chat_top=0,
            chat_prompt_logprobs=False,
            json_schema=False,
            sees_pictures=False,
            blind_reason=sentence("error.endpoint-pictures-by-chat"),
        )
    return left


def missing_ability_reason(ability: Ability, capabilities: Capabilities) -> str:
    """The reason for a missing ability, the probe's or a general one, and what to do instead."""
    if ability == "decide" and capabilities.abilities:  # not tried beside the others
        return sentence("error.endpoint-decisions-untried")
    why = (
        capabilities.missing_reasons.get(ability, "")
        or {
            "next_token": sentence("error.endpoint-no-top"),
            "loglik": sentence("error.endpoint-no-echo"),
            "generate": sentence("error.endpoint-no-reply"),
            "schema": sentence("error.endpoint-no-schema"),
            "decide": sentence("error.lacks-decide"),
        }[ability]
    )
    if "generate" not in capabilities.abilities:
        return why
    return sentence("error.endpoint-rather-replies", reason=why)


def unavailable_error(snapshot: StatusSnapshot) -> ModelError:
    """Why no server can be used."""
    if snapshot.misconfigured and not snapshot.unavailable:
        return ModelError(_first_reason(snapshot.misconfigured))
    reason = _first_reason(snapshot.unavailable) or sentence("error.endpoint-not-yet")
    error = Unreachable("endpoint-down", reason=reason)
    error.retry_after_s = snapshot.retry_after_s
    return error


def _key(endpoint: "Endpoint", url: str) -> tuple[str, str, int]:
    """Names a probe; another key may be accepted where this one is not, and one for decisions
    tries nothing else.
    """
    extras, decides = endpoint.extras, endpoint.api == "decision"
    return url, endpoint.model, hash((endpoint.key, repr(extras), extras.secrets, decides))


def _first_reason(reasons: Mapping[str, str]) -> str:
    return next(iter(reasons.values()), "")


class OpenAIBackend(Backend):
    """Sends requests to servers; `options` are those of `Endpoint`. Probes what servers can do."""

    traits = BackendTraits(remote=True)

    def __init__(
        self, status: EndpointStatus | None = None, retry_policy: "RetryPolicy | None" = None
    ) -> None:
        self._status = status or EndpointStatus()
        self._retry_policy = retry_policy
        self._options_checked: dict[str, float] = {}  # by model with wrong options, in Unix time

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """What the probes showed that the servers can do; nothing while none answers."""
        capabilities = self._capabilities(entry)
        return capabilities.abilities if capabilities else frozenset()

    def missing_reasons(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """For each missing ability what the servers did instead."""
        capabilities = self._capabilities(entry)
        if capabilities is None:
            return {}
        missing = _ALL - capabilities.abilities
        return {ability: missing_ability_reason(ability, capabilities) for ability in missing}

    def plain_only(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """Why the servers give plain prompts what they do not give conversations."""
        capabilities = self._capabilities(entry)
        return capabilities.plain_only if capabilities else {}

    def sees_pictures(self, entry: ModelEntry) -> bool:
        """Whether the servers named the colours of the pictures that the probes showed them."""
        capabilities = self._capabilities(entry)
        return capabilities is not None and capabilities.sees_pictures

    def text_only(self, entry: ModelEntry) -> Mapping[Ability, str]:
        """Why the servers give texts what they do not give pictures."""
        capabilities = self._capabilities(entry)
        return capabilities.text_only if capabilities else {}

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """The settings of writing that the servers have; all while none answers."""
        from evalui.generation import SETTINGS

        capabilities = self._capabilities(entry)
        return capabilities.honours if capabilities else frozenset(SETTINGS)

    def problem(self, entry: ModelEntry) -> str:
        """What is wrong with the options, or with all of the servers."""
        try:
            endpoint = _endpoint_of(entry)
            usable_capabilities(endpoint, self._status.get(endpoint))
        except ModelError as error:
            return error.sentence
        return _tokenizer_problem(endpoint)

    def unavailable_addresses(self, entry: ModelEntry) -> Mapping[str, str]:
        """The URLs that cannot be used now, and why; the model is available while one can."""
        try:
            snapshot = self._status.get(_endpoint_of(entry))
        except ModelError:
            return {}
        return {**snapshot.unavailable, **snapshot.misconfigured}

    def addresses(self, entry: ModelEntry) -> str:
        """The digest of the entry's own addresses."""
        from evalui.models.endpoint.config import own_addresses  # loads pydantic

        try:
            return own_addresses(entry)
        except ModelError:
            return ""

    def swapping_addresses(self, entries: Sequence[ModelEntry]) -> Mapping[str, frozenset[str]]:
        """Those at which entries want several models and the server loads models on demand."""
        by_url: dict[str, list[Endpoint]] = {}
        urls: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            with suppress(ModelError):  # wrong options, which opening the model reports
                endpoint = _endpoint_of(entry)
                urls[entry.name] = endpoint.urls
                for url in endpoint.urls:
                    by_url.setdefault(url, []).append(endpoint)
        swapping = {
            url
            for url, wanted in by_url.items()
            if len({each.model for each in wanted}) > 1 and _is_on_demand(wanted[0], url)
        }
        return {name: frozenset(swapping.intersection(own)) for name, own in urls.items()}

    def probe_status(self, entry: ModelEntry, *, wait_s: float) -> ProbeStatus:
        """What is known of the model's servers; wrong options are known at once."""
        try:
            endpoint = _endpoint_of(entry)
        except ModelError:
            return ProbeStatus(checked_at=self._options_checked_at(entry))
        return self._status.get(endpoint, wait_s=wait_s).status

    def probe_again(self, entry: ModelEntry) -> None:
        """Probe the model's servers now; one that is being probed is not probed twice."""
        try:
            self._status.probe_again(_endpoint_of(entry))
        except ModelError:  # wrong options, which `problem` reports
            self._options_checked[entry.name] = time.time()

    def open(self, entry: ModelEntry) -> Model:
        """A model behind the entry's servers.

        Raises:
            ModelError: the options are wrong, or the servers do not serve the model.
            Unreachable: none of the servers answers now.
        """
        endpoint = _endpoint_of(entry)
        # The fingerprint must name what the servers have now.
        snapshot = self._status.refresh(endpoint, wait_s=_OPEN_TIMEOUT_S)
        capabilities = usable_capabilities(endpoint, snapshot)
        if problem := _tokenizer_problem(endpoint):
            raise ModelError(problem)
        # Servers that are down may come back; misconfigured ones would only fail requests.
        urls = tuple(url for url in endpoint.urls if url not in snapshot.misconfigured)
        rest = replace(endpoint, urls=urls)
        return EndpointModel(
            entry.name,
            rest,
            capabilities,
            self._retry_policy,
            probe_usage=snapshot.probe_usage,
            served=[
                ServedModel(each.root, each.max_length) for each in snapshot.available.values()
            ],
        )

    def _options_checked_at(self, entry: ModelEntry) -> float:
        """When wrong options were last checked; the same for a while, so that a page rests."""
        now = time.time()
        if now - self._options_checked.get(entry.name, 0.0) > FAILURE_TTL_S:
            self._options_checked[entry.name] = now
        return self._options_checked[entry.name]

    def _capabilities(self, entry: ModelEntry) -> Capabilities | None:
        try:
            endpoint = _endpoint_of(entry)
            return usable_capabilities(endpoint, self._status.get(endpoint))
        except ModelError:
            return None


class EndpointModel:
    """A model behind one or several servers; see `base.Model` and `base.UsageTracking`.

    `probe_usage` are the tokens that probing it has cost, `served` is what its servers said then of
    the model.
    """

    def __init__(
        self,
        name: str,
        endpoint: "Endpoint",
        capabilities: Capabilities,
        retry_policy: "RetryPolicy | None" = None,
        *,
        probe_usage: Usage = _NO_USAGE,
        served: Sequence[ServedModel] = (),
    ) -> None:
        self.name = name
        self.abilities = capabilities.abilities
        self.is_nondeterministic = capabilities.is_nondeterministic
        drawn = capabilities.is_nondeterministic
        self.notes = (sentence("error.endpoint-draws"),) if drawn else ()
        self._capabilities = capabilities
        self._probe_usage = self._unclaimed_usage = probe_usage
        self._has_started = False
        from evalui.models.endpoint.driver import SERVER_LIMITS, ServerPool
        from evalui.models.endpoint.server import ServerIdentity

        known = served or [ServedModel(capabilities.root, capabilities.max_length)]
        self._servers = [
            _server(endpoint, url, ServerIdentity(name, endpoint.model, known))
            for url in endpoint.urls
        ]
        self._pool = ServerPool(
            self._servers,
            concurrency=endpoint.concurrency,
            requests_per_minute=endpoint.requests_per_minute,
            retries=endpoint.retries,
            retry_policy=retry_policy,
            limits=SERVER_LIMITS,
        )
        self._request_builder = RequestBuilder(
            name, endpoint, capabilities, _tokenizer(name, endpoint)
        )
        self.fingerprint = _fingerprint(name, endpoint, capabilities)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield each response as a server gives it; see `ServerPool.run` for what is raised."""
        jobs = self.jobs(requests)
        yield from self._pool.run(self.name, jobs, check=self._request_builder.small_request)

    def stream(self) -> "EndpointStream":
        """Begin to send requests; see `base.Streaming`."""
        check = self._request_builder.small_request
        return EndpointStream(self, self._pool.stream(self.name, check=check))

    def jobs(self, requests: Sequence[Request]) -> Mapping[int, Job]:
        """What is to be done for each request, by its place; raises `MissingAbility`."""
        plain_only, text_only = self._capabilities.plain_only, self._capabilities.text_only
        for request in requests:
            ability = ABILITY_OF[type(request)]
            if ability not in self.abilities:
                raise MissingAbility(
                    "cannot-do",
                    model=self.name,
                    why=missing_ability_reason(ability, self._capabilities),
                )
            if ability in plain_only and not isinstance(prompt_of(request), str):
                raise MissingAbility("cannot-do", model=self.name, why=plain_only[ability])
            if ability in text_only and request.pictures:
                raise MissingAbility("cannot-do", model=self.name, why=text_only[ability])
        self._has_started = True
        return self._request_builder.jobs(requests)

    def usage(self) -> Usage:
        """The tokens that the servers reported, those of unused answers too.

        What probing has cost is added with the first requests: a run that sends some pays for it,
        and not, unseen, one that only opens the model.
        """
        return self._pool.usage + (self._probe_usage if self._has_started else _NO_USAGE)

    def changes(self) -> tuple[Sentence, ...]:
        """What the servers have said of the model that was not so all the time."""
        told = (server.identity.changes for server in self._servers if server.identity)
        return tuple(dict.fromkeys(each for own in told for each in own))

    def claim_probe_usage(self) -> Usage:
        """The tokens that probing has cost, for the first stream that sends something."""
        unclaimed, self._unclaimed_usage = self._unclaimed_usage, _NO_USAGE
        return unclaimed

    def stop(self) -> None:
        """End what `answer` waits for, which raises `Unreachable`; see `ServerPool.stop`."""
        self._pool.stop()

    def close(self) -> None:
        """Let the connections go."""
        self._pool.close()


class EndpointStream:
    """Requests on their way to the servers of a model; see `base.RequestStream`."""

    def __init__(self, model: EndpointModel, jobs: "JobStream[Response]") -> None:
        self._model = model
        self._jobs = jobs
        self._probe_usage = _NO_USAGE

    @property
    def width(self) -> int:
        """How many requests the servers are sent at a time, as they take them now."""
        return self._jobs.width

    @property
    def max_width(self) -> int:
        """How many they may be sent at a time, at most."""
        return self._jobs.max_width

    @property
    def waiting(self) -> int:
        """How many requests wait to be sent once more."""
        return self._jobs.waiting

    def send(self, requests: Sequence[tuple[int, Request]], *, first: bool = False) -> None:
        """Have requests answered by whichever server is free; raises as `EndpointModel.jobs`."""
        jobs = self._model.jobs([request for _, request in requests])
        self._probe_usage += self._model.claim_probe_usage()
        self._jobs.send([(key, jobs[at]) for at, (key, _) in enumerate(requests)], first=first)

    def receive(self, timeout_s: float) -> Sequence[Answer[Response] | Rejection]:
        """What has come of requests; see `JobStream.receive`."""
        return self._jobs.receive(timeout_s)

    def usage(self) -> Usage:
        """The tokens of all answers to this stream, and of probing for the first one."""
        return self._probe_usage + self._jobs.usage

    def close(self) -> None:
        """End what is under way."""
        self._jobs.close()


def _endpoint_of(entry: ModelEntry) -> "Endpoint":
    from evalui.models.endpoint.config import read_endpoint  # loads pydantic

    return read_endpoint(entry)


def _server(
    endpoint: "Endpoint", url: str, identity: "ServerIdentity | None" = None
) -> "HttpServer":
    from evalui.models.endpoint.server import HttpServer  # loads aiohttp

    return HttpServer(
        url,
        key=endpoint.key,
        timeout_s=endpoint.timeout_s,
        total_s=endpoint.total_timeout_s,
        allowed_hosts=endpoint.allowed_hosts,
        extras=endpoint.extras,
        identity=identity,
    )


def _is_on_demand(endpoint: "Endpoint", url: str) -> bool:
    soon = min(endpoint.timeout_s, _LISTING_TIMEOUT_S)
    server = _server(replace(endpoint, timeout_s=soon, total_timeout_s=soon), url)
    try:
        return loads_on_demand(server)
    finally:
        server.close()


def _tokenizer_problem(endpoint: "Endpoint") -> str:
    if endpoint.tokenizer is None or endpoint.tokenizer.is_dir():
        return ""
    return sentence("error.endpoint-no-tokenizer", folder=str(endpoint.tokenizer))


def _tokenizer(name: str, endpoint: "Endpoint") -> Tokenizer | None:
    if endpoint.tokenizer is None:
        return None
    from evalui.models.tokenization import HFTokenizer

    return HFTokenizer(name, endpoint.tokenizer, endpoint.extras.template)


def _fingerprint(name: str, endpoint: "Endpoint", capabilities: Capabilities) -> str:
    """Names the entry, its addresses, the model and the way requests are sent. The digest of the
    addresses stands before that of the whole, so that it is seen where they have changed.
    """
    parts = (
        VERSION,
        name,
        endpoint.addresses,
        endpoint.model,
        endpoint.api,
        str(endpoint.seed),
        str(endpoint.max_length),
        capabilities.root,
        capabilities.reported_model,
        str(capabilities.max_length),
        capabilities.interface_key,
        *(_tokenizer_digests(endpoint.tokenizer) if endpoint.tokenizer else ("",)),
        *([endpoint.extras.key] if endpoint.extras.key else []),
    )
    return f"openai:{endpoint.addresses}:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def _tokenizer_digests(folder: Path) -> list[str]:
    """The contents of a tokenizer's files; weights that may lie beside them are the server's."""
    files = {path for pattern in _TOKENIZER_FILES for path in folder.glob(pattern)}
    return [
        f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(files)
        if path.is_file()
    ]


class DecisionBackend(OpenAIBackend):
    """The same, with `options.api` "decision"."""

    traits = BackendTraits(remote=True, only_decides=True)


BACKENDS.register("openai")(OpenAIBackend())
BACKENDS.register("decision")(DecisionBackend())
