"""Plain routes beside the page: uploads, exports, faults, permalinks, health."""

import csv
import io
from collections.abc import Callable
from urllib.parse import quote, urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from evalui import __version__
from evalui.datasets.base import LoadResult
from evalui.errors import DataError, EvaluiError, StoreError, UnknownRun
from evalui.messages import Messages, language_of, messages, sentence
from evalui.report.export.files import FORMATS, vote_lines
from evalui.report.export.spreadsheets import escape_formula
from evalui.runs.database.runs import read_revision
from evalui.ui.services.run_form import read_layout
from evalui.ui.services.service import AppService

_MAX_FILES = 2000
_OVERHEAD = 2**20  # what a form adds to its files


def add_routes(app: FastAPI, service: AppService) -> None:
    """Add the routes; each is a few lines over `service`, and what it raises is said in words."""
    app.get("/")(_home(service))
    app.get("/r/{run_id}")(_permalink)
    app.post("/upload")(_upload(service))
    app.get("/faults/{upload}.csv")(_faults(service))
    app.get("/export/{run_id}.{extension}")(_export(service))
    app.get("/votes/{run_id}.jsonl")(_votes(service))
    app.get("/healthz")(_health(service))
    app.add_exception_handler(EvaluiError, _problem(service))


Route = Callable[..., object]


def _home(service: AppService) -> Route:
    def home(request: Request) -> Response:
        query = dict(request.query_params)
        language = language_of(query.pop("lang", None), service.settings.language)
        return RedirectResponse(f"{language}/" + (f"?{urlencode(query)}" if query else ""))

    return home


def _permalink(run_id: str) -> Response:
    return RedirectResponse(f"../?run={quote(run_id, safe='')}")


def _upload(service: AppService) -> Route:
    async def upload(request: Request) -> Response:
        t = _text(request, service)
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > service.uploads.limit + _OVERHEAD:
            limit = service.settings.max_upload_mb
            return JSONResponse({"error": t("drop.too_large", mb=limit)}, status_code=413)
        async with request.form(max_files=_MAX_FILES) as form:
            sent = [part for part in form.getlist("files") if isinstance(part, UploadFile)]
            files = [(part.filename or "", await part.read()) for part in sent]
        try:
            kept = await run_in_threadpool(service.store_upload, files)
        except DataError as error:
            return JSONResponse({"error": t.translate(error.sentence)}, status_code=400)
        return JSONResponse({"upload": kept})

    return upload


def _faults(service: AppService) -> Route:
    def faults(upload: str, request: Request) -> Response:
        t = _text(request, service)
        layout = read_layout(dict(request.query_params.items()))
        try:
            loaded = service.load(upload, layout)
        except EvaluiError as error:
            return Response(t.translate(error.sentence), status_code=404, media_type="text/plain")
        return _download(_sheet(t, loaded), "text/csv", f"faults-{loaded.dataset.name}.csv")

    return faults


def _export(service: AppService) -> Route:
    def export(run_id: str, extension: str, request: Request) -> Response:
        t = _text(request, service)
        if extension not in FORMATS:
            known = ", ".join(FORMATS)
            said = sentence(
                "error.no-export",
                kind=extension,
                known=known,
            )
            return Response(t.translate(said), status_code=404, media_type="text/plain")
        name, content = service.export(run_id, extension, t.language)
        return _download(content, FORMATS[extension], name)

    return export


def _votes(service: AppService) -> Route:
    def votes(run_id: str) -> Response:
        name = service.run(run_id).id
        content = "".join(vote_lines(service.votes(name))).encode()
        return _download(content, "application/jsonl", f"votes-{name}.jsonl")

    return votes


def _health(service: AppService) -> Route:
    def healthz() -> Response:
        told: dict[str, object] = {"ok": True, "version": __version__}
        try:
            told["revision"] = read_revision(service.database)
        except StoreError:
            # Its sentence names a folder of the machine, and anybody may ask; the pages say it.
            return JSONResponse(told | {"ok": False}, 503)
        return JSONResponse(told)

    return healthz


def _problem(service: AppService) -> Callable[[Request, Exception], Response]:
    def problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, EvaluiError), "registered for nothing else"
        # Whatever is not the address's fault: a damaged store, a broken catalog.
        status = 404 if isinstance(error, UnknownRun) else 503
        said = _text(request, service).translate(error.sentence)
        return Response(said, status_code=status, media_type="text/plain")

    return problem


def _text(request: Request, service: AppService) -> Messages:
    return messages(language_of(request.query_params.get("lang"), service.settings.language))


def _sheet(t: Messages, loaded: LoadResult) -> bytes:
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(["file", "line", "column", "rule", "found", "expected"])
    for fault in loaded.faults:
        cells = [fault.file, fault.line, fault.column, fault.rule, fault.actual, fault.expected]
        writer.writerow([escape_formula(str(cell)) for cell in cells])
    if loaded.unlisted:
        writer.writerow([t("faults.unlisted", n=f"{loaded.unlisted:,}"), *[""] * 5])
    # Excel takes a CSV for UTF-8 only if it begins with the mark.
    return sheet.getvalue().encode("utf-8-sig")


def _download(content: bytes, kind: str, name: str) -> Response:
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    return Response(content, media_type=kind, headers={"Content-Disposition": disposition})
