"""The Evaluate page's cards of open questions: the file, and answers that are there already."""

from collections.abc import Mapping, Sequence

from evalui.app.files.views import AnswersFile, EarlierRun, UploadHealth
from evalui.datasets.health import OpenHealth
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.types import Fault
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import fault_text, length_range
from evalui.ui.components.widgets import (
    UPLOAD,
    bar,
    button,
    definitions,
    field,
    hidden,
    note,
    select,
    status,
    text_input,
)
from evalui.ui.run_form import answer_name_field
from evalui.ui.tabs.evaluate.rows import choice_row, fold

_SHOWN_CAPABILITIES = 8
_MAX_TEXT_LENGTH = 160  # characters of a text in a preview
_SHOWN_UNKNOWN = 5
_SHOWN_FAULTS = 5


def fault_count(number: int) -> Html:
    """A number that had better be 0."""
    return status("warn" if number else "ok", f"{number:,}")


def open_health_part(t: Messages, counts: UploadHealth, health: OpenHealth) -> Html:
    """What can be known of open questions without any model."""
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (t("health.without_reference"), fault_count(health.without_reference)),
        (t("health.duplicates"), fault_count(counts.n_duplicates)),
        (t("health.conversations"), f"{health.conversations:,}"),
        (t("health.guidance"), f"{health.with_guidance:,}"),
        (t("health.question_length"), length_range(health.question_length)),
    ]
    if health.reference_length:
        rows.append((t("health.reference_length"), length_range(health.reference_length)))
    languages = {t(f"language.{name}"): count for name, count in health.languages.items()}
    capabilities = {
        name or t("health.no_capability"): count for name, count in health.capabilities.items()
    }
    return div(
        definitions(rows),
        _counts(t, "languages", languages, len(languages)),
        _counts(t, "capabilities", capabilities, counts.n_groups + ("" in health.capabilities)),
        _unreferenced(t, health),
    )


def _counts(t: Messages, name: str, counts: Mapping[str, int], n: int) -> Html | None:
    """A bar per value of `n`, the most frequent first; nothing if there is only one."""
    if len(counts) < 2:
        return None
    most = max(counts.values())
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    rows = [
        div(span(name, title=name), bar(count / most), span(f"{count:,}", cls="dim r"))
        for name, count in ordered[:_SHOWN_CAPABILITIES]
    ]
    rest = n - len(rows)
    return div(
        div(t(f"health.{name}"), cls="meta gap-s"),
        div(*rows, cls="counts"),
        div(t.count(f"health.more_{name}", rest), cls="meta gap-s") if rest else None,
    )


def _unreferenced(t: Messages, health: OpenHealth) -> Html | None:
    if not health.without_reference:
        return None
    key = "health.no_reference_about" if health.without_reference < health.n else "health.bare"
    return el("p", t(key, n=f"{health.without_reference:,}"), cls="meta gap-s")


def answers_fold(
    t: Messages, files: Sequence[AnswersFile], runs: Sequence[EarlierRun], form: Form
) -> Html:
    """A drop zone for answers, what its files hold, and the earlier runs to take answers from."""
    earlier = len(field_values(form, "earlier"))
    count = len(files) + earlier
    return fold(
        t("answers.title"),
        t.count("answers.chosen", count) if count else t("answers.summary"),
        el("p", t("answers.about"), cls="meta"),
        *(
            hidden("answers", upload, many=True)
            for upload in dict.fromkeys(file.upload for file in files)
        ),
        *(div(_file(t, file), cls="gap-s") for file in files),
        div(_drop(t), cls="gap-s"),
        _earlier_runs(t, runs, form) if runs else None,
        opened=bool(count or field_value(form, "earlier_run")),
        cls="given-card",
    )


def _file(t: Messages, file: AnswersFile) -> Html:
    name = text_input(answer_name_field(file.upload, file.place), file.model)
    return div(
        div(
            field(t("answers.model"), name),
            button(t("file.remove"), "forget", data_upload=file.upload, data_place=file.place),
            cls="given",
        ),
        div(file.name, cls="meta gap-s"),
        _matched(t, file),
        cls="given-file",
    )


def _matched(t: Messages, file: AnswersFile) -> Html:
    if file.problem:
        return div(note("bad", t.translate(file.problem)), cls="gap-s")
    whole = file.matched == file.questions
    words = t("answers.matched", n=f"{file.matched:,}", total=f"{file.questions:,}")
    unknown = t("list.comma").join(file.unknown[:_SHOWN_UNKNOWN])
    more = " …" if file.n_unknown > _SHOWN_UNKNOWN else ""
    return join(
        div(status("ok" if whole else "warn" if file.matched else "bad", words), cls="gap-s"),
        div(t.count("answers.unknown", file.n_unknown, ids=unknown + more), cls="meta")
        if file.unknown
        else None,
        _faults(t, file) if file.faults else None,
    )


def _faults(t: Messages, file: AnswersFile) -> Html:
    """How many rows cannot be used, and where and why the first of them."""
    n = len(file.faults) + file.unlisted
    rest = n - _SHOWN_FAULTS
    return join(
        div(t.count("answers.faults", n), cls="meta"),
        *(_fault(t, fault) for fault in file.faults[:_SHOWN_FAULTS]),
        div(t("preview.more", n=f"{rest:,}"), cls="meta") if rest > 0 else None,
    )


def _fault(t: Messages, fault: Fault) -> Html:
    actual, expected = fault_text(t, fault)
    place = t("answers.line", n=f"{fault.line:,}") if fault.line else t("answers.whole")
    return div(
        span(place, cls="nw"),
        " · ",
        t("answers.fault", found=actual, expected=expected),
        cls="meta",
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
        data_reading=t("drop.reading"),
        data_cancel=t("drop.cancel"),
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
    about = t("answers.of_run", n=f"{count:,}", run=run.name)
    return choice_row("earlier", value, model, about, on=value in chosen)
