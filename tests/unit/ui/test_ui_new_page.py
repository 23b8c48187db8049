"""The page that docs/extend.md adds, as it stands there."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gradio as gr
import pytest
from drawn_page import DrawnPage
from extend_examples import files_of_page

from evalui.app.service import AppService


@pytest.fixture
def page(
    desk: AppService, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> DrawnPage:
    """The page at a run that has ended."""
    code = files_of_page()["pages/pace.py"]
    assert len(code.splitlines()) <= 40
    module = ModuleType("pace")
    exec(compile(code, "pace.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "evalui.ui.pages.pace", module)
    finished()
    return DrawnPage("pace", desk)


def test_a_page_with_a_chart_and_a_table_has_forty_lines_of_gradio(page: DrawnPage):
    made = {type(each).__name__: each for each in page.layout.blocks.values()}
    assert "How fast 1 runs were" in str(made["Markdown"].value)
    for name in ("BarPlot", "Dataframe"):
        assert "Trials a second" in str(made[name].value)


def test_its_field_filters_by_an_event_of_gradios_own(page: DrawnPage):
    (event,) = page.layout.fns.values()
    assert event.queue
    pick: Any = event.fn
    for shown in pick(""):
        assert len(shown) == 1
    for shown in pick("no such run"):
        assert len(shown) == 0
    assert isinstance(page.component("Runs whose name holds"), gr.Textbox)
