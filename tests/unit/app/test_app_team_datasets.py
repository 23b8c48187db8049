"""Members of a team take the datasets that somebody lets it use; nobody else does."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts.belongings import folder_of
from evalui.accounts.people import add_person
from evalui.accounts.teams import add_team, grant, revoke, rights_of
from evalui.app.team_datasets import read_team_datasets, take_dataset
from evalui.errors import DataError, SpecError
from evalui.runs.database.connection import Database
from evalui.runs.fair_queue.limits import UserLimits

BOB = Person("bob", "annotator", frozenset({"law"}))
EVE = Person("eve", "annotator", frozenset({"art"}))
ID = "0123456789abcdef"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "evalui.sqlite")) as opened:
        yield opened


@pytest.fixture
def root(database: Database, tmp_path: Path) -> Path:
    """The folder of uploads, with one of ann's that the team law may use."""
    for name in ("ann", "bob", "eve"):
        add_person(database, name, "annotator", by=ME)
    for team in ("law", "art"):
        add_team(database, team, by=ME)
    folder = tmp_path / "uploads" / folder_of("ann") / ID
    folder.mkdir(parents=True)
    (folder / "capitals.csv").write_text("id,question\n")
    add_upload(database, "ann")
    grant(database, "dataset", f"ann/{ID}", "law", "run", by=ME)
    return tmp_path / "uploads"


def add_upload(database: Database, owner: str, created: float = 5.0) -> None:
    with database.writing() as connection:
        row = (owner, ID, "capitals.csv", 12, created)
        connection.execute("INSERT INTO upload VALUES (?, ?, ?, ?, ?)", row)


def test_a_member_takes_a_dataset_once(database: Database, root: Path):
    (offered,) = read_team_datasets(database, BOB)
    assert (offered.id, offered.owner, offered.name, offered.bytes) == (
        ID,
        "ann",
        "capitals.csv",
        12,
    )
    take_dataset(database, root, BOB, ID, UserLimits())
    assert (root / folder_of("bob") / ID / "capitals.csv").read_text() == "id,question\n"
    assert [each.taken for each in read_team_datasets(database, BOB)] == [True]
    take_dataset(database, root, BOB, ID, UserLimits(stored_bytes=12))  # it counts once
    (root / folder_of("ann") / ID / "capitals.csv").unlink()
    assert (root / folder_of("bob") / ID / "capitals.csv").exists()  # it stays


@pytest.mark.parametrize("person", [EVE, Person("bob", "annotator"), Person("", scope="read")])
def test_nobody_else_sees_or_takes_it(database: Database, root: Path, person: Person):
    assert read_team_datasets(database, person) == ()
    with pytest.raises(DataError):
        take_dataset(database, root, person, ID, UserLimits())
    assert not (root / folder_of(person.name)).exists()


def test_a_right_that_was_taken_back_or_is_another_gives_nothing(database: Database, root: Path):
    revoke(database, "dataset", f"ann/{ID}", "law", "run", by=ME)
    grant(database, "dataset", f"ann/{ID}", "law", "view", by=ME)
    with pytest.raises(DataError):
        take_dataset(database, root, BOB, ID, UserLimits())


@pytest.mark.parametrize("upload", ["../" + ID, "", "fedcba9876543210", f"{ID}.1"])
def test_no_other_name_is_taken(database: Database, root: Path, upload: str):
    with pytest.raises(DataError):
        take_dataset(database, root, BOB, upload, UserLimits())


@pytest.mark.usefixtures("root")
def test_one_of_several_owners_is_enough(database: Database):
    add_upload(database, "eve", created=1.0)
    (offered,) = read_team_datasets(database, BOB)
    assert offered.owner == "ann"
    assert read_team_datasets(database, EVE) == ()


@pytest.mark.usefixtures("root")
def test_who_has_the_same_content_lends_only_their_own(database: Database):
    add_upload(database, "aaron", created=1.0)
    grant(database, "dataset", f"ann/{ID}", "art", "run", by=ME)
    artist = Person("carl", "annotator", teams=frozenset({"art"}))
    assert [each.owner for each in read_team_datasets(database, artist)] == ["ann"]
    with database.writing() as connection:
        connection.execute("DELETE FROM upload WHERE owner = 'ann'")
    assert read_team_datasets(database, artist) == ()
    assert rights_of(database, "dataset", f"ann/{ID}") == {}


def test_a_copy_counts_for_who_takes_it(database: Database, root: Path):
    with pytest.raises(SpecError, match="Delete runs or uploads"):
        take_dataset(database, root, BOB, ID, UserLimits(stored_bytes=11))
    assert not (root / folder_of("bob")).exists()
    assert read_team_datasets(database, BOB)
    take_dataset(database, root, BOB, ID, UserLimits(stored_bytes=12))
