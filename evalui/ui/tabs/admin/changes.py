"""What administrators change, by the `do` of the button; each change stands in the audit log."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from evalui.access import ROLES, Role
from evalui.accounts import audit, invitations, people, sessions, shares, teams
from evalui.app.readings import read_signed_in
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.runs.database import queue
from evalui.runs.fair_queue.decisions import (
    QueueState,
    set_person_priority,
    set_queue_state,
    set_run_priority,
)
from evalui.runs.fair_queue.limits import UserLimits, usual_limits, write_limits
from evalui.ui.components.fragment import Action

GIGABYTE = 1e9
PRIORITIES = (-1, 0, 1, 2)
_STATES: Mapping[str, QueueState] = {"open": "open", "paused": "paused", "draining": "draining"}


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """What a change leaves to show: a sentence of `admin.done`, and once the secret of a link."""

    key: str
    values: Mapping[str, str]
    secret: str = ""


def _invite(service: AppService, action: Action) -> ChangeNotice:
    account = people.add_person(
        service.database, action.value("invite_name"), _role(action), by=service.person
    )
    return _link(service, account.name)


def _link_again(service: AppService, action: Action) -> ChangeNotice:
    return _link(service, action.value("person"))


def _link(service: AppService, name: str) -> ChangeNotice:
    """A link by which somebody chooses a password; a proxy signs people in by itself."""
    if service.settings.auth == "proxy":
        return ChangeNotice("added", {"name": name})
    secret = invitations.invite(service.database, name, by=service.person)
    return ChangeNotice("link", {"name": name}, secret)


def _withdraw(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    invitations.withdraw(service.database, name, by=service.person)
    account = people.read_account(service.database, name)
    if not account.has_password and account.seen is None:  # nobody was ever here by this name
        people.remove_person(service.database, name, heir=None, by=service.person)
    return ChangeNotice("withdrawn", {"name": name})


def _set_role(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    people.set_role(service.database, name, _role(action), by=service.person)
    return ChangeNotice("role", {"name": name})


def _set_limits(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    stored = _number(action, "stored_bytes")
    limits = UserLimits(
        queued=_whole_number(action, "queued"),
        running=_whole_number(action, "running"),
        gpu_hours_week=_number(action, "gpu_hours_week"),
        stored_bytes=None if stored is None else round(stored * GIGABYTE),
        tokens_day=_whole_number(action, "tokens_day"),
        dollars_day=_number(action, "dollars_day"),
    )
    set_limits(service, name, limits, _priority(action))
    return ChangeNotice("limits", {"name": name})


def set_limits(service: AppService, name: str, limits: UserLimits, priority: int) -> None:
    """Give a person limits and a priority; raises `SpecError` as `write_limits` does."""
    write_limits(service.database, name, limits, usual_limits(service.settings))
    set_person_priority(service.database, name, priority)
    stated = {each: value for each, value in asdict(limits).items() if value is not None}
    _record(service, "set-limits", f"person {name}", **stated, priority=priority)


def _set_disabled(service: AppService, action: Action) -> ChangeNotice:
    name, disabled = action.value("person"), action.do == "disable"
    people.set_disabled(service.database, name, disabled=disabled, by=service.person)
    return ChangeNotice(f"{action.do}d", {"name": name})


def _remove(service: AppService, action: Action) -> ChangeNotice:
    name, heir = action.value("person"), action.value("heir")
    if not heir:
        raise SpecError("heir-missing")
    taken = None if heir == DELETE else heir
    people.remove_person(service.database, name, heir=taken, by=service.person)
    return ChangeNotice("removed", {"name": name})


def _add_team(service: AppService, action: Action) -> None:
    teams.add_team(service.database, action.value("team_name"), by=service.person)


def _remove_team(service: AppService, action: Action) -> None:
    teams.remove_team(service.database, action.value("team"), by=service.person)


def _join(service: AppService, action: Action) -> None:
    team = action.value("team")
    member = action.value("person") or action.value(f"member:{team}")
    teams.join_team(service.database, team, member, by=service.person)


def _leave(service: AppService, action: Action) -> None:
    team, member = action.value("team"), action.value("person")
    teams.leave_team(service.database, team, member, by=service.person)


def _stop(service: AppService, action: Action) -> None:
    run = service.run(action.value("target"))
    queue.cancel(service.database, run.id)
    _record(service, "stop-run", f"run {run.id}", owner=run.owner)


def _set_priority(service: AppService, action: Action) -> None:
    run, priority = service.run(action.value("target")), _priority(action)
    set_run_priority(service.database, run.id, priority)
    _record(service, "set-priority", f"run {run.id}", owner=run.owner, priority=priority)


def _decide(service: AppService, action: Action) -> None:
    state = _STATES.get(action.value("state"))
    if state is None:
        raise SpecError("no-action")
    set_queue_state(service.database, state)
    _record(service, "set-queue", "queue", state=state)


def _revoke_link(service: AppService, action: Action) -> None:
    shares.revoke_share(service.database, action.value("link"), by=service.person)


def _sign_out(service: AppService, action: Action) -> ChangeNotice:
    """End the sessions of everybody but of who does it, which would end this page."""
    del action
    others = [name for name in read_signed_in(service.database) if name != service.person.name]
    n = sum(sessions.end_sessions(service.database, name, by=service.person) for name in others)
    return ChangeNotice("signed_out", {"n": str(n)})


DELETE = "="  # in the place of an heir; no name is like this
CHANGES: Mapping[str, Callable[[AppService, Action], ChangeNotice | None]] = {
    "invite": _invite,
    "link": _link_again,
    "withdraw": _withdraw,
    "role": _set_role,
    "limits": _set_limits,
    "disable": _set_disabled,
    "enable": _set_disabled,
    "remove": _remove,
    "add_team": _add_team,
    "remove_team": _remove_team,
    "join": _join,
    "leave": _leave,
    "stop": _stop,
    "priority": _set_priority,
    "queue": _decide,
    "revoke_link": _revoke_link,
    "sign_out": _sign_out,
}


def _record(service: AppService, deed: str, thing: str, **detail: audit.AuditValue) -> None:
    audit.record(service.database, service.person, deed, thing, **detail)


def _role(action: Action) -> Role:
    role = action.value("role")
    if role not in ROLES:
        raise SpecError("no-action")
    return role


def _priority(action: Action) -> int:
    text = action.value("priority")
    if text not in map(str, PRIORITIES):
        raise SpecError("no-action")
    return int(text)


def _number(action: Action, name: str) -> float | None:
    """A limit as it was typed; None is no limit."""
    text = action.value(f"limit_{name}").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise SpecError("limit-no-number", text=text[:40])
    return number


def _whole_number(action: Action, name: str) -> int | None:
    number = _number(action, name)
    if number is None:
        return None
    if number != int(number):
        raise SpecError("limit-no-number", text=f"{number:g}")
    return int(number)
