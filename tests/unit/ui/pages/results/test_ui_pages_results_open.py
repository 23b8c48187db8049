"""A finished run of written answers as its pages show it, without a browser."""

from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_examples import GOOD, HOSTILE
from ui_open_examples import (
    ANSWERS,
    QUESTIONS,
    answers,
    finish,
    given,
    open_desk,
    open_form,
    subjective,
)

from evalui.app.datasets import store_upload
from evalui.app.results import export_run
from evalui.app.run_labels import mode_label
from evalui.app.run_progress import read_progress
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.analyses.open_answers import answer_pair_sentence
from evalui.scoring.pairs import AnswerPair
from evalui.store.runs import read_cells
from evalui.ui.components.progress_document import progress_document


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def shown(desk: AppService, run_id: str, **form: str) -> str:
    """The page at an address."""
    return DrawnPage("results", desk, {"run": run_id, **form}).text


def test_beside_multiple_choice_the_written_answers_name_their_dataset(desk: AppService):
    form = open_form(desk, judging=[], modes=["question_answer", "multiple_choice"])
    alone, dataset = finish(desk, form), ">talk</h2>"
    assert dataset not in shown(desk, alone)
    form["uploads"] = [*form["uploads"], store_upload(desk, [("towns.csv", GOOD.encode())])]
    page = shown(desk, finish(desk, form))
    assert dataset in page
    assert page.count("<h1") == 1


def test_beside_multiple_choice_the_duels_are_reached_from_the_written_part(desk: AppService):
    form = open_form(desk, modes=["question_answer", "multiple_choice"])
    form["uploads"] = [*form["uploads"], store_upload(desk, [("towns.csv", GOOD.encode())])]
    page = shown(desk, finish(desk, form), sub="duels")
    assert "4 duels" in page
    assert 'aria-current="page">Overview</a>' in page


def test_the_overview_has_the_figures_of_each_model(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging=[]) | given(desk))
    page = shown(desk, run_id)
    assert "Against the references, perfect and handmade cannot be told apart." in page
    for figure in ("ROUGE-L", "BLEU-1", "Token F1", "Exact match", "Length, characters"):
        assert figure in page
    # Paris is exact, Milan wrong, and of the Chinese answer two words more than the reference.
    assert '<div class="med">33<small>\u00a0%</small></div>' in page
    assert "3 of 4 questions have a reference." in page
    assert "Empty replies, counted as 0: 1 of 4." in page


def test_all_figures_have_the_names_that_swift_prints(desk: AppService):
    page = shown(desk, finish(desk, open_form(desk, judging=[])))
    for name in ("rouge-1-r", "rouge-l-f", "bleu-4", "exact_match", "token_f1"):
        assert f'<div class="ev">{name}</div>' in page
    assert "chrF" in page


def test_a_run_without_choices_has_duels_and_votes_in_place_of_bias(desk: AppService):
    page = shown(desk, finish(desk, open_form(desk)), sub="bias")
    views = page.partition("<nav")[2].partition("</nav>")[0]
    assert 'aria-current="page">Overview</a>' in views
    assert ">Bias<" not in views
    assert ">Duels<" in views


def test_a_run_of_both_kinds_shows_both(desk: AppService):
    choice = store_upload(desk, [("capitals.csv", GOOD.encode())])
    form = open_form(desk, modes=["cloze", "question_answer"], models=["perfect"], judging=[])
    run_id = finish(desk, form | {"uploads": [choice, str(form["uploads"][0])]})
    page = shown(desk, run_id)
    assert page.index("Right answers by model") < page.index("Token F1")


def test_text_figures_lead_if_there_are_references(desk: AppService):
    page = shown(desk, finish(desk, open_form(desk, judging=[])))
    assert page.count('<table class="lead">') == 1
    assert page.index("ROUGE-L by model") < page.index("<td")
    bare = [dict(row, reference_answer="") for row in QUESTIONS]
    page = shown(desk, finish(desk, open_form(desk, subjective(bare), judging=[])))
    assert "No answer has a reference to compare with." in page
    assert '<table class="lead">' not in page


def test_the_head_counts_models_without_the_judge(desk: AppService):
    head = shown(desk, finish(desk, open_form(desk))).partition("</nav>")[0]
    assert "2 models" in head
    assert head.count("judged by reference-judge") == 1


def test_the_duels_are_a_view_of_the_run(desk: AppService):
    run_id = finish(desk, open_form(desk))
    way = f'href="results?run={run_id}&amp;sub=duels">Duels'
    assert way in shown(desk, run_id)
    assert "4 duels" in shown(desk, run_id, sub="duels")
    alone = shown(desk, finish(desk, open_form(desk, judging=[])), sub="duels")
    assert ">Duels<" not in alone
    assert 'aria-current="page">Overview</a>' in alone


def test_marks_of_single_answers_lead(desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging__template="score10-en.1"))
    page = shown(desk, run_id)
    assert "reference-judge (rule-based) marks perfect" in page
    assert page.index("Mean mark by model") < page.index("perfect reaches ROUGE-L")


@pytest.mark.parametrize(
    ("value", "p", "told"),
    [
        (0.12, 0.01, "a beats b by 0.12 of ROUGE-L (0.05–0.19)."),
        (-0.12, 0.01, "b beats a by 0.12 of ROUGE-L (0.05–0.19)."),
        (0.12, 0.05, "a and b cannot be told apart with 1,200 questions."),
    ],
)
def test_a_pair_is_reported_as_its_test_results(value: float, p: float, told: str):
    ends = (0.05, 0.19) if value > 0 else (-0.19, -0.05)
    pair = AnswerPair("a", "b", "rouge-l-f", value, *ends, p, 1200)
    assert answer_pair_sentence(pair, "en") == told


def test_too_few_questions_tell_no_models_apart(desk: AppService):
    page = shown(desk, finish(desk, open_form(desk, judging=[])))
    assert "perfect and noisy cannot be told apart with 3 questions." in page


def test_the_matrix_calls_nothing_accuracy_that_is_none(desk: AppService):
    t = messages("en")
    run_id = finish(desk, open_form(desk, models=["perfect"]) | given(desk))
    cells = read_cells(desk.database, run_id)
    progress = read_progress(desk, run_id)
    shown = progress_document(t, progress)
    in_full = [cell for model in shown.models for cell in model.cells]
    page = "\n".join(f"{cell.value} {cell.notes}" for cell in in_full if cell)
    assert "75 % answered" in page  # of the existing answers, one is empty
    assert "1 empty" in page
    assert "% of verdicts readable" in page
    assert None in in_full  # nobody judges in the column of answers
    assert [mode_label(t, cell) for cell in cells] == [
        "open answers",
        "existing answers",
        "judge, all pairs, both orders",
    ]


def test_every_export_holds_the_run(desk: AppService):
    run_id = finish(desk, open_form(desk))
    for extension in ("md", "json"):
        name, pieces = export_run(desk, run_id, extension, "en")
        assert name == f"talk.{extension}"
        assert b"rouge-l-f" in b"".join(pieces)


def test_nothing_of_a_reply_becomes_markup(desk: AppService):
    rows = [dict(row, question=HOSTILE, reference_answer=HOSTILE) for row in QUESTIONS]
    brought = answers({**ANSWERS, "en-1": HOSTILE + " more"})
    run_id = finish(
        desk, open_form(desk, subjective(rows), models=[], judging=[]) | given(desk, brought)
    )
    reply = shown(desk, run_id, sub="samples", q="talk/en-1")
    for page in (shown(desk, run_id), reply):
        assert "<img" not in page
        assert "<script" not in page
    assert "onerror" in page
