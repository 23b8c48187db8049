"""What the teams of a person may do with a run or a dataset of theirs, a switch each."""

from collections.abc import Collection, Mapping
from typing import get_args

from evalui.access import Right, may
from evalui.accounts.teams import ThingKind, grant, revoke, rights_of
from evalui.app.service import AppService
from evalui.errors import AccountError
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.runs.database.queue import bump_revision
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import button

_RIGHTS: tuple[Right, ...] = get_args(Right)
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
    teams = sorted(service.person.teams | given.keys())
    rows = [
        div(
            el("b", team),
            *(
                button(
                    t(word),
                    "ungrant" if right in given.get(team, ()) else GRANT,
                    data_team=team,
                    data_right=right,
                    data_thing=thing,
                    aria_pressed=str(right in given.get(team, ())).lower(),
                )
                for right, word in _SHOWN[kind].items()
            ),
            cls="acts",
        )
        for team in teams
    ]
    none = None if teams else span(t("teams.none"), cls="meta")
    return div(join(*rows), none, cls="team-rights")


def change_right(service: AppService, kind: ThingKind, thing: str, action: Action) -> None:
    """Give a team of the person a right, or take it back; the person may change the thing.

    Raises:
        AccountError: it is no team of theirs, and has no rights either.
    """
    team = action.value("team")
    given = rights_of(service.database, kind, thing).get(team, ())
    gives, changed = action.do == GRANT, action.value("right")
    wanted: list[Right] = [
        right for right in _RIGHTS if (gives if right == changed else right in given)
    ]
    state_rights(service, kind, thing, team, wanted)


def state_rights(
    service: AppService, kind: ThingKind, thing: str, team: str, wanted: Collection[Right]
) -> None:
    """Let a team do this with a thing, and nothing else; the person may change the thing.

    Raises:
        AccountError: it is no team of theirs, unless they are an administrator, and has no rights.
    """
    given = rights_of(service.database, kind, thing)
    own = service.person.teams | given.keys()
    if team not in own and not may(service.person, "administer"):
        raise AccountError("no-team", name=team[:80])
    for right in _RIGHTS:
        if (right in wanted) != (right in given.get(team, ())):
            act = grant if right in wanted else revoke
            act(service.database, kind, thing, team, right, by=service.person)
    if kind == "run":
        # Who sees a run of a team sees it in lists that are drawn again when a run changes.
        with service.database.writing() as connection:
            bump_revision(connection, thing)
