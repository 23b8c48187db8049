"""The Arena page: the standings of all judged runs, by filters, and the runs behind them."""

import re
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_arena_examples import add_run, judged, open_desk, questions
from ui_examples import HOSTILE

from evalui.app.service import AppService


def standings(said: str) -> list[str]:
    """The models of the first table, best first."""
    body = said.partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r">\s*(late|early|weak)\s*<", body)


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def test_without_a_judged_run_the_next_step_is_shown(desk: AppService):
    said = DrawnPage("arena", desk).text
    assert "No duels yet" in said
    assert "Start a run with open questions and a judge, or try the sample." in said
    assert 'href="evaluate"' in said
    assert "Judged by" not in said


def test_runs_with_duels_lead_to_their_results(desk: AppService):
    run_id, rated = judged(desk), judged(desk, template="score10-en.1")
    said = DrawnPage("arena", desk).text
    assert f'href="results?run={run_id}"' in said
    assert rated not in said


def test_the_standings_are_of_what_passes_the_filters(desk: AppService):
    judged(desk)
    every = DrawnPage("arena", desk)
    assert standings(every.text)[:3] == ["late", "early", "weak"]
    assert "from 72 verdicts, judge: judge (rule-based)" in every.text
    assert "1 finished run combined." in every.text
    assert every.offered("Language") == ["all", "English", "Chinese"]
    assert "Judged by" not in every.text  # there is one
    query = every.choose("Language", "zh")
    assert query == "?board_language=zh"
    chinese = DrawnPage("arena", desk, query[1:])
    assert "from 36 verdicts" in chinese.text
    assert chinese.choose("Language", "") == "?"
    assert chinese.choose("Started", "30") == "?board_language=zh&board_days=30"


def test_a_filter_that_nothing_passes_can_be_taken_away(desk: AppService):
    judged(desk)
    page = DrawnPage("arena", desk, "board_judge=nobody")
    assert "No verdicts match" in page.text
    assert page.choose("Judged by", "") == "?"


def test_a_run_counts_when_it_has_ended(desk: AppService):
    add_run(desk)
    said = DrawnPage("arena", desk).text
    assert "No verdicts match" in said
    assert "Recent runs with duels" in said


def test_nothing_of_a_run_becomes_markup(desk: AppService):
    judged(desk, data=questions(8, text=HOSTILE, capability=HOSTILE), text=HOSTILE)
    said = DrawnPage("arena", desk, language="zh").text
    assert "名次" in said
    for tag in ("<img", "<script", "<iframe", 'href="javascript'):
        assert tag not in said
