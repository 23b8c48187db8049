"""Do two raters agree beyond chance? Kappa, outliers, and a judge's errors taken away by votes.

An item is a pair of answers to one question. Votes are turned to the same side before they are
compared. Kappa is (p_o - p_e) / (1 - p_e): J. Cohen, "A coefficient of agreement for nominal
scales" (1960); for many raters J. L. Fleiss, "Measuring nominal scale agreement among many raters"
(1971). Intervals at 95 % come from resampling questions, because items of one question belong
together; with one item per question they agree with the closed form of Fleiss, Cohen and Everitt,
"Large sample standard errors of kappa and weighted kappa" (1969).

Where people have voted on a random part of the items that a judge judged, its errors are measured
there and removed from the win rate of all: A. N. Angelopoulos et al., "Prediction-powered
inference" (Science, 2023), with the power tuning of A. N. Angelopoulos, J. C. Duchi and T. Zrnic,
"PPI++" (arXiv 2311.01453), for a mean.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_interval
from evalui.scoring.arena.battles import Battle
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    MIN_KNOWN_SHARE,
    RESAMPLES,
    clustered_ratio,
    clustered_share,
    mean_interval,
    resample_counts,
    share_interval,
    sums_by_code,
    t_interval,
)
from evalui.scoring.statistics.tests import holm
from evalui.types import OUTCOMES, Duel, Interval, Outcome, Verdict

# A duel with its models in alphabetical order, and its outcome from that side.
Votes = Mapping[Duel, Outcome]
_ALPHA = 0.05
_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Kappa:
    """A kappa with its 95 % interval: 1 is full agreement, 0 that of chance, below 0 less.

    The ends are None with fewer than two questions.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far raters agree on the `n` items they share.

    `raw` is the share of items (of pairs of raters on an item, for more than two) on which they
    say the same. `kappa` is None where it is undefined: all votes are of one category.
    """

    n: int
    raw: Interval
    kappa: Kappa | None


@dataclass(frozen=True, slots=True)
class VoterAgreement:
    """How one voter fits with the others.

    `agreement` is the share of the `n` items on which the voter agrees with most of the others;
    `others_agreement` is that share among the others without this voter, None if no two of them
    share an item. `p` is the probability that a voter like the others agrees as rarely (binomial),
    and `outlier` says that it is below 5 % with Holm's correction for the number of voters.
    """

    name: str
    n: int
    agreement: Interval | None
    others_agreement: float | None
    p: float | None
    outlier: bool


@dataclass(frozen=True, slots=True)
class PredictionPoweredItem:
    """One pair of answers: the points of its first model (1, ½ or 0) by the judge and by people.

    `human` is the mean of their votes, None without any.
    """

    question: str
    judge: float
    human: float | None = None


@dataclass(frozen=True, slots=True)
class PredictionPoweredRate:
    """The win rate of the first model after the judge, after people, and after both.

    `lambda_weight` says how far the judge was trusted (lambda, 0 to 1). `judge` is as wide as
    chance makes it and knows nothing of the judge's errors. Each `n` counts questions; `human` and
    `combined` are None without votes.
    """

    judge: Interval
    human: Interval | None
    combined: Interval | None
    lambda_weight: float


def votes_by_item(verdicts: Iterable[Verdict]) -> Votes:
    """One outcome for each item a rater judged readably, seen from the model first in the alphabet.

    A rater who gave different outcomes to one item, in two orders or on two days, has no
    preference: a tie.
    """
    heard: dict[Duel, set[Outcome]] = defaultdict(set)
    for one in verdicts:
        if one.outcome is not None:
            duel, outcome = _in_alphabetical_order(one.duel, one.outcome)
            heard[duel].add(outcome)
    return {duel: _single_outcome(outcomes) for duel, outcomes in heard.items()}


def merge_ties(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The same verdicts where neither being good is a tie like both being good."""
    return tuple(
        replace(one, outcome="tie") if one.outcome == "neither" else one for one in verdicts
    )


