"""Files, models and a hostile text for the tests of the page."""

import asyncio
import re
from collections.abc import Callable
from html import unescape
from typing import Any, TypeVar
from unittest import mock

import gradio as gr
from gradio.routes import App

from evalui.ui.components.form import Form

T = TypeVar("T")

HOSTILE = (
    '<img src=x onerror="window.__xss=1"><script>window.__xss=2</script>'
    '<iframe srcdoc="<script>parent.__xss=3</script>"></iframe><a href="javascript:alert(1)">x</a>'
)
MODELS = """
[biased]
backend = "scripted"
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }

[gone]
backend = "transformers"
path = "./nowhere"
"""
GOOD = """id,question,A,B,C,D,answer
1,Capital of France?,Paris,Rome,Oslo,Bern,A
2,Capital of Italy?,Paris,Rome,Oslo,Bern,B
3,Capital of Norway?,Paris,Rome,Oslo,Bern,C
4,Capital of Switzerland?,Paris,Rome,Oslo,Bern,D
"""
FAULTY = GOOD + "5,Capital of Spain?,Paris,Rome,Oslo,Bern,E\n6,,Paris,Rome,Oslo,Bern,A\n"


def served(build: Callable[[], T]) -> T:
    """What `build` makes, inside an event loop: outside, Gradio opens one and leaves it open."""

    async def inside() -> T:
        return build()

    return asyncio.run(inside())


def built(build: Callable[[], T]) -> T:
    """As `served`, but for the routes, which take ten times as long as the page."""
    with mock.patch.object(App, "create_app"):
        return served(build)


def poll_of(page: str) -> dict[str, str]:
    """What the script sends with a poll of this page: the data of its element."""
    element = re.search(r"<div data-poll=[^>]*>", page)
    assert element, "the page does not poll"
    return {key: unescape(text) for key, text in re.findall(r'data-(\w+)="([^"]*)"', element[0])}


def laid_out(view: Any) -> Any:
    """A view of Results as the page lays it out, beside the field that holds the run."""

    def lay_out() -> None:
        with gr.Blocks():
            view.build(gr.Textbox())

    built(lay_out)
    return view


def shown(view: Any, run_id: str, form: Form | None = None) -> dict[str, Any]:
    """What a view shows, by the name of its pane; charts are left out."""
    values = view.show(run_id, form)
    assert len(values) == len(view.outputs)
    names = [getattr(output, "elem_id", None) or "" for output in view.outputs]
    return {name: value for name, value in zip(names, values, strict=True) if name}
