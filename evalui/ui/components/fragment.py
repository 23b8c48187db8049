"""A piece of the page that the server renders whole; its buttons and fields are events.

Gradio carries the HTML to the browser, where only what changed is touched, so focus, scroll
position and typed text stay. assets/js/wire.js sends what a person does back as `Action`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import gradio as gr

from evalui.ui.components.form import Form
from evalui.ui.components.html import Html

# How every listener of the page is wired: at once, without a spinner, and no public endpoint.
QUIET: Mapping[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}
SKIP = cast("dict[str, Any]", gr.skip())  # leaves an output as it is; Gradio tells no type


@dataclass(frozen=True, slots=True)
class Action:
    """What a person did: the button's `do` with its other data, and every field of the tab."""

    do: str
    data: dict[str, str]
    form: Form

    def value(self, name: str) -> str:
        """The value of a single field or of the button's own data, "" if there is none."""
        value = self.data.get(name, self.form.get(name, ""))
        return value if isinstance(value, str) else ""


def html_fragment(name: str, value: Html | None = None) -> gr.HTML:
    """A gr.HTML that holds our `Html`; `on_action` listens to what a person does in it."""
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
    """Call `handler` for each act in a pane."""
    # A second click must not be dropped while the first is answered.
    source.act(handler, list(inputs), list(outputs), trigger_mode="multiple", **QUIET)


def read_action(event: gr.EventData) -> Action:
    """What the browser sent, with everything that is not text or a list of texts left out."""
    sent: dict[str, Any] = event._data or {}  # pyright: ignore[reportPrivateUsage] # no public name
    form = sent.get("form")
    return Action(
        do=str(sent.get("do", "")),
        data={key: value for key, value in sent.items() if isinstance(value, str)},
        form=_fields(form) if isinstance(form, dict) else {},  # pyright: ignore[reportUnknownArgumentType]
    )


def _fields(form: dict[Any, Any]) -> Form:
    fields: Form = {}
    for name, value in form.items():
        if isinstance(value, str):
            fields[str(name)] = value
        elif isinstance(value, list):
            parts: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
            fields[str(name)] = [part for part in parts if isinstance(part, str)]
    return fields