def cohen_kappa(
    first: Iterable[Verdict],
    second: Iterable[Verdict],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RaterAgreement | None:
    """The agreement of two raters on the items both judged readably; None without any."""
    one, other = votes_by_item(first), votes_by_item(second)
    shared = [duel for duel in one if duel in other]
    if not shared:
        return None
    questions = [duel.sample_id for duel in shared]
    pairs = np.array([[_OUTCOME_INDEX[one[duel]], _OUTCOME_INDEX[other[duel]]] for duel in shared])
    size = len(OUTCOMES)
    tables = np.zeros((len(shared), size * size))
    tables[np.arange(len(shared)), pairs[:, 0] * size + pairs[:, 1]] = 1
    same = pairs[:, 0] == pairs[:, 1]
    raw = clustered_share(questions, same.tolist())
    assert raw is not None, "there are shared items"
    kappa = _kappa_with_interval(_cohen_shares, tables, questions, resamples, seed)
    return RaterAgreement(len(shared), raw, kappa)


def fleiss_kappa(
    raters: Sequence[Iterable[Verdict]], *, resamples: int = RESAMPLES, seed: int = 0
) -> RaterAgreement | None:
    """The agreement of several raters on the items that two or more of them judged readably.

    Items may have different numbers of votes: each counts with the share of its pairs of votes
    that agree. None without items.
    """
    counted: dict[Duel, Counter[Outcome]] = defaultdict(Counter)
    for votes in raters:
        for duel, outcome in votes_by_item(votes).items():
            counted[duel][outcome] += 1
    shared = [duel for duel, counts in counted.items() if counts.total() > 1]
    if not shared:
        return None
    table = np.array([[counted[duel][one] for one in OUTCOMES] for duel in shared], dtype=float)
    return fleiss_kappa_of_table(
        table, [duel.sample_id for duel in shared], resamples=resamples, seed=seed
    )


def fleiss_kappa_of_table(
    table: NDArray[np.float64],
    questions: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RaterAgreement:
    """Fleiss' kappa of votes counted by item and category, shape (items, categories).

    Each item has two votes or more; `questions` are the items' questions.
    """
    n_votes = table.sum(axis=1)
    agreeing = ((table**2).sum(axis=1) - n_votes) / (n_votes * (n_votes - 1))
    parts = np.column_stack([agreeing, np.ones(len(table)), table])
    raw = mean_interval(questions, agreeing.tolist(), resamples=resamples, seed=seed)
    assert raw is not None, "there are items"
    kappa = _kappa_with_interval(_fleiss_shares, parts, questions, resamples, seed)
    return RaterAgreement(len(table), replace(raw, n=len(table)), kappa)


def voter_agreements(verdicts: Iterable[Verdict]) -> tuple[VoterAgreement, ...]:
    """Each voter against the others on the items they share, voters in order of appearance.

    An item counts for a voter if the others' votes on it have one most frequent outcome.
    """
    by_voter: dict[str, list[Verdict]] = defaultdict(list)
    for one in verdicts:
        by_voter[one.rater].append(one)
    ballots = _ballot_array([votes_by_item(cast) for cast in by_voter.values()])
    voters = [_voter_agreement(name, place, ballots) for place, name in enumerate(by_voter)]
    tested = [one for one in voters if one.p is not None]
    adjusted = dict(zip(tested, holm([one.p for one in tested if one.p is not None]), strict=True))
    return tuple(replace(one, outlier=adjusted.get(one, 1.0) <= _ALPHA) for one in voters)


def prediction_powered_win_rate(
    items: Sequence[PredictionPoweredItem],
) -> PredictionPoweredRate | None:
    """The rates of these items; None without any.

    theta = mean(Y) + lambda * (mean of f over all items - mean of f over those voted on), with
    votes Y and judgements f. Standard errors are linearised and clustered by question, with
    t quantiles for the number of questions voted on; lambda makes that error smallest in 0..1.
    """
    if not items:
        return None
    _, question = np.unique([item.question for item in items], return_inverse=True)
    judged = np.array([item.judge for item in items])
    by_judge = _clustered_rate(judged, question)
    voted = np.array([item.human is not None for item in items])
    if not voted.any():
        return PredictionPoweredRate(by_judge, None, None, 0.0)
    people = np.array([item.human for item in items if item.human is not None])
    by_people = _clustered_rate(people, question[voted])
    weight, powered = _prediction_powered_rate(judged, people, voted, question)
    return PredictionPoweredRate(by_judge, by_people, powered if weight else by_people, weight)


# ---------------------------------------------------------------- votes

_OUTCOME_INDEX: Mapping[Outcome, int] = {outcome: place for place, outcome in enumerate(OUTCOMES)}


def _in_alphabetical_order(duel: Duel, outcome: Outcome) -> tuple[Duel, Outcome]:
    if duel.model_a < duel.model_b:
        return duel, outcome
    mirrored = Battle(duel.model_a, duel.model_b, outcome).mirrored
    return Duel(duel.sample_id, mirrored.model_a, mirrored.model_b), mirrored.outcome


def _single_outcome(outcomes: set[Outcome]) -> Outcome:
    return next(iter(outcomes)) if len(outcomes) == 1 else "tie"


# ---------------------------------------------------------------- kappa

# Sums over items, shape (rows, columns), to the agreement observed and that by chance, (rows,).
_AgreementShares = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


def _cohen_shares(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For confusion tables laid flat."""
    size = len(OUTCOMES)
    shares = (tables / tables.sum(axis=1, keepdims=True)).reshape(-1, size, size)
    by_chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return np.trace(shares, axis1=1, axis2=2), by_chance


def _fleiss_shares(parts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For columns of agreement, of items, and of votes by category."""
    by_category = parts[:, 2:] / parts[:, 2:].sum(axis=1, keepdims=True)
    return parts[:, 0] / parts[:, 1], (by_category**2).sum(axis=1)


def _kappa_with_interval(
    shares_of: _AgreementShares,
    items: NDArray[np.float64],
    questions: Sequence[str],
    resamples: int,
    seed: int,
) -> Kappa | None:
    """The kappa of all items, and its range when whole questions are drawn anew."""
    _, question = np.unique(np.asarray(questions, dtype=np.str_), return_inverse=True)
    by_question = sums_by_code(items, question)
    observed, by_chance = shares_of(by_question.sum(axis=0)[None, :])
    value = float(_kappa(observed, by_chance)[0])
    n = len(by_question)
    if np.isnan(value):
        return None
    if n < 2:
        return Kappa(value, None, None)
    if observed[0] in (0.0, 1.0):
        # Every resample is as extreme and says too much: Wilson's ends, the chance held.
        raw = wilson_interval(float(observed[0]) * n, n)
        return Kappa(value, *_kappa(np.array([raw.low, raw.high]), by_chance).tolist())
    rng = np.random.default_rng(seed)
    portions = [shares_of(counts @ by_question) for counts in resample_counts(n, resamples, rng)]
    drawn = np.concatenate([_kappa(*portion) for portion in portions])
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < MIN_KNOWN_SHARE * resamples:
        return Kappa(value, None, None)
    return Kappa(value, *np.percentile(defined, INTERVAL_PERCENTILES).tolist())


def _kappa(observed: NDArray[np.float64], by_chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappa; nan where chance alone gives full agreement."""
    above_chance = 1 - by_chance
    above_chance[above_chance < _EPSILON] = np.nan
    return (observed - by_chance) / above_chance


# ---------------------------------------------------------------- outliers


def _ballot_array(cast: Sequence[Votes]) -> NDArray[np.intp]:
    """The votes on each item: (voters, items, outcomes), 1 for the outcome given."""
    items = dict.fromkeys(duel for one in cast for duel in one)
    column = {duel: place for place, duel in enumerate(items)}
    ballots = np.zeros((len(cast), len(column), len(OUTCOMES)), dtype=np.intp)
    for ballot, one in zip(ballots, cast, strict=True):
        for duel, outcome in one.items():
            ballot[column[duel], _OUTCOME_INDEX[outcome]] = 1
    return ballots


def _voter_agreement(name: str, place: int, ballots: NDArray[np.intp]) -> VoterAgreement:
    from scipy.special import bdtr

    others = np.delete(ballots, place, axis=0)
    heard = others.sum(axis=0)
    hits, n = _majority_hits(ballots[place], heard)
    among = [_majority_hits(ballot, heard - ballot) for ballot in others]
    n_among = sum(count for _, count in among)
    rate = sum(count for count, _ in among) / n_among if n_among else None
    p = None if rate is None or not n else float(bdtr(hits, n, rate))
    return VoterAgreement(name, n, share_interval(hits, n), rate, p, outlier=False)


def _majority_hits(ballot: NDArray[np.intp], others: NDArray[np.intp]) -> tuple[int, int]:
    """On how many items a ballot agrees with most others, and how many items have a majority."""
    *_, second, most = np.sort(others, axis=1).T
    counts = ballot.any(axis=1) & (most > second)
    hits = ballot[np.arange(len(ballot)), others.argmax(axis=1)] & counts
    return int(hits.sum()), int(counts.sum())


# ---------------------------------------------------------------- many judgements and a few votes


def _clustered_rate(points: NDArray[np.float64], question: NDArray[np.intp]) -> Interval:
    _, codes = np.unique(question, return_inverse=True)  # of a part, some questions are not there
    return clustered_ratio(sums_by_code(points, codes), sums_by_code(np.ones(len(points)), codes))


def _prediction_powered_rate(
    judged: NDArray[np.float64],
    people: NDArray[np.float64],
    voted: NDArray[np.bool_],
    question: NDArray[np.intp],
) -> tuple[float, Interval]:
    """Lambda, and the rate it gives."""
    n_voted = len(people)
    judge_part = (judged - judged.mean()) / len(judged)
    judge_part[voted] -= (judged[voted] - judged[voted].mean()) / n_voted
    human_part = np.zeros(len(judged))
    human_part[voted] = (people - people.mean()) / n_voted
    # What each question adds to the error of the rate is mine + lambda * theirs.
    human_error, judge_error = (
        sums_by_code(human_part, question),
        sums_by_code(judge_part, question),
    )
    spread = float((judge_error**2).sum())
    weight = (
        min(1.0, max(0.0, -float((human_error * judge_error).sum()) / spread)) if spread else 0.0
    )
    value = float(people.mean() + weight * (judged.mean() - judged[voted].mean()))
    n = len(np.unique(question[voted]))
    variance = float(((human_error + weight * judge_error) ** 2).sum())
    se = math.sqrt(variance * n / (n - 1)) if n > 1 else None
    return weight, t_interval(min(1.0, max(0.0, value)), se, n)
