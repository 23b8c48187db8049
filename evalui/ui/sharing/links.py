"""Links to frozen pages: made in every language at once, and the list of them on a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalui.access import LOCAL, Owned, may, require
from evalui.accounts.shares import (
    DEFAULT_SHARE_DAYS,
    SHARE_DAYS,
    Share,
    add_share,
    link_of,
    list_shares,
    new_share,
    revoke_share,
)
from evalui.accounts.uploads import check_may_upload
from evalui.app.service import AppService
from evalui.errors import AccountError
from evalui.messages import LANGUAGES, Messages, messages
from evalui.report.export.spreadsheets import shown_tables_csv
from evalui.report.html import Html, div, el, span
from evalui.report.render.shared import FrozenContent, shared_page
from evalui.runs.database.records import RunRow
from evalui.runs.fair_queue.limits import usual_limits
from evalui.types import Language
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.format import day
from evalui.ui.components.widgets import button, copy_button, link_button, select, table, titled

SHARE = "share"  # the panel in addresses, and the action that makes a link


def make_link(
    service: AppService,
    *,
    title: str,
    address: str,
    owner: str,
    days: int,
    content: Callable[[Messages], FrozenContent],
) -> str:
    """Freeze a page for so many days, and return the last part of its link.

    Raises:
        AccountError: no link may work for so many days, or the owner has too many that work.
        SpecError: the owner stores as much as they may.
    """
    share = new_share(owner, address, title, days)
    check_may_upload(service.database, owner, usual_limits(service.settings), 0)
    pages: dict[Language, str] = {}
    tables: dict[Language, str] = {}
    for language in LANGUAGES:
        t = messages(language)
        shown = content(t)
        frozen = t("shared.frozen", day=day(t, share.created))
        until = _until(t, owner, share.expires)
        pages[language] = shared_page(shown, title, frozen=frozen, until=until, language=language)
        tables[language] = shown_tables_csv(shown.blocks)
    add_share(service.database, share, pages, tables, by=service.person)
    return link_of(service.database, share.id, share.expires)


def withdraw(service: AppService, share_id: str, address: str | None = None) -> None:
    """End a link at once, one to what is at an address if that is stated.

    Raises:
        AccountError: the person has no such link.
        NotAllowed: they may change nothing.
    """
    shares = list_shares(service.database, address=address)
    owners = [each.owner for each in shares if each.id == share_id]
    if not owners or not may(service.person, "see", Owned(owners[0])):
        raise AccountError("no-share", id=share_id[:80])
    require(service.person, "change", Owned(owners[0]))
    revoke_share(service.database, share_id, by=service.person)


def chosen_days(form: Form) -> int:
    """The days that a form names; those that nobody may choose as 0."""
    days = field_value(form, "days") or str(DEFAULT_SHARE_DAYS)
    return int(days) if days in map(str, SHARE_DAYS) else 0


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


def share_panel(
    service: AppService, t: Messages, form: Form, page: SharedPage, more: Html | None = None
) -> Html | None:
    """Makes links to a page, and lists them, with `more` below; None unless it is opened by
    somebody who may share the page.
    """
    if not field_value(form, PANEL) or not page.is_shared_by(service):
        return None
    words: Mapping[str, str] = {str(n): t("share.days", n=n) for n in SHARE_DAYS}
    days = field_value(form, "days") or str(DEFAULT_SHARE_DAYS)
    rows = [_row(service, t, share) for share in list_shares(service.database, address=page.links)]
    return titled(
        t("share.title"),
        el("p", t("share.about"), cls="dim"),
        div(
            select("days", words, days, aria_label=t("share.works")),
            button(t("share.make"), SHARE, cls="pri"),
            span(t("share.here"), cls="meta"),
            copy_button(t, page.copied),
            cls="acts field",
        ),
        table(_heads(t), rows, cls="runs-list") if rows else None,
        more,
        aside=el("a", t("share.close"), href=page.address),
        cls="share-panel",
    )


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


def _until(t: Messages, owner: str, at: float) -> str:
    if owner == LOCAL:
        return t("shared.until", day=day(t, at))
    return t("shared.until_by", name=owner, day=day(t, at))
