"""Trials of stores up to schema 8, whose figures were JSON in their rows."""

import math
import sqlite3
from collections.abc import Iterator

import pytest

from evalui.runs.database.column_blocks import decode_columns
from evalui.runs.database.schema import trials_to_columns
from evalui.runs.database.schema.steps import MIGRATIONS, migrate
from evalui.types import Reading, Trial, Variant

_READ = '{"forced":[2,1.0,"forced",false],"strict":[null,0.0,"empty",false]}'
_SCORES = '{"raw":[-Infinity,-1.5]}'
_BODIES = {
    "3,0,1,2": f'[2,"forced",{_READ},[0.1,0.2,0.3,0.4],0.9,{{}},1,true,"duplicates"]',
    "0,1,2,3": f'[2,"forced",{_READ},[],null,{_SCORES},0,false,true]',
    "": f'[0,"forced",{_READ},[],null,{{}},0,false,false,["first","last"]]',
}
_READINGS = {"forced": Reading(2, 1.0, "forced"), "strict": Reading(None, 0.0, "empty")}


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    migrate(opened, MIGRATIONS[:8])
    opened.execute(
        "INSERT INTO dataset (id, key, owner, name, kind, sha256, paths, n_samples, n_shots,"
        " faults, created) VALUES (1, 'k', 'ann', 'd', 'multiple_choice', '', '[]', 1, 0, 0, 0)"
    )
    opened.execute(
        "INSERT INTO run (id, owner, name, spec, state, created, queued)"
        " VALUES ('r', 'ann', '', '{}', 'done', 0, 0)"
    )
    opened.execute(
        "INSERT INTO cell (id, run, place, dataset, source, dataset_name, model, mode, label,"
        " pattern, signature, plan, questions, total, requests, state)"
        " VALUES (1, 'r', 0, 1, '', 'd', 'm', 'x', '', 'circular', '', '{}', 1, 3, 3, 'done')"
    )
    opened.executemany(
        "INSERT INTO trial VALUES (1, 'q', ?, 0, 2, 2, 1.0, 0, 'forced', 'C', ?)", _BODIES.items()
    )
    yield opened
    opened.close()


def test_every_trial_keeps_what_it_held(connection: sqlite3.Connection) -> None:
    migrate(connection, MIGRATIONS)
    (body,) = connection.execute("SELECT body FROM trial_block").fetchone()
    trials = decode_columns(body, lambda numbers: [("C", ())] * len(numbers)).build()
    assert trials == [
        Trial(
            "q",
            Variant((3, 0, 1, 2)),
            2,
            "forced",
            _READINGS,
            (0.1, 0.2, 0.3, 0.4),
            0.9,
            "C",
            merged_boundaries=1,
            truncated=True,
            fixed_reason="duplicates",
        ),
        Trial(
            "q",
            Variant((0, 1, 2, 3)),
            2,
            "forced",
            _READINGS,
            reply="C",
            scores={"raw": (-math.inf, -1.5)},
            fixed_reason="naming",  # once the only reason, and a truth value
        ),
        Trial("q", Variant(()), 0, "forced", _READINGS, reply="C"),
    ]


def test_rows_keep_their_texts_and_are_not_counted_again(connection: sqlite3.Connection) -> None:
    before = connection.execute("SELECT done, origin_n FROM cell").fetchone()
    migrate(connection, MIGRATIONS)
    assert connection.execute("SELECT done, origin_n FROM cell").fetchone() == before
    rows = connection.execute("SELECT id, reply, turns FROM trial ORDER BY id").fetchall()
    assert rows == [(1, "C", None), (2, "C", None), (3, "C", '["first","last"]')]


@pytest.mark.parametrize(("many", "logged"), [(3, 1), (4, 0)])
def test_a_long_move_is_logged_at_its_beginning(
    connection: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    many: int,
    logged: int,
) -> None:
    monkeypatch.setattr(trials_to_columns, "_MANY", many)
    migrate(connection, MIGRATIONS)
    assert [record.message[:8] for record in caplog.records] == ["3 trials"] * logged
