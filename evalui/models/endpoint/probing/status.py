"""What is known of servers in this process, asked in the background and remembered for a while."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from evalui.errors import ModelError, Unreachable
from evalui.messages import sentence
from evalui.models.endpoint.config import Endpoint
from evalui.models.endpoint.http.client import Faltered, Server
from evalui.models.endpoint.probing.capabilities import Findings, common, restricted
from evalui.models.endpoint.probing.probe import probe
from evalui.types import Usage

WELL_S, ILL_S = 600.0, 30.0  # how long a success and a failure are taken for the present state
PATIENCE_S = 12.0  # a page waits no longer for a server that was never seen
_TIMEOUT_S = 10.0
_TOTAL_S = 20.0  # for each question, the answers to which are short
_OWED_S = 120.0  # whoever opens a model asks again within this time

_NOTHING = Usage(0, 0)

Prober = Callable[[Server, str], Findings]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found at each URL: `well` those that answer, `down` those that do not now, `wrong`
    those that never will as they are. What is not known yet is in none of them.

    `retry_after_s` is for how long all that are down asked to be left alone. `spent` is what it
    cost to find out, told once: to whoever looks anew.
    """

    well: Mapping[str, Findings]
    down: Mapping[str, str]
    wrong: Mapping[str, str]
    retry_after_s: float = 0.0
    spent: Usage = _NOTHING


@dataclass(slots=True)
class _Note:
    findings: Findings | None = None
    spent: Usage = _NOTHING
    reason: str = ""
    wrong: bool = False
    began: float = 0.0  # the first time; who looks again and again waits only once
    at: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)
    asking: bool = False
    free_at: float = 0.0  # when the server wants to be asked again
    owed: bool = False  # somebody who wants new findings did not wait for the end of these


class Survey:
    """Probes each server once in a while, all of an endpoint's at the same time."""

    def __init__(self, prober: Prober = probe, clock: Callable[[], float] = time.monotonic) -> None:
        self._prober = prober
        self._clock = clock
        self._notes: dict[tuple[str, str, str], _Note] = {}
        self._lock = threading.Lock()  # protects the notes: pages and workers' threads share them

    def look(self, endpoint: Endpoint, *, patience_s: float = PATIENCE_S) -> Seen:
        """What is known of the endpoint's servers.

        Waits for those that were never asked before, up to `patience_s` after that began. Of the
        others the last state is told, and asked anew in the background when it is old.
        """
        notes = {url: self._note(endpoint, url) for url in endpoint.urls}
        for note in notes.values():
            note.done.wait(max(0.0, note.began + patience_s - self._clock()))
        known = {url: note for url, note in notes.items() if note.done.is_set()}
        return Seen(
            {url: note.findings for url, note in known.items() if note.findings},
            {url: n.reason for url, n in known.items() if not n.findings and not n.wrong},
            {url: n.reason for url, n in known.items() if not n.findings and n.wrong},
            max(0.0, min((note.free_at for note in notes.values()), default=0.0) - self._clock()),
        )

    def look_anew(self, endpoint: Endpoint, *, patience_s: float) -> Seen:
        """As `look`, but nothing is told that was found before: a server may have got other
        weights under the same name.

        A probe that lasts longer than the patience is not begun again by the next call, which
        is told its result, once.
        """
        with self._lock:
            for url in endpoint.urls:
                note = self._notes.get(_key(endpoint, url))
                if note is not None and note.done.is_set() and not self._is_owed(note):
                    del self._notes[_key(endpoint, url)]
        seen = self.look(endpoint, patience_s=patience_s)
        known = {*seen.well, *seen.down, *seen.wrong}
        spent: list[Usage] = []
        with self._lock:
            for url in endpoint.urls:
                if note := self._notes.get(_key(endpoint, url)):
                    note.owed = url not in known
                    # Two who look at the same time share the questions: one of them pays.
                    spent.append(note.spent)
                    note.spent = _NOTHING
        read = sum(each.prompt_tokens for each in spent)
        return replace(seen, spent=Usage(read, sum(each.completion_tokens for each in spent)))

    def _is_owed(self, note: _Note) -> bool:
        return note.owed and self._clock() - note.at < _OWED_S

    def _note(self, endpoint: Endpoint, url: str) -> _Note:
        with self._lock:
            note = self._notes.setdefault(_key(endpoint, url), _Note(began=self._clock()))
            lasts = WELL_S if note.findings else ILL_S
            old = not note.done.is_set() or self._clock() - note.at > lasts
            if old and not note.asking:
                note.asking = True
                threading.Thread(
                    target=self._ask, args=(note, endpoint, url), name="endpoint-probe", daemon=True
                ).start()
            return note

    def _ask(self, note: _Note, endpoint: Endpoint, url: str) -> None:
        server = Server(
            url,
            key=endpoint.key,
            timeout_s=min(_TIMEOUT_S, endpoint.timeout_s),
            total_s=min(_TOTAL_S, endpoint.total_timeout_s),
        )
        findings, reason, wrong, busy_s = None, "", False, 0.0
        try:
            findings = self._prober(server, endpoint.model)
        except Faltered as error:
            reason, busy_s = error.reason, error.retry_after_s
        except ModelError as error:
            reason, wrong = error.sentence, True
        finally:
            server.close()
            with self._lock:
                note.findings, note.reason, note.wrong = findings, reason, wrong
                note.spent = server.spent
                note.at = self._clock()
                note.free_at = note.at + busy_s
                note.asking = False
                note.done.set()


def usable(endpoint: Endpoint, seen: Seen) -> Findings:
    """What all servers that answer can do, by the interface that the catalog allows.

    Raises:
        ModelError: none of them will ever serve the model.
        Unreachable: none of them answers now.
    """
    if not seen.well:
        raise nobody(seen)
    found = common(list(seen.well.values()))
    return restricted(found, endpoint.api, tokenizer=endpoint.tokenizer is not None)


def nobody(seen: Seen) -> ModelError:
    """Why no server can be used."""
    if seen.wrong and not seen.down:
        return ModelError(_first(seen.wrong))
    reason = _first(seen.down) or sentence("error.endpoint-not-yet")
    error = Unreachable("endpoint-down", reason=reason)
    error.retry_after_s = seen.retry_after_s
    return error


def _key(endpoint: Endpoint, url: str) -> tuple[str, str, str]:
    return url, endpoint.model, endpoint.key_env


def _first(reasons: Mapping[str, str]) -> str:
    return next(iter(reasons.values()), "")
