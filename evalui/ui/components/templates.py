"""Markup from the Jinja2 templates in `evalui/ui/templates`; whatever is not `Html` is escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from evalui.report.html import Html
from evalui.report.icons import marker, model_name, series_number, status, status_icon
from evalui.report.markup import environment

_FOLDER = Path(__file__).parent.parent / "templates"


def fill(name: str, /, **values: Any) -> Html:
    """The template of a name, such as "runs/queue.html", filled with values.

    Templates know the icons of states, `status(kind, word)` and `status_icon(kind)`, and how models
    are marked: `marker`, `model_name` and `series_number`.

    Raises:
        jinja2.UndefinedError: the template names a value that was not given.
    """
    return Html(_environment().get_template(name).render(values))


def macro(file: str, name: str, /, *values: Any) -> Html:
    """What a macro of a template makes of values."""
    return Html(getattr(_module(file), name)(*values))


@cache
def _module(file: str) -> Any:
    return _environment().get_template(file).module


@cache
def _environment() -> Environment:
    return environment(
        _FOLDER,
        {
            "marker": marker,
            "model_name": model_name,
            "series_number": series_number,
            "status": status,
            "status_icon": status_icon,
        },
    )
