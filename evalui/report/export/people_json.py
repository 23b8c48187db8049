"""People's votes beside a judge as plain JSON objects, shares in per cent."""

from collections.abc import Mapping

from evalui.report.analyses.people.disagreements import Disagreement
from evalui.report.analyses.people.figures import PeopleFigures
from evalui.report.export.json import JsonObject, percent, percent_range
from evalui.report.export.open_json import WINNERS, agreement_object, arena_object
from evalui.scoring.arena.agreement import VoterAgreement
from evalui.scoring.arena.prediction_powered import PredictionPoweredRate
from evalui.types import Interval


def people_object(figures: PeopleFigures) -> JsonObject:
    """All that votes say beside one judge; `judge` is null where only people compared."""
    return {
        "dataset": figures.judged.dataset,
        "judge": figures.judged.by or None,
        "votes": figures.votes,
        "people": figures.people,
        "strangers": figures.unmatched_votes,
        "arena": arena_object(figures.human_arena) if figures.human_arena else None,
        "agreement": agreement_object(figures.agreement) if figures.agreement else None,
        "each": [
            {"person": person, **agreement_object(found)}
            for person, found in figures.by_person.items()
        ],
        "between": [
            {"first": first, "second": second, **agreement_object(found)}
            for (first, second), found in figures.between_people.items()
        ],
        "voters": [_voter(voter) for voter in figures.voters],
        "powered": [
            _powered(pair, rate) for pair, rate in figures.prediction_powered.items() if rate.human
        ],
        "disagreements": [_disagreement(one) for one in figures.disagreements],
    }


def _voter(voter: VoterAgreement) -> JsonObject:
    return {
        "person": voter.name,
        "n": voter.n,
        "as_most_others": percent(voter.agreement),
        "range": percent_range(voter.agreement) if voter.agreement else None,
        "others": None if voter.others_agreement is None else 100 * voter.others_agreement,
        "p": voter.p,
        "outlier": voter.outlier,
    }


def _powered(pair: tuple[str, str], rate: PredictionPoweredRate) -> JsonObject:
    rates: Mapping[str, Interval | None] = {
        "judge": rate.judge,
        "people": rate.human,
        "powered": rate.combined,
    }
    return {
        "first": pair[0],
        "second": pair[1],
        "pairs": rate.judge.n,
        "voted": rate.human.n if rate.human else 0,
        **{name: percent(share) for name, share in rates.items()},
        "ranges": {name: percent_range(share) for name, share in rates.items() if share},
        "weight": rate.lambda_weight,
    }


def _disagreement(one: Disagreement) -> JsonObject:
    return {
        "question": one.duel.sample_id,
        "model_a": one.duel.model_a,
        "model_b": one.duel.model_b,
        "judge": one.judge and WINNERS[one.judge],
        "people": {person: WINNERS[outcome] for person, outcome in one.people.items()},
    }
