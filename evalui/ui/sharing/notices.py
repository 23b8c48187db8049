"""That runs of a person have ended, above every page until they are seen."""

from evalui.accounts.notes.notices import Notice, mark_seen, read_unseen
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.report.icons import status_icon

_SHOWN = 3  # notes


def notice_line(service: AppService, t: Messages, tab: str, run_id: str) -> Html | None:
    """The newest notes of the person; those on what the page shows are seen by that."""
    unseen = read_unseen(service.database, service.owner) if service.owner else ()
    seen = [note for note in unseen if tab == "runs" or note.run == run_id]
    if seen and not service.settings.read_only:
        mark_seen(service.database, seen)
    left = [note for note in unseen if note not in seen]
    if not left:
        return None
    more = len(left) - _SHOWN
    return div(
        *(_note(t, note) for note in left[:_SHOWN]),
        el("a", t("notice.more", n=more), href="?tab=runs") if more > 0 else None,
        cls="notices",
        role="status",
    )


def _note(t: Messages, note: Notice) -> Html:
    tab = "results" if note.state == "done" else "runs"
    return span(
        status_icon("ok" if note.state == "done" else "bad"),
        t(f"notice.{note.state}", name=note.name),
        " ",
        el("a", t("notice.open"), href=f"?run={note.run}&tab={tab}"),
        cls="notice",
    )
