"""The application below /api/v1: its routes, its errors, and the page that documents them."""

from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from evalui.access import Person, may
from evalui.accounts.people import find_person
from evalui.api import (
    benchmarks,
    datasets,
    imports,
    leaderboard,
    links,
    models,
    people,
    runs,
    voting,
)
from evalui.api.events import RunFeeds
from evalui.api.page import api_page
from evalui.api.problems import BodyLimitMiddleware, Service, add_problems
from evalui.api.schemas import Me
from evalui.app.service import AppService
from evalui.runs.fair_queue.limits import limits_of, usual_limits
from evalui.version import __version__
from evalui.web.schemas import Problem

PREFIX = "/api/v1"
_PROBLEM = {"application/problem+json": {"schema": Problem.model_json_schema()}}
_AT_ALL = ("see", "start", "annotate", "add_models", "administer", "manage_accounts")


def create_api(service: AppService) -> FastAPI:
    """The application to mount at `PREFIX`."""
    api = FastAPI(
        title="evalui",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={"4XX": {"description": "A problem (RFC 9457)", "content": _PROBLEM}},
    )
    api.state.service = service
    api.state.readings = datasets.Readings()
    api.state.feeds = RunFeeds(service.database, current=partial(_current, service))
    add_problems(api)
    api.add_middleware(BodyLimitMiddleware, elsewhere=("/datasets",))
    for part in (benchmarks, datasets, imports, runs, voting, leaderboard, links, models, people):
        api.include_router(part.router)
    api.get("/me", tags=["me"])(me)
    api.get("/docs", include_in_schema=False)(docs)
    return api


def _current(service: AppService, person: Person) -> Person | None:
    """Who follows a run, None if their account has ended."""
    has_account = service.settings.auth == "token" or find_person(service.database, person.name)
    return person if has_account else None


def docs(request: Request) -> HTMLResponse:
    """The page that documents the interface."""
    api: FastAPI = request.app
    return HTMLResponse(api_page(api.openapi()))


def me(service: Service) -> Me:
    """Who sends the request."""
    person = service.person
    return Me(
        name=person.name,
        role=person.role,
        scope=person.scope,
        may=[deed for deed in _AT_ALL if may(person, deed)],
        limits=limits_of(service.database, person.name, usual_limits(service.settings)),
    )
