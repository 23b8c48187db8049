"""Rows to choose from, 36 pixels high, and the lines that fold more of them away."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState
from evalui.modes.prompts.rubrics import Rubric
from evalui.modes.prompts.templates import Template
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import status_icon
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.widgets import field, select, text_input


def choice_row(
    name: str,
    value: str,
    label: str,
    about: Child = None,
    aside: Child = None,
    *,
    on: bool,
    off: bool = False,
    hidden: bool = False,
    kind: str = "checkbox",
    **attributes: str | bool,
) -> Html:
    """A box or radio button with its label, what it is, and what it can do; `off` cannot be set."""
    box = el(
        "input",
        type=kind,
        name=name,
        value=value,
        aria_label=label,
        data_many=kind == "checkbox",
        checked=on and not off,
        disabled=off,
    )
    return el(
        "label",
        box,
        el("b", label),
        span(about, cls="meta"),
        span(aside, cls="meta") if aside else None,
        cls="it off" if off else "it",
        hidden=hidden,
        **attributes,
    )


def fold(title: str, summary: Child, *content: Child, opened: bool = False, cls: str = "") -> Html:
    """A line that opens on what it sums up."""
    line = el("summary", el("b", title), span(summary, cls="dim") if summary else None)
    return el("details", line, div(*content), open=opened, cls=f"foldrow {cls}".strip())


def model_group(
    t: Messages, name: str, states: Sequence[ModelState | None], rows: Sequence[Html]
) -> Html | None:
    """The rows of a group of models below its name and their number; None if there are none."""
    if not rows:
        return None
    away = sum(state is not None and state.is_endpoint_down for state in states)
    near = len(states) - away
    count = t("models.out_of_reach", n=near, away=away) if away else str(near)
    return join(div(t(f"models.{name}"), span(count), cls="gh"), *rows)


def demo_group(
    t: Messages, entries: Sequence[ModelEntry], rows: Sequence[Html], *, opened: bool
) -> Html | None:
    """The rows of demo models and baselines, folded; None if there are none."""
    if not rows:
        return None
    baselines = sum(entry.baseline for entry in entries)
    parts = (
        t.count("models.small", len(entries) - baselines) if len(entries) > baselines else "",
        t.count("models.baselines", baselines) if baselines else "",
    )
    summary = t("list.comma").join(part for part in parts if part)
    return fold(t("models.demo"), summary, *rows, opened=opened)


def list_card(title: str, aside: Child, *content: Child, cls: str = "") -> Html:
    """A card of rows, its title with something at the right."""
    return el("section", div(el("h2", title), aside, cls="hd"), *content, cls=f"card lst {cls}")


def remark(kind: str, text: Child) -> Html:
    """A sentence with its icon, without a box; `kind` is ok, warn, bad or na."""
    return div(span(status_icon(kind), cls=kind), span(text), cls="icon-l")


def details_summary(line: Html, word: str) -> Html:
    """A summary of which the line is the first half, and the word to open it the other."""
    return el("summary", line, el("b", word, cls="more"))


def own_text(
    t: Messages,
    form: Form,
    base: Rubric | Template,
    parts: Mapping[str, str],
    *more: Html,
    prefix: str,
    name: str,
    about: str,
    shown: bool,
) -> Html:
    """The fields of a text of the user's own, as long as they are empty filled from `base`.

    `parts` are the labels of its text areas by their names in `base`, `prefix` begins the names of
    all fields, `name` is that of a new text; `more` are further fields.
    """

    def typed(part: str) -> str:
        return field_value(form, f"{prefix}_{part}")

    words = {"zh": "中文", "en": "English"}
    language = select(f"{prefix}_language", words, typed("language") or t.language)
    fields = [
        field(t("own.name"), text_input(f"{prefix}_name", typed("name") or name)),
        field(t("own.language"), language),
        *more,
        *(
            field(label, text_area(f"{prefix}_{part}", typed(part) or getattr(base, part)))
            for part, label in parts.items()
        ),
    ]
    return div(el("p", about, cls="meta gap"), div(*fields, cls="fields gap-s"), hidden=not shown)


def text_area(name: str, text: str) -> Html:
    """A field of several lines."""
    # A text area swallows one line break at its beginning.
    return el("textarea", Html("\n"), join(text), name=name, rows=5, spellcheck="false")
