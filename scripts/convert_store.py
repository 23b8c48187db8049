"""Bring a store of an earlier version of evalui to the version of the evalui beside it, once.

    /opt/evalui/bin/python scripts/convert_store.py OLD NEW

OLD is the `evalui.sqlite` of a data folder, of a folder of `evalui run`, or of an unpacked backup;
or a bundle of a run. It stays as it is, and no server, worker or command may use it meanwhile. NEW
is written beside its place and gets its name when it is whole. Runs with their owners and answers,
votes, decisions, people, links and kept replies go along as they are: nothing is graded again.
"""

import argparse
import io
import json
import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.trial_columns import (
    PLAIN_COLUMNS,
    Ragged,
    ReadingColumns,
    TrialColumns,
    columns_of,
)
from evalui.store.codec import decode_variant, encode_turns
from evalui.store.column_blocks import (
    MAX_BLOCK,
    append_block,
    encode_columns,
    no_texts,
)
from evalui.store.connection import create_tables, schema_statements
from evalui.types import Reading, Trial

# What earlier stores have and this version has no more: a table, or TABLE.COLUMN.
DROPPED = frozenset(
    {
        "migration",
        # A trial's numbers stand in its block alone.
        *("trial.body", "trial.origin", "trial.target", "trial.choice", "trial.credit"),
        *("trial.tied", "trial.rule"),
        # Teams: what they could see is its owner's alone now.
        *("team", "membership", "team_right"),
        # Notices by mail and webhook, and times told before a start.
        *("person.preferences", "notice.sent", "notice.tries", "notice.due", "notice.mailed"),
        *("notice.posted", "loading", "pace.sent", "pace.distinct_", "pace.written"),
        "spending.device_s",
    }
)

# What a judge by rule could not judge for lack of a reference was marked by one of these sentences.
_UNDECIDED = """
    SELECT t.rowid FROM old.trial t JOIN old.cell c ON c.id = t.cell AND c.mode = 'judge'
    JOIN old.sample s ON s.dataset = c.dataset AND s.role = 'sample' AND s.id = t.sample
    WHERE t.choice IS NULL AND json_extract(s.body, '$[3]') = '[]' AND t.reply IN (
        'This rule needs a reference answer and a form it knows; it cannot decide here.',
        '本规则需要参考答案和已知的作答格式，这里无法评判。'
    )
"""


class Refused(Exception):
    """Why a store is not converted."""


def main(arguments: list[str] | None = None) -> int:
    """Convert a store and print what was done; the exit code."""
    parser = argparse.ArgumentParser(description="Bring a store of an earlier evalui to this one.")
    parser.add_argument("old", type=Path, metavar="OLD", help="the store, which nothing may use")
    parser.add_argument("new", type=Path, metavar="NEW", help="where the converted store goes")
    options = parser.parse_args(arguments)
    try:
        for line in convert(options.old, options.new):
            print(line)
    except (Refused, OSError, sqlite3.Error) as error:
        print(f"{options.old}: {error}", file=sys.stderr)
        return 2
    return 0


def convert(old: Path, new: Path) -> list[str]:
    """Write the store of this version and give what went along, a line each.

    Raises:
        Refused: it is in use, of no earlier version, or holds what this version cannot; NEW exists.
        sqlite3.Error, OSError: a file cannot be read or written. Then there is no NEW.
    """
    if not old.is_file():
        raise Refused("There is no such file.")
    if new.exists():
        raise Refused(f"{new} is there already; name another file.")
    unfinished = new.with_name(f"{new.name}.part")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(unfinished, isolation_level=None, uri=True)) as opened:
            opened.execute("PRAGMA journal_mode = OFF")  # what does not end well is deleted
            opened.execute("ATTACH ? AS old", (f"{old.absolute().as_uri()}?mode=rw",))
            before = _take_alone(opened)
            lines = _convert(opened, before)
            opened.execute("COMMIT")
            (now,) = opened.execute("PRAGMA main.user_version").fetchone()
        unfinished.rename(new)
    finally:
        unfinished.unlink(missing_ok=True)
    return [f"{old} has version {before}, {new} has version {now}.", *lines]


