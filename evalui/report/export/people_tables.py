"""Tidy frames of people's votes: who voted, who agrees, win rates, where opinions part."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from evalui.report.analyses.people.figures import PeopleFigures, one_per_dataset
from evalui.report.export.open_json import WINNERS
from evalui.report.export.tables import TableRow, frame, interval_columns
from evalui.scoring.arena.agreement import Agreement, Voter
from evalui.scoring.arena.prediction_powered import PoweredRate

_MAJORITY = "majority"  # of the people, as a rater


def people_tables(found: Sequence[PeopleFigures]) -> dict[str, pd.DataFrame]:
    """Every table of people's votes by name."""
    return {
        "people": people(found),
        "agreement": agreement(found),
        "powered": powered(found),
        "disagreements": disagreements(found),
    }


def people(found: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per person and dataset: votes, how often they say what most others say, outliers."""
    return frame(
        {"dataset": figures.judged.dataset}
        | _voter_row(voter, cast[voter.name])
        | {"signature": _signature(figures)}
        for figures in one_per_dataset(found)
        for cast in [_cast(figures)]
        for voter in figures.voters
    )


def agreement(found: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per two raters: each judge with most people, with each person, and two people."""
    beside = (row for figures in found for row in _with_judge(figures))
    between = (row for figures in one_per_dataset(found) for row in _between(figures))
    return frame([*beside, *between])


def powered(found: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per judge and pair of models with votes: win rates of the first three times."""
    return frame(
        _columns(figures)
        | {"model": first, "against": second}
        | _rate_columns(rate)
        | {"signature": figures.judged.signature}
        for figures in found
        for (first, second), rate in figures.powered.items()
        if rate.people
    )


def disagreements(found: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per vote on a pair of answers on which people and judge, or people, part."""
    return frame(
        _columns(figures)
        | {"id": one.duel.sample_id}
        | {"question": figures.judged.samples[one.duel.sample_id].question}
        | {"model_a": one.duel.model_a, "model_b": one.duel.model_b}
        | {"judge_says": one.judge and WINNERS[one.judge]}
        | {"person": person, "person_says": WINNERS[outcome]}
        | {"signature": figures.judged.signature}
        for figures in found
        for one in figures.disagreements
        for person, outcome in one.people.items()
    )


def _cast(figures: PeopleFigures) -> Counter[str]:
    """How many votes each person cast."""
    return Counter(vote.by for vote in figures.human.verdicts) if figures.human else Counter()


def _columns(figures: PeopleFigures) -> TableRow:
    return {"dataset": figures.judged.dataset, "judge": figures.judged.by or None}


def _voter_row(voter: Voter, votes: int) -> TableRow:
    return (
        {"person": voter.name, "votes": votes, "shared": voter.n}
        | interval_columns("as_most_others", voter.agreement)
        | {"others": None if voter.others is None else 100 * voter.others}
        | {"p": voter.p, "outlier": voter.outlier}
    )


def _with_judge(figures: PeopleFigures) -> Iterator[TableRow]:
    raters = {_MAJORITY: figures.agreement} | dict(figures.each)
    for rater, found in raters.items():
        if found:
            yield _rated(figures, (figures.judged.by, rater), found)


def _between(figures: PeopleFigures) -> Iterator[TableRow]:
    for pair, found in figures.between.items():
        yield _rated(figures, pair, found)


def _rated(figures: PeopleFigures, raters: tuple[str, str], found: Agreement) -> TableRow:
    kappa = found.kappa
    return (
        {"dataset": figures.judged.dataset, "first": raters[0], "second": raters[1]}
        | {"n": found.n}
        | interval_columns("agreement", found.raw)
        | {"kappa": kappa and kappa.value}
        | {"kappa_low": kappa and kappa.low, "kappa_high": kappa and kappa.high}
        | {"signature": _signature(figures)}
    )


def _rate_columns(rate: PoweredRate) -> TableRow:
    return (
        {"pairs": rate.judge.n, "voted": rate.people.n if rate.people else 0}
        | interval_columns("judge_only", rate.judge)
        | interval_columns("people_only", rate.people)
        | interval_columns("powered", rate.powered)
        | {"weight": rate.weight}
    )


def _signature(figures: PeopleFigures) -> str:
    return figures.human.signature if figures.human else figures.judged.signature
