"""A list of which several can be chosen, and that keeps what is pressed while an answer comes.

Each press leads to another address, whose answer states what the list holds there. When the answer
comes, the list may have been pressed again, so one that holds what it should is not sent anew, and
the answer to an address that a later press has left behind does not touch it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

import gradio as gr

_LEADS = ">"  # between what a list holds and the query to which its last press leads


class PressedList:
    """The list with the hidden field that tells what it holds."""

    def __init__(self, field: gr.Dropdown | gr.CheckboxGroup) -> None:
        self.field: Any = field
        self.held = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    @property
    def outputs(self) -> list[Any]:
        """Every component that `shown` changes."""
        return [self.field, self.held]

    def shown(
        self, words: Mapping[str, str], chosen: Iterable[str], *, query: str, held: object
    ) -> dict[Any, Any]:
        """The list at an address, if the field `held` tells that it holds something else."""
        chosen = [*chosen]
        told, is_pressed, to = str(held or "").partition(_LEADS)
        if is_pressed and to != query:
            return {self.field: gr.skip(), self.held: gr.skip()}
        digest = _digest(words, chosen)
        if told == digest:
            return {self.field: gr.skip(), self.held: digest}
        choices = [(word, value) for value, word in words.items()]
        update = gr.update(choices=choices, value=chosen, visible=bool(words))
        return {self.field: update, self.held: digest}

    def pressed(
        self, words: Mapping[str, str], chosen: Iterable[str], query: str
    ) -> dict[Any, Any]:
        """What tells that the list holds this, and leads to a query."""
        return {self.held: f"{_digest(words, chosen)}{_LEADS}{query}"}


def read_pressed(values: object) -> list[str]:
    """The texts of what such a list holds."""
    held = cast("list[object]", values) if isinstance(values, list) else []
    return [each for each in held if isinstance(each, str)]


def _digest(words: Mapping[str, str], chosen: Iterable[str]) -> str:
    """Another text for other contents, whatever the order in which they were chosen."""
    return hashlib.sha256(repr((words, sorted(chosen))).encode()).hexdigest()[:16]
