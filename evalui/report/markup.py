"""Markup from Jinja2 templates, in `evalui/report/templates`; whatever is not `Html` is escaped."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from evalui.report.blocks import NONE, TableCell
from evalui.report.html import Html
from evalui.report.icons import marker, series_number, status, status_icon
from evalui.report.words import gap_after

_FOLDER = Path(__file__).parent / "templates"


def environment(folder: Path, known: Mapping[str, Any]) -> Environment:
    """The templates of a folder, all of which may use what is `known`."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= known
    return made


def fill(name: str, /, **values: Any) -> Html:
    """The template of a name, such as "table.html", filled with values.

    Raises:
        jinja2.UndefinedError: the template names a value that was not given.
    """
    return Html(_template(name).render(values))


def macro(file: str, name: str, *values: Any) -> Html:
    """What a macro of a template makes of values."""
    return Html(str(getattr(_module(file), name)(*values)).strip())


@cache
def _module(file: str) -> Any:
    return _template(file).module


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    return environment(
        _FOLDER,
        {
            "NONE": NONE,
            "gap_after": gap_after,
            "kind_of": _kind_of,
            "marker": marker,
            "series_number": series_number,
            "status": status,
            "status_icon": status_icon,
        },
    )


def _kind_of(cell: TableCell) -> str:
    return type(cell).__name__
