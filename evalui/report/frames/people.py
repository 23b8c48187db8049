"""The frames of people's votes: who voted, how far they agree with a judge and with each other."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from evalui.report.frames.arena import SIDES, rating
from evalui.report.frames.base import Columns, FrameColumn, Row, interval, percent, ranged
from evalui.report.frames.choices import DATASET, MODEL, SIGNATURE
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.people import PeopleFigures, Votes, one_per_dataset
from evalui.types import WINNERS, CastVote

_MAJORITY = "majority"  # of the people, as a rater
_BESIDE = FrameColumn("category", "the judge or panel; missing where only people judged")

PEOPLE: Columns = {
    "dataset": DATASET,
    "person": FrameColumn("category", "who voted"),
    "votes": FrameColumn("Int64", "their votes that count, the last one on each pair of answers"),
    "shared": FrameColumn("Int64", "of these, on pairs that others voted on, too"),
    **ranged("as_most_others", "share of them as most others voted"),
    "others": FrameColumn("float64", "the same share of the others"),
    "p": FrameColumn("float64", "p of the test against them"),
    "outlier": FrameColumn("boolean", "whether they vote unlike the others"),
    "signature": SIGNATURE,
}
AGREEMENT: Columns = {
    "dataset": DATASET,
    "first": FrameColumn("category", "the judge, or a person"),
    "second": FrameColumn("category", "a person, or majority: of the people"),
    "n": FrameColumn("Int64", "pairs of answers that both judged"),
    **ranged("agreement", "share of them with the same outcome"),
    **ranged("kappa", "the same beyond chance, no share"),
    "signature": SIGNATURE,
}
POWERED: Columns = {
    "dataset": DATASET,
    "judge": _BESIDE,
    "model": MODEL,
    "against": FrameColumn("category", "the other model"),
    "pairs": FrameColumn("Int64", "pairs of answers of the two that the judge compared"),
    "voted": FrameColumn("Int64", "of these, with a vote"),
    **ranged("judge_only", "win rate of the model by the judge"),
    **ranged("people_only", "the same by people"),
    **ranged("powered", "the same by both, corrected by people's votes"),
    "weight": FrameColumn("float64", "how far the judge counts in it, 0 to 1"),
    "signature": SIGNATURE,
}
DISAGREEMENTS: Columns = {
    "dataset": DATASET,
    "judge": _BESIDE,
    "id": FrameColumn("str", "id of the question"),
    "question": FrameColumn("str", "the question"),
    "model_a": FrameColumn("category", "a model"),
    "model_b": FrameColumn("category", "another model"),
    "judge_says": FrameColumn("category", "the winner by the judge; missing where it has none"),
    "person": FrameColumn("category", "who voted"),
    "person_says": FrameColumn("category", "the winner by them"),
    "signature": SIGNATURE,
}
VOTES: Columns = {
    "dataset": DATASET,
    "question": FrameColumn("str", "id of the question"),
    **SIDES,
    "by": FrameColumn("category", "who voted"),
    "comment": FrameColumn("str", "what they wrote"),
    "created": FrameColumn("datetime64[ms, UTC]", "when"),
    "seconds": FrameColumn("float64", "how long the pair was looked at, in seconds"),
    "assigned": FrameColumn("boolean", "whether the pair was assigned to this person"),
    "adjudicated": FrameColumn("category", "the winner that was decided on for the pair"),
}


def people(compared: Sequence[PeopleFigures]) -> Iterator[Row]:
    """A row per person and dataset: votes, how often they agree with most others, outliers."""
    for figures in one_per_dataset(compared):
        human = figures.human_arena
        cast = Counter(vote.rater for vote in human.verdicts) if human else Counter[str]()
        for voter in figures.voters:
            yield {
                "dataset": figures.judged.dataset,
                "person": voter.name,
                "votes": cast[voter.name],
                "shared": voter.n,
                **interval("as_most_others", voter.agreement),
                "others": percent(voter.others_agreement),
                "p": voter.p,
                "outlier": voter.outlier,
                "signature": _signature(figures),
            }


def agreement(compared: Sequence[PeopleFigures]) -> Iterator[Row]:
    """A row per two raters: each judge with most people, with each person, and two people."""
    for figures in compared:
        judge = figures.judged.by
        if figures.agreement:
            yield _agreement_row(figures, (judge, _MAJORITY), figures.agreement)
        for person, agreed in figures.by_person.items():
            yield _agreement_row(figures, (judge, person), agreed)
    for figures in one_per_dataset(compared):
        for raters, agreed in figures.between_people.items():
            yield _agreement_row(figures, raters, agreed)


def _agreement_row(figures: PeopleFigures, raters: tuple[str, str], agreed: RaterAgreement) -> Row:
    return {
        "dataset": figures.judged.dataset,
        "first": raters[0],
        "second": raters[1],
        "n": agreed.n,
        **interval("agreement", agreed.raw),
        **rating("kappa", agreed.kappa),
        "signature": _signature(figures),
    }


def powered(compared: Iterable[PeopleFigures]) -> Iterator[Row]:
    """A row per judge and pair of models with votes: win rates of the first three times."""
    for figures in compared:
        for (first, second), rate in figures.prediction_powered.items():
            if rate.human:
                yield {
                    **_beside(figures),
                    "model": first,
                    "against": second,
                    "pairs": rate.judge.n,
                    "voted": rate.human.n,
                    **interval("judge_only", rate.judge),
                    **interval("people_only", rate.human),
                    **interval("powered", rate.combined),
                    "weight": rate.lambda_weight,
                    "signature": figures.judged.signature,
                }


def disagreements(compared: Iterable[PeopleFigures]) -> Iterator[Row]:
    """A row per vote on a pair of answers on which people and judge, or people, disagree."""
    for figures in compared:
        for one in figures.disagreements:
            for person, outcome in one.people.items():
                yield {
                    **_beside(figures),
                    "id": one.duel.sample_id,
                    "question": figures.judged.samples[one.duel.sample_id].question,
                    "model_a": one.duel.model_a,
                    "model_b": one.duel.model_b,
                    "judge_says": one.judge and WINNERS[one.judge],
                    "person": person,
                    "person_says": WINNERS[outcome],
                    "signature": figures.judged.signature,
                }


def votes(cast: Votes) -> Iterator[Row]:
    """A row per readable vote, sides as they were shown.

    `created` is in UTC, and `adjudicated` what was decided on the pair, None if nothing was.
    """
    for dataset, verdicts in cast.items():
        for vote in verdicts:
            if vote.outcome is not None:
                yield {
                    "model_a": vote.duel.model_a,
                    "model_b": vote.duel.model_b,
                    "winner": WINNERS[vote.outcome],
                    "dataset": dataset,
                    "question": vote.duel.sample_id,
                    "by": vote.rater,
                    "comment": vote.reply,
                    **(_moment(vote) if isinstance(vote, CastVote) else {}),
                }


def _moment(vote: CastVote) -> Row:
    created = datetime.fromtimestamp(vote.created, UTC)
    return {
        "created": created.isoformat(timespec="milliseconds"),
        "seconds": vote.seconds,
        "assigned": vote.assigned,
        "adjudicated": vote.adjudicated and WINNERS[vote.adjudicated],
    }


def _beside(figures: PeopleFigures) -> Row:
    return {"dataset": figures.judged.dataset, "judge": figures.judged.by or None}


def _signature(figures: PeopleFigures) -> str:
    return figures.human_arena.signature if figures.human_arena else figures.judged.signature
