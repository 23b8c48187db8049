"""Pictures in texts of questions: small ones in the text, each a link to the whole picture.

Without scripts the link opens it; `pictures.js` shows it above the page.
"""

import io
from collections.abc import Callable
from functools import cache, partial
from typing import Self

from PIL import Image

from evalui.app.pictures import run_picture, upload_picture
from evalui.app.service import AppService
from evalui.datasets.picture_files import SMALL_SIDE
from evalui.errors import UnknownName
from evalui.messages import Messages
from evalui.pictures import Mark, Picture, has_marks, parts
from evalui.report.html import Html
from evalui.report.words import in_words
from evalui.ui.components.format import short_id
from evalui.ui.components.templates import macro

_TEMPLATE = "texts.html"
_SMALLER_SIDE = 160


class Pictures:
    """The pictures of one question.

    `address` leads to them from a page, `read` gives a small one or raises `UnknownName`.
    """

    def __init__(
        self, t: Messages, address: str, sample_id: str, read: Callable[[str], Picture]
    ) -> None:
        self._t = t
        self._address = address
        self._alt = t("picture.of", id=short_id(sample_id))
        self._size = cache(partial(_size, read))

    @classmethod
    def of_run(cls, t: Messages, service: AppService, run_id: str, sample_id: str) -> Self:
        """Those of a question of a run, for a page of a person who is shown it."""
        read = partial(run_picture, service, run_id, small=True)
        return cls(t, run_address(run_id), sample_id, read)

    @classmethod
    def of_upload(cls, t: Messages, service: AppService, upload: str, sample_id: str) -> Self:
        """Those of a question of an upload of the person's own, or of a part of one."""
        read = partial(upload_picture, service, upload, small=True)
        return cls(t, f"../pictures/upload/{upload}", sample_id, read)

    def shown(self, text: str) -> Html | str:
        """A text with its pictures; one without any stays as it is."""
        return self._shown(text, SMALL_SIDE)

    def smaller(self, text: str) -> Html | str:
        """The same where there is less room."""
        return self._shown(text, _SMALLER_SIDE)

    def figure(self, mark: Mark, side: int = SMALL_SIDE) -> Html | str:
        """One picture; in words if it is not there any more."""
        size = self._size(mark.id)
        if size is None:
            return self._t("picture.word")
        scale = min(1.0, side / max(size))
        width, height = (max(1, round(each * scale)) for each in size)
        href = f"{self._address}/{mark.id}"
        return macro(_TEMPLATE, "picture", href, self._alt, width, height)

    def _shown(self, text: str, side: int) -> Html | str:
        if not has_marks(text):
            return text
        pieces = [
            self.figure(part, side) if isinstance(part, Mark) else part for part in parts(text)
        ]
        return macro(_TEMPLATE, "pieces", pieces)


def run_address(run_id: str) -> str:
    """What the addresses of pictures of a run begin with, on a page."""
    return f"../pictures/{run_id}"


def list_line(t: Messages, address: str, text: str) -> Html:
    """A question in a list: its first picture as a thumbnail beside it, all others in words."""
    pieces = parts(text)
    first = next((part for part in pieces if isinstance(part, Mark)), None)
    # What the thumbnail shows at the beginning needs no word, unless nothing else is there.
    rest = "".join(map(str, pieces[1:])).strip() if first and first == pieces[0] else ""
    source = f"{address}/{first.id}?small" if first else ""
    return macro(_TEMPLATE, "line", source, in_words(rest or text, t.language))


def _size(read: Callable[[str], Picture], id_: str) -> tuple[int, int] | None:
    """Width and height of a small picture, of which nothing is decoded; None if there is none."""
    try:
        picture = read(id_)
    except UnknownName:
        return None
    with Image.open(io.BytesIO(picture.body)) as image:
        return image.size
