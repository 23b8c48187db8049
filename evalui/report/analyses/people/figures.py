"""What people add to a judge: their own arena, agreement, disagreements, corrected win rates.

Votes leave and come back as battles, one JSON object per line.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from evalui.datasets.base import Source
from evalui.datasets.files.encoding import decode
from evalui.datasets.tables.table import json_objects
from evalui.errors import DataError
from evalui.report.analyses.arena.figures import PEOPLE, Arena, arena, human_arena
from evalui.report.analyses.open_answers.figures import ANSWERS
from evalui.report.analyses.people.disagreements import (
    Disagreement,
    contestant_positions,
    disagreements,
    judged_duels,
    oriented,
    outcome_for,
)
from evalui.report.export.encoder import WINNERS
from evalui.scoring.arena import prediction_powered
from evalui.scoring.arena.agreement import (
    RaterAgreement,
    VoterAgreement,
    cohen_kappa,
    merge_ties,
    voter_agreements,
)
from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.prediction_powered import PredictionPoweredRate
from evalui.scoring.arena.verdicts import panel_verdicts
from evalui.types import CellResult, Contestant, Duel, Outcome, Trial, Verdict

Votes = Mapping[str, Sequence[Verdict]]  # what people said, by the name of the dataset
NO_JUDGE = ""  # who judged, where only people did


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """What people say of the duels of a judge's arena, or of answers that nobody judged.

    `judged` is that arena, one by `NO_JUDGE` without verdicts if there is none. `votes` count
    one for each of the `people` and item (the last one cast); `unmatched_votes` are about models or
    questions that the arena does not have, and make no figure. `human_arena` is the people's own
    arena. `agreement` is that of the judge with the majority of the people, `by_person` with each
    person, `between_people` that of each two people on the items they share. `voters` tells who is
    unlike the others. `prediction_powered` has the win rate of each two models that met by the
    judge, by people, and by both.
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

    @property
    def has_judge(self) -> bool:
        """Whether a judge said anything that counts."""
        return bool(self.judged.battles)


def compare_people(
    arenas: Sequence[Arena], results: Sequence[CellResult], votes: Votes
) -> tuple[PeopleFigures, ...]:
    """The votes on each dataset beside each of its judges; nothing where there are none."""
    found = (
        figures
        for dataset, said in votes.items()
        if said
        for figures in _beside_each_judge(voted_arenas(dataset, arenas, results), said)
    )
    return tuple(figures for figures in found if figures.votes)


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
        if result.cell.mode == ANSWERS
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
    by_person = _by_person(cast)
    said = _counted(judged)
    majority = panel_verdicts(list(by_person.values()))
    return PeopleFigures(
        judged=judged,
        votes=len(cast),
        people=len(by_person),
        unmatched_votes=len(votes) - len(known),
        human_arena=human or (human_arena(cast, judged) if cast else None),
        agreement=cohen_kappa(said, _merge_neither(majority, said)),
        by_person={
            person: found
            for person, theirs in by_person.items()
            if (found := cohen_kappa(said, _merge_neither(theirs, said)))
        },
        between_people={
            (first, second): found
            for first, second in combinations(by_person, 2)
            if (found := cohen_kappa(by_person[first], by_person[second]))
        },
        disagreements=disagreements(judged_duels(judged), _outcomes_by_person(cast)),
        voters=voter_agreements(cast),
        prediction_powered=_prediction_powered(judged, cast),
    )


def latest_votes(votes: Iterable[Verdict], positions: Mapping[str, int]) -> tuple[Verdict, ...]:
    """The last readable vote of each person on each item, its sides as the contestants stand."""
    last: dict[tuple[str, Duel], Verdict] = {}
    for vote in votes:
        if vote.outcome is not None:
            duel = oriented(vote.duel, positions)
            outcome = outcome_for(duel, vote)
            last[vote.rater, duel] = Verdict(duel, outcome, vote.rater, vote.rule, vote.reply)
    return tuple(last.values())


def vote_lines(votes: Votes) -> Iterator[str]:
    """The readable votes as battles that name their dataset, one JSON object per line."""
    for dataset, said in votes.items():
        for vote in said:
            if vote.outcome is not None:
                row = {
                    "model_a": vote.duel.model_a,
                    "model_b": vote.duel.model_b,
                    "winner": WINNERS[vote.outcome],
                    "dataset": dataset,
                    "question": vote.duel.sample_id,
                    "by": vote.rater,
                    "comment": vote.reply,
                }
                yield json.dumps(row, ensure_ascii=False) + "\n"


def read_votes(path: Path) -> dict[str, list[Verdict]]:
    """Votes by dataset: `{"model_a", "model_b", "winner", "dataset", "question", "by", "comment"}`.

    `dataset` may be absent and is "" then, `by` too and is "people" then, and so may `comment`.

    Raises:
        DataError: the file is no text, or the first row that does not fit, by file and line.
    """
    decoded = decode(path.read_bytes(), path.name)
    found: dict[str, list[Verdict]] = defaultdict(list)
    for line, values in json_objects(Source(path.name, decoded.text)):
        row = _VoteRow(path.name, line, values)
        found[_text(row, "dataset", "")].append(_vote(row))
    return dict(found)


