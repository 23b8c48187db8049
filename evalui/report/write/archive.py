"""Archives that are sent while they are made, and files that are there once they are whole."""

import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evalui.errors import StoreError

# A fixed date: the same report gives the same archive, byte for byte.
_DATE = (1980, 1, 1, 0, 0, 0)
Archived = Iterable[tuple[str, Iterable[bytes]]]


class ForwardPipe(io.RawIOBase):
    """What is written comes out again at the other end; nobody can go back in it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """It can be written."""
        return True

    def tell(self) -> int:
        """The bytes written so far."""
        return self._size

    def write(self, data: Any, /) -> int:
        """Keep the bytes until they are drained."""
        self._size += len(data)
        self._parts.append(bytes(data))
        return len(data)

    def drain(self) -> Iterator[bytes]:
        """What was written since the last time, in one piece; nothing if that is nothing."""
        parts, self._parts = self._parts, []
        whole = b"".join(parts)
        if whole:
            yield whole


def zip_parts(files: Archived) -> Iterator[bytes]:
    """An archive piece by piece, each as soon as it is made; a file may have 2 GiB and more."""
    pipe = ForwardPipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as entry:
                for piece in pieces:
                    entry.write(piece)
                    yield from pipe.drain()
    yield from pipe.drain()


def write_private(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file that its owner alone can read, in place of one that is there.

    It has another name until it is whole.

    Raises:
        StoreError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    # Answers may be confidential, and the machine may have other users.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        part.unlink(missing_ok=True)  # the mode is given to new files only
        try:
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.writelines(pieces)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError("not-written", path=str(path), reason=str(error.strerror)) from error
