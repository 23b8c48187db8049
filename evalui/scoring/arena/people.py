"""What people add to a judge: their own arena, agreement, disagreements, corrected win rates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from evalui.scoring.arena import agreement
from evalui.scoring.arena.agreement import (
    PredictionPoweredRate,
    RaterAgreement,
    VoterAgreement,
    cohen_kappa,
    merge_ties,
    voter_agreements,
)
from evalui.scoring.arena.battles import MIRRORED, Battle
from evalui.scoring.arena.figures import Arena, arena, human_arena
from evalui.scoring.arena.verdicts import panel_verdicts
from evalui.types import CastVote, CellResult, Contestant, Duel, Outcome, Verdict

Votes = Mapping[str, Sequence[Verdict]]  # those of people, by the name of the dataset
NO_JUDGE = ""  # who judged, where only people did


@dataclass(frozen=True, slots=True)
class JudgedDuel:
    """Two answers to one question as a judge or a panel saw them.

    `duel` has its sides as the contestants stand. `original_order` is the verdict that saw model_a
    first, `swapped_order` the one that saw model_b first, None if not made. `outcome` is what
    counts, seen from `duel`: a tie where both orders count and differ, None where nothing counts.
    """

    duel: Duel
    original_order: Verdict | None
    swapped_order: Verdict | None
    outcome: Outcome | None

    @property
    def flipped(self) -> bool:
        """Whether both orders were read and say different things."""
        outcomes = [
            outcome_for(self.duel, one)
            for one in (self.original_order, self.swapped_order)
            if one and one.outcome
        ]
        return len(set(outcomes)) == 2


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which people and the judge, or people among themselves, say different things.

    All outcomes are seen from the sides of `duel`; `people` has those of each person.
    """

    duel: Duel
    judge: Outcome | None
    people: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """The votes on the duels of a judge's arena, or on answers that no judge compared.

    `judged` is that arena, one by `NO_JUDGE` without verdicts if there is none. `votes` count
    one for each of the `people` and item (the last one cast); `unmatched_votes` are about models or
    questions that the arena does not have, and make no figure. `human_arena` is the people's own
    arena. `cast` are the votes as they were cast, sides as the contestants stand; an outcome that
    was decided on one of the `adjudicated` items stands for each vote on it in `human_arena`,
    `agreement` and `prediction_powered`. `agreement` is that of the judge with the majority of the
    people, `by_person` with each person, `between_people` that of each two people on the items
    they share. `voters` shows who is unlike the others. `prediction_powered` has the win rate of
    each two models that met by the judge, by people, and by both.
    """

    judged: Arena
    votes: int
    people: int
    unmatched_votes: int
    human_arena: Arena | None
    agreement: RaterAgreement | None
    by_person: Mapping[str, RaterAgreement]
    between_people: Mapping[tuple[str, str], RaterAgreement]
    disagreements: tuple[Disagreement, ...]
    voters: tuple[VoterAgreement, ...]
    prediction_powered: Mapping[tuple[str, str], PredictionPoweredRate]
    cast: tuple[Verdict, ...] = ()
    adjudicated: int = 0

    @property
    def has_judge(self) -> bool:
        """Whether any verdict of a judge counts."""
        return bool(self.judged.battles)


def compare_people(
    arenas: Sequence[Arena], results: Sequence[CellResult], votes: Votes
) -> tuple[PeopleFigures, ...]:
    """The votes on each dataset beside each of its judges; nothing where there are none."""
    compared = (
        figures
        for dataset, verdicts in votes.items()
        if verdicts
        for figures in _beside_each_judge(voted_arenas(dataset, arenas, results), verdicts)
    )
    return tuple(figures for figures in compared if figures.votes)


def one_per_dataset(people_figures: Sequence[PeopleFigures]) -> tuple[PeopleFigures, ...]:
    """The first figures of each dataset: what people say among themselves is in all the same."""
    first: dict[str, PeopleFigures] = {}
    for figures in people_figures:
        first.setdefault(figures.judged.dataset, figures)
    return tuple(first.values())


def human_arenas(people_figures: Sequence[PeopleFigures]) -> tuple[Arena, ...]:
    """People's own arena of each dataset."""
    return tuple(one.human_arena for one in one_per_dataset(people_figures) if one.human_arena)


def voted_arenas(
    dataset: str, arenas: Sequence[Arena], results: Sequence[CellResult]
) -> tuple[Arena, ...]:
    """The arenas of a dataset that people vote on: its judges', or one for the answers alone."""
    if judged := tuple(one for one in arenas if one.dataset == dataset):
        return judged
    written = [
        result
        for result in results
        if result.cell.gives == "answers"
        and result.cell.dataset == dataset
        and result.state != "impossible"
    ]
    return (_unjudged(written),) if written else ()


