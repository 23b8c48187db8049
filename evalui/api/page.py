"""The page of the interface: every route with its parameters and answers, without any script."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalui.report.html import Html
from evalui.report.markup import Templates
from evalui.web.middleware import TEMPLATES

_METHODS = ("get", "post", "put", "delete")
_TEMPLATES = Templates(Path(__file__).parent / "templates", TEMPLATES)
Schema = Mapping[str, Any]  # a part of an OpenAPI document


def api_page(document: Schema) -> Html:
    """An OpenAPI document for people."""
    return _TEMPLATES.fill(
        "api.html",
        title=f"{document['info']['title']} {document['info']['version']}: /api/v1",
        routes=[
            _route(path, method, item[method])
            for path, item in document["paths"].items()
            for method in _METHODS
            if method in item
        ],
        schemas=document["components"]["schemas"],
        fields=_fields,
    )


def _route(path: str, method: str, route: Schema) -> dict[str, Any]:
    """A route: its name, the paragraphs about it, what it takes and what it gives."""
    takes = [
        (each["name"], f" ({each['in']}): {_kind(each['schema'])}")
        for each in route.get("parameters", ())
    ]
    body = route.get("requestBody", {}).get("content", {})
    return {
        "name": f"{method.upper()} {path}",
        "about": [part for part in route.get("description", "").split("\n\n") if part],
        "takes": [
            *takes,
            *((kind, f": {_kind(part['schema'])}") for kind, part in body.items()),
        ],
        "gives": [
            (status, f": {', '.join(_answers(answer)) or answer['description']}")
            for status, answer in route["responses"].items()
        ],
    }


def _answers(answer: Schema) -> Iterator[str]:
    for kind, part in answer.get("content", {}).items():
        shown = _kind(part.get("schema", {}))
        yield shown if kind == "application/json" else f"{kind} {shown}"


def _fields(schema: Schema) -> list[tuple[str, str]]:
    return [(name, f": {_kind(each)}") for name, each in schema.get("properties", {}).items()]


def _kind(schema: Schema) -> str:
    """What a value is, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("const", schema.get("type", "")))
    return f"{kind} of {_kind(schema['items'])}" if "items" in schema else kind
