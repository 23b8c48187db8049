"""What a cell has cost in tokens and dollars, and why one waits for its model.

Tokens are kept with the cell; dollars never are: they follow from the prices of today's catalog.
"""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sqlite3 import Row

from evalui.models.base import ModelEntry
from evalui.runs.database.codec import decode_sentence, encode_sentence
from evalui.runs.database.connection import Database
from evalui.runs.database.queue import hold
from evalui.runs.database.records import Lease
from evalui.types import Usage

Catalog = Mapping[str, ModelEntry]

_COUNTED = """
    SELECT {what} AS whose, model, sum(input_tokens) AS read, sum(output_tokens) AS written
    FROM cell WHERE {where} AND (input_tokens > 0 OR output_tokens > 0)
    GROUP BY whose, model ORDER BY min(place)
"""

_SPENT = """
    SELECT model, sum(input_tokens) AS read, sum(output_tokens) AS written,
        sum(CAST(round(1.0 * requests * done / max(total, 1)) AS INTEGER)) AS requests
    FROM cell WHERE run = ? GROUP BY model
    HAVING sum(input_tokens) > 0 OR sum(output_tokens) > 0 OR max(waits) != ''
    ORDER BY min(place)
"""

# `planned` are the requests that a cell has behind it, `most` what such a cell reads for each.
_ASKED = """
    WITH
    behind AS (
        SELECT model, mode, signature, input_tokens AS read, output_tokens AS written,
            1.0 * requests * done / total AS planned
        FROM cell WHERE output_tokens > 0 AND requests * done > 0
    ),
    beside AS (
        SELECT *, max(read / planned) OVER (PARTITION BY model, mode, signature) AS most
        FROM behind
    )
    SELECT model, mode,
        sum(written) / sum(CASE WHEN most > 0 THEN read / most ELSE planned END) AS mean
    FROM beside GROUP BY model, mode
"""


@dataclass(frozen=True, slots=True)
class Charge:
    """Tokens read and written, and US dollars; None where no model has a price.

    `partly`: the dollars are of a part of the tokens, as the rest has no price.
    """

    read: int
    written: int
    dollars: float | None = None
    partly: bool = False

    def __add__(self, other: "Charge") -> "Charge":
        """Both together; a part without a price adds none."""
        known = [each.dollars for each in (self, other) if each.dollars is not None]
        return Charge(
            self.read + other.read,
            self.written + other.written,
            sum(known) if known else None,
            self.partly or other.partly or len(known) == 1,
        )

    def __str__(self) -> str:
        """For the command line, which speaks English."""
        told = f"{self.read:,} tokens read, {self.written:,} written"
        if self.dollars is None:
            return told
        rest = ", without what has no price" if self.partly else ""
        return f"{told}, US$ {self.dollars:,.4f} at today's prices{rest}"


@dataclass(frozen=True, slots=True)
class Wait:
    """Why nobody answers a cell, since when, and when it is tried again (seconds since 1970)."""

    why: str
    since: float
    again: float


@dataclass(frozen=True, slots=True)
class Expense:
    """What one model of a run was asked, and what it took.

    `prices` are the dollars for a million tokens read and written, None if none are given. A model
    that does not answer now says `why`, and `since` when (seconds since 1970).
    """

    model: str
    requests: int
    read: int
    written: int
    prices: tuple[float, float] | None = None
    dollars: float | None = None
    why: str = ""
    since: float = 0.0


def count(database: Database, lease: Lease, cell_id: int, usage: Usage) -> None:
    """Add tokens to those of the cell.

    Raises:
        LostRun: the run was given to another worker, or deleted; nothing is written.
    """
    with database.writing() as connection:
        hold(connection, lease)
        connection.execute(
            "UPDATE cell SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?"
            " WHERE id = ?",
            (usage.prompt_tokens, usage.completion_tokens, cell_id),
        )


def cell_charges(database: Database, run_id: str, catalog: Catalog) -> dict[int, Charge]:
    """What each cell of a run has cost, by its id; a model whose tokens nobody counts is absent."""
    rows = database.rows(_COUNTED.format(what="id", where="run = ?"), (run_id,))
    return {row["whose"]: _charge(row, catalog) for row in rows}


