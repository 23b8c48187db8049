"""Pictures by a browser: the figures of pages under their titles, and what happens without one."""

import logging
import shutil
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import plotly.graph_objects as go
import pytest
from chart_examples import drawn_heat_map, drawn_lines, drawn_panels

from evalui.report.axes import Axis
from evalui.report.blocks import Card, ChartBlock, Column, PlotCell, PlotMark, Table
from evalui.report.figures import browser
from evalui.report.figures.base import figure, on_paper, titled_figure
from evalui.report.figures.browser import draw_by_browser
from evalui.report.render import pictures as module
from evalui.report.render.pictures import pictures, titled

_AXIS = Axis(0, 100, (0, 50, 100), ("0", "50", "100 %"))
_TABLE = Table(
    (Column("Accuracy", axis=_AXIS),), ((PlotCell((PlotMark(5),)),),), file="accuracy.png"
)
_BLOCKS = (
    Card((ChartBlock("a.png", "Picks", drawn_heat_map, "How to read it"), _TABLE), "A card"),
    ChartBlock("b.png", "Lines", drawn_lines),
    ChartBlock("", "no file", drawn_lines),
)


class Kaleido:
    """In the place of kaleido: writes the files that are asked of it, but for some."""

    def __init__(self, error: Exception | None = None, missing: tuple[str, ...] = ()) -> None:
        self.error = error
        self.missing = missing
        self.calls: list[list[dict[str, Any]]] = []

    def write(self, orders: list[dict[str, Any]], **_: object) -> tuple[Exception, ...]:
        self.calls.append(orders)
        if self.error:
            raise self.error
        for order in orders:
            if order["path"].name not in self.missing:
                order["path"].write_bytes(b"by a browser")
        return tuple(RuntimeError(f"{each} broke") for each in self.missing)


@pytest.fixture
def kaleido(monkeypatch):
    """What is drawn by, put in the place of kaleido."""

    def put(**settings: Any) -> Kaleido:
        fake = Kaleido(**settings)
        one, errors = ModuleType("kaleido"), ModuleType("kaleido.errors")
        own, others = ModuleType("choreographer"), ModuleType("choreographer.errors")
        one.__dict__["write_fig_from_object_sync"] = fake.write
        errors.__dict__["KaleidoError"] = type("KaleidoError", (Exception,), {})
        others.__dict__["ChromeNotFoundError"] = NotFound
        others.__dict__["DevtoolsProtocolError"] = type("DevtoolsProtocolError", (Exception,), {})
        for name, each in (
            ("kaleido", one),
            ("kaleido.errors", errors),
            ("choreographer", own),
            ("choreographer.errors", others),
        ):
            monkeypatch.setitem(sys.modules, name, each)
        monkeypatch.setattr(browser, "find_spec", lambda _: object())
        monkeypatch.delenv("BROWSER_PATH")
        return fake

    return put


class NotFound(RuntimeError):
    """No Chrome."""


def test_a_picture_is_the_figure_of_a_page_under_its_title():
    on_page: Any = on_paper(drawn_heat_map()).to_dict()
    made = titled(drawn_heat_map(), "<b>Picks</b>", "How to read it")
    assert made["data"] == on_page["data"]
    old, new = on_page["layout"], made["layout"]
    *kept, title, subtitle = new["annotations"]
    assert kept == list(old["annotations"])
    assert title["text"] == "&lt;b&gt;Picks&lt;/b&gt;"
    assert subtitle["text"] == "How to read it"
    assert new["height"] - old["height"] == new["margin"]["t"] == 12 + 24 + 18
    assert new["width"] - old["width"] == new["margin"]["r"]
    assert "var(" not in str(made)


def test_a_title_stands_above_the_legend_of_a_figure():
    made = titled(titled_figure([{"type": "bar", "x": ["A"], "y": [1]}], "its own"), "Picks")[
        "layout"
    ]
    assert made["margin"]["t"] == 90 + 12 + 24
    assert made["annotations"][0]["yshift"] == 90 + 24


