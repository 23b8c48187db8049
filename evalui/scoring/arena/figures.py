"""The judged answers of one dataset in figures: standings, ratings, win matrix, reliability."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

from evalui.scoring.arena import elo
from evalui.scoring.arena.agreement import RaterAgreement, fleiss_kappa
from evalui.scoring.arena.battles import (
    Battle,
    BattleTally,
    EncodedBattles,
    WinMatrix,
    encode_battles,
    in_folder_order,
    reorder_matrix,
    tallies,
    win_matrix,
)
from evalui.scoring.arena.bradley_terry import (
    BradleyTerry,
    Connectivity,
    RankInterval,
    Rating,
    fit_ratings,
    leader_gap,
    rank_intervals,
)
from evalui.scoring.arena.categories import (
    CategoryTable,
    JudgementCounts,
    category_of,
    category_tables,
    count_judgements,
    not_bad_shares,
    won_shares,
)
from evalui.scoring.arena.elo import MedianElo
from evalui.scoring.arena.style_control import RESAMPLES as STYLE_RESAMPLES
from evalui.scoring.arena.style_control import StyleControlledRatings, fit_style_controlled_ratings
from evalui.scoring.arena.verdicts import (
    PANEL_NAME,
    JudgeReliability,
    battles_from_verdicts,
    joint_error,
    joint_state,
    judge_reliability,
    panel_verdicts,
    rating_cells,
    verdicts_of,
)
from evalui.scoring.cell_trials import by_dataset_and_mode
from evalui.scoring.statistics.intervals import RESAMPLES
from evalui.types import (
    Cell,
    CellResult,
    ConflictRule,
    Contestant,
    Interval,
    JudgeOutput,
    Sample,
    Verdict,
    is_unfinished,
)
from evalui.version import __version__

T = TypeVar("T")
PEOPLE = "people"
POOLED = "pooled"  # who judged, where several did and each verdict counts by itself
_MANY_BATTLES = 20_000  # battles: above, all orders and resamples would take minutes
_MIN_ORDERS, _MIN_RESAMPLES = 100, 50
Headline = Literal["bradley_terry", "elo"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's place in the arena.

    `elo` is the median over seeded orders, `elo_low` and `elo_high` its 95 % range over questions.
    `rating` is Bradley-Terry's, `styled` the same with length and style held equal, both None if
    there is no finite value. `rank_low` to `rank_high` is the rank's 95 % range. `with_leader`:
    does not differ significantly from the leader (and so is the leader itself). `opencompass` are
    its battles as OpenCompass counts them, without pairs whose two orders contradict each other;
    None if none is left. `opencompass_elo` is made of the same battles, in the order of its report;
    None of verdicts that are still to come, of people, of several runs, and of many battles unless
    `with_opencompass_elo` was called.
    """

    model: str
    tally: BattleTally
    elo: float
    elo_low: float | None
    elo_high: float | None
    rating: Rating | None
    styled: Rating | None
    rank_low: int | None
    rank_high: int | None
    with_leader: bool
    opencompass: BattleTally | None = None
    opencompass_elo: MedianElo | None = None


