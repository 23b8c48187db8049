"""What is known of servers in this process: probed in the background, remembered for a while.

It serves the workers that open a model and the pages that show one.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalui.errors import ModelError, Unreachable
from evalui.messages import sentence
from evalui.models.endpoint.failures import RetryableError
from evalui.models.endpoint.http.client import HttpServer
from evalui.models.endpoint.probing.capabilities import (
    Capabilities,
    common_capabilities,
    restrict_to_api,
)
from evalui.models.endpoint.probing.probe import probe
from evalui.types import Usage

if TYPE_CHECKING:
    from evalui.models.endpoint.config import Endpoint

# How long a success and a failure are taken for the present state. A probe costs some requests, so
# a server that works is left alone for longer than one that may come back.
SUCCESS_TTL_S, FAILURE_TTL_S = 600.0, 30.0
FIRST_PROBE_WAIT_S = 12.0  # a page waits no longer for a server that was never probed
_REFRESH_WINDOW_S = 120.0  # a model that is opened again within this time uses the same probe

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
            is_known=all(self._is_known(record) for record in records.values()),
            is_pending=is_pending,
            checked_at=max(checked, default=None),
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
            target=self._probe,
            args=(record, endpoint, url),
            name="endpoint-probe",
            daemon=True,
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
        server = HttpServer(
            url,
            key=endpoint.key,
            # As long as a run waits: the first request may load the model.
            timeout_s=endpoint.timeout_s,
            total_s=endpoint.total_timeout_s,
            allowed_hosts=endpoint.allowed_hosts,
            extras=endpoint.extras,
        )
        capabilities, reason, wrong, busy_s = None, "", False, 0.0
        try:
            capabilities = self._prober(server, endpoint.model)
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


def unavailable_error(snapshot: StatusSnapshot) -> ModelError:
    """Why no server can be used."""
    if snapshot.misconfigured and not snapshot.unavailable:
        return ModelError(_first_reason(snapshot.misconfigured))
    reason = _first_reason(snapshot.unavailable) or sentence("error.endpoint-not-yet")
    error = Unreachable("endpoint-down", reason=reason)
    error.retry_after_s = snapshot.retry_after_s
    return error


def _key(endpoint: "Endpoint", url: str) -> tuple[str, str, int]:
    """Names a probe; another key may be accepted where this one is not."""
    return url, endpoint.model, hash((endpoint.key, repr(endpoint.extras), endpoint.extras.secrets))


def _first_reason(reasons: Mapping[str, str]) -> str:
    return next(iter(reasons.values()), "")
