"""The models of all judged runs and votes that the sender may see, rated together."""

from datetime import date

from fastapi import APIRouter

from evalui.api.problems import CheckedRoute, Service, permits
from evalui.api.schemas import Answered
from evalui.app.leaderboard import leaderboard
from evalui.scoring.arena.figures import Standing
from evalui.scoring.arena.pooled import PoolFilter

router = APIRouter(route_class=CheckedRoute, prefix="/leaderboard", tags=["leaderboard"])


class RatedModel(Answered):
    """One model: `rating` is Bradley-Terry's, null without a finite one; each with its 95 % range.

    `won`, `tied` and `lost` count verdicts; a tie may be of two bad answers.
    """

    model: str
    rating: float | None
    rating_low: float | None
    rating_high: float | None
    elo: float
    elo_low: float | None
    elo_high: float | None
    rank_low: int | None
    rank_high: int | None
    won: int
    tied: int
    lost: int


class LeaderboardShown(Answered):
    """The models, best first, the ids of the runs that count, and what can be filtered by."""

    models: list[RatedModel]
    runs: list[str]
    questions: int
    verdicts: int
    judges: list[str]
    languages: list[str]
    capabilities: list[str]


@router.get("", dependencies=[permits(leaderboard)])
def read_leaderboard(
    service: Service,
    judge: str = "",
    language: str = "",
    capability: str = "",
    since: date | None = None,
    until: date | None = None,
) -> LeaderboardShown:
    """The leaderboard over the ended runs that compare answers two by two.

    `judge` is the name of a judge model, or `people`; `since` and `until` are days (UTC) on which
    a run was begun.
    """
    chosen = PoolFilter(judge, language, capability)
    board = leaderboard(service, chosen, since=since, until=until)
    return LeaderboardShown(
        models=[_shown(one) for one in board.arena.standings],
        runs=[run.id for run in board.runs],
        questions=board.arena.questions,
        verdicts=len(board.arena.battles),
        judges=list(board.choices.judges),
        languages=list(board.choices.languages),
        capabilities=list(board.choices.capabilities),
    )


def _shown(one: Standing) -> RatedModel:
    rating, tally = one.rating, one.tally
    return RatedModel(
        model=one.model,
        rating=rating.value if rating else None,
        rating_low=rating.low if rating else None,
        rating_high=rating.high if rating else None,
        elo=one.elo,
        elo_low=one.elo_low,
        elo_high=one.elo_high,
        rank_low=one.rank_low,
        rank_high=one.rank_high,
        won=tally.win,
        tied=tally.tie,
        lost=tally.lose,
    )
