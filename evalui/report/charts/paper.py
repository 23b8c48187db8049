"""A sheet to draw on in pixels, and the fonts it needs: what matplotlib does for our pictures.

Everything is placed by hand, so that the same drawing gives the same bytes. Only matplotlib's
object interface is used: pyplot and rcParams are shared by all threads of a server.
"""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

_DPI = 150
_INCH, _POINT = 96, 0.75  # pixels of an inch, points of a pixel
# Fonts that hold Chinese and Latin letters, the freely available first.
_CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "Noto Sans CJK JP",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
    "Droid Sans Fallback",
)
_LATIN = "DejaVu Sans"  # comes with matplotlib
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]"
)
_SHAPES = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "pentagon": "p",
    "star": "*",
    "hexagon": "h",
    "diamond": "D",
}


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a sheet. `band` fills what holds no figure."""

    surface: str
    ink: str
    faint: str
    grid: str
    band: str


LIGHT = Theme("#FFFFFF", "#1A1D1F", "#666C71", "#E2E2DC", "#EDEDE8")
DARK = Theme("#1A1D20", "#ECEDEE", "#949BA1", "#30353A", "#24282C")


class Canvas:
    """A sheet of `text_width` times `height` pixels; (0, 0) is its upper left corner."""

    def __init__(self, width: float, height: float, theme: Theme) -> None:
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.theme = theme
        size = (width / _INCH, height / _INCH)
        # Without axes, which would take most of the time and serve nothing here.
        self._figure: Any = Figure(figsize=size, dpi=_DPI, facecolor=theme.surface)
        dots = _DPI / _INCH
        self._place = Affine2D().scale(dots, -dots).translate(0, height * dots)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        bold: bool = False,
        faint: bool = False,
        align: str = "left",
    ) -> None:
        """A line of text whose middle is at height `y`; what no font has becomes "?"."""
        shown = printable_text(text)
        self._figure.text(
            x,
            y,
            shown,
            fontsize=size * _POINT,
            family=_fonts_for(shown),
            weight="bold" if bold else "normal",
            color=self.theme.faint if faint else self.theme.ink,
            horizontalalignment=align,
            verticalalignment="center_baseline",
            parse_math=False,  # a name with dollars is no formula
            transform=self._place,
        )

    def rectangle(
        self, x: float, y: float, size: tuple[float, float], colour: str, *, opacity: float = 1.0
    ) -> None:
        """A filled rectangle of `size` (width, height) from its upper left corner."""
        from matplotlib.patches import Rectangle

        wide, high = size
        shape = Rectangle((x, y), wide, high, facecolor=colour, alpha=opacity, linewidth=0)
        shape.set_transform(self._place)
        self._figure.add_artist(shape)

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        colour: str,
        *,
        thickness: float = 1.0,
        dotted: bool = False,
    ) -> None:
        """A straight line."""
        from matplotlib.lines import Line2D

        stroke = Line2D(
            *zip(start, end, strict=True),
            color=colour,
            linewidth=thickness * _POINT,
            linestyle=":" if dotted else "-",
            solid_capstyle="butt",
            transform=self._place,
        )
        self._figure.add_artist(stroke)

    def marker(self, x: float, y: float, symbol: str, colour: str, *, size: float = 12) -> None:
        """A model's mark; `symbol` is Plotly's name of the shape."""
        from matplotlib.lines import Line2D

        shape = Line2D(
            [x],
            [y],
            marker=_SHAPES[symbol],
            markersize=size * _POINT,
            color=colour,
            markeredgewidth=0,
            linestyle="none",
            transform=self._place,
        )
        self._figure.add_artist(shape)

    def png(self) -> bytes:
        """The sheet at 150 dots per inch."""
        stream = io.BytesIO()
        # Without the version of matplotlib, so that the bytes depend on the drawing alone.
        self._figure.savefig(stream, format="png", dpi=_DPI, metadata={"Software": None})
        return stream.getvalue()


def matplotlib_installed() -> bool:
    """Whether pictures can be drawn at all; matplotlib comes with the extra "figures"."""
    return find_spec("matplotlib") is not None


@cache
def font_families() -> tuple[str, ...]:
    """The fonts to draw with: one with Chinese letters if there is one, then matplotlib's own."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return (*[name for name in _CHINESE if name in known][:1], _LATIN)


def lacks_cjk_glyphs(texts: Iterable[str]) -> bool:
    """Whether a text has Chinese (or Japanese, or Korean) letters that no font here can draw."""
    wide = {letter for text in texts for letter in _WIDE.findall(text)}
    return any(not _has_glyph(letter) for letter in wide)


def printable_text(text: str) -> str:
    """The text on one line, with "?" for letters that no font here can draw."""
    flat = re.sub(r"\s+", " ", text).strip()
    return "".join(letter if _has_glyph(letter) else "?" for letter in flat)


def text_width(text: str, *, size: float = 13) -> float:
    """About how many pixels wide a text is."""
    latin = 0.64 if font_families() == (_LATIN,) else 0.56
    return size * sum(1.0 if _WIDE.match(letter) else latin for letter in text)


def wrap_text(text: str, max_width: float, *, size: float = 13) -> list[str]:
    """The text in lines of at most `max_width` pixels, broken at spaces and between Chinese
    letters.
    """
    lines = [""]
    for piece in re.findall(
        rf"{_WIDE.pattern}[，。；：、）”]?|\s+|[^\s\u2e80-\u9fff\uff00-\uff60]+", text
    ):
        if lines[-1] and text_width(lines[-1] + piece.rstrip(), size=size) > max_width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


@lru_cache(maxsize=10_000)
def _fonts_for(text: str) -> list[str]:
    """The one font that has all letters, which is quickest, else all fonts."""
    for face, letters in zip(font_families(), _font_charmaps(), strict=True):
        if letters.issuperset(map(ord, text)):
            return [face]
    return list(font_families())


@lru_cache(maxsize=10_000)
def _has_glyph(letter: str) -> bool:
    return any(ord(letter) in letters for letters in _font_charmaps())


@cache
def _font_charmaps() -> tuple[frozenset[int], ...]:
    from matplotlib import font_manager

    fonts: Any = font_manager  # its stubs are incomplete
    return tuple(
        frozenset(fonts.get_font(fonts.findfont(fonts.FontProperties(family=[face]))).get_charmap())
        for face in font_families()
    )
