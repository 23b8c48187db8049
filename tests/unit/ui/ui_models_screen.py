"""The Models page as a visitor has it: what its components show, changed by what events answer."""

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
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.pages.context import PageContext
from evalui.ui.pages.models import ModelsPage

_TICKS = {"everyone", "drop_key"}
_LONG = {"variable": "key_variable"}  # the form's own names


class Screen:
    """One page in one browser."""

    def __init__(self, service: AppService, language: Language = "en") -> None:
        self.service = service
        self.page, _ = laid_out(lambda: ModelsPage(PageContext(service, messages(language))))
        self.shown: dict[Any, dict[str, Any]] = {}
        self.query = ""

    def render(self, form: Form) -> Html:
        """What an address shows."""
        self.query = urlencode(form, doseq=True)
        event = SimpleNamespace(_data={"query": self.query})
        return self._answered(self.page._open(cast("gr.EventData", event), self._request()))  # pyright: ignore[reportPrivateUsage]

    def act(self, action: Press) -> Html:
        """What the page shows after a click."""
        page, request = self.page, self._request()
        if action.do == "save":
            edited = field_value(action.form, "edit")
            place = field_value(action.form, "add_place")
            self.render({"edit": edited} if edited else {"add": place})
            return self._answered(page._save(request, edited, *self._typed(action.form)))  # pyright: ignore[reportPrivateUsage]
        if action.do == "set":
            self.render({"add": "folder"})
            self._typed(action.form)
            return self._answered(page._place(field_value(action.form, "add_place")))  # pyright: ignore[reportPrivateUsage]
        event = SimpleNamespace(_data={"do": action.do, **action.data})
        return self._answered(page._act(cast("gr.EventData", event), request))  # pyright: ignore[reportPrivateUsage]

    def looks(self) -> bool:
        """Whether the page finds something new when it looks by itself."""
        seen = self.shown.get(self.page.seen, {}).get("value")
        changed = self.page._look(self._request(), seen)  # pyright: ignore[reportPrivateUsage]
        found = isinstance(changed, dict) and bool(changed) and "__type__" not in changed
        if found:
            self._answered(cast("dict[Any, Any]", changed))
        return found

    def is_live(self) -> bool:
        """Whether it looks by itself."""
        return bool(self.shown.get(self.page.timer, {}).get("active"))

    def _request(self) -> gr.Request:
        return request_of(self.service.person)

    def _typed(self, form: Form) -> list[Any]:
        """What the fields hold once a visitor has filled them in."""
        fields = self.page.fields
        given = {name.removeprefix("add_"): name for name in form if name.startswith("add_")}
        given = {_LONG.get(name, name): full for name, full in given.items()}
        sent: list[Any] = []
        for name, component in zip(fields.names, fields.inputs, strict=True):
            state = self.shown.setdefault(component, {})
            if name == "people":
                state["value"] = list(field_values(form, "add_people"))
            elif name in _TICKS:
                if name in given or "add_people" in form:
                    state["value"] = bool(field_value(form, given.get(name, "")))
            elif name in given:
                state["value"] = field_value(form, given[name]) or ("no" if name == "chat" else "")
            sent.append(state.get("value"))
        return sent

    def _answered(self, updates: dict[Any, Any]) -> Html:
        for component, update in updates.items():
            if component is self.page.address:
                self.query = update.partition("?")[2]
                continue
            is_update = isinstance(update, dict) and "__type__" in update
            change = cast("dict[str, Any]", update) if is_update else {"value": update}
            self.shown.setdefault(component, {}).update(change)
        return self.html()

    def html(self) -> Html:
        """Everything that is visible."""
        page = self.page
        parts = [f'<p data-address="{escape(self.query)}">']
        parts += [self._value(each) for each in (page.bar, page.head, page.notice)]
        parts += [self._value(each) for each in (page.models, page.server)]
        if self._sees(page.form, default=False):
            parts += [self._value(page.title), self._value(page.problem), *self._fields()]
        return Html("".join(parts))

    def _fields(self) -> list[str]:
        fields = self.page.fields
        groups = {
            fields.endpoint: ("address", "key"),
            fields.local: ("adapter",),
            fields.rare: [
                each for each in fields.texts if each.endswith(("_price", "body", "key_header"))
            ]
            + ["key_variable", "max_length", "headers", "query"],
        }
        hidden = {n for group, names in groups.items() if not self._sees(group) for n in names}
        shorts = {long: short for short, long in _LONG.items()}
        drawn = [f"<details{' open' * bool(self.shown.get(fields.rare, {}).get('open'))}>"] * (
            self._sees(fields.rare)
        )
        for name, box in fields.texts.items():
            if name in hidden or not self._sees(box):
                continue
            state = self.shown.get(box, {})
            value = "" if name == "key" else escape(str(state.get("value", "")))
            fault = self._value(fields.faults[name])
            wrong = ' aria-invalid="true"' if fault else ""
            words = escape(str(state.get("info", "")))
            drawn.append(
                f'<label><input name="add_{shorts.get(name, name)}" value="{value}"{wrong}>'
                f"{words}{fault}</label>"
            )
        drawn.append(
            f'<select><option value="{self.shown.get(fields.chat, {}).get("value")}" selected>'
        )
        if self._sees(fields.sharing, default=False):
            drawn += self._sharing()
        return drawn

    def _sharing(self) -> list[str]:
        fields = self.page.fields
        people = self.shown.get(fields.people, {})
        ticks = [("everyone", "yes", bool(self.shown.get(fields.everyone, {}).get("value", True)))]
        ticks += [
            ("people", name, name in people.get("value", [])) for name in people.get("choices", [])
        ]
        return [
            f'<input name="add_{name}" value="{value}"{" checked" * is_on}>'
            for name, value, is_on in ticks
        ]

    def _sees(self, block: Any, *, default: bool = True) -> bool:
        return bool(self.shown.get(block, {}).get("visible", default))

    def _value(self, component: Any) -> str:
        state = self.shown.get(component, {})
        return str(state.get("value") or "") if state.get("visible", True) else ""
