"""Files that may be hostile are read by a confined process: little memory, little time, no rights.

The server, the command line and the library use the same. What comes back is plain data, see
`plain_data`, and never a pickle: a reader that a file has taken over can only lie.
"""

import atexit
import ctypes
import inspect
import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from io import BufferedReader, BufferedWriter
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar, get_type_hints

from evalui import errors
from evalui.datasets import external_answers, preview, reader
from evalui.datasets.model import ON_ROWS, Layout, Limits, LoadResult
from evalui.datasets.plain_data import (
    Misfit,
    Place,
    decode,
    decoder_of,
    element_at,
    encode,
    portions,
    with_portions,
)
from evalui.datasets.swift_config import EntryFiles
from evalui.errors import DataError, EvaluiError
from evalui.imports import uncollected
from evalui.messages import Sentence

try:
    import resource
except ImportError:  # on Windows, where a process has no such limits
    resource = None

P = ParamSpec("P")
T = TypeVar("T")
Work = Literal["reading", "planning"]  # the first words of what is said of a limit

_COMMAND = ("-P", "-c", "from evalui.datasets.sandbox import main; main()")  # -P: no module here
# A process that reads the files of others needs no key of any service.
_VARIABLES = frozenset(
    ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "TZ", "VIRTUAL_ENV")
)
_PREFIXES = ("LC_", "PYTHON")
# Each thread of these libraries reserves memory that counts; where none may start, they need none.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
_SLOWEST = 5  # times as long as it computes may a request take: others keep the machine busy
_PATIENCE_S = 60.0  # more, after which whoever waits ends a process that does not end itself
# After which the memory of the files that were read is given back: of a server, and of others.
_IDLE_S, _SHORT_IDLE_S = 300.0, 20.0
_RESERVE_BYTES = 2**25  # for saying that all other memory is used up
_NICENESS = 5  # pages come first
_MAX_OPEN = 256  # files and connections
_MAX_FILE = 2**28  # bytes of one that an archive is unpacked to
_DEFAULT_LAYOUT = Layout()
_DEFAULT_LIMITS = Limits()
_PR_SET_NO_NEW_PRIVS = 38  # of linux/prctl.h: a program with more rights gives none

