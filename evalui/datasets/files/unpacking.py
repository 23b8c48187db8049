"""Entries of an archive, read in pieces and no further than the size that they declare.

What an archive says of itself may be a lie: two megabytes can unpack to two gigabytes while they
declare ten bytes, and the memory is gone before the checksum is looked at.
"""

import bz2
import copy
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator

_CHUNK_BYTES = 2**16  # bytes
# The zip module stops at the number of unpacked bytes for stored and deflated entries only. Of LZMA
# it unpacks as many packed bytes as are wanted at once, and one of them makes 7,000 at most.
_LZMA_CHUNK_BYTES = 2**12
_MAX_TAG_BYTES = 2**10  # bytes of a tag in XML that are kept together


def read_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of an entry, in pieces of at most 64 kB.

    Raises:
        zipfile.BadZipFile: it has another size than it declares, or another checksum; whatever
            else the zip module raises on a damaged archive.
    """
    left = info.file_size
    unpacked = _read_bzip2 if info.compress_type == zipfile.ZIP_BZIP2 else _read_with_zipfile
    for piece in unpacked(archive, info):
        left -= len(piece)
        if left < 0:
            break
        yield piece
    if left:
        raise zipfile.BadZipFile(f"{info.filename} has not the size it declares")


def read_all(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The whole content of an entry; raises as `read_chunks`."""
    whole = io.BytesIO()  # gives its bytes away without a copy
    for piece in read_chunks(archive, info):
        whole.write(piece)
    return whole.getvalue()


def split_between_tags(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes of XML cut so that no tag is in two pieces, unless it is longer than 1 kB."""
    left = b""
    for part in parts:
        piece = left + part
        at = piece.rfind(b"<", -_MAX_TAG_BYTES)
        at = len(piece) if at < 0 else at
        left = piece[at:]
        yield piece[:at]
    yield left


def _read_with_zipfile(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """What an entry holds, up to one byte more than it declares."""
    size = _LZMA_CHUNK_BYTES if info.compress_type == zipfile.ZIP_LZMA else _CHUNK_BYTES
    # The zip module stops at the declared size and does not tell whether there is more.
    longer = copy.copy(info)
    longer.file_size += 1
    with archive.open(longer) as entry:
        while piece := entry.read(size):
            yield piece


def _read_bzip2(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """What an entry holds, all of it: a packed byte of bzip2 may make a million."""
    packed = copy.copy(info)
    packed.compress_type = zipfile.ZIP_STORED
    packed.file_size = info.compress_size
    del packed.CRC  # that of the unpacked bytes
    unpacker, checksum = bz2.BZ2Decompressor(), 0
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
