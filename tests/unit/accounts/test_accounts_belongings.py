"""Who leaves hands runs, datasets, uploads and links to somebody else, or they are deleted."""

import json
from pathlib import Path

import pytest
from runs_examples import CATALOG, spec

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts.people import add_person, read_account, remove_person
from evalui.app.column_memory import ColumnMemory
from evalui.app.uploads import UploadStore
from evalui.datasets.model import Layout
from evalui.errors import AccountError, DataError, UnknownRun
from evalui.runs.fair_queue.limits import Spending, add_spending
from evalui.runs.fair_queue.turns import read_decisions, set_person_priority
from evalui.runs.spec import read_spec
from evalui.runs.submit import read_datasets, submit
from evalui.runs.worker.main import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import read_dataset
from evalui.store.runs import read_cells, read_run, read_runs

ROWS = b"question,A,B,C,D,answer\nWhat is 1 plus 1?,1,2,3,4,B\nWhat is 2 plus 2?,1,2,3,4,D\n"
MORE = ROWS + b"What is 0 plus 1?,1,2,3,4,A\n"


@pytest.fixture
def uploads(database: Database) -> UploadStore:
    for name in ("ann", "bob"):
        add_person(database, name, "annotator", by=ME)
    return UploadStore(database.path.parent / "uploads", 2**20)


def upload(uploads: UploadStore, owner: str, rows: bytes = ROWS) -> Path:
    (path,) = uploads.paths(owner, uploads.store(owner, [("sums.csv", rows)]))
    return path


def add_run(database: Database, owner: str, path: Path) -> str:
    wanted = spec(datasets=[{"path": str(path)}])
    loaded = read_datasets(wanted, base=path.parent)
    return submit(database, wanted, loaded, CATALOG, owner)


def paths_of(database: Database, run_id: str) -> list[Path]:
    sources = read_spec(read_run(database, run_id).spec).datasets
    return [Path(path) for source in sources for path in source.paths]


def vote(database: Database, run_id: str, owner: str) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO vote (run, owner, pair, dataset, sample, shown_left, shown_right,"
            " outcome, comment, created) VALUES (?, ?, 'p', 'd', 's', 'x', 'y', 'a', '', 0)",
            (run_id, owner),
        )


def share(database: Database, owner: str) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO share (id, owner, address, title, created, expires, pages, csv)"
            " VALUES ('s', ?, '', '', 0, 0, x'', x'')",
            (owner,),
        )


def test_everything_is_handed_over_and_goes_on(database: Database, uploads: UploadStore):
    path = upload(uploads, "ann")
    run_id = add_run(database, "ann", path)
    key = read_cells(database, run_id)[0].dataset_key
    questions = read_dataset(database, key, "ann")
    remove_person(database, "ann", heir="bob", by=ME)
    assert [run.id for run in read_runs(database, Person("bob"))] == [run_id]
    assert read_dataset(database, key, "bob") == questions
    (moved,) = paths_of(database, run_id)
    assert moved.read_bytes() == ROWS
    assert uploads.id_of("bob", [moved])
    (row,) = database.rows("SELECT paths FROM dataset")
    assert json.loads(row["paths"]) == [str(moved)]
    assert not path.exists()
    assert not database.rows("SELECT 1 FROM person WHERE name = 'ann'")
    Worker(database, lambda: CATALOG).run_once(run_id)
    assert read_run(database, run_id).state == "done"


def test_what_both_had_is_kept_once(database: Database, uploads: UploadStore):
    mine, theirs = (add_run(database, who, upload(uploads, who)) for who in ("ann", "bob"))
    other = add_run(database, "ann", upload(uploads, "ann", MORE))
    remove_person(database, "ann", heir="bob", by=ME)
    assert {run.id for run in read_runs(database, Person("bob"))} == {mine, theirs, other}
    rows = database.rows("SELECT owner FROM dataset")
    assert [row["owner"] for row in rows] == ["bob", "bob"]
    assert paths_of(database, mine) == paths_of(database, theirs)
    assert all(path.exists() for run in (mine, other) for path in paths_of(database, run))
    for run_id in (mine, theirs, other):
        Worker(database, lambda: CATALOG).run_once(run_id)
        assert read_run(database, run_id).state == "done"


