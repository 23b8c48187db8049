"""The leaderboard of a store: which runs count, for whom, and under which filters."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ui_arena_examples import (
    NAMES,
    add_run,
    begin,
    better,
    judge_some,
    judged,
    open_desk,
    questions,
)

from evalui.access import Person
from evalui.app.leaderboard import judged_runs, leaderboard
from evalui.app.service import AppService
from evalui.scoring.arena.pooled import PoolFilter
from evalui.types import Outcome


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def worse(number: int, first: str, second: str) -> Outcome | None:
    """The opposite of `better`."""
    said = better(number, first, second)
    return "a" if said == "b" else "b"


def test_ended_runs_count_together(desk: AppService) -> None:
    first = judged(desk)
    second = judged(desk, data=questions(text="other"), text="other")
    board = leaderboard(desk)
    assert [run.id for run in board.runs] == [second, first]
    assert [one.model for one in board.arena.standings] == list(NAMES)
    assert len(board.arena.battles) == 2 * 12 * 6
    assert board.choices.judges == ("judge",)
    assert {*board.choices.languages} == {"zh", "en"}
    assert {*board.choices.capabilities} == {"facts", "style"}


def test_a_repeated_run_counts_once(desk: AppService) -> None:
    judged(desk, worse)
    newest = judged(desk)
    board = leaderboard(desk)
    assert board.runs[0].id == newest
    assert len(board.arena.battles) == 12 * 6
    assert [one.model for one in board.arena.standings] == list(NAMES)


def test_a_run_counts_when_it_has_ended(desk: AppService) -> None:
    run_id = add_run(desk)
    judge_some(desk, run_id, begin(desk, run_id))
    assert [run.id for run in judged_runs(desk)] == [run_id]
    assert leaderboard(desk).runs == ()
    assert leaderboard(desk).arena.standings == ()


def test_runs_of_others_do_not_count(desk: AppService) -> None:
    judged(desk)
    other = desk.acting_for(Person("other", "operator"))
    assert leaderboard(other).runs == ()


def test_days_and_questions_are_chosen(desk: AppService) -> None:
    judged(desk)
    today = datetime.now(UTC).date()
    # The day may end while the test runs.
    assert leaderboard(desk, since=today - timedelta(days=1)).runs
    assert leaderboard(desk, since=today + timedelta(days=2)).runs == ()
    assert leaderboard(desk, until=today - timedelta(days=2)).runs == ()
    chosen = leaderboard(desk, PoolFilter(language="zh"))
    assert chosen.arena.questions == 6
    assert chosen.choices == leaderboard(desk).choices
