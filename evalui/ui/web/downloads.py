"""Files that a person takes away: faults of an upload, the exports of a run, its votes.

What writes them is imported when one is requested, for it takes longer than to draw a page.
"""

import csv
import io
from collections.abc import Callable, Iterator
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from evalui.datasets.base import LoadResult
from evalui.errors import EvaluiError
from evalui.messages import Messages, language_of, messages, sentence
from evalui.report.export.formats import FORMATS
from evalui.ui.services.run_form import read_layout
from evalui.ui.services.samples import EXAMPLES
from evalui.ui.services.service import AppService

Route = Callable[..., object]


def add_downloads(app: FastAPI, service: AppService) -> None:
    """Add the routes; each is a few lines over `service`."""
    app.get("/faults/{upload}.csv")(_faults(service))
    app.get("/examples/{name}")(_example(service))
    app.get("/export/{run_id}.{extension}")(_export(service))
    app.get("/votes/{run_id}.jsonl")(_votes(service))


def messages_of(request: Request, service: AppService) -> Messages:
    """The sentences of the language that a request names, else of the server's."""
    return messages(language_of(request.query_params.get("lang"), service.settings.language))


def _faults(service: AppService) -> Route:
    def faults(upload: str, request: Request) -> Response:
        t = messages_of(request, service)
        layout = read_layout(dict(request.query_params.items()))
        try:
            loaded = service.load(upload, layout)
        except EvaluiError as error:
            return Response(t.translate(error.sentence), status_code=404, media_type="text/plain")
        return _download(_sheet(t, loaded), "text/csv", f"faults-{loaded.dataset.name}.csv")

    return faults


def _example(service: AppService) -> Route:
    def example(name: str, request: Request) -> Response:
        if name not in EXAMPLES:
            message = sentence("error.no-example", name=name, known=", ".join(EXAMPLES))
            t = messages_of(request, service)
            return Response(t.translate(message), status_code=404, media_type="text/plain")
        return _download(EXAMPLES[name](), "application/octet-stream", name)

    return example


def _export(service: AppService) -> Route:
    def export(run_id: str, extension: str, request: Request) -> Response:
        t = messages_of(request, service)
        if extension not in FORMATS:
            known = ", ".join(FORMATS)
            message = sentence(
                "error.no-export",
                kind=extension,
                known=known,
            )
            return Response(t.translate(message), status_code=404, media_type="text/plain")
        name, content = service.export(run_id, extension, t.language)
        return _download(content, FORMATS[extension], name)

    return export


def _votes(service: AppService) -> Route:
    def votes(run_id: str) -> Response:
        from evalui.report.export.files import vote_lines

        name = service.run(run_id).id
        content = "".join(vote_lines(service.votes(name))).encode()
        return _download(content, "application/jsonl", f"votes-{name}.jsonl")

    return votes


def _sheet(t: Messages, loaded: LoadResult) -> bytes:
    from evalui.report.export.spreadsheets import escape_formula

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


def _download(content: bytes | Iterator[bytes], kind: str, name: str) -> Response:
    """The file with its size, or as it is made where its size is not known before its end."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    if isinstance(content, bytes):
        return Response(content, media_type=kind, headers=headers)
    return StreamingResponse(content, media_type=kind, headers=headers)
