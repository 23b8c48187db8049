"""Links to frozen pages of runs and comparisons: made, listed, withdrawn."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from evalui.access import Owned, may, require
from evalui.accounts.shares import DEFAULT_SHARE_DAYS, Share, link_of, list_shares, revoke_share
from evalui.api.problems import Service, Words
from evalui.api.schemas import Answered, Sent
from evalui.errors import AccountError
from evalui.report.export.spreadsheets import shown_tables_csv
from evalui.ui.components.form import Form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.compare import CompareTab
from evalui.ui.tabs.results.sharing import share_run

_AS_TABLE = {"text/csv": {"schema": {"type": "string"}}}
router = APIRouter(tags=["links"])


class LinkSent(Sent):
    """How many days a link works: 7, 30 or 90."""

    days: int = DEFAULT_SHARE_DAYS


class ComparisonSent(LinkSent):
    """Cells of one or several runs by their ids, compared by a measure, "" by the usual one."""

    cells: list[int] = Field(min_length=2)
    measure: str = ""


class LinkMade(Answered):
    """A new link: its `id`, and its `address` for those who are to have it."""

    id: str
    address: str


class LinkShown(Answered):
    """A link to a frozen page; without its `address` nobody opens it."""

    link: Share
    address: str


def _comparisons(request: Request) -> CompareTab:
    return request.app.state.comparisons


Comparisons = Annotated[CompareTab, Depends(_comparisons)]


def address_of(service: AppService, path: str) -> str:
    """The address of a page; without EVALUI_PUBLIC_URL only what follows that of the server."""
    return f"{service.settings.public_url.rstrip('/')}/{path}"


@router.get("/links")
def list_links(service: Service) -> list[LinkShown]:
    """The sender's own links, to administrators those of all, the newest first."""
    service.require("see")
    owner = None if may(service.person, "administer") else service.owner
    return [
        LinkShown(
            link=share,
            address=_made(service, link_of(service.database, share.id, share.expires)).address,
        )
        for share in list_shares(service.database, owner)
    ]


@router.delete("/links/{link_id}", status_code=204)
def end_link(link_id: str, service: Service) -> None:
    """End a link at once; for its owner and administrators."""
    service.require("see")
    owners = [each.owner for each in list_shares(service.database) if each.id == link_id]
    if not owners or not may(service.person, "see", Owned(owners[0])):
        raise AccountError("no-share", id=link_id[:80])
    require(service.person, "change", Owned(owners[0]))
    revoke_share(service.database, link_id, by=service.person)


@router.post("/runs/{run_id}/links", status_code=201)
def add_run_link(run_id: str, sent: LinkSent, service: Service) -> LinkMade:
    """Freeze the verdict and the tables of a run, for everybody who has the link."""
    return _made(service, share_run(service, run_id, sent.days))


@router.post("/comparisons/links", status_code=201)
def add_comparison_link(
    sent: ComparisonSent, service: Service, comparisons: Comparisons
) -> LinkMade:
    """Freeze a comparison, of whose runs the sender may change each."""
    service.require("start")
    return _made(service, comparisons.share(_form(sent.cells, sent.measure), sent.days))


@router.get("/comparisons.csv", response_class=Response, responses={200: {"content": _AS_TABLE}})
def compare(
    cells: Annotated[list[int], Query()],
    service: Service,
    t: Words,
    comparisons: Comparisons,
    measure: str = "",
) -> Response:
    """The tables of a comparison of cells of one or several runs, by their ids."""
    service.require("see")
    content = comparisons.frozen(t, _form(cells, measure))
    return Response(shown_tables_csv(content.blocks), media_type="text/csv")


def _form(cells: list[int], measure: str) -> Form:
    return {"cells": ",".join(map(str, cells)), "measure": measure}


def _made(service: AppService, link: str) -> LinkMade:
    return LinkMade(id=link.partition(".")[0], address=address_of(service, f"s/{link}"))
