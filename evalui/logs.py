"""The log of a process: text for a terminal, or JSON lines that hold no contents.

A JSON line has the constant text of its message, numbers, names of errors and places in the code.
What fills the texts (names of files, questions, answers, sentences of errors) is left out, so that
such a log may be collected elsewhere.
"""

import json
import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

from evalui.errors import EvaluiError, StoreError
from evalui.messages import Sentence

LogKind = Literal["text", "json"]
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_RUN_ID: ContextVar[str] = ContextVar("run_id", default="")
_REPEAT_INTERVAL_S = 60.0
_MAX_REPEATED = 20  # lines of one message in that time
_MAX_REMEMBERED = 1000  # sentences that are remembered
_STORE = "the store"  # stands for the logger of its errors, which many report
_MAX_FRAMES = 8  # of the places where an error passed

_log = logging.getLogger(__name__)


@contextmanager
def about_run(run_id: str) -> Generator[None]:
    """Within, what this thread logs carries the id of the run."""
    before = _RUN_ID.set(run_id)
    try:
        yield
    finally:
        _RUN_ID.reset(before)


def configure_log(level: int, kind: LogKind = "text", *, user: Callable[[], str] = str) -> None:
    """Write the records of this process to stderr; `user` names the person a request is of."""
    logging.basicConfig(level=level)
    limit = RepeatFilter()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(TextFormatter("%(asctime)s %(levelname)s %(message)s"))
        handler.addFilter(limit)
        if kind == "json":
            handler.setFormatter(JsonFormatter(user))
            logging.getLogger("evalui").setLevel(logging.INFO)


def log_request(method: str, route: str, status: int, seconds: float) -> None:
    """Note a request by the template of its route; only a log of JSON lines has it."""
    facts = {"method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
    _log.info("request", extra={"facts": facts})


def printable(text: str) -> str:
    """A text of somebody else for a terminal, with what would control one written out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class TextFormatter(logging.Formatter):
    """Lines for a terminal, where no name of a file or a dataset passes for a record of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, and indented those that follow from it."""
        return "\n    ".join(map(printable, super().format(record).split("\n")))


class JsonFormatter(logging.Formatter):
    """One JSON object per record: time (UTC), level, event, and what is known of its origin.

    `extra={"facts": {...}}` adds fields; whoever logs vouches for them.
    """

    def __init__(self, user: Callable[[], str] = str) -> None:
        super().__init__()
        self._user = user

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        errors = [each for each in arguments if isinstance(each, BaseException)]
        raised = record.exc_info[1] if record.exc_info else None
        facts: Mapping[str, str | float] = getattr(record, "facts", {})
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": _constant_text(record),
            "logger": record.name,
            "place": f"{record.module}:{record.lineno}",
            "run": _RUN_ID.get(),
            "user": self._user(),
            "request": REQUEST_ID.get(),
            "numbers": [each for each in arguments if isinstance(each, int | float)],
            "error": _name(raised or next(iter(errors), None)),
            "frames": _frames(raised.__traceback__) if raised else [],
            **facts,
        }
        return json.dumps({key: value for key, value in fields.items() if value not in ("", [])})


def _constant_text(record: logging.LogRecord) -> str:
    # Ours are constants (ruff's rule G). Other packages may have put anything into a finished text.
    if record.name.partition(".")[0] == "evalui" or record.args:
        return str(record.msg)
    return "text of another package"


def _name(error: BaseException | None) -> str:
    """The kind of an error, and which of our sentences it is."""
    if error is None:
        return ""
    sentence = error.sentence if isinstance(error, EvaluiError) else None
    key = f" {sentence.key}" if isinstance(sentence, Sentence) and sentence.key else ""
    return type(error).__name__ + key


def _frames(trace: TracebackType | None) -> list[str]:
    stack = traceback.extract_tb(trace)[-_MAX_FRAMES:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in stack]


class RepeatFilter(logging.Filter):
    """Lets the same warning, whatever fills its fields, through 20 times a minute.

    The same error of the store passes once: a full disk meets every loop of a process, and a line
    for each attempt would fill what is left of it. The next record states how many were left out.
    What is less than a warning always passes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._began = clock()
        self._counted: Counter[tuple[str, str]] = Counter()
        self._left_out: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        error = _store_error(record)
        if record.levelno < logging.WARNING and error is None:
            return True
        if (
            self._clock() - self._began >= _REPEAT_INTERVAL_S
            or len(self._counted) >= _MAX_REMEMBERED
        ):
            self._began = self._clock()
            self._left_out = Counter({key: n - _most(key) for key, n in self._counted.items()})
            self._counted.clear()
        # A message that was put together before it was logged differs at its end.
        key = (_STORE, str(error)) if error else (record.name, str(record.msg)[:40])
        self._counted[key] += 1
        if self._counted[key] > _most(key):
            return False
        if (n := self._left_out.pop(key, 0)) > 0:
            record.msg = f"{record.msg} ({n} more like this were left out)"
        return True


def _most(key: tuple[str, str]) -> int:
    """How often a message is written in a minute."""
    return 1 if key[0] == _STORE else _MAX_REPEATED


def _store_error(record: logging.LogRecord) -> StoreError | None:
    arguments = record.args if isinstance(record.args, tuple) else ()
    raised = record.exc_info[1] if record.exc_info else None
    return next((each for each in (raised, *arguments) if isinstance(each, StoreError)), None)
