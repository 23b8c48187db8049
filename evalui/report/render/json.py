"""Blocks as JSON: what a page says, for programs and for tests of words."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from evalui.pictures import Picture
from evalui.report.blocks import Block, ChartBlock

JsonBlock = dict[str, Any]  # JSON, whose types end here


def as_json(blocks: Iterable[Block]) -> list[JsonBlock]:
    """Each block as an object of its fields with its kind as "type"; charts by their titles.

    Pictures of questions are their ids.
    """
    return [_encoded(block) for block in blocks]


def _encoded(value: Any) -> Any:
    if isinstance(value, ChartBlock):
        kept = ("title", "caption", "file", "alt")
        return {"type": "chartblock", **{name: getattr(value, name) for name in kept}}
    if isinstance(value, Picture):
        return value.id
    if is_dataclass(value):
        own = {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
        return {"type": type(value).__name__.casefold(), **own}
    if isinstance(value, (tuple, list)):
        return [_encoded(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, frozenset):
        return sorted(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value
