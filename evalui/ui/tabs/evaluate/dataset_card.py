"""A dataset in two lines: what it is and can be done with it, and its health, worst first."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.datasets.base import LoadResult
from evalui.datasets.health import ChoiceHealth, OpenHealth
from evalui.datasets.reading import KEPT_RULE
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.report.numbers import format_value
from evalui.types import LETTERS
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.widgets import card, field, hidden, link_button, select
from evalui.ui.tabs.evaluate.file_card import faults_part, health_part, notes_part, preview
from evalui.ui.tabs.evaluate.given_answers import n_duplicates, open_health_part
from evalui.ui.tabs.evaluate.rows import details_summary, remark

Health = ChoiceHealth | OpenHealth
_SHOWN_SAMPLES = 10
_MOST_FINDINGS = 2
_UNBALANCED_P = 0.05


@dataclass(frozen=True, slots=True)
class ShownDataset:
    """An upload that was read, with its health. `upload` is its id in the form."""

    upload: str
    loaded: LoadResult
    health: Health


def dataset_card(t: Messages, shown: ShownDataset, form: Form) -> Html:
    """The two lines, and what was unfolded below them."""
    upload, loaded = shown.upload, shown.loaded
    previewed = field_value(form, f"open_{upload}") == "preview"
    return card(
        upload_fields(upload, form),
        div(
            el("b", loaded.dataset.name),
            span(t(f"kind.{loaded.dataset.kind}"), cls="chip on"),
            span(" · ".join(fact for fact in _facts(t, shown) if fact), cls="meta"),
            span(
                link_button(
                    t("file.preview"),
                    "open",
                    data_upload=upload,
                    data_part="" if previewed else "preview",
                    aria_expanded=str(previewed).lower(),
                ),
                link_button(t("file.columns"), "open", data_upload=upload, data_part="columns"),
                link_button(t("file.remove"), "remove", data_upload=upload),
                cls="acts",
            ),
            cls="l1",
        ),
        el(
            "details",
            details_summary(_health_line(t, shown), t("file.details")),
            div(_details(t, shown, form), cls="in"),
            cls="l2",
        ),
        _layout_pickers(t, shown, form),
        div(preview(t, loaded.dataset, _SHOWN_SAMPLES), cls="gap-s") if previewed else None,
        cls="ds",
    )


def upload_fields(upload: str, form: Form, *more: str) -> Html:
    """What the form keeps of an upload that no control of its card shows; `more` begins names."""
    kept = [f"{name}_{upload}" for name in ("open", "col_columns", *more)]
    return span(
        hidden("uploads", upload, many=True),
        *(hidden(name, value) for name in kept if (value := field_value(form, name))),
        hidden=True,
    )


def findings(t: Messages, shown: ShownDataset) -> list[str]:
    """What is wrong or remarkable with the questions of a dataset, the worst first."""
    aside, health = shown.loaded.n_unusable_rows, shown.health
    own = (
        _choice_findings(t, health)
        if isinstance(health, ChoiceHealth)
        else _open_findings(t, health)
    )
    return [t.count("finding.set_aside", aside), *own] if aside else own


def _facts(t: Messages, shown: ShownDataset) -> Sequence[str]:
    loaded, health = shown.loaded, shown.health
    ready, rows = len(loaded.dataset.samples), loaded.n_rows
    languages = t("list.comma").join(t(f"language.{name}") for name in health.languages)
    shots = len(loaded.dataset.shots)
    facts = [t("file.ready", n=f"{ready:,}", total=f"{max(rows, ready):,}")]
    if isinstance(health, OpenHealth):
        referenced = health.n - health.without_reference
        capabilities = len([name for name in health.capabilities if name])
        return [
            *facts,
            t("file.references", n=f"{referenced:,}") if referenced else t("file.no_references"),
            t.count("file.capabilities", capabilities) if capabilities else "",
            t.count("file.conversations", health.conversations) if health.conversations else "",
            languages,
        ]
    several = len(health.subjects) > 1
    return [
        *facts,
        t("file.options", n="/".join(str(n) for n in sorted(health.options_per_question))),
        t.count("file.subjects", len(health.subjects)) if several else "",
        t.count("file.shots", shots) if shots else "",
        languages,
    ]


def _health_line(t: Messages, shown: ShownDataset) -> Html:
    notes = [note for note in shown.loaded.notes if note.rule != KEPT_RULE]
    more = [t.count("finding.notes", len(notes))] if notes else []
    if worst := findings(t, shown)[:_MOST_FINDINGS]:
        return remark("warn", " ".join([*worst, *more][:_MOST_FINDINGS]))
    return remark("ok", " ".join((_well(t, shown), *more)))


def _well(t: Messages, shown: ShownDataset) -> str:
    if isinstance(shown.health, OpenHealth):
        return t("finding.open_well")
    last = LETTERS[max(shown.health.options_per_question, default=1) - 1]
    key = "finding.well" if shown.health.letters_p is not None else "finding.well_few"
    return t(key, last=last)


def _choice_findings(t: Messages, health: ChoiceHealth) -> list[str]:
    doubled = n_duplicates(health)
    equal = len(health.duplicate_options)
    betrays = health.longest_option.low > health.chance
    uneven = health.letters_p is not None and health.letters_p < _UNBALANCED_P
    always = health.always_letter
    return [
        *([t.count("finding.duplicates", doubled)] if doubled else []),
        *([t("finding.longest", share=format_value(health.longest_option))] if betrays else []),
        *(
            [t("finding.letter", letter=always.letter, share=format_value(always.share))]
            if uneven
            else []
        ),
        *([t.count("finding.equal_options", equal)] if equal else []),
    ]


def _open_findings(t: Messages, health: OpenHealth) -> list[str]:
    doubled = n_duplicates(health)
    bare = health.without_reference
    return [
        *([t.count("finding.duplicates", doubled)] if doubled else []),
        *([t.count("finding.no_reference", bare, total=f"{health.n:,}")] if bare else []),
    ]


def _details(t: Messages, shown: ShownDataset, form: Form) -> Html:
    upload, loaded, health = shown.upload, shown.loaded, shown.health
    part = (
        health_part(t, health) if isinstance(health, ChoiceHealth) else open_health_part(t, health)
    )
    faults = faults_part(t, loaded, upload=upload, form=form)
    return div(notes_part(t, loaded), div(part, faults, cls="row"))


def _layout_pickers(t: Messages, shown: ShownDataset, form: Form) -> Html | None:
    """Which sheet and which kind of question is read, where there are several."""
    loaded = shown.loaded
    sheet, kind = f"col_sheet_{shown.upload}", f"col_kind_{shown.upload}"
    kinds: dict[str, str] = {name: t(f"kind.{name}") for name in loaded.kinds}
    pickers = [
        field(
            t("columns.sheet"),
            select(sheet, {s: s for s in loaded.sheets}, field_value(form, sheet)),
        )
        if len(loaded.sheets) > 1
        else None,
        field(t("columns.kind"), select(kind, kinds, loaded.dataset.kind))
        if len(kinds) > 1
        else None,
    ]
    return div(*pickers, cls="fields gap-s") if any(pickers) else None
