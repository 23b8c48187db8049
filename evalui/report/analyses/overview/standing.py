"""How the models of one dataset stand: which mode ranks them, who is compared, in which order."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

from evalui.modes import traits_of
from evalui.scoring.cell_summary import Measure, Summary
from evalui.scoring.comparisons import CellComparison, ComparisonSet, comparisons, main_measure
from evalui.scoring.statistics.tests import RankBand
from evalui.types import is_unfinished

MOST_MODES = 3  # beside each other; of more, one is shown at a time
_MOST_PAIRS = 200  # of a page


@dataclass(frozen=True)
class DatasetStanding:
    """The models of one dataset in each mode that shows its questions.

    `modes` are the labels of its modes, `lead` the one that ranks: the one requested, else the
    first with several orders, else the first. `cells` are by label and model. `baselines` are
    scripted models beside real ones; of scripts alone none is a baseline.
    `compare` makes the comparisons when the first figure needs them. A page shows the first `most`
    models, a file all of them (0).
    """

    dataset: str
    modes: tuple[str, ...]
    lead: str
    cells: Mapping[tuple[str, str], Summary]
    compare: Callable[[], Sequence[ComparisonSet]]
    baselines: frozenset[str]
    places: Mapping[str, int]
    most: int = 0

    @cached_property
    def compared(self) -> Mapping[str, ComparisonSet]:
        """Every two models of each mode, by its label."""
        return {each.label: each for each in self.compare() if each.dataset == self.dataset}

    @cached_property
    def leading(self) -> tuple[Summary, ...]:
        """The cells of the mode that ranks, in the order of the run; without those that cannot
        run in it.
        """
        return tuple(
            summary
            for (label, _), summary in self.cells.items()
            if label == self.lead and summary.state != "impossible"
        )

    @property
    def real(self) -> tuple[Summary, ...]:
        """The leading cells of real models."""
        return tuple(s for s in self.leading if s.cell.model not in self.baselines)

    @property
    def comparison(self) -> ComparisonSet | None:
        """The pairs of the mode that ranks; None with fewer than two models that answered."""
        return self.compared.get(self.lead)

    @property
    def measure(self) -> Measure:
        """What ranks."""
        if self.comparison:
            return self.comparison.measure
        return main_measure([s for s in self.leading if s.accuracy])

    @property
    def guessing(self) -> bool:
        """Whether no real model is known to beat guessing."""
        known = [s for s in self.real if s.accuracy]
        return bool(known) and not any(
            summary.above_chance
            for (_, model), summary in self.cells.items()
            if model not in self.baselines
        )

    @property
    def unfinished(self) -> bool:
        """Whether answers of the mode that ranks are still to come."""
        return any(is_unfinished(summary) for summary in self.leading)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """All models, those that rank first and scripts last, each group by its figure."""
        names = list(dict.fromkeys(model for _, model in self.cells))
        if self.unfinished:
            return tuple(names)
        ranked = [place.name for place in self.comparison.ranks] if self.comparison else []
        return tuple(sorted(names, key=lambda name: self._order(name, ranked)))

    @property
    def shown(self) -> tuple[str, ...]:
        """The models that have a row or a column of their own."""
        return self.models[: self.most or None]

    def listed(self, cells: Sequence[Summary]) -> list[Summary]:
        """Those of the cells whose models have a column."""
        own = set(self.shown)
        return [summary for summary in cells if summary.cell.model in own]

    @cached_property
    def shown_pairs(self) -> tuple[CellComparison, ...]:
        """Their pairs in the mode that ranks, the widest difference first; few enough to show."""
        pairs = self.comparison.pairs if self.comparison else ()
        own = set(self.shown)
        both = [p for p in pairs if p.first.model in own and p.second.model in own]
        both.sort(key=lambda pair: -pair.paired.difference)
        return tuple(both[: _MOST_PAIRS if self.most else None])

    def cell(self, model: str) -> Summary | None:
        """The cell of a model in the mode that ranks."""
        return self.cells.get((self.lead, model))

    def rank(self, model: str) -> RankBand | None:
        """The places that a model may have; None while answers are to come."""
        if self.comparison is None or self.unfinished or self.guessing:
            return None
        return self.comparison.rank_of(model)

    def pair(self, one: str, other: str) -> CellComparison | None:
        """The test of two models in the mode that ranks, whichever is ahead."""
        return self._pairs.get(frozenset((one, other)))

    @cached_property
    def _pairs(self) -> Mapping[frozenset[str], CellComparison]:
        pairs = self.comparison.pairs if self.comparison else ()
        return {frozenset((pair.first.model, pair.second.model)): pair for pair in pairs}

    def _order(self, model: str, ranked: Sequence[str]) -> tuple[int, float]:
        if model in ranked:
            return 0, ranked.index(model)
        summary = self.cell(model)
        share = summary.accuracy.value if summary and summary.accuracy else -1.0
        return 1 + (model in self.baselines), -share


def standings(
    summaries: Sequence[Summary],
    *,
    baselines: Collection[str] = (),
    mode: str = "",
    most: int = 0,
) -> tuple[DatasetStanding, ...]:
    """How models stand on each dataset, in the order of the run; `mode` is the label that ranks."""
    shown = with_question(summaries)
    made = cache(partial(comparisons, shown, baselines=baselines))
    names = dict.fromkeys(s.cell.model for s in shown)
    scripted = frozenset(baselines) if any(n not in baselines for n in names) else frozenset[str]()
    own = [name for name in names if name not in baselines]
    places = {name: place for place, name in enumerate(own)} | dict.fromkeys(baselines, 0)
    if not own:
        places = {name: place for place, name in enumerate(names)}
    by_dataset: dict[str, list[Summary]] = {}
    for summary in shown:
        by_dataset.setdefault(summary.cell.dataset, []).append(summary)
    return tuple(
        DatasetStanding(
            dataset,
            modes := tuple(dict.fromkeys(s.cell.label for s in cells)),
            mode if mode in modes else _lead(cells, modes),
            {(s.cell.label, s.cell.model): s for s in cells},
            made,
            scripted,
            places,
            most,
        )
        for dataset, cells in by_dataset.items()
    )


def _lead(cells: Sequence[Summary], modes: Sequence[str]) -> str:
    answered = {s.cell.label for s in cells if s.accuracy}
    moved = {s.cell.label for s in cells if s.robust}
    first = next((label for label in modes if label in moved), "")
    return first or next((label for label in modes if label in answered), modes[0])


def with_question(summaries: Sequence[Summary]) -> list[Summary]:
    """The cells that show their question; all if none does."""
    shown = [each for each in summaries if "question" not in traits_of(each.cell.mode).omits]
    return shown or list(summaries)


def above_chance(summary: Summary) -> float:
    """How far the accuracy lies above guessing, in 0..1; 0 without answers."""
    return summary.accuracy.value - (summary.chance or 0.0) if summary.accuracy else 0.0
