"""The server: the screen in each language beside the REST interface, and the workers behind."""

import logging
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from urllib.parse import urlencode

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp

from evalui.access import Person
from evalui.api.application import PREFIX, create_api
from evalui.app.files.runners import FileProcesses
from evalui.app.receiving import receiving
from evalui.app.service import AppService
from evalui.errors import EvaluiError, StoreError
from evalui.logs import configure_log
from evalui.messages import LANGUAGES, Messages
from evalui.report.html import Html
from evalui.runs.upkeep.monitor import Upkeep
from evalui.runs.worker.devices import worker_devices
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.addresses import page_of
from evalui.ui.components.form import Form, read_form
from evalui.ui.current_person import current_person
from evalui.ui.doors import Doors
from evalui.ui.web.attachment import Attachment
from evalui.ui.web.doors.entrance import guarded
from evalui.ui.web.downloads import Route
from evalui.ui.web.first_paint import FirstPaint
from evalui.ui.web.monitoring import Monitoring
from evalui.ui.web.routes import add_routes, mount_assets
from evalui.web.address import own_folder
from evalui.web.middleware import plain_page, status_of

_NOT_STARTED = 3  # the exit code; uvicorn has printed why


def serve(settings: Settings, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Answer what comes to a socket that listens already, until interrupted.

    `ready` is called once pages answer.
    """
    configure_log(logging.WARNING, settings.log, user=_user)
    config = uvicorn.Config(
        create_app(settings, ready),
        root_path=settings.root_path,
        log_config=None,  # its lines are written as ours
        log_level="warning",
        access_log=False,  # it would write down the addresses that carry the token
        proxy_headers=False,  # whose headers are believed, the door decides
        timeout_keep_alive=15,  # longer than pages wait between looks
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):  # raised again by uvicorn, after all has ended
        server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(_NOT_STARTED)


def _user() -> str:
    person = current_person()
    return person.name if person else ""


def create_app(settings: Settings, ready: Callable[[], None] = lambda: None) -> ASGIApp:
    """The whole application; its workers live from start-up to shut-down.

    `ready` is called once Gradio is imported, so that pages answer.

    Raises:
        StoreError: the data folder or what is in it cannot be used.
    """
    own_folder(settings.data_dir)
    database = Database(settings.database, read_only=settings.read_only)
    files = FileProcesses(settings)
    service = AppService(settings, database, files)
    devices = () if settings.read_only else worker_devices(settings.workers)
    workers = WorkerSupervisor(
        database,
        settings.models,
        devices=devices,
        threads=settings.threads,
        hang_s=settings.hang_s,
        loading_s=settings.loading_s,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        workers.start()
        attachment.start(ready)
        with Upkeep(settings, database).running():
            yield
        await attachment.close()
        workers.stop()
        files.close()
        database.close()

    # Redirects to another path than the one requested are our own: Starlette's decode the query.
    app = FastAPI(lifespan=lifespan, openapi_url=None, redirect_slashes=False)

    def first_evaluate(service: AppService, _: Messages, __: Form) -> Html:
        """Nothing; what whoever starts a run may soon need is started with the page."""
        if service.may_start:
            workers.warm()
            files.warm()
        return Html("")

    of_sender = service.with_sender(current_person)
    attachment = Attachment(app, of_sender, _add_endpoints)
    add_routes(app, of_sender)
    monitoring = Monitoring(settings, database)
    monitoring.add_routes(app)
    mount_assets(app)
    app.mount(PREFIX, create_api(service))
    for language in LANGUAGES:
        # What is no GET would be Gradio's, which has a page of its own there.
        make = app.api_route(f"/{language}/", methods=["GET", "HEAD"])
        make(_first_page(of_sender))
    app.add_middleware(
        FirstPaint,
        languages=LANGUAGES,
        service=of_sender,
        first={"results": _first_results, "evaluate": first_evaluate},
    )
    app.add_middleware(
        Doors,
        languages=LANGUAGES,
        apps=attachment.apps,
        wait=attachment.wait,
        receiving=_receiving(service),
        refused=_refused,
        folder=attachment.folder,
    )
    return guarded(app, settings, monitoring)


def _add_endpoints(service: AppService, t: Messages) -> None:
    from evalui.client_endpoints import add_client_endpoints  # once Gradio is imported

    add_client_endpoints(service, t)


def _first_results(service: AppService, t: Messages, form: Form) -> Html:
    from evalui.ui.pages import results  # once Gradio is imported

    return results.first(service, t, form)


def _receiving(
    service: AppService,
) -> Callable[[Person | None, Headers, int], AbstractContextManager[object]]:
    def admitted(
        person: Person | None, headers: Headers, held: int
    ) -> AbstractContextManager[object]:
        return receiving(service.acting_for(person), headers, held=held)

    return admitted


def _refused(error: EvaluiError) -> JSONResponse:
    return JSONResponse({"error": str(error)}, status_of(error, otherwise=413))


def _first_page(service: AppService) -> Route:
    async def first_page(request: Request) -> Response:
        """Lead to the page of an address that names none; say why the store cannot be read."""
        named = request.query_params.multi_items()
        try:
            name = await run_in_threadpool(page_of, service, read_form(named))
        except StoreError as error:
            sentence = error.sentence
            page = plain_page("store.title", lambda t: t.translate(sentence))
            return HTMLResponse(page, 503)
        kept = [(key, one) for key, one in named if key != "tab"]
        return RedirectResponse(f"{name}?{urlencode(kept)}" if kept else name)

    return first_page
