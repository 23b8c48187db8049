"""The page that docs/extend.md adds, as it stands there."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import gradio as gr
from extend_examples import files_of_page
from ui_layout import laid_out, request_of

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.pages.context import PageContext


def test_a_page_with_a_table_and_a_chart_has_sixty_lines(
    desk: AppService, finished: Callable[..., str]
):
    code = files_of_page()["pages/pace.py"]
    assert len(code.splitlines()) <= 60
    module = cast("Any", ModuleType("pace"))
    exec(compile(code, "pace.py", "exec"), module.__dict__)
    finished()

    def made() -> Any:
        page = module.PacePage(PageContext(desk, messages("en")))
        page.wire()
        return page

    page, _ = laid_out(made)
    request = request_of(desk.person)
    event = cast("gr.EventData", SimpleNamespace(_data={"query": ""}))
    assert "Evaluate" in page._open(event, request)
    _, drawn = laid_out(lambda: page._draw(request))
    shown = "".join(str(each["props"].get("value")) for each in drawn.config["components"])
    assert "The fastest run does" in shown
    assert "Speed by run" in shown
    assert "Trials a second</th>" in shown
