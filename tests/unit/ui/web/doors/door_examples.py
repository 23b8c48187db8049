"""An application that states who a request is from, behind a door, and a store with people."""

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from store_examples import open_database

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.people import add_person
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.current_person import current_person
from evalui.ui.web.doors.entrance import guarded
from evalui.ui.web.monitoring import Monitoring

RIGHT = "correct horse"


async def who(request: Request) -> JSONResponse:
    person = current_person()
    assert person
    assert request.client
    return JSONResponse(
        {
            "who": [person.name, person.role, person.scope],
            "scheme": request.url.scheme,
            "from": request.client.host,
            "host": request.headers.get("x-forwarded-host", ""),
        }
    )


def settings_of(folder: Path, **fields: Any) -> Settings:
    return Settings(data_dir=folder, allowed_hosts=["box.test"], **fields)


def people(folder: Path) -> Database:
    database = open_database(folder / "evalui.sqlite")
    add_person(database, "root", "admin", by=ME, password=RIGHT)
    add_person(database, "ann", "annotator", by=ME, password=RIGHT)
    return database


def client_of(
    settings: Settings,
    *,
    peer: str = "192.0.2.7",
    base: str = "http://box.test",
    root_path: str = "",
) -> TestClient:
    """A browser at an address, which follows no redirect."""
    route = Route("/{path:path}", who, methods=["GET", "POST", "PUT", "DELETE"])
    app = Starlette(routes=[Mount("/static", routes=[route]), route])
    database = open_database(settings.database)
    return TestClient(
        guarded(app, settings, Monitoring(settings, database)),
        base_url=base,
        follow_redirects=False,
        client=(peer, 50000),
        root_path=root_path,
    )
