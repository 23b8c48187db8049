"""What a link shows: a frozen page and its table, or why there is none; nobody signs in."""

from datetime import UTC, datetime

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from evalui.access import LOCAL
from evalui.accounts.shares import Share, find_share, read_page, read_table
from evalui.app.run_labels import day
from evalui.app.service import AppService
from evalui.errors import ModelError, StoreError
from evalui.messages import LANGUAGES, Messages
from evalui.report.render.shared import TABLE_LINK
from evalui.ui.web.downloads import Route
from evalui.ui.web.languages import PARAMETER, visitor_language
from evalui.web.middleware import plain_page

_HEADERS = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}


def add_shared_pages(app: FastAPI, service: AppService) -> None:
    """Add the routes."""
    app.get("/s/{link}.csv")(_table(service))
    app.get("/s/{link}")(_page(service))


def _page(service: AppService) -> Route:
    def page(link: str, request: Request) -> Response:
        share = _find(service, link)
        if isinstance(share, Response):
            return share
        language = visitor_language(request, service.settings.language)
        text = read_page(service.database, share, language)
        # Signed links are letters, digits and -_. alone; no other text of the page has such quotes.
        content = text.replace(f'href="{TABLE_LINK}"', f'href="{link}.csv{_query(request)}"')
        return HTMLResponse(content.encode(errors="backslashreplace"), headers=_HEADERS)

    return page


def _table(service: AppService) -> Route:
    def table(link: str, request: Request) -> Response:
        share = _find(service, link)
        if isinstance(share, Response):
            return share
        language = visitor_language(request, service.settings.language)
        text = read_table(service.database, share, language)
        name = f"table-{datetime.fromtimestamp(share.created, UTC):%Y-%m-%d}.csv"
        headers = _HEADERS | {"Content-Disposition": f"attachment; filename={name}"}
        # Excel takes a CSV for UTF-8 only if it begins with the mark.
        content = text.encode("utf-8-sig", errors="backslashreplace")
        return Response(content, media_type="text/csv", headers=headers)

    return table


def _find(service: AppService, link: str) -> Share | Response:
    """What a link shows, or why it shows nothing."""
    try:
        share = find_share(service.database, link)
    except (ModelError, StoreError):
        # Their sentences name files, and nobody knows who reads this.
        return HTMLResponse(plain_page("store.title", lambda t: t("shared.later")), 503, _HEADERS)
    return share if share and share.ended is None else _nothing(share)


def _nothing(share: Share | None) -> Response:
    """Why a link shows nothing, in both languages."""
    if share is None:
        unknown = plain_page("shared.title_unknown", lambda t: t("shared.unknown"))
        return HTMLResponse(unknown, 404, _HEADERS)
    ended = plain_page("shared.title_ended", lambda t: _ended(t, share))
    return HTMLResponse(ended, 410, _HEADERS)


def _ended(t: Messages, share: Share) -> str:
    at = day(t, share.ended or share.expires)
    if share.owner == LOCAL:
        return t("shared.ended_local", day=at)
    return t("shared.ended", day=at, name=share.owner)


def _query(request: Request) -> str:
    chosen = request.query_params.get(PARAMETER, "")
    return f"?{PARAMETER}={chosen}" if chosen in LANGUAGES else ""
