"""Some trials on their way: which requests they wait for, and which are complete.

Requests that come out the same anyway are asked once, however many trials want them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from evalui.modes import Mode, Setting
from evalui.runs.cache import deterministic
from evalui.runs.codec import request_key
from evalui.types import Request, Response, Sample, Trial, Variant


@dataclass(slots=True)
class _Waiting:
    sample: Sample
    variant: Variant
    asks: tuple[int, ...]  # places in Window.requests, in the order of the mode's plan
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
    ) -> None:
        self.requests: list[Request] = []
        self.keys: list[bytes | None] = []
        self.responses: dict[int, Response] = {}
        self._mode = mode
        self._setting = setting
        self._places: dict[object, int] = {}
        self._wanted_by: dict[int, list[_Waiting]] = {}
        fresh = count()
        for sample, variant in pairs:
            planned = mode.plan(sample, variant, setting)
            asks = tuple(self._place(request, fingerprint, fresh) for request in planned)
            waiting = _Waiting(sample, variant, asks, set(asks))
            for ask in waiting.missing:
                self._wanted_by[ask].append(waiting)

    def accept(self, ask: int, response: Response) -> list[Trial]:
        """Take the response to request number `ask`; the trials that it completes, graded."""
        self.responses[ask] = response
        completed: list[Trial] = []
        for waiting in self._wanted_by.pop(ask, ()):
            waiting.missing.discard(ask)
            if not waiting.missing:
                completed.append(self._grade(waiting))
        return completed

    def unanswered(self) -> list[int]:
        """The numbers of the requests that have no response yet."""
        return sorted(self._wanted_by)

    def _place(self, request: Request, fingerprint: str, fresh: Iterator[int]) -> int:
        key = request_key(fingerprint, request) if deterministic(request) else None
        place = self._places.setdefault(key or next(fresh), len(self.requests))
        if place == len(self.requests):
            self.requests.append(request)
            self.keys.append(key)
            self._wanted_by[place] = []
        return place

    def _grade(self, waiting: _Waiting) -> Trial:
        responses = [self.responses[ask] for ask in waiting.asks]
        return self._mode.grade(waiting.sample, waiting.variant, responses, self._setting)
