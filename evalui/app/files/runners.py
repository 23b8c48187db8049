"""Who does the work on files: confined processes, or this very process."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from evalui.access import LOCAL, Person
from evalui.app.files.work import FileWork, open_work
from evalui.app.uploads import upload_of
from evalui.datasets.sandbox import Bounds, Sandbox, Work, reading_here
from evalui.settings import Settings
from evalui.store.connection import Database

T = TypeVar("T")
Upload = tuple[str, str]  # with its owner before it

_PROCESSES = 2  # so that a large file of one person does not keep others waiting
_MAX_KEPT = 1000  # uploads of which is known which process has read them
_MAX_ANSWER_MB = 16  # what pages show of a file is some kB


class FilesHere:
    """Does the work in this process, as it suits a command or a test."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.work = FileWork(settings, database)

    def ask(self, person: Person, upload: str, function: Callable[..., T], *arguments: object) -> T:
        """As `FileProcesses.ask`."""
        del upload  # there is one process only
        with reading_here():
            return getattr(self.work, function.__name__)(person, *arguments)

    def rows_read(self, person: Person, upload: str) -> int | None:
        """As `FileProcesses.rows_read`: here nothing waits, and nothing is counted."""
        del person, upload
        return 0


class FileProcesses:
    """A few processes, started when they are needed; safe to share between threads.

    What was read once stays in the memory of the process that did it, so requests for the same
    upload go to the same process. One person of several holds one process at a time.
    """

    def __init__(self, settings: Settings, count: int = _PROCESSES) -> None:
        bounds = Bounds(settings.parse_memory_mb, settings.parse_seconds, _MAX_ANSWER_MB)
        self._lock = threading.Lock()  # protects which slot is chosen
        self._slots = [_Slot(Sandbox(bounds, open_work, settings)) for _ in range(count)]

    def ask(self, person: Person, upload: str, function: Callable[..., T], *arguments: object) -> T:
        """What a method of `FileWork` returns for a person and more arguments; `upload` is the one
        it reads most. Raises as `Sandbox.ask` does.
        """
        key = person.name, upload_of(upload)
        work: Work = "planning" if function in (FileWork.plan, FileWork.start) else "reading"
        with self._chosen(person.name, upload) as slot:
            on_rows = partial(slot.note, key)
            return slot.sandbox.ask(function, person, *arguments, work=work, on_rows=on_rows)

    def rows_read(self, person: Person, upload: str) -> int | None:
        """How many rows of an upload are questions by now; None while it waits for a process."""
        key = person.name, upload_of(upload)
        return next((slot.rows for slot in self._slots if slot.at_work == key), None)

    def warm(self) -> None:
        """Start one process, unless it is there or at work."""
        self._slots[0].sandbox.warm()

    def close(self) -> None:
        """Kill all processes; requests under way fail."""
        for slot in self._slots:
            slot.sandbox.close()

    @contextmanager
    def _chosen(self, owner: str, upload: str) -> Generator["_Slot"]:
        with self._lock:
            slot = self._choose(owner, upload)
            slot.owners.append(owner)
            if len(slot.kept) >= _MAX_KEPT:
                slot.kept.clear()
            slot.kept.add((owner, upload))
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
            *(slot for slot in idle if slot.sandbox.process),
            *idle,
            min(self._slots, key=lambda slot: len(slot.owners)),
        )
        return ranked[0]


FileRunner = FilesHere | FileProcesses


class _Slot:
    """A process, and whose files it reads."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.owners: list[str] = []  # of the requests under way
        self.last_owner = ""
        self.kept: set[Upload] = set()  # what it has read
        self.at_work: Upload = ("", "")  # the newest that has had its turn
        self.rows = 0  # of it that are read

    def note(self, key: Upload, rows: int) -> None:
        """Remember how many rows of an upload are read, 0 when its turn has come."""
        if self.at_work != key:
            self.at_work, self.rows = key, 0
        self.rows = max(self.rows, rows)  # a second request may read the file again
