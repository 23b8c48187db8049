"""The life of a queued run: claimed by a worker, kept alive, stopped, resumed, deleted.

Every change is one transaction and moves the clock, so that a page can see that nothing changed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.errors import Cancelled, ModelError, RequestKeyUsed, RunLeaseLost, UnknownRun
from evalui.messages import sentence
from evalui.store.codec import decode_sentence, encode_sentence
from evalui.store.connection import Database
from evalui.store.runs import Lease, RunRow, read_run

# A run that loses its worker so often without one batch written is what kills the worker.
MAX_LOSSES = 3
SCRIPT = "script-"  # begins the name of a worker that does one run and ends, as a script's process
Admit = Callable[[Connection], None]  # raises if a run may not be queued
REQUEST_KEY_KEPT_S = 24 * 3600.0  # a request that is sent twice must start one run

_LOST_RUNS_SQL = (
    "SELECT id, cancelling, worker, losses + 1 AS losses FROM run WHERE state = 'running'"
    " AND CASE WHEN :worker = '' THEN beat < :limit ELSE worker = :worker END"
)


@dataclass(frozen=True, slots=True)
class RequestKey:
    """What its sender calls a request, and the `digest` of its body; counts for a day."""

    key: str
    digest: str

    def run_of(self, connection: Connection, owner: str) -> str:
        """The run that the same request of an owner has started, "" if none.

        Raises:
            RequestKeyUsed: it was another request.
        """
        row = connection.execute(
            "SELECT digest, run FROM request_key WHERE owner = ? AND key = ? AND created > ?",
            (owner, self.key, time.time() - REQUEST_KEY_KEPT_S),
        ).fetchone()
        if row is None:
            return ""
        if row["digest"] != self.digest:
            raise RequestKeyUsed("request-key", key=self.key)
        return row["run"]

    def keep(self, connection: Connection, owner: str, run_id: str) -> None:
        """Inside the transaction that creates the run: note that it is this request's."""
        now = time.time()
        connection.execute(
            "DELETE FROM request_key WHERE created <= ?", (now - REQUEST_KEY_KEPT_S,)
        )
        connection.execute(
            "INSERT INTO request_key (owner, key, digest, run, created) VALUES (?, ?, ?, ?, ?)",
            (owner, self.key, self.digest, run_id, now),
        )


def oldest_queued(connection: Connection) -> str:
    """The id of the run that was queued first, "" if none waits."""
    row = connection.execute(
        "SELECT id FROM run WHERE state = 'queued' ORDER BY queued, rowid LIMIT 1"
    ).fetchone()
    return row["id"] if row else ""


def claim(
    database: Database,
    worker: str,
    run_id: str = "",
    *,
    choose: Callable[[Connection], str] = oldest_queued,
) -> RunRow | None:
    """Take the run that is named, else the one that `choose` returns inside the transaction.

    None if it does not wait, nor was made for this worker, or if `choose` returns "".
    """
    if not run_id and not database.row("SELECT 1 FROM run WHERE state = 'queued' LIMIT 1"):
        return None  # an idle worker reads only, so that it never keeps a writer waiting
    with database.writing() as connection:
        taken = connection.execute(
            """
            UPDATE run SET state = 'running', worker = :worker, attempt = attempt + 1,
                beat = :now, started = coalesce(started, :now), finished = NULL, error = ''
            WHERE id = :run AND (state = 'queued'
                OR (state = 'running' AND worker = :worker AND attempt = 0)) RETURNING id
            """,
            {"worker": worker, "run": run_id or choose(connection), "now": time.time()},
        ).fetchone()
        if taken is None:
            return None
        bump_revision(connection, taken["id"])
    return read_run(database, taken["id"])


def heartbeat(database: Database, lease: Lease) -> bool:
    """Note that the worker lives; False if the run is no longer its own."""
    with database.writing() as connection:
        return _try_renew_lease(connection, lease)


def check_lease(database: Database, lease: Lease) -> None:
    """Raise `Cancelled` if the owner has stopped the run, `RunLeaseLost` if it is not ours any
    more.
    """
    row = database.row(
        "SELECT cancelling FROM run WHERE id = ? AND worker = ? AND attempt = ?"
        " AND state = 'running'",
        (lease.run_id, lease.worker, lease.attempt),
    )
    if row is None:
        raise lost_run_error(lease)
    if row["cancelling"]:
        raise Cancelled("stopped", run=lease.run_id)


