"""Markup from Jinja2 templates; whatever is not `Html` is escaped on its way into one."""

from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evalui.report.blocks import NONE, TableCell
from evalui.report.html import Html
from evalui.report.markers import marker_numbers, series_number
from evalui.report.words import gap_after, name_parts, shorten_name

_FOLDER = Path(__file__).parent / "templates"


class Templates:
    """The templates of folders; of two with the same name that of the first folder.

    All of them know the macros of `icons.html`.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = folders

    def fill(self, name: str, /, **values: Any) -> Html:
        """The template of a name, such as "table.html", filled with values.

        Raises:
            jinja2.UndefinedError: the template names a value that was not given.
        """
        return Html(self._environment.get_template(name).render(values))

    def macro(self, file: str, name: str, /, *values: Any, **named: Any) -> Html:
        """What a macro of a template makes of values."""
        return Html(getattr(self._environment.get_template(file).module, name)(*values, **named))

    @cached_property
    def _environment(self) -> Environment:
        made = Environment(
            loader=FileSystemLoader([*self._folders, _FOLDER]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        known: dict[str, Any] = {
            "NONE": NONE,
            "gap_after": gap_after,
            "kind_of": _kind_of,
            "marker_numbers": marker_numbers,
            "name_parts": name_parts,
            "series_number": series_number,
            "shorten_name": shorten_name,
        }
        made.globals.update(known)
        icons = vars(made.get_template("icons.html").module)
        made.globals.update({name: icons[name] for name in icons if not name.startswith("_")})
        return made


_TEMPLATES = Templates()
fill, macro = _TEMPLATES.fill, _TEMPLATES.macro


def _kind_of(cell: TableCell) -> str:
    return type(cell).__name__
