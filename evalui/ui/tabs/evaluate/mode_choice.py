"""The modes to choose from with their presets, and how the questions are put."""

from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from evalui.messages import Messages
from evalui.models.base import traits_of
from evalui.modes import (
    MODES,
    ability_of,
    modes_for,
    usual_mode,
)
from evalui.modes import (
    traits_of as mode_traits,
)
from evalui.modes.prompts.templates import TEMPLATES
from evalui.report.html import Html, div, el, join, span
from evalui.summary_groups import published_lists
from evalui.types import Ability, DatasetKind, has_options
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import button, field, select, text_input
from evalui.ui.run_form import CUSTOM, PATTERNS, SPELLINGS, generation_field
from evalui.ui.tabs.evaluate.generation_fields import generation_fold
from evalui.ui.tabs.evaluate.model_choice import OfferedModel
from evalui.ui.tabs.evaluate.rows import choice_row, fold, list_card, own_text

PRESETS = ("quick", "robust", "full")
_QUICK_QUESTIONS = 20  # of each subject


def fits_options(mode: str) -> bool:
    """Whether a mode is for questions with options."""
    return any(map(has_options, MODES[mode].kinds))


def preset_fields(name: str, form: Form, models: Sequence[OfferedModel]) -> Form:
    """The fields that a preset sets: modes of choices, orders and limit; other modes stay."""
    models = _picked(form, models) or models
    every = modes_for(get_args(DatasetKind))
    choice = [mode for mode in every if fits_options(mode) and _able(form, mode, models)]
    # The mode that most of the models can do, the letters before the replies.
    best = sorted(choice, key=lambda mode: -len(_able(form, mode, models)))[:1]
    written = [mode for mode in field_values(form, "modes") if not fits_options(mode)]
    return {
        "modes": [*(choice if name == "full" else best or [usual_mode("choices")]), *written],
        "pattern": "origin" if name == "quick" else "circular",
        "limit": str(_QUICK_QUESTIONS) if name == "quick" else "",
    }


def modes_card(
    t: Messages,
    models: Sequence[OfferedModel],
    form: Form,
    *,
    kinds: Collection[DatasetKind],
) -> Html:
    """A row for each mode that fits the files, with how many of the chosen models can do it."""
    chosen, fitting = field_values(form, "modes"), modes_for(kinds)
    picked = _picked(form, models)
    rows = [_mode(t, name, name in chosen, form, models, picked) for name in fitting]
    count = sum(name in chosen for name in fitting)
    return list_card(
        t("modes.title"),
        join(
            _presets(t, form, models) if any(map(has_options, kinds)) else None,
            span(t("choose.of", n=count, total=len(fitting)), cls="meta"),
        ),
        *rows,
        _settings(t, form, kinds),
        cls="modes",
    )


def _presets(t: Messages, form: Form, models: Sequence[OfferedModel]) -> Html:
    now = {name: form.get(name, "") for name in ("modes", "pattern", "limit")}
    now["modes"] = list(field_values(form, "modes"))
    buttons = [
        button(
            t(f"preset.{name}"),
            "preset",
            cls="small",
            data_preset=name,
            aria_pressed=str(preset_fields(name, form, models) == now).lower(),
            title=t(f"preset.{name}_about"),
        )
        for name in PRESETS
    ]
    return div(*buttons, cls="presets", role="group", aria_label=t("preset.title"))


def _mode(
    t: Messages,
    name: str,
    chosen: bool,
    form: Form,
    models: Sequence[OfferedModel],
    picked: Sequence[OfferedModel],
) -> Html:
    anybody = _able(form, name, models)
    able = [model for model in picked if model in anybody]
    if not anybody:
        aside = t("modes.none_here")
    elif not picked:
        aside = t("modes.needs", what=t(f"ability.{_needed(form, name)}"))
    elif len(able) == len(picked):
        aside = t.count("modes.all_models", len(picked))
    else:
        aside = t("modes.some_models", n=len(able), total=len(picked))
    about, title = t(f"mode.{name}_about"), t(f"mode.{name}")
    if f"modes.{name}" in t:
        title = t(f"modes.{name}")  # shorter, since its second half stands beside it
    return choice_row("modes", name, title, about, aside, on=chosen, off=not anybody)


def _picked(form: Form, models: Sequence[OfferedModel]) -> list[OfferedModel]:
    names = field_values(form, "models")
    return [model for model in models if model.entry.name in names and model.can_run]


