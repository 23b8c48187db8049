"""What the views of the Admin page have in common: components, and the markup that they show."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import gradio as gr

from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.format import amount, format_time
from evalui.ui.components.listing import listing
from evalui.ui.components.templates import fill

Markup = Mapping[gr.HTML, Html]  # by component


class Act(NamedTuple):
    """A button of a view: its word, the change that it makes, and what that change is given."""

    word: str
    do: str
    state: str = ""


class View:
    """A part of the page, as `?sub=queue` shows it; made where Gradio is to draw it.

    Each of its `lists` and `folds` is a component; the folds stand in one frame, and those that are
    `acting` have buttons. `verdict` is the place of the one sentence of the page, above the forms.
    """

    name = ""
    lists: Sequence[str] = ()
    folds: Sequence[str] = ()
    acting: Sequence[str] = ()

    def __init__(self, t: Messages, verdict: gr.HTML) -> None:
        self.t = t
        self.verdict = verdict
        self.made: dict[str, gr.HTML] = {}
        with gr.Column(visible=False, elem_classes="view") as self.column:
            self.draw()

    def draw(self) -> None:
        """Make the components in their order."""
        for name in self.lists:
            self.made[name] = listing()
        if self.folds:
            with gr.Column(elem_classes="folds"):
                for name in self.folds:
                    self.made[name] = listing()

    def read(self, service: AppService) -> Markup:
        """What each component shows now; raises `NotAllowed` to all but administrators."""
        raise NotImplementedError

    def fill(self, name: str, **values: Any) -> Html:
        """A template of the page, filled."""
        when = partial(format_time, self.t)
        given = {"t": self.t, "amount": amount, "when": when}
        return fill(f"admin/{name}.html", **given, **values)

    def answer(self, text: str, *acts: Act, link: tuple[str, str] | None = None) -> Html:
        """The one sentence of a view, and beside it buttons, or a link by its word and address."""
        return self.fill("verdict", text=text, acts=acts, link=link)


def used_of(
    t: Messages, key: str, used: float, limit: float | None, unit: float = 1.0
) -> tuple[str, float | None]:
    """What a person used of a limit, in words and as a share; without a limit there is no share."""
    shown = f"{used / unit:.1f}"
    if limit is None:
        return t(f"admin.{key}_unlimited", used=shown), None
    words = t(f"admin.{key}_of", used=shown, limit=f"{limit / unit:g}")
    return words, used / limit if limit else 1.0