def test_without_an_heir_everything_is_deleted(database: Database, uploads: UploadStore):
    path = upload(uploads, "ann")
    run_id, kept = add_run(database, "ann", path), add_run(database, "bob", upload(uploads, "bob"))
    remove_person(database, "ann", heir=None, by=ME)
    with pytest.raises(UnknownRun):
        read_run(database, run_id)
    assert not path.exists()
    assert [row["owner"] for row in database.rows("SELECT owner FROM dataset")] == ["bob"]
    assert paths_of(database, kept)[0].exists()
    assert database.rows("PRAGMA foreign_key_check") == []


def test_questions_that_a_run_of_somebody_else_uses_stay(database: Database, uploads: UploadStore):
    run_id = add_run(database, "ann", upload(uploads, "ann"))
    with database.writing() as connection:  # as if bob had been given the dataset
        connection.execute("UPDATE run SET owner = 'bob' WHERE id = ?", (run_id,))
    remove_person(database, "ann", heir=None, by=ME)
    assert [row["owner"] for row in database.rows("SELECT owner FROM dataset")] == ["bob"]
    assert database.rows("PRAGMA foreign_key_check") == []


@pytest.mark.parametrize("heir", ["bob", None])
def test_votes_stay_as_they_were_cast(database: Database, uploads: UploadStore, heir: str | None):
    run_id = add_run(database, "bob", upload(uploads, "bob"))
    vote(database, run_id, "ann")
    remove_person(database, "ann", heir=heir, by=ME)
    assert [row["owner"] for row in database.rows("SELECT owner FROM vote")] == ["ann"]


@pytest.mark.parametrize(("heir", "owners"), [("bob", ["bob"]), (None, [])])
@pytest.mark.usefixtures("uploads")
def test_links_are_handed_over_or_end(database: Database, heir: str | None, owners: list[str]):
    share(database, "ann")
    remove_person(database, "ann", heir=heir, by=ME)
    assert [row["owner"] for row in database.rows("SELECT owner FROM share")] == owners


@pytest.mark.parametrize(("heir", "reason"), [("ann", "own runs"), ("eve", "no person")])
def test_a_wrong_heir_changes_nothing(
    database: Database, uploads: UploadStore, heir: str, reason: str
):
    path = upload(uploads, "ann")
    run_id = add_run(database, "ann", path)
    with pytest.raises(AccountError, match=reason):
        remove_person(database, "ann", heir=heir, by=ME)
    assert read_account(database, "ann")
    assert read_run(database, run_id).owner == "ann"
    assert path.exists()


def test_a_run_in_the_hands_of_a_worker_goes_on(database: Database, uploads: UploadStore):
    run_id = add_run(database, "ann", upload(uploads, "ann"))
    claimed = queue.claim(database, "worker-1")
    assert claimed
    remove_person(database, "ann", heir="bob", by=ME)
    queue.check_lease(database, claimed.lease)
    assert read_run(database, run_id).owner == "bob"


def test_a_new_person_of_the_name_finds_nothing(database: Database, uploads: UploadStore):
    memory = ColumnMemory(database.path.parent / "columns", lambda: "ann")
    memory.remember(["a", "b"], Layout(answer="b"))
    sent = uploads.store("ann", [("sums.csv", ROWS)])
    add_run(database, "ann", upload(uploads, "ann"))
    remove_person(database, "ann", heir=None, by=ME)
    add_person(database, "ann", "admin", by=ME)
    assert read_runs(database, Person("ann")) == []
    assert memory.recall(["a", "b"]) is None
    with pytest.raises(DataError):
        uploads.paths("ann", sent)


@pytest.mark.parametrize("heir", ["bob", None])
def test_what_the_queue_knew_of_a_person_goes_with_them(
    database: Database, uploads: UploadStore, heir: str | None
):
    run_ids = {name: add_run(database, name, upload(uploads, name)) for name in ("ann", "bob")}
    for name, run_id in run_ids.items():
        set_person_priority(database, name, 5)
        with database.writing() as connection:
            connection.execute("INSERT INTO turn VALUES (?, 1)", (name,))
            add_spending(connection, run_id, Spending(tokens=7), 0.0)
    remove_person(database, "ann", heir=heir, by=ME)
    assert read_decisions(database).priorities == {"bob": 5}
    for table in ("turn", "spending"):
        owners = database.rows(f"SELECT owner FROM {table}")
        assert [row["owner"] for row in owners] == ["bob"]
