"""What a tab shows to somebody who votes and must not be told names."""

from evalui.messages import Messages
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card, page_head


def blind_voting_page(t: Messages, tab: str) -> Html:
    """The tab's head, why the rest is not there, and a link to have it all the same."""
    words = div(el("h2", t("closed.title")), el("p", t("closed.about"), cls="dim"))
    link = el("a", t("closed.go"), href=f"?tab={tab}", cls="btn")
    return div(
        page_head(t(f"{tab}.title"), t(f"{tab}.promise")),
        card(words, link, cls="empty"),
        cls="stack",
    )
