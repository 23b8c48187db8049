"""Files of questions and of answers: uploaded, listed, described, deleted."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from evalui.api.problems import CheckedRoute, Service, Words, permits
from evalui.api.schemas import (
    ColumnsShown,
    DatasetPart,
    PreviewShown,
    RightsSent,
    UploadedDatasets,
)
from evalui.app import datasets
from evalui.app.receiving import receive_upload
from evalui.app.service import AppService
from evalui.app.sharing import state_dataset_rights
from evalui.app.team_datasets import TeamDataset
from evalui.app.uploads import UploadedFiles
from evalui.datasets.base import Layout
from evalui.datasets.columns import columns_of
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.runs.spec import DatasetSpec
from evalui.runs.submit import layout_of

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
    return await run_in_threadpool(_described, service, t, datasets.find_upload(service, upload_id))


@router.get("", dependencies=[permits(datasets.list_uploads)])
def list_datasets(service: Service) -> list[UploadedFiles]:
    """What the sender has uploaded, the newest first."""
    return list(datasets.list_uploads(service))


@router.get("/teams", dependencies=[permits(datasets.list_team_datasets)])
def list_team_datasets(service: Service) -> list[TeamDataset]:
    """What others let the teams of the sender use."""
    return list(datasets.list_team_datasets(service))


@router.get("/{upload_id}", dependencies=[permits(datasets.find_upload)])
def read_dataset(upload_id: str, service: Service, t: Words) -> UploadedDatasets:
    """One upload, and what was read of it."""
    return _described(service, t, datasets.find_upload(service, upload_id))


@router.delete("/{upload_id}", status_code=204, dependencies=[permits(datasets.delete_dataset)])
def delete_dataset(upload_id: str, service: Service) -> None:
    """Delete the files of an upload. Runs that were made of it keep their questions."""
    datasets.delete_dataset(service, upload_id)


@router.post(
    "/{upload_id}/take", status_code=201, dependencies=[permits(datasets.take_team_dataset)]
)
def take(upload_id: str, service: Service, t: Words) -> UploadedDatasets:
    """Make a dataset of a team one of the sender's own, under the same id."""
    datasets.take_team_dataset(service, upload_id)
    return _described(service, t, datasets.find_upload(service, upload_id))


@router.put(
    "/{upload_id}/rights/{team}", status_code=204, dependencies=[permits(state_dataset_rights)]
)
def set_rights(upload_id: str, team: str, sent: RightsSent, service: Service) -> None:
    """State whether a team of the sender's may use a dataset of theirs."""
    datasets.find_upload(service, upload_id)
    state_dataset_rights(service, upload_id, team, sent.rights)


@router.post("/{upload_id}/columns", dependencies=[permits(datasets.remember_columns)])
def map_columns(
    upload_id: str,
    sent: DatasetSpec,
    service: Service,
    t: Words,
    remember: bool = False,
    start: int = 0,
) -> DatasetPart:
    """Read an upload as an entry of `datasets` in a specification states it; the columns can be
    remembered for other files with these headers. The preview begins at question `start`, from 0.
    """
    upload, layout = datasets.find_upload(service, upload_id).id, layout_of(sent)
    part = _part(service, t, upload, layout, start)
    if remember and part.columns:
        datasets.remember_columns(service, part.columns.table.headers, layout)
        part = _part(service, t, upload, layout, start)
    return part


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
        kept = datasets.remembered_layout(service, upload)
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
