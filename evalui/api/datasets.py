"""Files of questions and of answers: uploaded, listed, described, deleted."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from evalui.api.problems import CheckedRoute, Service, Words, requires
from evalui.api.schemas import (
    ColumnsShown,
    DatasetPart,
    PreviewShown,
    RightsSent,
    UploadedDatasets,
)
from evalui.app.column_memory import fitting_layout
from evalui.app.files.receiving import receive_upload
from evalui.app.run_form import write_kept_columns
from evalui.app.service import AppService
from evalui.app.sharing import state_dataset_rights
from evalui.app.team_datasets import TeamDataset, read_team_datasets, take_dataset
from evalui.app.uploads import UploadedFiles
from evalui.datasets.base import Layout
from evalui.datasets.columns import columns_of
from evalui.errors import DataError, EvaluiError
from evalui.messages import Messages
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.submit import layout_of
from evalui.runs.submitted import UploadedDataset

_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_FIELDS = {"type": "object", "required": ["files"], "properties": {"files": _FILES}}
_CONTENT = {"multipart/form-data": {"schema": _FIELDS}}
_FORM: dict[str, Any] = {"requestBody": {"required": True, "content": _CONTENT}}
router = APIRouter(route_class=CheckedRoute, prefix="/datasets", tags=["datasets"])


@router.post("", status_code=201, openapi_extra=_FORM)
async def upload(request: Request, service: Service, t: Words) -> UploadedDatasets:
    """Upload files, all of one dataset, and learn what was read of them.

    The same files again have the same id. A zip or a SWIFT configuration may hold several datasets.
    """
    upload_id = await receive_upload(service, request.headers, request.stream())
    return await run_in_threadpool(_described, service, t, _about(service, upload_id))


@router.get("", dependencies=[requires("see")])
def list_datasets(service: Service) -> list[UploadedFiles]:
    """What the sender has uploaded, the newest first."""
    return list(service.uploads.uploaded(service.owner))


@router.get("/teams", dependencies=[requires("see")])
def list_team_datasets(service: Service) -> list[TeamDataset]:
    """What others let the teams of the sender use."""
    return list(read_team_datasets(service.database, service.person))


@router.get("/{upload_id}", dependencies=[requires("see")])
def read_dataset(upload_id: str, service: Service, t: Words) -> UploadedDatasets:
    """One upload, and what was read of it."""
    return _described(service, t, _about(service, upload_id))


@router.delete("/{upload_id}", status_code=204, dependencies=[requires("start")])
def delete_dataset(upload_id: str, service: Service) -> None:
    """Delete the files of an upload. Runs that were made of it keep their questions."""
    _about(service, upload_id)
    service.delete_upload(upload_id)


@router.post("/{upload_id}/take", status_code=201, dependencies=[requires("start")])
def take(upload_id: str, service: Service, t: Words) -> UploadedDatasets:
    """Make a dataset of a team one of the sender's own, under the same id."""
    usual, root = usual_limits(service.settings), service.uploads.root
    take_dataset(service.database, root, service.person, upload_id, usual)
    return _described(service, t, _about(service, upload_id))


@router.put("/{upload_id}/rights/{team}", status_code=204, dependencies=[requires("start")])
def set_rights(upload_id: str, team: str, sent: RightsSent, service: Service) -> None:
    """State whether a team of the sender's may use a dataset of theirs."""
    _about(service, upload_id)
    state_dataset_rights(service, upload_id, team, sent.rights)


@router.post("/{upload_id}/columns", dependencies=[requires("start")])
def map_columns(
    upload_id: str,
    sent: UploadedDataset,
    service: Service,
    t: Words,
    remember: bool = False,
    start: int = 0,
) -> DatasetPart:
    """Read an upload as an entry of `datasets` in a specification states it; the columns can be
    remembered for other files with these headers. The preview begins at question `start`, from 0.
    """
    upload, layout = _about(service, upload_id).id, layout_of(sent)
    part = _part(service, t, upload, layout, start)
    if remember and part.columns:
        memory, columns = service.column_memory, write_kept_columns(layout)
        memory.remember(part.columns.table.headers, columns)
        part = _part(service, t, upload, layout, start)
    return part


def _about(service: AppService, upload_id: str) -> UploadedFiles:
    try:
        return service.uploads.about(service.owner, upload_id)
    except DataError as error:
        raise DataError("no-upload-id", upload=upload_id) from error


def _described(service: AppService, t: Messages, about: UploadedFiles) -> UploadedDatasets:
    parts, problem = list[DatasetPart](), ""
    try:
        parts += (_part(service, t, part, Layout()) for part in service.parts(about.id))
    except EvaluiError as error:
        problem = t.translate(error.sentence)
    return UploadedDatasets(**asdict(about), parts=parts, problem=problem)


def _part(
    service: AppService, t: Messages, upload: str, layout: Layout, start: int = 0
) -> DatasetPart:
    files = service.files
    preview, table = files.preview(upload, layout, start), files.columns(upload, layout)
    reading, columns = preview.reading, None
    if table and reading:
        kept = fitting_layout(service.column_memory, files, upload)
        named = columns_of(kept) if kept else {}
        columns = ColumnsShown(table=table, guess=reading.guess, kept=named)
    shown = PreviewShown.model_validate(preview)
    if preview.problem:
        file, rows = (reading.file, reading.n_rows) if reading else ("", 0)
        problem = t.translate(preview.problem)
        return DatasetPart(
            name=file, kind="", rows=rows, columns=columns, preview=shown, problem=problem
        )
    view = service.load(upload, layout)
    return DatasetPart(
        name=view.name,
        kind=view.kind,
        questions=view.n_questions,
        worked_examples=view.n_shots,
        rows=view.n_rows,
        faults=list(view.faults),
        unlisted=view.unlisted,
        notes=[t.translate(note.sentence) for note in view.notes],
        columns=columns,
        preview=shown,
        problem="",
    )