def test_a_picture_without_a_title_has_none():
    made, drawn = titled(drawn_lines()), drawn_lines().to_dict()
    assert len(made["layout"]["annotations"]) == len(drawn["layout"]["annotations"])


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_browser_draws_every_kind_of_chart(monkeypatch):
    pytest.importorskip("kaleido")
    monkeypatch.setenv("BROWSER_PATH", str(shutil.which("chromium")))
    charts = {"map": drawn_heat_map(), "lines": drawn_lines(), "panels": drawn_panels()}
    asked = {name: titled(chart, "选择", "读法 <i>") for name, chart in charts.items()}
    made = draw_by_browser(asked)
    assert made.keys() == charts.keys()
    for name, png in made.items():
        layout = asked[name]["layout"]
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">II", png[16:24]) == (2 * layout["width"], 2 * layout["height"])


def test_one_browser_draws_all_charts_and_matplotlib_the_tables(kaleido, monkeypatch):
    monkeypatch.setattr(module, "draw_png", lambda _: b"by matplotlib")
    fake = kaleido()
    made = dict(pictures(_BLOCKS, browser=True))
    assert made == {
        "a.png": b"by a browser",
        "accuracy.png": b"by matplotlib",
        "b.png": b"by a browser",
    }
    (orders,) = fake.calls
    assert [each["opts"]["scale"] for each in orders] == [2, 2]
    assert "PingFang SC" in orders[0]["fig"]["layout"]["font"]["family"]
    assert not Path(orders[0]["path"]).exists()


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (NotFound("no"), "finds no Chrome and no Chromium"),
        (RuntimeError("it closed", "more"), "RuntimeError: it closed"),
        (OSError(13, "denied"), "denied"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_without_a_browser_matplotlib_draws_and_the_log_says_why(
    kaleido, monkeypatch, caplog, error, word
):
    monkeypatch.setattr(module, "draw_png", lambda _: b"by matplotlib")
    kaleido(error=error)
    with caplog.at_level(logging.WARNING):
        assert set(dict(pictures(_BLOCKS, browser=True)).values()) == {b"by matplotlib"}
    assert "Pictures are drawn without a browser: " in caplog.text
    assert word in caplog.text


def test_a_chart_that_a_browser_cannot_draw_is_drawn_by_matplotlib(kaleido, monkeypatch, caplog):
    monkeypatch.setattr(module, "draw_png", lambda _: b"by matplotlib")
    kaleido(missing=("1.png",))
    made = dict(pictures(_BLOCKS, browser=True))
    assert made["a.png"] == b"by a browser"
    assert made["b.png"] == b"by matplotlib"
    assert "1 of 2 failed, 1.png broke" in caplog.text


def test_no_browser_is_started_without_kaleido_charts_or_leave(kaleido, monkeypatch):
    monkeypatch.setattr(module, "draw_png", lambda _: b"by matplotlib")
    fake = kaleido()
    assert set(dict(pictures(_BLOCKS)).values()) == {b"by matplotlib"}
    assert draw_by_browser({}) == {}
    monkeypatch.setenv("BROWSER_PATH", "none")
    assert dict(pictures(_BLOCKS, browser=True))
    monkeypatch.delenv("BROWSER_PATH")
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    assert draw_by_browser({"a": titled(drawn_lines())}) == {}
    assert fake.calls == []


def test_without_matplotlib_what_no_browser_draws_is_left_out(kaleido, monkeypatch, caplog):
    monkeypatch.setattr(module, "matplotlib_installed", lambda: False)
    kaleido()
    assert dict(pictures(_BLOCKS, browser=True)).keys() == {"a.png", "b.png"}
    assert "Not drawn without matplotlib: accuracy.png" in caplog.text


def test_what_only_a_browser_can_draw_is_left_out_without_one(caplog):
    pytest.importorskip("matplotlib")
    pie = ChartBlock("pie.png", "Pie", lambda: figure([go.Pie(values=[1, 2])]))
    legend = ChartBlock("legend.png", "Legend", lambda: titled_figure([go.Bar(y=[1])], "Bars"))
    assert dict(pictures((pie, legend))) == {}
    assert "Not drawn without a browser: pie.png, legend.png" in caplog.text
