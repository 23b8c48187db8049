"""Responses that need not be paid for twice.

Only responses that cannot come out otherwise are kept, of models that take longer to answer than
the store does: the key is the model's fingerprint and the whole request. They have no owner: a user
who sends the same request has the prompt already.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from sqlite3 import Connection, Row

from evalui.models import Model
from evalui.models.base import is_instant, is_nondeterministic
from evalui.runs.database.codec import decode_response, encode_response
from evalui.runs.database.connection import Database
from evalui.types import Generate, Request, Response

# SQLite takes 999 parameters in its oldest builds.
_MAX_PARAMETERS = 500


def is_deterministic(request: Request) -> bool:
    """Whether the same request always has the same response."""
    return not isinstance(request, Generate) or request.temperature == 0


def cacheable_by(model: Model, *, repeats: int = 1) -> Callable[[Request], bool]:
    """Which requests always have the same response from this model, and are worth keeping.

    Of several repeats each draw is kept, by its number, so that further ones can be added.
    """
    if is_instant(model):
        return _is_never
    if repeats > 1:
        return _is_always
    return _is_scored if is_nondeterministic(model) else is_deterministic


def get_responses(database: Database, keys: Sequence[bytes]) -> dict[bytes, Response]:
    """The responses that are kept, by key."""
    rows = _rows(database, "request, body", keys)
    return {row["request"]: decode_response(row["body"]) for row in rows}


def known_responses(database: Database, keys: Iterable[bytes]) -> set[bytes]:
    """Those of the keys that have a response."""
    return {row["request"] for row in _rows(database, "request", keys)}


def put_responses(connection: Connection, responses: Iterable[tuple[bytes, Response]]) -> None:
    """Inside a transaction: keep responses."""
    connection.executemany(
        "INSERT INTO response VALUES (?, ?) ON CONFLICT DO NOTHING",
        # In the order in which the table lies on the disk: fewer pages are looked for.
        (
            (key, encode_response(response))
            for key, response in sorted(responses, key=itemgetter(0))
        ),
    )


def _is_scored(request: Request) -> bool:
    return not isinstance(request, Generate)


def _is_always(request: Request) -> bool:
    del request
    return True


def _is_never(request: Request) -> bool:
    del request
    return False


def _rows(database: Database, columns: str, keys: Iterable[bytes]) -> Iterator[Row]:
    rest = iter(keys)
    while some := tuple(islice(rest, _MAX_PARAMETERS)):
        marks = ",".join("?" * len(some))
        query = f"SELECT {columns} FROM response WHERE request IN ({marks})"  # noqa: S608 (ours)
        yield from database.rows(query, some)
