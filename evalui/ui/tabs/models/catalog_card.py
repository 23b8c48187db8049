"""The Models page's catalog: the models in groups, what only demonstrates folded away."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import CHEVRON
from evalui.ui.components.widgets import titled
from evalui.ui.tabs.models.model_line import model_line
from evalui.ui.tabs.models.model_row import ModelRow, RowContext


def catalog_card(t: Messages, models: Sequence[ModelRow], context: RowContext) -> Html:
    """Every model of the catalog, in its group."""
    if not models:
        empty = div(el("p", t("catalog.none_about"), cls="dim"), cls="empty")
        return titled(t("catalog.title"), empty)
    groups = {
        name: [model for model in models if model.group == name]
        for name in ("here", "endpoints", "demo")
    }
    away = sum(model.is_away for model in models)
    ready = sum(model.usable for model in models)
    count = t(
        "catalog.ready_away" if away else "catalog.ready", n=ready, total=len(models), away=away
    )
    own = [*groups["here"], *groups["endpoints"]]
    return titled(
        t("catalog.title"),
        *(_group(t, name, groups[name], context) for name in ("here", "endpoints")),
        _demo(t, groups["demo"], context, opened=not own) if groups["demo"] else None,
        aside=count,
        cls="catalog",
    )


def _group(t: Messages, name: str, models: Sequence[ModelRow], context: RowContext) -> Html | None:
    if not models:
        return None
    away = sum(model.is_away for model in models)
    near = len(models) - away
    count = t("models.out_of_reach", n=near, away=away) if away else str(near)
    return join(div(t(f"models.{name}"), span(count), cls="gh"), _rows(t, models, context))


def _demo(t: Messages, models: Sequence[ModelRow], context: RowContext, *, opened: bool) -> Html:
    baselines = sum(model.entry.baseline for model in models)
    parts = (
        t.count("models.small", len(models) - baselines) if len(models) > baselines else "",
        t.count("models.baselines", baselines) if baselines else "",
    )
    summary = t("list.comma").join(part for part in parts if part)
    line = el("summary", CHEVRON, el("b", t("models.demo")), span(summary, cls="dim"))
    confirmed = any(model.entry.name == context.confirming for model in models)
    rows = _rows(t, models, context)
    return el("details", line, rows, cls="foldrow", open=opened or confirmed)


def _rows(t: Messages, models: Sequence[ModelRow], context: RowContext) -> Html:
    return el("ul", *(model_line(t, model, context) for model in models), cls="models-list")
