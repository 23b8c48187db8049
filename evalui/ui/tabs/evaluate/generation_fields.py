"""The fields that say how replies are written: one for each setting of the chosen modes."""

from evalui.generation import SETTINGS, DeclaredSetting, declared_settings
from evalui.messages import Messages
from evalui.modes.own_settings import settings_of
from evalui.report.html import Html, div
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import field, select, text_input
from evalui.ui.run_form import generation_field
from evalui.ui.tabs.evaluate.rows import fold, text_area

_MAX_SHOWN = 20  # characters of a value in the closed line


def generation_fold(t: Messages, form: Form, *, judge: bool = False) -> Html:
    """The settings of writing of the models, or of the judges, folded under what is not as usual.

    Each mode takes those that mean something to it.
    """
    modes = () if judge else field_values(form, "modes")
    declared = {**SETTINGS}
    for mode in modes:
        declared |= declared_settings(settings_of(mode))
    given = [
        t("generation.given", setting=t(f"generation.{name}"), value=_shortened(text))
        for name in declared
        if (text := field_value(form, generation_field(name, judge=judge)).strip())
    ]
    shown = (each for each in declared.values() if each.setting.of_judges or not judge)
    fields = (_field(t, form, each, judge=judge) for each in shown)
    return fold(
        t("generation.title"),
        " · ".join(given) or t("generation.usual"),
        div(*fields, cls="fields gap"),
    )


def _field(t: Messages, form: Form, declared: DeclaredSetting, *, judge: bool) -> Html:
    name = generation_field(declared.name, judge=judge)
    value = field_value(form, name)
    if declared.kind == "choice":
        words = {
            each: t(f"generation.{declared.name}_{each}") if each else t("generation.model")
            for each in declared.choices
        }
        control = select(name, words, value)
    elif declared.kind in ("text", "lines"):
        control = text_area(name, value)
    else:
        stated = f"generation.{declared.name}_usual"
        usual = t(stated if stated in t else "generation.model")
        if declared.default is not None:
            usual = f"{declared.default:g}"
        keys = "numeric" if declared.kind == "whole number" else "decimal"
        control = text_input(name, value, inputmode=keys, placeholder=usual)
    label = t(f"generation.{declared.name}")
    return field(label, control, hint=t(f"generation.{declared.name}_help"))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}…"
