"""Paths become files in memory: folders are walked, archives unpacked, within limits.

Entries of an archive are read in pieces and no further than the size that they declare. What an
archive states of itself may be a lie: two megabytes can unpack to two gigabytes while they declare
ten bytes, and the memory is gone before the checksum is compared.
"""

import bz2
import copy
import io
import lzma
import os
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from evalui.datasets.model import Limits, UploadNote, first_few
from evalui.datasets.picture_files import MAX_PICTURE_BYTES, current_folder
from evalui.datasets.picture_texts import take_pictures
from evalui.errors import DataError
from evalui.messages import sentence

if TYPE_CHECKING:
    from backports.zstd import ZstdDecompressor

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")
_PLUGIN_SUFFIXES = (".md", ".markdown", ".gift", ".xml", ".html")  # of texts that packages read
_WORKBOOK_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_BINARY_SUFFIXES = (".parquet",)
_TABLE_SUFFIXES = (*_TEXT_SUFFIXES, *_WORKBOOK_SUFFIXES, *_BINARY_SUFFIXES)
_PICTURE_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"),
    *(".svg", ".heic", ".heif", ".avif"),  # which are refused, with the reason
)
_STORED_SUFFIXES = (".parquet", ".xlsx", ".xlsm")  # of tables that are read a part at a time
_JSON_SUFFIXES = (".json",)
_OTHER_NAMES = (".ndjson", ".xlsm")  # of kinds that have a name above
# What lies beside questions and is none of them as often as not.
_OPTIONAL_SUFFIXES = (".txt", ".json", *_PLUGIN_SUFFIXES)
_UTF8_NAME_FLAG = 0x800  # zip flag: the name is UTF-8
_ENCRYPTED_FLAG = 0x1  # zip flag
_MIN_BOMB_BYTES = 2**20  # bytes; below this no ratio is a bomb
_MAX_NAMES_SHOWN = 5  # names in a note
# Everything the zip module raises on a damaged archive.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
_CHUNK_BYTES = 2**16  # bytes
_PIECE_BYTES = 2**20  # of a file on the disk
_LARGE_BYTES = 2**25  # of a table; such a one stays on the disk
# The zip module stops at the number of unpacked bytes for stored and deflated entries only. Of LZMA
# it unpacks as many packed bytes as are wanted at once, and one of them makes 7,000 at most.
_LZMA_CHUNK_BYTES = 2**12
_ZIP_ZSTANDARD = 93  # which the zip module knows from Python 3.14 on


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file in memory. `path` is relative to the folder or archive it came in.

    `explicit`: the user named this very file, it did not just lie in a folder. `stored` is where a
    large table lies that is read there: its pictures need never be in memory together. Of such a
    file `data` is the beginning.
    """

    path: PurePosixPath
    data: bytes = field(repr=False)
    explicit: bool = False
    stored: Path | None = None

    @property
    def name(self) -> str:
        """What a user calls the file."""
        return self.path.name

    def open(self) -> io.BytesIO | io.BufferedReader:
        """The whole file, to be read."""
        return self.stored.open("rb") if self.stored else io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class CollectedFiles:
    """The files to read, and notes on those that are ignored."""

    files: tuple[SourceFile, ...]
    notes: tuple[UploadNote, ...] = ()


def readable_suffixes() -> tuple[str, ...]:
    """The endings of the files that are read, each kind once; that of archives is the last."""
    return tuple(each for each in (*_TABLE_SUFFIXES, ".zip") if each not in _OTHER_NAMES)


def collect_files(paths: Sequence[Path], limits: Limits) -> CollectedFiles:
    """Every table and configuration in `paths`, in name order; raises `DataError`.

    Pictures go to the current folder of pictures, those in texts too.
    """
    if not paths:
        raise DataError("no-file")
    members: list[SourceFile] = []
    ignored: list[str] = []
    size = 0
    names = Counter(path.name for path in paths)
    for path in paths:
        for member in _read_path(path, limits):
            if not _is_supported(member.path):
                ignored.append(member.name)
                continue
            alone = names[path.name] == 1
            members.append(member if alone else _with_parent_folder(member, path))
            size += len(member.data) if is_text(member) else 0
            if size > limits.unpacked:
                raise DataError(
                    "too-much-together", file=path.name, limit=_format_megabytes(limits.unpacked)
                )
    if not members:
        names = ", ".join(path.name for path in paths)
        raise DataError("nothing-readable", files=names, kinds=sentence("error.kinds"))
    members.sort(key=lambda member: (member.name, member.path))
    return CollectedFiles(tuple(members), ignored_files_notes(ignored))


def ignored_files_notes(ignored: Sequence[str]) -> tuple[UploadNote, ...]:
    """A note on files that nothing was read from, by their names; none if there are none."""
    if not ignored:
        return ()
    return (UploadNote("ignored-files", {"files": first_few(ignored, _MAX_NAMES_SHOWN)}),)


def is_json(member: SourceFile) -> bool:
    """Whether a file is JSON by its name: questions, or a configuration perhaps."""
    return member.path.suffix.lower() in _JSON_SUFFIXES


def is_workbook(member: SourceFile) -> bool:
    """Whether a file is a workbook of a spreadsheet program by its name."""
    return member.path.suffix.lower() in _WORKBOOK_SUFFIXES


def is_text(member: SourceFile) -> bool:
    """Whether a file is text by its name, of which each line may become a row."""
    return member.path.suffix.lower() in _TEXT_SUFFIXES


def is_picture(place: PurePosixPath) -> bool:
    """Whether a file is a picture by its name."""
    return place.suffix.lower() in _PICTURE_SUFFIXES


def is_optional(member: SourceFile) -> bool:
    """Whether a file may be something else than questions: it lay in a folder beside them."""
    return not member.explicit and member.path.suffix.lower() in _OPTIONAL_SUFFIXES


def files_in_folder(path: Path, limits: Limits) -> Iterator[SourceFile]:
    """The files below a folder but pictures; those not wanted come without their content."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    visible = [file for file in files if _is_visible(file.relative_to(path).parts)]
    if sum(not is_picture(PurePosixPath(file)) for file in visible) > limits.files:
        raise DataError("folder-too-full", file=path.name, limit=limits.files)
    for file in visible:
        place = PurePosixPath(path.name, *map(_displayable_name, file.relative_to(path).parts))
        if is_picture(place):
            _add_picture(place, file.stat().st_size, file.read_bytes, limits)
        else:
            yield (
                _read_file(file, place, limits) if _is_supported(place) else SourceFile(place, b"")
            )


