"""The Evaluate page as a visitor has it: what its components show, changed by events."""

import json
from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from press import Press
from ui_layout import laid_out, request_of

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.html import Html
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.pages.context import PageContext
from evalui.ui.pages.evaluate import EvaluatePage
from evalui.ui.pages.evaluate.form import Field


def _made(service: AppService, language: Language) -> EvaluatePage:
    page = EvaluatePage(PageContext(service, messages(language)))
    page.wire()
    return page


class Screen:
    """One page in one browser."""

    def __init__(self, service: AppService, language: Language = "en") -> None:
        self.service = service
        self.page, _ = laid_out(lambda: _made(service, language))
        self.state: dict[Any, dict[str, Any]] = {}
        self.left = ""  # the other page that was gone to
        self.query = ""

    def render(self, form: Form) -> Html:
        """What an address shows; a form that is no address is what the inputs hold."""
        if form.keys() <= {"again", "uploads", "logs", "models"} and "kinds" not in form:
            return self.open(form)
        return self.act(Press("set", {}, form))

    def open(self, form: Form) -> Html:
        """What an address shows."""
        self.state = {}
        self.query = urlencode(form, doseq=True)
        event = SimpleNamespace(_data={"query": self.query})
        return self._answered(self.page._open(cast("gr.EventData", event), self._request()))  # pyright: ignore[reportPrivateUsage]

    def act(self, action: Press) -> Html:
        """What the page shows after an event, its inputs holding the form of the action."""
        page, request = self.page, self._request()
        if action.form or not self.state:
            self.fill(action.form)
        sent = self.sent()
        event = cast("gr.EventData", SimpleNamespace(_data={"do": action.do, **action.data}))
        match action.do:
            case "set" if action.value("name").startswith("read_kind_"):
                updates = page._map(event, request, *sent)  # pyright: ignore[reportPrivateUsage]
            case "set":
                updates = page._set(request, *sent)  # pyright: ignore[reportPrivateUsage]
            case "preset":
                updates = page._preset(request, action.value("preset"), *sent)  # pyright: ignore[reportPrivateUsage]
            case "start":
                updates = page._start(request, *sent)  # pyright: ignore[reportPrivateUsage]
            case "import":
                updates = page._import(request, *sent)  # pyright: ignore[reportPrivateUsage]
            case "sample":
                updates = page._sample(request)  # pyright: ignore[reportPrivateUsage]
            case "open_sample":
                updates = page._open_sample(request)  # pyright: ignore[reportPrivateUsage]
            case "find":
                updates = {page.sets: page._find(request, action.value("words"))}  # pyright: ignore[reportPrivateUsage]
            case _:
                updates = page._act(event, request, *sent)  # pyright: ignore[reportPrivateUsage]
        return self._answered(updates)

    def fill(self, form: Form) -> None:
        """Let the inputs hold a form: those of all groups, if it was shown with choices."""
        fields = self.page.fields
        groups = ["start", "log"]
        groups += ["choices", "options", "open"] if "kinds" in form else []
        self.state[self.page.mapping] = {"value": json.dumps({})}
        for name, (component, _) in fields.lists.items():
            held = {
                each: value
                for each, value in form.items()
                if each == name or each.startswith(f"{name}_")
            }
            self._set(component, json.dumps(held or {name: []}))
        given = {field.component: field.write(form, name) for name, field in fields.fields.items()}
        for component, value in given.items():
            self._set(component, value)
        inputs = {name for name, field in fields.fields.items() if field.group in groups}
        kept = {name: value for name, value in form.items() if name not in inputs}
        self._set(fields.kept, json.dumps(kept | {"shown": groups}))

    def sent(self) -> list[Any]:
        """What the inputs hold."""
        inputs = [self.page.mapping, *self.page.fields.inputs]
        return [self.state.get(each, {}).get("value", each.value) for each in inputs]

    def form(self) -> Form:
        """What the inputs hold, as a form."""
        return self.page._form(self.sent())  # pyright: ignore[reportPrivateUsage]

    def _set(self, component: Any, value: object) -> None:
        self.state.setdefault(component, {})["value"] = value

    def _request(self) -> gr.Request:
        return request_of(self.service.person)

    def _answered(self, updates: dict[Any, Any]) -> Html:
        unknown = updates.keys() - set(self.page.shown)
        assert not unknown, f"no output of the event: {unknown}"
        for component, update in updates.items():
            if component is self.page.address:
                how, _, target = update.partition(">" if ">" in update.partition("?")[0] else "?")
                self.left, self.query = (target, self.query) if ">" in update else ("", target)
                del how
                continue
            is_update = isinstance(update, dict) and "__type__" in update
            change: dict[str, Any] = cast("Any", update) if is_update else {"value": update}
            self.state.setdefault(component, {}).update(change)
        return self.html()

    # What is seen --------------------------------------------------------------------------------

    def html(self) -> Html:
        """Everything that is visible, the inputs as a browser would send them."""
        parts = [f'<a href="{escape(self.left)}" data-go></a>'] if self.left else []
        parts += [f'<p data-address="{escape(self.query)}">']
        held = self.state.get(self.page.fields.kept, {}).get("value", "{}")
        kept: dict[str, str | list[str]] = json.loads(held)
        parts += [
            f'<input type="hidden" name="{escape(name)}" value="{escape(each)}">'
            for name, value in kept.items()
            for each in (value if isinstance(value, list) else [value])
        ]
        row: Any = self.page.head.parent
        parts += [self._block(block) for block in self._children(row.parent)]
        parts += [self._block(self.page.questions)]
        return Html("".join(parts))

    def _children(self, block: Any) -> list[Any]:
        return list(getattr(block, "children", []))

    def _block(self, block: Any) -> str:
        state = self.state.get(block, {})
        if state.get("visible", getattr(block, "visible", True)) in (False, "hidden"):
            return ""
        if isinstance(block, gr.HTML):
            return self._markup(block)
        if isinstance(block, gr.Button):
            return self._button(block)
        label = escape(str(state.get("label", getattr(block, "label", "")) or ""))
        if children := self._children(block):
            return label + "".join(map(self._block, children))
        fields = {field.component: (name, field) for name, field in self.page.fields.fields.items()}
        if block in fields:
            return label + self._input(*fields[block])
        return label

    def _markup(self, block: gr.HTML) -> str:
        state = self.state.get(block, {})
        if block.html_template != "${markup}":
            return str(state.get("value", block.value) or "")
        shown = str(state.get("markup", ""))
        held: dict[str, str | list[str]] = json.loads(state.get("value", "{}"))
        for name, values in held.items():
            for value in values if isinstance(values, list) else [values]:
                told = f'name="{escape(name)}" value="{escape(value)}"'
                shown = shown.replace(f"{told} ", f"{told} checked ")
            if isinstance(values, str):
                shown = _selected(shown, name, values)
        return shown

    def _button(self, block: gr.Button) -> str:
        state, page = self.state.get(block, {}), self.page
        names = {page.start: "start", page.sample: "sample", page.open_sample: "open_sample"}
        names[page.take_log] = "import"
        off = "" if state.get("interactive", True) else " disabled"
        return f'<button data-do="{names[block]}"{off}>{escape(str(block.value))}</button>'

    def _input(self, name: str, field: Field) -> str:
        block: Any = field.component
        state = self.state.get(block, {})
        value = state.get("value", block.value)
        info = escape(str(state.get("info", block.info) or ""))
        placeholder = escape(str(state.get("placeholder", getattr(block, "placeholder", "")) or ""))
        if field.kind == "box":
            checked = " checked" if value else ""
            return f'<input name="{name}" value="yes"{checked}>{info}'
        if isinstance(block, gr.Dropdown):
            options = [
                f'<option value="{escape(each)}"{" selected" if each == value else ""}>'
                f"{escape(word)}</option>"
                for word, each in state.get("choices", block.choices)
            ]
            return f'<select name="{name}">{"".join(options)}</select>{info}'
        if isinstance(block, (gr.Radio, gr.CheckboxGroup)):
            held: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType] # of Gradio
            return "".join(
                f'<input name="{name}" value="{escape(each)}"{" checked" if each in held else ""}>'
                f"{escape(word)}"
                for word, each in state.get("choices", block.choices)
            )
        text = "" if value is None else escape(str(value))
        return f'<input name="{name}" value="{text}" placeholder="{placeholder}">{info}'


def _selected(shown: str, name: str, value: str) -> str:
    """The list of a name with its choice, or the field of a name with its text."""
    told = f'<input type="text" name="{name}"'
    shown = shown.replace(told, f'{told} value="{escape(value)}"')
    head, tag, rest = shown.partition(f'<select name="{name}"')
    if not tag:
        return shown
    body, end, tail = rest.partition("</select>")
    option = f'<option value="{escape(value)}">'
    body = body.replace(option, f"{option[:-1]} selected>", 1)
    return head + tag + body + end + tail
