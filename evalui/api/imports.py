"""Finished runs of other harnesses: their files are uploaded as datasets are, then imported."""

from fastapi import APIRouter, Response

from evalui.api.problems import CheckedRoute, Service, Words, permits
from evalui.api.runs import detail_of
from evalui.api.schemas import ImportDone, ImportSent
from evalui.app import evaluations
from evalui.app.files.views import LogChoices
from evalui.errors import SpecError
from evalui.report.analyses.overview.document import left_out_sentences

router = APIRouter(route_class=CheckedRoute, prefix="/imports", tags=["imports"])


@router.post("", status_code=201, dependencies=[permits(evaluations.import_log)])
def import_log(sent: ImportSent, response: Response, service: Service, t: Words) -> ImportDone:
    """Keep the finished run of another harness: files of an `upload`, or a `path` on the server.

    A folder is uploaded as a zip. A path is for administrators.
    """
    choices = LogChoices(sent.name, tuple(sent.models), tuple(sent.without), tuple(sent.mapping))
    if bool(sent.upload) == bool(sent.path) or (sent.path and choices != LogChoices(sent.name)):
        raise SpecError("import-source")
    imported = (
        evaluations.import_log_from(service, sent.path, name=sent.name)
        if sent.path
        else evaluations.import_log(service, sent.upload, choices)
    )
    response.headers["Location"] = f"runs/{imported.run_id}"
    return ImportDone(
        run=detail_of(service, t, imported.run_id),
        left_out=list(left_out_sentences(imported.left_out, t.language)),
    )
