"""The routes of the screen beside its pages: permalinks, uploads, files, and small pages."""

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.requests import ClientDisconnect

from evalui.app.datasets import find_upload
from evalui.app.receiving import receive_upload
from evalui.app.run_lists import close_notice
from evalui.app.service import AppService
from evalui.errors import DataError, EvaluiError, SpecError, StoreError, UnknownName
from evalui.messages import LANGUAGES
from evalui.shipped_files import ASSETS
from evalui.store.runs import read_revision
from evalui.types import Language
from evalui.ui.live import add_live
from evalui.ui.web.account import add_account_page
from evalui.ui.web.downloads import Route, add_downloads, messages_of
from evalui.ui.web.guest_pages import add_guest_pages
from evalui.ui.web.languages import PARAMETER, keep_language, visitor_language
from evalui.ui.web.shared_pages import add_shared_pages
from evalui.version import __version__
from evalui.web.middleware import status_of

_TOO_LONG = ("error.upload-too-large", "error.length-required")


def add_routes(app: FastAPI, service: AppService) -> None:
    """Add the routes; each is a few lines over `service`, and its errors are answered in words."""
    read = partial(app.api_route, methods=["GET", "HEAD"])  # what looks whether an address is there
    read("/")(_home(service))
    for language in LANGUAGES:
        read(f"/{language}")(_with_slash(language))
    read("/r/{run_id}")(_permalink(service))
    read("/r/{run_id}/q/{question:path}")(_question_link(service))
    app.post("/upload")(_upload(service))
    app.get("/upload/{upload}")(_reading(service))
    app.post("/notices/{number}/close", status_code=204)(_close_notice(service))
    add_live(app, service)
    add_downloads(app, service)
    add_guest_pages(app, service)
    add_shared_pages(app, service)
    add_account_page(app, service)
    read("/healthz")(_health(service))
    app.add_exception_handler(EvaluiError, _problem(service))


def mount_assets(app: FastAPI) -> None:
    """Add the files that pages load; of the assets, models and samples are not for browsers."""
    for folder in ("css", "js", "icons"):
        app.mount(f"/static/{folder}", StaticFiles(directory=ASSETS / folder))


def _home(service: AppService) -> Route:
    def home(request: Request) -> Response:
        parameters = request.query_params.multi_items()
        rest = [(name, value) for name, value in parameters if name != PARAMETER]
        answer = RedirectResponse(_address(_language(request, service), rest))
        keep_language(request, answer)
        return answer

    return home


def _with_slash(language: Language) -> Route:
    def with_slash(request: Request) -> Response:
        return RedirectResponse(_address(language, request.query_params.multi_items()))

    return with_slash


def _permalink(service: AppService) -> Route:
    def permalink(run_id: str, request: Request) -> Response:
        """The run: its results, or its progress while it goes on."""
        query = [("run", run_id), *request.query_params.multi_items()]
        return RedirectResponse("../" + _address(_language(request, service), query))

    return permalink


def _question_link(service: AppService) -> Route:
    def question_link(run_id: str, question: str, request: Request) -> Response:
        """One question of a run; further parameters are those of the Samples page."""
        place = [("run", run_id), ("tab", "results"), ("sub", "samples"), ("q", question)]
        query = [*place, *request.query_params.multi_items()]
        back = "../" * (3 + question.count("/"))
        return RedirectResponse(back + _address(_language(request, service), query))

    return question_link


def _address(language: Language, query: Sequence[tuple[str, str]]) -> str:
    return f"{language}/" + (f"?{urlencode(query)}" if query else "")


def _language(request: Request, service: AppService) -> Language:
    return visitor_language(request, service.settings.language)


def _close_notice(service: AppService) -> Route:
    def close(number: int) -> None:
        close_notice(service, number)

    return close


def _upload(service: AppService) -> Route:
    async def upload(request: Request) -> Response:
        try:
            upload_id = await receive_upload(service, request.headers, request.stream())
        except (DataError, SpecError) as error:
            text = messages_of(request, service).translate(error.sentence)
            status = 413 if error.sentence.key in _TOO_LONG else 400
            return JSONResponse({"error": text}, status_code=status)
        except ClientDisconnect:
            return Response(status_code=400)  # for whoever counts answers: nobody gets it
        return JSONResponse({"upload": upload_id})

    return upload


def _reading(service: AppService) -> Route:
    def reading(upload: str, request: Request) -> Response:
        """How far the reading of an upload is, in words."""
        t = messages_of(request, service)
        try:
            rows = service.files.rows_read(find_upload(service, upload).id)
        except DataError as error:
            return JSONResponse({"error": t.translate(error.sentence)}, status_code=404)
        if rows is None:
            return JSONResponse({"status": t("drop.waiting")})
        return JSONResponse({"status": t.count("drop.rows", rows) if rows else t("drop.reading")})

    return reading


def _health(service: AppService) -> Route:
    def healthz() -> Response:
        state: dict[str, object] = {"ok": True, "version": __version__}
        try:
            state["revision"] = read_revision(service.database)
        except StoreError:
            # Its sentence names a folder, and this route is public; the pages show it.
            return JSONResponse(state | {"ok": False}, 503)
        return JSONResponse(state)

    return healthz


def _problem(service: AppService) -> Callable[[Request, Exception], Response]:
    def problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, EvaluiError), "registered for nothing else"
        # These routes take an address only: other errors are of the server, such as its catalog's.
        is_place = isinstance(error, UnknownName)
        status = 404 if is_place else status_of(error, otherwise=503)
        message = messages_of(request, service).translate(error.sentence)
        return Response(message, status_code=status, media_type="text/plain")

    return problem
