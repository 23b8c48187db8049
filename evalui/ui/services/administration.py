"""What administrators decide, for their page and for programs; each change is in the audit log."""

from dataclasses import asdict
from typing import Literal

from evalui.accounts import audit, invitations, people, sessions
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.fair_queue.decisions import (
    QueueState,
    set_person_priority,
    set_queue_state,
    set_run_priority,
)
from evalui.runs.fair_queue.limits import UserLimits, usual_limits, write_limits
from evalui.ui.services.service import AppService

Priority = Literal[-1, 0, 1, 2]


def invite(service: AppService, name: str) -> str:
    """The secret of a link by which somebody chooses a password, "" where a proxy signs in.

    Raises:
        AccountError: there is no such person, or they are disabled.
    """
    if service.settings.auth == "proxy":
        return ""
    return invitations.invite(service.database, name, by=service.person)


def withdraw(service: AppService, name: str) -> None:
    """End the invitation of a person, whose account goes if nobody was ever here by the name.

    Raises:
        AccountError: there is no such person.
    """
    invitations.withdraw(service.database, name, by=service.person)
    account = people.read_account(service.database, name)
    if not account.has_password and account.seen is None:
        people.remove_person(service.database, name, heir=None, by=service.person)


def set_limits(service: AppService, name: str, limits: UserLimits, priority: int) -> None:
    """Give a person limits and a priority; raises `SpecError` as `write_limits` does."""
    write_limits(service.database, name, limits, usual_limits(service.settings))
    set_person_priority(service.database, name, priority)
    stated = {each: value for each, value in asdict(limits).items() if value is not None}
    _record(service, "set-limits", f"person {name}", **stated, priority=priority)


def stop_run(service: AppService, run_id: str) -> None:
    """Stop a run; raises `UnknownRun` if there is none. In the log are those of others."""
    run = service.run(run_id)
    queue.cancel(service.database, run.id)
    if run.owner != service.owner:
        _record(service, "stop-run", f"run {run.id}", owner=run.owner)


def set_priority(service: AppService, run_id: str, priority: int) -> None:
    """Take a run before those with a lower priority; raises `UnknownRun` if there is none."""
    run = service.run(run_id)
    set_run_priority(service.database, run.id, priority)
    _record(service, "set-priority", f"run {run.id}", owner=run.owner, priority=priority)


def set_queue(service: AppService, state: QueueState) -> None:
    """Take runs, or take none, see `QueueDecisions`."""
    set_queue_state(service.database, state)
    _record(service, "set-queue", "queue", state=state)


def sign_out_others(service: AppService) -> int:
    """End the sessions of everybody else, and return how many ended."""
    others = [name for name in read_signed_in(service.database) if name != service.person.name]
    return sum(sessions.end_sessions(service.database, name, by=service.person) for name in others)


def read_signed_in(database: Database) -> list[str]:
    """The names of all who have a session."""
    rows = database.rows("SELECT DISTINCT person FROM session ORDER BY person")
    return [row["person"] for row in rows]


def _record(service: AppService, deed: str, thing: str, **detail: audit.AuditValue) -> None:
    audit.record(service.database, service.person, deed, thing, **detail)
