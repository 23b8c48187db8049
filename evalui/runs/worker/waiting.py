"""Waiting for a model that nobody answers for now, and for how long.

Knows nothing of runs: it tells why it waits, looks up twice a second, and gives up in time.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from evalui.errors import Unreachable
from evalui.runs.database.usage import Wait

FIRST_S, LONGEST_S = 1.0, 60.0  # pauses before the model is asked again; each twice the last
LOOK_S = 0.5  # a cancel is noticed this soon

Answer = TypeVar("Answer")


class Patience:
    """How long one model is waited for.

    `told` hears why and until when, before each pause; `look` is asked twice a second and raises
    what ends the waiting. `seconds` count from the last answer.
    """

    def __init__(
        self, seconds: float, *, told: Callable[[Wait], None], look: Callable[[], None]
    ) -> None:
        self._seconds = seconds
        self._told = told
        self._look = look
        self._pause = 0.0
        self._since = 0.0  # since 1970; people read it
        self._deadline: float | None = None  # of the clock that nobody sets

    @property
    def waiting(self) -> bool:
        """Whether nobody has answered since the last wait."""
        return self._deadline is not None

    def answered(self) -> None:
        """Somebody answers: the next wait begins anew."""
        self._deadline = None

    def wait(self, error: Unreachable) -> None:
        """Sleep until the model may be asked again.

        Raises:
            Unreachable: the patience is at its end, or will be before anybody may ask again.
        """
        self._look()  # who is told to stop has not run out of patience
        now = time.monotonic()
        if self._deadline is None:
            self._deadline, self._pause, self._since = now + self._seconds, FIRST_S, time.time()
        else:
            self._pause = min(2 * self._pause, LONGEST_S)
        left = self._deadline - now
        if left <= 0:
            raise self._gave_up(error) from error
        if error.retry_after_s > left:
            raise _too_late(error) from error
        pause = max(min(self._pause, left), error.retry_after_s)
        self._told(Wait(error.sentence, self._since, time.time() + pause))
        self._sleep(now + pause)

    def until(self, ask: Callable[[], Answer]) -> Answer:
        """What `ask` returns, asked anew while it raises `Unreachable`; raises as `wait`."""
        while True:
            try:
                answer = ask()
            except Unreachable as error:
                self.wait(error)
            else:
                self.answered()
                return answer

    def _sleep(self, end: float) -> None:
        self._look()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(LOOK_S, left))
            self._look()

    def _gave_up(self, error: Unreachable) -> Unreachable:
        return Unreachable(
            "gave-up",
            why=error.sentence,
            n=_minutes(self._seconds),
        )


def _too_late(error: Unreachable) -> Unreachable:
    return Unreachable(
        "too-late",
        why=error.sentence,
        n=_minutes(error.retry_after_s),
    )


def _minutes(seconds: float) -> str:
    return f"{round(seconds / 60, 1):g}"
