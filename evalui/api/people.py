"""What administrators see and decide: people, limits, teams, tokens, sessions, and the queue."""

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from evalui.accounts import teams, tokens
from evalui.accounts.audit import AuditEntry, read_audit
from evalui.api.links import address_of
from evalui.api.problems import CheckedRoute, Service, Words, requires
from evalui.api.runs import details_of
from evalui.api.schemas import Answered, CheckedJson, RunDetail
from evalui.app.readings import PersonUse, read_live_runs, read_people
from evalui.runs.fair_queue.decisions import QueueDecisions, read_decisions
from evalui.runs.fair_queue.limits import UserLimits, usual_limits
from evalui.ui.components.fragment import Action
from evalui.ui.deeds import DEEDS
from evalui.ui.tabs.admin.changes import CHANGES, PRIORITIES, set_limits

# Each is a change of the Admin page: its `do`, and in braces and as the query the values it takes.
CHANGES_BY_ROUTE: Mapping[str, str] = {
    "POST /people/{invite_name}?role": "invite",
    "DELETE /people/{person}?heir": "remove",
    "POST /people/{person}/invitation": "link",
    "DELETE /people/{person}/invitation": "withdraw",
    "PUT /people/{person}/role/{role}": "role",
    "POST /people/{person}/disable": "disable",
    "POST /people/{person}/enable": "enable",
    "POST /teams/{team_name}": "add_team",
    "DELETE /teams/{team}": "remove_team",
    "PUT /teams/{team}/members/{person}": "join",
    "DELETE /teams/{team}/members/{person}": "leave",
    "PUT /queue/{state}": "queue",
    "POST /queue/runs/{target}/stop": "stop",
    "PUT /queue/runs/{target}/priority/{priority}": "priority",
    "DELETE /sessions": "sign_out",
}


router = APIRouter(
    route_class=CheckedRoute, tags=["administration"], dependencies=[requires("administer")]
)


class ChangeMade(Answered):
    """After an invitation the `address` at which a person chooses a password, stated this once."""

    address: str


class QueueShown(Answered):
    """What administrators decided, and the runs that wait or are at work, the next one first."""

    decisions: QueueDecisions
    runs: list[RunDetail]


@router.get("/people")
def list_people(service: Service) -> list[PersonUse]:
    """Everybody with an account: what they have at work, waiting and stored, and may have."""
    return read_people(service.database, usual_limits(service.settings))


@router.put("/people/{name}/limits", status_code=204)
def change_limits(
    name: str,
    limits: Annotated[UserLimits, CheckedJson],
    service: Service,
    priority: Annotated[int, Query(ge=min(PRIORITIES), le=max(PRIORITIES))] = 0,
) -> None:
    """Give a person limits, of what is left out none; runs of a higher priority are taken earlier,
    0 is usual.
    """
    set_limits(service, name, limits, priority)


@router.get("/teams")
def list_teams(service: Service) -> list[teams.Team]:
    """All teams with their members."""
    return list(teams.read_teams(service.database))


@router.get("/tokens")
def list_tokens(service: Service, person: str = "") -> list[tokens.ApiToken]:
    """The tokens of a person, or of all. No token makes another: that is for browsers."""
    return list(tokens.read_tokens(service.database, person))


@router.delete("/tokens/{token_id}", status_code=204, dependencies=[requires("manage_accounts")])
def revoke_token(token_id: Annotated[int, Field(le=2**53)], service: Service) -> None:
    """Let a token count no more."""
    tokens.revoke_token(service.database, token_id, by=service.person)


@router.get("/audit")
def list_audit(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> list[AuditEntry]:
    """Who changed what, the newest first; `before` an id."""
    return list(read_audit(service.database, limit, before))


@router.get("/queue")
def read_queue(service: Service, t: Words) -> QueueShown:
    """The queue of all."""
    ids = (each.row.id for each in read_live_runs(service.database))
    runs = list(details_of(service, t, ids))
    return QueueShown(decisions=read_decisions(service.database), runs=runs)


def _add_change(place: str, do: str) -> None:
    method, path, *query = re.split(r"[ ?]", place)
    names = dict.fromkeys(re.findall(r"{(\w+)}", path), "path") | dict.fromkeys(query, "query")
    text = {"required": True, "schema": {"type": "string"}}
    stated = [{"name": name, "in": where, **text} for name, where in names.items()]

    def change(request: Request, service: Service) -> ChangeMade:
        values = {**request.query_params, **request.path_params}
        notice = CHANGES[do](service, Action(do, values, {}))
        secret = notice.secret if notice else ""
        return ChangeMade(address=address_of(service, f"invitation/{secret}") if secret else "")

    change.__doc__ = f"“{do}” of the Admin page."
    router.add_api_route(
        path,
        change,
        methods=[method],
        dependencies=[requires(DEEDS["admin"][do].deed)],
        openapi_extra={"parameters": stated},
    )


for _place, _do in CHANGES_BY_ROUTE.items():
    _add_change(_place, _do)
