"""The Models page's catalog: the models in groups, what only demonstrates folded away."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.html import Html, el
from evalui.ui.components.rows import demo_group, model_group
from evalui.ui.components.widgets import empty, titled
from evalui.ui.pages.models.model_line import model_line
from evalui.ui.pages.models.model_row import ModelRow, RowContext


def catalog_card(t: Messages, models: Sequence[ModelRow], context: RowContext) -> Html:
    """Every model of the catalog, in its group."""
    if not models:
        return titled(t("catalog.title"), empty(t("catalog.none_about")))
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
        *(
            model_group(
                t, name, [model.state for model in groups[name]], _rows(t, groups[name], context)
            )
            for name in ("here", "endpoints")
        ),
        demo_group(
            t,
            [model.entry for model in groups["demo"]],
            _rows(t, groups["demo"], context),
            opened=not own,
        ),
        aside=count,
        cls="catalog",
    )


def _rows(t: Messages, models: Sequence[ModelRow], context: RowContext) -> list[Html]:
    rows = [model_line(t, model, context) for model in models]
    return [el("ul", *rows, cls="models-list")] if rows else []
