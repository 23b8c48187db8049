"""The form that adds a model or changes an added one, and what its fields say."""

import json
from collections.abc import Mapping, Sequence
from typing import get_args
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.models.base import BACKENDS, ModelEntry, traits_of
from evalui.models.local import DTYPES
from evalui.models.new_model import ModelSource, NewModelForm
from evalui.models.user_catalog import has_key
from evalui.report.html import Child, Html, div, el, join, span
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import alert, button, field, hidden, select, tick, titled

_PLACES: Mapping[str, ModelSource] = {
    name: name for name in ("endpoint", *get_args(ModelSource)) if name in get_args(ModelSource)
}
# The form's own name of a field, where it is shorter than that of `NewModelForm`.
_SHORT = {"key_variable": "variable"}
_RARE_FIELDS = ("variable", "input_price", "output_price", "max_length")
_EXTRA_FIELDS = ("extra_body", "headers", "query", "key_header")


class ModelForm:
    """The form of one address: of a new model, or of the added model `edited`.

    `teams` may be let use it; None where one person has the server.
    """

    def __init__(
        self,
        t: Messages,
        form: Form,
        edited: ModelEntry | None = None,
        teams: Sequence[str] | None = None,
    ) -> None:
        self.t = t
        self.teams = teams
        self.edited = edited
        # Before the fields stand on the page, they say what the catalog says.
        started = any(name.startswith("add_") for name in form)
        self.form = form if started else _fields_of(edited) | form
        requested = field_value(self.form, "add_place") or field_value(self.form, "add")
        self.place: ModelSource = _PLACES.get(requested, "endpoint")

    @property
    def address(self) -> str:
        """The address it is shown at; no field but the place ever becomes part of one."""
        query = {"edit": self.edited.name} if self.edited else {"add": self.place}
        return urlencode({"tab": "models", **query})

    def wanted(self) -> NewModelForm:
        """The fields; whether they are right is checked where the model is added."""
        path, backend = self._value("path"), self._value("backend")
        name = self.edited.name if self.edited else self._value("name")
        if self.place == "endpoint":
            name = name or path.rpartition("/")[2]
        return NewModelForm(
            name=name,
            path=path,
            place=self.place,
            backend=backend if backend in _backends() else _backends()[0],
            dtype=self._value("dtype") or "auto",
            chat=self._value("chat") == "yes",
            adapter=self._value("adapter"),
            address=self._value("address"),
            key=self._value("key"),
            drops_key=self._value("drop_key") == "yes",
            key_variable=self._value("variable"),
            input_price=self._value("input_price"),
            output_price=self._value("output_price"),
            max_length=self._value("max_length"),
            extra_body=self._value("extra_body"),
            headers=self._value("headers"),
            query=self._value("query"),
            key_header=self._value("key_header"),
            everyone=self.teams is None or self._value("everyone") == "yes",
            teams=field_values(self.form, "add_teams"),
        )

    def card(self, *, problem: str = "", faults: Mapping[str, str] | None = None) -> Html:
        """The form, only with the fields that matter for where the model is.

        `faults` are sentences by the name of the field in `NewModelForm`; `problem` is one of the
        whole.
        """
        t, edited = self.t, self.edited
        wrong = {_SHORT.get(name, name): message for name, message in (faults or {}).items()}
        if self.place == "endpoint" and "path" in wrong and not self._value("name"):
            wrong.pop("name", None)  # without a name of its own it would be called as its path
        problem = t("add.wrong") if wrong else problem
        title = t("add.edit", name=edited.name) if edited else t("add.title")
        return titled(
            title,
            self._places() if edited is None else hidden("add_place", self.place),
            self._endpoint(wrong) if self.place == "endpoint" else self._local(wrong),
            None if self.teams is None else self._sharing(self.teams),
            div(alert("bad", problem), cls="gap") if problem else None,
            div(
                button(t("add.save" if edited else "add.go"), "save", cls="pri", data_once=True),
                el("a", t("add.cancel"), href="?tab=models", cls="btn quiet"),
                cls="acts gap",
            ),
            cls="add-model",
        )

    def _value(self, name: str) -> str:
        return field_value(self.form, f"add_{name}").strip()

    def _places(self) -> Html:
        t = self.t
        options = [
            el(
                "label",
                el(
                    "input",
                    type="radio",
                    name="add_place",
                    value=place,
                    checked=place == self.place,
                    aria_label=t(f"add.{place}"),
                ),
                div(el("h3", t(f"add.{place}")), div(t(f"add.{place}_about"), cls="meta")),
                cls="opt",
            )
            for place in _PLACES
        ]
        return div(*options, cls="places", role="radiogroup", aria_label=t("add.where"))

    def _local(self, wrong: Mapping[str, str]) -> Html:
        t, place = self.t, self.place
        dtypes = {name: t("add.dtype_auto") if name == "auto" else name for name in DTYPES}
        backends = {name: t(f"backend.{name}") for name in _backends()}
        return div(
            self._name(wrong),
            self._text("path", wrong, word=f"add.{place}_path", example=f"add.{place}_example"),
            self._text("adapter", wrong, hint="add.adapter_hint"),
            field(t("add.dtype"), select("add_dtype", dtypes, self._value("dtype"))),
            self._chat(),
            field(t("add.backend"), select("add_backend", backends, self._value("backend")))
            if len(backends) > 1
            else None,
            cls="fields gap",
        )

    def _endpoint(self, wrong: Mapping[str, str]) -> Html:
        t = self.t
        rare = [self._text("variable", wrong, hint="add.variable_hint", example="add.key_example")]
        rare += [
            self._text(name, wrong, hint=f"add.{name}_hint", inputmode="decimal")
            for name in _RARE_FIELDS[1:]
        ]
        rare += [
            self._text(name, wrong, hint=f"add.{name}_hint", example=f"add.{name}_example")
            for name in _EXTRA_FIELDS
        ]
        return join(
            div(
                self._text("address", wrong, example="add.address_example"),
                self._key(wrong),
                self._text("path", wrong, word="add.endpoint_path", example="add.endpoint_example"),
                self._name(wrong, hint="add.name_or_path"),
                self._chat(),
                cls="fields gap",
            ),
            el(
                "details",
                el("summary", t("add.more")),
                div(*rare, cls="fields"),
                cls="gap",
                # What is filled in, or wrong, must not be out of sight.
                open=any(
                    self._value(name) or name in wrong for name in (*_RARE_FIELDS, *_EXTRA_FIELDS)
                ),
            ),
        )

    def _name(self, wrong: Mapping[str, str], hint: str = "add.name_hint") -> Html | None:
        return None if self.edited else self._text("name", wrong, hint=hint)

    def _key(self, wrong: Mapping[str, str]) -> Html:
        """A field that is only ever written: what it holds never comes back to a page."""
        t, kept = self.t, self.edited is not None and has_key(self.edited)
        typed = self._text(
            "key",
            wrong,
            kind="password",
            hint="add.key_kept" if kept else "add.key_hint",
            example="add.key_dots" if kept else "",
        )
        if not kept:
            return typed
        return div(typed, tick("add_drop_key", "yes", t("add.drop_key"), on=False, many=False))

    def _sharing(self, teams: Sequence[str]) -> Html:
        """Who may use the model, and the key that was entered for it."""
        t, chosen = self.t, field_values(self.form, "add_teams")
        everyone = self._value("everyone") == "yes"
        return div(
            el("h3", t("add.who")),
            tick("add_everyone", "yes", t("add.everyone"), on=everyone, many=False),
            *(
                tick("add_teams", team, t("add.team", team=team), on=team in chosen)
                for team in teams
            ),
            div(t("add.who_hint"), cls="meta gap-s"),
            cls="gap",
        )

    def _chat(self) -> Html:
        words = {"": self.t("set.chat_no"), "yes": self.t("set.chat_yes")}
        # Most endpoints serve conversations, most of them nothing else.
        usual = "yes" if self.place == "endpoint" else ""
        chosen = self._value("chat") if "add_chat" in self.form else usual
        return field(self.t("set.chat"), select("add_chat", words, chosen), key="chat")

    def _text(
        self,
        name: str,
        wrong: Mapping[str, str],
        *,
        word: str = "",
        example: str = "",
        hint: str = "",
        inputmode: str | None = None,
        kind: str = "text",
    ) -> Html:
        """A field of text; its fault, if it has one, takes the place of its hint."""
        t, fault = self.t, wrong.get(name, "")
        about: Child = t(hint) if hint else None
        if fault:
            about = span(t.translate(fault), cls="bad fault", id=f"fault-{name}")
        control = el(
            "input",
            type=kind,
            name=f"add_{name}",
            value=None if kind == "password" else field_value(self.form, f"add_{name}"),
            placeholder=t(example) if example else None,
            inputmode=inputmode,
            autocomplete="new-password" if kind == "password" else "off",
            spellcheck="false",
            aria_invalid="true" if fault else None,
            aria_describedby=f"fault-{name}" if fault else None,
        )
        return field(t(word or f"add.{name}"), control, hint=about, key=name)


