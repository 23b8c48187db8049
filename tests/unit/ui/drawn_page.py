"""A page as a visitor has it: what it shows at an address, and what its buttons and fields do."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
from ui_layout import Layout, laid_out, request_of

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.types import Language
from evalui.ui.components.form import Form, read_query
from evalui.ui.screen import Screen

_KEPT = re.compile(r"""evalui\.form\.keep\(["']([^"']+)""")


class DrawnPage:
    """The page of a name, drawn for whoever the service acts for.

    `form` are the parameters of its address, or the query itself; `cookies` are what a browser
    keeps, `typed` what its tab keeps of a form.
    """

    def __init__(
        self,
        name: str,
        service: AppService,
        form: Mapping[str, Any] | str = "",
        language: Language = "en",
        cookies: Mapping[str, str] | None = None,
        typed: Form | None = None,
    ) -> None:
        self.service = service
        read = read_query(form) if isinstance(form, str) else dict(form)
        draw: Callable[[Screen], None] = import_module(f"evalui.ui.pages.{name}").page

        def make() -> gr.HTML:
            place = gr.HTML("", html_template="")
            draw(Screen(name, messages(language), service, read, place, cookies or {}, typed or {}))
            return place

        self.place, self.layout = laid_out(make)

    @property
    def text(self) -> str:
        """Markup, words of fields and buttons, names of sections, cells of tables; what is seen."""
        return text_of(self.layout)

    @property
    def kept(self) -> Form:
        """What fields hold that go into the form of the tab, by their names in it."""
        texts = [each for each in self.layout.blocks.values() if isinstance(each, gr.Textbox)]
        named = [(str(each.elem_id or "").partition("field."), each.value) for each in texts]
        held: Form = {name: value for (_, mark, name), value in named if mark}
        for fn in self.layout.fns.values():
            name = _KEPT.search(str(fn.js or ""))
            if name and fn.inputs:
                value = cast("Any", fn.inputs[0]).value
                held[name[1]] = (["yes"] if value else []) if isinstance(value, bool) else value
        return held

    def component(self, label: str) -> Any:
        """The field or button of a label; of several the first."""
        for each in self.layout.blocks.values():
            named = each.value if isinstance(each, gr.Button) else getattr(each, "label", None)
            if named == label:
                return each
        raise AssertionError(f"There is nothing of the name {label!r}")

    def offered(self, label: str) -> list[str]:
        """The words that a list offers."""
        return [word for word, _ in self.component(label).choices]

    def press(self, label: str, **values: object) -> Any:
        """What a button answers where fields hold these values, by the label of each."""
        return self._send(self.component(label), "click", {}, values)

    def choose(self, label: str, value: object, **values: object) -> Any:
        """What a field answers when it is given a value."""
        field = self.component(label)
        return self._send(field, "input", {}, {label: value, **values})

    def upload(self, label: str, file: str) -> Any:
        """What a button answers that sends a file, when Gradio has stored it."""
        return self._send(self.component(label), "upload", {}, {label: file})

    def act(self, do: str, *, within: Any = None, **data: str) -> Any:
        """What a listing answers where a button is pressed, of its markup unless it is named."""
        for each in self.layout.blocks.values():
            has_button = f'data-do="{do}"' in str(getattr(each, "value", ""))
            if each is within or (within is None and has_button):
                return self._send(each, "act", {"do": do, **data}, {})
        raise AssertionError(f"Nothing is marked {do!r}")

    def submitted(self, marked: str) -> list[Any]:
        """What is answered for each component with this in its markup that asks by itself."""
        marks = [
            each
            for each in self.layout.blocks.values()
            if marked in str(getattr(each, "value", ""))
        ]
        return [self._send(each, "submit", {}, {}) for each in marks]

    @property
    def timer(self) -> gr.Timer | None:
        """What has the page look again, if anything can change by itself."""
        timers = [each for each in self.layout.blocks.values() if isinstance(each, gr.Timer)]
        return next((each for each in timers if each.active), None)

    def look(self) -> Any:
        """What the page answers when it looks again."""
        assert self.timer, "it does not look again"
        return self._send(self.timer, "tick", {}, {})

    def _send(
        self, component: Any, event: str, data: Mapping[str, str], values: Mapping[str, object]
    ) -> Any:
        for fn in self.layout.fns.values():
            if (component._id, event) in fn.targets:
                given = [
                    values.get(each.label or "", getattr(each, "value", None))
                    for each in cast("list[Any]", fn.inputs)
                ]
                sent = [SimpleNamespace(_data=dict(data))] if fn.collects_event_data else []
                answer = cast("Any", fn.fn)(request_of(self.service.person), *sent, *given)
                return asyncio.run(answer) if inspect.iscoroutine(answer) else answer
        raise AssertionError(f"{component} has no event {event!r}")


def text_of(layout: Layout) -> str:
    """What components show, as text."""
    config = cast("dict[str, Any]", layout.config)
    shown = set(_shown(config["layout"], layout.blocks))
    return "".join(_text(each) for each in config["components"] if each["id"] in shown)


def _shown(node: dict[str, Any], blocks: Mapping[int, Any]) -> Iterator[int]:
    """The numbers of what stands in nothing that is hidden."""
    for child in node.get("children") or ():
        if blocks[child["id"]].visible is not False:
            yield child["id"]
            yield from _shown(child, blocks)


def _text(component: dict[str, Any]) -> str:
    props = component["props"]
    if props.get("visible") is False:
        return ""
    label = escape(str(props.get("label") or "")) if props.get("show_label") is not False else ""
    label += f" {escape(str(props['info']))}" if props.get("info") else ""
    match component["type"]:
        case "html" | "markdown":
            return str(props["value"] or "")
        case "accordion":
            name, _, finding = props["label"].partition("\u2003")
            return f'<fold id="{props.get("elem_id", "")}">{escape(name)}: {escape(finding)}</fold>'
        case "dataframe":
            value = props["value"]
            heads = "".join(f"<th>{escape(head)}</th>" for head in value["headers"])
            shown = value["metadata"]["display_value"] if value["metadata"] else value["data"]
            rows = ("".join(map(str, row)) for row in shown)
            return heads + "".join(rows)
        case "uploadbutton":
            return f"<button>{label}</button>"
        case "button":
            return f"<button>{escape(str(props['value']))}</button>"
        case "dropdown" | "radio" | "checkboxgroup":
            words = "".join(
                f'<option value="{escape(str(value))}">{escape(str(word))}</option>'
                for word, value in props["choices"]
            )
            return f"<label>{label}</label>{words}"
        case "textbox" | "number" | "checkbox":
            return f"<label>{label}</label>{escape(str(props.get('value') or ''))}"
        case _:
            return ""
