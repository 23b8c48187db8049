"""What a page keeps in the browser as text, in a hidden field, so that no poll can lose it."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalui.errors import EvaluiError
from evalui.messages import sentence

T = TypeVar("T")


class ClientStateError(EvaluiError):
    """What came back from the browser is not what a page keeps there."""

    def __init__(self) -> None:
        super().__init__(sentence("error.kept"))


def dump_client_state(state: Sequence[object]) -> str:
    """A named tuple of texts and numbers as the value of the hidden field, "" if all are empty."""
    return json.dumps(state) if any(state) else ""


def load_client_state(kind: type[T], text: str) -> T:
    """The inverse; a page that has kept nothing yet holds an empty field.

    Raises:
        KeptError: the text is no JSON list of the fields of the named tuple `kind`.
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
