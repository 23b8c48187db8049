"""Files of questions and of answers: uploaded, listed, described, deleted."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from evalui.api.problems import CheckedRoute, Service, Words, permits
from evalui.api.schemas import (
    ColumnsShown,
    DatasetPart,
    PreviewShown,
    UploadedDatasets,
)
from evalui.app import datasets
from evalui.app.receiving import receive_upload
from evalui.app.service import AppService
from evalui.app.uploads import UploadedFiles
from evalui.datasets.model import Layout, columns_of
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.runs.spec import DatasetSpec
from evalui.runs.submit import layout_of

_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_FIELDS = {"type": "object", "required": ["files"], "properties": {"files": _FILES}}
_CONTENT = {"multipart/form-data": {"schema": _FIELDS}}
_FORM: dict[str, Any] = {"requestBody": {"required": True, "content": _CONTENT}}
GOES_ON: dict[int | str, dict[str, Any]] = {
    202: {"model": UploadedDatasets, "description": "Reading goes on"}
}
PATIENCE_S = 5.0  # after which the answer is that reading goes on
_THREADS = 24  # as many requests as may wait for files
_KEPT = 100  # results that nobody has asked for
router = APIRouter(route_class=CheckedRoute, prefix="/datasets", tags=["datasets"])


class Readings:
    """What is being read of uploads, and what was read and nobody has asked for yet."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "reading")
        self._begun: dict[tuple[str, str, str], Future[UploadedDatasets]] = {}

    def answer(
        self, service: AppService, t: Messages, response: Response, upload: str
    ) -> UploadedDatasets:
        """What was read of an upload, or with status 202 that reading goes on."""
        about = datasets.find_upload(service, upload)
        key = service.owner, upload, t.language
        ended = [each for each, reading in self._begun.copy().items() if reading.done()]
        for oldest in ended[:-_KEPT]:
            self._begun.pop(oldest, None)
        reading = self._begun.get(key) or self._threads.submit(_described, service, t, about)
        self._begun[key] = reading
        try:
            described = reading.result(PATIENCE_S)
        except TimeoutError:
            response.status_code = 202
            rows = service.files.rows_read(upload)
            state = "waiting" if rows is None else "reading"
            return UploadedDatasets(**asdict(about), state=state, rows_read=rows or 0)
        self._begun.pop(key, None)
        return described


async def _describe(
    request: Request, response: Response, service: Service, t: Words
) -> Callable[[str], UploadedDatasets]:
    readings: Readings = request.app.state.readings
    return partial(readings.answer, service, t, response)


Describe = Annotated[Callable[[str], UploadedDatasets], Depends(_describe)]


@router.post("", status_code=201, openapi_extra=_FORM, responses=GOES_ON)
async def upload(
    request: Request, response: Response, service: Service, describe: Describe
) -> UploadedDatasets:
    """Upload files, all of one dataset, and learn what was read of them.

    The same files again have the same id. A zip or a SWIFT configuration may hold several datasets.
    What takes longer than 5 seconds is answered 202; `GET datasets/{upload}` says how far it is.
    """
    upload_id = await receive_upload(service, request.headers, request.stream())
    response.headers["Location"] = f"datasets/{upload_id}"
    return await run_in_threadpool(describe, upload_id)


@router.get("", dependencies=[permits(datasets.list_uploads)])
def list_datasets(service: Service) -> list[UploadedFiles]:
    """What the sender has uploaded, the newest first."""
    return list(datasets.list_uploads(service))


@router.get("/{upload_id}", dependencies=[permits(datasets.find_upload)], responses=GOES_ON)
def read_dataset(upload_id: str, describe: Describe) -> UploadedDatasets:
    """One upload, and what was read of it; 202 where reading goes on after 5 seconds."""
    return describe(upload_id)


@router.delete("/{upload_id}", status_code=204, dependencies=[permits(datasets.delete_upload)])
def delete_dataset(upload_id: str, service: Service) -> None:
    """Delete the files of an upload. Runs that were made of it keep their questions."""
    datasets.delete_upload(service, upload_id)


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
        parts += (
            _part(service, t, part, Layout()) for part in datasets.upload_parts(service, about.id)
        )
    except EvaluiError as error:
        problem = t.translate(error.sentence)
    is_faulty = bool(problem) or any(part.problem for part in parts)
    state = "faulty" if is_faulty else "ready"
    return UploadedDatasets(**asdict(about), state=state, parts=parts, problem=problem)


def _part(
    service: AppService, t: Messages, upload: str, layout: Layout, start: int = 0
) -> DatasetPart:
    # In this order a large file is read once: what its table takes is given back to its questions.
    files = service.files
    table, preview = files.columns(upload, layout), files.preview(upload, layout, start)
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
    view = datasets.read_upload(service, upload, layout)
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
