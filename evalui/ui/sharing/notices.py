"""That runs of a person have ended, above every page until they are seen or closed."""

from evalui.app.run_lists import unseen_notices
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.templates import fill

_SHOWN = 3  # notices


def notice_line(service: AppService, t: Messages, tab: str, run_id: str) -> Html | None:
    """The newest notices of the person; those on what the page shows are seen by that."""
    left = unseen_notices(service, run_id, shows_all=tab == "runs")
    if not left:
        return None
    return fill("notices.html", t=t, notices=left[:_SHOWN], more=len(left) - _SHOWN)
