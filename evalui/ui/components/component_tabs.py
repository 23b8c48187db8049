"""Tabs that are laid out with Gradio's components, until each of them renders itself.

Such a tab has `build`, `outputs`, and one of `enter` and `open`. It stands in the page that Gradio
draws below ours, and is filled when that page is loaded: a link to it loads the page.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import gradio as gr

from evalui.report.html import Html
from evalui.ui.components.form import read_form
from evalui.ui.components.fragment import Action

# How every listener of the page is wired: at once, without a spinner, and no public endpoint.
QUIET: Mapping[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}
SKIP = cast("dict[str, Any]", gr.skip())  # leaves an output as it is; Gradio tells no type


def skip_all(outputs: Sequence[Any]) -> tuple[Any, ...]:
    """Leaves each of the outputs as it is."""
    return (SKIP,) * len(outputs)


def html_fragment(name: str, value: Html | None = None) -> gr.HTML:
    """A gr.HTML that holds our `Html`; `on_action` listens to what a user does in it."""
    return gr.HTML(
        value or Html(""),
        elem_id=name,
        html_template='<div class="ev">${value}</div>',
        js_on_load="window.evalui.wire(element, trigger, watch, 'act')",
        apply_default_css=False,
    )


def on_action(
    source: gr.HTML,
    handler: Callable[..., Any],
    *,
    outputs: Sequence[Any],
    inputs: Sequence[Any] = (),
) -> None:
    """Call `handler` for each `Action` in a fragment."""
    with_request = "request" in inspect.signature(handler).parameters

    def listen(event: gr.EventData, request: gr.Request, *values: Any) -> Any:
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # it has no other name
        return handler(*values, action, *([request] if with_request else []))

    listen.__name__ = getattr(handler, "__name__", "listen")
    # A second click must not be dropped while the first is answered.
    source.act(listen, list(inputs), list(outputs), trigger_mode="multiple", **QUIET)


def build_tabs(page: gr.Blocks, tabs: Mapping[str, Any]) -> None:
    """Lay out the tabs of these names, and fill the one of the address when the page is loaded."""
    for name, tab in tabs.items():
        with gr.Column(elem_id=f"old-{name}"):
            tab.build()

    def enter(name: str) -> Callable[[gr.Request], Any]:
        def load(request: gr.Request) -> Any:
            query = cast(Any, request.query_params)
            return _entered(name, tabs[name], read_form(query.multi_items()))

        load.__name__ = f"enter_{name}"
        return load

    for name, tab in tabs.items():
        page.load(enter(name), None, tab.outputs, **QUIET)


def _entered(name: str, tab: Any, form: dict[str, Any]) -> tuple[Any, ...]:
    run, chosen = str(form.get("run", "")), str(form.get("tab", ""))
    shown = chosen or ("results" if run else "evaluate")
    if shown != name and not (name == "runs" and not chosen):
        return skip_all(tab.outputs)
    if name == "runs":
        pane, *state = tab.open(run)
        return (pane, run, *state)
    if name == "evaluate":
        models = form.get("models", [])
        listed = [models] if isinstance(models, str) else models
        return tuple(tab.enter(str(form.get("again", "")), listed))
    return tuple(tab.enter(form) if name == "models" else tab.enter(run, form))
