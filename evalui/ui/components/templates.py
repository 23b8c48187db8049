"""Markup from the Jinja2 templates in `evalui/ui/templates`; whatever is not `Html` is escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evalui.report.html import Html

_FOLDER = Path(__file__).parent.parent / "templates"


def fill(name: str, /, **values: Any) -> Html:
    """The template of a name, such as "runs/queue.html", filled with values.

    Raises:
        jinja2.UndefinedError: the template names a value that was not given.
    """
    return Html(_environment().get_template(name).render(values))


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
