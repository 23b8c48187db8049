"""Tidy frames of people's votes: who voted, who agrees, win rates, where opinions part."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from evalui.report.analyses.people.figures import PeopleFigures, one_per_dataset
from evalui.report.export.open_json import WINNERS
from evalui.report.export.tables import TableRow, frame, interval_columns
from evalui.scoring.arena.agreement import RaterAgreement, VoterAgreement
from evalui.scoring.arena.prediction_powered import PredictionPoweredRate

_MAJORITY = "majority"  # of the people, as a rater


def people_tables(people_figures: Sequence[PeopleFigures]) -> dict[str, pd.DataFrame]:
    """Every table of people's votes by name."""
    return {
        "people": voters_table(people_figures),
        "agreement": agreement_table(people_figures),
        "powered": prediction_powered(people_figures),
        "disagreements": disagreements_table(people_figures),
    }


def voters_table(people_figures: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per person and dataset: votes, how often they say what most others say, outliers."""
    return frame(
        {"dataset": figures.judged.dataset}
        | _voter_row(voter, cast[voter.name])
        | {"signature": _signature(figures)}
        for figures in one_per_dataset(people_figures)
        for cast in [_votes_cast(figures)]
        for voter in figures.voters
    )


def agreement_table(people_figures: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per two raters: each judge with most people, with each person, and two people."""
    beside = (row for figures in people_figures for row in _with_judge(figures))
    between = (
        row for figures in one_per_dataset(people_figures) for row in _inter_annotator(figures)
    )
    return frame([*beside, *between])


def prediction_powered(people_figures: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per judge and pair of models with votes: win rates of the first three times."""
    return frame(
        _columns(figures)
        | {"model": first, "against": second}
        | _rate_columns(rate)
        | {"signature": figures.judged.signature}
        for figures in people_figures
        for (first, second), rate in figures.prediction_powered.items()
        if rate.human
    )


def disagreements_table(people_figures: Sequence[PeopleFigures]) -> pd.DataFrame:
    """A row per vote on a pair of answers on which people and judge, or people, part."""
    return frame(
        _columns(figures)
        | {"id": one.duel.sample_id}
        | {"question": figures.judged.samples[one.duel.sample_id].question}
        | {"model_a": one.duel.model_a, "model_b": one.duel.model_b}
        | {"judge_says": one.judge and WINNERS[one.judge]}
        | {"person": person, "person_says": WINNERS[outcome]}
        | {"signature": figures.judged.signature}
        for figures in people_figures
        for one in figures.disagreements
        for person, outcome in one.people.items()
    )


def _votes_cast(figures: PeopleFigures) -> Counter[str]:
    """How many votes each person cast."""
    return (
        Counter(vote.rater for vote in figures.human_arena.verdicts)
        if figures.human_arena
        else Counter()
    )


def _columns(figures: PeopleFigures) -> TableRow:
    return {"dataset": figures.judged.dataset, "judge": figures.judged.by or None}


def _voter_row(voter: VoterAgreement, votes: int) -> TableRow:
    return (
        {"person": voter.name, "votes": votes, "shared": voter.n}
        | interval_columns("as_most_others", voter.agreement)
        | {"others": None if voter.others_agreement is None else 100 * voter.others_agreement}
        | {"p": voter.p, "outlier": voter.outlier}
    )


def _with_judge(figures: PeopleFigures) -> Iterator[TableRow]:
    raters = {_MAJORITY: figures.agreement} | dict(figures.by_person)
    for rater, found in raters.items():
        if found:
            yield _agreement_row(figures, (figures.judged.by, rater), found)


def _inter_annotator(figures: PeopleFigures) -> Iterator[TableRow]:
    for pair, found in figures.between_people.items():
        yield _agreement_row(figures, pair, found)


def _agreement_row(
    figures: PeopleFigures, raters: tuple[str, str], found: RaterAgreement
) -> TableRow:
    kappa = found.kappa
    return (
        {"dataset": figures.judged.dataset, "first": raters[0], "second": raters[1]}
        | {"n": found.n}
        | interval_columns("agreement", found.raw)
        | {"kappa": kappa and kappa.value}
        | {"kappa_low": kappa and kappa.low, "kappa_high": kappa and kappa.high}
        | {"signature": _signature(figures)}
    )


def _rate_columns(rate: PredictionPoweredRate) -> TableRow:
    return (
        {"pairs": rate.judge.n, "voted": rate.human.n if rate.human else 0}
        | interval_columns("judge_only", rate.judge)
        | interval_columns("people_only", rate.human)
        | interval_columns("powered", rate.combined)
        | {"weight": rate.lambda_weight}
    )


def _signature(figures: PeopleFigures) -> str:
    return figures.human_arena.signature if figures.human_arena else figures.judged.signature
