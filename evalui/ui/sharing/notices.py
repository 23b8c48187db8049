"""That runs of a person have ended, above every page until they are seen or closed."""

from urllib.parse import urlencode

from evalui.accounts.notes.notices import Notice
from evalui.app.notices import unseen_notices
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.report.icons import status_icon

_SHOWN = 3  # notes


def notice_line(service: AppService, t: Messages, tab: str, run_id: str) -> Html | None:
    """The newest notes of the person; those on what the page shows are seen by that."""
    left = unseen_notices(service, run_id, shows_all=tab == "runs")
    if not left:
        return None
    more = len(left) - _SHOWN
    may_close = not service.settings.read_only
    return div(
        *(_note(t, note, may_close=may_close) for note in left[:_SHOWN]),
        el("a", t("notice.more", n=more), href="runs") if more > 0 else None,
        cls="notices",
        role="status",
    )


def _note(t: Messages, note: Notice, *, may_close: bool) -> Html:
    run = urlencode({"run": note.run})
    address = f"?{run}&tab=results" if note.state == "done" else f"runs?{run}"
    close = el(
        "button",
        "×",
        type="button",
        cls="link",
        aria_label=t("notice.close", name=note.name),
        data_close=f"../notices/{note.id}/close",
    )
    return span(
        status_icon("ok" if note.state == "done" else "bad"),
        t(f"notice.{note.state}", name=note.name),
        " ",
        el("a", t("notice.open"), href=address),
        close if may_close else None,
        cls="notice",
    )
