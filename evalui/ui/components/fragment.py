"""A piece of the page that the server renders whole; its buttons and fields are events.

Gradio carries the HTML to the browser, where only what changed is touched, so focus, scroll
position and typed text stay. assets/js/wire.js sends back what a user does as an `Action`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

import gradio as gr
from gradio.blocks import Block

from evalui.report.html import Html
from evalui.ui.components.form import Form

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


class Action(gr.EventData):
    """What a user did: the button's `do` with its other `data`, and every field of the tab.

    Handlers take it as the event; whatever the browser sent that is not text, or in `form` a list
    of texts, is left out.
    """

    def __init__(self, target: Block | None, sent: dict[str, Any] | None) -> None:
        super().__init__(target, sent)
        sent = sent or {}
        form = sent.get("form")
        self.do = str(sent.get("do", ""))
        self.data = {key: value for key, value in sent.items() if isinstance(value, str)}
        self.form: Form = _fields(form) if isinstance(form, dict) else {}  # pyright: ignore[reportUnknownArgumentType] # of the browser's own types

    def value(self, name: str) -> str:
        """The value of a single field or of the button's own data, "" if there is none."""
        value = self.data.get(name, self.form.get(name, ""))
        return value if isinstance(value, str) else ""

    def with_form(self, form: Form) -> Self:
        """The same action in a tab with other fields."""
        return type(self)(self.target, {**self.data, "form": form})


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
    # A second click must not be dropped while the first is answered.
    source.act(handler, list(inputs), list(outputs), trigger_mode="multiple", **QUIET)


def _fields(form: dict[Any, Any]) -> Form:
    fields: Form = {}
    for name, value in form.items():
        if isinstance(value, str):
            fields[str(name)] = value
        elif isinstance(value, list):
            parts: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
            fields[str(name)] = [part for part in parts if isinstance(part, str)]
    return fields
