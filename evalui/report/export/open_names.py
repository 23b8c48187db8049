"""The public names of written answers, judges and people, as `choice_names` has them."""

from collections.abc import Mapping

from evalui.report.export.choice_names import CELL
from evalui.report.export.encoder import (
    Entries,
    Fields,
    Property,
    Source,
    ends,
    interval,
    length,
    optional,
    percent,
    percent_range,
    same,
    winner,
    within,
)
from evalui.report.export.metric_fields import text_ranges, text_values
from evalui.scoring.answer_summary import AnswerSummary, JudgeRating
from evalui.scoring.arena.agreement import PredictionPoweredRate, RaterAgreement, VoterAgreement
from evalui.scoring.arena.battles import BattleTally, WinMatrix
from evalui.scoring.arena.bradley_terry import Connectivity, Rating
from evalui.scoring.arena.categories import CategoryTable, JudgementCounts
from evalui.scoring.arena.elo import MedianElo
from evalui.scoring.arena.figures import Arena, Standing
from evalui.scoring.arena.people import Disagreement, PeopleFigures
from evalui.scoring.arena.verdicts import JudgeReliability
from evalui.scoring.pairs import AnswerPair
from evalui.scoring.texts.tally import Corpus

# ---------------------------------------------------------------- written answers

ANSWER_COUNTS: Fields = same("questions", "n", "replies", "compared", "empty") | {
    "cut": "truncated",
    "median_length": "length",
}
ANSWER_PAIR: Fields = same("dataset", "first", "second") | {
    "figure": "metric",
    "difference": percent("value"),
}

_ANSWERS: Mapping[type, Fields] = {
    AnswerSummary: {
        **within("cell", CELL),
        "signature": "cell.signature",
        **same("state", "error"),
        "figures": {
            **ANSWER_COUNTS,
            "means": Property("figures", text_values),
            "ranges": Property("figures", text_ranges),
            "corpus": "corpus",
            "rated": "ratings",
        },
    },
    AnswerPair: {**ANSWER_PAIR, "range": percent_range(""), **same("p", "n")},
    Corpus: same("bleu", "bleu_signature", "chrf", "chrf_signature"),
    JudgeRating: {
        "by": "judge",
        "scale": "scale",
        "mean": "mean.value",
        "range": ends("mean"),
        **same("n", "unscored", "unreferenced", "output", "retried", "recovered", "as_text"),
        "criteria": Entries(
            Property("criteria"), ("criterion",), {"mean": "value", "range": ends("")}
        ),
        **same("state", "error"),
    },
}


# ---------------------------------------------------------------- judges and people

DUEL: Fields = {
    "model_a": "duel.model_a",
    "model_b": "duel.model_b",
    "winner": winner("outcome"),
    "question": "duel.sample_id",
}
TALLY_COUNTS: Fields = {
    "n": "n",
    "win": "win",
    "both": "both_good",
    "neither": "both_bad",
    "contradicted": "contradicted",
    "lose": "lose",
}


def _share_of_battles(outcome: str) -> Property:
    def share(tally: BattleTally) -> float | None:
        count: int | None = getattr(tally, outcome)
        return None if count is None else 100 * count / tally.n

    return Property("", share)


TALLY_SHARES: Fields = {
    outcome: _share_of_battles(outcome) for outcome in ("win", "tie", "lose", "not_bad")
}
TALLY_POINTS: Fields = {"score": "score", "win_rate": percent("win_rate")}
TALLY: Fields = {
    **TALLY_COUNTS,
    **same("tie", "not_bad"),
    **TALLY_POINTS,
    "percent": TALLY_SHARES,
}
# What a judge does, each a share of what it could have done it to.
RELIABILITY: Mapping[str, str] = {
    "unreadable": "unreadable",
    "changed_with_order": "flip_rate",
    "first": "first_wins",
    "longer": "longer_wins",
    "lists": "more_items_wins",
}


def _reliability_columns() -> dict[str, Source]:
    columns: dict[str, Source] = {}
    for name, path in RELIABILITY.items():
        columns |= interval(name, path)
        columns[f"{name}_n"] = Property(f"{path}.n", absent=0)
    return columns


