"""How models stand by the tests: who is compared, who leads, how sure that is, in sentences.

`winner` names none that the corrected tests of `scoring.comparisons` do not show.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Literal

from evalui.messages import add_messages, localized, messages
from evalui.modes import traits_of
from evalui.report.blocks import Headline, ModelCell
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_range,
    format_value,
    p_value,
    percent,
    points_between,
    signed_points,
)
from evalui.report.words import join_names, join_names_shortened, join_sentences, mode_word
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Measure, Summary
from evalui.scoring.comparisons import (
    CellComparison,
    ComparisonSet,
    IncomparablePair,
    comparisons,
    main_measure,
)
from evalui.scoring.pairs import differing_settings
from evalui.scoring.statistics.intervals import beats_guessing, share_interval
from evalui.scoring.statistics.tests import PairedTTest, RankBand
from evalui.types import Cell, Language, is_unfinished, leaves_out_pictures

add_messages(Path(__file__).with_suffix(".toml"))

MOST_MODES = 3  # beside each other; of more, one is shown at a time
_MOST_PAIRS = 200  # of a page
_PLENTY = 0.001  # the corrected p-value below which nobody asks for more questions
_MOST_UNREADABLE = 0.5


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
        """Whether all have answered, and no real model is known to beat guessing."""
        known = [s for s in self.real if s.accuracy]
        return bool(known) and not any(
            summary.above_chance or is_unfinished(summary)
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

    def model_cell(self, model: str, below: str = "") -> ModelCell:
        """A model as it stands in a table, with its marker."""
        return ModelCell(model, self.places.get(model, 0), model in self.baselines, below)

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


def omitted(cell: Cell) -> Literal["", "question", "pictures"]:
    """What the cell leaves out of its questions, so that it is a baseline for the others."""
    if "question" in traits_of(cell.mode).omits:
        return "question"
    return "pictures" if leaves_out_pictures(cell.signature) else ""


def with_question(summaries: Sequence[Summary]) -> list[Summary]:
    """The cells that show their questions whole; all if none does."""
    shown = [each for each in summaries if not omitted(each.cell)]
    return shown or list(summaries)


def above_chance(summary: Summary) -> float:
    """How far the accuracy lies above guessing, in 0..1; 0 without answers."""
    return summary.accuracy.value - (summary.chance or 0.0) if summary.accuracy else 0.0


# ---------------------------------------------------------------- the sentence on top of a run


def headline(standings: Sequence[DatasetStanding], language: Language) -> Headline:
    """What a run came to."""
    if len(standings) == 1:
        return verdict(standings[0], language)
    if any(standing.unfinished for standing in standings):
        return _unfinished([s for standing in standings for s in standing.leading], language)
    k = len(standings)
    if standings and all(standing.guessing for standing in standings):
        return Headline(
            localized("verdict.none-of", language, k=k),
            localized("verdict.support.no-rank", language),
        )
    if not any(s.accuracy for each in standings for s in each.leading):
        return Headline(localized("verdict.nothing", language))
    return Headline(_of_several(standings, language))


def _of_several(standings: Sequence[DatasetStanding], language: Language) -> str:
    """What holds for all of several datasets: who wins how often, or why nobody does."""
    k, known = len(standings), messages(language)
    won = [pair[0] for standing in standings if (pair := winner(standing))]
    wins = sorted(((won.count(name), name) for name in dict.fromkeys(won)), key=lambda w: -w[0])
    if not wins:
        return known("verdict.no-winner-of", k=count(k))
    most, first = wins[0]
    if most == k:
        return known.count("verdict.same-winner", k, first=first)
    if len(wins) == 1:
        return known("verdict.wins-some", first=first, won=count(most), k=count(k))
    names = join_names_shortened([name for _, name in wins], language)
    return known("verdict.wins-differ", k=count(k), names=names)


def verdict(standing: DatasetStanding, language: Language) -> Headline:
    """What one dataset came to."""
    answered = [summary for summary in standing.real if summary.accuracy]
    if standing.unfinished:
        return _unfinished(standing.leading, language)
    if not answered:
        scripts = any(summary.accuracy for summary in standing.leading)
        return Headline(localized(f"verdict.{'scripts' if scripts else 'nothing'}", language))
    if standing.guessing:
        return _all_guessing(answered, language)
    return _warned(standing, _ranked(standing, answered, language), language)


def winner(standing: DatasetStanding) -> tuple[str, CellComparison] | None:
    """The model that beats all others, with its test against the best of them."""
    comparison = standing.comparison
    if comparison is None or standing.unfinished or standing.guessing or not comparison.ranks:
        return None
    first = comparison.ranks[0]
    second = next((name for name in standing.models[1:] if name not in standing.baselines), None)
    pair = standing.pair(first.name, second) if second else None
    if (first.low, first.high) != (1, 1) or pair is None or not pair.has_winner:
        return None
    return (first.name, pair) if pair.leader.model == first.name else None


def tied(comparison: ComparisonSet) -> tuple[str, ...]:
    """The best of those that have a rank, and all that it does not beat."""
    if not comparison.ranks:
        return ()
    first, *others = (place.name for place in comparison.ranks)
    own = (pair for pair in comparison.pairs if first in (pair.first.model, pair.second.model))
    apart = {model for p in own if p.has_winner for model in (p.first.model, p.second.model)}
    return (first, *(name for name in others if name not in apart))


# ---------------------------------------------------------------- the sentence


def _unfinished(cells: Sequence[Summary], language: Language) -> Headline:
    done, total = (
        sum(numbers) for numbers in zip(*((s.done, s.total) for s in cells), strict=True)
    )
    text = localized("verdict.unfinished", language, done=count(done), total=count(total))
    return Headline(text, localized("verdict.support.so-far", language) if done else "")


def _all_guessing(answered: Sequence[Summary], language: Language) -> Headline:
    best = max((s for s in answered if s.accuracy), key=above_chance)
    key = "best" if len(answered) > 1 else "alone"
    support = localized(f"verdict.{key}", language, **_right(best))
    if key == "best":
        support = join_sentences(support, localized("verdict.support.no-rank", language))
    return Headline(localized("verdict.nobody", language), support)


def _right(summary: Summary) -> dict[str, str]:
    assert summary.accuracy is not None, "only cells with answers are spoken of"
    return {
        "model": summary.cell.model,
        "value": format_value(summary.accuracy),
        "span": format_range(summary.accuracy),
        "chance": percent(summary.chance or 0.0),
    }


def _ranked(standing: DatasetStanding, answered: Sequence[Summary], language: Language) -> Headline:
    comparison = standing.comparison
    if len(answered) == 1 or comparison is None:
        return _alone(answered[0], language)
    if won := winner(standing):
        return _won(standing, *won, language)
    if comparison.incomparable:
        return _refused(comparison, language)
    level = tied(comparison)
    if len(level) > 1:
        return _tied(standing, level, language)
    if not level:
        mode = mode_word(answered[0].cell, language, capital=False)
        return Headline(localized("verdict.nobody-in", language, mode=mode))
    return _alone(next(s for s in answered if s.cell.model == level[0]), language)


def _alone(summary: Summary, language: Language) -> Headline:
    text = localized("verdict.single", language, **_right(summary))
    measure = main_measure([summary])
    share = summary.share(measure)
    if measure == "accuracy" or share is None:
        return Headline(text)
    value, span = format_value(share), format_range(share)
    return Headline(text, localized(f"verdict.support.{measure}", language, value=value, span=span))


def _won(
    standing: DatasetStanding, first: str, pair: CellComparison, language: Language
) -> Headline:
    second = pair.opponent_of(first)
    share = standing.cells[standing.lead, first].share(pair.measure)
    assert share is not None, "the cell was compared by it"
    text = localized(
        f"verdict.wins-{pair.measure}",
        language,
        first=first,
        second=second,
        value=format_value(share),
        gap=format_points(pair),
    )
    key = "plenty" if is_plenty(pair) else "enough"
    sure = localized(
        f"verdict.support.{key}", language, n=count(pair.n), span=format_points_range(pair.paired)
    )
    return Headline(text, _with_modes(sure, standing, language))


def is_plenty(pair: CellComparison) -> bool:
    """Whether the questions leave no doubt of the difference."""
    return pair.has_winner and pair.adjusted < _PLENTY


def _tied(standing: DatasetStanding, level: Sequence[str], language: Language) -> Headline:
    cells = (standing.cells[standing.lead, name] for name in level)
    figures = [share for cell in cells if (share := cell.share(standing.measure))]
    places = min(map(decimal_places, figures))
    values = [fixed(100 * share.value, places) for share in figures]
    both = join_names_shortened([f"{value} %" for value in values[:2]], language)
    text = localized(
        f"verdict.tie-{standing.measure}",
        language,
        names=join_names_shortened(level, language),
        values=both if len(set(values)) == len(values) == 2 else _span(values),
    )
    pair = standing.pair(level[0], level[1])
    sure = ""
    if pair and pair.detectable is not None:
        least = format_least_difference(pair.detectable)
        sure = localized("verdict.support.level", language, n=count(pair.n), least=least)
    return Headline(text, _with_modes(sure, standing, language))


def _span(values: Sequence[str]) -> str:
    """From the lowest to the highest; of figures that are printed alike, that one."""
    high, low = values[0], values[-1]
    return f"{high} %" if high == low else f"{low}–{high} %"


def _refused(comparison: ComparisonSet, language: Language) -> Headline:
    parts = dict.fromkeys(part for pair in comparison.incomparable for part in pair.differences)
    named = [localized(f"part-{part}", language) for part in parts]
    support = localized("verdict.support.settings", language, parts=join_names(named, language))
    return Headline(localized("verdict.differ", language), support if named else "", kind="warn")


# ---------------------------------------------------------------- what supports it


def _warned(standing: DatasetStanding, made: Headline, language: Language) -> Headline:
    """The headline with the one warning that changes how it must be read."""
    worst = max(standing.real, key=_unreadable)
    if _unreadable(worst) <= _MOST_UNREADABLE or made.kind:
        return made
    warning = localized("verdict.support.unreadable", language, model=worst.cell.model)
    return Headline(made.text, warning, kind="warn")


def _unreadable(summary: Summary) -> float:
    return summary.unreadable / max(1, summary.done)


def _with_modes(support: str, standing: DatasetStanding, language: Language) -> str:
    """What the other modes say; that one gives another order comes first, and alone."""
    others = [label for label in standing.modes if label != standing.lead][: MOST_MODES + 1]
    for label in others:
        if pair := _reversed(standing, label):
            return _other_order(standing, pair, language)
    compared = standing.compared
    able = [label for label in others if label in compared and len(compared[label].ranks) > 1]
    agreeing = [label for label in able if _agrees(standing, label)]
    if not able or standing.comparison is None:
        return support
    if len(able) > 1:
        k = len(able)
        more = localized("verdict.support.same-all", language, k=k) if len(agreeing) == k else ""
    else:
        cell = next(s.cell for (label, _), s in standing.cells.items() if label == able[0])
        key = "same" if agreeing else "unsure"
        word = mode_word(cell, language)
        more = localized(f"verdict.support.{key}", language, mode=word)
    return join_sentences(support, more)


def _other_order(standing: DatasetStanding, pair: CellComparison, language: Language) -> str:
    first = pair.leader.model
    second = pair.opponent_of(first)
    key = "reversed" if len(standing.real) == 2 else "reversed-pair"
    return localized(
        f"verdict.support.{key}",
        language,
        mode=mode_word(pair.first, language),
        first=first,
        second=second,
        gap=format_points(pair).lstrip("−"),
        span=format_points_range(pair.paired),
    )


def _agrees(standing: DatasetStanding, label: str) -> bool:
    """Whether those that rank in both modes follow each other in the same order."""
    here, there = standing.comparison, standing.compared.get(label)
    if here is None or there is None:
        return False
    first = [place.name for place in here.ranks]
    second = [place.name for place in there.ranks if place.name in first]
    return len(second) > 1 and second == [name for name in first if name in second]


def _reversed(standing: DatasetStanding, label: str) -> CellComparison | None:
    """A pair that another mode shows the other way round."""
    reversed_pairs: list[CellComparison] = []
    other = standing.compared.get(label)
    for pair in other.pairs if other else ():
        here = standing.pair(pair.first.model, pair.second.model)
        scripted = {pair.first.model, pair.second.model} & standing.baselines
        if here and here.has_winner and pair.has_winner and not scripted:
            reversed_pairs += [pair] if here.leader.model != pair.leader.model else []
    return max(reversed_pairs, key=lambda pair: abs(pair.paired.difference), default=None)


# ---------------------------------------------------------------- how sure it is


def sureness(standing: DatasetStanding, language: Language) -> str:
    """How sure the verdict is, in a sentence; "" while answers are to come."""
    answered = [s for s in standing.real if s.accuracy]
    if standing.unfinished or not answered:
        return ""
    fewest = min(answered, key=lambda s: s.n)
    if standing.guessing:
        needed = needed_share(fewest)
        return localized("verdict.sure.guessing", language, n=count(fewest.n), needed=needed)
    if won := winner(standing):
        return _gap(won[1], language)
    level = tied(standing.comparison) if standing.comparison else ()
    pair = standing.pair(level[0], level[1]) if len(level) > 1 else None
    if pair and pair.detectable is not None:
        least = format_least_difference(pair.detectable)
        return localized("verdict.sure.level", language, n=count(pair.n), least=least)
    if pair:
        key = "equal" if pair.finding == "same" else "untold"
        return localized(f"verdict.sure.{key}", language, n=count(pair.n))
    if len(answered) > 1 and standing.comparison and standing.comparison.incomparable:
        return ""
    share = answered[0].accuracy
    assert share is not None, "it has answers"
    width = fixed(100 * (share.high - share.low), 0)
    return localized("verdict.sure.alone", language, n=count(share.n), width=width)


def needed_share(summary: Summary) -> str:
    """The least share of right answers, in whole per cent, that would beat guessing."""
    chance = summary.chance or 0.0
    for right in range(summary.n_independent + 1):
        share = share_interval(right, summary.n_independent)
        if share and beats_guessing(share, chance):
            return fixed(100 * share.value, 0)
    return "100"


def _gap(pair: CellComparison, language: Language) -> str:
    if pair.paired.all_equal:
        return localized("verdict.sure.steady", language, n=count(pair.n))
    fields = {
        "gap": format_points(pair).lstrip("−"),
        "span": format_points_range(pair.paired),
        "n": count(pair.n),
    }
    if pair.detectable is not None and is_plenty(pair):
        least = format_least_difference(pair.detectable)
        return localized("verdict.sure.very", language, **fields, least=least)
    return localized("verdict.sure.fairly", language, **fields, p=p_value(pair.adjusted))


# ---------------------------------------------------------------- two models beside each other


def refusal_sentence(refusal: IncomparablePair, language: Language) -> str:
    """Why two cells are not compared."""
    who = {"first": refusal.first.model, "second": refusal.second.model}
    if not refusal.differences:
        return localized("verdict.pair-strangers", language, **who)
    parts = [localized(f"part-{part}", language) for part in refusal.differences]
    return localized("verdict.pair-refused", language, **who, parts=join_names(parts, language))


def other_settings(cells: Sequence[Cell], language: Language) -> dict[str, list[str]]:
    """A sentence on each way in which models were asked otherwise than the first, and which were.

    The cells are those of one dataset and mode.
    """
    asked: dict[str, list[str]] = {}
    for each in cells[1:]:
        if parts := differing_settings(cells[0], each):
            text = localized("verdict.pair-settings", language, first=cells[0].model, parts=parts)
            asked.setdefault(text, []).append(each.model)
    return asked


def comparison_method(comparison: ComparisonSet, language: Language) -> str:
    """The small line below the pairs: how they were tested; "" if no test decides anything."""
    tested = [pair for pair in comparison.pairs if pair.finding in ("apart", "level")]
    if not tested:
        return ""
    values = [pair.adjusted for pair in tested]
    key = "verdict.pairs-about" if len(comparison.pairs) > 1 else "verdict.pairs-about-one"
    return localized(key, language, k=count(len(comparison.pairs)), p=_p_values(values, language))


def mcnemar_sentence(pair: CellComparison, language: Language) -> str:
    """Which questions decide between two models; "" for a mean over orders."""
    table = pair.mcnemar
    if table is None:
        return ""
    who = {"first": pair.first.model, "second": pair.second.model}
    if table.mid is None:
        return localized("verdict.pair-mcnemar-none", language, **who)
    b, c = table.first_only, table.second_only
    fields = {"k": count(b + c), "b": count(b), "c": count(c), "p": p_value(table.mid)}
    return localized("verdict.pair-mcnemar", language, **who, **fields)


def format_points(pair: CellComparison) -> str:
    """The difference in points, that of the figures as they are printed; of few questions they are
    counts.
    """
    difference, places = pair.paired.difference, decimal_places(pair.paired)
    if pair.figures is None or pair.n < HIDDEN_BELOW:
        return signed_points(difference, places)
    return points_between(difference, *pair.figures, places=places)


def format_points_range(paired: PairedTTest) -> str:
    """Its range: "24–36", and "−2 to 4" spelled with a true minus sign."""
    places = decimal_places(paired)
    return f"{signed_points(paired.low, places)}–{signed_points(paired.high, places)}"


def format_least_difference(difference: float) -> str:
    """The least visible difference in whole points, rounded up, so that it is never too small."""
    return fixed(max(1, -(-(100 * difference - 0.05) // 1)), 0)


def _p_values(values: Sequence[float], language: Language) -> str:
    if all(p < 0.001 for p in values):
        return localized("verdict.pairs-each", language) if len(values) > 1 else "p < .001"
    low, high = p_value(min(values)), p_value(max(values))
    if low == high:
        return localized("verdict.pairs-p", language, p=low)
    bare = [text.removeprefix("= ") for text in (low, high)]
    return localized("verdict.pairs-up-to", language, low=bare[0], high=bare[1])
