"""When a server that keeps failing may be sent a request again.

A circuit breaker: closed while all is well, open after several failures in a row, and half open
for one trial after a pause that grows with every trial that fails. Knows no clock and no server.
"""

from dataclasses import dataclass

_MAX_DOUBLINGS = 16  # doublings; any pause is at its longest by then


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failures are met. All times in seconds.

    A request waits between attempts: at random up to `initial_delay`, doubled each time up to
    `max_delay`. Its circuit opens after `failure_threshold` failures in a row, for
    `initial_open_time`, doubled after every trial that fails up to `max_open_time`.
    """

    initial_delay: float = 0.5
    max_delay: float = 10.0
    failure_threshold: int = 5
    initial_open_time: float = 2.0
    max_open_time: float = 60.0


@dataclass(slots=True)
class CircuitBreaker:
    """The state of one server; `now` is any clock that never goes back."""

    policy: RetryPolicy
    failures: int = 0
    failed_trials: int = 0  # that failed since it opened
    trial_in_flight: bool = False
    half_open_at: float = 0.0  # when a trial may be made, if `is_open`
    retry_after_until: float = 0.0  # the server itself requested a pause
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Whether requests to the server are suspended."""
        return self.failures >= self.policy.failure_threshold

    def wait_time(self, now: float) -> float:
        """Seconds until a request may be sent, 0 for now; infinite while a trial is on its way."""
        if not self.is_open:
            return max(0.0, self.retry_after_until - now)
        if self.trial_in_flight:
            return float("inf")
        return max(0.0, max(self.half_open_at, self.retry_after_until) - now)

    def record_sent(self) -> bool:
        """A request is sent; whether it is the trial of a server whose circuit was open."""
        self.trial_in_flight = self.is_open
        return self.trial_in_flight

    def record_success(self) -> None:
        """The server answered, be it to reject a request."""
        self.failures = self.failed_trials = 0
        self.trial_in_flight = False

    def record_retry_after(self, now: float, reason: str, *, seconds: float) -> None:
        """The server is well, and busy for so long."""
        self.reason = reason
        self.retry_after_until = max(self.retry_after_until, now + seconds)

    def record_failure(
        self, now: float, reason: str, *, trial: bool = False, retry_after_s: float = 0.0
    ) -> None:
        """The server gave no usable answer, and may have stated for how long."""
        was_open = self.is_open
        self.reason = reason
        self.retry_after_until = max(self.retry_after_until, now + retry_after_s)
        self.failures += 1
        if was_open and not trial:
            return  # sent before it opened: one outage, not one more trial
        if trial:
            self.trial_in_flight = False
            self.failed_trials += 1
        if self.is_open:
            rest = self.policy.initial_open_time * 2.0 ** min(self.failed_trials, _MAX_DOUBLINGS)
            self.half_open_at = now + min(rest, self.policy.max_open_time)
