"""Files of questions and of answers: uploaded, listed, described, deleted."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from evalui.api.problems import Service, Words
from evalui.api.schemas import DatasetPart, DatasetSummary, UploadedDatasets, UploadFault
from evalui.datasets.base import Layout
from evalui.errors import DataError, EvaluiError
from evalui.messages import Messages
from evalui.ui.services.files.receiving import receive_upload
from evalui.ui.services.files.views import UploadView
from evalui.ui.services.service import AppService
from evalui.ui.services.uploads import UploadedFiles

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}}
                    },
                }
            }
        },
    }
}
router = APIRouter(prefix="/datasets", tags=["datasets"])


@router.post("", status_code=201, openapi_extra=_FORM)
async def upload(request: Request, service: Service, t: Words) -> UploadedDatasets:
    """Upload files, all of one dataset, and learn what was read of them.

    The same files again have the same id. A zip or a SWIFT configuration may hold several datasets.
    """
    upload_id = await receive_upload(service, request.headers, request.stream())
    return await run_in_threadpool(_described, service, t, _about(service, upload_id))


@router.get("")
def list_datasets(service: Service) -> list[DatasetSummary]:
    """What the sender has uploaded, the newest first."""
    service.require("see")
    return list(map(DatasetSummary.model_validate, service.uploads.uploaded(service.owner)))


@router.get("/{upload_id}")
def read_dataset(upload_id: str, service: Service, t: Words) -> UploadedDatasets:
    """One upload, and what was read of it."""
    service.require("see")
    return _described(service, t, _about(service, upload_id))


@router.delete("/{upload_id}", status_code=204)
def delete_dataset(upload_id: str, service: Service) -> None:
    """Delete the files of an upload. Runs that were made of it keep their questions."""
    service.require("start")
    _about(service, upload_id)
    service.delete_upload(upload_id)


def _about(service: AppService, upload_id: str) -> UploadedFiles:
    try:
        return service.uploads.about(service.owner, upload_id)
    except DataError as error:
        raise DataError("no-upload-id", upload=upload_id) from error


def _described(service: AppService, t: Messages, about: UploadedFiles) -> UploadedDatasets:
    parts, problem = list[DatasetPart](), ""
    try:
        for part in service.parts(about.id):
            parts.append(_part(t, service.load(part, Layout())))
    except EvaluiError as error:
        problem = t.translate(error.sentence)
    summary = DatasetSummary.model_validate(about)
    return UploadedDatasets(**summary.model_dump(), parts=parts, problem=problem)


def _part(t: Messages, view: UploadView) -> DatasetPart:
    return DatasetPart(
        name=view.name,
        kind=view.kind,
        questions=view.n_questions,
        worked_examples=view.n_shots,
        rows=view.n_rows,
        faults=list(map(UploadFault.model_validate, view.faults)),
        unlisted=view.unlisted,
        notes=[t.translate(note.sentence) for note in view.notes],
    )
