"""Some trials on their way: which requests they wait for, and which are complete.

Requests that come out the same anyway are asked once, however many trials want them. The answers
to a trial's requests may call for more of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from evalui.modes import Conversing, Mode, Setting
from evalui.runs.database.codec import request_key
from evalui.runs.database.response_cache import deterministic
from evalui.types import Request, Response, Sample, Trial, Variant


@dataclass(slots=True)
class _Waiting:
    sample: Sample
    variant: Variant
    asks: list[int] = field(default_factory=list[int])  # places in Window.requests, as planned
    missing: set[int] = field(default_factory=set[int])


class Window:
    """The requests of a number of trials, and the trials as soon as they are answered.

    `keys` says where the response to each request is kept, None for those that are drawn anew.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[Sample, Variant]],
        mode: Mode,
        setting: Setting,
        fingerprint: str,
        *,
        lasting: Callable[[Request], bool] = deterministic,
    ) -> None:
        self.requests: list[Request] = []
        self.keys: list[bytes | None] = []
        self.responses: dict[int, Response] = {}
        self._mode = mode
        self._conversing = mode if isinstance(mode, Conversing) else None
        self._setting = setting
        self._places: dict[object, int] = {}
        self._wanted_by: dict[int, list[_Waiting]] = {}
        self._fingerprint = fingerprint
        self._lasting = lasting
        self._fresh = count()
        for sample, variant in pairs:
            self._want(_Waiting(sample, variant), mode.plan(sample, variant, setting))

    def accept(self, ask: int, response: Response) -> list[Trial]:
        """Take the response to request number `ask`; the trials that it completes, graded."""
        self.responses[ask] = response
        return self._completed(ask)

    def unanswered(self) -> list[int]:
        """The numbers of the requests that have no response yet."""
        return sorted(self._wanted_by)

    def _want(self, waiting: _Waiting, requests: Sequence[Request]) -> None:
        """Note what a trial waits for; what another trial has been told already it knows too."""
        asks = [self._place(request) for request in requests]
        waiting.asks += asks
        waiting.missing = {ask for ask in asks if ask not in self.responses}
        for ask in waiting.missing:
            self._wanted_by.setdefault(ask, []).append(waiting)

    def _completed(self, ask: int) -> list[Trial]:
        completed: list[Trial] = []
        for waiting in self._wanted_by.pop(ask, ()):
            waiting.missing.discard(ask)
            while not waiting.missing:
                responses = [self.responses[known] for known in waiting.asks]
                further = self._further(waiting, responses)
                if not further:
                    completed.append(self._grade(waiting, responses))
                    break
                self._want(waiting, further)
        return completed

    def _place(self, request: Request) -> int:
        fixed = self._lasting(request)
        key = request_key(self._fingerprint, request) if fixed else None
        place = self._places.setdefault(key or next(self._fresh), len(self.requests))
        if place == len(self.requests):
            self.requests.append(request)
            self.keys.append(key)
        return place

    def _further(self, waiting: _Waiting, responses: Sequence[Response]) -> tuple[Request, ...]:
        if self._conversing is None:
            return ()
        return self._conversing.follow_up(waiting.sample, waiting.variant, responses, self._setting)

    def _grade(self, waiting: _Waiting, responses: Sequence[Response]) -> Trial:
        return self._mode.grade(waiting.sample, waiting.variant, responses, self._setting)