@dataclass(frozen=True, slots=True)
class Arena:
    """The duels of one dataset as one judge, a panel, or people saw them.

    `by` names the judge, or is "panel", "people" or "pooled". `verdicts` are all, readable or not;
    `battles` are the rows that count under the `conflict` rule. `done` of `planned` showings were
    judged. `questions` and `pairs` count those with at least one readable verdict. `standings`
    come best first by `headline`, the one order of models wherever they are listed; `lead` is how
    far the first is ahead of the second with its range, in points, None without finite ratings.
    `shares` holds the share of points that row won against column
    (ties as halves), with its range over questions, for pairs that met; `not_bad` the share of a
    model's verdicts that it won, or that found both answers good, empty where verdicts have no word
    for two bad answers. A `strong` verdict is so many battles, `output` is what the judge gave its
    verdicts in. `comparisons` is the head
    of OpenCompass's report, `agreement` that between a panel's judges (Fleiss) or between people,
    `styled` has the weights of length and Markdown. `elo` is the median over `elo_orders` orders.
    `judge_flip_rates` holds the flips of each judge of a panel: where single judges change their
    verdict with the order, the panel mostly has no majority and so cannot change its own.
    """

    dataset: str
    by: str
    judges: tuple[str, ...]
    orders: str
    conflict: ConflictRule
    questions: int
    pairs: int
    done: int
    planned: int
    verdicts: Sequence[Verdict]
    battles: Sequence[Battle]
    standings: tuple[Standing, ...]
    lead: tuple[float, float, float] | None
    matrix: WinMatrix | None
    shares: Mapping[tuple[str, str], Interval]
    not_bad: Mapping[str, Interval]
    connection: Connectivity | None
    dimensions: tuple[CategoryTable, ...]
    reliability: JudgeReliability
    contestants: tuple[Contestant, ...]
    samples: Mapping[str, Sample]
    signature: str
    state: str
    error: str
    comparisons: JudgementCounts | None = None
    agreement: RaterAgreement | None = None
    styled: StyleControlledRatings | None = None
    elo_orders: int = elo.N_ORDERS
    strong: int = 1
    output: JudgeOutput = "text"
    judge_flip_rates: Mapping[str, Interval] = field(default_factory=dict[str, Interval])
    _made: dict[Hashable, Any] = field(
        default_factory=dict[Hashable, Any], init=False, repr=False, compare=False
    )

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is made of this arena under that name, made once; a changed arena has its own."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @property
    def headline(self) -> Headline:
        """What the standings are ordered by: Bradley-Terry's rating, ELO where none is finite."""
        return "bradley_terry" if any(one.rating for one in self.standings) else "elo"


class _Deferred(Sequence[T]):
    """`n` things that are made when one of them is first looked at."""

    def __init__(self, n: int, make: Callable[[], Sequence[T]]) -> None:
        self._n = n
        self._make = make

    @cached_property
    def _made(self) -> Sequence[T]:
        return self._make()

    def __len__(self) -> int:
        """How many there are, without making them."""
        return self._n

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """One, or several."""
        return self._made[index]

    def __iter__(self) -> Iterator[T]:
        """All of them."""
        return iter(self._made)


@dataclass(frozen=True, slots=True)
class ArenaRecord:
    """The `arena` without verdicts, battles, answers and questions; `battles` is their number.

    `shares` are those of the arena, each with the two models.
    """

    arena: Arena
    battles: int
    shares: tuple[tuple[str, str, Interval], ...]

    @classmethod
    def of(cls, arena: Arena) -> "ArenaRecord":
        """What is kept of an arena."""
        bare = replace(arena, verdicts=(), battles=(), contestants=(), samples={}, shares={})
        shares = tuple((*pair, share) for pair, share in arena.shares.items())
        return cls(bare, len(arena.battles), shares)

    def arena_of(self, results: Sequence[CellResult]) -> Arena:
        """The arena of these cells of judges, whose trials are read where verdicts are wanted."""
        first, kept = results[0], self.arena

        def read_verdicts() -> tuple[Verdict, ...]:
            each = [verdicts_of(result) for result in results]
            return panel_verdicts(each) if len(each) > 1 else each[0]

        verdicts = _Deferred(kept.done, read_verdicts)
        return replace(
            kept,
            verdicts=verdicts,
            battles=_Deferred(
                self.battles,
                lambda: battles_from_verdicts(verdicts, kept.conflict, strong=kept.strong),
            ),
            contestants=first.contestants,
            samples=first.samples,
            state=joint_state(results),
            error=joint_error(results),
            shares={(one, other): share for one, other, share in self.shares},
        )


@dataclass(frozen=True, slots=True)
class _ResamplingEffort:
    """Over how many orders of play Elo goes, and how often style is resampled."""

    orders: int
    resamples: int

    @property
    def signature(self) -> str:
        """How the ratings are made."""
        return (
            f"elo:k{elo.K_OPENCOMPASS:g},scale{elo.SCALE:g},start{elo.INITIAL_RATING:g},orders{self.orders}"
            f"|bradley-terry:resamples{RESAMPLES}|style:resamples{self.resamples}"
        )


# The arena of one judge, or of the panel that several judges of the same duels are.
ArenaReader = Callable[[Sequence[CellResult]], Arena]


def arenas(results: Sequence[CellResult], arena_of: ArenaReader | None = None) -> tuple[Arena, ...]:
    """The arena of every judge of a run; several judges of one dataset also form a panel, first.

    `arena_of` may know what is kept of a judge, or of several.
    """
    read = arena_of or arena_of_judges
    return tuple(
        made
        for group in duel_groups(results)
        for made in (
            *([read(group)] if len(group) > 1 else []),
            *(read([result]) for result in group),
        )
    )


