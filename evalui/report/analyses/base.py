"""What an analysis is, and the run that it speaks of."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from evalui.messages import messages
from evalui.models.base import ModelUsage, ReplyCount
from evalui.pictures import Picture
from evalui.report.blocks import Block, Link, Markers, ModelCell
from evalui.scoring.answer_summary import AnswerSummary, answers
from evalui.scoring.arena.figures import Arena, arenas
from evalui.scoring.arena.people import PeopleFigures, Votes, compare_people, human_arenas
from evalui.scoring.cell_summary import Summary, SummarySource, adjust_lights
from evalui.scoring.comparisons import ComparisonSet, comparisons
from evalui.scoring.groups import GroupSummary, group_summaries
from evalui.scoring.pairs import AnswerPair, answer_groups
from evalui.types import CellResult, DeclaredGroup, Language, LeftOut, Verdict

if TYPE_CHECKING:
    from evalui.report.frames.run import Frames

# The small pictures of these ids, as far as they are kept.
SmallPictures = Callable[[Iterable[str]], Mapping[str, Picture]]

NO_VOTES: Mapping[str, Sequence[Verdict]] = MappingProxyType({})


class Figures:
    """What the analyses of a run come to, each worked out once, when it is first wanted.

    `votes` are those of people by dataset; `base` has the figures that do not depend on them.
    Safe to share between threads.
    """

    def __init__(
        self,
        results: Sequence[CellResult],
        votes: Votes = NO_VOTES,
        base: "Figures | None" = None,
        source: SummarySource | None = None,
    ) -> None:
        self._results = tuple(results)
        self._source = source or SummarySource()
        self._votes = votes
        self._base = base
        self._pairs: dict[tuple[int, str], tuple[AnswerPair, ...]] = {}
        self._groups: dict[tuple[str, ...], tuple[GroupSummary, ...]] = {}
        self._lock = RLock()  # an analysis takes seconds, and is worked out by one thread only

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """Of the multiple-choice cells, in the order of the run."""
        if self._base:
            return self._base.summaries
        with self._lock:
            cached = self.__dict__.get("summaries")
            choices = (one for one in self._results if one.cell.gives == "choices")
            return cached or adjust_lights([*map(self._source.choices, choices)])

    @cached_property
    def answers(self) -> tuple[AnswerSummary, ...]:
        """Of the written answers."""
        if self._base:
            return self._base.answers
        with self._lock:
            return self.__dict__.get("answers") or answers(self._results, self._source.answers)

    @cached_property
    def arenas(self) -> tuple[Arena, ...]:
        """Of the judges who compared them."""
        if self._base:
            return self._base.arenas
        with self._lock:
            return self.__dict__.get("arenas") or arenas(self._results, self._source.arenas)

    @cached_property
    def people(self) -> tuple[PeopleFigures, ...]:
        """Of people beside each judge."""
        with self._lock:
            return self.__dict__.get("people") or compare_people(
                self.arenas, self._results, self._votes
            )

    def pairs(self, figure: str, dataset: str | None = None) -> tuple[AnswerPair, ...]:
        """Every pair of written answers in one figure, of one dataset or of all."""
        if self._base:
            return self._base.pairs(figure, dataset)
        with self._lock:
            return tuple(
                pair
                for place, group in enumerate(answer_groups(self._results))
                if dataset in (None, group[0].cell.dataset)
                for pair in self._pairs_of(place, group, figure)
            )

    def groups(self, declared: Sequence[DeclaredGroup]) -> tuple[GroupSummary, ...]:
        """The figures of groups of subjects or of datasets."""
        if self._base:
            return self._base.groups(declared)
        key = tuple(map(repr, declared))
        with self._lock:
            if key not in self._groups:
                summaries = (*self.summaries, *self.answers)
                self._groups[key] = group_summaries(declared, self._results, summaries)
            return self._groups[key]

    def _pairs_of(
        self, place: int, group: Sequence[CellResult], figure: str
    ) -> tuple[AnswerPair, ...]:
        if (place, figure) not in self._pairs:
            self._pairs[place, figure] = self._source.pairs(group, figure)
        return self._pairs[place, figure]

    def with_votes(self, votes: Votes) -> "Figures":
        """The same beside the votes of people."""
        return Figures(self._results, votes, self._base or self)

    def of_cells(self, results: Sequence[CellResult]) -> "Figures":
        """Those of some of the cells; what is known of a cell is not computed anew."""
        source = SummarySource(
            lambda result: next(one for one in self.summaries if one.cell == result.cell),
            lambda result: next(one for one in self.answers if one.cell == result.cell),
            (self._base or self)._source.arenas,
            (self._base or self)._source.pairs,
        )
        return Figures(results, self._votes, source=source)


def no_pictures(wanted: Iterable[str]) -> Mapping[str, Picture]:
    """None of any question: of a run without a store, and on pages, which show them elsewhere."""
    del wanted
    return {}


@dataclass(frozen=True, slots=True)
class OpenContext:
    """Language, the models in the order of the run, and which names are scripts.

    `models` decide marker and colour of a model in every table and chart; `baselines` take no
    place. `rules` are judges that follow a rule. `duels` gives the address of the list of duels
    for filters; files have none. `pictures`: charts become files. `small_pictures` are those of
    questions that stand in tables.
    """

    language: Language
    models: Sequence[str] = ()
    baselines: Collection[str] = ()
    rules: frozenset[str] = frozenset()
    duels: Callable[..., str] | None = None
    pictures: bool = True
    small_pictures: SmallPictures = no_pictures

    def model(self, name: str) -> ModelCell:
        """A model as it stands in a table, see `Markers`."""
        return Markers(self.models, self.baselines).cell(name)

    def duel_link(self, text: str, **filters: str) -> Link | None:
        """A link to the duels that pass the filters; None in a file."""
        return Link(text, self.duels(**filters)) if self.duels else None

    def without_pictures(self) -> "OpenContext":
        """The same where no picture can be drawn."""
        return replace(self, pictures=False)

    def file(self, name: str) -> str:
        """The name of a chart's picture; "" where none can be drawn."""
        return name if self.pictures else ""


