"""The Evaluate page's answers that are there already: files, and models of earlier runs."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.types import Fault
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import fault_text
from evalui.ui.components.html import Html, div, el, join, span
from evalui.ui.components.widgets import UPLOAD, button, field, note, select, status, titled
from evalui.ui.services.answers import AnswersFile, EarlierRun
from evalui.ui.services.run_form import answer_name_field

_SHOWN_UNKNOWN = 5
_SHOWN_FAULTS = 5


def answers_card(
    t: Messages, files: Sequence[AnswersFile], runs: Sequence[EarlierRun], form: Form
) -> Html:
    """A drop zone for answers, what its files hold, and the earlier runs to take answers from."""
    return titled(
        t("answers.title"),
        el("p", t("answers.about"), cls="meta"),
        *(
            el("input", type="hidden", name="answers", value=upload, data_many=True)
            for upload in dict.fromkeys(found.upload for found in files)
        ),
        *(div(_file(t, found), cls="gap-s") for found in files),
        div(_drop(t), cls="gap-s"),
        _earlier_runs(t, runs, form) if runs else None,
        cls="given-card",
    )


def _file(t: Messages, found: AnswersFile) -> Html:
    name = el(
        "input",
        type="text",
        name=answer_name_field(found.upload, found.place),
        value=found.model,
        autocomplete="off",
    )
    return div(
        div(
            field(t("answers.model"), name),
            button(t("file.remove"), "forget", data_upload=found.upload, data_place=found.place),
            cls="given",
        ),
        div(found.name, cls="meta gap-s"),
        _matched(t, found),
        cls="given-file",
    )


def _matched(t: Messages, found: AnswersFile) -> Html:
    if found.problem:
        return div(note("bad", t.translate(found.problem)), cls="gap-s")
    whole = found.matched == found.questions
    told = t("answers.matched", n=f"{found.matched:,}", total=f"{found.questions:,}")
    unknown = t("list.comma").join(found.unknown[:_SHOWN_UNKNOWN])
    more = " …" if len(found.unknown) > _SHOWN_UNKNOWN else ""
    return join(
        div(status("ok" if whole else "warn" if found.matched else "bad", told), cls="gap-s"),
        div(t.count("answers.unknown", len(found.unknown), ids=unknown + more), cls="meta")
        if found.unknown
        else None,
        _faults(t, found) if found.faults else None,
    )


def _faults(t: Messages, found: AnswersFile) -> Html:
    """How many rows cannot be used, and where and why the first of them."""
    n = len(found.faults) + found.unlisted
    rest = n - _SHOWN_FAULTS
    return join(
        div(t.count("answers.faults", n), cls="meta"),
        *(_fault(t, fault) for fault in found.faults[:_SHOWN_FAULTS]),
        div(t("preview.more", n=f"{rest:,}"), cls="meta") if rest > 0 else None,
    )


def _fault(t: Messages, fault: Fault) -> Html:
    found, expected = fault_text(t, fault)
    place = t("answers.line", n=f"{fault.line:,}") if fault.line else t("answers.whole")
    return div(
        span(place, cls="nw"), " · ", t("answers.fault", found=found, expected=expected), cls="meta"
    )


def _drop(t: Messages) -> Html:
    return div(
        UPLOAD,
        div(t("answers.drop"), cls="dim"),
        el("input", type="file", id="answer-files", multiple=True, aria_label=t("answers.choose")),
        el("label", t("answers.choose"), for_="answer-files", cls="btn"),
        div(t("answers.kinds"), cls="meta"),
        div(cls="bad meta", role="alert", data_status=True),
        cls="drop small",
        data_act="answered",
        data_sending=t("drop.sending"),
        data_lost=t("drop.lost"),
    )


def _earlier_runs(t: Messages, runs: Sequence[EarlierRun], form: Form) -> Html:
    """The models of the run that is picked; those ticked in other runs stay ticked."""
    chosen = field_values(form, "earlier")
    first = next((entry.partition("/")[0] for entry in chosen), "")
    picked = field_value(form, "earlier_run") or first
    names = {"": t("answers.no_run")} | {run.id: run.name for run in runs}
    rows = [
        _earlier_model(t, run, model, count, chosen)
        for run in runs
        for model, count in run.models
        if run.id == picked or f"{run.id}/{model}" in chosen
    ]
    return div(
        field(t("answers.earlier"), select("earlier_run", names, picked)),
        div(*rows, cls="gap-s") if rows else None,
        cls="gap",
    )


def _earlier_model(
    t: Messages, run: EarlierRun, model: str, count: int, chosen: Sequence[str]
) -> Html:
    value = f"{run.id}/{model}"
    return el(
        "label",
        el(
            "input",
            type="checkbox",
            name="earlier",
            value=value,
            data_many=True,
            checked=value in chosen,
            aria_label=model,
        ),
        div(
            el("h3", model),
            div(t("answers.of_run", n=f"{count:,}", run=run.name), cls="meta"),
        ),
        cls="opt",
    )