def renew_lease(connection: Connection, lease: Lease) -> None:
    """Inside a transaction: make sure that the lease is valid, and renew it.

    Raises:
        RunLeaseLost: it is not; nothing of the transaction may be kept.
    """
    if not _try_renew_lease(connection, lease):
        raise lost_run_error(lease)
    bump_revision(connection, lease.run_id)


def lost_run_error(lease: Lease) -> RunLeaseLost:
    """The error of a worker whose run is gone."""
    return RunLeaseLost("lost", run=lease.run_id, worker=lease.worker)


def start_cell(database: Database, lease: Lease, cell_id: int, fingerprint: str) -> None:
    """Mark a cell as running with this model.

    Raises:
        ModelError: the cell has answers of another model under the same name.
    """
    now = time.time()
    with database.writing() as connection:
        renew_lease(connection, lease)
        begun = connection.execute(
            "SELECT model FROM cell WHERE id = ? AND done > 0 AND fingerprint NOT IN ('', ?)",
            (cell_id, fingerprint),
        ).fetchone()
        if begun:
            raise ModelError("model-changed", model=begun["model"])
        connection.execute(
            "UPDATE cell SET state = 'running', started = coalesce(started, ?), finished = NULL,"
            " written = ?, fingerprint = ?, error = '', traceback = '', waits = '', width = 0,"
            " max_width = 0 WHERE id = ?",
            (now, now, fingerprint, cell_id),
        )


def finish_cell(
    database: Database, lease: Lease, cell_id: int, error: str = "", traceback: str = ""
) -> None:
    """Mark a cell as done, or as failed if there is an error."""
    state = "failed" if error else "done"
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE cell SET state = ?, finished = ?, error = ?, traceback = ?, waits = ''"
            " WHERE id = ?",
            (state, time.time(), encode_sentence(error), traceback, cell_id),
        )


def finish(database: Database, lease: Lease) -> None:
    """End a run: failed if a cell failed, else done."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        failed = connection.execute(
            "SELECT error FROM cell WHERE run = ? AND state = 'failed' ORDER BY place",
            (lease.run_id,),
        ).fetchall()
        error = decode_sentence(failed[0]["error"]) if failed else ""
        _end(connection, lease.run_id, "failed" if failed else "done", error)


def fail(database: Database, lease: Lease, error: str, traceback: str = "") -> None:
    """End a run that cannot go on; what is unfinished fails with it and can be resumed."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        _fail(connection, lease.run_id, error, traceback)


def finish_cancelled(database: Database, lease: Lease) -> None:
    """End a run that its owner has cancelled; what is unfinished can be resumed."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        _cancel(connection, lease.run_id)


def release(database: Database, lease: Lease) -> None:
    """Give a run back, to go on where it is as soon as a worker is free."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        _requeue(connection, lease.run_id)


def release_worker_runs(database: Database, worker: str) -> None:
    """Give back the runs of a worker that was ended before it could do so, which is no loss."""
    with database.writing() as connection:
        held = connection.execute(
            "SELECT id, cancelling FROM run WHERE state = 'running' AND worker = ?", (worker,)
        ).fetchall()
        for row in held:
            (_cancel if row["cancelling"] else _requeue)(connection, row["id"])
            bump_revision(connection, row["id"])


def requeue_lost(
    database: Database, *, silent_s: float = 0.0, worker: str = "", error: str = ""
) -> int:
    """Give back the runs of a worker known to be dead, or of all that fell silent.

    Returns how many. A run that was being cancelled ends so. One that has lost its worker
    `MAX_LOSSES` times without progress fails, with `error` if that says why, and so does one whose
    worker did nothing else: no other has its models.
    """
    values = {"worker": worker, "limit": time.time() - silent_s}
    if not database.row(_LOST_RUNS_SQL, values):
        return 0  # an idle worker only reads, as in `claim`
    with database.writing() as connection:
        gone = connection.execute(_LOST_RUNS_SQL, values).fetchall()
        for row in gone:
            connection.execute("UPDATE run SET losses = ? WHERE id = ?", (row["losses"], row["id"]))
            if row["cancelling"]:
                _cancel(connection, row["id"])
            elif row["worker"].startswith(SCRIPT):
                _fail(connection, row["id"], sentence("error.script-ended"), "")
            elif row["losses"] >= MAX_LOSSES:
                died = sentence("error.worker-died", n=row["losses"])
                _fail(connection, row["id"], error or died, "")
            else:
                _requeue(connection, row["id"])
            bump_revision(connection, row["id"])
    return len(gone)


