"""What administrators change, by the `do` of a button; what is not listed here is refused."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalui.access import Deed
from evalui.app import administration, people
from evalui.app.permissions import permission_of
from evalui.app.service import AppService
from evalui.app.sharing import withdraw
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import UserLimits

GIGABYTE = 1e9
_WHOLE = ("queued", "running", "tokens_day")  # limits that count


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """What a change leaves to show: a sentence of `admin.done`, and once the secret of a link."""

    key: str
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str = ""


Sent = Mapping[str, Any]  # by name: what stands on a button, or in the fields of a form
_Do = Callable[[AppService, Sent], ChangeNotice | None]


@dataclass(frozen=True, slots=True)
class Change:
    """What is required for a change beside `administer`, and what makes it."""

    deed: Deed
    make: _Do


def make_change(service: AppService, do: str, sent: Sent) -> ChangeNotice | None:
    """Make the change of a name.

    Raises:
        SpecError: there is none of the name, or what was sent does not fit.
        NotAllowed: the person may not.
    """
    service.require("administer")
    change = CHANGES.get(do)
    if change is None:
        raise SpecError("no-action")
    service.require(change.deed)
    return change.make(service, sent)


def _does(use_case: Callable[..., object], make: _Do) -> Change:
    """A change for whoever may do a use case."""
    declared = permission_of(use_case)
    if declared is None or declared.deed is None:
        raise TypeError(f"{use_case} declares {declared}")
    return Change(declared.deed, make)


def text_of(sent: Sent, name: str) -> str:
    """A field as text, "" for anything else."""
    value = sent.get(name)
    return value.strip() if isinstance(value, str) else ""


def _invite(service: AppService, sent: Sent) -> ChangeNotice:
    return _invited(
        people.invite_person(
            service, text_of(sent, "name"), people.read_role(text_of(sent, "role"))
        )
    )


def _link_again(service: AppService, sent: Sent) -> ChangeNotice:
    return _invited(people.invite_again(service, text_of(sent, "person")))


def _invited(made: people.Invitation) -> ChangeNotice:
    return ChangeNotice("link" if made.secret else "added", {"name": made.name}, made.secret)


def _withdraw(service: AppService, sent: Sent) -> ChangeNotice:
    name = text_of(sent, "person")
    people.withdraw_invitation(service, name)
    return ChangeNotice("withdrawn", {"name": name})


def _set_person(service: AppService, sent: Sent) -> ChangeNotice:
    """Role, limits and priority; only what differs is changed, and stands in the log."""
    name, role = text_of(sent, "person"), people.read_role(text_of(sent, "role"))
    limits = UserLimits(**{each: _limit(sent, each) for each in UserLimits.__slots__})
    priority = administration.read_priority(text_of(sent, "priority"))
    use = next((each for each in people.list_people(service) if each.account.name == name), None)
    has_role = use is not None and use.account.role == role
    if not has_role:
        people.set_role(service, name, role)
    before = administration.read_queue_decisions(service).priorities.get(name, 0)
    has_limits = use is not None and (use.limits, before) == (limits, priority)
    if not has_limits:
        people.set_limits(service, name, limits, priority)
    changed = "limits" if has_role else "role" if has_limits else "role_and_limits"
    return ChangeNotice(changed, {"name": name})


def _disable(service: AppService, sent: Sent) -> ChangeNotice:
    name = text_of(sent, "person")
    people.set_disabled(service, name, disabled=True)
    return ChangeNotice("disabled", {"name": name})


def _enable(service: AppService, sent: Sent) -> ChangeNotice:
    name = text_of(sent, "person")
    people.set_disabled(service, name, disabled=False)
    return ChangeNotice("enabled", {"name": name})


def _remove(service: AppService, sent: Sent) -> ChangeNotice:
    name = text_of(sent, "person")
    people.remove_person(service, name, people.read_heir(text_of(sent, "heir")))
    return ChangeNotice("removed", {"name": name})


def _stop(service: AppService, sent: Sent) -> None:
    administration.stop_run_of_all(service, text_of(sent, "target"))


def _set_priority(service: AppService, sent: Sent) -> None:
    priority = administration.read_priority(text_of(sent, "priority"))
    administration.set_priority(service, text_of(sent, "target"), priority)


def _decide(service: AppService, sent: Sent) -> None:
    administration.decide_queue(service, administration.read_queue_state(text_of(sent, "state")))


def _revoke_link(service: AppService, sent: Sent) -> None:
    withdraw(service, text_of(sent, "link"))


def _sign_out(service: AppService, sent: Sent) -> ChangeNotice:
    del sent
    return ChangeNotice("signed_out", {"n": str(people.sign_out_others(service))})


CHANGES: Mapping[str, Change] = {
    "invite": _does(people.invite_person, _invite),
    "link": _does(people.invite_again, _link_again),
    "withdraw": _does(people.withdraw_invitation, _withdraw),
    "person": _does(people.set_limits, _set_person),  # a role is checked by its own use case
    "disable": _does(people.set_disabled, _disable),
    "enable": _does(people.set_disabled, _enable),
    "remove": _does(people.remove_person, _remove),
    "stop": _does(administration.stop_run_of_all, _stop),
    "priority": _does(administration.set_priority, _set_priority),
    "queue": _does(administration.decide_queue, _decide),
    "revoke_link": Change("administer", _revoke_link),  # whose link it is, it checks itself
    "sign_out": _does(people.sign_out_others, _sign_out),
}


def _limit(sent: Sent, name: str) -> Any:
    """A limit as it was typed; None is no limit."""
    given = sent.get(name)
    text = str(given).strip() if isinstance(given, str | int | float) else ""
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf or (name in _WHOLE and number != int(number)):
        raise SpecError("limit-no-number", text=text[:40])
    if name == "stored_bytes":
        return round(number * GIGABYTE)
    return int(number) if name in _WHOLE else number
