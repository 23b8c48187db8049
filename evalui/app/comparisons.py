"""Comparisons: cells of one or several runs on the same questions, paired, shown and shared."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.app.permissions import checks, requires
from evalui.app.run_labels import mode_label
from evalui.app.service import AppService
from evalui.app.sharing import make_link
from evalui.errors import EvaluiError, SpecError, UnknownRun
from evalui.messages import Messages
from evalui.report.analyses.comparison import Comparison, Contender, compare, comparison_blocks
from evalui.report.blocks import Bullets
from evalui.report.numbers import count
from evalui.report.render.shared import FrozenContent
from evalui.runs.kept_summaries import find_summary, read_answer_summary
from evalui.runs.results import is_recorded
from evalui.scoring import pairs
from evalui.scoring.cell_summary import pair_summary
from evalui.store.connection import Database
from evalui.store.runs import ENDED_STATES, CellRow, RunRow, read_cells, read_runs
from evalui.types import CellResult

MAX_CELLS = 20  # cells side by side: 190 pairs
_FIRST_CELLS = 8  # with which a comparison begins that names none
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


@dataclass(frozen=True, slots=True)
class ComparedModels:
    """The cells that are compared, those that cannot stand beside them, and the figures."""

    able: tuple[ComparedCell, ...]
    refused: tuple[Incompatibility, ...]
    comparison: Comparison


@requires("see")
def comparable_runs(service: AppService) -> list[ComparableRun]:
    """The finished runs of the person that have answers, newest first."""
    # A finished run does not change, and a page needs the cells of all runs.
    cells = service.cache.memoize(_read_comparable_cells)
    comparable = [
        ComparableRun(run, cells(service.database, run.id, run.revision))
        for run in read_runs(service.database, service.person)
        if run.done and run.state in ENDED_STATES
    ]
    return [offer for offer in comparable if offer.cells]


@requires("see")
def split_comparable(
    service: AppService, offered: Sequence[ComparableRun], ids: Sequence[int]
) -> tuple[tuple[ComparedCell, ...], tuple[Incompatibility, ...]]:
    """Those of the cells that can be compared, and the others; nothing if one is unknown."""
    try:
        chosen = compared_cells(offered, ids, service.models.baselines())
    except EvaluiError:
        return (), ()
    refused = incompatible_cells(chosen)
    left_out = [each.cell for each in refused]
    return tuple(each for each in chosen if each not in left_out), refused


@requires("see")
def compare_cells(
    service: AppService, able: tuple[ComparedCell, ...], measure: str = ""
) -> Comparison:
    """The figures of cells that can be compared; raises `UnknownRun` for one of an unseen run."""
    for run_id in dict.fromkeys(each.contender.run for each in able):
        service.run(run_id)
    # Each filter and step requests the same comparison again.
    figures = service.cache.memoize(_compute)
    return figures(service.database, service.kept.result, able, measure)


@requires("see")
def compare_ids(service: AppService, ids: Sequence[int], measure: str = "") -> ComparedModels:
    """The comparison of cells by their ids; raises `SpecError` if that is nothing."""
    usable = read_ids(",".join(map(str, ids)))
    able, refused = split_comparable(service, comparable_runs(service), usable)
    if len(able) < 2:
        raise SpecError("compare-gone")
    return ComparedModels(able, refused, compare_cells(service, able, measure))


@requires("see")
def frozen_comparison(
    service: AppService, t: Messages, ids: Sequence[int], measure: str = "", pair: str = ""
) -> FrozenContent:
    """What a link to a comparison shows; raises as `compare_ids` does."""
    compared = compare_ids(service, ids, measure)
    able, comparison = compared.able, compared.comparison
    blocks = comparison_blocks(t, comparison, comparison.pair(pair), notes=notes_on(t, able, ()))
    return FrozenContent(
        comparison_facts(t, able, comparison), blocks, ("compared",), signatures_of(able).texts
    )


@checks("that the person may change each of its runs")
def share_comparison(
    service: AppService, ids: Sequence[int], measure: str, days: int, pair: str = ""
) -> str:
    """Freeze a comparison, and return the last part of the link.

    Raises:
        AccountError: no link may work for so many days.
        NotAllowed: the person may not change each of its runs.
        SpecError: there is nothing to compare.
    """
    compared = compare_ids(service, ids, measure)
    return make_link(
        service,
        list(dict.fromkeys(each.contender.run for each in compared.able)),
        title=compared.able[0].row.cell.dataset,
        address=comparison_address(compared.comparison),
        days=days,
        content=lambda t: frozen_comparison(service, t, ids, measure, pair),
    )


def comparison_address(compared: Comparison) -> str:
    """What links to a comparison are listed under, whichever pair and question is open."""
    cells = ",".join(each.id for each in compared.contenders)
    usual = compared.measure == compared.measures[0]
    parts = {"tab": "compare", "cells": cells, "measure": "" if usual else compared.measure}
    return "?" + urlencode({name: value for name, value in parts.items() if value}, safe=",")


def comparison_facts(t: Messages, able: Sequence[ComparedCell], compared: Comparison) -> str:
    """How many questions are compared, and in which mode they were put."""
    n = f"{len(compared.samples):,}"
    return t("compare.facts", questions=n, mode=mode_label(t, able[0].row))


def signatures_of(able: Sequence[ComparedCell]) -> Bullets:
    """How the figures of each cell were made."""
    lines = dict.fromkeys(each.row.cell.signature.replace("|", " · ") for each in able)
    return Bullets(tuple(lines), signatures=True)


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


def comparable_groups(runs: Sequence[ComparableRun]) -> tuple[tuple[CellRow, ...], ...]:
    """The cells of runs in groups that can be compared with the first of each, in their order."""
    groups: list[list[CellRow]] = []
    for cell in (cell for offer in runs for cell in offer.cells):
        fitting = (group for group in groups if not incompatibilities(group[0], cell))
        group = next(fitting, None)
        if group is None:
            groups.append([cell])
        else:
            group.append(cell)
    return tuple(map(tuple, groups))


def first_comparable_cells(runs: Sequence[ComparableRun]) -> tuple[int, ...]:
    """The first cells of runs that can be compared; one alone if there are no two, () of none."""
    groups = comparable_groups(runs)
    chosen = next((group for group in groups if len(group) > 1), next(iter(groups), ()))
    return first_cells(chosen)


def first_cells(group: Sequence[CellRow]) -> tuple[int, ...]:
    """Those of a group with which a comparison begins."""
    return tuple(cell.id for cell in group[:_FIRST_CELLS])


def incompatibilities(one: CellRow, other: CellRow) -> tuple[str, ...]:
    """What forbids to compare two cells, as `pairs.incompatibilities` names it.

    How supplied answers had been prompted is not known, and so no obstacle.
    """
    named = pairs.incompatibilities(one.cell, other.cell)
    parts = named.split(", ") if named else []
    if one.cell.gives == other.cell.gives == "answers" and (is_recorded(one) or is_recorded(other)):
        parts = [part for part in parts if part not in ("prompt", "shots")]
    return tuple(parts)


def describe_differences(t: Messages, differences: Sequence[str]) -> str:
    """What two cells differ in, in words; another dataset or mode is enough."""
    first = [part for part in differences if part in ("dataset", "mode")][:1]
    return t("list.comma").join(t(f"compare.part.{part}") for part in first or differences)


def _read_comparable_cells(database: Database, run_id: str, revision: int) -> tuple[CellRow, ...]:
    del revision  # part of the key: another revision, other cells
    cells = read_cells(database, run_id)
    return tuple(cell for cell in cells if cell.done and cell.cell.gives != "verdicts")


def _compute(
    database: Database,
    result_of: Callable[[CellRow], CellResult],
    chosen: tuple[ComparedCell, ...],
    measure: str,
) -> Comparison:
    results = [result_of(each.row) for each in chosen]
    if results[0].cell.gives == "answers":
        answers = [
            read_answer_summary(database, each.row.id, result)
            for each, result in zip(chosen, results, strict=True)
        ]
        return compare([each.contender for each in chosen], results, measure, answers=answers)
    # What is not kept is not all computed here: pairs need a part that takes no time.
    summaries = [
        find_summary(database, each.row.id, result) or pair_summary(result)
        for each, result in zip(chosen, results, strict=True)
    ]
    return compare([each.contender for each in chosen], results, measure, summaries)


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
