"""A finished run of written answers as its pages show it, without a browser."""

from collections.abc import Callable
from pathlib import Path

import gradio as gr
import pytest
from ui_examples import GOOD, HOSTILE, built
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

from evalui.messages import messages
from evalui.report.analyses.open_answers.figures import AnswerPair
from evalui.report.analyses.statistics import pair_sentence
from evalui.runs.database.runs import read_cells
from evalui.ui.components.fragment import Action
from evalui.ui.services.run_labels import mode_label
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results import ResultsTab
from evalui.ui.tabs.runs.progress_table import progress_table

MakeAct = Callable[..., Action]


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


@pytest.fixture
def tab(desk: AppService) -> ResultsTab:
    tab = ResultsTab(desk, messages("en"))

    def build() -> None:
        with gr.Blocks(analytics_enabled=False):
            tab.build()

    built(build)
    return tab


def written(tab: ResultsTab, run_id: str) -> str:
    """The overview's figures of written answers."""
    shown = tab.overview.show(run_id)
    return shown[4] + shown[-3]


def cell_of(desk: AppService, run_id: str, model: str) -> str:
    """The id of a model's cell."""
    return next(str(row.id) for row in read_cells(desk.database, run_id) if row.cell.model == model)


def test_beside_multiple_choice_the_written_answers_name_their_dataset(
    tab: ResultsTab, desk: AppService
):
    form = open_form(desk, judging=[], modes=["question_answer", "multiple_choice"])
    alone, dataset = finish(desk, form), "<h2>talk</h2>"
    assert dataset not in tab.overview.show(alone)[4]
    form["uploads"] = [*form["uploads"], desk.store_upload([("towns.csv", GOOD.encode())])]
    assert dataset in tab.overview.show(finish(desk, form))[4]


def test_the_overview_has_the_figures_of_each_model(tab: ResultsTab, desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], judging=[]) | given(desk))
    page = written(tab, run_id)
    assert "Against the references, perfect and handmade cannot be told apart" in page
    for figure in ("ROUGE-L", "BLEU-1", "Token F1", "Exact match", "Answered"):
        assert figure in page
    # Paris is exact, Milan wrong, and of the Chinese answer two words more than the reference.
    assert '<div class="v">33<small> %</small></div>' in page
    assert "3 of 4 questions" in page  # one of the answers brought along is empty
    assert "n 3" in page  # one question has no reference


def test_all_figures_have_the_names_that_swift_prints(tab: ResultsTab, desk: AppService):
    page = written(tab, finish(desk, open_form(desk, judging=[])))
    for name in ("rouge-1-r", "rouge-l-f", "bleu-4", "exact_match", "token_f1"):
        assert f'<span class="mono">{name}</span>' in page
    assert "chrF" in page


def test_a_run_without_choices_has_no_chart_of_them_and_no_bias(tab: ResultsTab, desk: AppService):
    run_id = finish(desk, open_form(desk, judging=[]))
    first, frame, _, chart, *_, below = tab.overview.show(run_id)
    assert (first, below, chart) == ("", "", None)
    assert frame.visible is False
    entered = tab.enter(run_id, {"sub": "bias"})
    assert entered[3].selected == "overview"
    assert "no-choices" in entered[2]


def test_a_run_of_both_kinds_shows_both(tab: ResultsTab, desk: AppService):
    choice = desk.store_upload([("capitals.csv", GOOD.encode())])
    form = open_form(desk, modes=["cloze", "question_answer"], models=["perfect"], judging=[])
    run_id = finish(desk, form | {"uploads": [choice, str(form["uploads"][0])]})
    assert "Robust accuracy" in tab.overview.show(run_id)[0]
    assert "Token F1" in written(tab, run_id)
    assert "no-choices" not in tab.enter(run_id, {})[2]


def test_text_figures_are_drawn_if_there_are_references(tab: ResultsTab, desk: AppService):
    run_id = finish(desk, open_form(desk, judging=[]))
    frame, title, chart = tab.overview.show(run_id)[5:8]
    assert frame.visible
    assert "How close the answers come to the references" in title
    assert [trace.name for trace in chart.data] == ["perfect", "noisy"]
    bare = [dict(row, reference_answer="") for row in QUESTIONS]
    frame, _, chart = tab.overview.show(
        finish(desk, open_form(desk, subjective(bare), judging=[]))
    )[5:8]
    assert (frame.visible, chart) == (False, None)


def test_the_head_counts_models_without_the_judge(tab: ResultsTab, desk: AppService):
    head = tab.enter(finish(desk, open_form(desk)), {})[2]
    assert "2 models" in head
    assert head.count("judged by reference-judge") == 1


def test_the_arena_is_linked_if_answers_were_compared(tab: ResultsTab, desk: AppService):
    run_id = finish(desk, open_form(desk))
    assert f'href="?run={run_id}&amp;tab=arena&amp;arena=0"' in written(tab, run_id)
    alone = finish(desk, open_form(desk, judging=[]))
    assert "tab=arena" not in written(tab, alone)


def test_marks_of_single_answers_are_shown(tab: ResultsTab, desk: AppService):
    run_id = finish(desk, open_form(desk, models=["perfect"], rubric="score10-en.1"))
    page = written(tab, run_id)
    assert "What the judge gave" in page
    assert "of 10" in page


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
    assert pair_sentence(messages("en"), pair) == told


def test_too_few_questions_tell_no_models_apart(tab: ResultsTab, desk: AppService):
    page = written(tab, finish(desk, open_form(desk, judging=[])))
    assert "perfect and noisy cannot be told apart with 3 questions." in page


def test_the_matrix_calls_nothing_accuracy_that_is_none(desk: AppService):
    t = messages("en")
    run_id = finish(desk, open_form(desk, models=["perfect"]) | given(desk))
    cells = read_cells(desk.database, run_id)
    page = progress_table(t, cells, desk.baselines())
    assert "75 % answered" in page  # of the answers brought along, one is empty
    assert "1 empty" in page
    assert "% of verdicts readable" in page
    assert 'class="meta">–</span>' in page  # nobody judges in the column of answers
    assert [mode_label(t, cell) for cell in cells] == [
        "open answers",
        "answers brought along",
        "judge, all pairs, both orders",
    ]


def test_every_export_holds_the_run(desk: AppService):
    run_id = finish(desk, open_form(desk))
    for extension in ("md", "json"):
        name, content = desk.export(run_id, extension, "en")
        assert name == f"talk.{extension}"
        assert b"rouge-l-f" in content


def test_nothing_of_a_reply_becomes_markup(tab: ResultsTab, desk: AppService):
    rows = [dict(row, question=HOSTILE, reference_answer=HOSTILE) for row in QUESTIONS]
    brought = answers({**ANSWERS, "en-1": HOSTILE + " more"})
    run_id = finish(
        desk, open_form(desk, subjective(rows), models=[], judging=[]) | given(desk, brought)
    )
    for page in (written(tab, run_id), tab.samples.show(run_id, {"q": "talk/en-1"})):
        assert "<img" not in page
        assert "<script" not in page
    assert "onerror" in page
