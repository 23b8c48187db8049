"""Schema 9: what trials held as JSON in their rows becomes blocks of columns beside them."""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from sqlite3 import Connection

import numpy as np

from evalui.runs.database.codec import decode_variant, encode_turns
from evalui.runs.database.column_blocks import MAX_BLOCK, append_block
from evalui.scoring.trial_columns import columns_of
from evalui.types import Reading, Trial

_log = logging.getLogger(__name__)
_MANY = 100_000  # trials whose move takes seconds

# The id is stated, since an implicit one may change when the file is compacted.
_TABLES = (
    """
    CREATE TABLE trial (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        sample TEXT NOT NULL,
        variant TEXT NOT NULL,
        origin INTEGER NOT NULL,
        target INTEGER NOT NULL,
        choice INTEGER,
        credit REAL NOT NULL,
        tied INTEGER NOT NULL,
        rule TEXT NOT NULL,
        reply TEXT,
        turns TEXT,
        UNIQUE (cell, sample, variant)
    ) STRICT
    """,
    """
    INSERT INTO trial
    SELECT rowid, cell, sample, variant, origin, target, choice, credit, tied, rule, reply, NULL
    FROM trial_of_schema_8 ORDER BY rowid
    """,
    # By the id of its first trial; see `column_blocks`.
    """
    CREATE TABLE trial_block (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        first INTEGER NOT NULL,
        n INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (cell, first)
    ) STRICT
    """,
)


def move_trials_to_columns(connection: Connection) -> None:
    """Write every trial's columns; rows keep their texts and what lists filter by."""
    (n,) = connection.execute("SELECT count(*) FROM trial").fetchone()
    if n >= _MANY:
        _log.warning("%s trials of an earlier version are moved to columns first", f"{n:,}")
    (counting,) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'trial_counted'"
    ).fetchone()
    connection.execute("DROP TRIGGER trial_counted")  # they are counted already
    connection.execute("ALTER TABLE trial RENAME TO trial_of_schema_8")
    for statement in _TABLES:
        connection.execute(statement)
    for (cell,) in connection.execute("SELECT id FROM cell").fetchall():
        _move_cell(connection, cell)
    connection.execute("DROP TABLE trial_of_schema_8")
    connection.execute(counting)


def _move_cell(connection: Connection, cell: int) -> None:
    rows = connection.execute(
        "SELECT rowid, sample, variant, body FROM trial_of_schema_8 WHERE cell = ? ORDER BY rowid",
        (cell,),
    )
    while part := rows.fetchmany(MAX_BLOCK):
        numbers, samples, variants, bodies = zip(*part, strict=True)
        trials = list(map(_decode_trial, samples, variants, bodies))
        append_block(connection, cell, replace(columns_of(trials), number=np.array(numbers)))
        connection.executemany(
            "UPDATE trial SET turns = ? WHERE id = ?",
            (
                (encode_turns(trial.turns), number)
                for number, trial in zip(numbers, trials, strict=True)
                if trial.turns
            ),
        )


def _decode_trial(sample_id: str, variant: str, text: str) -> Trial:
    """A trial without its reply, as versions up to schema 8 wrote it: JSON in its row."""
    values = json.loads(text)
    target, headline, readings, probabilities, mass, scores, merged, truncated, fixed = values[:9]
    return Trial(
        sample_id=sample_id,
        variant=decode_variant(variant),
        target=target,
        headline=headline,
        readings=_readings(tuple((name, tuple(values)) for name, values in readings.items())),
        probabilities=tuple(probabilities),
        mass=mass,
        scores={name: tuple(values) for name, values in scores.items()},
        merged_boundaries=merged,
        truncated=truncated,
        # Before there was a second reason this was a truth value.
        fixed_reason="naming" if fixed is True else fixed or "",
        turns=tuple(values[9]) if len(values) > 9 else (),
    )


@lru_cache(1 << 12)
def _readings(
    readings: tuple[tuple[str, tuple[int | None, float, str, bool]], ...],
) -> Mapping[str, Reading]:
    return {name: Reading(*values) for name, values in readings}