def _read_path(path: Path, limits: Limits) -> Iterator[SourceFile]:
    try:
        if path.is_dir():
            yield from files_in_folder(path, limits)
        elif not path.is_file():
            raise DataError("no-such-file", file=path.name or str(path))
        elif path.suffix.lower() == ".zip":
            yield from _unzip(path.name, path, limits)
        elif is_picture(PurePosixPath(path.name)):
            place = PurePosixPath(*map(_displayable_name, path.absolute().parts))
            _add_picture(place, path.stat().st_size, path.read_bytes, limits)
        elif _is_supported(PurePosixPath(path.name)):
            place = PurePosixPath(_displayable_name(path.name))
            yield replace(_read_file(path, place, limits), explicit=True)
        else:
            raise DataError("unknown-kind", file=path.name, kinds=sentence("error.kinds"))
    except OSError as error:
        raise DataError("file-unreadable", file=path.name, reason=str(error.strerror)) from error


def _with_parent_folder(member: SourceFile, path: Path) -> SourceFile:
    """One of several files with the same name; their folders may be the only difference."""
    above = _displayable_name(path.resolve().parent.name)
    # The store of uploads numbers those whose folder it does not know.
    if not member.explicit or above.isdecimal():
        return member
    return replace(member, path=PurePosixPath(above, member.name))