def _take_alone(connection: sqlite3.Connection) -> int:
    """Begin a transaction while nothing else uses the old store; its version."""
    try:
        # With a write-ahead log this lock fails beside any other connection, even an idle one.
        connection.execute("PRAGMA old.locking_mode = EXCLUSIVE")
        connection.execute("SELECT count(*) FROM old.sqlite_master").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise Refused("It is in use; stop servers, workers and commands first.") from error
    (version,) = connection.execute("PRAGMA old.user_version").fetchone()
    if "migration" in _columns(connection, "old"):
        (version,) = connection.execute("SELECT max(number) FROM old.migration").fetchone()
    with closing(sqlite3.connect(":memory:")) as made:
        create_tables(made)
        (own,) = made.execute("PRAGMA user_version").fetchone()
    if not version:
        raise Refused("It is no store of evalui's.")
    if version >= own:
        raise Refused(f"It has version {version} already, and this evalui has version {own}.")
    return version


def _convert(connection: sqlite3.Connection, version: int) -> list[str]:
    """Fill the new store from the old one, of an earlier version."""
    tables: list[str] = []
    rest: list[str] = []
    for statement in schema_statements():
        bare = re.sub(r"(?m)^--.*\n", "", statement).lstrip()
        # Rows are counted already, and indexes are made faster of what is there.
        (tables if bare.startswith(("CREATE TABLE", "PRAGMA")) else rest).append(bare)
    for statement in tables:
        connection.execute(statement)
    lines = list(_copy_tables(connection))
    # Errors became [text, key, values], and of those before only the text is known.
    if version < 2:
        for table in ("run", "cell"):
            connection.execute(f"UPDATE {table} SET error = json_array(error) WHERE error != ''")  # noqa: S608 (ours)
    if version < 6:
        _count_undecided(connection)
    if version < 9:
        for (cell,) in connection.execute("SELECT id FROM cell").fetchall():
            _move_to_columns(connection, cell)
    elif version < 18:
        blocks = connection.execute("SELECT body, cell, first FROM old.trial_block")
        connection.executemany(
            "UPDATE main.trial_block SET body = ? WHERE cell = ? AND first = ?",
            ((encode_columns(_decode_archive(body)), *key) for body, *key in blocks),
        )
    if version < 13:
        for mode, gives in (("question_answer", "answers"), ("judge", "verdicts")):
            connection.execute("UPDATE cell SET gives = ? WHERE mode = ?", (gives, mode))
    connection.execute("DELETE FROM decision WHERE name = 'retention'")
    connection.execute("DELETE FROM audit WHERE deed = 'set-notes'")
    for statement in rest:
        if not statement.startswith("INSERT"):  # a row of a table that was copied
            connection.execute(statement)
    if broken := connection.execute("PRAGMA main.foreign_key_check").fetchone():
        raise Refused(f"It is damaged: a row of {broken[0]} belongs to none of {broken[2]}.")
    return lines


def _copy_tables(connection: sqlite3.Connection) -> Iterator[str]:
    """Copy every table; columns that an earlier version had not take their defaults."""
    known = _columns(connection, "main")
    for table, columns in sorted(_columns(connection, "old").items()):
        unknown = [each for each in columns if each not in known.get(table, ())]
        if table not in DROPPED and not {f"{table}.{each}" for each in unknown} <= DROPPED:
            raise Refused(f"It has {table} ({', '.join(unknown)}), which is unknown here.")
        (n,) = connection.execute(f"SELECT count(*) FROM old.{table}").fetchone()  # noqa: S608 (known)
        if table in DROPPED:
            if n and table != "migration":
                yield f"  {table}: {n:,} left out"
            continue
        kept = [each for each in columns if each in known[table]]
        values = ", ".join(kept)
        if table == "trial" and "id" not in kept:  # which was the implicit one
            kept, values = ["id", *kept], f"rowid, {values}"
        connection.execute(
            f"INSERT INTO main.{table} ({', '.join(kept)}) SELECT {values} FROM old.{table}"  # noqa: S608
        )
        if n:
            yield f"  {table}: {n:,}"
    # Numbers of deleted trials are not given again.
    if "trial_block" in _columns(connection, "old"):
        connection.execute("DELETE FROM main.sqlite_sequence")
        connection.execute("INSERT INTO main.sqlite_sequence SELECT * FROM old.sqlite_sequence")


