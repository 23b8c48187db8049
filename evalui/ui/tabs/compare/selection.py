"""Compare, the choice: finished runs with their cells, and why some cannot stand beside others."""

from collections.abc import Collection, Mapping, Sequence

from evalui.app.comparisons import (
    MAX_CELLS,
    ComparableRun,
    describe_differences,
    incompatibilities,
)
from evalui.app.run_labels import mode_label
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.runs.database.records import CellRow
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import card, empty, search_field, tick, titled

_MAX_EXPANDED = 3  # runs that are unfolded from the start
_RECENT = 20  # runs in the list before one looks for others by name
_MAX_SEARCH_LENGTH = 200  # characters


def chooser(
    t: Messages,
    available: Sequence[ComparableRun],
    ids: Sequence[int],
    *,
    baselines: Collection[str],
    find: str,
) -> Html:
    """The list of runs with a box per cell, and the way to the comparison."""
    cells = {cell.id: cell for offer in available for cell in offer.cells}
    picked = [cells[id_] for id_ in ids if id_ in cells]
    listed = _listed(available, picked, find)
    runs = [
        _run(t, offer, picked, baselines, opened=place < _MAX_EXPANDED)
        for place, offer in enumerate(listed)
    ]
    return card(
        div(
            el("h2", t("compare.choose")), span(t("compare.choose_about"), cls="meta"), cls="card-h"
        ),
        search_field("find_run", find, t("compare.find_run")) if len(available) > _RECENT else None,
        div(*runs, cls="compare-runs") if runs else el("p", t("compare.no_match"), cls="dim"),
        _compare_button(t, picked),
        cls="compare-choose",
    )


def no_runs_page(t: Messages) -> Html:
    """The page without a finished run: what to do first."""
    go = el("a", t("compare.go"), href="?tab=evaluate", cls="btn pri")
    return titled(t("compare.none"), empty(t("compare.none_about"), go))


def _listed(
    offered: Sequence[ComparableRun], picked: Sequence[CellRow], find: str
) -> list[ComparableRun]:
    """The runs to show: those of the chosen cells first, then the newest that fit the search."""
    runs = {cell.run_id for cell in picked}
    searched = find.strip()[:_MAX_SEARCH_LENGTH].casefold()
    own = [offer for offer in offered if offer.run.id in runs]
    rest = [
        offer
        for offer in offered
        if offer.run.id not in runs and searched in offer.run.name.casefold()
    ]
    return own + rest[:_RECENT]


def _run(
    t: Messages,
    offer: ComparableRun,
    picked: Sequence[CellRow],
    baselines: Collection[str],
    *,
    opened: bool,
) -> Html:
    groups: dict[str, list[CellRow]] = {}
    for cell in offer.cells:
        groups.setdefault(f"{cell.cell.dataset} · {mode_label(t, cell)}", []).append(cell)
    models = list(dict.fromkeys(cell.cell.model for cell in offer.cells))
    own = [model for model in models if model not in baselines]
    places = {model: own.index(model) if model in own else 0 for model in models}
    about = f"{format_time(t, offer.run.created)} · {t.count('results.models', len(models))}"
    chosen = any(cell.run_id == offer.run.id for cell in picked)
    return el(
        "details",
        el("summary", span(offer.run.name), span(about, cls="meta")),
        *(
            _group(t, words, cells, picked, places=places, baselines=baselines)
            for words, cells in groups.items()
        ),
        open=opened or chosen,
    )


def _group(
    t: Messages,
    words: str,
    cells: Sequence[CellRow],
    picked: Sequence[CellRow],
    *,
    places: Mapping[str, int],
    baselines: Collection[str],
) -> Html:
    """The cells of one dataset and mode; they can be compared all or none."""
    differences = incompatibilities(picked[0], cells[0]) if picked else ()
    ids = {cell.id for cell in picked}
    full = len(ids) >= MAX_CELLS
    ticks = [
        tick(
            "ticked",
            str(cell.id),
            model_name(cell.cell.model, places[cell.cell.model], cell.cell.model in baselines),
            on=cell.id in ids,
            off=(bool(differences) or full) and cell.id not in ids,
        )
        for cell in cells
    ]
    why = (
        t("compare.differs", parts=describe_differences(t, differences), model=picked[0].cell.model)
        if differences
        else ""
    )
    return div(
        div(span(words), div(why, cls="meta") if why else None, cls="what"),
        div(*ticks, cls="ticks"),
        cls="compare-group off" if differences else "compare-group",
    )


def _compare_button(t: Messages, picked: Sequence[CellRow]) -> Html:
    ids = ",".join(str(cell.id) for cell in picked)
    link = el("a", t("compare.compare"), href=f"?tab=compare&cells={ids}", cls="btn pri")
    waits = el("button", t("compare.compare"), type="button", cls="btn", disabled=True)
    fitting = not any(incompatibilities(picked[0], other) for other in picked[1:])
    if not fitting:
        hint = t("compare.untick")
    else:
        hint = t(
            f"compare.more_{len(picked)}" if len(picked) < 2 else "compare.chosen", n=len(picked)
        )
    full = t("compare.full", n=MAX_CELLS) if len(picked) >= MAX_CELLS else ""
    return div(
        link if len(picked) > 1 and fitting else waits,
        span(join(hint, full, separator=" "), cls="meta"),
        cls="compare-go",
    )
