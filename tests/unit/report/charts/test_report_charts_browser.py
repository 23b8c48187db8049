"""Pictures by a browser: the figures of pages under their titles, and what happens without one."""

import logging
import shutil
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from chart_examples import HEAT_MAP, LINES, PANELS

from evalui.report.axes import Axis
from evalui.report.blocks import Card, ChartBlock, Column, PlotCell, PlotMark, Table
from evalui.report.charts import browser
from evalui.report.charts.browser import TitledChart, draw_by_browser, picture
from evalui.report.charts.figures import plotly_figure
from evalui.report.render import pictures as module
from evalui.report.render.pictures import pictures

_AXIS = Axis(0, 100, (0, 50, 100), ("0", "50", "100 %"))
_TABLE = Table(
    (Column("Accuracy", axis=_AXIS),), ((PlotCell((PlotMark(5),)),),), file="accuracy.png"
)
_BLOCKS = (
    Card((ChartBlock("a.png", "Picks", HEAT_MAP, "How to read it"), _TABLE), "A card"),
    ChartBlock("b.png", "Lines", LINES),
    ChartBlock("", "no file", LINES),
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
    drawn: Any = plotly_figure(HEAT_MAP)
    on_page = drawn.to_dict()
    made = picture(TitledChart(HEAT_MAP, "<b>Picks</b>", "How to read it"))
    assert made["data"] == on_page["data"]
    old, new = on_page["layout"], made["layout"]
    *kept, title, subtitle = new["annotations"]
    assert kept == list(old["annotations"])
    assert title["text"] == "&lt;b&gt;Picks&lt;/b&gt;"
    assert subtitle["text"] == "How to read it"
    assert new["height"] - old["height"] == new["margin"]["t"] == 12 + 24 + 18
    assert new["width"] - old["width"] == new["margin"]["r"]
    assert "PingFang SC" in new["font"]["family"]
    assert "var(" not in str(made)


def test_a_picture_without_a_title_has_none():
    made = picture(TitledChart(LINES))
    drawn: Any = plotly_figure(LINES)
    assert len(made["layout"]["annotations"]) == len(drawn.to_dict()["layout"]["annotations"])


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_browser_draws_every_kind_of_chart(monkeypatch):
    pytest.importorskip("kaleido")
    monkeypatch.setenv("BROWSER_PATH", str(shutil.which("chromium")))
    charts = {"map": HEAT_MAP, "lines": LINES, "panels": PANELS}
    asked = {name: TitledChart(chart, "选择", "读法 <i>") for name, chart in charts.items()}
    made = draw_by_browser(asked)
    assert made.keys() == charts.keys()
    for name, png in made.items():
        layout = picture(asked[name])["layout"]
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">II", png[16:24]) == (2 * layout["width"], 2 * layout["height"])


def test_one_browser_draws_all_charts_and_matplotlib_the_tables(kaleido, monkeypatch):
    monkeypatch.setattr(module, "draw_png", lambda *_, **__: b"by matplotlib")
    fake = kaleido()
    made = dict(pictures(_BLOCKS, browser=True))
    assert made == {
        "a.png": b"by a browser",
        "accuracy.png": b"by matplotlib",
        "b.png": b"by a browser",
    }
    (orders,) = fake.calls
    assert [each["opts"]["scale"] for each in orders] == [2, 2]
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
    monkeypatch.setattr(module, "draw_png", lambda *_, **__: b"by matplotlib")
    kaleido(error=error)
    with caplog.at_level(logging.WARNING):
        assert set(dict(pictures(_BLOCKS, browser=True)).values()) == {b"by matplotlib"}
    assert "Pictures are drawn without a browser: " in caplog.text
    assert word in caplog.text


def test_a_chart_that_a_browser_cannot_draw_is_drawn_by_matplotlib(kaleido, monkeypatch, caplog):
    monkeypatch.setattr(module, "draw_png", lambda *_, **__: b"by matplotlib")
    kaleido(missing=("1.png",))
    made = dict(pictures(_BLOCKS, browser=True))
    assert made["a.png"] == b"by a browser"
    assert made["b.png"] == b"by matplotlib"
    assert "1 of 2 failed, 1.png broke" in caplog.text


def test_no_browser_is_started_without_kaleido_charts_or_leave(kaleido, monkeypatch):
    monkeypatch.setattr(module, "draw_png", lambda *_, **__: b"by matplotlib")
    fake = kaleido()
    assert set(dict(pictures(_BLOCKS)).values()) == {b"by matplotlib"}
    assert draw_by_browser({}) == {}
    monkeypatch.setenv("BROWSER_PATH", "none")
    assert dict(pictures(_BLOCKS, browser=True))
    monkeypatch.delenv("BROWSER_PATH")
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    assert draw_by_browser({"a": TitledChart(LINES)}) == {}
    assert fake.calls == []


def test_without_matplotlib_what_no_browser_draws_is_left_out(kaleido, monkeypatch, caplog):
    monkeypatch.setattr(module, "matplotlib_installed", lambda: False)
    kaleido()
    assert dict(pictures(_BLOCKS, browser=True)).keys() == {"a.png", "b.png"}
    assert "Not drawn without matplotlib: accuracy.png" in caplog.text
