"""When a server that keeps failing may be asked again.

A circuit breaker: closed while all is well, open after several failures in a row, and half open
for one trial after a pause that grows with every trial that fails. Knows no clock and no server.
"""

from dataclasses import dataclass

_ENOUGH = 16  # doublings; any pause is at its longest by then


@dataclass(frozen=True, slots=True)
class Patience:
    """How failures are met. All times in seconds.

    A request waits between attempts: at random up to `first_pause`, doubled each time up to
    `longest_pause`. A server is put aside after `trip_after` failures in a row, for `first_rest`,
    doubled after every trial that fails up to `longest_rest`.
    """

    first_pause: float = 0.5
    longest_pause: float = 10.0
    trip_after: int = 5
    first_rest: float = 2.0
    longest_rest: float = 60.0


@dataclass(slots=True)
class Breaker:
    """The state of one server; `now` is any clock that never goes back."""

    patience: Patience
    failures: int = 0
    trials: int = 0  # that failed since it opened
    trying: bool = False
    opens_at: float = 0.0  # when a trial may be made, if `is_open`
    held_until: float = 0.0  # the server itself asked to be left alone
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the server is put aside."""
        return self.failures >= self.patience.trip_after

    def wait(self, now: float) -> float:
        """Seconds until a request may be sent, 0 for now; infinite while a trial is on its way."""
        if not self.is_open:
            return max(0.0, self.held_until - now)
        if self.trying:
            return float("inf")
        return max(0.0, max(self.opens_at, self.held_until) - now)

    def sent(self) -> bool:
        """A request is sent; whether it is the trial of a server that was put aside."""
        self.trying = self.is_open
        return self.trying

    def succeeded(self) -> None:
        """The server answered, be it to turn a request down."""
        self.failures = self.trials = 0
        self.trying = False

    def asked_to_wait(self, now: float, reason: str, *, seconds: float) -> None:
        """The server is well, and busy for so long."""
        self.reason = reason
        self.held_until = max(self.held_until, now + seconds)

    def failed(
        self, now: float, reason: str, *, trial: bool = False, retry_after_s: float = 0.0
    ) -> None:
        """The server gave no usable answer, and may have said for how long."""
        was_open = self.is_open
        self.reason = reason
        self.held_until = max(self.held_until, now + retry_after_s)
        self.failures += 1
        if was_open and not trial:
            return  # sent before it opened: one outage, not one more trial
        if trial:
            self.trying = False
            self.trials += 1
        if self.is_open:
            rest = self.patience.first_rest * 2.0 ** min(self.trials, _ENOUGH)
            self.opens_at = now + min(rest, self.patience.longest_rest)
