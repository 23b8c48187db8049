"""A dataset in two lines: what it is and can be done with it, and its health, worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.files.views import UploadHealth, UploadPart, UploadView
from evalui.datasets.health import ChoiceHealth, OpenHealth
from evalui.datasets.reader import KEPT_RULE
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.numbers import format_value
from evalui.report.words import join_sentences
from evalui.types import LETTERS
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.file_card import faults_part, health_part, notes_part
from evalui.ui.pages.evaluate.open_health import open_health_part
from evalui.ui.pages.evaluate.spec import dataset_field

_STATED_RULES = (KEPT_RULE, "columns-read", "unused-columns")  # by the card itself
_MOST_FINDINGS = 2
_SHOWN_UNUSED = 8  # names of columns
_UNBALANCED_P = 0.05


@dataclass(frozen=True, slots=True)
class ShownDataset:
    """An upload of a form that was read, with its health."""

    part: UploadPart
    view: UploadView
    health: UploadHealth

    @property
    def upload(self) -> str:
        """Its id in the form."""
        return self.part.upload


@dataclass(frozen=True, slots=True)
class _Picker:
    """A button for each value that a field of the form may have."""

    label: str
    name: str
    words: Mapping[str, str]
    chosen: str


def dataset_card(t: Messages, shown: ShownDataset, form: Form, questions: Html | None) -> Html:
    """The two lines with what can be unfolded below them, and the first questions if asked for."""
    upload, view, figures = shown.upload, shown.view, shown.health.figures
    return fill(
        "evaluate/dataset.html",
        t=t,
        upload=upload,
        shown=shown,
        facts=" · ".join(fact for fact in _facts(t, shown) if fact),
        health_line=_health_line(t, shown),
        notes=notes_part(t, view),
        health=health_part(t, upload, shown.health, figures)
        if isinstance(figures, ChoiceHealth)
        else open_health_part(t, shown.health, figures),
        faults=faults_part(t, view, upload=upload, form=form),
        pickers=_layout_pickers(t, shown, form),
        unused=unused_columns(t, view.unused_columns),
        kept=field_value(form, f"kept_{upload}"),
        questions=questions,
    )


def unused_columns(t: Messages, names: Sequence[str]) -> str:
    """The columns of text that nothing uses, by their names; "" without any."""
    if not names:
        return ""
    shown = t("list.comma").join(names[:_SHOWN_UNUSED])
    rest = len(names) - _SHOWN_UNUSED
    more = f" (+{rest})" if rest > 0 else ""
    return t("file.unused", names=shown + more)


def findings(t: Messages, shown: ShownDataset) -> list[str]:
    """What is wrong or remarkable with the questions of a dataset, the worst first."""
    aside, figures = shown.view.n_unusable_rows, shown.health.figures
    own = (
        _choice_findings(t, shown.health, figures)
        if isinstance(figures, ChoiceHealth)
        else _open_findings(t, shown.health, figures)
    )
    return [t.count("finding.set_aside", aside), *own] if aside else own


def _facts(t: Messages, shown: ShownDataset) -> Sequence[str]:
    view, health, groups = shown.view, shown.health.figures, shown.health.n_groups
    ready, rows = view.n_questions, view.n_rows
    languages = t("list.comma").join(t(f"language.{name}") for name in health.languages)
    shots = view.n_shots
    facts = [t("file.ready", n=f"{ready:,}", total=f"{max(rows, ready):,}")]
    if isinstance(health, OpenHealth):
        referenced = view.n_references
        return [
            *facts,
            t("file.references", n=f"{referenced:,}") if referenced else t("file.no_references"),
            t.count("file.capabilities", groups) if groups else "",
            t.count("file.conversations", health.conversations) if health.conversations else "",
            languages,
        ]
    return [
        *facts,
        t("file.options", n="/".join(str(n) for n in sorted(health.options_per_question))),
        t.count("file.subjects", groups) if groups > 1 else "",
        t.count("file.shots", shots) if shots else "",
        languages,
    ]


def _health_line(t: Messages, shown: ShownDataset) -> tuple[str, str]:
    """Its kind, and what it says."""
    notes = [note for note in shown.view.notes if note.rule not in _STATED_RULES]
    more = [t.count("finding.notes", len(notes))] if notes else []
    if worst := findings(t, shown)[:_MOST_FINDINGS]:
        return "warn", join_sentences(*[*worst, *more][:_MOST_FINDINGS])
    return "ok", join_sentences(_well(t, shown), *more)


def _well(t: Messages, shown: ShownDataset) -> str:
    figures = shown.health.figures
    if isinstance(figures, OpenHealth):
        return t("finding.open_well")
    last = LETTERS[max(figures.options_per_question, default=1) - 1]
    key = "finding.well" if figures.letters_p is not None else "finding.well_few"
    return t(key, last=last)


def _choice_findings(t: Messages, health: UploadHealth, figures: ChoiceHealth) -> list[str]:
    doubled, equal = health.n_duplicates, health.n_equal_options
    betrays = figures.longest_option.low > figures.chance
    uneven = figures.letters_p is not None and figures.letters_p < _UNBALANCED_P
    always = figures.always_letter
    return [
        *([t.count("finding.duplicates", doubled)] if doubled else []),
        *([t("finding.longest", share=format_value(figures.longest_option))] if betrays else []),
        *(
            [t("finding.letter", letter=always.letter, share=format_value(always.share))]
            if uneven
            else []
        ),
        *([t.count("finding.equal_options", equal)] if equal else []),
    ]


def _open_findings(t: Messages, health: UploadHealth, figures: OpenHealth) -> list[str]:
    doubled, bare = health.n_duplicates, figures.without_reference
    return [
        *([t.count("finding.duplicates", doubled)] if doubled else []),
        *([t.count("finding.no_reference", bare, total=f"{figures.n:,}")] if bare else []),
    ]


def _layout_pickers(t: Messages, shown: ShownDataset, form: Form) -> list[_Picker]:
    """Which sheet and which kind of question is read, a button each where there are several."""
    view = shown.view
    sheets = {"": t("mapping.any_sheet")} | {title: title for title in view.sheets}
    kinds = {str(name): t(f"kind.{name}") for name in view.kinds}
    sheet = dataset_field(shown.upload, "sheet")
    pickers: list[_Picker] = []
    if len(view.sheets) > 1:
        pickers.append(_Picker(t("columns.sheet"), sheet, sheets, field_value(form, sheet)))
    if len(kinds) > 1:
        name = dataset_field(shown.upload, "kind")
        pickers.append(_Picker(t("columns.kind"), name, kinds, view.kind))
    return pickers
