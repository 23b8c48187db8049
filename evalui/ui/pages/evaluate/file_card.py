"""The details of a file: how healthy it is, what is wrong with it, its first questions."""

from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.app.files.views import UploadHealth, UploadView
from evalui.datasets.health import ChoiceHealth
from evalui.datasets.reading import KEPT_RULE, LEFT_OUT_RULE, OTHER_SPLIT_RULE
from evalui.messages import Messages
from evalui.report.analyses.health import letter_balance
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import format_range, format_value, percent
from evalui.types import LETTERS, Fault
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import fault_text, length_range
from evalui.ui.components.widgets import bar, definitions, note, status, table
from evalui.ui.pages.evaluate.open_health import fault_count

SHOWN_FAULTS = 50
_SHOWN_SUBJECTS = 60


def health_part(t: Messages, counts: UploadHealth, health: ChoiceHealth) -> Html:
    """The same for the details of a dataset."""
    tell = health.longest_option.low > health.chance
    longest = f"{format_value(health.longest_option)} %"
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (
            t("health.longest"),
            status("warn", longest) if tell else longest,
        ),
        (
            t("health.always", letter=health.always_letter.letter),
            f"{format_value(health.always_letter.share)} %",
        ),
        (t("health.duplicates"), fault_count(counts.n_duplicates)),
        (t("health.naming"), fault_count(counts.n_referring)),
        (t("health.duplicate_options"), fault_count(counts.n_equal_options)),
        (t("health.question_length"), length_range(health.question_length)),
        (t("health.option_length"), length_range(health.option_length)),
    ]
    return div(
        definitions(rows),
        div(t("health.letters"), " · ", letter_balance(health, t.language), cls="meta gap-s"),
        _letters(health.letter_counts),
        div(
            note(
                "warn",
                join(
                    el("b", t("health.length_tells")),
                    " ",
                    t(
                        "health.length_about",
                        share=format_value(health.longest_option),
                        span=format_range(health.longest_option),
                        chance=percent(health.chance),
                    ),
                ),
            ),
            cls="gap",
        )
        if tell
        else None,
        _subjects(t, counts.n_groups, health),
    )


def notes_part(t: Messages, view: UploadView) -> Html | None:
    """What there is to know of an upload that is no fault, one sentence each."""
    if not view.notes:
        return None
    kinds = {KEPT_RULE: "warn"}
    sentences = (
        div(note(kinds.get(each.rule, "na"), t(f"note.{each.rule}", **each.params)), cls="gap-s")
        for each in view.notes
    )
    return div(*sentences)


def faults_part(t: Messages, view: UploadView, *, upload: str, form: Form) -> Html | None:
    """Every fault with its place and what was expected, and what is chosen of splits and rows."""
    offered = (_split(t, view, upload, form), _duplicates(t, view, upload, form))
    choices = [each for each in offered if each]
    if not view.faults:
        return div(*choices) if choices else None
    rows = [_fault(t, fault) for fault in view.faults[:SHOWN_FAULTS]]
    rest = view.n_faults - len(rows)
    heads = [t(f"faults.{name}") for name in ("line", "column", "found", "expected")]
    several = len(view.files) > 1
    more = t("faults.rest_counted", n=f"{rest:,}", kept=f"{len(view.faults):,}")
    return div(
        div(
            el("h3", t.count("faults.title", view.n_unusable_rows)),
            el(
                "a",
                t("faults.download"),
                href=f"../faults/{upload}.csv?{_layout(form, upload)}&lang={t.language}",
                download=True,
            ),
            cls="card-h",
        ),
        el("p", t("faults.about", n=f"{view.n_questions:,}"), cls="dim"),
        table(
            [t("faults.file"), *heads] if several else heads,
            rows if several else [row[1:] for row in rows],
        ),
        el("p", more if view.unlisted else t.count("faults.rest", rest), cls="meta gap-s")
        if rest > 0
        else None,
        *choices,
        cls="f15",
    )


def _split(t: Messages, view: UploadView, upload: str, form: Form) -> Html | None:
    """Whether the test files are scored; nothing where there is one split alone."""
    if not any(note_.rule == OTHER_SPLIT_RULE for note_ in view.notes):
        return None
    name = f"col_split_{upload}"
    on = field_value(form, name) == "test"
    return _switch(name, "test", t("faults.split"), t("faults.split_about"), on=on)


def _duplicates(t: Messages, view: UploadView, upload: str, form: Form) -> Html | None:
    """Whether rows stay whose options share a text; nothing without such rows."""
    counts = [
        int(note_.params["n"]) for note_ in view.notes if note_.rule in (KEPT_RULE, LEFT_OUT_RULE)
    ]
    if not counts:
        return None
    name = f"col_duplicates_{upload}"
    return _switch(
        name,
        "skip",
        t.count("faults.duplicates", sum(counts)),
        t("faults.duplicates_about"),
        on=field_value(form, name) == "skip",
    )


def _switch(name: str, value: str, label: str, about: str, *, on: bool) -> Html:
    """A button that sets a field to a value, and back to "" where it is set."""
    return el(
        "button",
        el("b", label),
        span(about, cls="meta"),
        type="button",
        role="switch",
        aria_checked=str(on).lower(),
        cls="it switch",
        data_do="pick",
        data_name=name,
        data_value="" if on else value,
    )


def _layout(form: Form, upload: str) -> str:
    fields = {
        name.removesuffix(f"_{upload}"): field_value(form, name)
        for name in form
        if name.startswith("col_") and name.endswith(f"_{upload}")
    }
    return urlencode({name: value for name, value in fields.items() if value})


def _fault(t: Messages, fault: Fault) -> list[Child]:
    actual, expected = fault_text(t, fault)
    return [
        fault.file,
        fault.line or "",
        span(fault.column, cls="mono"),
        span(actual, title=t(f"fault.{fault.rule}.what")),
        expected,
    ]


def _letters(counts: Sequence[int]) -> Html:
    most = max(counts, default=0) or 1
    rows = [
        div(el("b", LETTERS[place]), bar(count / most), span(f"{count:,}", cls="dim r"))
        for place, count in enumerate(counts)
    ]
    return div(*rows, cls="letters")


def _subjects(t: Messages, n: int, health: ChoiceHealth) -> Html | None:
    if n < 2:
        return None
    names = [f"{name} {count}" for name, count in list(health.subjects.items())[:_SHOWN_SUBJECTS]]
    return el(
        "details",
        el("summary", t.count("file.subjects", n)),
        el("p", " · ".join(names), cls="dim"),
        cls="gap-s",
        data_key=f"subjects {' '.join(names[:1])}",
    )
