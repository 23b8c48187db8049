"""What the browser sends and keeps: the named fields of a tab, and the state of a page as text.

The state stands in a hidden field, so that no poll can lose it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalui.errors import EvaluiError
from evalui.messages import sentence

# Every named field of a tab, as the browser sends it.
Form = dict[str, str | list[str]]

T = TypeVar("T")

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


def dump_client_state(state: Sequence[object]) -> str:
    """A named tuple of texts and numbers as the value of the hidden field, "" if all are empty."""
    return json.dumps(state) if any(state) else ""


def load_client_state(kind: type[T], text: str) -> T:
    """The inverse; a page that has kept nothing yet holds an empty field.

    Raises:
        ClientStateError: the text is no JSON list of the fields of the named tuple `kind`.
    """
    if not text:
        return kind()
    try:
        return _adapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        raise ClientStateError from error


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
