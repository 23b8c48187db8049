"""What a cell has cost in tokens and dollars, whose replies it has, and why it waits for its model;
how fast each model was last, and the time that is left.

Tokens are kept with the cell; dollars never are: they follow from the prices of today's catalog.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection, Row

from evalui.models.base import ModelEntry, ModelUsage, ReplyCount
from evalui.store.codec import decode_sentence, encode_sentence
from evalui.store.connection import Database
from evalui.store.queue import renew_lease
from evalui.store.runs import Lease
from evalui.types import Usage

Catalog = Mapping[str, ModelEntry]

_USAGE_SQL = """
    SELECT {what} AS whose, model, sum(input_tokens) AS read, sum(output_tokens) AS written
    FROM cell WHERE {where} AND (input_tokens > 0 OR output_tokens > 0)
    GROUP BY whose, model ORDER BY min(place)
"""

_MODEL_USAGE_SQL = """
    SELECT model, sum(input_tokens) AS read, sum(output_tokens) AS written,
        sum(CAST(round(1.0 * requests * done / max(total, 1)) AS INTEGER)) AS requests
    FROM cell WHERE run = ? GROUP BY model
    HAVING sum(input_tokens) > 0 OR sum(output_tokens) > 0 OR max(waits) != ''
    ORDER BY min(place)
"""

# `planned` are the requests that a cell has behind it, `most` what such a cell reads for each.
_REPLY_TOKENS_SQL = """
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


# Speeds of a model in a mode that are kept; it may have been at as many addresses.
_KEPT_SPEEDS = 12

# By the cell's own rate, else by that of its model and mode; a run without a cell to do is absent.
_REMAINING_SQL = """
    WITH remaining AS (
        SELECT c.run, CASE
            WHEN c.waits != '' THEN NULL
            WHEN c.done >= c.total THEN 0.0
            WHEN c.rate > 0 THEN (c.total - c.done) / c.rate
            ELSE c.requests * (1.0 - 1.0 * c.done / c.total) / p.rate
        END AS seconds
        FROM cell c LEFT JOIN pace p ON p.id = (
            SELECT max(id) FROM pace WHERE model = c.model AND mode = c.mode
                AND shots = coalesce(json_extract(c.plan, '$.shots'), 0)
        )
        WHERE c.run IN (SELECT value FROM json_each(?)) AND c.state IN ('waiting', 'running')
    )
    SELECT run, sum(seconds) AS seconds, count(*) = count(seconds) AS all_known
    FROM remaining GROUP BY run
"""


@dataclass(frozen=True, slots=True)
class TokenCost:
    """Tokens read and written, and US dollars; None where no model has a price.

    `is_partial`: the dollars are of a part of the tokens, as the rest has no price.
    """

    read: int
    written: int
    dollars: float | None = None
    is_partial: bool = False

    def __add__(self, other: "TokenCost") -> "TokenCost":
        """Both together; a part without a price adds none."""
        known = [each.dollars for each in (self, other) if each.dollars is not None]
        return TokenCost(
            self.read + other.read,
            self.written + other.written,
            sum(known) if known else None,
            self.is_partial or other.is_partial or len(known) == 1,
        )

    def __str__(self) -> str:
        """For the command line, which speaks English."""
        tokens = f"{self.read:,} tokens read, {self.written:,} written"
        if self.dollars is None:
            return tokens
        rest = ", without what has no price" if self.is_partial else ""
        return f"{tokens}, US$ {self.dollars:,.4f} at today's prices{rest}"


@dataclass(frozen=True, slots=True)
class ModelWait:
    """Why the model of a cell does not answer, since when, and when it is tried again.

    Times are seconds since 1970.
    """

    reason: str
    since: float
    retry_at: float


def add_usage(
    database: Database,
    lease: Lease,
    cell_id: int,
    usage: Usage,
    *,
    also: Callable[[Connection], None] = lambda _: None,
) -> None:
    """Add tokens to those of the cell; `also` is called in the same transaction.

    Raises:
        RunLeaseLost: the run was given to another worker, or deleted; nothing is written.
    """
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE cell SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?"
            " WHERE id = ?",
            (usage.prompt_tokens, usage.completion_tokens, cell_id),
        )
        also(connection)