def run_charge(database: Database, run_id: str, catalog: Catalog) -> Charge | None:
    """What a run has cost so far, None if no token was counted."""
    return total(cell_charges(database, run_id, catalog).values())


def run_charges(database: Database, owner: str, catalog: Catalog) -> dict[str, Charge]:
    """What each run of an owner has cost, by its id; runs without counted tokens are absent."""
    where = "run IN (SELECT id FROM run WHERE owner = ?)"
    found: dict[str, Charge] = {}
    for row in database.rows(_COUNTED.format(what="run", where=where), (owner,)):
        charge = _charge(row, catalog)
        found[row["whose"]] = found[row["whose"]] + charge if row["whose"] in found else charge
    return found


def expenses(database: Database, run_id: str, catalog: Catalog) -> tuple[Expense, ...]:
    """What each model of a run took, in the order of the run.

    Models whose tokens nobody counts are absent, unless they are waited for. `requests` are those
    of the trials done: what the cache knew is among them, and took no tokens.
    """
    found = waits(database, run_id)
    models = database.rows("SELECT id, model FROM cell WHERE run = ? ORDER BY place", (run_id,))
    waiting = {row["model"]: found[row["id"]] for row in models if row["id"] in found}
    rows = database.rows(_SPENT, (run_id,))
    return tuple(_expense(row, catalog, waiting.get(row["model"])) for row in rows)


def written(database: Database) -> dict[tuple[str, str], float]:
    """Tokens written for each planned request that was asked, by model and mode, for `estimate`.

    What was asked beyond the plan counts: a judge's second request after an unreadable reply.
    Nobody counts what came from the cache and cost nothing. But of two cells with the same
    signature, so the same prompts, the one that read less was asked less, in that proportion.
    """
    rows = database.rows(_ASKED)
    return {(row["model"], row["mode"]): row["mean"] for row in rows}


def total(charges: Iterable[Charge]) -> Charge | None:
    """All charges together, None if there are none."""
    known = list(charges)
    return sum(known[1:], start=known[0]) if known else None


def wait(database: Database, lease: Lease, cell_id: int, told: Wait) -> None:
    """Say that the cell waits; raises `LostRun` as `count` does."""
    with database.writing() as connection:
        hold(connection, lease)
        connection.execute(
            "UPDATE cell SET waits = ? WHERE id = ?",
            (json.dumps([told.since, told.again, encode_sentence(told.why)]), cell_id),
        )


def go_on(database: Database, lease: Lease, cell_id: int) -> None:
    """Say that somebody answers again; raises `LostRun` as `count` does.

    The clock of the cell starts anew: waiting is neither its time nor its pace.
    """
    with database.writing() as connection:
        hold(connection, lease)
        connection.execute(
            "UPDATE cell SET waits = '', written = ? WHERE id = ?", (time.time(), cell_id)
        )


def waits(database: Database, run_id: str) -> dict[int, Wait]:
    """The cells of a run that wait for their model, by id."""
    rows = database.rows("SELECT id, waits FROM cell WHERE run = ? AND waits != ''", (run_id,))
    return {row["id"]: _wait(row["waits"]) for row in rows}


def _wait(text: str) -> Wait:
    since, again, why = json.loads(text)
    return Wait(decode_sentence(why), since, again)


def _expense(row: Row, catalog: Catalog, wait: Wait | None) -> Expense:
    model, charge = row["model"], _charge(row, catalog)
    prices = None
    if charge.dollars is not None:
        prices = (catalog[model].input_price, catalog[model].output_price)
    return Expense(
        model,
        row["requests"],
        charge.read,
        charge.written,
        prices,
        charge.dollars,
        why=wait.why if wait else "",
        since=wait.since if wait else 0.0,
    )


def _charge(row: Row, catalog: Catalog) -> Charge:
    entry = catalog.get(row["model"])
    if entry is None or not (entry.input_price or entry.output_price):
        return Charge(row["read"], row["written"])
    dollars = (row["read"] * entry.input_price + row["written"] * entry.output_price) / 1e6
    return Charge(row["read"], row["written"], dollars)