def _beside_each_judge(judges: Sequence[Arena], said: Sequence[Verdict]) -> Iterator[PeopleFigures]:
    """The votes on one dataset beside each of its judges."""
    human: Arena | None = None  # what people say does not hang on the judge
    for judged in judges:
        figures = people_figures(judged, said, human=human)
        human = figures.human_arena
        yield figures


def _unjudged(written: Sequence[CellResult]) -> Arena:
    """An arena without verdicts."""
    first = written[0]
    everybody = tuple(
        Contestant(one.cell.model, {trial.sample_id: _turns(trial) for trial in one.trials})
        for one in written
    )
    cell = replace(first.cell, model=NO_JUDGE)
    return arena(CellResult(cell, first.samples, (), 0, contestants=everybody, orders="random"))


def _turns(trial: Trial) -> tuple[str, ...]:
    return trial.turns or (trial.reply or "",)


def _by_person(cast: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = defaultdict(list)
    for vote in cast:
        found[vote.rater].append(vote)
    return dict(found)


def _merge_neither(votes: Iterable[Verdict], said: Iterable[Verdict]) -> Iterable[Verdict]:
    """The votes without "neither" if the judge never says it: most forms have no word for it."""
    return votes if any(one.outcome == "neither" for one in said) else merge_ties(votes)


def _counted(judged: Arena) -> list[Verdict]:
    """What counts of the judge, a verdict for each battle: conflicts are resolved in them."""
    return [
        Verdict(Duel(row.question or "", row.model_a, row.model_b), row.outcome, judged.by)
        for row in judged.battles
    ]


def _outcomes_by_person(cast: Iterable[Verdict]) -> dict[Duel, dict[str, Outcome]]:
    found: dict[Duel, dict[str, Outcome]] = defaultdict(dict)
    for vote in cast:
        if vote.outcome is not None:
            found[vote.duel][vote.rater] = vote.outcome
    return dict(found)


def _prediction_powered(
    judged: Arena, cast: Iterable[Verdict]
) -> dict[tuple[str, str], PredictionPoweredRate]:
    """The win rates of model_a for every two models, over the items that count for the judge."""
    seats = contestant_positions(judged.contestants)
    by_judge, by_people = _points(_counted(judged), seats), _points(cast, seats)
    pairs: dict[tuple[str, str], list[prediction_powered.PredictionPoweredItem]] = defaultdict(list)
    for duel, points in by_judge.items():
        votes = by_people.get(duel)
        pairs[duel.model_a, duel.model_b].append(
            prediction_powered.PredictionPoweredItem(
                duel.sample_id, fmean(points), fmean(votes) if votes else None
            )
        )
    rates = {
        pair: prediction_powered.prediction_powered_win_rate(found) for pair, found in pairs.items()
    }
    return {pair: rate for pair, rate in rates.items() if rate}


def _points(said: Iterable[Verdict], seats: Mapping[str, int]) -> dict[Duel, list[float]]:
    """What model_a of each item earned in each row about it."""
    found: dict[Duel, list[float]] = defaultdict(list)
    for one in said:
        duel = oriented(one.duel, seats)
        if outcome := outcome_for(duel, one):
            found[duel].append(Battle(duel.model_a, duel.model_b, outcome).points)
    return dict(found)


# ---------------------------------------------------------------- reading a file of votes

_OUTCOMES: Mapping[str, Outcome] = {name: outcome for outcome, name in WINNERS.items()}


@dataclass(frozen=True, slots=True)
class _VoteRow:
    """One line of a file: its object, or a text that says why it is none."""

    file: str
    line: int
    values: Mapping[str, Any] | str


def _vote(row: _VoteRow) -> Verdict:
    model_a, model_b, question = (_text(row, key) for key in ("model_a", "model_b", "question"))
    if model_a == model_b:
        raise DataError(
            "vote-itself",
            file=row.file,
            line=row.line,
            model=model_a,
        )
    winner = _text(row, "winner")
    if winner not in _OUTCOMES:
        raise DataError(
            "vote-winner",
            file=row.file,
            line=row.line,
            winner=winner,
            known=", ".join(_OUTCOMES),
        )
    by, comment = _text(row, "by", PEOPLE), _text(row, "comment", "")
    return Verdict(Duel(question, model_a, model_b), _OUTCOMES[winner], by, "vote", comment)


def _text(row: _VoteRow, key: str, absent: str | None = None) -> str:
    """The text of a key; a number is one too, as the file writes it."""
    if isinstance(row.values, str):
        raise DataError(
            "vote-no-object",
            file=row.file,
            line=row.line,
        )
    value = row.values.get(key, absent)
    if not isinstance(value, str) or not (value.strip() or value == absent):
        raise DataError(
            "vote-key",
            file=row.file,
            line=row.line,
            key=key,
        )
    return value