_READS_HERE: ContextVar[bool] = ContextVar("_READS_HERE", default=False)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The memory and the seconds of computing that one request may take.

    `answer_mb` limits what comes back.
    """

    memory_mb: int
    seconds: float
    answer_mb: int = 1024


class Sandbox:
    """One confined process, started when it is needed and replaced when it has ended.

    Safe to share between threads: they take turns. `host` makes in that process what each request
    is given first; `arguments` are its own. The files of such a process may have any size, since it
    writes the store.
    """

    def __init__(
        self, bounds: Bounds, host: Callable[..., object] | None = None, *arguments: object
    ) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._bounds = bounds
        self._host = host and partial(host, *arguments)
        self._lock = threading.Lock()  # one request at a time
        self._is_closed = False

    def ask(
        self,
        function: Callable[..., T],
        *arguments: object,
        work: Work = "reading",
        on_rows: Callable[[int], object] | None = None,
        **named: object,
    ) -> T:
        """What a function returns there, which a module must have under its name.

        `on_rows` is told how many rows have become questions by now, 0 when its turn has come.

        Raises:
            DataError: a limit was met, which the sentence names, or the process failed.
            EvaluiError: the function has raised it.
        """
        kind = get_type_hints(inspect.unwrap(function))["return"]
        decoder_of(kind)  # what cannot come back is our mistake, not that of the process
        request = pickle.dumps((os.getcwd(), function, arguments, named))  # noqa: PTH109 - a text
        on_rows = on_rows or ON_ROWS.get()
        with self._lock:
            on_rows(0)
            for is_again in (False, True):
                self._start()
                answer = self._exchange(request, kind, on_rows)
                if answer.is_whole and not answer.error:
                    return answer.value
                code = 0 if answer.is_whole else self._end()
                if answer.error:
                    raise answer.error
                # It may have ended for want of work, or for the memory that earlier files took.
                if is_again or not (answer.was_full or code == 0):
                    break
        raise self._problem(work, answer, code)

    def warm(self) -> None:
        """Start the process if nobody waits for it."""
        if self._lock.acquire(blocking=False):
            try:
                with suppress(DataError):  # it is logged, and stated to whoever needs the process
                    self._start()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the process; none is started again."""
        self._is_closed = True
        if process := self.process:
            process.kill()
        with self._lock:
            self._end()

    def _start(self) -> None:
        if self._is_closed:
            raise DataError("reading-failed")
        if self.process and self.process.poll() is None:
            return
        self._end()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in _VARIABLES or name.startswith(_PREFIXES)
        }
        try:
            self.process = subprocess.Popen(
                (sys.executable, *_COMMAND),
                env=environment | _ONE_THREAD,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What libraries print is for the log of a server, and nothing for a terminal.
                stderr=None if self._host else subprocess.DEVNULL,
            )
        except OSError as error:  # the machine has no memory or no processes left
            _log.error("No process to read files can be started: %s", error)
            raise DataError("reading-failed") from error
        if self._is_closed:  # just now: whoever closed it has seen no process
            self.process.kill()
        self._send(pickle.dumps((self._bounds, self._host)))

    def _send(self, message: bytes) -> None:
        assert self.process, "it was started"
        assert self.process.stdin, "it was requested"
        with suppress(OSError):  # reading the answer shows that it has ended
            self.process.stdin.write(message)
            self.process.stdin.flush()

    def _exchange(self, request: bytes, kind: Any, on_rows: Callable[[int], object]) -> "_Answer":
        process = self.process
        assert process, "it was started"
        assert process.stdout, "it was requested"
        answer = _Answer(kind, on_rows, self._bounds.answer_mb * 2**20)
        wait = self._bounds.seconds * _SLOWEST + _PATIENCE_S
        overdue = threading.Timer(wait, _end_late, (process, answer))
        overdue.daemon = True
        overdue.start()
        try:
            self._send(request)
            while not answer.is_over and (line := process.stdout.readline(answer.left + 1)):
                answer.add(line)
        except ValueError as misfit:  # of `plain_data`, or of pydantic
            _log.error("A process that reads files has sent what is no answer: %s", misfit)
            answer.error = DataError("reading-failed")
        except BaseException:
            self._end()
            raise
        finally:
            overdue.cancel()
        return answer

    def _end(self) -> int:
        """Have no process, and return the exit code of the one there was."""
        process, self.process = self.process, None
        if process is None:
            return 0
        process.kill()
        assert process.stdin, "it was requested"
        assert process.stdout, "it was requested"
        with suppress(OSError):  # what it did not read
            process.stdin.close()
        process.stdout.close()
        return process.wait()

    def _problem(self, work: Work, answer: "_Answer", code: int) -> DataError:
        """Why there is no answer."""
        seconds = self._bounds.seconds
        cause = signal.Signals(-code).name if code < 0 else ""
        if answer.is_late or cause == "SIGALRM":
            return DataError(f"{work}-too-slow", n=f"{seconds * _SLOWEST:g}")
        if cause == "SIGPROF":
            return DataError(f"{work}-too-long", n=f"{seconds:g}")
        # Libraries in C++ and Rust abort where there is no memory left.
        if answer.is_out_of_memory or cause == "SIGABRT":
            return DataError(f"{work}-too-much", gb=f"{self._bounds.memory_mb / 1024:g}")
        if answer.failure:
            _log.error("Reading a file failed: %s", answer.failure)
        elif cause == "SIGKILL":
            return DataError("reading-killed")
        else:
            _log.error("A process that reads files ended with %d.", code)
        return DataError("reading-failed")


