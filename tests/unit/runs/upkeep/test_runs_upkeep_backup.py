"""Archives: what is in them, what is refused, and that a run goes on in a restored folder."""

import io
import json
import sqlite3
import stat
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from runs_examples import add_run, spec

from evalui.cli.main import main
from evalui.errors import StoreError
from evalui.runs.upkeep import backup
from evalui.runs.upkeep.backup import restore_backup, write_backup
from evalui.runs.upkeep.monitor import DiskUse
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run, read_workers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder in use: a run in the hands of a worker, an upload, keys, what is made anew."""
    data = tmp_path / "Daten für alle"
    data.mkdir(mode=0o700)
    uploaded = data / "uploads" / ("a" * 16) / ("b" * 16) / "sums.csv"
    uploaded.parent.mkdir(parents=True)
    uploaded.write_text("id,question\n", encoding="utf-8")
    for name in ("model-keys.json", "secret-key", "models-added.toml", "access-token"):
        (data / name).write_text(name, encoding="utf-8")
    found = data / "uploads" / ("a" * 16) / f"{'b' * 16}.pictures"
    found.mkdir()
    (found / "small").write_text("", encoding="utf-8")
    (data / "columns").mkdir()
    (data / "columns" / "x.json").write_text("{}", encoding="utf-8")
    (data / "gradio").mkdir()
    (data / "gradio" / "x").write_text("", encoding="utf-8")
    (data / "link").symlink_to("/etc/hostname")
    return data


def test_a_backup_of_a_used_folder_goes_on_elsewhere(folder: Path, tmp_path: Path):
    source = folder / "uploads" / ("a" * 16) / ("b" * 16) / "sums.csv"
    with closing(Database(folder / "evalui.sqlite")) as database:
        run_id = add_run(database, spec(datasets=[{"path": str(source)}]))
        claimed = queue.claim(database, "worker-1")
        assert claimed
        WorkerStatus(database, "worker-1").update(run=run_id)
        write_backup(folder, tmp_path / "b.tar.gz")
        assert read_run(database, run_id).state == "running"  # the store in use is as it was
    assert stat.S_IMODE((tmp_path / "b.tar.gz").stat().st_mode) == 0o600
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("tmp")]

    other = tmp_path / "other"
    assert restore_backup(tmp_path / "b.tar.gz", other) == 1
    files = {str(path.relative_to(other)) for path in other.rglob("*") if path.is_file()}
    place = f"uploads/{'a' * 16}/{'b' * 16}/sums.csv"
    kept = {"model-keys.json", "secret-key", "models-added.toml", "columns/x.json", place}
    assert files == kept | {"evalui.sqlite"}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in other.rglob("*")}
    assert modes == {0o600, 0o700}
    with closing(Database(other / "evalui.sqlite")) as database:
        run = read_run(database, run_id)
        assert (run.state, read_workers(database)) == ("queued", [])
        assert json.loads(run.spec)["datasets"][0]["path"] == str(other / place)
        assert queue.claim(database, "worker-2")


def test_the_copy_has_what_was_committed_and_stands_in_the_log_of_the_store(
    folder: Path, tmp_path: Path
):
    with closing(Database(folder / "evalui.sqlite")) as database:
        database.row("PRAGMA wal_autocheckpoint = 0")  # nothing gets into the main file
        ids = {add_run(database) for _ in range(20)}
        with database.writing() as connection:  # a writer in the middle of its transaction
            connection.execute("DELETE FROM run")
            write_backup(folder, tmp_path / "b.tar.gz")
    restore_backup(tmp_path / "b.tar.gz", tmp_path / "other")
    with closing(Database(tmp_path / "other" / "evalui.sqlite")) as copy:
        assert {row["id"] for row in copy.rows("SELECT id FROM run")} == ids


def test_a_backup_leaves_a_store_of_an_earlier_version_as_it_is(folder: Path, tmp_path: Path):
    path = folder / "evalui.sqlite"
    with closing(sqlite3.connect(path)) as earlier:
        earlier.execute("CREATE TABLE x (y)")
        earlier.commit()
    write_backup(folder, tmp_path / "b.tar.gz")
    with closing(sqlite3.connect(path)) as earlier:
        tables = earlier.execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("x",)]


@pytest.mark.parametrize(
    ("name", "reason"), [("b.zip", "is a .tar.gz file"), ("there.tar.gz", "is there already")]
)
def test_a_target_is_refused(folder: Path, tmp_path: Path, name: str, reason: str):
    Database(folder / "evalui.sqlite").close()
    (tmp_path / "there.tar.gz").touch()
    with pytest.raises(StoreError, match=reason):
        write_backup(folder, tmp_path / name)


def test_a_folder_that_does_not_exist_and_one_without_a_store_are_stated(tmp_path: Path):
    with pytest.raises(StoreError, match="There is no store"):
        write_backup(tmp_path, tmp_path / "b.tar.gz")
    Database(tmp_path / "data" / "evalui.sqlite").close()
    with pytest.raises(StoreError, match="No such file"):
        write_backup(tmp_path / "data", tmp_path / "nowhere" / "b.tar.gz")


def test_a_folder_with_anything_in_it_is_not_filled(folder: Path, tmp_path: Path):
    Database(folder / "evalui.sqlite").close()
    write_backup(folder, tmp_path / "b.tar.gz")
    with pytest.raises(StoreError, match="is not empty"):
        restore_backup(tmp_path / "b.tar.gz", folder)
    assert (folder / "access-token").exists()


def archive_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    manifest = tarfile.TarInfo("backup.json")
    content = b'{"format": 1, "folder": "/x"}'
    manifest.size = len(content)
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(manifest, io.BytesIO(content))
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def linked(name: str, kind: bytes, to: str = "/etc/passwd") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


@pytest.mark.parametrize(
    "member",
    [
        tarfile.TarInfo("../outside"),
        tarfile.TarInfo("/tmp/outside-of-a-backup"),
        tarfile.TarInfo("uploads/../../outside"),
        linked("evalui.sqlite", tarfile.SYMTYPE),
        linked("uploads", tarfile.SYMTYPE, ".."),
        linked("hard", tarfile.LNKTYPE),
        linked("pipe", tarfile.FIFOTYPE),
        linked("device", tarfile.CHRTYPE),
    ],
    ids=lambda member: f"{member.name}-{member.type.decode()}",
)
def test_a_hostile_member_ends_the_restore_with_nothing_written(
    tmp_path: Path, member: tarfile.TarInfo
):
    inside = tarfile.TarInfo("a/b")
    source = archive_of(tmp_path / "b.tar.gz", (inside, b"x"), (member, b""))
    with pytest.raises(StoreError, match="backups never have"):
        restore_backup(source, tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"b.tar.gz", "into"}


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written: list[object] = []
    monkeypatch.setattr(backup.shutil, "copyfileobj", lambda *given: written.append(given))
    bomb = tarfile.TarInfo("evalui.sqlite")
    source = archive_of(tmp_path / "b.tar.gz", (bomb, bytes(2**20)))
    monkeypatch.setattr(backup, "disk_use", lambda _: DiskUse(2**40, 2**40 - 2**20, 2**20))
    with pytest.raises(StoreError, match="No space left on device"):
        restore_backup(source, tmp_path / "into")
    assert written == []
    assert list((tmp_path / "into").iterdir()) == []


def test_a_damaged_store_is_refused(folder: Path, tmp_path: Path):
    with closing(Database(folder / "evalui.sqlite")) as database:
        for _ in range(20):
            add_run(database)
    content = bytearray((folder / "evalui.sqlite").read_bytes())
    content[8192:40960] = b"\xa5" * (40960 - 8192)
    source = archive_of(tmp_path / "b.tar.gz", (tarfile.TarInfo("evalui.sqlite"), bytes(content)))
    with pytest.raises(StoreError):
        restore_backup(source, tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []


def test_half_an_archive_and_a_foreign_one_are_refused(folder: Path, tmp_path: Path):
    Database(folder / "evalui.sqlite").close()
    write_backup(folder, tmp_path / "b.tar.gz")
    whole = (tmp_path / "b.tar.gz").read_bytes()
    foreign = tmp_path / "foreign.tar.gz"
    with tarfile.open(foreign, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("evalui.sqlite"))
    broken = tmp_path / "broken.tar.gz"
    for content in (whole[: len(whole) // 2], whole[:-4], b"", b"not an archive", whole[:40]):
        broken.write_bytes(content)
        with pytest.raises(StoreError):
            restore_backup(broken, tmp_path / "into")
        assert list((tmp_path / "into").iterdir()) == []
    with pytest.raises(StoreError, match="not a backup of evalui"):
        restore_backup(foreign, tmp_path / "into")
    with pytest.raises(StoreError, match="not a backup of evalui"):
        restore_backup(archive_of(tmp_path / "empty.tar.gz"), tmp_path / "into")


def test_the_newest_backups_of_a_folder_stay(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVALUI_DATA_DIR", str(folder))
    Database(folder / "evalui.sqlite").close()
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("evalui-20200101T000000Z", "evalui-20210101T000000Z", "mine"):
        (kept / f"{name}.tar.gz").touch()
    assert main(["backup", str(kept), "--keep", "2"]) == 0
    first, second, mine = sorted(path.name for path in kept.iterdir())
    assert (first, mine) == ("evalui-20210101T000000Z.tar.gz", "mine.tar.gz")
    assert restore_backup(kept / second, tmp_path / "again") == 0
