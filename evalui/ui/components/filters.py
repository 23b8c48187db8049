"""Lists to pick from and a search beside each other, whose values stand in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from evalui.ui.components.form import Form
from evalui.ui.components.listing import markup
from evalui.ui.components.pickers import Pickers, Words
from evalui.ui.components.templates import fill

MAX_FIND = 200  # characters; SQLite refuses very long patterns


class Filters:
    """`labels` names the lists by their parameter, `find` the search, in which `hint` stands."""

    def __init__(self, labels: Mapping[str, str], find: str, hint: str) -> None:
        with gr.Row(elem_classes="filters"):
            self.pickers = Pickers(labels)
            self.find = gr.Textbox(
                show_label=False,
                label=find,
                placeholder=hint,
                container=False,
                max_lines=1,
                max_length=MAX_FIND,
                elem_classes="find",
            )
            self.clear = markup(elem_classes="ev clear")

    @property
    def lists(self) -> list[Any]:
        """The lists, whose values `read` takes."""
        return list(self.pickers.lists.values())

    @property
    def outputs(self) -> list[Any]:
        """Every component that `shown` changes."""
        return [*self.pickers.outputs, self.find, self.clear]

    def shown(
        self, offered: Mapping[str, Words], find: str, clear: tuple[str, str], *, typed: bool
    ) -> dict[Any, Any]:
        """What can be filtered by now, and the word and address of what clears it.

        What is being `typed` is left as it is.
        """
        word, href = clear
        link = fill("questions/clear.html", word=word, href=href) if href else ""
        return {
            **self.pickers.shown(offered),
            self.find: gr.skip() if typed else find,
            self.clear: link,
        }

    def read(self, values: Sequence[object]) -> Form:
        """What the lists hold, by the parameter of each; what is no text is empty."""
        return {
            name: value if isinstance(value, str) else ""
            for name, value in zip(self.pickers.lists, values, strict=True)
        }
