"""Datasets: uploads of a person, and the columns that are remembered for them."""

from collections.abc import Sequence

from evalui.app.column_memory import fitting_layout
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.app.uploads import UploadedFiles
from evalui.datasets.base import Layout
from evalui.errors import DataError


@requires("see")
def list_uploads(service: AppService) -> Sequence[UploadedFiles]:
    """What the person has uploaded, the newest first."""
    return service.uploads.uploaded(service.owner)


@requires("see")
def find_upload(service: AppService, upload: str) -> UploadedFiles:
    """One upload of the person's; raises `DataError` if they have none of this id."""
    try:
        return service.uploads.about(service.owner, upload)
    except DataError as error:
        raise DataError("no-upload-id", upload=upload) from error


@requires("start")
def delete_dataset(service: AppService, upload: str) -> None:
    """Delete the files of an upload; runs that were made of it keep their questions."""
    service.delete_upload(find_upload(service, upload).id)


@requires("see")
def remembered_layout(service: AppService, upload: str) -> Layout | None:
    """The columns that the person chose for files with these headers, None if they do not fit."""
    return fitting_layout(service.column_memory, service.files, upload)


@requires("start")
def remember_columns(service: AppService, headers: Sequence[str], layout: Layout | None) -> None:
    """Keep a choice of columns for other files with these headers; None forgets it."""
    service.column_memory.remember(headers, layout)
