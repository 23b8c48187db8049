"""Runs as they are, or as they were at a moment that many pages share."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from evalui.runs.database.connection import Database
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_run
from evalui.runs.results_cache import ResultCache

Moment = int | str  # of a clock, or of a version that pages are told


class MomentaryRuns:
    """Reads the runs of all owners; safe to share between threads.

    The newest moment of a clock and the newest version are kept of each run.
    """

    def __init__(self, database: Database, cache: ResultCache) -> None:
        self._database = database
        self._moment: ContextVar[Moment | None] = ContextVar("_moment", default=None)
        self._read_at = cache.memoize_newest(self._read)

    @contextmanager
    def at(self, moment: Moment | None) -> Generator[None]:
        """Within, in this thread, a run is as it was when it was first read at that moment, so that
        the pages made at one moment share its figures. Without a moment it is as it is.
        """
        token = self._moment.set(moment)
        try:
            yield
        finally:
            self._moment.reset(token)

    def read(self, run_id: str) -> RunRow:
        """A run; raises `UnknownRun` if there is none."""
        moment = self._moment.get()
        if moment is None:
            return read_run(self._database, run_id)
        return self._read_at(run_id, type(moment), moment)

    def _read(self, run_id: str, kind: type, moment: Moment) -> RunRow:
        del kind, moment  # the name and the version of what is kept
        return read_run(self._database, run_id)
