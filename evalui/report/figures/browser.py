"""Figures as PNG files drawn by a browser, light, under their titles.

kaleido (the extra "pictures") starts one Chrome or Chromium for all of them, without a window. The
script of Plotly is the one in the package, and MathJax is left out: nothing is read from a network.
"""

import logging
import os
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evalui.report.figures.base import Part
from evalui.shipped_files import ASSETS

_LOG = logging.getLogger(__name__)
_SCALE = 2  # pixels of a picture for one of a page
_LONGEST_S = 60  # for one figure


def draw_by_browser(figures: Mapping[str, Part]) -> dict[str, bytes]:
    """A PNG for each figure on paper, by the same keys; without those that no browser could draw.

    kaleido reads in `BROWSER_PATH` which program to start; "none" asks for no browser.
    """
    is_wanted = os.environ.get("BROWSER_PATH") != "none"
    if not figures or not is_wanted or find_spec("kaleido") is None:
        return {}
    with tempfile.TemporaryDirectory() as name:
        paths = {key: Path(name) / f"{place}.png" for place, key in enumerate(figures)}
        orders = [_order(each, paths[key]) for key, each in figures.items()]
        if problem := _draw(orders):
            _LOG.warning("Pictures are drawn without a browser: %s", problem)
        return {key: path.read_bytes() for key, path in paths.items() if path.exists()}


def _order(figure: Part, path: Path) -> dict[str, Any]:
    layout = figure["layout"]
    drawn = {**figure, "layout": {**layout, "font": {**layout["font"], "family": _font()}}}
    size = {name: layout[name] for name in ("width", "height")}
    return {"fig": drawn, "path": path, "opts": {"format": "png", "scale": _SCALE, **size}}


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