def duel_groups(results: Sequence[CellResult]) -> list[list[CellResult]]:
    """The judges of the same duels together, in the order of the run."""
    rating = {result.cell for result in rating_cells(results)}
    return by_dataset_and_mode(
        one for one in results if one.cell.gives == "verdicts" and one.cell not in rating
    )


def arena_of_judges(results: Sequence[CellResult]) -> Arena:
    """That of one judge, or of the panel that several are."""
    return arena(results[0]) if len(results) == 1 else panel_arena(results)


def arena(result: CellResult) -> Arena:
    """What one judge's verdicts say, as far as they are in."""
    made = arena_from_verdicts(result, verdicts_of(result), (result.cell.model,))
    return _with_cheap_opencompass_elo(made)


def panel_arena(results: Sequence[CellResult]) -> Arena:
    """What the majority of several judges of the same duels says."""
    per_judge = [verdicts_of(result) for result in results]
    head = replace(
        results[0],
        cell=replace(
            results[0].cell,
            model=PANEL_NAME,
            signature=" + ".join(result.cell.signature for result in results),
        ),
        total=max(result.total for result in results),
        state=joint_state(results),
        error=joint_error(results),
    )
    judges = tuple(result.cell.model for result in results)
    swayed = {
        judge: flips
        for judge, judged in zip(judges, per_judge, strict=True)
        if (flips := judge_reliability(judged, ()).flip_rate)
    }
    measured = arena_from_verdicts(head, panel_verdicts(per_judge), judges)
    return _with_cheap_opencompass_elo(
        replace(measured, agreement=fleiss_kappa(per_judge), judge_flip_rates=swayed)
    )


def human_arena(votes: Sequence[Verdict], judged: Arena, *, cast: Sequence[Verdict] = ()) -> Arena:
    """What people say of the duels of `judged`; each vote is a battle of its own.

    `cast` are the votes before anything was decided, by which people agree with each other.
    """
    voters = tuple(dict.fromkeys(vote.rater for vote in votes))
    dataset = judged.signature.partition("|")[0]  # with its digest
    signature = (
        f"{dataset}|by:{PEOPLE}|people:{len(voters)}|votes:{len(votes)}|evalui:{__version__}"
    )
    cell = Cell(judged.dataset, PEOPLE, PEOPLE, PEOPLE, "origin", signature, "verdicts")
    head = CellResult(
        cell,
        judged.samples,
        (),
        len(votes),
        contestants=judged.contestants,
        orders="random",
        conflict="half",
    )
    each = [[vote for vote in cast or votes if vote.rater == voter] for voter in voters]
    return replace(arena_from_verdicts(head, votes, voters), agreement=fleiss_kappa(each))


def arena_from_verdicts(
    head: CellResult, judged: Sequence[Verdict], judges: tuple[str, ...]
) -> Arena:
    """The figures of the verdicts; `head` states whose they are and how they were made."""
    fought = battles_from_verdicts(judged, head.conflict, strong=head.strong)
    readable = [one.duel for one in judged if one.outcome is not None]
    coded = encode_battles(fought)
    rated = fit_ratings(coded) if fought else None
    effort = _resampling_effort(len(fought))
    styled = (
        fit_style_controlled_ratings(coded, head.contestants, resamples=effort.resamples)
        if fought
        else None
    )
    shares = won_shares(fought)
    ranked = _standings(head, coded, rated, styled, shares, effort) if rated and styled else ()
    consistent = battles_from_verdicts(judged, "drop")
    agreed = tallies(consistent, says_neither=head.says_neither)
    ranked = tuple(replace(one, opencompass=agreed.get(one.model)) for one in ranked)
    return Arena(
        dataset=head.cell.dataset,
        by=head.cell.model,
        judges=judges,
        orders=head.orders,
        conflict=head.conflict,
        questions=len({duel.sample_id for duel in readable}),
        pairs=len({frozenset((duel.model_a, duel.model_b)) for duel in readable}),
        done=len(judged),
        planned=head.total,
        verdicts=tuple(judged),
        battles=fought,
        standings=ranked,
        lead=_lead(rated) if rated else None,
        matrix=reorder_matrix(win_matrix(coded), [one.model for one in ranked]) if fought else None,
        shares=shares,
        not_bad=not_bad_shares(fought) if head.says_neither else {},
        connection=rated.connection if rated else None,
        dimensions=_dimensions(head, fought),
        reliability=replace(judge_reliability(judged, head.contestants), judge=head.cell.model),
        contestants=head.contestants,
        samples=head.samples,
        signature=f"{head.cell.signature}|{effort.signature}",
        state=head.state,
        error=head.error,
        comparisons=count_judgements(judged, consistent),
        styled=styled,
        elo_orders=effort.orders,
        strong=head.strong,
        output=head.output,
    )


