"""Charts as PNG files drawn by a browser: the Plotly figures of pages, light, under their titles.

kaleido (the extra "pictures") starts one Chrome or Chromium for all of them, without a window. The
script of Plotly is the one in the package, and MathJax is left out: nothing is read from a network.
"""

import logging
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evalui.report.charts.figures import PAPER_COLOURS, plotly_figure
from evalui.report.charts.kinds import Chart
from evalui.report.charts.theme import browser_text_width, wrap_text
from evalui.shipped_files import ASSETS

_LOG = logging.getLogger(__name__)
_MIN_WIDE = 560  # pixels of any picture
_EDGE = 12  # pixels around everything
_TITLE, _SUBTITLE = 24, 18  # pixels of a line
_SCALE = 2  # pixels of a picture for one of a page
_LONGEST_S = 60  # for one figure


@dataclass(frozen=True, slots=True)
class TitledChart:
    """A chart with what stands above it."""

    chart: Chart
    title: str = ""
    subtitle: str = ""


def draw_by_browser(charts: Mapping[str, TitledChart]) -> dict[str, bytes]:
    """A PNG for each chart, by the same keys; without those that no browser could draw.

    kaleido reads in `BROWSER_PATH` which program to start; "none" asks for no browser.
    """
    is_wanted = os.environ.get("BROWSER_PATH") != "none"
    if not charts or not is_wanted or find_spec("kaleido") is None:
        return {}
    with tempfile.TemporaryDirectory() as name:
        paths = {key: Path(name) / f"{place}.png" for place, key in enumerate(charts)}
        figures = [_order(picture(each), paths[key]) for key, each in charts.items()]
        if problem := _draw(figures):
            _LOG.warning("Pictures are drawn without a browser: %s", problem)
        return {key: path.read_bytes() for key, path in paths.items() if path.exists()}


def picture(titled: TitledChart) -> dict[str, Any]:
    """The figure of a page with title and subtitle above it, as JSON has it."""
    drawn: Any = plotly_figure(titled.chart)
    figure: dict[str, Any] = drawn.to_dict()
    layout = figure["layout"]
    width = max(_MIN_WIDE, layout["width"])
    titles, lines = _wrapped(titled.title, width, 16), _wrapped(titled.subtitle, width, 12)
    below_titles = _EDGE + _TITLE * len(titles)
    above = below_titles + _SUBTITLE * len(lines)
    faint = {"size": 12, "color": PAPER_COLOURS.faint}
    headings = (
        _text(titles, {"size": 16, "weight": 600}, above - _EDGE),
        _text(lines, faint, above - below_titles),
    )
    written = [each for each in headings if each["text"]]
    figure["layout"] = layout | {
        "margin": layout["margin"] | {"t": above, "r": width - layout["width"]},
        "width": width,
        "height": layout["height"] + above,
        "font": layout["font"] | {"family": _font()},
        "annotations": [*layout.get("annotations", ()), *written],
    }
    return figure


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines = wrap_text(text, width - 2 * _EDGE, size=size, width=browser_text_width)
    return [line for line in lines if line]


def _text(lines: list[str], font: dict[str, Any], rise: float) -> dict[str, Any]:
    """Lines above the plot, their upper end `rise` pixels above it."""
    across = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": _EDGE, "align": "left"}
    up = {"yref": "paper", "y": 1, "yanchor": "top", "yshift": rise}
    text = "<br>".join(map(escape, lines))
    return {"text": text, "font": font, "showarrow": False, **across, **up}


def _order(figure: dict[str, Any], path: Path) -> dict[str, Any]:
    size = {name: figure["layout"][name] for name in ("width", "height")}
    return {"fig": figure, "path": path, "opts": {"format": "png", "scale": _SCALE, **size}}


def _draw(orders: list[dict[str, Any]]) -> str:
    """Write the files; why not all of them, "" if none is missing."""
    import kaleido  # no page needs it
    from choreographer.errors import ChromeNotFoundError, DevtoolsProtocolError
    from kaleido.errors import KaleidoError

    options = {"mathjax": False, "timeout": _LONGEST_S}
    try:
        failed = kaleido.write_fig_from_object_sync(orders, kopts=options)
    except ChromeNotFoundError:
        return "kaleido finds no Chrome and no Chromium"
    # Whatever keeps a browser from starting: its program, its libraries, the machine.
    except (OSError, RuntimeError, KaleidoError, DevtoolsProtocolError) as error:
        said = str(error) if isinstance(error, OSError) else " ".join(map(str, error.args))
        return f"{type(error).__name__}: {said}"
    return f"{len(failed)} of {len(orders)} failed, {failed[0]}" if failed else ""


@cache
def _font() -> str:
    """The fonts of a page."""
    tokens = (ASSETS / "css" / "tokens.css").read_text(encoding="utf-8")
    found = re.search(r"--face:\s*([^;]+);", tokens)
    assert found, "every page has it"
    return " ".join(found[1].split())