def _displayable_name(name: str) -> str:
    # A file system may hold names that are no text; a fault must be able to show them.
    return os.fsencode(name).decode("utf-8", "replace")


def _read_file(path: Path, place: PurePosixPath, limits: Limits) -> SourceFile:
    """A file; of a text, what remains without its pictures."""
    size, suffix = path.stat().st_size, path.suffix.lower()
    _check_size(path.name, size, limits.upload)
    with path.open("rb") as opened:
        if suffix in _STORED_SUFFIXES and size > _LARGE_BYTES:
            return SourceFile(place, opened.read(_PIECE_BYTES), stored=path)
        if suffix not in _TEXT_SUFFIXES:
            return SourceFile(place, opened.read())
        pieces = take_pictures(iter(partial(opened.read, _PIECE_BYTES), b""))
        return SourceFile(place, _joined(path.name, pieces, limits.bytes))


def _joined(name: str, pieces: Iterable[bytes], limit: int) -> bytes:
    content = io.BytesIO()  # gives its bytes away without a copy
    size = 0
    for piece in pieces:
        size += len(piece)
        if size <= limit:
            content.write(piece)
    _check_size(name, size, limit)
    return content.getvalue()


def _check_size(name: str, size: int, limit: int) -> None:
    if size > limit:
        raise DataError(
            "file-too-large",
            file=name,
            size=_format_megabytes(size),
            limit=_format_megabytes(limit),
        )


def _add_picture(
    place: PurePosixPath, size: int, read: Callable[[], bytes], limits: Limits
) -> None:
    """Keep a picture file of `size` bytes; one that is too large is not read.

    Raises `DataError` for more pictures than there may be.
    """
    folder = current_folder()
    if len(folder.files) == limits.pictures:
        raise DataError("too-many-pictures", file=place.name, limit=limits.pictures)
    if size > MAX_PICTURE_BYTES:
        folder.refuse_large_file(place)
    else:
        folder.add_file(place, read())


def _unzip(name: str, path: Path, limits: Limits) -> Iterator[SourceFile]:
    _check_size(name, path.stat().st_size, limits.upload)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            check_archive(name, infos, limits)
            for info in infos:
                place = PurePosixPath(_entry_name(info))
                if not _is_visible(place.parts):
                    continue
                if is_picture(place):
                    _add_picture(place, info.file_size, partial(read_all, archive, info), limits)
                else:
                    yield SourceFile(place, _unpacked(archive, info, place, limits))
    except ARCHIVE_ERRORS as error:
        raise DataError("zip-damaged", file=name, reason=str(error)) from error


def _unpacked(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: PurePosixPath, limits: Limits
) -> bytes:
    """An entry, of a text what remains without its pictures; nothing of one that is not wanted."""
    if not _is_supported(place):
        return b""
    if place.suffix.lower() not in _TEXT_SUFFIXES:
        return read_all(archive, info)
    return _joined(place.name, take_pictures(read_chunks(archive, info)), limits.bytes)


def check_archive(name: str, infos: Sequence[zipfile.ZipInfo], limits: Limits) -> None:
    """Raise `DataError` for an archive that is locked, too big, or points out of itself.

    Pictures, and tables that may have some in them, are counted apart.
    """
    sizes: Counter[str] = Counter()
    n = 0
    for info in infos:
        suffix = PurePosixPath(info.filename).suffix.lower()
        with_pictures = suffix in (*_PICTURE_SUFFIXES, *_TABLE_SUFFIXES)
        sizes["pictures" if with_pictures else "others"] += info.file_size
        n += suffix not in _PICTURE_SUFFIXES
    if n > limits.files:
        raise DataError("zip-too-full", file=name, n=n, limit=limits.files)
    for size, limit in (
        (sizes["pictures"], limits.unpacked_pictures),
        (sizes["others"], limits.unpacked),
    ):
        if size > limit:
            raise DataError(
                "zip-too-large",
                file=name,
                size=_format_megabytes(size),
                limit=_format_megabytes(limit),
            )
    for info in infos:
        place = PurePosixPath(_entry_name(info))
        if place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
            raise DataError("zip-outside", file=name, place=str(place))
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise DataError("zip-locked", file=name)
        # Of pictures no more is read than one may have.
        is_bomb = info.file_size > max(_MIN_BOMB_BYTES, limits.ratio * info.compress_size)
        if is_bomb and not is_picture(place):
            raise DataError("zip-bomb", file=name, place=str(place), ratio=limits.ratio)


