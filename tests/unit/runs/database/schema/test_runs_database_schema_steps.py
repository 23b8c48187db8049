import sqlite3
from collections.abc import Iterator

import pytest

from evalui.errors import StoreError
from evalui.runs.database.codec import decode_sentence
from evalui.runs.database.column_blocks import decode_columns, no_texts
from evalui.runs.database.schema.steps import MIGRATIONS, migrate

FIRST = ("CREATE TABLE a (x INTEGER) STRICT", "INSERT INTO a VALUES (1)")
SECOND = ("ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7",)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    yield opened
    opened.close()


def test_each_step_is_done_once(connection: sqlite3.Connection) -> None:
    migrate(connection, (FIRST,))
    migrate(connection, (FIRST,))
    assert connection.execute("SELECT count(*) FROM a").fetchone() == (1,)


def test_a_later_step_keeps_what_is_there(connection: sqlite3.Connection) -> None:
    migrate(connection, (FIRST,))
    migrate(connection, (FIRST, SECOND))
    assert connection.execute("SELECT * FROM a").fetchall() == [(1, 7)]
    assert connection.execute("SELECT number FROM migration").fetchall() == [(1,), (2,)]


def test_a_file_of_a_newer_version_is_left_alone(connection: sqlite3.Connection) -> None:
    migrate(connection, (FIRST, SECOND))
    with pytest.raises(StoreError, match="has schema 2, this version of evalui knows 1"):
        migrate(connection, (FIRST,))


def test_every_table_checks_its_types(connection: sqlite3.Connection) -> None:
    migrate(connection, MIGRATIONS)
    tables = connection.execute("PRAGMA table_list").fetchall()
    own = {name: strict for _, name, _, _, _, strict in tables if not name.startswith("sqlite_")}
    assert {"run", "cell", "trial", "response"} <= set(own)
    assert all(own.values())


@pytest.mark.parametrize("table", ["run", "dataset"])
def test_what_a_person_makes_has_an_owner(connection: sqlite3.Connection, table: str) -> None:
    migrate(connection, MIGRATIONS)
    columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    assert "owner" in columns


def test_errors_of_the_first_schema_keep_their_text(connection: sqlite3.Connection) -> None:
    migrate(connection, MIGRATIONS[:1])
    connection.executemany(
        "INSERT INTO run (id, owner, name, spec, state, created, queued, error)"
        " VALUES (?, 'ann', '', '{}', 'failed', 0, 0, ?)",
        [("a", 'It "broke".'), ("b", "")],
    )
    migrate(connection, MIGRATIONS)
    kept = [row[0] for row in connection.execute("SELECT error FROM run ORDER BY id")]
    assert [decode_sentence(error) for error in kept] == ['It "broke".', ""]


def test_the_last_speeds_of_an_older_store_are_the_first_of_several(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection, MIGRATIONS[:13])
    rows = [("m", "cloze", 0, "f", 10.0, 9.0, 3.0, 1.0), ("m", "cloze", 5, "f", 5.0, 0.0, 0.0, 0.0)]
    connection.executemany("INSERT INTO pace VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    migrate(connection, MIGRATIONS)
    kept = connection.execute("SELECT * FROM pace ORDER BY id").fetchall()
    assert kept == [(1, *rows[0]), (2, *rows[1])]
    connection.execute(
        "INSERT INTO pace (model, mode, shots, fingerprint, rate, sent, distinct_, written)"
        " VALUES ('m', 'cloze', 0, 'f', 20.0, 0, 0, 0)"
    )


_EN = "This rule needs a reference answer and a form it knows; it cannot decide here."


def test_old_judgements_without_a_reference_are_no_longer_unreadable(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection, MIGRATIONS[:5])
    connection.execute(
        "INSERT INTO dataset (id, key, owner, name, kind, sha256, paths, n_samples, n_shots,"
        " faults, created)"
        " VALUES (1, 'k', 'ann', 'd', 'subjective', '', '[]', 2, 0, 0, 0)"
    )
    connection.executemany(
        "INSERT INTO sample VALUES (1, 'sample', ?, ?, 1, '', '', ?)",
        [(0, "bare", '["bare","?",[],[],{},false]'), (1, "told", '["told","?",[],["x"],{},false]')],
    )
    connection.execute(
        "INSERT INTO run (id, owner, name, spec, state, created, queued)"
        " VALUES ('r', 'ann', '', '{}', 'done', 0, 0)"
    )
    connection.execute(
        "INSERT INTO cell (id, run, place, dataset, source, dataset_name, model, mode, label,"
        " pattern, signature, plan, questions, total, requests, state)"
        " VALUES (1, 'r', 0, 1, '', 'd', 'j', 'judge', '', 'origin', '', '{}', 2, 4, 4, 'done')"
    )
    body = '[0,"v",{"v":[null,0.0,"unparsed",false]},[],null,{},0,false,""]'
    connection.executemany(
        "INSERT INTO trial VALUES (1, ?, ?, 0, 0, NULL, 0.0, 0, 'unparsed', ?, ?)",
        [
            ("bare", "0,1", _EN, body),
            ("bare", "1,0", "Who knows?", body),
            ("told", "0,1", _EN, body),
            ("told", "1,0", "Who knows?", body),
        ],
    )
    migrate(connection, MIGRATIONS)
    rows = connection.execute("SELECT reply, rule FROM trial WHERE sample = 'bare'")
    assert dict(rows.fetchall()) == {_EN: "no-reference", "Who knows?": "unparsed"}
    (block,) = connection.execute("SELECT body FROM trial_block").fetchone()
    columns = decode_columns(block, no_texts)
    read = [columns.rules[place] for place in columns.reading.rule]
    assert read == ["no-reference", "unparsed", "unparsed", "unparsed"]
    counted = "SELECT done, unreadable, unreferenced FROM cell"
    assert connection.execute(counted).fetchone() == (4, 3, 1)
    connection.execute(
        "INSERT INTO trial (cell, sample, variant, origin, target, credit, tied, rule)"
        " VALUES (1, 'bare', '', 0, 0, 0.0, 0, 'no-reference')"
    )
    assert connection.execute(counted).fetchone() == (5, 3, 2)
