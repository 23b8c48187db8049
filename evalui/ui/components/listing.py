"""Markup of ours as a component; the buttons of a listing are events."""

from typing import Any

import gradio as gr

from evalui.ui.components.templates import fill


def markup(value: str = "", **settings: Any) -> gr.HTML:
    """A component that shows ready markup and does nothing; with a `key` it takes the place of what
    was drawn before.
    """
    kept: dict[str, Any] = {"preserved_by_key": []}
    return gr.HTML(value, js_on_load=None, apply_default_css=False, **(kept | settings))


def title(text: str, **settings: Any) -> gr.HTML:
    """The title of a card whose content are components."""
    return markup(fill("title.html", title=text, below=""), elem_classes="ev", **settings)


def remark(text: str, **settings: Any) -> gr.HTML:
    """A small sentence between components."""
    return markup(fill("title.html", title="", below=text), elem_classes="ev", **settings)


def listing(value: str = "", **settings: Any) -> gr.HTML:
    """Ready markup with buttons, hidden without any.

    Its event `act` carries the data of a pressed button; its `do` says what is wanted.
    """
    return gr.HTML(
        value,
        visible=bool(value),
        js_on_load="evalui.acts(element, trigger, watch, 'act')",
        apply_default_css=False,
        **settings,
    )
