"""Responses that need not be paid for twice.

Only responses that cannot come out otherwise are kept, of models that take longer to answer than
the store does: the key is the model's fingerprint and the whole request. They have no owner: a user
who sends the same request has the prompt already. With each stands which run requested it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from sqlite3 import Connection, Row

from evalui.models import Model
from evalui.models.base import is_instant, is_nondeterministic
from evalui.store.codec import decode_response, encode_response
from evalui.store.connection import Database
from evalui.types import Generate, Request, Response

# SQLite takes 999 parameters in its oldest builds.
_MAX_PARAMETERS = 500


@dataclass(frozen=True, slots=True)
class ReplySource:
    """Whose replies are: those of a model that a run requested, from `made` on (since 1970)."""

    model: str
    fingerprint: str
    run: str
    made: float


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A response with its key, and whose it is; None if an earlier version kept it."""

    key: bytes
    response: Response
    source: ReplySource | None


def is_deterministic(request: Request) -> bool:
    """Whether the same request always has the same response."""
    return not isinstance(request, Generate) or request.temperature == 0


def cacheable_by(model: Model, *, repeats: int = 1) -> Callable[[Request], bool]:
    """Which requests always have the same response from this model, and are worth keeping.

    Of several repeats each draw is kept, by its number, so that further ones can be added.
    """
    if is_instant(model):
        return lambda _: False
    if repeats > 1:
        return lambda _: True
    return _is_scored if is_nondeterministic(model) else is_deterministic


def get_responses(database: Database, keys: Sequence[bytes]) -> dict[bytes, KeptResponse]:
    """The responses that are kept, by key."""
    rows = list(_rows(database, "request, body, source", keys))
    sources = _sources(database, {row["source"] for row in rows} - {None})
    return {
        row["request"]: KeptResponse(
            row["request"], decode_response(row["body"]), sources.get(row["source"])
        )
        for row in rows
    }


def known_responses(database: Database, keys: Iterable[bytes]) -> set[bytes]:
    """Those of the keys that have a response."""
    return {row["request"] for row in _rows(database, "request", keys)}


def put_responses(connection: Connection, responses: Iterable[KeptResponse]) -> None:
    """Inside a transaction: keep responses."""
    # In the order in which the table lies on the disk: fewer pages are looked for.
    kept = sorted(responses, key=attrgetter("key"))
    numbers = {each: _source_number(connection, each) for each in {one.source for one in kept}}
    connection.executemany(
        "INSERT INTO response (request, body, source) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        ((each.key, encode_response(each.response), numbers[each.source]) for each in kept),
    )


def reply_sources(database: Database, model: str) -> list[ReplySource]:
    """Whose replies are kept of what an entry of the catalog has named, the newest last."""
    rows = database.rows("SELECT * FROM reply_source WHERE model = ? ORDER BY made, id", (model,))
    return [_source(row) for row in rows]


def _sources(database: Database, numbers: Iterable[int]) -> dict[int, ReplySource]:
    rows = database.rows(
        "SELECT * FROM reply_source WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(numbers)),),
    )
    return {row["id"]: _source(row) for row in rows}


def _source(row: Row) -> ReplySource:
    return ReplySource(row["model"], row["fingerprint"], row["run"], row["made"])


def _source_number(connection: Connection, source: ReplySource | None) -> int | None:
    """The number of a source, which is new with the first of its replies."""
    if source is None:
        return None
    connection.execute(
        "INSERT INTO reply_source (model, fingerprint, run, made) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (source.model, source.fingerprint, source.run, source.made),
    )
    (number,) = connection.execute(
        "SELECT id FROM reply_source WHERE model = ? AND fingerprint = ? AND run = ?",
        (source.model, source.fingerprint, source.run),
    ).fetchone()
    return number


def _is_scored(request: Request) -> bool:
    return not isinstance(request, Generate)


def _rows(database: Database, columns: str, keys: Iterable[bytes]) -> Iterator[Row]:
    rest = iter(keys)
    while some := tuple(islice(rest, _MAX_PARAMETERS)):
        marks = ",".join("?" * len(some))
        query = f"SELECT {columns} FROM response WHERE request IN ({marks})"  # noqa: S608 (ours)
        yield from database.rows(query, some)
