"""Lists above or within a view, of which each has what its address names picked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from evalui.ui.components.form import Form


@dataclass(frozen=True, slots=True)
class Words:
    """What can be picked, value -> word, and what is; `label` names it if not as usual."""

    offered: Mapping[str, str]
    chosen: str
    label: str | None = None


class Pickers:
    """A row of Dropdowns, a name of the address each, hidden until there is something to pick."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        with gr.Row(visible=False, elem_classes="fields pickers") as self.row:
            self.lists = {
                name: gr.Dropdown([], label=label, visible=False, elem_classes="field")
                for name, label in labels.items()
            }

    @property
    def outputs(self) -> list[Any]:
        """Every component that `shown` changes."""
        return [self.row, *self.lists.values()]

    def shown(self, offered: Mapping[str, Words]) -> dict[Any, Any]:
        """The row with what can be picked now; a list that is not named is hidden."""
        return {
            self.row: gr.update(visible=bool(offered)),
            **{each: _list(offered.get(name)) for name, each in self.lists.items()},
        }

    def picked(self, form: Form, values: Sequence[object]) -> Form:
        """The form with what the lists hold; the name of an empty one leaves it."""
        texts = {
            name: value
            for name, value in zip(self.lists, values, strict=True)
            if isinstance(value, str)
        }
        return {name: value for name, value in {**form, **texts}.items() if value}


def _list(words: Words | None) -> dict[str, Any]:
    if words is None:
        return gr.update(visible=False, value=None)
    choices = [(word, value) for value, word in words.offered.items()]
    named = {"label": words.label} if words.label else {}
    return gr.update(choices=choices, value=words.chosen, visible=True, **named)
