"""The files of an upload, written to the disk as they come: none is ever held in memory."""

from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

from anyio import to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from evalui.app.datasets import keep_upload, receiving_folder
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.errors import DataError

_FIELD = b"files"  # of the form; other fields are passed over
_MAX_FILES = 2000  # and other parts of the form
_MAX_DIGITS = 16  # of a length in bytes
_OVERHEAD = 2**20  # bytes that a form adds to its files


@requires("start")
@contextmanager
def receiving(
    service: AppService, headers: Mapping[str, str], *, held: int = 0
) -> Generator[tuple[Path, int]]:
    """A folder for a form that is on its way, and how long it is.

    `held` are bytes that count with it: those that the person has sent and not stored yet.

    Raises:
        DataError: the form does not state how long it is, or is too long.
        NotAllowed, SpecError: as `receiving_folder` does.
    """
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not length.isdecimal():
        raise DataError("length-required")
    if len(length) >= _MAX_DIGITS or int(length) > service.uploads.limit + _OVERHEAD:
        raise service.uploads.too_large
    size = int(length)
    with receiving_folder(service, size + held) as folder:
        yield folder, size


@requires("start")
async def receive_upload(
    service: AppService, headers: Mapping[str, str], body: AsyncIterator[bytes]
) -> str:
    """Keep the files of a form that is on its way, and return the id of the upload.

    Raises:
        DataError: as `receiving` and `FormFiles` do.
        NotAllowed, SpecError: as `receiving` does.
    """
    with receiving(service, headers) as (folder, size):
        form = FormFiles(headers.get("content-type", ""), folder, size)
        return await to_thread.run_sync(keep_upload, service, await form.read(body))


class FormFiles:
    """The files of a form in `multipart/form-data`, each written into `folder` under a number.

    At most `limit` bytes are written.
    """

    def __init__(self, content_type: str, folder: Path, limit: int) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise DataError("not-multipart")
        self.files: list[tuple[str, Path]] = []
        self._folder = folder
        self._left = limit
        self._open: BufferedWriter | None = None
        self._header: tuple[bytes, bytes] = b"", b""
        self._disposition = b""
        self._parts = 0
        self._is_whole = False
        self._parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self._begin,
                "on_header_field": self._add_name,
                "on_header_value": self._add_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._open_file,
                "on_part_data": self._write,
                "on_part_end": self._close_file,
                "on_end": self._end,
            },
        )

    async def read(self, body: AsyncIterator[bytes]) -> list[tuple[str, Path]]:
        """The names of the files, as the browser sent them, and where they are.

        Raises:
            DataError: they are too many or too large, or this is no form.
            OSError: the disk does not take them.
        """
        try:
            async for piece in body:
                await to_thread.run_sync(self._parser.write, piece)
        except FormParserError as error:
            raise DataError("upload-broken") from error
        finally:
            self._close_file()
        if not self._is_whole:
            raise DataError("upload-broken")
        return self.files

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _MAX_FILES:
            raise DataError("upload-too-many", n=_MAX_FILES)
        self._disposition = b""
        self._header = b"", b""

    def _add_name(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = name + data[start:end], value

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = name, value + data[start:end]

    def _end_header(self) -> None:
        name, value = self._header
        if name.lower() == b"content-disposition":
            self._disposition = value
        self._header = b"", b""

    def _open_file(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename")
        if options.get(b"name") != _FIELD or name is None:
            return
        path = self._folder / str(len(self.files))
        self.files.append((name.decode("utf-8", "replace"), path))
        self._open = path.open("wb")

    def _write(self, data: bytes, start: int, end: int) -> None:
        if self._open:
            self._left -= end - start
            if self._left < 0:
                raise DataError("upload-broken")
            self._open.write(data[start:end])

    def _end(self) -> None:
        self._is_whole = True

    def _close_file(self) -> None:
        if self._open:
            self._open.close()
            self._open = None
