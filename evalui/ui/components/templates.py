"""Markup from the Jinja2 templates in `evalui/ui/templates`; whatever is not `Html` is escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from evalui.report.html import Html
from evalui.report.icons import status, status_icon
from evalui.report.markup import environment

_FOLDER = Path(__file__).parent.parent / "templates"


def fill(name: str, /, **values: Any) -> Html:
    """The template of a name, such as "runs/queue.html", filled with values.

    Templates know the icons of states: `status(kind, word)` and `status_icon(kind)`.

    Raises:
        jinja2.UndefinedError: the template names a value that was not given.
    """
    return Html(_environment().get_template(name).render(values))


@cache
def _environment() -> Environment:
    return environment(_FOLDER, {"status": status, "status_icon": status_icon})
