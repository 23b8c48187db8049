"""Teams, their members and their rights; every change is in the audit log."""

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.audit import read_audit
from evalui.accounts.people import add_person, find_person
from evalui.accounts.teams import (
    Team,
    add_team,
    grant,
    join_team,
    leave_team,
    read_teams,
    remove_team,
    revoke,
    rights_of,
    set_teams,
)
from evalui.errors import AccountError
from evalui.runs.database.connection import Database


def teams_of(database: Database, name: str) -> set[str]:
    person = find_person(database, name)
    assert person
    return set(person.teams)


def test_members_join_and_leave(database: Database):
    for name in ("bob", "ann"):
        add_person(database, name, "annotator", by=ME)
    add_team(database, "Law", by=ME)
    for name in ("bob", "ann", "ann"):
        join_team(database, "law", name, by=ME)
    assert read_teams(database) == (Team("law", ("ann", "bob")),)
    assert teams_of(database, "ann") == {"law"}
    leave_team(database, "law", "ann", by=ME)
    assert read_teams(database) == (Team("law", ("bob",)),)
    with pytest.raises(AccountError, match="no member"):
        leave_team(database, "law", "ann", by=ME)
    deeds = [entry.deed for entry in read_audit(database)]
    assert deeds[:4] == ["leave-team", "join-team", "join-team", "join-team"]


def test_what_is_not_there_is_refused(database: Database):
    add_team(database, "law", by=ME)
    with pytest.raises(AccountError, match="already"):
        add_team(database, "LAW", by=ME)
    with pytest.raises(AccountError, match="no person"):
        join_team(database, "law", "ann", by=ME)
    for change in (
        lambda: join_team(database, "none", "ann", by=ME),
        lambda: remove_team(database, "none", by=ME),
        lambda: grant(database, "run", "r1", "none", "view", by=ME),
    ):
        with pytest.raises(AccountError, match="no team none"):
            change()


def test_groups_of_a_proxy_become_the_teams_of_their_names(database: Database):
    add_person(database, "ann", "reader", by=ME)
    for team in ("law", "medicine", "old"):
        add_team(database, team, by=ME)
    join_team(database, "old", "ann", by=ME)
    set_teams(database, "ann", ["Law", "medicine", "nowhere"], by=ME)
    assert teams_of(database, "ann") == {"law", "medicine"}


def test_rights_are_given_and_taken_back(database: Database):
    for team in ("law", "medicine"):
        add_team(database, team, by=ME)
    grant(database, "run", "r1", "law", "view", by=ME)
    grant(database, "run", "r1", "law", "annotate", by=ME)
    grant(database, "run", "r1", "medicine", "view", by=ME)
    grant(database, "dataset", "r1", "medicine", "run", by=ME)
    assert rights_of(database, "run", "r1") == {
        "law": frozenset({"view", "annotate"}),
        "medicine": frozenset({"view"}),
    }
    revoke(database, "run", "r1", "law", "view", by=ME)
    remove_team(database, "medicine", by=ME)
    assert rights_of(database, "run", "r1") == {"law": frozenset({"annotate"})}
    assert rights_of(database, "dataset", "r1") == {}
    assert rights_of(database, "run", "r2") == {}
