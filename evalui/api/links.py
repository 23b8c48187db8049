"""Links to frozen pages of runs and comparisons: made, listed, withdrawn."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from evalui.accounts.shares import DEFAULT_SHARE_DAYS, Share
from evalui.api.problems import CheckedRoute, Service, Words, permits, requires
from evalui.api.schemas import Answered
from evalui.app import sharing
from evalui.app.comparisons import frozen_comparison, share_comparison
from evalui.app.service import AppService
from evalui.app.sharing import share_run, withdraw
from evalui.report.write.csv import shown_tables_csv

_AS_TABLE = {"text/csv": {"schema": {"type": "string"}}}
CellIds = Annotated[list[int], Query()]
router = APIRouter(route_class=CheckedRoute, tags=["links"])


class LinkMade(Answered):
    """A new link: its `id`, and its `address` for those who are to have it."""

    id: str
    address: str


class LinkShown(Answered):
    """A link to a frozen page; without its `address` nobody opens it."""

    link: Share
    address: str


def address_of(service: AppService, path: str) -> str:
    """The address of a page; without EVALUI_PUBLIC_URL only what follows that of the server."""
    return f"{service.settings.public_url.rstrip('/')}/{path}"


@router.get("/links", dependencies=[permits(sharing.list_links)])
def list_links(service: Service) -> list[LinkShown]:
    """The sender's own links, to administrators those of all, the newest first."""
    links = sharing.list_links(service)
    return [LinkShown(link=each, address=address_of(service, f"s/{s}")) for each, s in links]


@router.delete("/links/{link_id}", status_code=204)
def end_link(link_id: str, service: Service) -> None:
    """End a link at once; for its owner and administrators."""
    withdraw(service, link_id)


@router.post("/runs/{run_id}/links", status_code=201)
def add_run_link(run_id: str, service: Service, days: int = DEFAULT_SHARE_DAYS) -> LinkMade:
    """Freeze the verdict and the tables of a run for 7, 30 or 90 days."""
    return _made(service, share_run(service, run_id, days))


@router.post("/comparisons/links", status_code=201, dependencies=[requires("start")])
def add_comparison_link(
    cells: CellIds,
    service: Service,
    measure: str = "",
    days: int = DEFAULT_SHARE_DAYS,
) -> LinkMade:
    """Freeze a comparison, of whose runs the sender may change each."""
    return _made(service, share_comparison(service, cells, measure, days))


@router.get(
    "/comparisons.csv",
    response_class=Response,
    responses={200: {"content": _AS_TABLE}},
    dependencies=[permits(frozen_comparison)],
)
def compare(cells: CellIds, service: Service, t: Words, measure: str = "") -> Response:
    """The tables of a comparison of cells of one or several runs, by their ids."""
    content = frozen_comparison(service, t, cells, measure)
    return Response(shown_tables_csv(content.blocks), media_type="text/csv")


def _made(service: AppService, link: str) -> LinkMade:
    return LinkMade(id=link.partition(".")[0], address=address_of(service, f"s/{link}"))
