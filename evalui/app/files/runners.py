"""Who does the work on files: processes with limits of memory and time, or this very process."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from evalui.access import LOCAL, Person
from evalui.app.files.messages import FileAnswer, FileRequest
from evalui.app.uploads import upload_of
from evalui.errors import DataError
from evalui.runs.database.connection import Database
from evalui.settings import Settings

_PROCESSES = 2  # so that a large file of one person does not keep others waiting
_MAX_KEPT = 1000  # uploads of which is known which process has read them
_COMMAND = (sys.executable, "-m", "evalui.app.files.process")
# A process that reads the files of others needs no key of any service.
_VARIABLES = frozenset({"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV"})
_PREFIXES = ("LC_", "PYTHON")
# Each thread of these libraries reserves memory that counts.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}

_OVER_TIME = (-signal.SIGPROF, -signal.SIGALRM)  # exit codes

_log = logging.getLogger(__name__)


class FilesHere:
    """Does the work in this process, as it suits a command or a test."""

    def __init__(self, settings: Settings, database: Database) -> None:
        from evalui.app.files.work import FileWork  # a server's processes import it

        self.work = FileWork(settings, database)

    def ask(self, person: Person, upload: str, method: str, *arguments: object) -> Any:
        """As `FileProcesses.ask`."""
        del upload  # there is one process only
        return getattr(self.work, method)(person, *arguments)

    def rows_read(self, person: Person, upload: str) -> int | None:
        """As `FileProcesses.rows_read`: here nothing waits, and nothing is counted."""
        del person, upload
        return 0

    def warm(self) -> None:
        """Nothing is to be started."""

    def close(self) -> None:
        """Nothing is to be ended."""


class FileProcesses:
    """A few processes, started when they are needed; safe to share between threads.

    What was read once stays in the memory of the process that did it, so requests for the same
    upload go to the same process. One person of several holds one process at a time.
    """

    def __init__(self, settings: Settings, count: int = _PROCESSES) -> None:
        self._lock = threading.Lock()  # protects which slot is chosen
        self._slots = [_Slot(settings) for _ in range(count)]

    def ask(self, person: Person, upload: str, method: str, *arguments: object) -> Any:
        """What a method of `FileWork` returns for a person and more arguments; `upload` is the one
        it reads most.

        Raises:
            DataError: it took too much memory or time; and whatever the method raises.
        """
        with self._chosen(person.name, upload) as slot:
            key = person.name, upload_of(upload)
            answer = slot.ask(FileRequest(method, (person, *arguments)), key)
        if answer.error:
            raise answer.error
        return answer.value

    def rows_read(self, person: Person, upload: str) -> int | None:
        """How many rows of an upload are questions by now; None while it waits for a process."""
        key = person.name, upload_of(upload)
        return next((slot.rows for slot in self._slots if slot.at_work == key), None)

    def warm(self) -> None:
        """Start one process, unless it is there or at work."""
        self._slots[0].warm()

    def close(self) -> None:
        """Kill all processes; requests under way fail."""
        for slot in self._slots:
            slot.close()

    @contextmanager
    def _chosen(self, owner: str, upload: str) -> Generator["_Slot"]:
        with self._lock:
            slot = self._choose(owner, upload)
            slot.owners.append(owner)
            slot.keep((owner, upload))
        try:
            yield slot
        finally:
            with self._lock:
                slot.owners.remove(owner)
                slot.last_owner = owner

    def _choose(self, owner: str, upload: str) -> "_Slot":
        idle = [slot for slot in self._slots if not slot.owners]
        own = [slot for slot in self._slots if owner in slot.owners]
        if own and len(idle) == 1 and owner != LOCAL:
            return own[0]  # the last idle process is for somebody else
        ranked = (
            *(slot for slot in self._slots if (owner, upload) in slot.kept),
            *(slot for slot in idle if slot.last_owner == owner),
            *(slot for slot in idle if slot.process),
            *idle,
            min(self._slots, key=lambda slot: len(slot.owners)),
        )
        return ranked[0]


FileRunner = FilesHere | FileProcesses


class _Slot:
    """A place for one process, which is replaced when it has ended."""

    def __init__(self, settings: Settings) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.owners: list[str] = []  # of the requests under way
        self.last_owner = ""
        self.kept: set[tuple[str, str]] = set()
        self.at_work = ("", "")  # the owner and the upload of the newest request that has its turn
        self.rows = 0  # of them that are read
        self._settings = settings
        self._lock = threading.Lock()  # one request at a time
        self._is_closed = False

    def keep(self, key: tuple[str, str]) -> None:
        """Remember that the process has read an upload."""
        if len(self.kept) >= _MAX_KEPT:
            self.kept.clear()
        self.kept.add(key)

    def ask(self, request: FileRequest, key: tuple[str, str]) -> FileAnswer:
        """The answer of the process; raises `DataError` if it ends without one."""
        with self._lock:
            if self.at_work != key:
                self.at_work, self.rows = key, 0
            tried = False
            while True:
                self._start()
                answer = self._exchange(request)
                if answer and not (answer.out_of_memory or answer.failure):
                    return answer
                code = self._end()
                # It may have ended for want of work, or for the memory that earlier files took.
                is_to_blame = not answer.was_full if answer else code != 0
                if tried or is_to_blame:
                    raise self._problem(request, answer, code)
                tried = True

    def warm(self) -> None:
        """Start the process if nobody waits for it."""
        if self._lock.acquire(blocking=False):
            try:
                with suppress(DataError):  # it is logged, and stated to whoever needs the process
                    self._start()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Kill the process; none is started again."""
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
                _COMMAND,
                env=environment | _ONE_THREAD,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        except OSError as error:  # the machine has no memory or no processes left
            _log.error("No process to read files can be started: %s", error)
            raise DataError("reading-failed") from error
        self._send(self._settings)

    def _end(self) -> int:
        """Have no process, and return the exit code of the one there was."""
        process, self.process = self.process, None
        self.kept.clear()
        if process is None:
            return 0
        process.kill()
        assert process.stdin, "it was requested"
        assert process.stdout, "it was requested"
        with suppress(BrokenPipeError):  # what it did not read
            process.stdin.close()
        process.stdout.close()
        return process.wait()

    def _exchange(self, request: FileRequest) -> FileAnswer | None:
        """What the process answers, None if it has ended."""
        assert self.process, "it was started"
        assert self.process.stdout, "it was requested"
        self._send(request)
        try:
            while isinstance(answer := pickle.load(self.process.stdout), int):
                self.rows = max(self.rows, answer)  # a second request may read the file again
        except (EOFError, OSError, pickle.UnpicklingError):
            return None
        return answer

    def _send(self, message: object) -> None:
        assert self.process, "it was started"
        assert self.process.stdin, "it was requested"
        with suppress(BrokenPipeError):  # reading the answer shows that it has ended
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()

    def _problem(self, request: FileRequest, answer: FileAnswer | None, code: int) -> DataError:
        """Why there is no answer."""
        work = "planning" if request.method in ("plan", "start") else "reading"
        if code in _OVER_TIME:
            return DataError(f"{work}-too-long", n=f"{self._settings.parse_seconds:g}")
        if answer and answer.failure:
            _log.error("Reading a file failed: %s", answer.failure)
        elif answer:
            return DataError(f"{work}-too-much", gb=f"{self._settings.parse_memory_mb / 1024:g}")
        elif code == -signal.SIGKILL:
            return DataError("reading-killed")
        else:
            _log.error("A process that reads files ended with %d.", code)
        return DataError("reading-failed")
