"""What the teams of a person may do with a run or a dataset of theirs, a switch each."""

from collections.abc import Mapping

from evalui.access import Right
from evalui.accounts.teams import ThingKind, rights_of
from evalui.app.service import AppService
from evalui.app.sharing import RIGHTS, state_dataset_rights, state_run_rights
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.templates import fill

# What lets a team do something, and its word: who may use a dataset sees it.
_SHOWN: Mapping[ThingKind, Mapping[Right, str]] = {
    "run": {"view": "teams.view", "annotate": "teams.annotate"},
    "dataset": {"run": "teams.use"},
}
GRANT = "grant"  # the action that gives a right


def team_switches(service: AppService, t: Messages, kind: ThingKind, thing: str) -> Html | None:
    """A switch for each right of each team; None where nobody has an account."""
    if service.settings.auth == "token":
        return None
    given = rights_of(service.database, kind, thing)
    return fill(
        "sharing/rights.html",
        t=t,
        thing=thing,
        given=given,
        teams=sorted(service.person.teams | given.keys()),
        words=_SHOWN[kind],
    )


def change_right(service: AppService, kind: ThingKind, thing: str, action: Action) -> None:
    """Give a team of the person a right, or take it back; the person may change the thing.

    Raises:
        AccountError: it is no team of theirs, and has no rights either.
    """
    team = action.value("team")
    given = rights_of(service.database, kind, thing).get(team, ())
    gives, changed = action.do == GRANT, action.value("right")
    wanted: list[Right] = [
        right for right in RIGHTS if (gives if right == changed else right in given)
    ]
    if kind == "run":
        state_run_rights(service, thing, team, wanted)
    else:
        state_dataset_rights(service, thing.rpartition("/")[2], team, wanted)
