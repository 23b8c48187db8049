"""Compare, the choice: runs, what of them can stand beside each other, and the models of that."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evalui.app.comparisons import (
    MAX_CELLS,
    ComparableRun,
    comparable_groups,
    compared_cells,
    describe_differences,
    first_cells,
    first_comparable_cells,
    incompatibilities,
)
from evalui.app.run_labels import mode_label
from evalui.messages import Messages
from evalui.report.words import join_sentences
from evalui.store.runs import CellRow
from evalui.ui.components.format import format_time
from evalui.ui.pages.compare.query import CompareQuery


@dataclass(frozen=True, slots=True)
class ComparisonChoice:
    """The finished runs, those that are chosen, and the ids of the chosen cells.

    `groups` are the cells of the chosen runs that can be compared with each other, `group` is the
    one that is chosen from.
    """

    offered: Sequence[ComparableRun]
    runs: tuple[ComparableRun, ...]
    groups: tuple[tuple[CellRow, ...], ...]
    group: tuple[CellRow, ...]
    cells: tuple[int, ...]

    @property
    def picked(self) -> tuple[int, ...]:
        """The chosen cells of the group."""
        own = {cell.id for cell in self.group}
        return tuple(id_ for id_ in self.cells if id_ in own)


def read_choice(
    offered: Sequence[ComparableRun], query: CompareQuery, cells: tuple[int, ...]
) -> ComparisonChoice:
    """What is chosen by an address whose cells are these."""
    of_cells = {cell.id: offer.run.id for offer in offered for cell in offer.cells}
    named = {*query.runs.split(","), *(of_cells[id_] for id_ in cells if id_ in of_cells)}
    runs = tuple(offer for offer in offered if offer.run.id in named)
    groups = comparable_groups(runs)
    # The first of the chosen decides with what the others are compared.
    wanted = [*map(str, cells), query.group]
    fitting = (
        group for each in wanted for group in groups if any(str(one.id) == each for one in group)
    )
    return ComparisonChoice(offered, runs, groups, next(fitting, next(iter(groups), ())), cells)


def with_runs(
    choice: ComparisonChoice, query: CompareQuery, wanted: Collection[str]
) -> CompareQuery:
    """The address after other runs were chosen: all of a new one that fits is compared, too."""
    runs = [offer for offer in choice.offered if offer.run.id in wanted]
    kept = {cell.id for offer in runs for cell in offer.cells}
    cells = [id_ for id_ in choice.picked if id_ in kept]
    if not cells:
        return _with(query, runs, first_comparable_cells(runs))
    first = next(cell for cell in choice.group if cell.id == cells[0])
    new = [offer for offer in runs if offer not in choice.runs]
    cells += [
        cell.id for offer in new for cell in offer.cells if not incompatibilities(first, cell)
    ]
    return _with(query, runs, cells[:MAX_CELLS])


def with_group(choice: ComparisonChoice, query: CompareQuery, wanted: str) -> CompareQuery:
    """The address after another dataset or mode was chosen: its first cells are compared."""
    group = next((each for each in choice.groups if str(each[0].id) == wanted), choice.group)
    return _with(query, choice.runs, first_cells(group))


def with_models(
    choice: ComparisonChoice, query: CompareQuery, wanted: Sequence[str]
) -> CompareQuery:
    """The address after other models of the group were chosen; too many leave it as it is."""
    known = {str(cell.id): cell.id for cell in choice.group}
    cells = [known[each] for each in wanted if each in known]
    if len(cells) > MAX_CELLS:
        return query
    return _with(query, choice.runs, cells, choice.group)


def _with(
    query: CompareQuery,
    runs: Sequence[ComparableRun],
    cells: Sequence[int],
    group: Sequence[CellRow] = (),
) -> CompareQuery:
    """An address names the runs that its cells do not, and the group where there is no cell."""
    chosen = set(cells)
    others = [offer.run.id for offer in runs if chosen.isdisjoint(cell.id for cell in offer.cells)]
    return query.with_cells(cells, others, group[0].id if group and not cells else None)


# ---------------------------------------------------------------- in words


def run_words(t: Messages, offered: Sequence[ComparableRun]) -> dict[str, str]:
    """Each run by its name, and when it was made."""
    return {
        offer.run.id: f"{offer.run.name} · {format_time(t, offer.run.created)}" for offer in offered
    }


def group_words(t: Messages, groups: Sequence[Sequence[CellRow]]) -> dict[str, str]:
    """Each group by its dataset and mode, and by what else sets it apart from one of the same."""
    common = [f"{group[0].cell.dataset} · {mode_label(t, group[0])}" for group in groups]
    words: dict[str, str] = {}
    for name, group in zip(common, groups, strict=True):
        key = str(group[0].id)
        first = groups[common.index(name)][0]
        parts = incompatibilities(first, group[0])
        words[key] = name
        if parts:
            words[key] += f" ({t('compare.other', parts=describe_differences(t, parts))})"
    repeats = Counter(words.values())
    return {key: f"{name} {key}" if repeats[name] > 1 else name for key, name in words.items()}


def model_words(choice: ComparisonChoice, baselines: Collection[str]) -> Mapping[str, str]:
    """Each model of the group, with its run where the name alone is not enough."""
    cells = compared_cells(choice.runs, [cell.id for cell in choice.group], baselines)
    return {str(each.row.id): each.contender.name for each in cells}


def choice_hint(t: Messages, choice: ComparisonChoice) -> str:
    """What is to do next, and which runs have nothing that can stand beside the others."""
    if not choice.runs:
        return ""
    n, first = len(choice.picked), choice.group[0]
    left_out = [
        t(
            "compare.refused",
            name=offer.run.name,
            first=first.cell.model,
            parts=describe_differences(
                t, min((incompatibilities(first, cell) for cell in offer.cells), key=len)
            ),
        )
        for offer in choice.runs
        if not any(cell in choice.group for cell in offer.cells)
    ]
    return join_sentences(
        t(f"compare.more_{n}") if n < 2 else "",
        t("compare.full", n=MAX_CELLS) if n >= MAX_CELLS else "",
        *left_out,
    )
