"""Files that a person takes away: faults of an upload, the exports of a run, its votes.

What writes them is imported when one is requested, for it takes longer than to draw a page.
"""

import csv
import io
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import cast
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Send

from evalui.app.files.views import UploadView
from evalui.app.run_labels import file_name
from evalui.app.samples import EXAMPLES
from evalui.app.service import AppService
from evalui.app.team_votes import VOTE_FILES, vote_file
from evalui.errors import EvaluiError, UnknownName
from evalui.messages import Messages, Sentence, language_of, messages, sentence
from evalui.report.export.formats import FORMATS
from evalui.types import Language
from evalui.ui.run_form import read_layout

Route = Callable[..., object]
_MOST_AT_ONCE = 5000  # trials of a run whose files are made in this process, and sent with a size


def add_downloads(app: FastAPI, service: AppService) -> None:
    """Add the routes; each is a few lines over `service`."""
    app.get("/faults/{upload}.csv")(_faults(service))
    app.get("/examples/{name}")(_example(service))
    app.get("/export/{file}")(_export(service))
    app.get("/votes/{file}")(_votes(service))


def messages_of(request: Request, service: AppService) -> Messages:
    """The sentences of the language that a request names, else of the server's."""
    return messages(language_of(request.query_params.get("lang"), service.settings.language))


def _faults(service: AppService) -> Route:
    def faults(upload: str, request: Request) -> Response:
        t = messages_of(request, service)
        layout = read_layout(dict(request.query_params.items()))
        try:
            view = service.files.view(upload, layout)
        except EvaluiError as error:
            return _missing(t, error.sentence)
        return _download(_sheet(t, view), "text/csv", f"faults-{view.name}.csv")

    return faults


def _example(service: AppService) -> Route:
    def example(name: str, request: Request) -> Response:
        if name not in EXAMPLES:
            message = sentence("error.no-example", name=name, known=", ".join(EXAMPLES))
            return _missing(messages_of(request, service), message)
        return _download(EXAMPLES[name](), "application/octet-stream", name)

    return example


def _export(service: AppService) -> Route:
    def export(file: str, request: Request) -> Response:
        t = messages_of(request, service)
        run_id, _, extension = file.partition(".")
        try:
            return export_of(service, run_id, extension, t.language)
        except UnknownName as error:
            return _missing(t, error.sentence)

    return export


def export_of(service: AppService, run_id: str, extension: str, language: Language) -> Response:
    """A run as a file.

    Raises:
        UnknownName: `extension` is none of `FORMATS`.
        UnknownRun, SpecError: as `AppService.export` does.
    """
    if extension not in FORMATS:
        raise UnknownName("no-export", kind=extension, known=", ".join(FORMATS))
    run = service.run(run_id)
    if run.done > _MOST_AT_ONCE:
        pieces = service.export_apart(run_id, extension, language)
        headers = _named(file_name(run, extension))
        return ExportResponse(pieces, media_type=FORMATS[extension], headers=headers)
    name, content = service.export(run_id, extension, language)
    return _download(b"".join(content), FORMATS[extension], name)


class ExportResponse(StreamingResponse):
    """A file that is sent while it is made; what makes it ends with the transfer."""

    async def stream_response(self, send: Send) -> None:
        """Send every piece; an error on the way breaks the transfer off."""
        pieces = cast("AsyncGenerator[bytes]", self.body_iterator)  # as it was given
        async with aclosing(pieces):
            await super().stream_response(send)


def _votes(service: AppService) -> Route:
    def votes(file: str) -> Response:
        run_id, _, extension = file.partition(".")
        if extension not in VOTE_FILES:
            return Response(status_code=404)
        return votes_of(service, run_id, extension)

    return votes


def votes_of(service: AppService, run_id: str, extension: str) -> Response:
    """The votes of people on a run, as one of `VOTE_FILES`; raises `UnknownRun`."""
    name = f"votes-{service.run(run_id).id}.{extension}"
    content = b"".join(vote_file(service, run_id, extension))
    return _download(content, VOTE_FILES[extension], name)


def _sheet(t: Messages, view: UploadView) -> bytes:
    from evalui.report.export.spreadsheets import escape_formula

    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(["file", "line", "column", "rule", "found", "expected"])
    for fault in view.faults:
        cells = [fault.file, fault.line, fault.column, fault.rule, fault.actual, fault.expected]
        writer.writerow([escape_formula(str(cell)) for cell in cells])
    if view.unlisted:
        writer.writerow([t("faults.unlisted", n=f"{view.unlisted:,}"), *[""] * 5])
    # Excel takes a CSV for UTF-8 only if it begins with the mark.
    return sheet.getvalue().encode("utf-8-sig")


def _missing(t: Messages, why: Sentence) -> Response:
    return Response(t.translate(why), status_code=404, media_type="text/plain")


def _download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
