"""Tables of settings as docs/specification.md and docs/extend.md show them."""

from collections.abc import Iterable

from evalui.generation import DeclaredSetting


def table_of(settings: Iterable[DeclaredSetting]) -> str:
    """A row for each setting: its field, its option, what it does and what it may be."""
    rows = [
        f"| `{each.name}` | `--{each.name.replace('_', '-')}` | {each.help} | {_values(each)} |"
        for each in settings
    ]
    return "\n".join(["| field | option | meaning | values |", "|---|---|---|---|", *rows])


def _values(declared: DeclaredSetting) -> str:
    """What a setting may be, as the JSON schema says it."""
    if declared.kind == "choice":
        return ", ".join(f"`{each}`" for each in declared.choices if each)
    if declared.kind == "lines":
        return "a list of texts"
    if declared.kind == "text":
        return "a text"
    schema = declared.owner.model_json_schema()["properties"][declared.name]
    limits = next((each for each in schema.get("anyOf", ()) if each["type"] != "null"), schema)
    low = limits.get("minimum", limits.get("exclusiveMinimum"))
    above = "above " if "exclusiveMinimum" in limits else ""
    if low is None:
        return "a whole number" if declared.kind == "whole number" else "a number"
    if "maximum" not in limits:
        return f"{above or 'from '}{low:g}"
    return f"{above}{low:g} to {limits['maximum']:g}"
