"""Links to frozen pages: made in every language at once, and the list of them on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.accounts.shares import (
    Share,
    link_of,
    list_shares,
)
from evalui.app.run_labels import day
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.runs.database.records import RunRow
from evalui.ui.components.form import PANEL
from evalui.ui.components.widgets import copy_button, link_button, table

SHARE = "share"  # the panel in addresses


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that the owner of all its `runs` may share.

    `links` is the address that links to it are listed under, `address` that of the page without its
    panel, `copied` the one for who may see the runs.
    """

    runs: Sequence[RunRow]
    links: str
    address: str
    copied: str

    def is_shared_by(self, service: AppService) -> bool:
        """Whether the person may let others see it."""
        own = all("change" in service.deeds(run) for run in self.runs)
        return own and not service.settings.read_only


def share_button(service: AppService, t: Messages, page: SharedPage, *, cls: str) -> Html:
    """The way to the panel; who may not share the page copies its address."""
    if not page.is_shared_by(service):
        return copy_button(t, page.copied, cls=cls)
    return el("a", t("share.button"), href=f"{page.address}&{PANEL}={SHARE}", cls=cls)


def links_table(service: AppService, t: Messages, page: SharedPage) -> Html | None:
    """The links to a page, the newest first; None of none."""
    rows = [_row(service, t, share) for share in list_shares(service.database, address=page.links)]
    return table(_heads(t), rows, cls="runs-list") if rows else None


def _heads(t: Messages) -> list[Html]:
    """The words of `_row` say what they are."""
    words = ("link", "made", "works", "opened", "actions")
    return [el("th", span(t(f"share.head.{word}"), cls="hidden"), scope="col") for word in words]


def _row(service: AppService, t: Messages, share: Share) -> list[Html | str]:
    link = f"../s/{link_of(service.database, share.id, share.expires)}"
    ended = share.ended
    state = t("share.until", day=day(t, share.expires))
    return [
        el("a", share.id, href=link, target="_blank", cls="mono") if ended is None else share.id,
        t("share.frozen", day=day(t, share.created))
        + (f" · {t('share.by', name=share.owner)}" if share.owner != service.owner else ""),
        state if ended is None else t("share.ended", day=day(t, ended)),
        t.count("share.opened", share.opened) if share.opened else t("share.none"),
        div(
            copy_button(t, link, cls="link"),
            link_button(t("share.withdraw"), "withdraw", data_link=share.id),
            cls="links",
        )
        if ended is None
        else "",
    ]
