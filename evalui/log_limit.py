"""A limit on how often a log says the same: whoever sends requests must not fill the disk."""

import logging
import time
from collections import Counter
from collections.abc import Callable

_WINDOW_S = 60.0
_MAX_REPEATED = 20  # lines of one message in a window
_MAX_REMEMBERED = 1000  # messages that are counted


class RepeatFilter(logging.Filter):
    """Lets the same warning, whatever fills its fields, through 20 times a minute.

    The next one states how many were left out. What is less than a warning always passes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._began = clock()
        self._counted: Counter[tuple[str, str]] = Counter()
        self._left_out: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        if record.levelno < logging.WARNING:
            return True
        if self._clock() - self._began >= _WINDOW_S or len(self._counted) >= _MAX_REMEMBERED:
            self._began = self._clock()
            self._left_out = self._counted - Counter(dict.fromkeys(self._counted, _MAX_REPEATED))
            self._counted.clear()
        # A message that was put together before it was logged differs at its end.
        key = record.name, str(record.msg)[:40]
        self._counted[key] += 1
        if self._counted[key] > _MAX_REPEATED:
            return False
        if n := self._left_out.pop(key, 0):
            record.msg = f"{record.msg} ({n} more like this were left out)"
        return True
