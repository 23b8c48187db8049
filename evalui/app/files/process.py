"""The process that reads uploaded files: `python -m evalui.app.files.process`.

It ends with its server, when nothing was requested for some minutes, and when a request takes more
memory or time than it may.
"""

import ctypes
import io
import logging
import os
import pickle
import resource
import signal
import sys
import traceback
from functools import partial
from pathlib import Path
from types import TracebackType

from evalui.app.files.messages import FileAnswer, FileRequest
from evalui.app.files.work import FileWork
from evalui.datasets.model import ON_ROWS
from evalui.errors import DataError, EvaluiError
from evalui.logs import configure_log
from evalui.runs.database.connection import Database
from evalui.settings import Settings

_IDLE_S = 300.0  # after which the memory of the files that were read is given back
_MAX_ANSWER_BYTES = 2**24  # what pages show of a file is some kB
_RESERVE_BYTES = 2**25  # for saying that all other memory is used up
_SLOWEST = 5  # times as long as it computes may a request take
_NICENESS = 5  # pages come first
_MAX_OPEN = 256  # files and connections
_PR_SET_NO_NEW_PRIVS = 38  # of linux/prctl.h: a program with more rights gives none


def main() -> None:
    """Answer requests until there are no more."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing else gets into the pipe
    os.nice(_NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.excepthook = partial(_report, sink)
    settings: Settings = pickle.load(source)
    configure_log(logging.WARNING, settings.log)
    _confine(settings.parse_memory_mb * 2**20)
    work = FileWork(settings, Database(settings.database, read_only=settings.read_only))
    _serve(work, source, sink, settings)


def _confine(memory: int) -> None:
    """Limit what a file could have this process do; time is limited for each request.

    Its files have no limit of size: it writes the store, which may be large.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory + _RESERVE_BYTES))
    for limit, most in (
        (resource.RLIMIT_CORE, 0),  # which would hold what others uploaded
        (resource.RLIMIT_NOFILE, _MAX_OPEN),
        (resource.RLIMIT_NPROC, 0),  # neither programs nor threads; root's are not counted
    ):
        resource.setrlimit(limit, (most, most))
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _serve(
    work: FileWork, source: io.BufferedReader, sink: io.BufferedWriter, settings: Settings
) -> None:
    seconds, at_first = settings.parse_seconds, _address_space()
    free = settings.parse_memory_mb * 2**20 - at_first

    def send(content: bytes) -> None:
        sink.write(content)
        sink.flush()

    ON_ROWS.set(lambda rows: send(pickle.dumps(rows)))
    while _is_requested(source):
        request: FileRequest = pickle.load(source)
        was_full = _address_space() - at_first > free / 2
        # Their signals end the process, whatever it is doing. Where others keep the machine busy,
        # a file needs no more work, only more time.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * _SLOWEST)
        is_full = False
        try:
            content = pickle.dumps(_answer(work, request))
        except (MemoryError, SystemError):  # the second is what C code makes of the first
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            content = pickle.dumps(FileAnswer(out_of_memory=True, was_full=was_full))
            is_full = True
        if len(content) > _MAX_ANSWER_BYTES:
            content = pickle.dumps(FileAnswer(error=DataError("file-shows-too-much")))
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        send(content)
        if is_full:
            return


def _address_space() -> int:
    """The bytes that count against the limit of memory."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _is_requested(source: io.BufferedReader) -> bool:
    """Wait for a request; False if none comes for long, or none will ever come."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, _IDLE_S)
    try:
        return bool(source.peek(1))
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(work: FileWork, request: FileRequest) -> FileAnswer:
    try:
        return FileAnswer(getattr(work, request.method)(*request.arguments))
    except EvaluiError as error:
        return FileAnswer(error=error)


def _report(
    sink: io.BufferedWriter,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
) -> None:
    """Leave the traceback to the server, which limits what it logs."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sink.write(pickle.dumps(FileAnswer(failure=text)))
    sink.flush()


if __name__ == "__main__":
    main()