@dataclass(frozen=True)
class Report:
    """A run with its figures, each worked out when it is first read.

    `spec` is its specification as JSON, to run it again. `votes` are those of people by dataset.
    `expenses` are what the models took, at the prices of the day, `replies` whose replies it rests
    on, `changes` what servers said of their models that was not so all the time. `left_out` is what
    the run was given and does not evaluate. Reasons are in the `language` of the report, else in
    English. `metrics` are those that the specification chooses, in its order, `declared_groups` the
    groups of subjects or datasets that it declares, `small_pictures` those of its questions.
    """

    name: str
    results: tuple[CellResult, ...]
    figures: Figures
    baselines: frozenset[str] = frozenset()
    spec: str = ""
    votes: Votes = field(default_factory=lambda: NO_VOTES)
    expenses: tuple[ModelUsage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    replies: tuple[ReplyCount, ...] = ()
    changes: tuple[str, ...] = ()
    language: Language = "en"
    metrics: tuple[str, ...] = ()
    declared_groups: tuple[DeclaredGroup, ...] = ()
    small_pictures: SmallPictures = field(default=no_pictures, repr=False, compare=False)
    # The report of which this one is the same in another language; `replace` makes one without.
    _first: "Report | None" = field(default=None, init=False, repr=False, compare=False)

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """The figures of the multiple-choice cells."""
        return tuple(replace(each, error=self._say(each.error)) for each in self.figures.summaries)

    @cached_property
    def answers(self) -> tuple[AnswerSummary, ...]:
        """The figures of the written answers."""
        return tuple(replace(each, error=self._say(each.error)) for each in self.figures.answers)

    @cached_property
    def arenas(self) -> tuple[Arena, ...]:
        """The judges who compared them."""
        return tuple(
            replace(each, error=self._say(each.error)) if each.error else each
            for each in self.figures.arenas  # as they are: they remember what is made of them
        )

    @cached_property
    def people(self) -> tuple[PeopleFigures, ...]:
        """People beside each judge."""
        return self.figures.people

    @cached_property
    def comparisons(self) -> tuple[ComparisonSet, ...]:
        """The multiple-choice cells of each dataset and mode beside each other."""
        return comparisons(self.summaries, baselines=self.baselines)

    @cached_property
    def frames(self) -> "Frames":
        """What it comes to as tables, each made once; in every language the same, in English."""
        from evalui.report.frames.run import Frames

        return self._first.frames if self._first else Frames(self._told("en"))

    @property
    def groups(self) -> tuple[GroupSummary, ...]:
        """The figures of the groups that the specification declares."""
        return self.figures.groups(self.declared_groups)

    @property
    def has_choices(self) -> bool:
        """Whether it has multiple-choice cells; a run without any cell counts as one."""
        return bool(self.summaries) or not (self.answers or self.arenas)

    @property
    def answerers(self) -> tuple[str, ...]:
        """Who wrote answers, in the order of the run, which decides markers and colours."""
        answering = (one.cell.model for one in self.results if one.cell.gives != "verdicts")
        shown = (one.name for arena in self.arenas for one in arena.contestants)
        return tuple(dict.fromkeys((*answering, *shown)))

    def open_context(self, language: Language) -> OpenContext:
        """How tables and charts of its written answers name the models."""
        # A scripted judge is a rule, as a scripted model is a baseline.
        return OpenContext(
            language,
            self.answerers,
            self.baselines,
            rules=self.baselines,
            small_pictures=self.small_pictures,
        )

    @property
    def signatures(self) -> tuple[str, ...]:
        """How the figures of each cell were made, then those of people's votes, a line each."""
        cells = (result.cell.signature for result in self.results)
        votes = (human.signature for human in human_arenas(self.people))
        # A dataset may be called anything; a second line would be no comment of LaTeX any more.
        return tuple(" ".join(text.splitlines()) for text in (*cells, *votes))

    def in_language(self, language: Language) -> "Report":
        """The same with its reasons in a language."""
        made = self._told(language)
        object.__setattr__(made, "_first", self._first or self)
        return made

    def _told(self, language: Language) -> "Report":
        """Its reasons in a language, without the folders of this machine."""
        t = messages(language)
        return replace(
            self,
            language=language,
            expenses=tuple(replace(each, why=t.translate(each.why)) for each in self.expenses),
            left_out=tuple(replace(each, why=t.translate(each.why)) for each in self.left_out),
            changes=tuple(map(t.translate, self.changes)),
        )

    def of_mode(self, mode: str) -> "Report":
        """The same with the cells of one mode alone."""
        results = tuple(result for result in self.results if result.cell.mode == mode)
        return replace(self, results=results, figures=self.figures.of_cells(results))

    def _say(self, text: str) -> str:
        return messages(self.language).translate(text)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A part of a report: `speaks` says of which runs, `blocks` gives what it says in a language.

    The blocks name their own headings. `Details` fold on a page and stand open in files.
    """

    speaks: Callable[[Report], bool]
    blocks: Callable[[Report, Language], Iterable[Block]]


@runtime_checkable
class HasAnalyses(Protocol):
    """A mode with analyses of its own cells, beside those that speak of what all modes declare."""

    def analyses(self) -> Mapping[str, Analysis]:
        """By name, in their order; each is given a report of the cells of this mode alone."""
        ...