def _fields_of(entry: ModelEntry | None) -> Form:
    """The fields of the form as the catalog has them; a key is none of them."""
    if entry is None:
        return {"add_everyone": "yes"}
    remote = traits_of(entry).remote
    place = "endpoint" if remote else "folder" if entry.path.startswith("/") else "hub"
    numbers = {
        "input_price": entry.input_price,
        "output_price": entry.output_price,
        "max_length": entry.max_length,
    }
    return {
        "add_place": place,
        "add_path": entry.path,
        "add_adapter": entry.adapter,
        "add_dtype": entry.dtype,
        "add_backend": entry.backend,
        "add_chat": "yes" if entry.chat else "",
        "add_address": str(entry.options.get("base_url", "")),
        "add_variable": str(entry.options.get("api_key_env", "")),
        "add_everyone": "yes" if entry.everyone else "",
        "add_teams": list(entry.teams),
        "add_key_header": str(entry.options.get("key_header", "")),
        **{
            f"add_{name}": json.dumps(table, ensure_ascii=False)
            for name in ("extra_body", "headers", "query")
            if (table := entry.options.get(name))
        },
        **{f"add_{name}": f"{number:.12g}" if number else "" for name, number in numbers.items()},
    }


def _backends() -> list[str]:
    return [name for name in BACKENDS if BACKENDS[name].traits.opens_folders]
