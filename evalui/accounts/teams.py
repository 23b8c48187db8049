"""Teams, their members, and what a team may do with a run or a dataset of somebody."""

import json
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Literal

from evalui.access import Person, Right
from evalui.accounts.audit import record_in
from evalui.accounts.names import checked_name
from evalui.errors import AccountError
from evalui.runs.database.connection import Database

ThingKind = Literal["run", "dataset"]


@dataclass(frozen=True, slots=True)
class Team:
    """A team and the names of its members, sorted."""

    name: str
    members: tuple[str, ...]


def add_team(database: Database, name: str, *, by: Person) -> None:
    """Add a team without members.

    Raises:
        AccountError: no team can have the name, or one has it.
    """
    name = checked_name(name)
    with database.writing(durable=True) as connection:
        added = connection.execute(
            "INSERT INTO team VALUES (?, ?) ON CONFLICT DO NOTHING", (name, time.time())
        )
        if not added.rowcount:
            raise AccountError("team-exists", name=name)
        record_in(connection, by, "add-team", f"team {name}")


def remove_team(database: Database, name: str, *, by: Person) -> None:
    """Remove a team and its rights; raises `AccountError` if there is none of this name."""
    with database.writing(durable=True) as connection:
        _require_team(connection, name)
        connection.execute("DELETE FROM team WHERE name = ?", (name,))
        record_in(connection, by, "remove-team", f"team {name}")


def join_team(database: Database, team: str, person: str, *, by: Person) -> None:
    """Make a person a member; raises `AccountError` if there is no such team or person."""
    with database.writing(durable=True) as connection:
        _require_team(connection, team)
        if not connection.execute("SELECT 1 FROM person WHERE name = ?", (person,)).fetchone():
            raise AccountError("no-person", name=person)
        connection.execute(
            "INSERT INTO membership VALUES (?, ?) ON CONFLICT DO NOTHING", (team, person)
        )
        record_in(connection, by, "join-team", f"team {team}", member=person)


def leave_team(database: Database, team: str, person: str, *, by: Person) -> None:
    """End a membership; raises `AccountError` if there is none."""
    with database.writing(durable=True) as connection:
        _require_team(connection, team)
        ended = connection.execute(
            "DELETE FROM membership WHERE team = ? AND person = ?", (team, person)
        )
        if not ended.rowcount:
            raise AccountError("no-member", name=person, team=team)
        record_in(connection, by, "leave-team", f"team {team}", member=person)


def set_teams(database: Database, person: str, groups: Collection[str], *, by: Person) -> None:
    """Make a person a member of the teams that have the names of these groups, and of no other."""
    names = json.dumps(sorted({group.casefold() for group in groups}))
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM membership WHERE person = ?", (person,))
        connection.execute(
            "INSERT INTO membership SELECT name, ? FROM team"
            " WHERE name IN (SELECT value FROM json_each(?))",
            (person, names),
        )
        record_in(connection, by, "set-teams", f"person {person}", groups=names)


def read_teams(database: Database) -> tuple[Team, ...]:
    """All teams by name."""
    members: dict[str, list[str]] = {
        row["name"]: [] for row in database.rows("SELECT name FROM team ORDER BY name")
    }
    for row in database.rows("SELECT team, person FROM membership ORDER BY person"):
        members[row["team"]].append(row["person"])
    return tuple(Team(name, tuple(each)) for name, each in members.items())


def dataset_of(owner: str, upload: str) -> str:
    """The thing that a dataset is: others may have uploaded the same content under the same id."""
    return f"{owner}/{upload}"


def rights_of(database: Database, kind: ThingKind, thing: str) -> Mapping[str, frozenset[Right]]:
    """What each team may do with a thing."""
    rights: dict[str, set[Right]] = defaultdict(set)
    for row in database.rows(
        "SELECT team, right_ FROM team_right WHERE kind = ? AND thing = ?", (kind, thing)
    ):
        rights[row["team"]].add(row["right_"])
    return {team: frozenset(each) for team, each in rights.items()}


def grant(
    database: Database, kind: ThingKind, thing: str, team: str, right: Right, *, by: Person
) -> None:
    """Let a team do something with a thing; raises `AccountError` if there is no such team."""
    with database.writing(durable=True) as connection:
        _require_team(connection, team)
        connection.execute(
            "INSERT INTO team_right VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (kind, thing, team, right),
        )
        record_in(connection, by, "grant", f"{kind} {thing}", team=team, right=right)


def revoke(
    database: Database, kind: ThingKind, thing: str, team: str, right: Right, *, by: Person
) -> None:
    """Take a right back that a team may have."""
    with database.writing(durable=True) as connection:
        connection.execute(
            "DELETE FROM team_right WHERE kind = ? AND thing = ? AND team = ? AND right_ = ?",
            (kind, thing, team, right),
        )
        record_in(connection, by, "revoke", f"{kind} {thing}", team=team, right=right)


def _require_team(connection: Connection, name: str) -> None:
    if not connection.execute("SELECT 1 FROM team WHERE name = ?", (name,)).fetchone():
        raise AccountError("no-team", name=name)
