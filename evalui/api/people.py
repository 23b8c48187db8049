"""What administrators decide: people, limits, teams, tokens, sessions, and the queue of all."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from evalui.access import Role
from evalui.accounts import people, teams, tokens
from evalui.accounts.audit import AuditEntry, read_audit
from evalui.api.links import address_of
from evalui.api.problems import Service, Words
from evalui.api.schemas import Answered, RunProgress, Sent
from evalui.errors import SpecError
from evalui.runs.fair_queue.decisions import QueueState, read_decisions
from evalui.runs.fair_queue.limits import limits_of, usual_limits
from evalui.runs.fair_queue.place import QueuePlace, queue_order, queue_places
from evalui.ui.services import administration
from evalui.ui.services.administration import Priority
from evalui.ui.services.service import AppService
from evalui.ui.tabs.admin.readings import (
    Failure,
    PersonUse,
    read_failures,
    read_live_runs,
    read_people,
)

_Amount = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int | None, Field(ge=0, le=2**53)]


async def _administrators(service: Service) -> None:
    service.require("administer")


router = APIRouter(tags=["administration"], dependencies=[Depends(_administrators)])


class PersonSent(Sent):
    """A new account."""

    name: str
    role: Role


class PersonChanged(Sent):
    """What changes of an account; what is left out stays. Who is `disabled` is let in no more."""

    role: Role | None = None
    disabled: bool | None = None


class Invitation(Answered):
    """Where a person chooses a password, stated this once; "" where a proxy signs people in."""

    name: str
    address: str


class LimitsSent(Sent):
    """The limits of a person, null for none; what is left out stays. See `UserLimits`.

    Runs of a higher `priority` are taken earlier, 0 is usual.
    """

    queued: _Count = None
    running: _Count = None
    gpu_hours_week: _Amount = None
    stored_bytes: _Count = None
    tokens_day: _Count = None
    dollars_day: _Amount = None
    priority: Priority = 0


class TeamSent(Sent):
    """A new team."""

    name: str


class SessionsEnded(Answered):
    """From how many browsers people were signed out."""

    ended: int


class QueuedRun(Answered):
    """A run that waits or is at work; the other fields as in a `RunDetail`."""

    run: RunProgress
    priority: int
    place: int | None
    starts_in_seconds: float | None
    held: str


class QueueShown(Answered):
    """The queue of all, and the `priorities` of people; "paused" takes nothing new, "draining" lets
    what runs end its cell in hand, too.
    """

    state: QueueState
    priorities: dict[str, int]
    runs: list[QueuedRun]


class QueueSent(Sent):
    """Whether runs are taken."""

    state: QueueState


class PrioritySent(Sent):
    """How much earlier than others, 0 is usual."""

    priority: Priority


@router.get("/people")
def list_people(service: Service) -> list[PersonUse]:
    """Everybody with an account: what they have at work, waiting and stored, and may have."""
    return read_people(service.database, usual_limits(service.settings))


@router.post("/people", status_code=201)
def add_person(sent: PersonSent, service: Service) -> Invitation:
    """Add an account; its person chooses a password at the address."""
    account = people.add_person(service.database, sent.name, sent.role, by=service.person)
    return _invited(service, account.name)


@router.put("/people/{name}")
def change_person(name: str, sent: PersonChanged, service: Service) -> people.Account:
    """Change the role of a person, close their account, or open it again."""
    database, by = service.database, service.person
    people.read_account(database, name)
    if sent.role is not None:
        people.set_role(database, name, sent.role, by=by)
    if sent.disabled is not None:
        people.set_disabled(database, name, disabled=sent.disabled, by=by)
    return people.read_account(database, name)


@router.delete("/people/{name}", status_code=204)
def remove_person(name: str, service: Service, heir: str = "", delete: bool = False) -> None:
    """Remove a person; what is theirs goes to an `heir`, or `delete` deletes it."""
    if bool(heir) == delete:
        raise SpecError("heir-missing")
    people.remove_person(service.database, name, heir=heir or None, by=service.person)


@router.put("/people/{name}/limits")
def set_limits(name: str, sent: LimitsSent, service: Service) -> PersonUse:
    """Change the limits and the priority of a person."""
    database, usual = service.database, usual_limits(service.settings)
    people.read_account(database, name)
    stated = sent.model_dump(exclude_unset=True)
    priority = stated.pop("priority", read_decisions(database).priorities.get(name, 0))
    limits = replace(limits_of(database, name, usual), **stated)
    administration.set_limits(service, name, limits, priority)
    return next(use for use in read_people(database, usual) if use.account.name == name)


@router.post("/people/{name}/invitation", status_code=201)
def invite(name: str, service: Service) -> Invitation:
    """Let a person choose a password, the first one or a new one."""
    return _invited(service, name)


@router.delete("/people/{name}/invitation", status_code=204)
def withdraw(name: str, service: Service) -> None:
    """End the invitation of a person; an account that nobody ever used goes with it."""
    people.read_account(service.database, name)
    administration.withdraw(service, name)


@router.get("/teams")
def list_teams(service: Service) -> list[teams.Team]:
    """All teams with their members."""
    return list(teams.read_teams(service.database))


@router.post("/teams", status_code=204)
def add_team(sent: TeamSent, service: Service) -> None:
    """Add a team without members."""
    teams.add_team(service.database, sent.name, by=service.person)


@router.delete("/teams/{team}", status_code=204)
def remove_team(team: str, service: Service) -> None:
    """Remove a team and its rights."""
    teams.remove_team(service.database, team, by=service.person)


@router.put("/teams/{team}/members/{name}", status_code=204)
def join(team: str, name: str, service: Service) -> None:
    """Make a person a member."""
    teams.join_team(service.database, team, name, by=service.person)


@router.delete("/teams/{team}/members/{name}", status_code=204)
def leave(team: str, name: str, service: Service) -> None:
    """End a membership."""
    teams.leave_team(service.database, team, name, by=service.person)


@router.get("/tokens")
def list_tokens(service: Service, person: str = "") -> list[tokens.ApiToken]:
    """The tokens of a person, or of all. No token makes another: that is for browsers."""
    return list(tokens.read_tokens(service.database, person))


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: Annotated[int, Field(le=2**53)], service: Service) -> None:
    """Let a token count no more."""
    tokens.revoke_token(service.database, token_id, by=service.person)


@router.delete("/sessions")
def sign_out_others(service: Service) -> SessionsEnded:
    """Sign everybody else out of their browsers."""
    return SessionsEnded(ended=administration.sign_out_others(service))


@router.get("/audit")
def list_audit(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> list[AuditEntry]:
    """Who changed what, the newest first; `before` an id."""
    return list(read_audit(service.database, limit, before))


@router.get("/failures")
def list_failures(service: Service, t: Words) -> list[Failure]:
    """The newest failed runs and cells."""
    return [replace(one, error=t.translate(one.error)) for one in read_failures(service.database)]


@router.get("/queue")
def read_queue(service: Service, t: Words) -> QueueShown:
    """Every run that waits or is at work, in the order in which they come."""
    decided, live = read_decisions(service.database), read_live_runs(service.database)
    places = queue_places(service.database, usual_limits(service.settings))
    runs: list[QueuedRun] = []
    for one in sorted(live, key=lambda each: queue_order(places.get(each.row.id))):
        queued = places.get(one.row.id, QueuePlace(None, None))
        runs.append(
            QueuedRun(
                run=RunProgress.model_validate(one.row, context=t),
                priority=one.priority,
                place=queued.place,
                starts_in_seconds=queued.starts_in_s,
                held=t.translate(queued.held),
            )
        )
    return QueueShown(state=decided.state, priorities=dict(decided.priorities), runs=runs)


@router.put("/queue", status_code=204)
def set_queue(sent: QueueSent, service: Service) -> None:
    """Take runs ("open"), take no more ("paused"), or end the cells in hand, too ("draining")."""
    administration.set_queue(service, sent.state)


@router.put("/queue/runs/{run_id}", status_code=204)
def set_priority(run_id: str, sent: PrioritySent, service: Service) -> None:
    """Take a run earlier or later than others."""
    administration.set_priority(service, run_id, sent.priority)


def _invited(service: AppService, name: str) -> Invitation:
    secret = administration.invite(service, name)
    return Invitation(
        name=name, address=address_of(service, f"invitation/{secret}") if secret else ""
    )