def _entry_name(info: zipfile.ZipInfo) -> str:
    # Chinese Windows writes names in its own encoding and states none; Python takes cp437.
    name = info.filename.replace("\\", "/")
    if info.flag_bits & _UTF8_NAME_FLAG:
        return name
    for encoding in ("utf-8", "gb18030"):
        try:
            return name.encode("cp437").decode(encoding)
        except UnicodeError:
            continue
    return name


def _is_supported(place: PurePosixPath) -> bool:
    return place.suffix.lower() in (*_TABLE_SUFFIXES, *_PLUGIN_SUFFIXES)


def _is_visible(parts: Sequence[str]) -> bool:
    return not any(part.startswith((".", "__MACOSX")) for part in parts)


def _format_megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB"


def read_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of an entry, in pieces of at most 64 kB.

    Raises:
        zipfile.BadZipFile: it has another size than it declares, or another checksum; whatever
            else the zip module raises on a damaged archive.
    """
    remaining = info.file_size
    if info.compress_type == zipfile.ZIP_BZIP2:
        pieces = _read_unbounded(archive, info, bz2.BZ2Decompressor())
    elif info.compress_type == _ZIP_ZSTANDARD:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdDecompressor
        else:
            from backports.zstd import ZstdDecompressor
        pieces = _read_unbounded(archive, info, ZstdDecompressor())
    else:
        pieces = _read_with_zipfile(archive, info)
    with closing(pieces):
        for piece in pieces:
            remaining -= len(piece)
            if remaining < 0:
                break
            yield piece
    if remaining:
        raise zipfile.BadZipFile(f"{info.filename} has not the size it declares")


def read_all(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The whole content of an entry; raises as `read_chunks`."""
    content = io.BytesIO()  # gives its bytes away without a copy
    for piece in read_chunks(archive, info):
        content.write(piece)
    return content.getvalue()


def _read_with_zipfile(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Generator[bytes]:
    """What an entry holds, up to one byte more than it declares."""
    size = _LZMA_CHUNK_BYTES if info.compress_type == zipfile.ZIP_LZMA else _CHUNK_BYTES
    # The zip module stops at the declared size and does not report whether there is more.
    longer = copy.copy(info)
    longer.file_size += 1
    with archive.open(longer) as entry:
        while piece := entry.read(size):
            yield piece


def _read_unbounded(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    unpacker: "bz2.BZ2Decompressor | ZstdDecompressor",
) -> Generator[bytes]:
    """What an entry holds, all of it: a packed byte of bzip2 may make a million."""
    packed = copy.copy(info)
    packed.compress_type = zipfile.ZIP_STORED
    packed.file_size = info.compress_size
    del packed.CRC  # that of the unpacked bytes
    checksum = 0
    with archive.open(packed) as entry:
        while not unpacker.eof:
            given = entry.read(_CHUNK_BYTES) if unpacker.needs_input else b""
            if unpacker.needs_input and not given:
                raise EOFError(f"{info.filename} breaks off")
            piece = unpacker.decompress(given, _CHUNK_BYTES)
            checksum = zlib.crc32(piece, checksum)
            yield piece
    if checksum != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} has another checksum than it declares")
