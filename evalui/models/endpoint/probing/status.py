"""What is known of servers in this process, asked in the background and remembered for a while."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from evalui.errors import ModelError, Unreachable
from evalui.messages import sentence
from evalui.models.endpoint.config import Endpoint
from evalui.models.endpoint.http.client import HttpServer, RetryableError
from evalui.models.endpoint.probing.capabilities import (
    Capabilities,
    common_capabilities,
    restrict_to_api,
)
from evalui.models.endpoint.probing.probe import probe
from evalui.types import Usage

SUCCESS_TTL_S, FAILURE_TTL_S = (
    600.0,
    30.0,
)  # how long a success and a failure are taken for the present state
FIRST_PROBE_WAIT_S = 12.0  # a page waits no longer for a server that was never seen
_TIMEOUT_S = 10.0
_TOTAL_S = 20.0  # for each question, the answers to which are short
_REFRESH_WINDOW_S = 120.0  # whoever opens a model asks again within this time

_NO_USAGE = Usage(0, 0)

Prober = Callable[[HttpServer, str], Capabilities]


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """The state of each URL: `available` ones answer, `unavailable` ones do not now, and
    `misconfigured` ones never will as they are. What is not known yet is in none of them.

    `retry_after_s` is for how long all that are down requested no requests. `probe_usage` is what
    the probes cost, reported once: to the next caller of `refresh`. `is_known`: nothing more is
    waited for; `is_pending`: a server is being probed, for the first time or again. `checked_at` is
    when the last probe ended, in Unix time, None before that.
    """

    available: Mapping[str, Capabilities]
    unavailable: Mapping[str, str]
    misconfigured: Mapping[str, str]
    retry_after_s: float = 0.0
    probe_usage: Usage = _NO_USAGE
    is_known: bool = True
    is_pending: bool = False
    checked_at: float | None = None


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
    retry_at: float = 0.0  # when the server wants to be asked again
    refresh_pending: bool = (
        False  # somebody who wants new findings did not wait for the end of these
    )


class EndpointStatus:
    """Probes each server once in a while, all of an endpoint's at the same time."""

    def __init__(self, prober: Prober = probe, clock: Callable[[], float] = time.monotonic) -> None:
        self._prober = prober
        self._clock = clock
        self._records: dict[tuple[str, str, str], _ServerRecord] = {}
        self._lock = threading.Lock()  # protects the notes: pages and workers' threads share them

    def get(self, endpoint: Endpoint, *, wait_s: float = FIRST_PROBE_WAIT_S) -> StatusSnapshot:
        """What is known of the endpoint's servers.

        Waits for those that were never asked before, up to `wait_s` after that began. Of the
        others the last state is told, and asked anew in the background when it is old.
        """
        notes = {url: self._record(endpoint, url) for url in endpoint.urls}
        for note in notes.values():
            note.done.wait(max(0.0, note.first_probe_at + wait_s - self._clock()))
        self._raise_unforeseen(endpoint, notes)
        # First: a probe that ends between the next lines is shown by the next call.
        is_pending = any(note.is_probing for note in notes.values())
        known = {url: note for url, note in notes.items() if note.done.is_set()}
        return StatusSnapshot(
            {url: note.capabilities for url, note in known.items() if note.capabilities},
            {
                url: n.reason
                for url, n in known.items()
                if not n.capabilities and not n.is_misconfigured
            },
            {
                url: n.reason
                for url, n in known.items()
                if not n.capabilities and n.is_misconfigured
            },
            max(0.0, min((note.retry_at for note in notes.values()), default=0.0) - self._clock()),
            is_known=all(self._is_known(note) for note in notes.values()),
            is_pending=is_pending,
            checked_at=max(
                (note.checked_at for note in known.values() if note.checked_at), default=None
            ),
        )

    def probe_again(self, endpoint: Endpoint) -> None:
        """Probe all servers now, in the background; what is known stays until there is more."""
        with self._lock:
            for url in endpoint.urls:
                self._start_probe(self._find_or_add(endpoint, url), endpoint, url)

    def refresh(self, endpoint: Endpoint, *, wait_s: float) -> StatusSnapshot:
        """As `get`, but nothing is told that was found before: a server may have got other
        weights under the same name.

        A probe that lasts longer than the patience is not begun again by the next call, which
        is told its result, once.
        """
        with self._lock:
            for url in endpoint.urls:
                note = self._records.get(_key(endpoint, url))
                if note is not None and note.done.is_set() and not self._is_refresh_pending(note):
                    del self._records[_key(endpoint, url)]
        seen = self.get(endpoint, wait_s=wait_s)
        known = {*seen.available, *seen.unavailable, *seen.misconfigured}
        spent: list[Usage] = []
        with self._lock:
            for url in endpoint.urls:
                if note := self._records.get(_key(endpoint, url)):
                    note.refresh_pending = url not in known
                    # Two who look at the same time share the questions: one of them pays.
                    spent.append(note.probe_usage)
                    note.probe_usage = _NO_USAGE
        read = sum(each.prompt_tokens for each in spent)
        return replace(seen, probe_usage=Usage(read, sum(each.completion_tokens for each in spent)))

    def _is_refresh_pending(self, note: _ServerRecord) -> bool:
        return note.refresh_pending and self._clock() - note.probed_at < _REFRESH_WINDOW_S

    def _record(self, endpoint: Endpoint, url: str) -> _ServerRecord:
        with self._lock:
            note = self._find_or_add(endpoint, url)
            lasts = SUCCESS_TTL_S if note.capabilities else FAILURE_TTL_S
            old = not note.done.is_set() or self._clock() - note.probed_at > lasts
            if old:
                self._start_probe(note, endpoint, url)
            return note

    def _find_or_add(self, endpoint: Endpoint, url: str) -> _ServerRecord:
        added = _ServerRecord(first_probe_at=self._clock())
        return self._records.setdefault(_key(endpoint, url), added)

    def _start_probe(self, note: _ServerRecord, endpoint: Endpoint, url: str) -> None:
        if note.is_probing:
            return
        note.is_probing = True
        threading.Thread(
            target=self._probe,
            args=(note, endpoint, url),
            name="endpoint-probe",
            daemon=True,
        ).start()

    def _raise_unforeseen(self, endpoint: Endpoint, notes: Mapping[str, _ServerRecord]) -> None:
        """Raise what no probe should end with, and forget it, so that the next call probes anew."""
        for url, note in notes.items():
            if note.unforeseen:
                with self._lock:
                    self._records.pop(_key(endpoint, url), None)
                raise note.unforeseen

    def _is_known(self, note: _ServerRecord) -> bool:
        """Whether it was probed, or has been waited for long enough."""
        return note.done.is_set() or self._clock() - note.first_probe_at >= FIRST_PROBE_WAIT_S

    def _probe(self, note: _ServerRecord, endpoint: Endpoint, url: str) -> None:
        server = HttpServer(
            url,
            key=endpoint.key,
            timeout_s=min(_TIMEOUT_S, endpoint.timeout_s),
            total_s=min(_TOTAL_S, endpoint.total_timeout_s),
        )
        findings, reason, wrong, busy_s = None, "", False, 0.0
        try:
            findings = self._prober(server, endpoint.model)
        except RetryableError as error:
            reason, busy_s = error.reason, error.retry_after_s
        except ModelError as error:
            reason, wrong = error.sentence, True
        except Exception as error:  # noqa: BLE001 (raised again by `get`)
            note.unforeseen = error
        finally:
            server.close()
            with self._lock:
                note.capabilities, note.reason, note.is_misconfigured = findings, reason, wrong
                note.probe_usage = server.usage
                note.probed_at, note.checked_at = self._clock(), time.time()
                note.retry_at = note.probed_at + busy_s
                note.is_probing = False
                note.done.set()


def usable_capabilities(endpoint: Endpoint, seen: StatusSnapshot) -> Capabilities:
    """What all servers that answer can do, by the interface that the catalog allows.

    Raises:
        ModelError: none of them will ever serve the model.
        Unreachable: none of them answers now.
    """
    if not seen.available:
        raise unavailable_error(seen)
    found = common_capabilities(list(seen.available.values()))
    return restrict_to_api(found, endpoint.api, tokenizer=endpoint.tokenizer is not None)


def unavailable_error(seen: StatusSnapshot) -> ModelError:
    """Why no server can be used."""
    if seen.misconfigured and not seen.unavailable:
        return ModelError(_first_reason(seen.misconfigured))
    reason = _first_reason(seen.unavailable) or sentence("error.endpoint-not-yet")
    error = Unreachable("endpoint-down", reason=reason)
    error.retry_after_s = seen.retry_after_s
    return error


def _key(endpoint: Endpoint, url: str) -> tuple[str, str, str]:
    return url, endpoint.model, endpoint.key_env


def _first_reason(reasons: Mapping[str, str]) -> str:
    return next(iter(reasons.values()), "")
