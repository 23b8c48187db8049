"""The Evaluate page as a visitor has it: its markup, and the form that a tab keeps of it."""

import json
from html import escape
from html.parser import HTMLParser
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from drawn_page import DrawnPage
from press import Press

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import messages
from evalui.report.html import Html
from evalui.types import Language
from evalui.ui.components.action import Action
from evalui.ui.components.form import Form, field_values, read_query
from evalui.ui.pages.evaluate import acted
from evalui.ui.screen import Screen as Drawing

_ADDRESS = {"again", "uploads", "models"}


class Screen:
    """One page in one browser."""

    def __init__(self, service: AppService, language: Language = "en") -> None:
        self.service, self.t = service, messages(language)
        self.query, self.left = "", ""  # the address, and the other page that was gone to
        self.typed: Form = {}
        self.files: list[str] = []  # that are shown
        self.shown = ""

    def render(self, form: Form) -> Html:
        """What an address shows; a form that is no address is what the tab has kept."""
        if form.keys() <= _ADDRESS and "kinds" not in form:
            return self.open(form)
        self._keep(form)
        return self._drawn()

    def open(self, form: Form) -> Html:
        """What an address shows in a new tab."""
        self.typed, self.query = {}, urlencode(form, doseq=True)
        return self._drawn()

    def act(self, action: Press) -> Html:
        """What the page shows after something was done while it held the form of the action."""
        if action.form:
            self._keep(action.form)
        upload = action.value("upload")
        match action.do:
            case "uploaded":
                self._go([*self.files, upload])
            case "replaced":
                self._go([upload])
            case "remove":
                self._drawn()
                assert f'data-remove="{upload}"' in self.shown
                self._go([each for each in self.files if each != upload])
            case "answered":
                self.typed["answered"] = upload
            case "questions":
                self.typed |= {f"shown_{upload}": "yes", f"from_{upload}": action.value("start")}
            case "find":
                self.typed["find"] = action.value("words")
            case "open":
                self._press({f"open_{upload}": action.value("part")})
            case "preview" if not self.typed.get(f"shown_{upload}"):
                self._press({f"shown_{upload}": "yes"})
            case "set" | "preview":
                pass
            case "pick":
                self._press({action.value("name"): action.value("value")})
            case "forget":
                self._press({f"answers.{upload.replace('.', '-')}.model": None})
            case do:
                return self._acted(do, action)
        return self._drawn()

    def form(self) -> Form:
        """What the page holds."""
        return self.typed

    def field(self, label: str) -> Any:
        """The field of a label on the page that is shown."""
        return self.drawn.component(label)

    @property
    def may_start(self) -> bool:
        """Whether the button of the page that is shown starts the run."""
        return self.field(self.t("cost.start")).interactive

    @property
    def is_judged(self) -> bool:
        """Whether models judge the answers of the page that is shown."""
        return self.field(self.t("judge.on")).value

    def _keep(self, form: Form) -> None:
        self.typed = {**form, "files": [*field_values(form, "uploads")]}
        self.files = [*field_values(form, "uploads")]
        self.query = "" if self.files else urlencode({"models": form.get("models", [])}, doseq=True)
        self._go(self.files)

    def _go(self, uploads: list[str]) -> None:
        models = [each for each in self.query.split("&") if each.startswith("models=")]
        self.query = "&".join(models + ([f"uploads={','.join(uploads)}"] if uploads else []))

    def _press(self, fields: dict[str, Any]) -> None:
        """Press the button that sets these fields."""
        self._drawn()
        assert fields in _Controls(self.shown).sets, f"no button sets {fields}"
        self.typed |= {name: value for name, value in fields.items() if value is not None}
        for name in [name for name, value in fields.items() if value is None]:
            del self.typed[name]

    def _acted(self, do: str, action: Press) -> Html:
        if do == "columns":
            self.typed["use"] = action.value("upload")
        form = json.dumps(self.typed)
        try:
            if do == "start":
                to = self._page().press(self.t("cost.start"), **{"": form})
            else:
                to = acted(self._screen(), self.service, Action(do, {**action.data, "form": form}))
        except (EvaluiError, gr.Error) as error:
            told = (
                self.t.translate(error.sentence) if isinstance(error, EvaluiError) else str(error)
            )
            return Html(f'<div role="alert">{escape(told)}</div>{self._drawn()}')
        if to.startswith("?"):
            self.query = to[1:]
            return self._drawn()
        self.left = to
        return Html(f'<a href="{escape(to)}" data-go></a>{self._drawn()}')

    def _screen(self) -> Drawing:
        form = read_query(self.query)
        place = cast("gr.HTML", None)
        return Drawing("evaluate", self.t, self.service, form, place, typed=self.typed)

    def _page(self) -> DrawnPage:
        self.service.require("see")
        language = self.t.language
        return DrawnPage("evaluate", self.service, self.query, language, typed=self.typed)

    def _drawn(self) -> Html:
        page = self.drawn = self._page()
        self.shown = page.text
        controls = _Controls(self.shown)
        self.typed, self.files = controls.form | page.kept, controls.files
        hidden = [
            f'<input type="hidden" name="{escape(name)}" value="{escape(each)}">'
            for name, value in (controls.held | page.kept).items()
            if name not in controls.drawn
            for each in (value if isinstance(value, list) else [value])
        ]
        return Html("".join(hidden) + self.shown)


class _Controls(HTMLParser):
    """What a form holds, as assets/js/form.js reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.held: Form = {}
        self.files: list[str] = []
        self.drawn: Form = {}
        self.sets: list[dict[str, Any]] = []
        self._list, self._area = "", ""
        self.feed(page)

    @property
    def form(self) -> Form:
        return self.held | self.drawn

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            self.held = json.loads(given["data-form"])
            self.files = json.loads(given["data-files"])
        if "data-set" in given and "disabled" not in given:
            self.sets.append(json.loads(given["data-set"]))
        if tag == "option" and ("selected" in given or self._list not in self.drawn):
            self.drawn[self._list] = given["value"]
        if tag == "select":
            self._list = name
        if tag == "textarea":
            self._area, self.drawn[name] = name, ""
        if tag != "input" or not name or "disabled" in given:
            return
        if given.get("type") == "checkbox":
            values = [*field_values(self.drawn, name)]
            is_new = "checked" in given and given["value"] not in values
            self.drawn[name] = [*values, given["value"]] if is_new else values
        elif given.get("type") != "radio" or "checked" in given:
            self.drawn[name] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._area:
            self.drawn[self._area] = data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""
