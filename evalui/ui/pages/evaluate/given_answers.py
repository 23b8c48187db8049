"""Answers that are there already: what files of them hold, and those of earlier runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.files.views import AnswersFile, EarlierRun
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.types import Fault
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import fault_text
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.choices import Choice, ChoiceGroup, choice_list
from evalui.ui.pages.evaluate.spec import answer_field

_SHOWN_UNKNOWN = 5
_SHOWN_FAULTS = 5


@dataclass(frozen=True, slots=True)
class _Line:
    """A file of answers: the field for its model, and what it holds, or its problem."""

    name: str
    model: str
    file: str
    problem: str
    matched: tuple[str, str]
    unknown: str
    n_faults: int
    faults: Sequence[tuple[str, str]]


def answers_files(t: Messages, files: Sequence[AnswersFile], form: Form) -> Html:
    """A line for each file: its model, what it holds, and the button that drops it."""
    return fill("evaluate/answers.html", t=t, files=[_line(t, file, form) for file in files])


def picked_run(form: Form) -> str:
    """The earlier run whose models are listed."""
    chosen = field_values(form, "earlier")
    first = next((entry.partition("/")[0] for entry in chosen), "")
    return field_value(form, "earlier_run") or first


def earlier_models(t: Messages, runs: Sequence[EarlierRun], form: Form) -> Html:
    """The models of the run that is picked; those ticked in other runs stay ticked."""
    picked, chosen = picked_run(form), field_values(form, "earlier")
    rows = [
        Choice(value, model, t("answers.of_run", n=f"{count:,}", run=run.name))
        for run in runs
        for model, count in run.models
        if (value := f"{run.id}/{model}") in chosen or run.id == picked
    ]
    return choice_list("earlier", [ChoiceGroup(rows)], chosen) if rows else Html("")


def _line(t: Messages, file: AnswersFile, form: Form) -> _Line:
    name = answer_field(file.upload)
    whole = file.matched == file.questions
    words = t("answers.matched", n=f"{file.matched:,}", total=f"{file.questions:,}")
    unknown = t("list.comma").join(file.unknown[:_SHOWN_UNKNOWN])
    more = " …" if file.n_unknown > _SHOWN_UNKNOWN else ""
    return _Line(
        name,
        field_value(form, name),
        file.name,
        t.translate(file.problem),
        ("ok" if whole else "warn" if file.matched else "bad", words),
        t.count("answers.unknown", file.n_unknown, ids=unknown + more) if file.unknown else "",
        len(file.faults) + file.unlisted if file.faults else 0,
        [_fault(t, fault) for fault in file.faults[:_SHOWN_FAULTS]],
    )


def _fault(t: Messages, fault: Fault) -> tuple[str, str]:
    """Where it is, and what is wrong."""
    actual, expected = fault_text(t, fault)
    place = t("answers.line", n=f"{fault.line:,}") if fault.line else t("answers.whole")
    return place, t("answers.fault", found=actual, expected=expected)
