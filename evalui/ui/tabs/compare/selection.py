"""Compare, the choice: finished runs with their cells, and why some cannot stand beside others."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evalui.app.run_labels import mode_label
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.messages import Messages
from evalui.report.analyses.comparison.figures import Contender
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.report.numbers import count
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.database.runs import is_recorded, read_cells, read_runs
from evalui.scoring.statistics import paired_tests
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import card, empty, search_field, tick, titled

MAX_CELLS = 8  # cells side by side: 28 pairs
_ENDED = ("done", "failed", "cancelled")
_MAX_EXPANDED = 3  # runs that are unfolded from the start
_RECENT = 20  # runs in the list before one looks for others by name
_MAX_SEARCH_LENGTH = 200  # characters
_IDS = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class ComparableRun:
    """A finished run with those of its cells that have answers."""

    run: RunRow
    cells: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A chosen cell, and how it is called and marked among the chosen."""

    row: CellRow
    contender: Contender


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """A cell that cannot be compared with `other`, and what differs."""

    cell: ComparedCell
    other: ComparedCell
    differences: tuple[str, ...]


class ComparableRuns:
    """The runs that a user can choose from."""

    def __init__(self, service: AppService) -> None:
        self._service = service
        # A finished run does not change, and a page needs the cells of all runs.
        self._cells = service.cache.memoize(self._read)

    def all(self) -> list[ComparableRun]:
        """The finished runs that have answers, newest first."""
        runs = read_runs(self._service.database, self._service.person)
        comparable = [
            ComparableRun(run, self._cells(run.id, run.revision))
            for run in runs
            if run.done and run.state in _ENDED
        ]
        return [offer for offer in comparable if offer.cells]

    def _read(self, run_id: str, revision: int) -> tuple[CellRow, ...]:
        del revision  # part of the key: another revision, other cells
        cells = read_cells(self._service.database, run_id)
        return tuple(cell for cell in cells if cell.done and cell.cell.gives != "verdicts")


def read_ids(text: str) -> tuple[int, ...]:
    """The cells of an address, in its order, each once; what is no number is left out."""
    parts = (part.strip() for part in text.split(","))
    ids = dict.fromkeys(int(part) for part in parts if _IDS.fullmatch(part))
    return tuple(ids)[:MAX_CELLS]


def compared_cells(
    runs: Sequence[ComparableRun], ids: Sequence[int], baselines: Collection[str]
) -> tuple[ComparedCell, ...]:
    """The cells of these ids, in this order.

    Raises:
        UnknownRun: one of them is not on offer: deleted, not finished, or another user's.
    """
    every = {cell.id: (offer.run, cell) for offer in runs for cell in offer.cells}
    if missing := [id_ for id_ in ids if id_ not in every]:
        raise UnknownRun("no-run", run=str(missing[0]))
    chosen = [every[id_] for id_ in ids]
    names = _names(chosen)
    places = _places(chosen, runs, baselines)
    return tuple(
        ComparedCell(
            row,
            Contender(
                id=str(row.id),
                name=names[row.id],
                place=places[row.id],
                baseline=row.cell.model in baselines,
                run=run.id,
                run_name=run.name,
            ),
        )
        for run, row in chosen
    )


def incompatible_cells(chosen: Sequence[ComparedCell]) -> tuple[Incompatibility, ...]:
    """Those of the chosen that cannot stand beside the first."""
    checked = (
        Incompatibility(each, chosen[0], incompatibilities(chosen[0].row, each.row))
        for each in chosen[1:]
    )
    return tuple(one for one in checked if one.differences)


def notes_on(
    t: Messages, contenders: Sequence[ComparedCell], refused: Sequence[Incompatibility]
) -> tuple[str, ...]:
    """What stands against the figures: who could not take part, and who is not finished."""
    unfinished = [each for each in contenders if each.row.done < each.row.total]
    return (
        *(
            t(
                "compare.refused",
                name=each.cell.contender.name,
                first=each.other.contender.name,
                parts=describe_differences(t, each.differences),
            )
            for each in refused
        ),
        *(
            t(
                "compare.unfinished",
                name=each.contender.name,
                done=count(each.row.done),
                total=count(each.row.total),
            )
            for each in unfinished
        ),
    )


def first_comparable_cells(offer: ComparableRun) -> tuple[int, ...]:
    """The first cells of a run that can be compared; the first alone if there are no two."""
    for cell in offer.cells:
        group = [other.id for other in offer.cells if not incompatibilities(cell, other)]
        if len(group) > 1:
            return tuple(group[:MAX_CELLS])
    return (offer.cells[0].id,)


def incompatibilities(one: CellRow, other: CellRow) -> tuple[str, ...]:
    """What forbids to compare two cells, as `paired_tests.incompatibilities` names it.

    How supplied answers had been prompted is not known, and so no obstacle.
    """
    named = paired_tests.incompatibilities(one.cell, other.cell)
    parts = named.split(", ") if named else []
    if one.cell.gives == other.cell.gives == "answers" and (is_recorded(one) or is_recorded(other)):
        parts = [part for part in parts if part not in ("prompt", "shots")]
    return tuple(parts)


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


def describe_differences(t: Messages, differences: Sequence[str]) -> str:
    """What two cells differ in, in words; another dataset or mode is enough."""
    first = [part for part in differences if part in ("dataset", "mode")][:1]
    return t("list.comma").join(t(f"compare.part.{part}") for part in first or differences)


def _names(chosen: Sequence[tuple[RunRow, CellRow]]) -> dict[int, str]:
    """A name for each cell: its model, with its run and a number where that is not enough."""
    models = [row.cell.model for _, row in chosen]
    names: dict[int, str] = {}
    for run, row in chosen:
        wish = row.cell.model
        if models.count(wish) > 1:
            wish = f"{wish} ({run.name})"
        name, n = wish, 2
        while name in names.values():
            name, n = f"{wish} {n}", n + 1
        names[row.id] = name
    return names


def _places(
    chosen: Sequence[tuple[RunRow, CellRow]],
    offered: Sequence[ComparableRun],
    baselines: Collection[str],
) -> dict[int, int]:
    """A marker for each cell: as in its run if there is one run, else as they were chosen."""
    runs = {run.id for run, _ in chosen}
    names = {row.cell.model for _, row in chosen}
    # Charts of written answers count the models they show, not those of the run.
    written = any(row.cell.gives == "answers" for _, row in chosen)
    if written or len(runs) > 1 or len(names) < len(chosen):
        own = [row.id for _, row in chosen if row.cell.model not in baselines]
        return {row.id: own.index(row.id) if row.id in own else 0 for _, row in chosen}
    models = [cell.cell.model for offer in offered if offer.run.id in runs for cell in offer.cells]
    order = [model for model in dict.fromkeys(models) if model not in baselines]
    return {
        row.id: order.index(row.cell.model) if row.cell.model in order else 0 for _, row in chosen
    }


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
