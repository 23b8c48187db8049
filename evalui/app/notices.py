"""Notes to a person that runs of theirs have ended, until they are seen or closed."""

from evalui.accounts.notes.notices import Notice, mark_seen, read_unseen
from evalui.app.permissions import checks
from evalui.app.service import AppService


@checks("whose notes they are")
def unseen_notices(
    service: AppService, shown_run: str = "", *, shows_all: bool = False
) -> list[Notice]:
    """The notes that the person has not seen, the newest first.

    Those about `shown_run`, or all of them where a page `shows_all` runs, are seen by that.
    """
    unseen = read_unseen(service.database, service.owner) if service.owner else ()
    seen = [note for note in unseen if shows_all or note.run == shown_run]
    if seen and not service.settings.read_only:
        mark_seen(service.database, seen)
    return [note for note in unseen if note not in seen]


@checks("whose note it is, and that the server is not one that only shows")
def close_notice(service: AppService, number: int) -> None:
    """Show a note of the person no more; one of another person, or none, stays as it is."""
    if service.settings.read_only or not service.owner:
        return
    own = [note for note in read_unseen(service.database, service.owner) if note.id == number]
    if own:
        mark_seen(service.database, own)
