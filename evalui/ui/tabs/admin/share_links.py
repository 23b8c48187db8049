"""The links to frozen pages, of everybody."""

import time
from collections.abc import Sequence

from evalui.accounts.shares import Share, list_shares
from evalui.report.html import Child, div
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import link_button, table
from evalui.ui.tabs.admin.context import AdminPage, heads

_SOON_S = 7 * 24 * 3600.0


def share_links(page: AdminPage) -> tuple[str, str, str, Sequence[Child]]:
    """A section that folds: its id, name, finding and content."""
    t, shares = page.t, list_shares(page.service.database)
    working = [share for share in shares if share.ended is None]
    soon = sum(share.expires - time.time() < _SOON_S for share in working)
    unseen = sum(not share.opened for share in working)
    finding = t("admin.links_finding", soon=soon, unseen=unseen) if working else t("admin.no_links")
    columns = heads(page, "link_column", ("title", "owner", "ends", "opened"))
    listed = table(columns, [_link(page, share) for share in shares]) if shares else None
    return "links", t("admin.links", n=len(working)), finding, [listed or t("admin.no_links")]


def _link(page: AdminPage, share: Share) -> list[Child]:
    t = page.t
    opened = t("admin.never")
    if share.last_opened is not None:
        opened = t("admin.opened", n=share.opened, when=format_time(t, share.last_opened))
    ended = share.ended
    return [
        share.title,
        share.owner,
        format_time(t, share.expires) if ended is None else t("admin.ended"),
        opened,
        div(link_button(t("admin.revoke"), "revoke_link", data_link=share.id), cls="links")
        if ended is None
        else None,
    ]
