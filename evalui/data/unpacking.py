"""Entries of an archive, read in pieces and no further than the size that they declare.

What an archive says of itself may be a lie: two megabytes can unpack to two gigabytes while they
declare ten bytes, and the memory is gone before the checksum is looked at.
"""

import copy
import io
import zipfile
from collections.abc import Iterable, Iterator

_PIECE = 2**16  # bytes
# The zip module unpacks as many packed bytes as are wanted at once, except for deflated entries,
# where it stops at the number of unpacked ones.
_PIECE_OF_OTHERS = 2**12
_EXACT = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LONGEST_TAG = 2**10  # bytes of a tag in XML that are kept together


def pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of an entry, in pieces of at most 64 kB.

    Raises:
        zipfile.BadZipFile: it has another size than it declares, or another checksum; whatever
            else the zip module raises on a damaged archive.
    """
    size = _PIECE if info.compress_type in _EXACT else _PIECE_OF_OTHERS
    # The zip module stops at the declared size and does not tell whether there is more.
    longer = copy.copy(info)
    longer.file_size += 1
    left = info.file_size
    with archive.open(longer) as entry:
        while piece := entry.read(size):
            left -= len(piece)
            if left < 0:
                break
            yield piece
    if left:
        raise zipfile.BadZipFile(f"{info.filename} has not the size it declares")


def content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The whole content of an entry; raises as `pieces`."""
    whole = io.BytesIO()  # gives its bytes away without a copy
    for piece in pieces(archive, info):
        whole.write(piece)
    return whole.getvalue()


def tags(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes of XML cut so that no tag is in two pieces, unless it is longer than 1 kB."""
    left = b""
    for part in parts:
        piece = left + part
        at = piece.rfind(b"<", -_LONGEST_TAG)
        at = len(piece) if at < 0 else at
        left = piece[at:]
        yield piece[:at]
    yield left