def cell_costs(database: Database, run_id: str, catalog: Catalog) -> dict[int, TokenCost]:
    """What each cell of a run has cost, by its id; a model without counted tokens is absent."""
    rows = database.rows(_USAGE_SQL.format(what="id", where="run = ?"), (run_id,))
    return {row["whose"]: _token_cost(row, catalog) for row in rows}


def run_cost(database: Database, run_id: str, catalog: Catalog) -> TokenCost | None:
    """What a run has cost so far, None if no token was counted."""
    return total_cost(cell_costs(database, run_id, catalog).values())


def run_costs(database: Database, owner: str, catalog: Catalog) -> dict[str, TokenCost]:
    """What each run of an owner has cost, by its id; runs without counted tokens are absent."""
    where = "run IN (SELECT id FROM run WHERE owner = ?)"
    costs: dict[str, TokenCost] = {}
    for row in database.rows(_USAGE_SQL.format(what="run", where=where), (owner,)):
        charge = _token_cost(row, catalog)
        costs[row["whose"]] = costs[row["whose"]] + charge if row["whose"] in costs else charge
    return costs


def model_usages(database: Database, run_id: str, catalog: Catalog) -> tuple[ModelUsage, ...]:
    """What each model of a run took, in the order of the run.

    Models without counted tokens are absent, unless they are waited for. `requests` are those
    of the trials done: what the cache knew is among them, and took no tokens.
    """
    waits = model_waits(database, run_id)
    models = database.rows("SELECT id, model FROM cell WHERE run = ? ORDER BY place", (run_id,))
    waiting = {row["model"]: waits[row["id"]] for row in models if row["id"] in waits}
    rows = database.rows(_MODEL_USAGE_SQL, (run_id,))
    return tuple(_model_usage(row, catalog, waiting.get(row["model"])) for row in rows)


def cell_replies(database: Database, cell_id: int) -> Counter[tuple[str | None, float]]:
    """How many replies a cell has of each run, and when that requested the first; as `ReplyCount`
    has them.
    """
    row = database.row("SELECT replies FROM cell WHERE id = ?", (cell_id,))
    return Counter({(run, made): n for run, made, n in json.loads(row["replies"])} if row else {})


def set_replies(
    connection: Connection, cell_id: int, replies: Mapping[tuple[str | None, float], int]
) -> None:
    """Inside a transaction: note what `cell_replies` reads."""
    written = json.dumps([(run, made, n) for (run, made), n in replies.items()])
    connection.execute("UPDATE cell SET replies = ? WHERE id = ?", (written, cell_id))


def set_changes(connection: Connection, cell_id: int, changes: Iterable[str]) -> None:
    """Inside a transaction: note what `model_changes` reads."""
    written = json.dumps([encode_sentence(each) for each in changes])
    connection.execute("UPDATE cell SET changes = ? WHERE id = ?", (written, cell_id))


def model_changes(database: Database, run_id: str) -> tuple[str, ...]:
    """What the servers of a run's models said of them that was not so all the time, each once."""
    rows = database.rows("SELECT changes FROM cell WHERE run = ? ORDER BY place", (run_id,))
    texts = (text for row in rows for text in json.loads(row["changes"]))
    return tuple(map(decode_sentence, dict.fromkeys(texts)))


def reply_counts(database: Database, run_id: str) -> tuple[ReplyCount, ...]:
    """Whose replies a run has, by model in the order of the run; what it requested itself first."""
    rows = database.rows("SELECT model, replies FROM cell WHERE run = ? ORDER BY place", (run_id,))
    models: dict[str, Counter[tuple[str | None, float]]] = {}
    for row in rows:
        counts = models.setdefault(row["model"], Counter())
        for run, made, n in json.loads(row["replies"]):
            counts[run, made] += n
    return tuple(
        ReplyCount(model, n, run, made)
        for model, counts in models.items()
        for (run, made), n in sorted(
            counts.items(), key=lambda each: (each[0][0] != "", each[0][1])
        )
    )


def mean_reply_tokens(database: Database) -> dict[tuple[str, str], float]:
    """Tokens written for each planned request that was sent, by model and mode, for `estimate`.

    What was sent beyond the plan counts: a judge's second request after an unreadable reply.
    What came from the cache cost nothing and is not counted. But of two cells with the same
    signature, so the same prompts, the one that read less was sent less, in that proportion.
    """
    rows = database.rows(_REPLY_TOKENS_SQL)
    return {(row["model"], row["mode"]): row["mean"] for row in rows}


