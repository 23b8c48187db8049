"""The Arena page: the standings of all judged runs, by filters, and the runs behind them."""

import re
from pathlib import Path

import pytest
from ui_arena_examples import add_run, judged, open_desk, questions
from ui_arena_screen import ArenaScreen
from ui_examples import HOSTILE

from evalui.app.service import AppService
from evalui.ui.components.address import read_query


def standings(said: str) -> list[str]:
    """The models of the first table, best first."""
    body = said.partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r">\s*(late|early|weak)\s*<", body)


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def test_without_a_judged_run_the_next_step_is_shown(desk: AppService):
    screen = ArenaScreen(desk)
    said = screen.render()
    assert "No duels yet" in said
    assert "Start a run with open questions and a judge, or try the sample." in said
    assert 'href="evaluate"' in said
    assert not screen.offered()


def test_runs_with_duels_lead_to_their_results(desk: AppService):
    run_id, rated = judged(desk), judged(desk, template="score10-en.1")
    said = ArenaScreen(desk).render()
    assert f'href="results?run={run_id}"' in said
    assert rated not in said


def test_the_standings_are_of_what_passes_the_filters(desk: AppService):
    judged(desk)
    screen = ArenaScreen(desk)
    every = screen.render()
    assert standings(every)[:3] == ["late", "early", "weak"]
    assert "from 72 verdicts, judge: judge (rule-based)" in every
    assert "1 ended run together." in every
    offered = screen.offered()
    assert offered["board_language"] == ["all", "English", "Chinese"]
    assert "board_judge" not in offered  # there is one
    query = screen.pick(board_language="zh")
    assert query == "board_language=zh"
    assert "from 36 verdicts" in screen.render(query)
    assert screen.pick(board_language="") == ""
    assert screen.pick(board_days="30") == "board_language=zh&board_days=30"


def test_a_filter_that_nothing_passes_can_be_taken_away(desk: AppService):
    judged(desk)
    screen = ArenaScreen(desk)
    assert "No verdict fits" in screen.render("board_judge=nobody")
    assert "board_judge" in screen.offered()
    assert read_query(screen.pick(board_judge="")) == {}


def test_a_run_counts_when_it_has_ended(desk: AppService):
    add_run(desk)
    said = ArenaScreen(desk).render()
    assert "No verdict fits" in said
    assert "Recent runs with duels" in said


def test_nothing_of_a_run_becomes_markup(desk: AppService):
    judged(desk, data=questions(8, text=HOSTILE, capability=HOSTILE), text=HOSTILE)
    screen = ArenaScreen(desk, "zh")
    said = screen.render()
    assert "名次" in said
    for tag in ("<img", "<script", "<iframe", 'href="javascript'):
        assert tag not in said