def people_figures(
    judged: Arena, votes: Sequence[Verdict], *, human: Arena | None = None
) -> PeopleFigures:
    """The votes beside the judge's verdicts, whose outcome of an item is that of both orders.

    `human` is the people's own arena if it is worked out already.
    """
    seats = contestant_positions(judged.contestants)
    known = [
        vote
        for vote in votes
        if vote.duel.sample_id in judged.samples
        and vote.duel.model_a in seats
        and vote.duel.model_b in seats
    ]
    cast = latest_votes(known, seats)
    settled = tuple(map(_settled, cast))
    by_person = _by_person(cast)
    judgements = _counted(judged)
    majority = panel_verdicts(list(_by_person(settled).values()))
    return PeopleFigures(
        judged=judged,
        votes=len(cast),
        people=len(by_person),
        unmatched_votes=len(votes) - len(known),
        human_arena=human or (human_arena(settled, judged, cast=cast) if cast else None),
        agreement=cohen_kappa(judgements, _merge_neither(majority, judgements)),
        by_person={
            person: agreement
            for person, theirs in by_person.items()
            if (agreement := cohen_kappa(judgements, _merge_neither(theirs, judgements)))
        },
        between_people={
            (first, second): agreement
            for first, second in combinations(by_person, 2)
            if (agreement := cohen_kappa(by_person[first], by_person[second]))
        },
        disagreements=disagreements(judged_duels(judged), _outcomes_by_person(cast)),
        voters=voter_agreements(cast),
        prediction_powered=_prediction_powered(judged, settled),
        cast=cast,
        adjudicated=len({vote.duel for vote in cast if _decision(vote)}),
    )


def latest_votes(votes: Iterable[Verdict], positions: Mapping[str, int]) -> tuple[Verdict, ...]:
    """The last readable vote of each person on each item, its sides as the contestants stand."""
    last: dict[tuple[str, Duel], Verdict] = {}
    for vote in votes:
        if vote.outcome is not None:
            duel = oriented(vote.duel, positions)
            turned = replace(vote, duel=duel, outcome=outcome_for(duel, vote))
            if isinstance(turned, CastVote) and duel != vote.duel and turned.adjudicated:
                turned = replace(turned, adjudicated=MIRRORED[turned.adjudicated])
            last[vote.rater, duel] = turned
    return tuple(last.values())


def _decision(vote: Verdict) -> Outcome | None:
    """What was decided on the item of a vote, None if nothing was."""
    return vote.adjudicated if isinstance(vote, CastVote) else None


def _settled(vote: Verdict) -> Verdict:
    """The vote as it counts for people together."""
    outcome = _decision(vote) or vote.outcome
    return Verdict(vote.duel, outcome, vote.rater, vote.rule, vote.reply)


def judged_duels(arena: Arena) -> tuple[JudgedDuel, ...]:
    """The items of an arena in the order in which they were first judged."""
    seats = contestant_positions(arena.contestants)
    made: dict[Duel, dict[str, Verdict]] = {}
    for verdict in arena.verdicts:
        duel = oriented(verdict.duel, seats)
        made.setdefault(duel, {})[verdict.duel.model_a] = verdict
    counted = _counted_outcomes(arena.battles, seats)
    return tuple(
        JudgedDuel(duel, orders.get(duel.model_a), orders.get(duel.model_b), counted.get(duel))
        for duel, orders in made.items()
    )


def disagreements(
    judged: Iterable[JudgedDuel], voted: Mapping[Duel, Mapping[str, Outcome]]
) -> tuple[Disagreement, ...]:
    """The items that people voted on with more than one opinion, the judge's included.

    A judge that never says "neither" is taken to have no word for it but a tie.
    """
    outcomes: dict[Duel, Outcome | None] = {item.duel: item.outcome for item in judged}
    coarse = "neither" not in outcomes.values()
    made: list[Disagreement] = []
    for duel, people in voted.items():
        judge = outcomes.get(duel)
        meant = {_neither_as_tie(each) if coarse else each for each in people.values()}
        if len(set(people.values())) > 1 or (judge and meant != {judge}):
            made.append(Disagreement(duel, judge, people))
    return tuple(made)


def contestant_positions(contestants: Sequence[Contestant]) -> Mapping[str, int]:
    """Where each contestant stands."""
    return {one.name: place for place, one in enumerate(contestants)}


