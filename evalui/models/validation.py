"""Tables of settings files, checked by pydantic; its first error becomes one of our sentences.

Loaded when a file is read, never with evalui.models: importing pydantic takes a tenth of a second.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_args

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from evalui.messages import sentence

Schema = TypeVar("Schema", bound="CheckedTable")

# What a field must be, by the type of pydantic's error.
_EXPECTED: Mapping[str, str] = {
    "string_type": "error.kind-text",
    "bool_type": "error.kind-bool",
    "int_type": "error.kind-int",
    "float_type": "error.kind-number",
    "dict_type": "error.kind-table",
    "list_type": "error.kind-texts",
    "address": "error.kind-address",
}


class CheckedTable(BaseModel):
    """A table of a settings file. Strict: true is no whole number, and a text is no number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class InvalidField:
    """The first field of a table that is wrong, in the order of the file.

    `problem` is the type of pydantic's error: "missing", "extra_forbidden", "int_type" etc. `value`
    is what the file has there, `expected` what must stand there ("" for a missing or unknown one).
    `in_list` is true where one item of a list is wrong and not the field as a whole.
    """

    name: str
    problem: str
    value: object
    expected: str
    in_list: bool = False


class InvalidTable(ValueError):
    """A table does not match its schema."""

    def __init__(self, field: InvalidField) -> None:
        super().__init__(f"{field.name}: {field.problem}")
        self.field = field


def validated(schema: type[Schema], values: Mapping[str, Any]) -> Schema:
    """The table as an instance of its schema.

    Raises:
        InvalidTable: a field is missing, unknown, or has a wrong type or value.
    """
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise InvalidTable(first_invalid_field(schema, error, values)) from None


def first_invalid_field(
    schema: type[BaseModel], error: ValidationError, values: Mapping[str, Any]
) -> InvalidField:
    """The error of the field that stands first in the file; missing fields come last."""
    places = {name: place for place, name in enumerate(values)}
    first = min(
        error.errors(include_url=False, include_context=False),
        key=lambda each: places.get(str(each["loc"][0]), len(places)),
    )
    name, problem, value = str(first["loc"][0]), first["type"], first["input"]
    field = schema.model_fields.get(name)
    expected = _expected(field, problem, value) if field and problem != "missing" else ""
    return InvalidField(name, problem, value, expected, in_list=len(first["loc"]) > 1)


def _expected(field: FieldInfo, problem: str, value: object) -> str:
    """What a field must be: as its description states, its least number, its choices, its type.

    A description is the key of a sentence, or a text that is the same in each language.
    """
    if description := field.description:
        return sentence(description) if description.startswith("error.") else description
    least = next((each.ge for each in field.metadata if isinstance(each, Ge)), None)
    if least is not None:
        key = "error.kind-whole-least" if field.annotation is int else "error.kind-least"
        return sentence(key, least=cast("float", least))
    if problem == "literal_error" and isinstance(value, str):
        return ", ".join(filter(None, cast("tuple[str, ...]", get_args(field.annotation))))
    return sentence(_EXPECTED.get(problem, "error.kind-text"))
