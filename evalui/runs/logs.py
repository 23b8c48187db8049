"""What stands on the log of a process, and how often."""

import logging
import time
from collections.abc import Callable

from evalui.errors import StoreError

_REPEAT_INTERVAL_S = 60.0
_MAX_REMEMBERED = 1000  # sentences that are remembered


class StoreErrorFilter(logging.Filter):
    """Lets the same error of the store through once a minute.

    A full disk meets every loop of a process: the queue, the heartbeat, the list of workers. A line
    for each attempt would fill what is left of the disk.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last_logged: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        error = _store_error(record)
        if error is None:
            return True
        sentence, now = str(error), self._clock()
        if now - self._last_logged.get(sentence, -_REPEAT_INTERVAL_S) < _REPEAT_INTERVAL_S:
            return False
        if len(self._last_logged) >= _MAX_REMEMBERED:
            self._last_logged.clear()
        self._last_logged[sentence] = now
        return True


def configure_log(level: int) -> None:
    """Write the records of this process to stderr, each with its time."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    limit = StoreErrorFilter()
    for handler in logging.getLogger().handlers:
        handler.addFilter(limit)


def _store_error(record: logging.LogRecord) -> StoreError | None:
    arguments = record.args if isinstance(record.args, tuple) else ()
    raised = record.exc_info[1] if record.exc_info else None
    return next((each for each in (raised, *arguments) if isinstance(each, StoreError)), None)