def _able(form: Form, mode: str, models: Sequence[OfferedModel]) -> list[OfferedModel]:
    """Those of the models that can do a mode."""
    needed = _needed(form, mode)
    hidden = "question" in mode_traits(mode).omits
    return [
        model
        for model in models
        if model.can_run
        and not model.entry.judges_only
        and needed in model.state.abilities
        and not (hidden and traits_of(model.entry).needs_question)
    ]


def _needed(form: Form, mode: str) -> Ability:
    """What a mode needs of a model with the spellings that the form chooses."""
    return ability_of(mode, SPELLINGS.get(field_value(form, "spellings"), "common"))


def _settings(t: Messages, form: Form, kinds: Collection[DatasetKind]) -> Html:
    """What the files leave to decide: orders, worked examples and prompt need options."""
    choice = any(map(has_options, kinds))
    orders = [
        choice_row(
            "pattern",
            pattern,
            t(f"orders.{pattern}"),
            t(f"orders.{pattern}_about"),
            kind="radio",
            on=(field_value(form, "pattern") or "circular") == pattern,
        )
        for pattern in PATTERNS
    ]
    return fold(
        t("set.title"),
        _settings_summary(t, form, choice=choice),
        el("fieldset", el("legend", t("orders.title"), cls="hidden"), *orders) if choice else None,
        div(*_fields(t, form, choice=choice), cls="fields gap"),
        _own_template(t, form) if choice else None,
        generation_fold(t, form),
        cls="settings",
    )


def _settings_summary(t: Messages, form: Form, *, choice: bool) -> str:
    pattern = field_value(form, "pattern") or "circular"
    shots = field_value(form, "shots") or "0"
    limit = field_value(form, "limit")
    per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
    parts = [
        t(f"set.orders_{pattern}") if choice else "",
        (t("set.no_shots") if shots == "0" else t("set.some_shots", n=shots)) if choice else "",
        t(f"set.first_{per}", n=limit) if limit else t("set.all_questions"),
        t("set.seed_is", n=field_value(form, generation_field("seed")) or "0"),
    ]
    return " · ".join(part for part in parts if part)


def _fields(t: Messages, form: Form, *, choice: bool) -> Sequence[Html | None]:
    per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
    number = {"inputmode": "numeric"}
    return (
        field(
            t("set.shots"),
            text_input("shots", field_value(form, "shots") or "0"),
            hint=t("set.shots_hint"),
        )
        if choice
        else None,
        field(
            t("set.limit"),
            text_input("limit", field_value(form, "limit"), placeholder=t("set.all"), **number),
            hint=t(f"set.limit_hint_{per}"),
        ),
        field(
            t("set.limit_per"),
            select(
                "limit_per", {name: t(f"set.per_{name}") for name in ("subject", "dataset")}, per
            ),
        ),
        field(t("set.template"), select("template", _templates(t), field_value(form, "template")))
        if choice
        else None,
        field(t("set.chat"), select("chat", _chats(t), field_value(form, "chat"))),
        field(
            t("set.spellings"),
            select("spellings", _spellings(t), field_value(form, "spellings")),
            hint=t("set.spellings_hint"),
        )
        if choice
        else None,
        field(
            t("set.groups"),
            select("summary_groups", _groups(t, form), field_value(form, "summary_groups")),
        )
        if choice
        else None,
        # Chosen in a specification; a run that is repeated keeps them.
        field(t("set.metrics"), text_input("metrics", metrics))
        if (metrics := field_value(form, "metrics"))
        else None,
    )


def _groups(t: Messages, form: Form) -> Mapping[str, str]:
    published = {name: each.title for name, each in published_lists().items()}
    own = field_value(form, "summary_groups")
    kept = {own: t("set.groups_own")} if own and own not in published else {}
    return {"": t("set.groups_none")} | published | kept


def _own_template(t: Messages, form: Form) -> Html:
    parts = ("question", "cloze", "answer", "unconditional")
    return own_text(
        t,
        form,
        TEMPLATES["plain-zh.1" if t.language == "zh" else "plain-en.1"],
        {name: t(f"own.{name}") for name in parts},
        prefix="own",
        name="my-prompt.1",
        about=t("own.about"),
        shown=field_value(form, "template") == CUSTOM,
    )


def _templates(t: Messages) -> Mapping[str, str]:
    return (
        {"": t("set.template_auto")}
        | {name: name for name in TEMPLATES}
        | {CUSTOM: t("set.template_own")}
    )


def _chats(t: Messages) -> Mapping[str, str]:
    return {"": t("set.chat_auto"), "yes": t("set.chat_yes"), "no": t("set.chat_no")}


def _spellings(t: Messages) -> Mapping[str, str]:
    return {name: t(f"set.spellings_{name}") for name in SPELLINGS}
