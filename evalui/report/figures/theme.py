"""How charts look, once for the page and for pictures: colours, shapes and fonts."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, Literal

# Okabe and Ito's palette, which the colour-blind can tell apart, in the order of the run.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SYMBOLS = ("circle", "square", "triangle-up", "pentagon", "star", "hexagon")
# Matplotlib's names of the shapes.
MARKERS: Mapping[str, str] = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "pentagon": "p",
    "star": "*",
    "hexagon": "h",
    "diamond": "D",
}
# The colours of a picture: its page, its letters, the less important of them, and its lines.
SURFACE, INK, FAINT, GRID = "#FFFFFF", "#1A1D1F", "#666C71", "#E2E2DC"
# Reaches 3:1 on the light and on the dark surface.
NEUTRAL = "#80868B"

Scale = Literal["share", "loss", "surplus", "wins", "grey"]
# Stops of each scale: part of its limits, colour, opacity over the surface. One hue, or blue and
# orange over nothing; at these strengths the ink keeps 4.5:1 in the light and the dark theme.
_BLUE, _ORANGE = COLOURS[:2]
SCALES: Mapping[Scale, Sequence[tuple[float, str, float]]] = {
    "share": ((0.0, _BLUE, 0.06), (1.0, _BLUE, 0.8)),
    "loss": ((0.0, _ORANGE, 0.04), (1.0, _ORANGE, 0.66)),
    "surplus": (
        (0.0, _BLUE, 0.66),
        (0.499, _BLUE, 0.02),
        (0.501, _ORANGE, 0.02),
        (1.0, _ORANGE, 0.66),
    ),
    "wins": (
        (0.0, _ORANGE, 0.66),
        (0.499, _ORANGE, 0.02),
        (0.501, _BLUE, 0.02),
        (1.0, _BLUE, 0.66),
    ),
    "grey": ((0.0, NEUTRAL, 0.15), (1.0, NEUTRAL, 0.15)),
}

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
BOLD = 1.1  # of the width of a text, if it is bold
_LATIN = "DejaVu Sans"  # comes with matplotlib
_LATIN_WIDTH = 0.56  # of a Latin letter, as a part of the size
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]"
)


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How a model is drawn in every chart of a run."""

    colour: str
    symbol: str = "circle"


def series_styles(models: Sequence[str], baselines: Collection[str] = ()) -> dict[str, SeriesStyle]:
    """A colour and a shape per model, in the order of the run; scripted ones are grey diamonds."""
    real = [model for model in dict.fromkeys(models) if model not in baselines]
    drawn = {model: series_style(place) for place, model in enumerate(real)}
    return drawn | dict.fromkeys(baselines, SeriesStyle(NEUTRAL, "diamond"))


def series_style(place: int) -> SeriesStyle:
    """Colour and shape of the model at `place` (from 0) in its run."""
    # After six the shapes move on by one against the colours: the pair stays unique.
    shape = (place + place // len(COLOURS)) % len(SYMBOLS)
    return SeriesStyle(COLOURS[place % len(COLOURS)], SYMBOLS[shape])


def transparent(colour: str, opacity: float) -> str:
    """A colour "#RRGGBB" of which the surface shows through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


# ---------------------------------------------------------------- fonts of pictures


def drawing_problem(texts: Iterable[str]) -> str:
    """The key of the sentence on why no picture of these texts can be drawn, "" if all can."""
    if not matplotlib_installed():
        return "pictures-need-matplotlib"
    return "pictures-need-font" if lacks_cjk_glyphs(texts) else ""


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
    """About how many pixels wide a text is on a page, in the fonts of its reader."""
    return size * sum(1.0 if _WIDE.match(letter) else _LATIN_WIDTH for letter in text)


def truncate_text(text: str, max_width: float) -> str:
    """As much of a bold text as fits into `max_width` pixels."""
    kept = text
    while len(kept) > 1 and BOLD * text_width(kept) > max_width:
        kept = kept.removesuffix("…")[:-1] + "…"
    return kept


def wrap_text(text: str, max_width: float, *, size: float = 13) -> list[str]:
    """The text in lines of at most `max_width` pixels, broken at spaces and between Chinese
    letters.
    """
    lines = [""]
    for piece in re.findall(
        rf"{_WIDE.pattern}[，。；：、）”]?|[ \n]+|[^ \n\u2e80-\u9fff\uff00-\uff60]+", text
    ):
        if lines[-1] and text_width(lines[-1] + piece.rstrip(), size=size) > max_width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


@lru_cache(maxsize=10_000)
def fonts_for(text: str) -> list[str]:
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
