"""Answers that are there already: what files of them hold, and those of earlier runs."""

from collections.abc import Sequence

from evalui.app.files.views import AnswersFile, EarlierRun
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.types import Fault
from evalui.ui.components.choice_list import Choice, ChoiceGroup, choice_list
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import fault_text
from evalui.ui.components.named_texts import NamedText, named_texts
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.spec import answer_field

_SHOWN_UNKNOWN = 5
_SHOWN_FAULTS = 5


def answers_files(t: Messages, files: Sequence[AnswersFile]) -> Html:
    """A field for the model of each file, what the file holds, and the button that drops it."""
    return named_texts(
        NamedText(
            answer_field(file.upload),
            t("answers.model"),
            file.name,
            below=_matched(t, file),
            remove=t("file.remove"),
            data={"do": "forget", "upload": file.upload},
        )
        for file in files
    )


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
    return choice_list("earlier", [ChoiceGroup(rows)]) if rows else Html("")


def _matched(t: Messages, file: AnswersFile) -> Html:
    if file.problem:
        return fill("evaluate/notes.html", notes=[("bad", t.translate(file.problem))])
    whole = file.matched == file.questions
    words = t("answers.matched", n=f"{file.matched:,}", total=f"{file.questions:,}")
    unknown = t("list.comma").join(file.unknown[:_SHOWN_UNKNOWN])
    more = " …" if file.n_unknown > _SHOWN_UNKNOWN else ""
    return fill(
        "evaluate/matched.html",
        t=t,
        matched=("ok" if whole else "warn" if file.matched else "bad", words),
        unknown=t.count("answers.unknown", file.n_unknown, ids=unknown + more)
        if file.unknown
        else "",
        n_faults=len(file.faults) + file.unlisted if file.faults else 0,
        faults=[_fault(t, fault) for fault in file.faults[:_SHOWN_FAULTS]],
    )


def _fault(t: Messages, fault: Fault) -> tuple[str, str]:
    """Where it is, and what is wrong."""
    actual, expected = fault_text(t, fault)
    place = t("answers.line", n=f"{fault.line:,}") if fault.line else t("answers.whole")
    return place, t("answers.fault", found=actual, expected=expected)
