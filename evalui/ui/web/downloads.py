"""Files beside pages: faults of an upload, the exports of a run, its votes, pictures of both.

What writes them is imported when one is requested, for it takes longer than to draw a page.
"""

import csv
import io
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from evalui.app.files.views import UploadView
from evalui.app.pictures import run_picture, upload_picture
from evalui.app.samples import EXAMPLES
from evalui.app.service import AppService
from evalui.app.voters import VOTE_FILES
from evalui.errors import EvaluiError, UnknownName
from evalui.messages import Messages, Sentence, language_of, messages, sentence
from evalui.ui.components.form import Form
from evalui.web.downloads import download, export_of, picture_answer, votes_of

Route = Callable[..., object]


def add_downloads(app: FastAPI, service: AppService) -> None:
    """Add the routes; each is a few lines over `service`."""
    app.get("/faults/{upload}.csv")(_faults(service))
    app.get("/examples/{name}")(_example(service))
    app.get("/export/{file}")(_export(service))
    app.get("/votes/{file}")(_votes(service))
    app.get("/pictures/upload/{upload}/{picture}")(_upload_picture(service))
    app.get("/pictures/{run_id}/{picture}")(_run_picture(service))


def messages_of(request: Request, service: AppService) -> Messages:
    """The sentences of the language that a request names, else of the server's."""
    return messages(language_of(request.query_params.get("lang"), service.settings.language))


def _faults(service: AppService) -> Route:
    def faults(upload: str, request: Request) -> Response:
        from evalui.ui.pages.evaluate.spec import dataset_field, read_layout  # beside Gradio

        t = messages_of(request, service)
        parameters = request.query_params.items()
        form: Form = {dataset_field(upload, name): value for name, value in parameters}
        try:
            view = service.files.view(upload, read_layout(form, upload))
        except EvaluiError as error:
            return _missing(t, error.sentence)
        return download(_sheet(t, view), "text/csv", f"faults-{view.name}.csv")

    return faults


def _example(service: AppService) -> Route:
    def example(name: str, request: Request) -> Response:
        if name not in EXAMPLES:
            message = sentence("error.no-example", name=name, known=", ".join(EXAMPLES))
            return _missing(messages_of(request, service), message)
        return download(EXAMPLES[name](), "application/octet-stream", name)

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


def _votes(service: AppService) -> Route:
    def votes(file: str) -> Response:
        run_id, _, extension = file.partition(".")
        if extension not in VOTE_FILES:
            return Response(status_code=404)
        return votes_of(service, run_id, extension)

    return votes


def _run_picture(service: AppService) -> Route:
    def whole_or_small(run_id: str, picture: str, request: Request) -> Response:
        small = "small" in request.query_params
        return picture_answer(run_picture(service, run_id, picture, small=small))

    return whole_or_small


def _upload_picture(service: AppService) -> Route:
    def whole_or_small(upload: str, picture: str, request: Request) -> Response:
        small = "small" in request.query_params
        return picture_answer(upload_picture(service, upload, picture, small=small))

    return whole_or_small


def _sheet(t: Messages, view: UploadView) -> bytes:
    from evalui.report.write.csv import escape_formula

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
