"""Which column is what, remembered for the headers of a file: for each user, by the headers.

Files with the same headers may differ in what stands below them, so what was remembered is used
only where it fits.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args
from urllib.parse import parse_qsl, urlencode

from evalui.accounts.belongings import folder_of
from evalui.app.files.reader import FileReader
from evalui.app.permissions import checks
from evalui.datasets.model import COLUMN_ROLES, Layout, columns_of, with_columns
from evalui.errors import DataError
from evalui.types import DatasetKind

_KEY, _KIND = "key", "kind"  # beside the roles of columns
_DETECTED_KEY = ""  # of a layout: the answer key that the file itself shows
_USABLE_SHARE = 0.9  # of the rows, for columns that were chosen for another file to be used


class ColumnMemory:
    """The choices of whoever `owner` names, in a file of theirs; none are kept if `read_only`."""

    def __init__(self, folder: Path, owner: Callable[[], str], *, read_only: bool = False) -> None:
        self._folder = folder
        self._owner = owner
        self._read_only = read_only

    @property
    def _path(self) -> Path:
        return self._folder / f"{folder_of(self._owner())}.json"

    @checks("nothing: the person's own choices")
    def recall(self, headers: Sequence[str]) -> Layout | None:
        """The columns and the kind that were remembered for these headers, if any were."""
        text = self._read().get(headers_key(headers), "")
        return _read_columns(text) if text else None

    @checks("nothing: the person's own choices")
    def remember(self, headers: Sequence[str], layout: Layout | None) -> None:
        """Keep the columns and the kind for files with these headers; None forgets them.

        Raises:
            DataError: the file cannot be written, or must not be.
        """
        if self._read_only:
            raise DataError("read-only")
        kept = self._read() | {headers_key(headers): _write_columns(layout) if layout else ""}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({key: text for key, text in kept.items() if text}, file)
            Path(unfinished).replace(self._path)
        except OSError as error:
            raise DataError("upload-unwritten", reason=error.strerror or str(error)) from error

    def _read(self) -> dict[str, str]:
        if not self._path.exists():
            return {}
        return cast("dict[str, str]", json.loads(self._path.read_text(encoding="utf-8")))


def fitting_layout(memory: ColumnMemory, files: FileReader, upload: str) -> Layout | None:
    """The layout that was remembered for the headers of an upload, None if it does not fit.

    It fits where nearly all rows can be used that way, and no fewer than without it, or with the
    answer key that this file shows.

    Raises:
        DataError: the upload is no table, or cannot be read.
    """
    reading = files.preview(upload).reading
    layout = memory.recall(reading.headers) if reading else None
    if not layout:
        return None
    usable, rows = _usable_rows(files, upload, layout)
    others = (Layout(), replace(layout, answer_key=_DETECTED_KEY))
    fits = rows and usable >= _USABLE_SHARE * rows
    if not fits or any(_usable_rows(files, upload, other)[0] > usable for other in others):
        return None
    return layout


def _usable_rows(files: FileReader, upload: str, layout: Layout) -> tuple[int, int]:
    """How many rows of an upload can be used so, and how many there are."""
    shown = files.preview(upload, layout)
    return shown.total, shown.n_rows


def _write_columns(layout: Layout) -> str:
    key = {} if layout.answer_key == "letter" else {_KEY: layout.answer_key}
    kind = {_KIND: layout.kind} if layout.kind else {}
    return urlencode(columns_of(layout) | key | kind)


def _read_columns(text: str) -> Layout:
    columns = dict(parse_qsl(text))
    kinds: Mapping[str, DatasetKind] = {name: name for name in get_args(DatasetKind)}
    layout = Layout(
        answer_key=columns.get(_KEY, "") or "letter", kind=kinds.get(columns.get(_KIND, ""), "")
    )
    return with_columns(layout, {role: columns[role] for role in COLUMN_ROLES if role in columns})


def headers_key(headers: Sequence[str]) -> str:
    """What files with the same headers share."""
    return hashlib.sha256(json.dumps(list(headers)).encode()).hexdigest()[:16]
