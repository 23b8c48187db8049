"""The modes to choose from with their presets, and what the closed line of their settings says."""

from collections.abc import Collection, Sequence
from typing import get_args

from evalui.generation import SETTINGS, declared_settings
from evalui.messages import Messages
from evalui.models.base import traits_of
from evalui.modes import MODES, ability_of, modes_for, spellings_for, usual_mode
from evalui.modes import traits_of as mode_traits
from evalui.modes.own_settings import settings_of
from evalui.report.html import Html
from evalui.types import DatasetKind, has_options
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.pages.evaluate.choices import Choice, ChoiceGroup, choice_list
from evalui.ui.pages.evaluate.model_list import OfferedModel
from evalui.ui.pages.evaluate.spec import JUDGING, read_spellings

PRESETS = ("quick", "robust", "full")
_QUICK_QUESTIONS = 20  # of each subject
_MAX_SHOWN = 20  # characters of a value in the closed line


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


def preset_of(form: Form, models: Sequence[OfferedModel]) -> str | None:
    """The preset that the form is, None if it is none."""
    now = {name: form.get(name, "") for name in ("modes", "pattern", "limit")}
    now["modes"] = list(field_values(form, "modes"))
    return next((name for name in PRESETS if preset_fields(name, form, models) == now), None)


def mode_list(
    t: Messages, models: Sequence[OfferedModel], form: Form, kinds: Collection[DatasetKind]
) -> Html:
    """A row for each mode that fits the files, with how many of the chosen models can do it."""
    chosen, fitting = field_values(form, "modes"), modes_for(kinds)
    picked = _picked(form, models)
    rows = [_mode(t, name, form, models, picked) for name in fitting]
    count = sum(name in chosen for name in fitting)
    return choice_list(
        "modes",
        [ChoiceGroup(rows)],
        chosen,
        title=t("modes.title"),
        count=t("choose.of", n=count, total=len(fitting)),
    )


def settings_summary(t: Messages, form: Form, *, choice: bool) -> str:
    """How the questions are put, in the words of a line; `choice`: some have options."""
    pattern = field_value(form, "pattern") or "circular"
    shots = field_value(form, "shots") or "0"
    limit = field_value(form, "limit")
    per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
    parts = [
        t(f"set.orders_{pattern}") if choice else "",
        (t("set.no_shots") if shots == "0" else t("set.some_shots", n=shots)) if choice else "",
        t(f"set.first_{per}", n=limit) if limit else t("set.all_questions"),
    ]
    return " · ".join(part for part in parts if part)


def offered_settings(form: Form) -> Collection[str]:
    """The settings of writing that mean something to the chosen modes."""
    declared = {*SETTINGS}
    for mode in field_values(form, "modes"):
        declared |= declared_settings(settings_of(mode)).keys()
    return declared


def generation_summary(t: Messages, form: Form, names: Collection[str], *, judge: bool) -> str:
    """What of how replies are written is not as usual."""
    given = [
        t("generation.given", setting=t(f"generation.{name}"), value=_shortened(text))
        for name in names
        if (text := field_value(form, f"{JUDGING}{name}" if judge else name).strip())
    ]
    return " · ".join(given) or t("generation.usual")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}…"


def _mode(
    t: Messages,
    name: str,
    form: Form,
    models: Sequence[OfferedModel],
    picked: Sequence[OfferedModel],
) -> Choice:
    anybody = _able(form, name, models)
    able = [model for model in picked if model in anybody]
    if not anybody:
        aside = t("modes.none_here")
    elif not picked:
        needed = ability_of(name, read_spellings(form))
        aside = t("modes.needs", what=t(f"ability.{needed}"))
    elif len(able) == len(picked):
        aside = t.count("modes.all_models", len(picked))
    else:
        aside = t("modes.some_models", n=len(able), total=len(picked))
    about, title = t(f"mode.{name}_about"), t(f"mode.{name}")
    if f"modes.{name}" in t:
        title = t(f"modes.{name}")  # shorter, since its second half stands beside it
    return Choice(name, title, about, aside, off=not anybody)


def _picked(form: Form, models: Sequence[OfferedModel]) -> list[OfferedModel]:
    names = field_values(form, "models")
    return [model for model in models if model.entry.name in names and model.can_run]


def _able(form: Form, mode: str, models: Sequence[OfferedModel]) -> list[OfferedModel]:
    """Those of the models that can do a mode."""
    wanted = read_spellings(form)
    hidden = "question" in mode_traits(mode).omits
    return [
        model
        for model in models
        if model.can_run
        and not model.entry.judges_only
        and ability_of(mode, spellings_for(mode, wanted, model.state.abilities))
        in model.state.abilities
        and not (hidden and traits_of(model.entry).needs_question)
    ]