def confined(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, done by a confined process; in one that is confined, as it is.

    It raises what `Sandbox.ask` does, within the limits of the settings.
    """

    @wraps(function)
    def ask(*arguments: P.args, **named: P.kwargs) -> T:
        if _READS_HERE.get():
            return function(*arguments, **named)
        return _sandbox(os.getpid(), _usual_bounds()).ask(function, *arguments, **named)

    return ask


@contextmanager
def reading_here() -> Generator[None]:
    """Have confined functions be done by this very process, as it suits tests."""
    before = _READS_HERE.set(True)
    try:
        yield
    finally:
        _READS_HERE.reset(before)


def _config_entries(
    paths: Sequence[Path], *, limits: Limits = _DEFAULT_LIMITS
) -> tuple[EntryFiles, ...]:
    """The entries as `reader.config_entries` has them, without what their files hold."""
    return tuple(replace(each, files=()) for each in reader.config_entries(paths, limits=limits))


# What reads the files of a user.
config_entries = confined(_config_entries)
_load = confined(reader.load)
read_columns = confined(reader.read_columns)
read_answers = confined(external_answers.read_answers)
examine = confined(preview.examine)


def load(
    paths: Sequence[Path],
    *,
    layout: Layout = _DEFAULT_LAYOUT,
    name: str = "",
    limits: Limits = _DEFAULT_LIMITS,
) -> LoadResult:
    """As `reader.load`; the pictures are in a folder that goes with this process."""
    return _load(paths, layout=layout, name=name, limits=limits, pictures=_spool(os.getpid()))


@cache
def _spool(process: int) -> Path:
    """The folder of this process for pictures, which a fork of it does not share."""
    folder = Path(mkdtemp(prefix="evalui-pictures-"))

    def remove() -> None:
        if os.getpid() == process:  # a fork that ends does this too
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def main() -> None:
    """Answer requests until there are no more: what runs in the confined process."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing else gets into the pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.nice(_NICENESS)
    sys.excepthook = partial(_report, sink)
    bounds: Bounds
    host: Callable[[], object] | None
    bounds, host = pickle.load(source)
    _confine(bounds, writes=bool(host))
    _READS_HERE.set(True)
    _serve(bounds, (host(),) if host else (), source, sink)


@cache
def _sandbox(process: int, bounds: Bounds) -> Sandbox:
    """That of this process, which a fork of it does not share."""
    del process
    made = Sandbox(bounds)
    atexit.register(made.close)
    return made


def _usual_bounds() -> Bounds:
    from evalui.settings import read_settings  # in the confined process nobody needs it

    settings = read_settings()
    return Bounds(settings.parse_memory_mb, settings.parse_seconds)


class _Answer:
    """What a process has sent of an answer so far, `kind` is its type."""

    def __init__(self, kind: Any, on_rows: Callable[[int], object], most: int) -> None:
        self.value: Any = None
        self.error: EvaluiError | None = None
        self.failure = ""  # the traceback of our own mistake
        self.is_whole = False
        self.is_late = False
        self.is_out_of_memory = False
        self.was_full = False  # earlier requests had left the process little memory
        self._kind = kind
        self._on_rows = on_rows
        self.left = most  # bytes that may follow
        self._parts: dict[Place, list[Any]] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing follows."""
        return self.is_whole or bool(self.error or self.failure or self.is_out_of_memory)

    def add(self, line: bytes) -> None:
        """Take one message; raises `Misfit` if it is none."""
        self.left -= len(line)
        if self.left < 0:
            self.error = DataError("file-shows-too-much")
            return
        tag, _, content = line.partition(b" ")
        match tag:
            case b"rows":
                self._on_rows(decode(content, int))
            case b"part":
                place, _, elements = content.partition(b" ")
                fields: Place = decode(place, tuple[str, ...])
                kind = tuple[element_at(self._kind, fields), ...]
                with uncollected():
                    self._parts.setdefault(fields, []).extend(decode(elements, kind))
            case b"answer":
                self.value = with_portions(decode(content, self._kind), self._parts)
                self.is_whole = True
            case b"error":
                name, text = decode(content, tuple[str, str])
                error = getattr(errors, name, None)
                if not (inspect.isclass(error) and issubclass(error, EvaluiError)):
                    raise Misfit(f"no error is called {name}")
                sentence = text if isinstance(text, Sentence) else Sentence(text)
                self.error, self.is_whole = error(sentence), True
            case b"memory":
                self.was_full, self.is_out_of_memory = decode(content, bool), True
            case b"failure":
                self.failure = decode(content, str)
            case _:
                raise Misfit("no message")


def _end_late(process: subprocess.Popen[bytes], answer: _Answer) -> None:
    answer.is_late = True
    process.kill()


def _confine(bounds: Bounds, *, writes: bool) -> None:
    """Limit what a file could have this process do; time is limited for each request.

    A system that lacks one of the limits has the others: macOS has no RLIMIT_AS.
    """
    memory = bounds.memory_mb * 2**20
    limits = {
        "RLIMIT_AS": (memory, memory + _RESERVE_BYTES),
        "RLIMIT_CORE": (0, 0),  # which would hold what others uploaded
        "RLIMIT_NOFILE": (_MAX_OPEN, _MAX_OPEN),
        "RLIMIT_NPROC": (0, 0),  # neither programs nor threads; root's are not counted
    }
    if not writes:
        limits["RLIMIT_FSIZE"] = (_MAX_FILE, _MAX_FILE)
    for name, (soft, hard) in limits.items():
        try:
            _limit(name, soft, hard)
        except (AttributeError, OSError, ValueError):
            if sys.platform == "linux":
                raise
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(
        _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0
    ):
        raise OSError(ctypes.get_errno(), "prctl")


def _limit(name: str, soft: int, hard: int) -> None:
    """Set a limit of this process; one that is lower already stays."""
    assert resource, "this system has limits"
    which: int = getattr(resource, name)
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))


def _serve(
    bounds: Bounds, given: tuple[object, ...], source: BufferedReader, sink: BufferedWriter
) -> None:
    at_first = _address_space()
    free = bounds.memory_mb * 2**20 - at_first

    def send(*message: bytes) -> None:
        sink.write(b" ".join(message) + b"\n")
        sink.flush()

    ON_ROWS.set(lambda rows: send(b"rows", encode(rows)))
    while _is_requested(source, _IDLE_S if given else _SHORT_IDLE_S):
        folder, function, arguments, named = pickle.load(source)
        was_full = _address_space() - at_first > free / 2
        with suppress(OSError):  # a folder that is gone matters to those paths alone that are in it
            os.chdir(folder)
        # Their signals end the process, whatever it is doing.
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _set_timer("ITIMER_PROF", bounds.seconds)
        _set_timer("ITIMER_REAL", bounds.seconds * _SLOWEST)
        try:
            for message in _messages(function, (*given, *arguments), named):
                send(*message)
        except (MemoryError, SystemError):  # the second is what C code makes of the first
            if resource and sys.platform == "linux":
                _, hard = resource.getrlimit(resource.RLIMIT_AS)
                resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            send(b"memory", encode(was_full))
            return
        for timer in ("ITIMER_PROF", "ITIMER_REAL"):
            _set_timer(timer, 0)


def _messages(
    function: Callable[..., object], arguments: Sequence[object], named: Mapping[str, object]
) -> Iterator[tuple[bytes, ...]]:
    """What is sent of what a function returns or raises."""
    try:
        value = function(*arguments, **named)
    except EvaluiError as error:
        known = next(each for each in type(error).__mro__ if each.__module__ == errors.__name__)
        yield b"error", encode([known.__name__, error.sentence])
        return
    sent = portions(value)
    while True:
        try:
            place, elements = next(sent)
        except StopIteration as end:
            yield b"answer", encode(end.value)
            return
        yield b"part", encode(place), elements


def _set_timer(name: str, seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(getattr(signal, name), seconds)


def _address_space() -> int:
    """The bytes that count against the limit of memory."""
    if not resource or sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _is_requested(source: BufferedReader, seconds: float) -> bool:
    """Wait so long for a request; False if none comes, or none will ever come."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, give_up)
    _set_timer("ITIMER_REAL", seconds)
    try:
        return bool(source.peek(1))
    except TimeoutError:
        return False
    finally:
        _set_timer("ITIMER_REAL", 0)


def _report(
    sink: BufferedWriter,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    """Leave the traceback to whoever started this process, who limits what is logged."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sink.write(b"failure " + encode(text) + b"\n")
    sink.flush()
