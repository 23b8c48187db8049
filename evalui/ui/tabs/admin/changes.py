"""What administrators change, by the `do` of the button."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalui.app import people, queue
from evalui.app.people import read_heir, read_role
from evalui.app.service import AppService
from evalui.app.sharing import withdraw
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import UserLimits
from evalui.ui.components.fragment import Action

GIGABYTE = 1e9


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """What a change leaves to show: a sentence of `admin.done`, and once the secret of a link."""

    key: str
    values: Mapping[str, str]
    secret: str = ""


def _invite(service: AppService, action: Action) -> ChangeNotice:
    name, role = action.value("invite_name"), read_role(action.value("role"))
    return _invited(people.invite_person(service, name, role))


def _link_again(service: AppService, action: Action) -> ChangeNotice:
    return _invited(people.invite_again(service, action.value("person")))


def _invited(made: people.Invitation) -> ChangeNotice:
    return ChangeNotice("link" if made.secret else "added", {"name": made.name}, made.secret)


def _withdraw(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    people.withdraw_invitation(service, name)
    return ChangeNotice("withdrawn", {"name": name})


def _set_role(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    people.set_role(service, name, read_role(action.value("role")))
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
    people.set_limits(service, name, limits, queue.read_priority(action.value("priority")))
    return ChangeNotice("limits", {"name": name})


def _set_disabled(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    people.set_disabled(service, name, disabled=action.do == "disable")
    return ChangeNotice(f"{action.do}d", {"name": name})


def _remove(service: AppService, action: Action) -> ChangeNotice:
    name = action.value("person")
    people.remove_person(service, name, read_heir(action.value("heir")))
    return ChangeNotice("removed", {"name": name})


def _add_team(service: AppService, action: Action) -> None:
    people.add_team(service, action.value("team_name"))


def _remove_team(service: AppService, action: Action) -> None:
    people.remove_team(service, action.value("team"))


def _join(service: AppService, action: Action) -> None:
    team = action.value("team")
    people.join_team(service, team, action.value("person") or action.value(f"member:{team}"))


def _leave(service: AppService, action: Action) -> None:
    people.leave_team(service, action.value("team"), action.value("person"))


def _stop(service: AppService, action: Action) -> None:
    queue.stop_run_of_all(service, action.value("target"))


def _set_priority(service: AppService, action: Action) -> None:
    priority = queue.read_priority(action.value("priority"))
    queue.set_priority(service, action.value("target"), priority)


def _decide(service: AppService, action: Action) -> None:
    queue.decide_queue(service, queue.read_queue_state(action.value("state")))


def _revoke_link(service: AppService, action: Action) -> None:
    withdraw(service, action.value("link"))


def _sign_out(service: AppService, action: Action) -> ChangeNotice:
    del action
    return ChangeNotice("signed_out", {"n": str(people.sign_out_others(service))})


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
