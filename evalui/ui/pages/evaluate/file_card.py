"""The details of a file: how healthy it is, what is wrong with it, its first questions."""

from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.app.files.views import UploadHealth, UploadView
from evalui.datasets.health import ChoiceHealth
from evalui.datasets.model import COMMAS_RULE
from evalui.datasets.reader import KEPT_RULE, LEFT_OUT_RULE, OTHER_SPLIT_RULE
from evalui.messages import Messages
from evalui.report.analyses.health import letter_balance
from evalui.report.html import Html
from evalui.report.numbers import format_range, format_value, percent
from evalui.types import LETTERS
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import fault_text, length_range
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.open_health import Figure, fault_figure, usable_figure
from evalui.ui.pages.evaluate.spec import dataset_field, fields_under

SHOWN_FAULTS = 50
_SHOWN_SUBJECTS = 60


@dataclass(frozen=True, slots=True)
class _Switch:
    """A button that sets a field to a value."""

    name: str
    value: str
    label: str
    about: str
    on: bool


def health_part(t: Messages, upload: str, counts: UploadHealth, health: ChoiceHealth) -> Html:
    """How healthy questions with options are, for the details of a dataset."""
    longest, chance = health.longest_option, health.chance
    tells = longest.low > chance
    rows: list[Figure] = [
        usable_figure(t, health.n),
        (t("health.longest"), f"{format_value(longest)} %", "warn" if tells else ""),
        (
            t("health.always", letter=health.always_letter.letter),
            f"{format_value(health.always_letter.share)} %",
            "",
        ),
        fault_figure(t("health.duplicates"), counts.n_duplicates),
        fault_figure(t("health.naming"), counts.n_referring),
        fault_figure(t("health.duplicate_options"), counts.n_equal_options),
        (t("health.question_length"), length_range(health.question_length), ""),
        (t("health.option_length"), length_range(health.option_length), ""),
    ]
    most = max(health.letter_counts, default=0) or 1
    return fill(
        "evaluate/choice_health.html",
        t=t,
        upload=upload,
        rows=rows,
        balance=letter_balance(health, t.language),
        letters=[
            (LETTERS[place], count / most, count)
            for place, count in enumerate(health.letter_counts)
        ],
        tell=t(
            "health.length_about",
            share=format_value(longest),
            span=format_range(longest),
            chance=percent(chance),
        )
        if tells
        else "",
        n_groups=counts.n_groups,
        subjects=[
            f"{name} {count}" for name, count in list(health.subjects.items())[:_SHOWN_SUBJECTS]
        ],
    )


def notes_part(t: Messages, view: UploadView) -> Html:
    """What there is to know of an upload that is no fault, one sentence each."""
    notes = [
        ("warn" if note.rule == KEPT_RULE else "na", t(f"note.{note.rule}", **note.params))
        for note in view.notes
    ]
    return fill("evaluate/notes.html", notes=notes)


def faults_part(t: Messages, view: UploadView, *, upload: str, form: Form) -> Html:
    """Every fault with its place and what was expected, and what is chosen of splits and rows."""
    shown, read = view.faults[:SHOWN_FAULTS], fields_under(form, dataset_field(upload))
    rest = view.n_faults - len(shown)
    more = t("faults.rest_counted", n=f"{rest:,}", kept=f"{len(view.faults):,}")
    offered = (
        _split(t, view, upload, form),
        _duplicates(t, view, upload, form),
        _commas(t, view, upload, form),
    )
    return fill(
        "evaluate/faults.html",
        t=t,
        view=view,
        several=len(view.files) > 1,
        faults=[(each, t(f"fault.{each.rule}.what"), *fault_text(t, each)) for each in shown],
        href=f"../faults/{upload}.csv?{urlencode(read)}&lang={t.language}",
        rest="" if rest <= 0 else more if view.unlisted else t.count("faults.rest", rest),
        switches=[each for each in offered if each],
    )


def _split(t: Messages, view: UploadView, upload: str, form: Form) -> _Switch | None:
    """Whether the test files are scored; nothing where there is one split alone."""
    if not any(note.rule == OTHER_SPLIT_RULE for note in view.notes):
        return None
    name = dataset_field(upload, "split")
    on = field_value(form, name) == "test"
    return _Switch(name, "test", t("faults.split"), t("faults.split_about"), on)


def _duplicates(t: Messages, view: UploadView, upload: str, form: Form) -> _Switch | None:
    """Whether rows stay whose options share a text; nothing without such rows."""
    rules = (KEPT_RULE, LEFT_OUT_RULE)
    counts = [int(note.params["n"]) for note in view.notes if note.rule in rules]
    if not counts:
        return None
    name = dataset_field(upload, "duplicate_options")
    label = t.count("faults.duplicates", sum(counts))
    on = field_value(form, name) == "skip"
    return _Switch(name, "skip", label, t("faults.duplicates_about"), on)


def _commas(t: Messages, view: UploadView, upload: str, form: Form) -> _Switch | None:
    """Whether a comma before a blank is text; nothing where no more rows are read so."""
    name = dataset_field(upload, "commas_in_text")
    on = field_value(form, name) == "yes"
    if not on and not any(note.rule == COMMAS_RULE for note in view.notes):
        return None
    return _Switch(name, "yes", t("faults.commas"), t("faults.commas_about"), on)
