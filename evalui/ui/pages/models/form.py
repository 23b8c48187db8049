"""The form that adds a model or changes an added one: its fields, and what stands in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from evalui.messages import Messages
from evalui.models.base import BACKENDS, ModelEntry, traits_of
from evalui.models.local import DTYPES
from evalui.models.new_model import ModelSource, NewModelForm, typed_fields
from evalui.models.user_catalog import has_key
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import heading

PLACES: tuple[ModelSource, ...] = ("endpoint", "folder", "hub")
_Group = Literal["", "endpoint", "local", "rare"]
Updates = dict[Block, Any]  # of components, what each shows from now on


@dataclass(frozen=True, slots=True)
class _Text:
    """A field of text: the field of `NewModelForm`, where it stands, and the keys of its words."""

    name: str
    group: _Group
    label: str
    hint: str = ""
    example: str = ""


_TEXTS = (
    _Text("address", "endpoint", "add.address", example="add.address_example"),
    _Text("key", "endpoint", "add.key", "add.key_hint"),
    _Text("path", "", "add.endpoint_path", example="add.endpoint_example"),
    _Text("name", "", "add.name", "add.name_hint"),
    _Text("adapter", "local", "add.adapter", "add.adapter_hint"),
    _Text("key_variable", "rare", "add.variable", "add.variable_hint", "add.key_example"),
    *(
        _Text(name, "rare", f"add.{name}", f"add.{name}_hint")
        for name in ("input_price", "output_price", "max_length", "timeout_s")
    ),
    *(
        _Text(name, "rare", f"add.{name}", f"add.{name}_hint", f"add.{name}_example")
        for name in ("extra_body", "headers", "query", "key_header")
    ),
)


class ModelFields:
    """The fields as components; made where Gradio is to draw them."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.texts: dict[str, gr.Textbox] = {}
        self.faults: dict[str, gr.HTML] = {}
        self.place = gr.Radio(
            [(t(f"add.{place}"), place) for place in PLACES],
            value=PLACES[0],
            label=t("add.where"),
            elem_classes="places",
        )
        self.place_about = markup(t(f"add.{PLACES[0]}_about"), elem_classes="about")
        with gr.Row(elem_classes="fields") as self.endpoint:
            self._texts("endpoint")
            self.drop_key = gr.Checkbox(
                False, label=t("add.drop_key"), visible=False, container=False
            )
        with gr.Row(elem_classes="fields"):
            self._texts("")
            words = {"no": t("set.chat_no"), "yes": t("set.chat_yes")}
            self.chat = self._choice(t("set.chat"), words, "yes")
        with gr.Row(elem_classes="fields", visible=False) as self.local:
            self._texts("local")
            dtypes = {name: t("add.dtype_auto") if name == "auto" else name for name in DTYPES}
            self.dtype = self._choice(t("add.dtype"), dtypes, "auto")
            backends = {name: t(f"backend.{name}") for name in _backends()}
            self.backend = self._choice(
                t("add.backend"), backends, _backends()[0], len(backends) > 1
            )
        with (
            gr.Accordion(t("add.more"), open=False) as self.rare,
            gr.Row(elem_classes="fields"),
        ):
            self._texts("rare")
        with gr.Column(visible=False, elem_classes="sharing") as self.sharing:
            markup(heading(t("add.who"), 3))
            self.everyone = gr.Checkbox(True, label=t("add.everyone"), container=False)
            self.people = gr.CheckboxGroup(
                [], show_label=False, label=t("add.who"), container=False
            )
            markup(fill("models/hint.html", text=t("add.who_hint")))
        self.inputs: list[Component] = [
            self.place,
            *self.texts.values(),
            self.drop_key,
            self.chat,
            self.dtype,
            self.backend,
            self.everyone,
            self.people,
        ]
        self.names = [
            "place",
            *self.texts,
            *("drop_key", "chat", "dtype", "backend", "everyone", "people"),
        ]
        self.outputs = [
            *self.inputs,
            *self.faults.values(),
            *(self.place_about, self.endpoint, self.local, self.rare, self.sharing),
        ]

    def opened(
        self, place: ModelSource, edited: ModelEntry | None, people: Sequence[str] | None
    ) -> Updates:
        """The form of a new model, or with what the catalog says of the added model `edited`."""
        shown = _fields_of(edited) | {"place": place}
        kept = edited is not None and has_key(edited)
        t = self.t
        updates: Updates = {
            **self.placed(place),
            **self.marked({}),
            self.place_about: gr.update(value=t(f"add.{place}_about"), visible=edited is None),
            self.place: gr.update(value=place, visible=edited is None),
            self.drop_key: gr.update(value=False, visible=kept),
            self.chat: shown.get("chat", "yes" if place == "endpoint" else "no"),
            self.dtype: shown.get("dtype", "auto"),
            self.backend: shown.get("backend", _backends()[0]),
            self.sharing: gr.update(visible=people is not None),
            self.everyone: shown.get("everyone", True),
            self.people: gr.update(
                choices=list(people or ()),
                value=[name for name in shown.get("people", ()) if name in (people or ())],
            ),
            self.rare: gr.update(
                visible=place == "endpoint",
                open=any(shown.get(each.name) for each in _TEXTS if each.group == "rare"),
            ),
        }
        changes: dict[str, dict[str, Any]] = {
            name: {"value": shown.get(name, "")} for name in self.texts
        }
        changes["name"]["visible"] = edited is None
        changes["key"]["info"] = t("add.key_kept" if kept else "add.key_hint")
        changes["key"]["placeholder"] = t("add.key_dots") if kept else ""
        for name, change in changes.items():
            box = self.texts[name]
            updates[box] = updates.get(box, {}) | gr.update(**change)
        return updates

    def placed(self, place: ModelSource) -> Updates:
        """Only the fields that matter for where the model is; what was typed stays."""
        t, remote = self.t, place == "endpoint"
        path = gr.update(label=t(f"add.{place}_path"), placeholder=t(f"add.{place}_example"))
        name = gr.update(info=t("add.name_or_path" if remote else "add.name_hint"))
        return {
            self.texts["path"]: path,
            self.texts["name"]: name,
            self.place_about: t(f"add.{place}_about"),
            self.endpoint: gr.update(visible=remote),
            self.local: gr.update(visible=not remote),
            self.rare: gr.update(visible=remote),
        }

    def marked(self, faults: Mapping[str, str]) -> Updates:
        """A fault below each field that has one."""
        updates: Updates = {}
        for name, place in self.faults.items():
            fault = self.t.translate(faults[name]) if name in faults else ""
            shown = fill("models/fault.html", text=fault)
            updates[place] = gr.update(value=shown, visible=bool(fault))
        if any(each.name in faults for each in _TEXTS if each.group == "rare"):
            updates[self.rare] = gr.update(open=True)
        return updates

    def read(self, sent: Sequence[Any], edited: ModelEntry | None, *, shared: bool) -> NewModelForm:
        """What was typed, as far as it is of the types that the fields have.

        Whether it is right is checked where the model is added. `shared`: people have the server.
        """
        given = dict(zip(self.names, sent, strict=True))

        def text(name: str) -> str:
            value = given.get(name)
            return value.strip() if isinstance(value, str) else ""

        place = place_of(text("place"))
        name = edited.name if edited else text("name")
        if place == "endpoint":
            name = name or text("path").rpartition("/")[2]
        people = cast("list[object]", given["people"]) if isinstance(given["people"], list) else []
        backend = text("backend")
        texts = {each.name: text(each.name) for each in _TEXTS if each.name != "name"}
        return NewModelForm(
            name=name,
            place=place,
            backend=backend if backend in _backends() else _backends()[0],
            dtype=text("dtype") or "auto",
            chat=text("chat") == "yes",
            drops_key=given["drop_key"] is True,
            everyone=not shared or given["everyone"] is True,
            people=tuple(name for name in people if isinstance(name, str)),
            **texts,
        )

    def name_of(self, sent: Sequence[Any]) -> str:
        """The name that was typed."""
        name = dict(zip(self.names, sent, strict=True))["name"]
        return name.strip() if isinstance(name, str) else ""

    def _texts(self, group: _Group) -> None:
        for each in _TEXTS:
            if each.group == group:
                self._text(each)

    def _text(self, field: _Text) -> None:
        t, secret = self.t, field.name == "key"
        with gr.Column(min_width=280, elem_classes="field"):
            self.texts[field.name] = gr.Textbox(
                label=t(field.label),
                info=t(field.hint) if field.hint else None,
                placeholder=t(field.example) if field.example else "",
                type="password" if secret else "text",
                max_lines=1,
                elem_id=f"add-{field.name}",
                html_attributes=gr.InputHTMLAttributes(
                    spellcheck=False, autocomplete="new-password" if secret else "off"
                ),
            )
            self.faults[field.name] = markup("", visible=False)

    def _choice(
        self, label: str, words: Mapping[str, str], value: str, shown: bool = True
    ) -> gr.Dropdown:
        with gr.Column(min_width=280, elem_classes="field", visible=shown):
            choices = [(word, name) for name, word in words.items()]
            return gr.Dropdown(choices, value=value, label=label, filterable=False)


def place_of(requested: str) -> ModelSource:
    """The place of a name, an endpoint if there is none of that name."""
    known: dict[str, ModelSource] = {place: place for place in PLACES}
    return known.get(requested, "endpoint")


def place_of_entry(entry: ModelEntry) -> ModelSource:
    """Where an added model is."""
    if traits_of(entry).remote:
        return "endpoint"
    return "folder" if entry.path.startswith("/") else "hub"


def _fields_of(entry: ModelEntry | None) -> dict[str, Any]:
    """The fields as the catalog has them."""
    if entry is None:
        return {}
    return typed_fields(entry) | {
        "backend": entry.backend,
        "chat": "yes" if entry.chat else "no",
        "everyone": entry.everyone,
        "people": list(entry.people),
    }


def _backends() -> list[str]:
    return [name for name in BACKENDS if BACKENDS[name].traits.opens_folders]
