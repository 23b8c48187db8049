"""Pictures in questions: in a text stands a mark of each, and its bytes stand elsewhere, once.

A mark is `<picture:ID>`, where ID is the beginning of the SHA-256 of the file as it came. So a text
with pictures is a text: digests, keys of kept replies, duplicates and templates know them by it.
"""

import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

MediaType = Literal["image/png", "image/jpeg", "image/webp"]

# Ends the name of the folder beside an upload that has the pictures that were found in it. They are
# found again where it is gone.
FOUND_IN_UPLOAD = ".pictures"
_ID_DIGITS = 32  # of hexadecimal: 128 bits
_MARK = re.compile(rf"<picture:([0-9a-f]{{{_ID_DIGITS}}})>")
_MARKS_OR_LINES = re.compile(rf"(?m)^(?:{_MARK.pattern})+\n|{_MARK.pattern}")
_BEGINNINGS: Mapping[bytes, MediaType] = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
}
_JPEG_QUALITY = 95  # of a picture that is made smaller


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of a picture in a text."""

    id: str

    def __str__(self) -> str:
        """The mark as it stands in the text."""
        return f"<picture:{self.id}>"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as models are sent it: `body` is a PNG, JPEG or WebP file of one upright frame."""

    id: str
    body: bytes = field(repr=False)

    @property
    def media_type(self) -> MediaType:
        """What kind of file it is, by its first bytes; raises `ValueError` for others."""
        for begin, kind in _BEGINNINGS.items():
            if self.body.startswith(begin):
                return kind
        raise ValueError("no PNG, JPEG or WebP file")


def mark_of(original: bytes) -> Mark:
    """The mark of a picture, by the bytes of its file as it came."""
    return Mark(hashlib.sha256(original).hexdigest()[:_ID_DIGITS])


def parts(text: str) -> tuple[str | Mark, ...]:
    """A text as the texts and marks that it consists of, in order; none is empty."""
    pieces = _MARK.split(text)
    return tuple(Mark(piece) if at % 2 else piece for at, piece in enumerate(pieces) if piece)


def mark_at(text: str, place: int) -> Mark | None:
    """The mark that begins at a place of a text, None if none does."""
    found = _MARK.match(text, place)
    return Mark(found[1]) if found else None


def ids(texts: Iterable[str]) -> tuple[str, ...]:
    """The pictures of some texts, each once, in order."""
    marked = (text for text in texts if has_marks(text))
    return tuple(dict.fromkeys(id_ for text in marked for id_ in _MARK.findall(text)))


def cut(text: str, length: int) -> str:
    """The beginning of a text, at most so many characters, without half a mark at its end."""
    kept = ""
    for part in parts(text):
        piece = str(part)
        if len(kept) + len(piece) > length:
            return kept if isinstance(part, Mark) else kept + piece[: length - len(kept)]
        kept += piece
    return kept


def without(text: str) -> str:
    """The text without its marks, nor lines that have nothing else."""
    return _MARKS_OR_LINES.sub("", text) if has_marks(text) else text


def has_marks(text: str) -> bool:
    """Whether there is a picture in the text."""
    return "<picture:" in text and bool(_MARK.search(text))


def fitted(picture: Picture, side: int) -> Picture:
    """The picture, made smaller so that its longer side has at most so many pixels."""
    from PIL import Image

    with Image.open(io.BytesIO(picture.body)) as image:
        if max(image.size) <= side:
            return picture
        smooth = image.convert("RGBA" if image.has_transparency_data else "RGB")
        smooth.thumbnail((side, side), Image.Resampling.LANCZOS)
        smaller = io.BytesIO()
        smooth.save(smaller, format=image.format, quality=_JPEG_QUALITY)
    return Picture(picture.id, smaller.getvalue())
