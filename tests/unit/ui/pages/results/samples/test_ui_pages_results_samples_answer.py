"""Written answers, as a page lists them and shows each beside its reference."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from bubblewrap_here import needs_bubblewrap
from ui_open_examples import finish, given, lines, open_desk, open_form
from ui_samples_examples import listed, show, step

from evalui.app.service import AppService
from evalui.store.runs import read_cells


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


@pytest.fixture
def brought(desk: AppService) -> str:
    """A run of answers that were brought along."""
    return finish(desk, open_form(desk, models=[], judging=[]) | given(desk))


def opened(page: str) -> str:
    return page.partition('class="card qa')[2]


def cell_of(desk: AppService, run_id: str, model: str) -> str:
    return next(str(row.id) for row in read_cells(desk.database, run_id) if row.cell.model == model)


@pytest.mark.parametrize(
    ("form", "ids"),
    [
        ({}, ["talk/en-1", "talk/en-2", "talk/cn-3", "talk/en-4"]),
        ({"outcome": "empty"}, ["talk/en-4"]),
        ({"outcome": "answered"}, ["talk/en-1", "talk/en-2", "talk/cn-3"]),
        ({"capability": "manners"}, ["talk/en-4"]),
        ({"find": "milan"}, ["talk/en-2"]),
        ({"find": "首都"}, ["talk/cn-3"]),
        ({"find": "nowhere"}, []),
        # Without a reference there is nothing to sort by.
        ({"sort": "worst"}, ["talk/en-2", "talk/cn-3", "talk/en-1", "talk/en-4"]),
        ({"sort": "best"}, ["talk/en-1", "talk/cn-3", "talk/en-2", "talk/en-4"]),
    ],
)
def test_answers_can_be_filtered_and_sorted(
    desk: AppService, brought: str, form: dict[str, Any], ids: list[str]
):
    assert listed(show(desk, brought, form)) == ids


def test_the_first_of_a_sorted_list_is_opened(desk: AppService, brought: str):
    page = show(desk, brought, {"sort": "worst"})
    assert "Capital of Italy?</p>" in page
    assert step(page, 1)["q"] == "talk/cn-3"


def test_a_line_of_the_list_has_the_figure_or_what_became_of_the_answer(
    desk: AppService, brought: str
):
    page = show(desk, brought)
    lines_ = page.partition('class="questions"')[2].partition("</ul>")[0].split("<li>")[1:]
    assert ["1.00" in lines_[0], "0.00" in lines_[1], "Empty" in lines_[3]] == [True, True, True]
    assert "ROUGE-L against the closest reference" in page


def test_an_answer_stands_beside_its_reference(desk: AppService, brought: str):
    assert "<ins>首都是</ins>北京" in opened(show(desk, brought, {"q": "talk/cn-3"}))
    page = show(desk, brought, {"q": "talk/en-2"})
    assert "<del>Rome</del>" in page
    assert "<ins>Milan</ins>" in page
    assert "ROUGE-L 0.00 against the closest reference" in page
    assert "rouge-l" in page


def test_the_answers_of_the_other_models_stand_below(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging=[]) | given(desk))
    page = show(desk, run_id, {"q": "talk/en-2", "cell": cell_of(desk, run_id, "perfect")})
    others = page.partition("The other answers")[2]
    assert "handmade" in others
    assert "Milan" in others
    assert f"cell={cell_of(desk, run_id, 'handmade')}&amp;q=talk%2Fen-2" in others


def test_verdicts_lead_to_their_duels(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"]) | given(desk))
    page = show(desk, run_id, {"q": "talk/en-2", "cell": cell_of(desk, run_id, "perfect")})
    verdicts = page.partition("<h2>Verdicts</h2>")[2].partition("</table>")[0]
    assert "perfect wins; perfect wins" in verdicts
    (href,) = re.findall(r'<a href="([^"]+)"', verdicts)
    assert parse_qs(unescape(href).removeprefix("results?")) == {
        "run": [run_id],
        "sub": ["duels"],
        "arena": ["0"],
        "duel": ["talk/en-2|perfect|handmade"],
    }


def test_marks_of_single_answers_are_no_duels(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging__template="score10-en.1"))
    assert "<h2>Verdicts</h2>" not in show(desk, run_id)


def test_a_judge_is_not_offered_among_the_models(desk: AppService):
    run_id = finish(desk, open_form(desk))
    page = show(desk, run_id, {"cell": cell_of(desk, run_id, "reference-judge")})
    picker = page.partition('<details class="menu"')[2].partition("</details>")[0]
    assert "reference-judge" not in picker
    assert "perfect" in picker


def test_the_prompt_is_shown_as_sent_but_not_for_answers_brought_along(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging=[]) | given(desk))
    sent = show(desk, run_id, {"cell": cell_of(desk, run_id, "perfect")})
    assert "Question: Capital of France?\nAnswer:" in sent
    handmade = show(desk, run_id, {"cell": cell_of(desk, run_id, "handmade")})
    assert "no model was asked here" in handmade
    assert "Answer:" not in handmade


def test_an_empty_reply_is_marked_as_empty(desk: AppService, brought: str):
    page = show(desk, brought, {"q": "talk/en-4"})
    assert "The reply is empty." in page
    assert "The file has no reference for this question." in page


CONVERSATION = [{"index": "1", "capability": "talk", "turns": ["Name a city.", "And its river?"]}]


def test_a_conversation_is_shown_turn_by_turn(desk: AppService):
    upload = open_form(desk, lines(CONVERSATION))
    replies = lines([{"index": "1", "answer": ["Paris", "The Seine"]}])
    run_id = finish(desk, upload | {"models": [], "judging": []} | given(desk, replies))
    told = opened(show(desk, run_id))
    places = [
        told.index(words) for words in ("Name a city.", "Paris", "And its river?", "The Seine")
    ]
    assert places == sorted(places)


def test_a_text_is_looked_for_in_every_turn(desk: AppService):
    upload = open_form(desk, lines(CONVERSATION))
    replies = lines([{"index": "1", "answer": ["Paris", "The Seine"]}])
    run_id = finish(desk, upload | {"models": [], "judging": []} | given(desk, replies))
    assert listed(show(desk, run_id, {"find": "paris"})) == ["talk/1"]
    assert listed(show(desk, run_id, {"find": "rome"})) == []


def test_thoughts_are_folded_below_the_answer_and_no_part_of_it(desk: AppService):
    brought = {"en-1": "<think>Lyon <b>or</b> Paris?</think>Paris", "en-2": "<think>Milan, or"}
    content = lines([{"index": key, "response": text} for key, text in brought.items()])
    form = open_form(desk, models=[], judging=[]) | given(desk, content)
    run_id = finish(desk, form)
    page = opened(show(desk, run_id, {"q": "talk/en-1"}))
    answer, _, thoughts = page.partition('<details class="gap thoughts"')
    assert "Lyon" not in answer
    assert "1.00" in answer
    assert "What the model thought before it replied" in thoughts
    assert "Lyon &lt;b&gt;or&lt;/b&gt; Paris?" in thoughts
    assert "Milan" not in opened(show(desk, run_id, {"q": "talk/en-2"})).replace("Italy", "")


def test_further_replies_of_a_model_stand_below_the_first(desk: AppService):
    form = open_form(desk, judging=[]) | {"temperature": "0.7", "repeats": "3"}
    page = opened(show(desk, finish(desk, form), {}))
    further = page.partition("Further replies of this model")[2]
    assert re.findall(r"<b>(Reply \d)</b>", further) == ["Reply 2", "Reply 3"]


@needs_bubblewrap
def test_a_program_has_what_its_tests_made_of_it(desk: AppService, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVALUI_RUN_CODE", "true")
    rows = [
        {"id": "right", "query": "One.", "response": "x = 1", "python_tests": "assert x == 1"},
        {"id": "wrong", "query": "Two.", "response": "x = 3", "python_tests": "assert x == 2"},
    ]
    modes = ["code_generation"]
    form = open_form(desk, lines(rows), models=["perfect"], modes=modes, judging=[], kinds=["code"])
    run = finish(desk, form)
    page = show(desk, run)
    assert "Figures: passed, 0 to 1." in page
    assert "Tests passed" in opened(page)
    assert "Test failed" in opened(show(desk, run, {"q": "talk/wrong"}))
