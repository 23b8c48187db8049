"""The form of a page: parameters of its address and its named fields, as a browser sends them."""

import re
from collections.abc import Iterable
from typing import cast
from urllib.parse import parse_qsl

from evalui.errors import EvaluiError
from evalui.messages import sentence

Form = dict[str, str | list[str]]

MAX_FIND = 200  # characters of a search; SQLite refuses very long patterns
PANEL = "panel"  # the parameter of addresses whose page has a panel open, and so is personal
_DIGITS = re.compile(r"[0-9]{1,9}")


class ClientStateError(EvaluiError):
    """What came back from the browser is not what a page keeps there."""

    def __init__(self) -> None:
        super().__init__(sentence("error.kept"))


def read_form(parameters: Iterable[tuple[str, str]]) -> Form:
    """The parameters of an address; one that is there more than once has all its values."""
    form: Form = {}
    for name, value in parameters:
        form[name] = [*field_values(form, name), value] if name in form else value
    return form


def read_query(query: str) -> Form:
    """The parameters of a query."""
    return read_form(parse_qsl(query, keep_blank_values=True))


def read_values(sent: object) -> Form:
    """The fields that a browser sends as an object; what is no text, or list of texts, is none."""
    given = cast("dict[object, object]", sent) if isinstance(sent, dict) else {}
    form: Form = {}
    for name, value in given.items():
        if isinstance(value, str):
            form[str(name)] = value
        elif isinstance(value, list):
            parts = cast("list[object]", value)
            form[str(name)] = [part for part in parts if isinstance(part, str)]
    return form


def field_value(form: Form, name: str) -> str:
    """A single field, "" if it is not there."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def field_values(form: Form, name: str) -> tuple[str, ...]:
    """A field of several values, () if it is not there."""
    value = form.get(name, ())
    return (value,) if isinstance(value, str) else tuple(value)


def parse_whole_number(text: str) -> int | None:
    """The whole number of a field, None for everything else and for more than nine digits."""
    return int(text) if _DIGITS.fullmatch(text) else None
