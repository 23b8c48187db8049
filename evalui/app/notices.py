"""Notices to a person that runs of theirs have ended, above every page until seen or closed.

A trigger of the store writes them in the transaction that ends the run.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass

from evalui.app.permissions import checks
from evalui.app.service import AppService


@dataclass(frozen=True, slots=True)
class Notice:
    """That a run is "done" or has "failed"."""

    id: int
    run: str
    name: str
    state: str


@checks("whose notices they are")
def unseen_notices(
    service: AppService, shown_run: str = "", *, shows_all: bool = False
) -> list[Notice]:
    """The notices that the person has not seen, the newest first.

    Those about `shown_run`, or all of them where a page `shows_all` runs, are seen by that.
    """
    unseen = _read_unseen(service)
    seen = [notice for notice in unseen if shows_all or notice.run == shown_run]
    if seen:
        _mark_seen(service, seen)
    return [notice for notice in unseen if notice not in seen]


@checks("whose notice it is, and that the server is not read-only")
def close_notice(service: AppService, number: int) -> None:
    """Show a notice of the person no more; one of another person, or none, stays as it is."""
    own = [notice for notice in _read_unseen(service) if notice.id == number]
    if own:
        _mark_seen(service, own)


def _read_unseen(service: AppService) -> list[Notice]:
    if not service.owner or service.settings.read_only:  # where none can be closed
        return []
    rows = service.database.rows(
        "SELECT id, run, name, state FROM notice WHERE person = ? AND seen IS NULL"
        " ORDER BY id DESC",
        (service.owner,),
    )
    return [Notice(*row) for row in rows]


def _mark_seen(service: AppService, notices: Collection[Notice]) -> None:
    with service.database.writing() as connection:
        connection.executemany(
            "UPDATE notice SET seen = ? WHERE id = ?",
            [(time.time(), notice.id) for notice in notices],
        )
