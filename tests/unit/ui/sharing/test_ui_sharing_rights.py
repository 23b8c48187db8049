"""An owner lets teams of theirs see, use or vote on a run, and takes it back."""

import re

import pytest

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.accounts.shares import list_shares
from evalui.accounts.teams import add_team, rights_of
from evalui.app.sharing import share_run
from evalui.errors import NotAllowed
from evalui.messages import messages
from evalui.runs.database.runs import read_revision
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.shell import AppShell
from evalui.ui.tabs.results import ResultsTab

ADMIN = Person("admin", "admin")
ANN = Person("ann", "annotator", frozenset({"law"}))
BOB = Person("bob", "annotator", frozenset({"law"}))


@pytest.fixture
def run_id(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    for name in ("law", "art"):
        add_team(desk.database, name, by=ADMIN)
    for name in ("ann", "bob"):
        add_person(desk.database, name, "annotator", by=ADMIN)
    with acting_as(ANN):
        return finished()


def pressed(desk, run_id: str, do: str, team: str, right: str) -> str:
    data = {"team": team, "right": right}
    form = {"run": run_id, "tab": "results", "panel": "share"}
    return AppShell(desk, "en").answer("results", Action(do, data, form))


def test_a_team_is_given_a_right_and_loses_it(desk, run_id):
    with acting_as(ANN):
        before = read_revision(desk.database)
        assert 'aria-pressed="true"' in pressed(desk, run_id, "grant", "law", "view")
        assert read_revision(desk.database) > before  # lists of others are drawn again
    with acting_as(BOB):
        assert desk.run(run_id).id == run_id
        assert "share-panel" not in ResultsTab(desk, messages("en")).render({"run": run_id})
    with acting_as(ANN):
        pressed(desk, run_id, "ungrant", "law", "view")
    assert rights_of(desk.database, "run", run_id) == {}


@pytest.mark.parametrize(("team", "right"), [("art", "view"), ("none", "view")])
def test_only_own_teams_are_given_rights(desk, run_id, team: str, right: str):
    with acting_as(ANN):
        assert "There is no team" in pressed(desk, run_id, "grant", team, right)
    assert rights_of(desk.database, "run", run_id) == {}


@pytest.mark.parametrize("layer", ["shell", "tab"])
def test_naming_a_run_of_one_s_own_too_changes_none_of_another(desk, run_id, finished, layer: str):
    with acting_as(ANN):
        pressed(desk, run_id, "grant", "law", "view")
        link = share_run(desk, run_id, 30).partition(".")[0]
    with acting_as(BOB):
        own = finished()
        for do in ("grant", "withdraw", "share"):
            data = {"team": "law", "right": "run", "link": link, "run": own}
            action = Action(do, data, {"run": run_id, "days": "30"})
            if layer == "tab":
                with pytest.raises(NotAllowed):
                    ResultsTab(desk, messages("en")).act(action)
            else:
                assert "Only its owner" in AppShell(desk, "en").answer("results", action)
    assert rights_of(desk.database, "run", run_id) == {"law": {"view"}}
    assert [share.ended for share in list_shares(desk.database)] == [None]


def test_an_unknown_right_changes_nothing(desk, run_id):
    with acting_as(ANN):
        pressed(desk, run_id, "grant", "law", "own")
    assert rights_of(desk.database, "run", run_id) == {}


def test_no_right_is_offered_that_lets_a_team_do_nothing_more(desk, run_id):
    with acting_as(ANN):
        page = pressed(desk, run_id, "grant", "law", "view")
    assert re.findall(r'data-right="(\w+)"', page) == ["view", "annotate"]


def test_where_nobody_has_an_account_there_are_no_switches(desk, finished):
    page = ResultsTab(desk, messages("en")).render({"run": finished(), "panel": "share"})
    assert "share-panel" in page
    assert "team-rights" not in page