def _resampling_effort(n: int) -> _ResamplingEffort:
    """As much as `n` battles leave time for."""
    part = min(1.0, _MANY_BATTLES / n) if n else 1.0
    return _ResamplingEffort(
        max(_MIN_ORDERS, int(part * elo.N_ORDERS)),
        max(_MIN_RESAMPLES, int(part * STYLE_RESAMPLES)),
    )


def _standings(
    head: CellResult,
    fought: EncodedBattles,
    rated: BradleyTerry,
    styled: StyleControlledRatings,
    shares: Mapping[tuple[str, str], Interval],
    effort: _ResamplingEffort,
) -> tuple[Standing, ...]:
    """Every model that met another, in the order of `best_first`."""
    medians = elo.permuted_elo(fought, runs=effort.orders).median
    ends, places = elo.elo_intervals(fought, resamples=effort.orders), rank_intervals(rated)
    known = [one.name for one in head.contestants if one.name in medians]
    order = best_first(tuple(dict.fromkeys((*known, *medians))), rated.ratings, medians)
    counted = tallies(fought.battles, says_neither=head.says_neither)
    return tuple(
        Standing(
            model=model,
            tally=counted[model],
            elo=medians[model],
            elo_low=low,
            elo_high=high,
            rating=rated.ratings.get(model),
            styled=styled.ratings.get(model),
            rank_low=places[model].low if places else None,
            rank_high=places[model].high if places else None,
            with_leader=_with_leader(places.get(model), shares.get((order[0], model))),
        )
        for model in order
        # One question alone has no range.
        for low, high in [ends.get(model, (None, None))]
    )


def best_first(
    models: Sequence[str], ratings: Mapping[str, Rating], elos: Mapping[str, float]
) -> list[str]:
    """The models by Bradley-Terry rating, or by Elo if `ratings` is empty; equal ones as given.

    What differs by less than a millionth of a point is equal: it is the last digit of a processor.
    """
    strengths = {name: one.value for name, one in ratings.items()} or elos
    return sorted(models, key=lambda model: -round(strengths[model], 6))


def _with_leader(rank: RankInterval | None, against: Interval | None) -> bool:
    if rank and rank.tied_with_leader is not None:
        return rank.tied_with_leader
    # Without ranks the battles against the leader decide; who never met it counts as equal.
    return against is None or against.low <= 0.5


def _lead(rated: BradleyTerry) -> tuple[float, float, float] | None:
    leader = leader_gap(rated)
    if leader is None or leader.gap.low is None or leader.gap.high is None:
        return None
    return leader.gap.value, leader.gap.low, leader.gap.high


def _with_cheap_opencompass_elo(made: Arena) -> Arena:
    counted = made.comparisons
    is_many = counted is not None and counted.consistent > elo.MEDIAN_ELO_MAX_BATTLES
    return made if is_many else with_opencompass_elo(made)


def with_opencompass_elo(made: Arena) -> Arena:
    """With the ELO rows of OpenCompass's report of any number of battles, once all verdicts are in.

    `made` itself where it has them already, or cannot have them.
    """
    has_them = any(one.opencompass_elo for one in made.standings)
    if is_unfinished(made) or made.comparisons is None or has_them:
        return made
    fought = battles_from_verdicts(made.verdicts, "drop")
    medians = elo.median_elos(in_folder_order(fought, made.samples))
    ranked = (replace(one, opencompass_elo=medians.get(one.model)) for one in made.standings)
    return replace(made, standings=tuple(ranked))


def _dimensions(head: CellResult, fought: Sequence[Battle]) -> tuple[CategoryTable, ...]:
    topics = {sample.id: category_of(sample) for sample in head.samples.values()}
    models = [one.name for one in head.contestants]
    return category_tables(fought, topics, models=models, says_neither=head.says_neither)