RELIABILITY_COLUMNS: Fields = _reliability_columns()
RELIABILITY_COUNTS: Fields = same("injected", "unreferenced", "retried", "recovered", "as_text")
AGREEMENT: Fields = {
    "n": "n",
    "raw": percent("raw"),
    "raw_range": percent_range("raw"),
    # Kappa is no share.
    "kappa": "kappa.value",
    "kappa_range": ends("kappa"),
}
MATRIX: Fields = same("models", "battles", "wins", "ties")
CONNECTION: Fields = {
    "components": "components",
    "islands": "disconnected_groups",
    **same("unbeaten", "winless"),
}

_JUDGES: Mapping[type, Fields] = {
    Arena: {
        "dataset": "dataset",
        "by": "by",
        **same("judges", "output", "orders", "conflict", "strong"),
        **same("questions", "pairs", "done", "planned"),
        "battles": length("battles"),
        "comparisons": "comparisons",
        "ordered_by": "headline",
        **same("standings", "lead"),
        "win_matrix": "matrix",
        "shares": Entries(
            Property("shares"),
            ("row", "column"),
            {"share": percent(""), "range": percent_range("")},
        ),
        **same("connection", "dimensions", "reliability", "agreement"),
        **same("state", "error", "signature"),
    },
    JudgementCounts: {
        **same("total", "meaningful", "extracted"),
        "extraction_rate": percent("extraction_rate"),
        "consistent": "consistent",
        "consistent_rate": percent("consistent_rate"),
    },
    Standing: {
        "model": "model",
        **within("tally", TALLY),
        "opencompass": "opencompass",
        "elo": "elo",
        "elo_range": ("elo_low", "elo_high"),
        "opencompass_elo": "opencompass_elo",
        "bradley_terry": "rating",
        "style_controlled": "styled",
        "rank_range": ("rank_low", "rank_high"),
        "with_leader": "with_leader",
    },
    BattleTally: TALLY,
    MedianElo: same("mean", "std"),
    Rating: {"rating": "value", **same("low", "high")},
    WinMatrix: MATRIX,
    Connectivity: {"finite": "has_finite_ratings", **CONNECTION},
    CategoryTable: {**same("kind", "name"), "models": "tallies"},
    JudgeReliability: {
        "n": "n",
        **{name: percent(path) for name, path in RELIABILITY.items()},
        "ranges": {name: optional(percent_range(path)) for name, path in RELIABILITY.items()},
        "counts": {name: optional(Property(f"{path}.n")) for name, path in RELIABILITY.items()},
        **RELIABILITY_COUNTS,
    },
    RaterAgreement: AGREEMENT,
}

VOTER_TEST: Fields = {"others": percent("others_agreement"), **same("p", "outlier")}
POWERED_COUNTS: Fields = {"pairs": "judge.n", "voted": Property("human.n", absent=0)}
_POWERED = {"judge": "judge", "people": "human", "powered": "combined"}


def voted_rates(figures: PeopleFigures) -> dict[tuple[str, str], PredictionPoweredRate]:
    """The win rates of the pairs of models that people voted on."""
    rates = figures.prediction_powered.items()
    return {pair: rate for pair, rate in rates if rate.human}


_PEOPLE: Mapping[type, Fields] = {
    PeopleFigures: {
        "dataset": "judged.dataset",
        "judge": Property("judged.by", lambda judge: judge or None),
        **same("votes", "people"),
        "strangers": "unmatched_votes",
        "arena": "human_arena",
        "agreement": "agreement",
        "each": Entries(Property("by_person"), ("person",), AGREEMENT),
        "between": Entries(Property("between_people"), ("first", "second"), AGREEMENT),
        "voters": "voters",
        "powered": Entries(
            Property("", voted_rates),
            ("first", "second"),
            {
                **POWERED_COUNTS,
                **{name: percent(path) for name, path in _POWERED.items()},
                "ranges": {name: optional(percent_range(path)) for name, path in _POWERED.items()},
                "weight": "lambda_weight",
            },
        ),
        "disagreements": "disagreements",
    },
    VoterAgreement: {
        "person": "name",
        "n": "n",
        "as_most_others": percent("agreement"),
        "range": percent_range("agreement"),
        **VOTER_TEST,
    },
    Disagreement: {
        "question": "duel.sample_id",
        "model_a": "duel.model_a",
        "model_b": "duel.model_b",
        "judge": winner("judge"),
        "people": winner("people"),
    },
}

OPEN_NAMES: Mapping[type, Fields] = {**_ANSWERS, **_JUDGES, **_PEOPLE}
