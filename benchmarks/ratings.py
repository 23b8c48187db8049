"""Ratings of ten models from battles, beside FastChat."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from benchmarks.contest import Compared, Contest, Session, alone, meet
from benchmarks.peer import opened
from benchmarks.rows import Goal, Row
from evalui.scoring.arena import elo
from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.bradley_terry import BradleyTerry, fit_ratings
from evalui.scoring.arena.elo import PermutedElo
from evalui.types import Outcome

GROUP = "ratings"
_FULL = 10_000
_NAMES: Mapping[Outcome, str] = {
    "a": "model_a", "b": "model_b", "tie": "tie", "neither": "tie (bothbad)"
}  # fmt: skip


def rows(session: Session) -> Iterator[Row]:
    """Elo over 1000 orders and Bradley-Terry with 1000 resamples.

    FastChat's Elo draws battles anew where ours changes their order: as many updates of another
    statistic, so that only its medians are near ours.
    """
    fought = battles(_FULL)
    told = [[battle.model_a, battle.model_b, _NAMES[battle.outcome]] for battle in fought]
    with opened("fastchat", session.peers, {"battles": told}) as peer:
        for size in session.scaled(_FULL):
            chosen, full = fought[:size], size == _FULL
            contest = Contest(
                group=GROUP,
                work="Elo, 1000 times",
                count=size,
                unit="battles",
                job=f"elo {size}",
                ours=partial(elo.permuted_elo, chosen, k=elo.K_FASTCHAT),
                compare=_medians,
                goal=Goal("ratio", 2) if full else None,
            )
            yield meet(contest, peer, session)
        for size in session.scaled(_FULL):
            chosen, full = fought[:size], size == _FULL
            contest = Contest(
                group=GROUP,
                work="Bradley-Terry, 1000 bootstraps",
                count=size,
                unit="battles",
                job=f"bradley-terry {size}",
                ours=partial(fit_ratings, chosen),
                compare=_ratings,
                goal=Goal("ratio", 12) if full else None,
            )
            yield meet(contest, peer, session)
    clustered = [
        Battle(each.model_a, each.model_b, each.outcome, f"q{place // 5}")
        for place, each in enumerate(fought)
    ]
    yield alone(
        GROUP,
        "Bradley-Terry, 1000 bootstraps by question",
        len(clustered),
        "battles on 2,000 questions",
        partial(fit_ratings, clustered),
        session,
    )


def battles(count: int) -> list[Battle]:
    """Battles of ten models of different strength, one in four a tie of either kind."""
    rng = random.Random(0)
    names = [f"model-{number}" for number in range(10)]
    strength = {name: 60.0 * place for place, name in enumerate(names)}
    met = [rng.sample(names, 2) for _ in range(count)]
    return [_battle(rng, one, other, strength) for one, other in met]


def _battle(rng: random.Random, one: str, other: str, strength: Mapping[str, float]) -> Battle:
    if rng.random() < 0.28:
        outcome: Outcome = rng.choice(("tie", "neither"))
    else:
        outcome = "a" if rng.random() < elo.expected_score(strength[one] - strength[other]) else "b"
    return Battle(one, other, outcome)


def _medians(theirs: Mapping[str, float], ours: PermutedElo) -> Compared:
    apart = _furthest(theirs.values(), [ours.median[name] for name in theirs])
    return Compared(f"medians at most {apart:.1f} points apart")


def _ratings(theirs: Mapping[str, Sequence[float]], ours: BradleyTerry) -> Compared:
    found = [ours.ratings[name] for name in theirs]
    apart = _furthest((told[0] for told in theirs.values()), [one.value for one in found])
    off = max(
        abs((high - low) / (one.high - one.low) - 1)
        for one, (_, low, high) in zip(found, theirs.values(), strict=True)
        if one.low is not None and one.high is not None
    )
    return Compared(
        f"ratings at most {apart:.3f} points apart, widths of their ranges {100 * off:.0f} %",
        equal=apart < 0.1,
    )


def _furthest(theirs: Iterable[float], ours: Iterable[float]) -> float:
    return max(abs(one - other) for one, other in zip(theirs, ours, strict=True))
