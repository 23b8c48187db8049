"""Lines of lists: those that fold more of them away, the heads of groups of models, remarks."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState
from evalui.report.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import status_icon


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


def remark(kind: str, text: Child) -> Html:
    """A sentence with its icon, without a box; `kind` is ok, warn, bad or na."""
    return div(span(status_icon(kind), cls=kind), span(text), cls="icon-l")


def details_summary(line: Html, word: str) -> Html:
    """A summary of which the line is the first half, and the word to open it the other."""
    return el("summary", line, el("b", word, cls="more"))
