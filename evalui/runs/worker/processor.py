"""What computes where a worker is: one run at a time has it, so no two models load at once."""

import threading
from collections import deque
from collections.abc import Callable

_LOOK_S = 0.5  # a run that is stopped waits no longer than this


class Processor:
    """The processor and the devices of one worker, given to whoever took them first."""

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
                    self._changed.wait(_LOOK_S)

    def leave(self, name: str) -> None:
        """Give it back, or wait for it no more."""
        with self._changed:
            if name in self._takers:
                self._is_offered &= self._takers[0] != name
                self._takers.remove(name)
            self._changed.notify_all()
