"""Whether a server still serves the model that it served when it was probed.

Two things tell: what `/models` lists of it, which is read again after each outage and once a
minute, and the `system_fingerprint` of its answers. Nothing is sent here.
"""

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.endpoint.failures import (
    MAX_MESSAGE_LENGTH,
    TOO_MANY_REQUESTS,
    RejectedError,
    RetryableError,
)
from evalui.models.endpoint.json_values import (
    Json,
    as_list,
    as_object,
    replace_surrogates,
    token_count,
)

_LOOK_AGAIN_S = 60.0
_OUTAGE = 5  # failures in a row of a server that was connected to; of another one is enough


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What `/models` lists of a model: `root` is where its weights are, `max_length` is in tokens;
    "" and 0 if it says nothing.
    """

    root: str = ""
    max_length: int = 0

    def __str__(self) -> str:
        """The two as a server lists them."""
        return f"root {self.root or '-'}, max_model_len {self.max_length or '-'}"


def served_model(listing: Json, model: str) -> ServedModel | None:
    """What the answer of `/models` says of one of them; None if it does not list it."""
    listed = (as_object(each) for each in as_list(listing.get("data")))
    own = next((each for each in listed if each.get("id") == model), None)
    if own is None:
        return None
    root = replace_surrogates(str(own.get("root") or ""))[:MAX_MESSAGE_LENGTH]
    return ServedModel(root, token_count(own.get("max_model_len")))


class ServerIdentity:
    """The model `path` of one server, called `name` here; `known` is what was served when it was
    probed.

    Everything is done on the event loop.
    """

    def __init__(self, name: str, path: str, known: Iterable[ServedModel]) -> None:
        self._name, self._path = name, path
        self._known = tuple(known)
        self._fingerprints: list[str] = []  # of its answers, each once
        self._failures = 0  # in a row
        self._outages = 0
        self._checked_outages = 0  # after which `/models` was read
        self._is_back = False  # no answer since the last outage had a fingerprint
        self._checked_at = time.monotonic()
        self._other: ModelError | None = None

    @property
    def changes(self) -> tuple[Sentence, ...]:
        """That its answers have named several fingerprints."""
        if len(self._fingerprints) < 2:
            return ()
        n, first, last = len(self._fingerprints), self._fingerprints[0], self._fingerprints[-1]
        return (sentence("error.endpoint-drift", model=self._name, n=n, first=first, last=last),)

    async def watch(
        self, request: Callable[[], Awaitable[Json]], listing: Callable[[], Awaitable[Json]]
    ) -> Json:
        """The answer to a request, if it is of the model that was probed; raises as `request`, and
        `ModelError` if another model has come.
        """
        await self._check_listing(listing)
        try:
            answer = await request()
        except RetryableError as error:
            self._record_failure(error)
            raise
        self._failures = 0
        if self._checked_outages < self._outages:  # of others, while this one was on its way
            await self._check_listing(listing)
        self._check_fingerprint(answer)
        return answer

    def _record_failure(self, error: RetryableError) -> None:
        if error.blame == "answer" or error.status == TOO_MANY_REQUESTS:
            return
        self._failures += 1
        if (error.blame == "server" and not error.status) or self._failures >= _OUTAGE:
            self._outages += 1

    async def _check_listing(self, listing: Callable[[], Awaitable[Json]]) -> None:
        if self._other:
            raise self._other
        outages, now = self._outages, time.monotonic()
        is_after_outage = self._checked_outages < outages
        if not is_after_outage and now - self._checked_at < _LOOK_AGAIN_S:
            return
        self._checked_at = now
        # A server that listed nothing of its model when it was probed need not be asked for it.
        if any(known != ServedModel() for known in self._known):
            found = await self._listed(listing, must_answer=is_after_outage)
            if found and not any(_is_same(known, found) for known in self._known):
                before = ", ".join(str(known) for known in self._known)
                self._raise_other(before, str(found))
        if is_after_outage:
            self._checked_outages, self._is_back = max(self._checked_outages, outages), True

    async def _listed(
        self, listing: Callable[[], Awaitable[Json]], *, must_answer: bool
    ) -> ServedModel | None:
        """What is listed of the model now; None if nothing is, or that is not to be known."""
        try:
            return served_model(await listing(), self._path)
        except (RejectedError, ModelError):  # a key may be good for replies alone
            return None
        except RetryableError:
            if must_answer:
                raise
            return None  # whether it is away shows with the request

    def _check_fingerprint(self, answer: Json) -> None:
        name = answer.get("system_fingerprint")
        if not isinstance(name, str) or not name:
            return
        name = replace_surrogates(name)[:MAX_MESSAGE_LENGTH]
        known = self._fingerprints
        # One that has named several before is of a provider that changes it.
        if self._is_back and len(known) == 1 and name not in known:
            self._raise_other(f"system_fingerprint {known[0]}", f"system_fingerprint {name}")
        self._is_back = False
        if name not in known:
            known.append(name)

    def _raise_other(self, before: str, now: str) -> None:
        self._other = ModelError("endpoint-swapped", model=self._name, before=before, now=now)
        raise self._other


def _is_same(known: ServedModel, found: ServedModel) -> bool:
    """What was not known is no difference."""
    return known.root in ("", found.root) and known.max_length in (0, found.max_length)
