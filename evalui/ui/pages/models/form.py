"""The form that adds a model or changes an added one."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from urllib.parse import quote

import gradio as gr

from evalui.app.service import AppService
from evalui.errors import ModelError
from evalui.messages import Messages
from evalui.models.base import BACKENDS, ModelEntry, traits_of
from evalui.models.endpoint.protocol import Api
from evalui.models.local import DTYPES
from evalui.models.new_model import InvalidModelForm, ModelSource, NewModelForm, typed_fields
from evalui.models.user_catalog import has_key
from evalui.report.blocks import Details
from evalui.ui.components.fold import fold
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, heading, link
from evalui.ui.screen import Screen

PLACES: tuple[ModelSource, ...] = ("endpoint", "folder", "hub")
_RARE = (
    *("key_variable", "input_price", "output_price", "max_length", "timeout_s"),
    *("extra_body", "headers", "query", "key_header"),
)


def model_form(screen: Screen, place: ModelSource, edited: ModelEntry | None) -> None:
    """The form of a new model, first of one that is at a place, or of an added one."""
    t = screen.t
    people = screen.service.models.people_for(edited)
    with gr.Column(elem_classes="card add-model"):
        markup(heading(t("add.edit", name=edited.name) if edited else t("add.title")))
        fields = ModelFields(t, place, edited)
        fields.draw(people)
        problem = markup(visible=False, elem_classes="ev")
        with gr.Row(elem_classes="acts"):
            button = gr.Button(t("add.save" if edited else "add.go"), variant="primary", scale=0)
            markup(link(t("add.cancel"), "models", cls="btn quiet"), elem_classes="ev")

    def save(service: AppService, *values: Any) -> list[Any]:
        wanted = fields.read(values)
        try:
            entry = service.models.change(wanted) if edited else service.models.add(wanted)
        except InvalidModelForm as error:
            faults = dict(error.faults)
            if wanted.place == "endpoint" and not wanted.name:
                faults.pop("name", None)  # without one it is called as its path
            told = [(fields.made[name].label, t.translate(each)) for name, each in faults.items()]
            return ["", gr.update(value=fill("models/faults.html", t=t, faults=told), visible=True)]
        except ModelError as error:
            return ["", gr.update(value=alert("bad", t.translate(error.sentence)), visible=True)]
        row = f"{screen.address(add='', edit='')}#model-{quote(entry.name)}"
        return [row, gr.update(visible=False)]

    screen.on(button.click, save, list(fields.made.values()), [screen.place, problem])
    screen.on(fields.made["place"].input, fields.at, fields.made["place"], fields.placed)


def place_of(requested: str) -> ModelSource:
    """The place of a name, an endpoint if there is none of that name."""
    known: dict[str, ModelSource] = {place: place for place in PLACES}
    return known.get(requested, "endpoint")


def place_of_entry(entry: ModelEntry) -> ModelSource:
    """Where an added model is."""
    if traits_of(entry).remote:
        return "endpoint"
    return "folder" if entry.path.startswith("/") else "hub"


class ModelFields:
    """The fields of a model; `made` are they by name of `NewModelForm`.

    `placed` changes with where the model is.
    """

    def __init__(self, t: Messages, place: ModelSource, edited: ModelEntry | None) -> None:
        self.t, self.place, self.edited = t, place, edited
        self.made: dict[str, Any] = {}
        self.placed: list[Any] = []
        self._typed = typed_fields(edited) if edited else {}

    def draw(self, people: Sequence[str] | None) -> None:
        """All fields, those of other places hidden; `people` are who can be named, if anybody."""
        t, edited, place = self.t, self.edited, self.place
        is_remote = place == "endpoint"
        self.made["place"] = gr.Radio(
            [(t(f"add.{each}"), each) for each in PLACES],
            value=place,
            label=t("add.where"),
            visible=edited is None,
            interactive=True,
            elem_classes="places",
        )
        about = markup(t(f"add.{place}_about"), visible=edited is None, elem_classes="about")
        with gr.Row(elem_classes="fields", visible=is_remote) as endpoint:
            self._endpoint_fields()
        with gr.Row(elem_classes="fields"):
            path = self._text("path", label=t(f"add.{place}_path"), example=f"{place}_example")
            hint = "name_or_path" if is_remote else "name_hint"
            name = self._text("name", hint=hint, visible=edited is None)
            words = {"yes": t("set.chat_yes"), "no": t("set.chat_no")}
            has_chat = edited.chat if edited else is_remote
            self._choice("chat", t("set.chat"), words, "yes" if has_chat else "no")
        with gr.Row(elem_classes="fields", visible=not is_remote) as local:
            self._local_fields()
        with gr.Column(elem_classes="folds", visible=is_remote) as rare:
            self._rare_fields()
        self.placed = [about, endpoint, path, name, local, rare]
        if people is not None:
            self._sharing(people)

    def at(self, service: AppService, place: ModelSource) -> list[Any]:
        """What is `placed`, for a model that is at a place; what was typed stays."""
        del service
        t, is_remote = self.t, place == "endpoint"
        return [
            t(f"add.{place}_about"),
            gr.update(visible=is_remote),
            gr.update(label=t(f"add.{place}_path"), placeholder=t(f"add.{place}_example")),
            gr.update(info=t("add.name_or_path" if is_remote else "add.name_hint")),
            gr.update(visible=not is_remote),
            gr.update(visible=is_remote),
        ]

    def read(self, values: Sequence[Any]) -> NewModelForm:
        """What stands in the fields; whether it is right is checked where the model is added."""
        given = dict(zip(self.made, values, strict=True))
        given |= {name: value.strip() for name, value in given.items() if isinstance(value, str)}
        given["chat"] = given["chat"] == "yes"
        if "people" in given:
            given["people"] = tuple(given["people"])
        if self.edited:
            given["name"] = self.edited.name
        elif given["place"] == "endpoint":
            given["name"] = given["name"] or given["path"].rpartition("/")[2]
        return NewModelForm(**given)

    def _endpoint_fields(self) -> None:
        t, kept = self.t, self.edited is not None and has_key(self.edited)
        self._text("address")
        self._text(
            "key",
            hint="key_kept" if kept else "key_hint",
            example="key_dots" if kept else "",
            type="password",
            html_attributes=gr.InputHTMLAttributes(spellcheck=False, autocomplete="new-password"),
        )
        self._tick("drops_key", t("add.drop_key"), False, visible=kept)

    def _local_fields(self) -> None:
        t, edited = self.t, self.edited
        self._text("adapter")
        dtypes = {name: t("add.dtype_auto") if name == "auto" else name for name in DTYPES}
        self._choice("dtype", t("add.dtype"), dtypes, edited.dtype if edited else "auto")
        backends = [name for name in BACKENDS if BACKENDS[name].traits.opens_folders]
        held = edited.backend if edited else ""
        held = held if held in backends else backends[0]
        words = {name: t(f"backend.{name}") for name in backends}
        self._choice("backend", t("add.backend"), words, held, visible=len(backends) > 1)

    def _rare_fields(self) -> None:
        """Folded unless one of them is filled in."""
        t, is_set = self.t, any(self._typed.get(name) for name in (*_RARE, "api"))
        rare = Details("", t("add.more"), t("add.more_about"), (), open=is_set)
        with fold(rare, ""), gr.Row(elem_classes="fields"):
            for name in _RARE:
                self._text(name)
            words = {each: t(f"add.api_{each}") for each in get_args(Api)}
            self._choice("api", t("add.api"), words, self._typed.get("api") or "auto")

    def _sharing(self, people: Sequence[str]) -> None:
        t, edited = self.t, self.edited
        with gr.Column(elem_classes="sharing"):
            markup(heading(t("add.who"), 3))
            self._tick("everyone", t("add.everyone"), edited.everyone if edited else True)
            self.made["people"] = gr.CheckboxGroup(
                list(people),
                value=[name for name in edited.people if name in people] if edited else [],
                show_label=False,
                label=t("add.who"),
                container=False,
                interactive=True,
            )
            markup(fill("models/hint.html", text=t("add.who_hint")))

    def _text(
        self, name: str, *, label: str = "", hint: str = "", example: str = "", **settings: Any
    ) -> gr.Textbox:
        """A field of text; the keys of its words are made of its name unless told."""
        t = self.t
        keys = [f"add.{hint or f'{name}_hint'}", f"add.{example or f'{name}_example'}"]
        info, placeholder = (t(key) if key in t else "" for key in keys)
        usual: dict[str, Any] = {
            "html_attributes": gr.InputHTMLAttributes(spellcheck=False, autocomplete="off")
        }
        with gr.Column(min_width=280, elem_classes="field"):
            made = gr.Textbox(
                self._typed.get(name, ""),
                label=label or t(f"add.{name}"),
                info=info or None,
                placeholder=placeholder,
                max_lines=1,
                interactive=True,
                elem_id=f"add-{name}",
                **usual | settings,
            )
        self.made[name] = made
        return made

    def _tick(self, name: str, label: str, ticked: bool, *, visible: bool = True) -> None:
        self.made[name] = gr.Checkbox(
            ticked, label=label, visible=visible, container=False, interactive=True
        )

    def _choice(
        self, name: str, label: str, words: Mapping[str, str], value: str, *, visible: bool = True
    ) -> None:
        with gr.Column(min_width=280, elem_classes="field", visible=visible):
            self.made[name] = gr.Dropdown(
                [(word, each) for each, word in words.items()],
                value=value,
                label=label,
                filterable=False,
                interactive=True,
            )