def has_lost_scripts(database: Database, silent_s: float) -> bool:
    """Whether a script's process fell silent while it had a run."""
    return bool(
        database.row(
            "SELECT 1 FROM run WHERE state = 'running' AND worker GLOB ? || '*' AND beat < ?",
            (SCRIPT, time.time() - silent_s),
        )
    )


def cancel(database: Database, run_id: str) -> None:
    """Stop a run: at once if it waits, after the batch in hand if it runs."""
    with database.writing() as connection:
        state = _state(connection, run_id)
        if state == "queued":
            _cancel(connection, run_id)
        elif state == "running":
            connection.execute("UPDATE run SET cancelling = 1 WHERE id = ?", (run_id,))
        bump_revision(connection, run_id)


def resume(database: Database, run_id: str, *, admit: Admit | None = None) -> None:
    """Queue a failed or cancelled run again; only what is unfinished will be done.

    `admit` as for `create_run`.
    """
    with database.writing() as connection:
        if _state(connection, run_id) not in ("failed", "cancelled"):
            return
        if admit:
            admit(connection)
        connection.execute(
            "UPDATE cell SET state = 'waiting', error = '', traceback = '', finished = NULL"
            " WHERE run = ? AND state IN ('failed', 'cancelled')",
            (run_id,),
        )
        connection.execute(
            "UPDATE run SET state = 'queued', queued = ?, finished = NULL, error = '',"
            " losses = 0, cancelling = 0 WHERE id = ?",
            (time.time(), run_id),
        )
        bump_revision(connection, run_id)


def delete(database: Database, run_id: str) -> None:
    """Delete a run and its trials. One that runs is stopped by that: its lease is gone."""
    with database.writing() as connection:
        _state(connection, run_id)
        connection.execute("DELETE FROM run WHERE id = ?", (run_id,))
        connection.execute("UPDATE clock SET revision = revision + 1")


def bump_revision(connection: Connection, run_id: str) -> None:
    """Inside a transaction: note that the run has changed."""
    connection.execute("UPDATE clock SET revision = revision + 1")
    connection.execute(
        "UPDATE run SET revision = (SELECT revision FROM clock) WHERE id = ?", (run_id,)
    )


def _try_renew_lease(connection: Connection, lease: Lease) -> bool:
    held = connection.execute(
        "UPDATE run SET beat = ? WHERE id = ? AND worker = ? AND attempt = ? AND state = 'running'",
        (time.time(), lease.run_id, lease.worker, lease.attempt),
    )
    return held.rowcount == 1


def _state(connection: Connection, run_id: str) -> str:
    row = connection.execute("SELECT state FROM run WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UnknownRun("no-run", run=run_id)
    return row["state"]


def _end(connection: Connection, run_id: str, state: str, error: str = "") -> None:
    connection.execute(
        "UPDATE run SET state = ?, finished = ?, error = ?, cancelling = 0 WHERE id = ?",
        (state, time.time(), encode_sentence(error), run_id),
    )


def _cancel(connection: Connection, run_id: str) -> None:
    connection.execute(
        "UPDATE cell SET state = 'cancelled', finished = ?, waits = ''"
        " WHERE run = ? AND state IN ('waiting', 'running')",
        (time.time(), run_id),
    )
    _end(connection, run_id, "cancelled")


def _fail(connection: Connection, run_id: str, error: str, traceback: str) -> None:
    connection.execute(
        "UPDATE cell SET state = 'failed', finished = ?, error = ?, traceback = ?, waits = ''"
        " WHERE run = ? AND state IN ('waiting', 'running')",
        (time.time(), encode_sentence(error), traceback, run_id),
    )
    _end(connection, run_id, "failed", error)


def _requeue(connection: Connection, run_id: str) -> None:
    connection.execute(
        "UPDATE cell SET state = 'waiting', waits = ''"
        " WHERE run = ? AND state IN ('waiting', 'running')",
        (run_id,),
    )
    # It keeps its place: first come, first served, also after an accident.
    connection.execute("UPDATE run SET state = 'queued' WHERE id = ?", (run_id,))
