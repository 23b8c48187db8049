"""An owner lets teams of theirs see, use or vote on a run, and takes it back."""

from typing import Any

import pytest
from ui_results_screen import ResultsScreen

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.accounts.shares import list_shares
from evalui.accounts.teams import add_team, rights_of
from evalui.app.sharing import share_run
from evalui.errors import NotAllowed
from evalui.messages import messages
from evalui.runs.database.runs import read_revision
from evalui.ui.current_person import acting_as

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


def screen(desk, run_id: str) -> ResultsScreen:
    """The page of a run whose panel is open."""
    shown = ResultsScreen(desk, messages("en"))
    shown.render({"run": run_id, "panel": "share"})
    return shown


def teams(shown: ResultsScreen) -> dict[str, Any]:
    """What the boxes of teams show."""
    return shown.update(shown.page.sharing.teams)


def test_a_team_is_given_a_right_and_loses_it(desk, run_id):
    with acting_as(ANN):
        before = read_revision(desk.database)
        shown = screen(desk, run_id)
        shown.give("law/view")
        assert teams(shown)["value"] == ["law/view"]
        assert read_revision(desk.database) > before  # lists of others are drawn again
    with acting_as(BOB):
        assert desk.run(run_id).id == run_id
        assert not screen(desk, run_id).is_sharing()
    with acting_as(ANN):
        screen(desk, run_id).give()
    assert rights_of(desk.database, "run", run_id) == {}


@pytest.mark.parametrize("held", ["art/view", "none/view", "law/own", "law"])
def test_only_own_teams_are_given_rights_and_only_those_that_are_offered(desk, run_id, held: str):
    with acting_as(ANN):
        screen(desk, run_id).give(held)
    assert rights_of(desk.database, "run", run_id) == {}


def test_what_another_s_run_shows_is_changed_by_nobody_else(desk, run_id):
    with acting_as(ANN):
        screen(desk, run_id).give("law/view")
        link = share_run(desk, run_id, 30).partition(".")[0]
    with acting_as(BOB):
        shown = screen(desk, run_id)
        for change in (shown.give, shown.withdraw, shown.share):
            with pytest.raises(NotAllowed):
                change(link)
    assert rights_of(desk.database, "run", run_id) == {"law": {"view"}}
    assert [share.ended for share in list_shares(desk.database)] == [None]


def test_no_right_is_offered_that_lets_a_team_do_nothing_more(desk, run_id):
    with acting_as(ANN):
        shown = screen(desk, run_id)
    assert teams(shown)["choices"] == [("law: View", "law/view"), ("law: Annotate", "law/annotate")]


def test_where_nobody_has_an_account_there_are_no_switches(desk, finished):
    shown = screen(desk, finished())
    assert shown.is_sharing()
    assert teams(shown)["visible"] is False
