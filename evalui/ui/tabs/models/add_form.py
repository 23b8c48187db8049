"""The Models page's form for a model that is not in the catalog, for those who may add one."""

from collections.abc import Mapping
from typing import get_args

from evalui.messages import Messages
from evalui.models.base import BACKENDS
from evalui.models.local import DTYPES
from evalui.models.user_catalog import ModelSource, NewModelForm
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import button, field, note, select, titled

_PLACES: Mapping[str, ModelSource] = {name: name for name in get_args(ModelSource)}
# The form's own name of a field, where it is shorter than that of `NewModelForm`.
_SHORT = {"key_variable": "key"}
_OPTIONAL_FIELDS = ("input_price", "output_price", "max_length")


def add_card(
    t: Messages,
    form: Form,
    *,
    problem: str = "",
    done: str = "",
    faults: Mapping[str, str] | None = None,
) -> Html:
    """The form, only with the fields that matter for where the model is.

    `faults` are sentences by the name of the field in `NewModelForm`; `problem` is one of the
    whole.
    """
    place = _PLACES.get(field_value(form, "add_place"), "folder")
    wrong = {_SHORT.get(name, name): told for name, told in (faults or {}).items()}
    fields = _endpoint(t, form, wrong) if place == "endpoint" else _local(t, form, place, wrong)
    if wrong:
        problem = t("add.wrong")
    told = note("bad", problem) if problem else note("ok", done) if done else None
    return titled(
        t("add.title"),
        el("p", t("add.about"), cls="dim"),
        div(_places(t, place), cls="gap"),
        fields,
        div(told, role="alert", cls="gap") if told else None,
        div(button(t("add.go"), "add", cls="pri", data_once=True), cls="gap"),
        cls="add-model",
    )


def read_wanted(form: Form) -> NewModelForm:
    """The form's fields; whether they are right is checked where the model is added."""
    place = _PLACES.get(field_value(form, "add_place"), "folder")
    backend = field_value(form, "add_backend")
    return NewModelForm(
        name=field_value(form, "add_name").strip(),
        path=field_value(form, "add_path").strip(),
        place=place,
        backend=backend if backend in _backends() else _backends()[0],
        dtype=field_value(form, "add_dtype") or "auto",
        chat=field_value(form, "add_chat") == "yes",
        adapter=field_value(form, "add_adapter").strip(),
        address=field_value(form, "add_address").strip(),
        key_variable=field_value(form, "add_key").strip(),
        input_price=field_value(form, "add_input_price").strip(),
        output_price=field_value(form, "add_output_price").strip(),
        max_length=field_value(form, "add_max_length").strip(),
    )


def _backends() -> list[str]:
    return [name for name in BACKENDS if BACKENDS[name].traits.opens_folders]


def _places(t: Messages, chosen: ModelSource) -> Html:
    return div(
        *(
            el(
                "label",
                el(
                    "input",
                    type="radio",
                    name="add_place",
                    value=place,
                    checked=place == chosen,
                    aria_label=t(f"add.{place}"),
                ),
                div(el("h3", t(f"add.{place}")), div(t(f"add.{place}_about"), cls="meta")),
                cls="opt",
            )
            for place in _PLACES
        ),
        cls="places",
        role="radiogroup",
        aria_label=t("add.where"),
    )


def _local(t: Messages, form: Form, place: ModelSource, wrong: Mapping[str, str]) -> Html:
    fields = [
        _text(t, form, "name", wrong, hint=True),
        _text(t, form, "path", wrong, word=f"add.{place}_path", example=f"add.{place}_example"),
        _text(t, form, "adapter", wrong, hint=True),
        field(
            t("add.dtype"),
            select(
                "add_dtype",
                {name: t("add.dtype_auto") if name == "auto" else name for name in DTYPES},
                field_value(form, "add_dtype"),
            ),
        ),
        _chat(t, form),
    ]
    if len(backends := _backends()) > 1:
        words = {name: t(f"backend.{name}") for name in backends}
        fields.append(
            field(t("add.backend"), select("add_backend", words, field_value(form, "add_backend")))
        )
    return div(*fields, cls="fields gap")


def _endpoint(t: Messages, form: Form, wrong: Mapping[str, str]) -> Html:
    return join(
        div(
            _text(t, form, "name", wrong, hint=True),
            _text(t, form, "address", wrong, example="add.address_example"),
            _text(t, form, "path", wrong, word="add.endpoint_path", example="add.endpoint_example"),
            _text(t, form, "key", wrong, hint=True, example="add.key_example"),
            _chat(t, form),
            cls="fields gap",
        ),
        el(
            "details",
            el("summary", t("add.more")),
            div(
                *(
                    _text(t, form, name, wrong, hint=True, inputmode="decimal")
                    for name in _OPTIONAL_FIELDS
                ),
                cls="fields",
            ),
            cls="gap",
            # What is filled in, or wrong, must not be out of sight.
            open=any(field_value(form, f"add_{name}") for name in _OPTIONAL_FIELDS),
        ),
    )


def _chat(t: Messages, form: Form) -> Html:
    words = {"": t("set.chat_no"), "yes": t("set.chat_yes")}
    return field(t("set.chat"), select("add_chat", words, field_value(form, "add_chat")))


def _text(
    t: Messages,
    form: Form,
    name: str,
    wrong: Mapping[str, str],
    *,
    word: str = "",
    example: str = "",
    hint: bool = False,
    inputmode: str | None = None,
) -> Html:
    """A text field; its fault, if it has one, takes the place of its hint."""
    fault = wrong.get(name, "")
    about = el("span", t.translate(fault), cls="bad fault", id=f"fault-{name}") if fault else None
    control = el(
        "input",
        type="text",
        name=f"add_{name}",
        value=field_value(form, f"add_{name}"),
        placeholder=t(example) if example else None,
        inputmode=inputmode,
        autocomplete="off",
        spellcheck="false",
        aria_invalid="true" if fault else None,
        aria_describedby=f"fault-{name}" if fault else None,
    )
    return field(
        t(word or f"add.{name}"), control, hint=about or (t(f"add.{name}_hint") if hint else None)
    )
