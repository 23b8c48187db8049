"""People's votes beside a judge as plain JSON objects, shares in per cent."""

from collections.abc import Mapping

from evalui.report.analyses.people.disagreements import Disagreement
from evalui.report.analyses.people.figures import PeopleFigures
from evalui.report.export.json import JsonObject, percent, percent_range
from evalui.report.export.open_json import WINNERS, agreement_object, arena_object
from evalui.scoring.arena.agreement import Voter
from evalui.scoring.arena.prediction_powered import PoweredRate
from evalui.types import Interval


def people_object(figures: PeopleFigures) -> JsonObject:
    """All that votes say beside one judge; `judge` is null where only people compared."""
    return {
        "dataset": figures.judged.dataset,
        "judge": figures.judged.by or None,
        "votes": figures.votes,
        "people": figures.people,
        "strangers": figures.strangers,
        "arena": arena_object(figures.human) if figures.human else None,
        "agreement": agreement_object(figures.agreement) if figures.agreement else None,
        "each": [
            {"person": person, **agreement_object(found)} for person, found in figures.each.items()
        ],
        "between": [
            {"first": first, "second": second, **agreement_object(found)}
            for (first, second), found in figures.between.items()
        ],
        "voters": [_voter(voter) for voter in figures.voters],
        "powered": [_powered(pair, rate) for pair, rate in figures.powered.items() if rate.people],
        "disagreements": [_disagreement(one) for one in figures.disagreements],
    }


def _voter(voter: Voter) -> JsonObject:
    return {
        "person": voter.name,
        "n": voter.n,
        "as_most_others": percent(voter.agreement),
        "range": percent_range(voter.agreement) if voter.agreement else None,
        "others": None if voter.others is None else 100 * voter.others,
        "p": voter.p,
        "outlier": voter.outlier,
    }


def _powered(pair: tuple[str, str], rate: PoweredRate) -> JsonObject:
    rates: Mapping[str, Interval | None] = {
        "judge": rate.judge,
        "people": rate.people,
        "powered": rate.powered,
    }
    return {
        "first": pair[0],
        "second": pair[1],
        "pairs": rate.judge.n,
        "voted": rate.people.n if rate.people else 0,
        **{name: percent(share) for name, share in rates.items()},
        "ranges": {name: percent_range(share) for name, share in rates.items() if share},
        "weight": rate.weight,
    }


def _disagreement(one: Disagreement) -> JsonObject:
    return {
        "question": one.duel.sample_id,
        "model_a": one.duel.model_a,
        "model_b": one.duel.model_b,
        "judge": one.judge and WINNERS[one.judge],
        "people": {person: WINNERS[outcome] for person, outcome in one.people.items()},
    }