def _columns(connection: sqlite3.Connection, store: str) -> dict[str, list[str]]:
    """The columns of every table of a store, "main" or "old"."""
    rows = connection.execute(
        "SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name, t.schema) c"
        " WHERE t.schema = ? AND t.type = 'table' AND t.name NOT GLOB 'sqlite_*'",
        (store,),
    )
    columns: dict[str, list[str]] = {}
    for table, column in rows:
        columns.setdefault(table, []).append(column)
    return columns


def _count_undecided(connection: sqlite3.Connection) -> None:
    """Count what lacks a reference apart from what cannot be read."""
    connection.execute(
        "UPDATE cell SET unreferenced = found.n, unreadable = unreadable - found.n FROM"  # noqa: S608
        f" (SELECT cell, count(*) AS n FROM old.trial WHERE rowid IN ({_UNDECIDED}) GROUP BY cell)"
        " AS found WHERE cell.id = found.cell"
    )


def _move_to_columns(connection: sqlite3.Connection, cell: int) -> None:
    """Write the columns of a cell's trials, which were JSON in their rows."""
    rows = connection.execute(
        f"SELECT rowid, sample, variant, CASE WHEN rowid IN ({_UNDECIDED})"  # noqa: S608
        """ THEN replace(body, '"' || rule || '"', '"no-reference"') ELSE body END"""
        " FROM old.trial WHERE cell = ? ORDER BY rowid",
        (cell,),
    )
    while part := rows.fetchmany(MAX_BLOCK):
        numbers, samples, variants, bodies = zip(*part, strict=True)
        trials = list(map(_decode_trial, samples, variants, bodies))
        append_block(connection, cell, replace(columns_of(trials), number=np.array(numbers)))
        connection.executemany(
            "UPDATE main.trial SET turns = ? WHERE id = ?",
            (
                (encode_turns(trial.turns), number)
                for number, trial in zip(numbers, trials, strict=True)
                if trial.turns
            ),
        )


def _decode_archive(body: bytes) -> TrialColumns:
    """The trials of a block as versions up to 17 wrote it: a deflated archive of numpy's."""
    with np.load(io.BytesIO(zlib.decompress(body)), allow_pickle=False) as archive:
        arrays: dict[str, NDArray[Any]] = dict(archive)
    tables: dict[str, list[str]] = json.loads(arrays["tables"].tobytes())
    probabilities, *scores = (
        Ragged(arrays[f"ragged.{place}.0"], arrays[f"ragged.{place}.1"])
        for place in range(1 + len(tables["scores"]))
    )
    return TrialColumns(
        ids=tuple(tables["ids"]),
        orders=tuple(map(decode_variant, tables["orders"])),
        headlines=tuple(tables["headlines"]),
        rules=tuple(tables["rules"]),
        readings={
            name: ReadingColumns(*(arrays[f"reading.{place}.{part}"] for part in range(4)))
            for place, name in enumerate(tables["readings"])
        },
        probabilities=probabilities,
        scores=dict(zip(tables["scores"], scores, strict=True)),
        texts=no_texts,
        **{name: arrays[name] for name in PLAIN_COLUMNS},
    )


def _decode_trial(sample_id: str, variant: str, text: str) -> Trial:
    """A trial without its reply, as versions up to 8 wrote it: JSON in its row."""
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


if __name__ == "__main__":
    sys.exit(main())
