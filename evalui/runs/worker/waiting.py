"""Waiting for a model that does not answer now, or for what computes where a worker is.

Knows nothing of runs: it reports why it waits, checks for a cancel, and gives up in time.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from evalui.errors import Unreachable
from evalui.store.usage import ModelWait

FIRST_DELAY_S, MAX_DELAY_S = (
    1.0,
    60.0,
)  # pauses before the model is tried again; each twice the last
CHECK_INTERVAL_S = 0.5  # a cancel is noticed this soon

Answer = TypeVar("Answer")


class WaitForModel:
    """How long one model is waited for.

    `on_wait` is called with why and until when, before each pause; `check_cancelled` twice a
    second, and raises what ends the waiting. `seconds` count from the last answer, or from when
    `is_early` is false: before that others have something to do for the model.
    """

    def __init__(
        self,
        seconds: float,
        *,
        on_wait: Callable[[ModelWait], None],
        check_cancelled: Callable[[], None],
        is_early: Callable[[], bool] = lambda: False,
    ) -> None:
        self._seconds = seconds
        self._on_wait = on_wait
        self._check_cancelled = check_cancelled
        self._is_early = is_early
        self._delay = 0.0
        self._since = 0.0  # since 1970; people read it
        self._deadline: float | None = None  # of the monotonic clock

    @property
    def is_waiting(self) -> bool:
        """Whether the model has not answered since the last wait."""
        return self._deadline is not None

    def reset(self) -> None:
        """The model answers: the next wait begins anew."""
        self._deadline = None

    def wait(self, error: Unreachable) -> None:
        """Sleep until the model may be tried again.

        Raises:
            Unreachable: the time is over, or will be before the model may be tried again.
        """
        self._check_cancelled()  # a cancelled wait has not timed out
        now = time.monotonic()
        if self._deadline is None:
            self._deadline, self._delay, self._since = (
                now + self._seconds,
                FIRST_DELAY_S,
                time.time(),
            )
        else:
            self._delay = min(2 * self._delay, MAX_DELAY_S)
            if self._is_early():
                self._deadline = now + self._seconds
        left = self._deadline - now
        if left <= 0:
            n = f"{round(self._seconds / 60, 1):g}"
            raise Unreachable("gave-up", why=error.sentence, n=n) from error
        if error.retry_after_s > left:
            at = _moment(error.retry_after_s)
            raise Unreachable("too-late", why=error.sentence, at=at) from error
        pause = max(min(self._delay, left), error.retry_after_s)
        self._on_wait(ModelWait(error.sentence, self._since, time.time() + pause))
        self._check_cancelled()
        while (left := now + pause - time.monotonic()) > 0:
            time.sleep(min(CHECK_INTERVAL_S, left))
            self._check_cancelled()

    def call_until_reachable(self, call: Callable[[], Answer]) -> Answer:
        """What `call` returns, called anew while it raises `Unreachable`; raises as `wait`."""
        while True:
            try:
                answer = call()
            except Unreachable as error:
                self.wait(error)
            else:
                self.reset()
                return answer


class Processor:
    """The processor and the devices of one worker, given to whoever took them first.

    One run at a time has it, so no two models load at once.
    """

    def __init__(self) -> None:
        self._takers: deque[str] = deque()  # the first has it
        self._is_offered = False  # whether it has nothing to compute now
        # Protects the takers: runs end in threads of their own.
        self._changed = threading.Condition()

    @property
    def is_free(self) -> bool:
        """Whether nobody waits for it, and nobody has it who has something to compute."""
        with self._changed:
            return not self._takers or (self._is_offered and len(self._takers) == 1)

    def offer(self, name: str) -> bool:
        """State that its holder has nothing to compute now; whether another one waits for it.

        It stays the holder's until they leave, with the model that they have loaded.
        """
        with self._changed:
            self._is_offered = self._takers[0] == name
            return self._is_offered and len(self._takers) > 1

    def withdraw(self, name: str) -> None:
        """State that its holder computes again."""
        with self._changed:
            if self._takers[0] == name:
                self._is_offered = False

    def try_take(self, name: str) -> bool:
        """Take it if nobody has it."""
        with self._changed:
            if not self._takers:
                self._takers.append(name)
            return self._takers[0] == name

    def wait(self, name: str, check: Callable[[], None]) -> None:
        """Wait until it is one's own, behind those that came before.

        `check` is called now and then, and raises what ends the waiting.
        """
        with self._changed:
            if name not in self._takers:
                self._takers.append(name)
        while not self.try_take(name):
            check()
            with self._changed:
                if self._takers[0] != name:
                    self._changed.wait(CHECK_INTERVAL_S)

    def leave(self, name: str) -> None:
        """Give it back, or wait for it no more."""
        with self._changed:
            if name in self._takers:
                self._is_offered &= self._takers[0] != name
                self._takers.remove(name)
            self._changed.notify_all()


def _moment(seconds: float) -> str:
    """When so much time is over, by the clock of this machine; with the day if it is another."""
    now = datetime.now().astimezone()
    then = now + timedelta(seconds=seconds)
    return f"{then:%H:%M}" if then.date() == now.date() else f"{then:%Y-%m-%d %H:%M}"
