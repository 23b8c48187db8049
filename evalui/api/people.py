"""What administrators see and decide: people, limits, tokens, sessions, and the queue."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from evalui.accounts.audit import AuditEntry
from evalui.accounts.tokens import ApiToken
from evalui.api.links import address_of
from evalui.api.problems import CheckedRoute, Service, Words, permits, requires
from evalui.api.runs import details_of
from evalui.api.schemas import Answered, CheckedJson, RunDetail
from evalui.app import administration, people
from evalui.app.administration import PRIORITIES
from evalui.app.people import PersonUse, read_heir, read_role
from evalui.app.service import AppService
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import QueueDecisions

router = APIRouter(
    route_class=CheckedRoute, tags=["administration"], dependencies=[requires("administer")]
)


class ChangeMade(Answered):
    """After an invitation the `address` at which a person chooses a password, stated this once."""

    address: str


_DONE = ChangeMade(address="")


class QueueShown(Answered):
    """What administrators decided, and the runs that wait or are at work, the next one first."""

    decisions: QueueDecisions
    runs: list[RunDetail]


@router.get("/people")
def list_people(service: Service) -> list[PersonUse]:
    """Everybody with an account: what they have at work, waiting and stored, and may have."""
    return people.list_people(service)


@router.put("/people/{name}/limits", status_code=204, dependencies=[permits(people.set_limits)])
def change_limits(
    name: str,
    limits: Annotated[UserLimits, CheckedJson],
    service: Service,
    priority: Annotated[int, Query(ge=min(PRIORITIES), le=max(PRIORITIES))] = 0,
) -> None:
    """Give a person limits, of what is left out none; runs of a higher priority are taken earlier,
    0 is usual.
    """
    people.set_limits(service, name, limits, priority)


@router.get("/tokens")
def list_tokens(service: Service, person: str = "") -> list[ApiToken]:
    """The tokens of a person, or of all. No token makes another: that is for browsers."""
    return list(people.list_tokens(service, person))


@router.delete("/tokens/{token_id}", status_code=204, dependencies=[permits(people.revoke_token)])
def revoke_token(token_id: Annotated[int, Field(le=2**53)], service: Service) -> None:
    """Let a token count no more."""
    people.revoke_token(service, token_id)


@router.get("/audit")
def list_audit(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> list[AuditEntry]:
    """Who changed what, the newest first; `before` an id."""
    return list(people.list_audit(service, limit, before))


@router.get("/queue")
def read_queue(service: Service, t: Words) -> QueueShown:
    """The queue of all."""
    ids = (each.row.id for each in administration.list_live_runs(service))
    runs = list(details_of(service, t, ids))
    return QueueShown(decisions=administration.read_queue_decisions(service), runs=runs)


@router.post("/people/{invite_name}", dependencies=[permits(people.invite_person)])
def invite_person(invite_name: str, service: Service, role: str = "") -> ChangeMade:
    """Make an account with a role, and a link by which its person chooses a password."""
    return _invited(service, people.invite_person(service, invite_name, read_role(role)))


@router.delete("/people/{person}", dependencies=[permits(people.remove_person)])
def remove_person(person: str, service: Service, heir: str = "") -> ChangeMade:
    """End an account; what it has goes to the heir, with "=" in their place it is deleted."""
    people.remove_person(service, person, read_heir(heir))
    return _DONE


@router.post("/people/{person}/invitation", dependencies=[permits(people.invite_again)])
def invite_again(person: str, service: Service) -> ChangeMade:
    """Make a new link for somebody with an account; the one before is void."""
    return _invited(service, people.invite_again(service, person))


@router.delete("/people/{person}/invitation", dependencies=[permits(people.withdraw_invitation)])
def withdraw_invitation(person: str, service: Service) -> ChangeMade:
    """Make the link of somebody void, and end their account if they never came."""
    people.withdraw_invitation(service, person)
    return _DONE


@router.put("/people/{person}/role/{role}", dependencies=[permits(people.set_role)])
def set_role(person: str, role: str, service: Service) -> ChangeMade:
    """Give a person another role."""
    people.set_role(service, person, read_role(role))
    return _DONE


@router.post("/people/{person}/disable", dependencies=[permits(people.set_disabled)])
def disable_person(person: str, service: Service) -> ChangeMade:
    """Let a person in no more."""
    people.set_disabled(service, person, disabled=True)
    return _DONE


@router.post("/people/{person}/enable", dependencies=[permits(people.set_disabled)])
def enable_person(person: str, service: Service) -> ChangeMade:
    """Let a person in again."""
    people.set_disabled(service, person, disabled=False)
    return _DONE


@router.put("/queue/{state}", dependencies=[permits(administration.decide_queue)])
def decide_queue(state: str, service: Service) -> ChangeMade:
    """Open the queue, pause it, or let only what waits be done: open, paused, draining."""
    administration.decide_queue(service, administration.read_queue_state(state))
    return _DONE


@router.post("/queue/runs/{target}/stop", dependencies=[permits(administration.stop_run_of_all)])
def stop_run(target: str, service: Service) -> ChangeMade:
    """Stop a run of whomever."""
    administration.stop_run_of_all(service, target)
    return _DONE


@router.put(
    "/queue/runs/{target}/priority/{priority}", dependencies=[permits(administration.set_priority)]
)
def set_priority(target: str, priority: str, service: Service) -> ChangeMade:
    """Have a run taken earlier, or later: -1, 0, 1 or 2; 0 is usual."""
    administration.set_priority(service, target, administration.read_priority(priority))
    return _DONE


@router.delete("/sessions", dependencies=[permits(people.sign_out_others)])
def sign_out_others(service: Service) -> ChangeMade:
    """End the sessions of everybody but of who does it."""
    people.sign_out_others(service)
    return _DONE


def _invited(service: AppService, made: people.Invitation) -> ChangeMade:
    path = f"invitation/{made.secret}"
    return ChangeMade(address=address_of(service, path) if made.secret else "")
