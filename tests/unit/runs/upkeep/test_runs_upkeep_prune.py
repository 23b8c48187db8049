"""What `evalui prune` lists and deletes, and what stays."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from runs_examples import add_run, spec

from evalui.cli.main import main
from evalui.runs.upkeep import prune as module
from evalui.runs.upkeep.prune import find_prunable, prune
from evalui.store import queue
from evalui.store.connection import Database

DAY = 86_400.0
NOW = 1_800_000_000.0
ADA = hashlib.sha256(b"ada").hexdigest()[:16]


@pytest.fixture
def ended(database: Database) -> Callable[..., str]:
    """A run that ended so many days ago."""

    def end(days: float, **fields: object) -> str:
        run_id = add_run(database, spec(**fields))
        queue.cancel(database, run_id)
        with database.writing() as connection:
            connection.execute(
                "UPDATE run SET finished = ? WHERE id = ?", (NOW - days * DAY, run_id)
            )
        return run_id

    return end


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: NOW))


def vote(database: Database, run_id: str) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO vote (run, owner, pair, dataset, sample, shown_left, shown_right, outcome,"
            " comment, created) VALUES (?, 'bob', 'p', 'd', 's', 'x', 'y', 'a', '', 1)",
            (run_id,),
        )


def ids(database: Database) -> set[str]:
    return {row["id"] for row in database.rows("SELECT id FROM run")}


def test_runs_that_ended_long_ago_are_found_and_deleted(
    database: Database, ended: Callable[..., str], tmp_path: Path
):
    old, new = ended(91), ended(89)
    found = find_prunable(database, tmp_path, 90)
    assert [run.id for run in found.runs] == [old]
    assert ids(database) == {old, new}
    prune(database, found)
    assert ids(database) == {new}


def test_runs_that_people_voted_on_stay_unless_named(
    database: Database, ended: Callable[..., str], tmp_path: Path
):
    voted = ended(100)
    found = find_prunable(database, tmp_path, 90)
    assert [run.id for run in found.runs] == [voted]
    vote(database, voted)  # while the list is read
    prune(database, found)
    assert ids(database) == {voted}
    assert find_prunable(database, tmp_path, 90).runs == ()
    prune(database, find_prunable(database, tmp_path, 90, with_votes=True))
    assert ids(database) == set()


def test_runs_that_wait_or_run_stay_however_old(
    database: Database, ended: Callable[..., str], tmp_path: Path
):
    waiting, running, resumed = add_run(database), add_run(database), ended(100)
    queue.claim(database, "worker-1", running)
    with database.writing() as connection:
        connection.execute("UPDATE run SET created = 0, queued = 0")
    found = find_prunable(database, tmp_path, 90)
    assert [run.id for run in found.runs] == [resumed]
    queue.resume(database, resumed)
    prune(database, found)
    assert ids(database) == {waiting, running, resumed}


def upload(root: Path, owner: str, name: str, days: float) -> Path:
    folder = root / owner / name
    folder.mkdir(parents=True)
    (folder / "x.csv").write_text("x" * 1000, encoding="utf-8")
    os.utime(folder, (NOW - days * DAY,) * 2)
    return folder


def test_old_uploads_and_datasets_that_no_run_uses_go(
    database: Database, ended: Callable[..., str], tmp_path: Path
):
    used = upload(tmp_path, ADA, "a" * 16, 100)
    unused = upload(tmp_path, ADA, "b" * 16, 100)
    of_old = upload(tmp_path, ADA, "c" * 16, 100)
    of_another = upload(tmp_path, "0" * 16, "a" * 16, 100)
    fresh = upload(tmp_path, ADA, "d" * 16, 1)
    taken = upload(tmp_path, ADA, "e" * 16, 100)
    with database.writing() as connection:
        connection.executemany(
            "INSERT INTO upload VALUES (?, ?, 'x.csv', 1, 0)",
            [("ada", used.name), ("ada", unused.name), ("bob", unused.name)],
        )
    kept = ended(1, datasets=[{"path": str(used / "x.csv")}])
    ended(100, datasets=[{"path": str(of_old / "x.csv")}])
    found = find_prunable(database, tmp_path, 90)
    assert set(found.uploads) == {unused, of_old, of_another, taken}
    ended(0, datasets=[{"path": str(taken / "x.csv")}])  # a run begins while the list is read
    assert prune(database, found) >= 3000
    left = [path for path in tmp_path.glob("*/*") if path.is_dir()]
    assert sorted(left) == sorted([used, fresh, taken])
    rows = database.rows("SELECT owner, id FROM upload ORDER BY owner, id")
    assert [tuple(row) for row in rows] == [("ada", used.name), ("bob", unused.name)]
    assert database.row("SELECT 1 FROM dataset")
    for run_id in ids(database):
        queue.delete(database, run_id)
    with database.writing() as connection:
        connection.execute("UPDATE dataset SET created = ?", (NOW - 100 * DAY,))
    assert kept not in ids(database)
    prune(database, find_prunable(database, tmp_path, 90))
    assert not database.row("SELECT 1 FROM dataset")


def test_pictures_found_in_an_upload_go_with_it(database: Database, tmp_path: Path):
    used, unused = upload(tmp_path, ADA, "a" * 16, 1), upload(tmp_path, ADA, "b" * 16, 100)
    of_used = upload(tmp_path, ADA, f"{used.name}.pictures", 100)
    of_unused = upload(tmp_path, ADA, f"{unused.name}.pictures", 1)
    of_none = upload(tmp_path, ADA, f"{'c' * 16}.pictures", 100)
    found = find_prunable(database, tmp_path, 90)
    assert set(found.uploads) == {unused, of_none}
    assert prune(database, found) >= 3000
    assert not of_unused.exists()
    assert of_used.exists()


def test_pictures_that_no_dataset_has_go(database: Database):
    add_run(database)
    with database.writing() as connection:
        for name in ("linked", "left"):
            connection.execute("INSERT INTO picture VALUES (?, x'00', x'00')", (name,))
        connection.execute("INSERT INTO dataset_picture SELECT id, 'x', 'linked' FROM dataset")
    prune(database, find_prunable(database, Path("none"), 90))
    assert [row["sha256"] for row in database.rows("SELECT sha256 FROM picture")] == ["linked"]


def test_a_dataset_that_is_submitted_again_counts_as_new(database: Database):
    add_run(database)
    with database.writing() as connection:
        connection.execute("UPDATE dataset SET created = 0")
    add_run(database)
    row = database.row("SELECT created FROM dataset")
    assert row
    assert row["created"] > 0


def test_the_command_lists_first_and_then_deletes(
    database: Database, ended: Callable[..., str], capsys: pytest.CaptureFixture[str]
):
    old, voted = ended(100), ended(100)
    vote(database, voted)
    command = ["prune", "--older-than", "90d", "--database", str(database.path)]
    assert main([*command, "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert [line.split("\t")[0] for line in printed.out.splitlines()] == [old]
    assert "would delete runs: 1; uploads: 0" in printed.err
    assert "kept for their votes: 1 (--with-votes)" in printed.err
    assert ids(database) == {old, voted}
    assert main(command) == 0
    assert "deleted runs: 1; uploads: 0, and freed" in capsys.readouterr().err
    assert ids(database) == {voted}
    assert main([*command, "--with-votes"]) == 0
    assert ids(database) == set()


@pytest.mark.parametrize("age", ["0d", "90", "-1d", "3w"])
def test_an_age_that_is_none_is_told(age: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["prune", f"--older-than={age}"])
    assert "is no number of days, such as 90d" in capsys.readouterr().err
