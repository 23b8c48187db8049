"""How many requests a server is sent at a time. Knows no clock and no server."""

from dataclasses import dataclass

_MIN_COHORT = 16  # requests
_STORM_SHARE = 4  # a storm: one in so many of a cohort was refused
_STORM_LEAST = 8  # refused requests; of fewer the share says little
_HOLD_S = 5.0  # after a storm; a server that takes so many and no more is tried rarely
_GROWTH = 4  # by one in so many at a time


@dataclass(slots=True)
class Width:
    """At most `ceiling` requests in flight, and fewer while the server refuses a large share.

    Requests that are sent one after another form a cohort. A server that limits itself by chance
    or by a rate refuses some of each: those wait alone, and the width stays. If a quarter of a
    cohort is refused, the server takes no more than what is in flight then; those of them that it
    refuses after all had no place either. So the width falls to what the server takes, at once,
    and grows again with each cohort that it takes.
    """

    ceiling: int
    now: int
    _sent: int = 0  # requests so far
    _begin: int = 0  # the number of the first request of the cohort
    _ended: int = 0  # requests of the cohort that were answered or refused
    _refused: int = 0
    _storm_before: int = 0  # requests with lower numbers were sent before the last storm
    _hold_until: float = 0.0

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow for more in flight; for as many at once if the server has refused none."""
        if ceiling > self.ceiling:
            self.now = ceiling if self.now == self.ceiling else self.now
            self.ceiling = ceiling

    def record_sent(self) -> int:
        """The number of a request that is sent now."""
        self._sent += 1
        return self._sent - 1

    def record_answered(self, number: int, now: float) -> None:
        """The server took a request, whatever came of it."""
        self._end(number, now)

    def record_refused(self, number: int, in_flight: int, now: float) -> None:
        """The server was too busy for a request; `in_flight` are the others."""
        if number < self._storm_before:
            self.now = max(1, min(self.now, in_flight))
            return
        self._refused += number >= self._begin
        # Refusals come sooner than answers: their share is one of all that were sent with them.
        share = max(self._cohort_size, self._sent - self._begin) / _STORM_SHARE
        if self._refused >= max(_STORM_LEAST, share):
            self.now = max(1, min(self.now, in_flight))
            self._storm_before, self._hold_until = self._sent, now + _HOLD_S
            self._begin_cohort()
        else:
            self._end(number, now)

    @property
    def _cohort_size(self) -> int:
        return max(_MIN_COHORT, self.now)

    def _end(self, number: int, now: float) -> None:
        self._ended += number >= self._begin
        if self._ended >= self._cohort_size:
            if now >= self._hold_until:
                self.now = min(self.ceiling, self.now + max(1, self.now // _GROWTH))
            self._begin_cohort()

    def _begin_cohort(self) -> None:
        self._begin, self._ended, self._refused = self._sent, 0, 0
