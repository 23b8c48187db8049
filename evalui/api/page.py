"""The page of the interface: every route with its parameters and answers, without any script."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalui.report.html import Child, Html, div, el, join
from evalui.web.middleware import STYLE

_METHODS = ("get", "post", "put", "delete")
Schema = Mapping[str, Any]  # a part of an OpenAPI document


def api_page(document: Schema) -> Html:
    """An OpenAPI document for people."""
    title = f"{document['info']['title']} {document['info']['version']}: /api/v1"
    routes = [
        _route(path, method, item[method])
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]
    schemas = [_schema(name, each) for name, each in document["components"]["schemas"].items()]
    head = el("head", Html('<meta charset="utf-8">'), el("title", title), STYLE)
    about = el("p", "The same as JSON: ", el("a", "openapi.json", href="openapi.json"))
    body = el("body", el("h1", title), about, *routes, el("h2", "Schemas"), *schemas)
    return join(Html("<!doctype html>"), el("html", head, body, lang="en"))


def _route(path: str, method: str, route: Schema) -> Html:
    takes = [
        el("li", el("code", each["name"]), f" ({each['in']}): {_kind(each['schema'])}")
        for each in route.get("parameters", ())
    ]
    body = route.get("requestBody", {}).get("content", {})
    takes += [
        el("li", el("code", kind), ": ", _kind(part["schema"])) for kind, part in body.items()
    ]
    gives = [
        el("li", el("code", status), ": ", ", ".join(_answers(answer)) or answer["description"])
        for status, answer in route["responses"].items()
    ]
    return div(
        el("h2", el("code", f"{method.upper()} {path}")),
        *(el("p", part) for part in route.get("description", "").split("\n\n") if part),
        el("ul", *takes) if takes else None,
        el("ul", *gives),
    )


def _answers(answer: Schema) -> Iterator[str]:
    for kind, part in answer.get("content", {}).items():
        shown = _kind(part.get("schema", {}))
        yield shown if kind == "application/json" else f"{kind} {shown}"


def _schema(name: str, schema: Schema) -> Html:
    fields: list[Child] = [
        el("li", el("code", field), f": {_kind(each)}")
        for field, each in schema.get("properties", {}).items()
    ]
    about = el("p", schema.get("description", "")) if "description" in schema else None
    return div(el("h3", name, id=name), about, el("ul", *fields))


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
