"""From a file of open questions to a queued run, without a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import GOOD, HOSTILE
from ui_open_examples import (
    ANSWERS,
    QA,
    QUESTIONS,
    answers,
    finish,
    given,
    lines,
    open_desk,
    open_form,
    subjective,
)

from evalui.app.datasets import store_upload
from evalui.app.evaluations import plan_run, run_to_repeat, start_run
from evalui.app.service import AppService
from evalui.runs.spec import read_spec
from evalui.store.runs import read_runs
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec, spec_to_form

PRICED = """
[perfect]
backend = "scripted"
output_price = 1000.0
options = { rule = "perfect" }
"""
MakeAct = Callable[..., Press]


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk, "en")


def box(page: str, name: str, value: str) -> str:
    """The attributes of a checkbox or radio button after its value."""
    return page.partition(f'name="{name}" value="{value}"')[2].partition(">")[0]


def test_open_questions_are_shown_with_their_references(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("talk.jsonl", subjective())])
    page = tab.act(act("uploaded", upload=upload))
    assert "open questions" in page
    assert "3 with a reference" in page
    assert "2 capabilities" in page
    preview = tab.act(act("preview", upload=upload))
    assert '<span class="meta">Reference</span> 北京</p>' in preview
    assert "<dt>Without a reference answer</dt>" in page
    assert "English, Chinese" in page or "Chinese, English" in page


def test_only_settings_of_open_questions_are_offered(tab: Screen, desk: AppService):
    page = tab.render({"uploads": open_form(desk)["uploads"]})
    assert "checked" in box(page, "modes", "question_answer")
    for gone in ('value="cloze"', 'name="pattern"', 'name="shots"', 'name="template.name"'):
        assert gone not in page
    assert tab.field("Longest reply").placeholder == "default of the mode"


def test_a_judge_is_no_contestant(tab: Screen, desk: AppService):
    page = tab.render({"uploads": open_form(desk)["uploads"]})
    assert 'name="models" value="reference-judge"' not in page
    assert 'name="judging.judges" value="reference-judge"' in page
    assert 'name="judging.judges" value="always-A"' not in page


def test_the_judge_is_on_for_open_questions_with_references(tab: Screen, desk: AppService):
    page = tab.render({"uploads": open_form(desk)["uploads"]})
    assert tab.is_judged
    assert "checked" in box(page, "judging.judges", "reference-judge")
    assert tab.may_start


def test_the_judge_is_off_for_questions_and_answers(tab: Screen, desk: AppService):
    page = tab.render({"uploads": [store_upload(desk, [("qa.jsonl", lines(QA))])]})
    assert "question and answer" in page
    assert not tab.is_judged
    assert tab.form()["judging.template"] == "score10-en.2"


@pytest.mark.parametrize("judging", [[], ["yes"]])
def test_marks_that_nobody_chose_give_way_to_duels(
    tab: Screen, desk: AppService, act: MakeAct, judging: list[str]
):
    shown: Form = {
        "uploads": [store_upload(desk, [("qa.jsonl", lines(QA))])],
        "kinds": ["general_qa"],
        "modes": ["question_answer"],
        "judging": judging,
        "judging.judges": ["reference-judge"],
        "judging.template": "score10-en.2",  # as the page chose for this file
    }
    tab.act(act("uploaded", shown, upload=str(open_form(desk)["uploads"][0])))
    assert (tab.form()["judging.template"] == "score10-en.2") == bool(judging)


def test_a_file_of_each_kind_offers_the_modes_of_both(tab: Screen, desk: AppService, act: MakeAct):
    choice = store_upload(desk, [("capitals.csv", GOOD.encode())])
    first = tab.act(act("uploaded", upload=choice))
    assert 'name="judging"' not in first
    form: Form = {
        "uploads": [choice],
        "kinds": ["multiple_choice"],
        "models": ["perfect"],
        "modes": ["cloze"],
    }
    page = tab.act(act("uploaded", form, upload=str(open_form(desk)["uploads"][0])))
    assert "checked" in box(page, "modes", "cloze")
    assert "checked" in box(page, "modes", "question_answer")
    assert 'name="pattern"' in page
    assert "perfect skips" not in page  # nobody expects choices from open questions


def test_a_mode_that_was_switched_off_stays_off(tab: Screen, desk: AppService):
    page = tab.render(open_form(desk, modes=[]))
    assert "Choose a mode." in page
    assert "checked" not in box(page, "modes", "question_answer")


def test_answers_find_their_questions(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("answers_handmade.jsonl", answers(ANSWERS | {"en-9": "?"}))])
    page = tab.act(act("answered", open_form(desk, models=[]), upload=upload))
    assert 'value="handmade"' in page
    assert "4 of 4 questions answered" in page
    assert "1 answer belongs to no question: en-9" in page


def test_faults_of_answers_have_line_and_reason(desk: AppService):
    bad = answers() + b"no JSON at all\n" + lines([{"index": "", "answer": "?"}] * 5)
    form = open_form(desk) | given(desk, bad)
    page = Screen(desk, "en").render(form)
    assert "6 rows cannot be used" in page
    assert "line 6</span> · neither an index nor a question; expected: one of them" in page
    assert "line 9</span>" in page
    assert "line 10</span>" not in page
    assert "and 1 more" in page
    page = Screen(desk, "zh").render(form)
    assert "第 5 行</span> · 不是 JSON 对象" in page


def test_models_may_be_none_if_there_are_answers(tab: Screen, desk: AppService):
    form = open_form(desk, models=[], judging=[])
    assert "Choose a model." in tab.render(form)
    tab.render(form | given(desk))
    assert tab.may_start


def test_answers_that_are_removed_are_gone(tab: Screen, desk: AppService, act: MakeAct):
    brought = given(desk)
    form = open_form(desk) | brought
    (name,) = brought
    part = name.split(".")[1].replace("-", ".")
    page = tab.act(act("forget", form, upload=part))
    assert "handmade" not in page
    assert 'name="answers.' not in page


def test_answers_without_a_name_do_not_start(tab: Screen, desk: AppService):
    brought = given(desk)
    (name,) = brought
    page = tab.render(open_form(desk) | brought | {name: " "})
    assert "Name the model whose answers these are." in page
    assert not tab.may_start


def test_a_file_that_holds_no_answers_says_so(tab: Screen, desk: AppService):
    page = tab.render(open_form(desk) | given(desk, lines([{"index": "en-1", "said": "Paris"}])))
    assert "has no column of answers" in page
    assert not tab.may_start


@pytest.mark.parametrize("place", ["1", "7"])
def test_answers_that_are_no_longer_here_are_reported(tab: Screen, desk: AppService, place: str):
    upload = "0" * 16 if place == "1" else next(iter(given(desk))).split(".")[1][:16]
    page = tab.render(open_form(desk) | {f"answers.{upload}-{place}.model": "m"})
    assert "This upload is no longer here." in page
    assert not tab.may_start


def test_the_answers_of_another_user_are_not_opened(tab: Screen, desk: AppService, act: MakeAct):
    upload = desk.uploads.store("bob", [("answers_m.jsonl", answers())])
    page = tab.act(act("answered", open_form(desk), upload=upload))
    assert "no longer here" in page
    assert "questions answered" not in page


def test_the_answers_of_an_earlier_run_take_part(tab: Screen, desk: AppService):
    earlier = finish(desk, open_form(desk, name="Monday", judging=[]))
    page = tab.render(open_form(desk, earlier_run=earlier))
    assert "4 answers in “Monday”" in page
    assert f'name="earlier" value="{earlier}/noisy"' in page
    form = open_form(desk, models=["perfect"], earlier=[f"{earlier}/noisy"])
    intent = plan_run(desk, form_to_spec(form))
    assert [cell.model for cell in intent.cells] == ["perfect", "noisy", "reference-judge"]


def test_a_run_on_other_questions_is_not_offered(tab: Screen, desk: AppService):
    others = [dict(row, question=f"{row['question']} Now?") for row in QUESTIONS]
    finish(desk, open_form(desk, subjective(others), name="Monday"))
    assert "Monday" not in tab.render(open_form(desk))


def test_the_cost_counts_the_requests_to_judges(tab: Screen, desk: AppService):
    page = tab.render(open_form(desk))
    assert "<dt>Requests</dt><dd>16</dd>" in page  # 4 questions x 2 models, and 4 pairs x 2 orders
    assert "<dt>of them to judges</dt><dd>8</dd>" in page


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"judging.judges": []}, "Choose a judge, or switch judging off."),
        ({"models": ["perfect"]}, "Comparing needs two."),
        ({"judging.sample": "1.5"}, "is not a whole number"),
        ({"judging.pairs": "baseline"}, "needs names under"),
        ({"judging.template": "own", "judging.template.instruction": ""}, "The rubric lacks"),
    ],
)
def test_judging_that_cannot_work_says_why(
    tab: Screen, desk: AppService, fields: Form, reason: str
):
    page = tab.render(open_form(desk) | fields)
    assert reason in page
    assert not tab.may_start


def test_a_judge_that_also_answers_is_reported(tab: Screen, desk: AppService):
    assert "also takes part" not in tab.render(open_form(desk))
    brought = given(desk, name="reference-judge")
    assert "reference-judge also takes part" in tab.render(open_form(desk) | brought)


def test_a_rule_that_needs_references_is_reported_where_there_are_none(
    tab: Screen, desk: AppService
):
    told = "A rule that compares with a reference: reference-judge. 1 of 4 questions has none"
    assert told in tab.render(open_form(desk))
    assert told not in tab.render(open_form(desk, judging__judges=[]))
    assert "A rule that compares" not in tab.render(open_form(desk, lines(QA)))


@pytest.mark.parametrize("models", [[], ["perfect"], ["perfect", "noisy"]])
def test_a_list_of_rubrics_that_nobody_touched_asks_for_duels(
    tab: Screen, desk: AppService, models: list[str]
):
    tab.render(open_form(desk, models=models))
    assert tab.field("What it is asked").choices[0][1] == ""
    assert tab.field("What it is asked").value == ""


OWN_RUBRIC: Form = {
    "judging.template": "own",
    "judging.template.name": "mine.1",
    "judging.template.language": "en",
    "judging.template.form": "named",
    "judging.template.instruction": "Which is funnier?",
}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"rubric_try": "Because.\n[[Answer 2]]"}, "Read: the second answer is better ("),
        ({"rubric_try": "[[both bad]]"}, "Read: both are bad ("),
        ({"rubric_try": "Who knows?"}, "Nothing can be read (unparsed)."),
        (
            {"judging.template.form": "graded", "rubric_try": "[[Answer 1 much better]]"},
            "Read: the first answer is much better (",
        ),
        ({"judging.template.form": "rating", "rubric_try": "Rating: [[7]]"}, "Read: mark 7 ("),
        (
            {"judging.template.form": "correctness", "rubric_try": "[[incorrect]]"},
            "Read: incorrect (",
        ),
        (
            {
                "judging.template.form": "rating",
                "judging.template.criteria": "wit: fun\nstyle",
                "rubric_try": "wit: [[9]]\nstyle: [[4]]",
            },
            "Read: wit 9, style 4, mark 6.5 (",
        ),
        ({"judging.template.pattern": "(", "rubric_try": "x"}, "is not a regular expression"),
        (
            {"judging.template.pattern": "(?P<a>one)|(?P<b>two)", "rubric_try": "I prefer two."},
            "Read: the second answer is better (pattern).",
        ),
        ({"judging.template.name": "json-en.1", "rubric_try": "x"}, "is a shipped rubric"),
    ],
)
def test_what_is_read_of_a_sample_reply_is_shown_while_a_rubric_is_written(
    tab: Screen, desk: AppService, fields: Form, told: str
):
    page = str(tab.render(open_form(desk, **(OWN_RUBRIC | fields))))
    assert told in page.replace("&#39;", "'")


def test_without_a_sample_reply_nothing_is_read(tab: Screen, desk: AppService):
    page = str(tab.render(open_form(desk, **OWN_RUBRIC)))
    assert "Read:" not in page
    assert 'name="rubric_try"' in page


def test_how_verdicts_are_given_and_what_much_better_weighs_can_be_chosen(
    tab: Screen, desk: AppService
):
    tab.render(open_form(desk, judging__output="schema", judging__strong="5"))
    verdicts, weights = tab.field("Verdicts in"), tab.field("“Much better” counts")
    assert ("JSON in a schema", verdicts.value) in verdicts.choices
    assert ("5 times", weights.value) in weights.choices
    assert ("three times, as Arena-Hard", "3") in weights.choices


def test_the_rubric_of_a_run_of_the_first_version_is_offered_where_it_is_repeated(
    tab: Screen, desk: AppService
):
    page = str(tab.render(open_form(desk, judging__template="auto.1")))
    assert '<option value="auto.1">four choices, as in the run repeated' in page
    assert tab.field("What it is asked").value == "auto.1"
    assert 'value="auto.1"' not in str(tab.render(open_form(desk)))


def test_one_model_can_be_marked_alone(tab: Screen, desk: AppService):
    page = tab.render(open_form(desk, models=["perfect"], judging__template="score10-en.1"))
    assert "Comparing needs two." not in page
    assert "<dt>of them to judges</dt><dd>4</dd>" in page


def test_two_lists_meet_each_other_only(tab: Screen, desk: AppService):
    form = open_form(
        desk,
        models=["perfect", "noisy", "always-A"],
        judging__pairs="matrix",
        judging__baseline=["perfect"],
        judging__against=["noisy", "always-A"],
        judging__orders="single",
    )
    page = tab.render(form)
    assert tab.field("First list").value == ["perfect"]
    assert tab.field("Second list").value == ["noisy", "always-A"]
    assert "<dt>of them to judges</dt><dd>8</dd>" in page


def test_a_price_is_shown_if_it_is_known(tmp_path: Path):
    desk = open_desk(tmp_path, PRICED)
    page = Screen(desk, "en").render(open_form(desk, models=["perfect"], judging=[]))
    assert "about US$ 2.0" in page  # 4 replies of at most 512 tokens, at 1000 a million


def test_no_price_is_made_up(tab: Screen, desk: AppService):
    assert "US$" not in tab.render(open_form(desk))


def test_the_sample_of_open_questions_starts_at_once_with_its_judge(
    tab: Screen, desk: AppService, act: MakeAct
):
    assert 'data-do="open_sample"' in tab.render({})
    page = tab.act(act("open_sample"))
    (row,) = read_runs(desk.database)
    assert f'href="results?run={row.id}" data-go' in str(page)
    judging = read_spec(row.spec).judging
    assert judging is not None
    assert judging.judges == ["reference-judge"]


def test_a_run_with_answers_and_a_judge_can_be_repeated(tab: Screen, desk: AppService):
    form = open_form(desk, judging__conflict="drop", judging__sample="2") | given(desk)
    run_id = start_run(desk, desk.files.matched(form_to_spec(form)))
    page = tab.render({"again": run_id})
    assert 'value="handmade"' in page
    assert "4 of 4 questions answered" in page
    assert tab.is_judged
    assert tab.field("If the two orders disagree").value == "drop"
    again = spec_to_form(run_to_repeat(desk, run_id))
    assert form.items() <= (again | {"kinds": form["kinds"]}).items()
    started = start_run(desk, desk.files.matched(form_to_spec(again)))
    assert desk.run(started).spec == desk.run(run_id).spec


def test_a_sheet_can_be_chosen(tab: Screen, desk: AppService, act: MakeAct, tmp_path: Path):
    from openpyxl import Workbook

    book = Workbook()
    for name in ("first", "second"):
        sheet = book.create_sheet(name)
        sheet.append(["question", "reference_answer", "capability"])
        sheet.append([f"Question of {name}?", "yes", "facts"])
    del book["Sheet"]
    book.save(tmp_path / "book.xlsx")
    upload = store_upload(desk, [("book.xlsx", (tmp_path / "book.xlsx").read_bytes())])
    page = tab.render(open_form(desk) | {"uploads": [upload]})
    assert f'{{"datasets.{upload}.sheet": "second"}}\' aria-pressed="false"' in page
    assert "Question of first?" in tab.act(act("preview", upload=upload))
    tab.act(act("pick", name=f"datasets.{upload}.sheet", value="second"))
    chosen = tab.act(act("preview", upload=upload))
    assert "Question of second?" in chosen
    assert "Question of first?" not in chosen


def test_a_chinese_page_speaks_chinese(desk: AppService):
    page = Screen(desk, "zh").render(open_form(desk) | given(desk))
    for word in ("3 题有参考答案", "4 题中的 4 题有回答", "由裁判阅读回答", "其中裁判"):
        assert word in page


def test_nothing_in_a_file_of_answers_becomes_markup(tab: Screen, desk: AppService):
    rows = [dict(row, question=HOSTILE, reference_answer=HOSTILE) for row in QUESTIONS]
    page = tab.render(
        open_form(desk, subjective(rows)) | given(desk, answers({HOSTILE: "x"}), name=HOSTILE)
    )
    assert "onerror=" in page
    assert "<img" not in page
    assert "<script" not in page
    assert "<iframe" not in page
