"""A view of a run that has nothing to show, and why."""

from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill


def show_empty(title: str, about: str = "") -> None:
    """Make the component that says so, inside `gr.render`."""
    markup(fill("results/empty.html", title=title, about=about), elem_classes="ev")
