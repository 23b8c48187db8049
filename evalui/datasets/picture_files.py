"""Pictures in files of others: each is checked, made upright, and kept once, for its mark.

Only the confined process that reads files decodes them. Of each it keeps a PNG, JPEG or WebP file
of one frame without a word on where and by whom it was taken, and a small one for pages.
"""

import io
import os
import re
import struct
from collections import defaultdict
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from evalui.errors import DataError
from evalui.messages import Sentence, sentence
from evalui.pictures import Mark, ids, mark_of

if TYPE_CHECKING:
    from PIL.Image import Image as OpenedImage

MAX_PIXELS = 50_000_000  # of one picture
MAX_PICTURE_BYTES = 20 * 2**20  # of one file as it comes
SMALL_SIDE = 320  # pixels of the longer side of a small one
_KEPT_MODES = ("RGB", "L", "RGBA", "LA", "P", "1")
_READ = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_PHOTOS = ("JPEG", "MPO")  # the latter is what many telephones write in place of the former
_BEGINNINGS = (*(b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"BM", b"II*\0", b"MM\0*"),)
# What a file may state of its colours, size and place; all else may be about people and places.
_PLAIN_INFO = frozenset(
    (
        *("jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "adobe", "adobe_transform"),
        *("progression", "progressive", "icc_profile", "gamma", "srgb", "chromaticity", "aspect"),
        *("transparency", "interlace", "loop", "background", "timestamp", "duration"),
    )
)
# The parts of the same in files that stay as they are.
_PNG_CHUNKS = frozenset(
    (
        *(b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"bKGD", b"hIST", b"pHYs"),
        *(b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB"),
    )
)
_WEBP_CHUNKS = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP"))
_START_OF_SCAN = 0xDA
# Of JPEG: frames, tables, restarts; JFIF without a small picture, colour profiles, Adobe's colours.
_JPEG_MARKERS = frozenset((*range(0xC0, 0xD0), 0xDB, 0xDC, 0xDD, _START_OF_SCAN)) - {0xC8}
_JPEG_SEGMENT = re.compile(
    rb"\xff(?:\xe0\0\x10JFIF\0|\xe2..ICC_PROFILE\0|\xee\0\x0eAdobe)", re.DOTALL
)
_BEHIND_SCAN = re.compile(rb"\xff[^\0\xd0-\xd7]", re.DOTALL)
_QUALITY = 92  # of JPEG and WebP
# What Pillow raises for words that are not as they should be.
_DAMAGES = (SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, OSError, struct.error)


class UnreadablePicture(Exception):
    """Why a picture cannot be used, as a sentence."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(reason)
        self.reason = reason


class PictureFolder:
    """Where the pictures of an upload are kept; without a `path` they are only looked at, or not
    even that if they are passed over.

    `known` are the ids of its pictures, `refused` says why others cannot be used. `files` are the
    marks of picture files by their places in the upload, `named` the places that rows name.
    """

    def __init__(self, path: Path | None, *, passes_over: bool = False) -> None:
        self.path = path
        self.passes_over = passes_over
        self.known: set[str] = set()
        self.refused: dict[str, Sentence] = {}
        self.files: dict[PurePosixPath, Mark] = {}
        self.named: set[PurePosixPath] = set()
        self._by_name: defaultdict[str, list[PurePosixPath]] = defaultdict(list)

    def add(self, original: bytes) -> Mark:
        """Keep a picture, given the bytes of its file.

        Raises:
            UnreadablePicture: it is none, damaged, or too large.
            DataError: the folder cannot take it.
        """
        mark = mark_of(original)
        if mark.id not in self.known:
            kept = self.path and self.path / f"{mark.id}.small"
            if not (self.passes_over or (kept and kept.exists())):
                body, small = normalised(original)
                if kept:
                    _write(kept.with_suffix(""), body)
                    _write(kept, small)  # the sign that both are there
            self.known.add(mark.id)
        return mark

    def mark(self, original: bytes) -> Mark:
        """The mark of a picture, which is kept if it can be used."""
        try:
            return self.add(original)
        except UnreadablePicture as unreadable:
            mark = mark_of(original)
            self.refused[mark.id] = unreadable.reason
            return mark

    def add_file(self, place: PurePosixPath, original: bytes) -> None:
        """Keep a picture file of the upload."""
        self._place(place, self.mark(original))

    def refuse_large_file(self, place: PurePosixPath) -> None:
        """Know a picture file of the upload that has too many bytes to be read."""
        mark = mark_of(str(place).encode())
        self.refused[mark.id] = too_large().reason
        self._place(place, mark)

    def check(self, *texts: str) -> None:
        """Raise `UnreadablePicture` for a mark that is not of a picture of the upload."""
        for id_ in ids(texts):
            if id_ not in self.known:
                unknown = sentence("error.picture-unknown", picture=id_[:8])
                raise UnreadablePicture(self.refused.get(id_, unknown))

    def find(self, name: str) -> Mark | None:
        """The picture file that a row names by its path, or by the end of it; None if it is not
        there, or if several are.

        Of several the one counts that is in the fewest folders.
        """
        wanted = PurePosixPath(name.replace("\\", "/"))
        parts = wanted.parts
        places = [
            place
            for place in self._by_name.get(wanted.name, ())
            if place.parts[-len(parts) :] == parts
        ]
        depth = min((len(place.parts) for place in places), default=0)
        nearest = [place for place in places if len(place.parts) == depth]
        if len({self.files[place] for place in nearest}) != 1:
            return None
        self.named.update(nearest)
        return self.files[nearest[0]]

    def _place(self, place: PurePosixPath, mark: Mark) -> None:
        self.files[place] = mark
        self._by_name[place.name].append(place)


_FOLDER: ContextVar[PictureFolder | None] = ContextVar("_FOLDER", default=None)


def open_folder(path: Path | None) -> PictureFolder:
    """Begin to read files whose pictures are kept in a folder, or looked at only."""
    folder = PictureFolder(path)
    _FOLDER.set(folder)
    return folder


def pass_over_pictures() -> None:
    """Begin to read files of which the pictures do not matter."""
    _FOLDER.set(PictureFolder(None, passes_over=True))


def current_folder() -> PictureFolder:
    """That of the files that are being read."""
    return _FOLDER.get() or open_folder(None)


def too_large() -> UnreadablePicture:
    """Why a file of more than `MAX_PICTURE_BYTES` is no picture here."""
    mb = MAX_PICTURE_BYTES // 2**20
    return UnreadablePicture(sentence("error.picture-too-large", mb=mb))


def normalised(original: bytes) -> tuple[bytes, bytes]:
    """The file to keep and the small one; raises `UnreadablePicture`."""
    from PIL import Image

    if len(original) > MAX_PICTURE_BYTES:
        raise too_large()
    try:
        image = _opened(original)
        if _is_plain(image, original):
            body, small = original, image
        else:
            small = _in_plain_colours(_upright(image))
            body = _recoded(small, str(image.format), original)
        share = min(SMALL_SIDE / max(image.size), 1)
        width, height = (max(round(side * share), 1) for side in small.size)
        small.draft(None, (width, height))  # of a JPEG file no more is decoded than this needs
        small.thumbnail((SMALL_SIDE, SMALL_SIDE), Image.Resampling.BILINEAR)
        small = _in_plain_colours(small)
        return body, _encoded(small, "PNG" if small.mode == "RGBA" else "JPEG")
    except UnreadablePicture:
        raise
    except Exception as error:  # whatever a damaged file makes a decoder raise
        raise UnreadablePicture(sentence("error.picture-damaged")) from error


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole as soon as it has its name; raises `DataError`."""
    unnamed = path.with_suffix(f".{os.getpid()}")
    try:
        unnamed.write_bytes(content)
        unnamed.replace(path)
    except OSError as error:  # the disk is full
        unnamed.unlink(missing_ok=True)
        raise DataError("pictures-not-kept", reason=str(error.strerror)) from error


def _is_plain(image: "OpenedImage", original: bytes) -> bool:
    """Whether a file can stay as it is: one frame, in colours that all read, and nothing else."""
    look = _LOOKS.get(str(image.format))
    return look is not None and image.mode in _KEPT_MODES and look(original)


def _is_plain_png(original: bytes) -> bool:
    at = 8
    while at + 12 <= len(original):
        size, name = struct.unpack_from(">I4s", original, at)
        at += 12 + size
        if name not in _PNG_CHUNKS:
            return False
        if name == b"IEND":
            return at == len(original)
    return False


def _is_plain_webp(original: bytes) -> bool:
    at = 12
    while at + 8 <= len(original):
        name, size = struct.unpack_from("<4sI", original, at)
        at += 8 + size + size % 2
        if name not in _WEBP_CHUNKS:
            return False
    return at == len(original)


def _is_plain_jpeg(original: bytes) -> bool:
    at = 2
    while at + 4 <= len(original):
        start, marker, size = struct.unpack_from(">BBH", original, at)
        is_known = marker in _JPEG_MARKERS or _JPEG_SEGMENT.match(original, at)
        if start != 0xFF or not is_known:
            return False
        at += 2 + size
        if marker == _START_OF_SCAN:
            end = _BEHIND_SCAN.search(original, at)
            at = end.start() if end else len(original)
    return original[at:] == b"\xff\xd9"


_LOOKS = {"PNG": _is_plain_png, "JPEG": _is_plain_jpeg, "WEBP": _is_plain_webp}


def _opened(original: bytes) -> "OpenedImage":
    """The picture, of which nothing is decoded yet; raises `UnreadablePicture` for a bomb."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # the limit is ours
    try:
        image = Image.open(io.BytesIO(original), formats=_READ)
    except UnidentifiedImageError as error:
        why = "damaged" if original.startswith(_BEGINNINGS) else "kind"
        raise UnreadablePicture(sentence(f"error.picture-{why}")) from error
    if image.width * image.height > MAX_PIXELS:
        million = MAX_PIXELS // 10**6
        raise UnreadablePicture(sentence("error.picture-too-many-pixels", m=million))
    return image


def _upright(image: "OpenedImage") -> "OpenedImage":
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except _DAMAGES:  # of its words: a damaged picture is found when it is decoded
        return image


def _in_plain_colours(image: "OpenedImage") -> "OpenedImage":
    """The picture in the colours that every model reads."""
    if image.mode in ("RGB", "L", "RGBA"):
        return image
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda level: level * (1 / 256)).convert("L")
    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    if image.mode in ("CMYK", "LAB", "YCbCr"):
        plain.info.pop("icc_profile", None)  # of other colours than these
    return plain


def _recoded(image: "OpenedImage", kind: str, original: bytes) -> bytes:
    """The file to keep of a picture that came as another one of some kind."""
    is_photo = kind in _PHOTOS or (kind == "WEBP" and b"VP8L" not in original)
    body = b"" if is_photo else _encoded(image, "PNG")
    if is_photo or len(body) > MAX_PICTURE_BYTES:
        body = _encoded(image, "WEBP" if image.mode == "RGBA" else "JPEG")
    if len(body) > MAX_PICTURE_BYTES:
        raise too_large()
    return body


def _encoded(image: "OpenedImage", kind: str) -> bytes:
    written = io.BytesIO()
    image.info = {name: value for name, value in image.info.items() if name in _PLAIN_INFO}
    profile = image.info.get("icc_profile") or b""  # JPEG files are written without, unless told
    image.save(written, kind, quality=_QUALITY, icc_profile=profile)
    return written.getvalue()
