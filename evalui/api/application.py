"""The application below /api/v1: its routes, its errors, and the page that documents them."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from evalui.access import Person, may
from evalui.accounts.people import find_person
from evalui.api import (
    benchmarks,
    datasets,
    leaderboard,
    links,
    models,
    people,
    runs,
    voting,
)
from evalui.api.events import RunFeeds
from evalui.api.problems import BodyLimitMiddleware, Service, add_problems
from evalui.api.schemas import Me
from evalui.app.service import AppService
from evalui.report.html import Html
from evalui.report.markup import Templates
from evalui.runs.fair_queue.limits import limits_of, usual_limits
from evalui.version import __version__
from evalui.web.middleware import TEMPLATES
from evalui.web.schemas import Problem

PREFIX = "/api/v1"
_PROBLEM = {"application/problem+json": {"schema": Problem.model_json_schema()}}
_METHODS = ("get", "post", "put", "delete")
_TEMPLATES = Templates(Path(__file__).parent / "templates", TEMPLATES)
Schema = Mapping[str, Any]  # a part of an OpenAPI document
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
    for router in (
        benchmarks.router,
        datasets.router,
        runs.imports,
        runs.router,
        voting.router,
        leaderboard.router,
        links.router,
        models.router,
        people.router,
    ):
        api.include_router(router)
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


def api_page(document: Schema) -> Html:
    """An OpenAPI document for people: every route with its parameters and answers."""
    return _TEMPLATES.fill(
        "api.html",
        title=f"{document['info']['title']} {document['info']['version']}: /api/v1",
        routes=[
            _route(path, method, item[method])
            for path, item in document["paths"].items()
            for method in _METHODS
            if method in item
        ],
        schemas=document["components"]["schemas"],
        fields=_fields,
    )


def _route(path: str, method: str, route: Schema) -> dict[str, Any]:
    """A route: its name, the paragraphs about it, what it takes and what it gives."""
    takes = [
        (each["name"], f" ({each['in']}): {_kind(each['schema'])}")
        for each in route.get("parameters", ())
    ]
    body = route.get("requestBody", {}).get("content", {})
    return {
        "name": f"{method.upper()} {path}",
        "about": [part for part in route.get("description", "").split("\n\n") if part],
        "takes": [
            *takes,
            *((kind, f": {_kind(part['schema'])}") for kind, part in body.items()),
        ],
        "gives": [
            (status, f": {', '.join(_answers(answer)) or answer['description']}")
            for status, answer in route["responses"].items()
        ],
    }


def _answers(answer: Schema) -> Iterator[str]:
    for kind, part in answer.get("content", {}).items():
        shown = _kind(part.get("schema", {}))
        yield shown if kind == "application/json" else f"{kind} {shown}"


def _fields(schema: Schema) -> list[tuple[str, str]]:
    return [(name, f": {_kind(each)}") for name, each in schema.get("properties", {}).items()]


def _kind(schema: Schema) -> str:
    """What a value is, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("const", schema.get("type", "")))
    return f"{kind} of {_kind(schema['items'])}" if "items" in schema else kind
