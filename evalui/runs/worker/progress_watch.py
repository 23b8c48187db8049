"""Notices a worker that lives and makes no progress: its heart beats in a thread of its own."""

import time
from collections.abc import Callable, Hashable, Mapping

from evalui.runs.database.connection import Database

_RUN_SQL = """
    SELECT r.id, r.attempt, group_concat(c.id) AS cell, max(c.written) AS written,
        (SELECT count(*) FROM cell WHERE run = r.id AND state IN ('done', 'failed')) AS ended,
        (SELECT max(waits) FROM cell WHERE run = r.id) AS waits
    FROM run r LEFT JOIN cell c ON c.run = r.id AND c.state = 'running'
    WHERE r.worker = ? AND r.state = 'running' GROUP BY r.id
"""
_TEST_SQL = "SELECT id FROM trial_of_model WHERE worker = ? AND state = 'running'"


class ProgressWatch:
    """How long one worker has made no progress.

    A run progresses with each batch that one of its cells writes; of several runs each has to.
    One whose model is loaded, or tried out, and a worker that starts may take `loading_s` seconds,
    all else `hang_s`; 0 is for ever. A model at an endpoint that is waited for has a patience of
    its own.
    """

    def __init__(
        self,
        database: Database,
        worker: str,
        *,
        hang_s: float,
        loading_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._worker = worker
        self._hang_s = hang_s
        self._loading_s = loading_s
        self._clock = clock
        self._seen: Mapping[Hashable, tuple[Hashable, float]] = {}  # marks, and since when

    def hung_s(self) -> float:
        """How many seconds without progress were too long, 0 if none; raises `StoreError`."""
        now, before, work = self._clock(), self._seen, self._look()
        self._seen = {
            what: before[what] if what in before and before[what][0] == mark else (mark, now)
            for what, (mark, _) in work.items()
        }
        late = [
            patience
            for what, (_, patience) in work.items()
            if patience and now - self._seen[what][1] > patience
        ]
        return max(late, default=0.0)

    def _look(self) -> Mapping[Hashable, tuple[Hashable, float]]:
        """What the worker is at: what changes with its progress, and for how many seconds that may
        stay the same, 0 for ever.
        """
        work: dict[Hashable, tuple[Hashable, float]] = {}
        for run in self._database.rows(_RUN_SQL, (self._worker,)):
            patience = self._hang_s if run["cell"] else self._loading_s
            work[run["id"]] = tuple(run), 0.0 if run["waits"] else patience
        if test := self._database.row(_TEST_SQL, (self._worker,)):
            work["test"] = test["id"], self._loading_s
        if work:
            return work
        if row := self._database.row("SELECT seen FROM worker WHERE name = ?", (self._worker,)):
            return {"idle": (row["seen"], self._hang_s)}
        return {"starting": (None, self._loading_s)}
