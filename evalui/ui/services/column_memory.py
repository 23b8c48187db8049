"""Which column is what, remembered for the headers of a file: for each user, by the headers."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from evalui.accounts.belongings import folder_of
from evalui.errors import DataError


class ColumnMemory:
    """The choices of whoever `owner` names, in a file of theirs; none are kept if `read_only`."""

    def __init__(self, folder: Path, owner: Callable[[], str], *, read_only: bool = False) -> None:
        self._folder = folder
        self._owner = owner
        self._read_only = read_only

    @property
    def _path(self) -> Path:
        return self._folder / f"{folder_of(self._owner())}.json"

    def recall(self, headers: Sequence[str]) -> str:
        """What was remembered for these headers, "" if nothing was."""
        return self._read().get(_key(headers), "")

    def remember(self, headers: Sequence[str], columns: str) -> None:
        """Keep the choice for files with these headers; "" forgets it.

        Raises:
            DataError: the file cannot be written, or must not be.
        """
        if self._read_only:
            raise DataError("read-only")
        kept = self._read() | {_key(headers): columns}
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


def _key(headers: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(headers)).encode()).hexdigest()[:16]
