"""Links to frozen pages: made in every language at once, and the list of them on a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evalui.accounts.shares import link_of, list_shares
from evalui.app.run_labels import day
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.ui.components.form import PANEL
from evalui.ui.components.templates import fill, macro
from evalui.ui.components.widgets import link

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
        return macro("widgets.html", "copy_button", t, page.copied, cls)
    return link(t("share.button"), f"{page.address}&{PANEL}={SHARE}", cls=cls)


def links_table(service: AppService, t: Messages, page: SharedPage) -> Html | None:
    """The links to a page, the newest first; None of none."""
    links = [
        (share, f"../s/{link_of(service.database, share.id, share.expires)}")
        for share in list_shares(service.database, address=page.links)
    ]
    if not links:
        return None
    return fill("sharing/links.html", t=t, links=links, owner=service.owner, day=partial(day, t))
