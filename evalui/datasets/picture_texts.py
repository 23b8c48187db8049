"""Pictures that stand in a text as base64 are taken out of it, piece by piece, before it is parsed.

In their place stand their marks, so that a table with a gigabyte of pictures is a table of texts. A
run of base64 counts if a data URI says that it is an image, or if it begins as the files of images
do. Of a picture that cannot be used the mark stays too, see `PictureFolder.refused`.
"""

import binascii
import re
from collections.abc import Iterable, Iterator

from evalui.datasets.picture_files import MAX_PICTURE_BYTES, current_folder

# How files of PNG, JPEG, GIF, WebP, TIFF, SVG, BMP and HEIC begin in base64.
_PLAIN_SIGNATURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "PHN2Zy")
_PATTERNS = (r"\\/9j\\/", "Qk[0-3][A-Za-z0-9+/]{5}AAAAA", "AAAA[A-Za-z0-9+/]{2}Z0eXB")
_MIN_CHARS = 80  # of base64 behind a signature; less may be a word or a part of an address
_MIN_CHARS_OF_URI = 16
_START = re.compile(
    (
        r"data:image\\?/[\w.+-]+(?:;[\w.=-]+)*;base64,"
        rf"|(?<![A-Za-z0-9+/=\\])(?={'|'.join((*_PLAIN_SIGNATURES, *_PATTERNS))})"
    ).encode()
)
# One line, or lines of one of the lengths that programs give them; as JSON writes both, too.
_RUN = re.compile(
    rb"(?:(?:[A-Za-z0-9+/]{76}(?:\r?\n|\\r\\n|\\n))+|(?:[A-Za-z0-9+/]{64}(?:\r?\n|\\r\\n|\\n))+)?"
    rb"(?:[A-Za-z0-9+/]++|\\/)*+={0,2}"
)
_ESCAPES = re.compile(rb"\\r|\\n|\\(?=/)")
# One of these stands in every text with a picture; they are looked for faster than any pattern.
_SIGNS = (";base64,", *_PLAIN_SIGNATURES, r"9j\/", "AAAAA", "Z0eXB")
_SIGN_BYTES = tuple(sign.encode() for sign in _SIGNS)
_PIECE = 2**20  # bytes that are looked at together
_OVERLAP = 200  # bytes in which a picture may begin without being known as one
_MAX_RUN = MAX_PICTURE_BYTES * 3 // 2  # bytes of base64, of more than the largest picture


def take_pictures(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A text of which the pictures are kept in the current folder, with their marks."""
    source = iter(pieces)
    buffer = b""
    while True:
        # As much again as is left, so that a long run is not looked at many times.
        more = _read(source, max(_PIECE, len(buffer)))
        buffer += more
        taken, done = _take_from(buffer, is_last=not more)
        yield taken
        if not more:
            return
        buffer = buffer[done : done + _MAX_RUN]  # what is longer is one run, and too large


def take_from_text(text: str) -> str:
    """The same for a text that is at hand."""
    if not any(sign in text for sign in _SIGNS):
        return text
    taken = take_pictures((text.encode("utf-8", "surrogatepass"),))
    return b"".join(taken).decode("utf-8", "surrogatepass")


def _read(source: Iterator[bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := next(source, b"")):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _take_from(buffer: bytes, *, is_last: bool) -> tuple[bytes, int]:
    """What can be decided of a buffer, and how many of its bytes that is."""
    known = len(buffer) if is_last else max(len(buffer) - _OVERLAP, 0)
    if not any(sign in buffer for sign in _SIGN_BYTES):
        return buffer[:known], known
    taken: list[bytes] = []
    at = 0
    while (start := _START.search(buffer, at)) and start.start() < known:
        run = _RUN.match(buffer, start.end())
        assert run, "it matches nothing at least"
        if run.end() == len(buffer) and not is_last:
            known = start.start()
            break
        least = _MIN_CHARS_OF_URI if start[0] else _MIN_CHARS
        if len(run[0]) >= least:
            taken += (buffer[at : start.start()], _mark(run[0]))
        else:
            taken.append(buffer[at : run.end()])
        at = run.end()
        known = max(known, at)
    taken.append(buffer[at:known])
    return b"".join(taken), known


def _mark(run: bytes) -> bytes:
    """The mark of a picture, and the line breaks of its text, so that lines keep their numbers."""
    letters = _ESCAPES.sub(b"", run) if b"\\" in run else run
    letters = letters.translate(None, b"\r\n=")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    original = binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
    return str(current_folder().mark(original)).encode() + b"\n" * run.count(b"\n")