def oriented(duel: Duel, positions: Mapping[str, int]) -> Duel:
    """The duel with the contestant that stands first as model_a."""
    if positions[duel.model_a] < positions[duel.model_b]:
        return duel
    return Duel(duel.sample_id, duel.model_b, duel.model_a)


def outcome_for(duel: Duel, verdict: Verdict) -> Outcome | None:
    """The outcome of a verdict as seen from the sides of `duel`."""
    if verdict.outcome is None or verdict.duel == duel:
        return verdict.outcome
    return Battle(verdict.duel.model_a, verdict.duel.model_b, verdict.outcome).mirrored.outcome


def _beside_each_judge(
    judges: Sequence[Arena], votes: Sequence[Verdict]
) -> Iterator[PeopleFigures]:
    """The votes on one dataset beside each of its judges."""
    human: Arena | None = None  # what people say does not hang on the judge
    for judged in judges:
        figures = people_figures(judged, votes, human=human)
        human = figures.human_arena
        yield figures


def _unjudged(written: Sequence[CellResult]) -> Arena:
    """An arena without verdicts."""
    first = written[0]
    contestants = tuple(
        Contestant(one.cell.model, {trial.sample_id: trial.answers for trial in one.trials})
        for one in written
    )
    cell = replace(first.cell, model=NO_JUDGE)
    return arena(CellResult(cell, first.samples, (), 0, contestants=contestants, orders="random"))


def _by_person(cast: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    by_person: dict[str, list[Verdict]] = defaultdict(list)
    for vote in cast:
        by_person[vote.rater].append(vote)
    return dict(by_person)


def _merge_neither(votes: Iterable[Verdict], judgements: Iterable[Verdict]) -> Iterable[Verdict]:
    """The votes without "neither" if the judge never says it: most forms have no word for it."""
    return votes if any(one.outcome == "neither" for one in judgements) else merge_ties(votes)


def _counted(judged: Arena) -> list[Verdict]:
    """What counts of the judge, a verdict for each battle: conflicts are resolved in them."""
    return [
        Verdict(Duel(row.question or "", row.model_a, row.model_b), row.outcome, judged.by)
        for row in judged.battles
    ]


def _outcomes_by_person(cast: Iterable[Verdict]) -> dict[Duel, dict[str, Outcome]]:
    outcomes: dict[Duel, dict[str, Outcome]] = defaultdict(dict)
    for vote in cast:
        if vote.outcome is not None:
            outcomes[vote.duel][vote.rater] = vote.outcome
    return dict(outcomes)


def _prediction_powered(
    judged: Arena, cast: Iterable[Verdict]
) -> dict[tuple[str, str], PredictionPoweredRate]:
    """The win rates of model_a for every two models, over the items that count for the judge."""
    seats = contestant_positions(judged.contestants)
    by_judge, by_people = _points(_counted(judged), seats), _points(cast, seats)
    pairs: dict[tuple[str, str], list[agreement.PredictionPoweredItem]] = defaultdict(list)
    for duel, points in by_judge.items():
        votes = by_people.get(duel)
        pairs[duel.model_a, duel.model_b].append(
            agreement.PredictionPoweredItem(
                duel.sample_id, fmean(points), fmean(votes) if votes else None
            )
        )
    rates = {pair: agreement.prediction_powered_win_rate(items) for pair, items in pairs.items()}
    return {pair: rate for pair, rate in rates.items() if rate}


def _points(verdicts: Iterable[Verdict], seats: Mapping[str, int]) -> dict[Duel, list[float]]:
    """What model_a of each item earned in each row about it."""
    points: dict[Duel, list[float]] = defaultdict(list)
    for one in verdicts:
        duel = oriented(one.duel, seats)
        if outcome := outcome_for(duel, one):
            points[duel].append(Battle(duel.model_a, duel.model_b, outcome).points)
    return dict(points)


def _counted_outcomes(battles: Iterable[Battle], seats: Mapping[str, int]) -> dict[Duel, Outcome]:
    rows: dict[Duel, set[Outcome]] = {}
    for battle in battles:
        duel = oriented(Duel(battle.question or "", battle.model_a, battle.model_b), seats)
        oriented_battle = battle if battle.model_a == duel.model_a else battle.mirrored
        rows.setdefault(duel, set()).add(oriented_battle.outcome)
    return {
        duel: next(iter(outcomes)) if len(outcomes) == 1 else "tie"
        for duel, outcomes in rows.items()
    }


def _neither_as_tie(outcome: Outcome) -> Outcome:
    return "tie" if outcome == "neither" else outcome
