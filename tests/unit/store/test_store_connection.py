import gc
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalui.errors import DataError, StoreError
from evalui.store.connection import Database, create_tables


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "evalui.sqlite")
    yield opened
    opened.close()


def revision(database: Database) -> int:
    row = database.row("SELECT revision FROM clock")
    assert row
    return row["revision"]


def test_a_store_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    opened = Database(tmp_path / "evalui.sqlite")
    with opened.reading() as connection:
        assert connection.execute("SELECT 1").fetchone()
    del opened
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.writing() as connection:
            connection.execute("UPDATE clock SET revision = 5")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert revision(database) == 0


def test_a_transaction_that_ends_well_is_kept(database: Database) -> None:
    with database.writing() as connection:
        connection.execute("UPDATE clock SET revision = 5")
    assert revision(database) == 5


def test_readers_do_not_wait_for_a_writer(database: Database) -> None:
    other = Database(database.path)
    with database.writing() as connection:
        connection.execute("UPDATE clock SET revision = 5")
        assert revision(other) == 0
    assert revision(other) == 5
    other.close()


def test_threads_do_not_share_a_transaction(database: Database) -> None:
    barrier = threading.Barrier(4)

    def add() -> None:
        barrier.wait()
        for _ in range(5):
            with database.writing() as connection:
                (now,) = connection.execute("SELECT revision FROM clock").fetchone()
                time.sleep(0.002)
                connection.execute("UPDATE clock SET revision = ?", (now + 1,))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert revision(database) == 20


def test_our_own_mistake_is_no_store_error(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        database.row("SELECT * FROM nowhere")


def test_a_full_disk_is_reported_as_a_sentence(database: Database) -> None:
    with database.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def write_much() -> None:
        with database.writing() as connection:
            connection.execute("UPDATE clock SET revision = 5")
            connection.execute("INSERT INTO response VALUES (zeroblob(1000000), '', NULL)")

    with pytest.raises(StoreError, match="The disk is full"):
        write_much()
    assert revision(database) == 0


def test_a_file_that_is_no_database_is_reported_as_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "evalui.sqlite"
    path.write_text("id,question,A,B,C,D,answer\n" * 100)
    with pytest.raises(StoreError, match="not a database of evalui"):
        Database(path)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "evalui.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE x (y)")
    before = path.read_bytes()
    with pytest.raises(DataError, match="its tables differ"):
        Database(path)
    assert path.read_bytes() == before


def test_every_table_checks_its_types() -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        create_tables(made)
        tables = made.execute("PRAGMA table_list").fetchall()
    own = {name: strict for _, name, _, _, _, strict in tables if not name.startswith("sqlite_")}
    assert {"run", "cell", "trial", "response"} <= set(own)
    assert all(own.values())


@pytest.mark.parametrize("table", ["run", "dataset"])
def test_what_a_person_makes_has_an_owner(table: str) -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        create_tables(made)
        columns = {row[1] for row in made.execute(f"PRAGMA table_info({table})")}
    assert "owner" in columns


def test_a_folder_that_cannot_be_made_is_reported_as_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="data folder cannot be made"):
        Database(tmp_path / "file" / "evalui.sqlite")


def test_a_new_data_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    Database(tmp_path / "new" / "evalui.sqlite").close()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_several_processes_may_create_the_file_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from evalui.store.connection import Database\n"
        "sys.stdin.readline(); Database(Path(sys.argv[1])).close()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "evalui.sqlite")]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    for process in started:
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait(30) for process in started] == [0, 0, 0, 0]


def test_other_users_can_read_neither_the_store_nor_its_log(tmp_path: Path):
    database = Database(tmp_path / "evalui.sqlite")
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    database.close()
    assert found == dict.fromkeys(
        ("evalui.sqlite", "evalui.sqlite-wal", "evalui.sqlite-shm"), 0o600
    )


def test_only_a_durable_transaction_waits_for_the_disk(database: Database) -> None:
    levels: list[int] = []
    for durable in (False, True, False):
        with database.writing(durable=durable) as connection:
            levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
    assert levels == [1, 2, 1]  # NORMAL, FULL


def test_a_durable_transaction_that_fails_leaves_nothing_changed(database: Database) -> None:
    with pytest.raises(RuntimeError), database.writing(durable=True):
        raise RuntimeError
    with database.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 1


def test_an_emptied_file_becomes_no_new_store(tmp_path: Path) -> None:
    path = tmp_path / "evalui.sqlite"
    path.touch()
    Database(path).close()  # another process may have just made it
    path.write_bytes(b"")
    for log in tmp_path.glob("evalui.sqlite-*"):
        log.unlink()
    os.utime(path, (1, 1))
    with pytest.raises(StoreError, match="evalui restore"):
        Database(path)
    assert path.stat().st_size == 0


def test_damage_in_the_middle_of_the_file_is_noticed(database: Database) -> None:
    with database.writing() as connection:
        connection.execute("CREATE TABLE filler (text TEXT)")
        connection.executemany("INSERT INTO filler VALUES (?)", [("x" * 2000,)] * 200)
    database.check()
    assert database.damage == ""
    database.close()
    content = bytearray(database.path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 5 * 4096] = b"\xff" * 5 * 4096
    database.path.write_bytes(content)
    damaged = Database(database.path)
    damaged.check()
    assert damaged.damage
    damaged.close()