def total_cost(charges: Iterable[TokenCost]) -> TokenCost | None:
    """All charges together, None if there are none."""
    known = list(charges)
    return sum(known[1:], start=known[0]) if known else None


def set_wait(database: Database, lease: Lease, cell_id: int, model_wait: ModelWait) -> None:
    """Say that the cell waits; raises `RunLeaseLost` as `add_usage` does."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE cell SET waits = ? WHERE id = ?",
            (
                json.dumps(
                    [model_wait.since, model_wait.retry_at, encode_sentence(model_wait.reason)]
                ),
                cell_id,
            ),
        )


def clear_wait(database: Database, lease: Lease, cell_id: int) -> None:
    """Note that the model answers again; raises `RunLeaseLost` as `add_usage` does.

    The clock of the cell starts anew: waiting is neither its time nor its pace.
    """
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE cell SET waits = '', written = ? WHERE id = ?", (time.time(), cell_id)
        )


def model_waits(database: Database, run_id: str) -> dict[int, ModelWait]:
    """The cells of a run that wait for their model, by id."""
    rows = database.rows("SELECT id, waits FROM cell WHERE run = ? AND waits != ''", (run_id,))
    return {row["id"]: _decode_wait(row["waits"]) for row in rows}


def waiting_models(database: Database) -> dict[str, ModelWait]:
    """The models that workers wait for now, in whosever run."""
    rows = database.rows(
        "SELECT c.model, c.waits FROM cell c JOIN run r ON r.id = c.run"
        " WHERE r.state = 'running' AND c.waits != ''"
    )
    return {row["model"]: _decode_wait(row["waits"]) for row in rows}


def store_throughput(
    database: Database, model: str, mode: str, shots: int, *, fingerprint: str, rate: float
) -> None:
    """Remember the requests per second of a model in a mode; of older ones the last few stay."""
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO pace (model, mode, shots, fingerprint, rate) VALUES (?, ?, ?, ?, ?)",
            (model, mode, shots, fingerprint, rate),
        )
        connection.execute(
            "DELETE FROM pace WHERE id IN (SELECT id FROM pace"
            " WHERE model = ? AND mode = ? AND shots = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
            (model, mode, shots, _KEPT_SPEEDS),
        )


def throughputs(database: Database) -> dict[tuple[str, str, int], float]:
    """Requests per second as last measured, by model, mode and number of shots."""
    rows = database.rows("SELECT model, mode, shots, rate FROM pace ORDER BY id")
    return {(row["model"], row["mode"], row["shots"]): row["rate"] for row in rows}


def remaining_seconds_of(database: Database, run_ids: Sequence[str]) -> dict[str, float | None]:
    """Seconds until each run is done, at the speeds measured last.

    None while a model of the run does not answer, or where a cell was never timed.
    """
    known = database.rows(_REMAINING_SQL, (json.dumps(list(run_ids)),))
    seconds = {row["run"]: row["seconds"] if row["all_known"] else None for row in known}
    return {run_id: seconds.get(run_id, 0.0) for run_id in run_ids}


def _decode_wait(text: str) -> ModelWait:
    since, again, why = json.loads(text)
    return ModelWait(decode_sentence(why), since, again)


def _model_usage(row: Row, catalog: Catalog, wait: ModelWait | None) -> ModelUsage:
    model, charge = row["model"], _token_cost(row, catalog)
    prices = None
    if charge.dollars is not None:
        prices = (catalog[model].input_price, catalog[model].output_price)
    return ModelUsage(
        model,
        row["requests"],
        charge.read,
        charge.written,
        prices,
        charge.dollars,
        why=wait.reason if wait else "",
        since=wait.since if wait else 0.0,
    )


def _token_cost(row: Row, catalog: Catalog) -> TokenCost:
    entry = catalog.get(row["model"])
    if entry is None or not (entry.input_price or entry.output_price):
        return TokenCost(row["read"], row["written"])
    dollars = (row["read"] * entry.input_price + row["written"] * entry.output_price) / 1e6
    return TokenCost(row["read"], row["written"], dollars)
