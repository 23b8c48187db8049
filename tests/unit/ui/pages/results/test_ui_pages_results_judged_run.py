"""A judged run whose references are far shorter than its answers, on the page and in the report."""

import json
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_open_examples import answers, finish, given, lines, open_desk, open_form

from evalui.app.service import AppService
from evalui.report.compile import compile_report, markdown
from evalui.report.write.files import write
from evalui.report.write.lines import duel_lines
from evalui.runs.results import read_results
from evalui.store.runs import read_cells
from evalui.types import Language

_CAPITALS = (
    ("中国", "北京"),
    ("日本", "东京"),
    ("法国", "巴黎"),
    ("英国", "伦敦"),
    ("德国", "柏林"),
    ("俄国", "莫斯科"),
    ("印度", "新德里"),
    ("埃及", "开罗"),
    ("泰国", "曼谷"),
    ("古巴", "哈瓦那"),
    ("希腊", "雅典"),
    ("挪威", "奥斯陆"),
)
_BARE = 4  # questions without a reference
_WORDS = "这个问题很有意思，下面我来仔细说明一下：经过长期的历史发展，"


def _questions() -> bytes:
    asked = [
        {"index": f"cn-{number}", "question": f"{land}的首都是哪里？", "reference_answer": city}
        for number, (land, city) in enumerate(_CAPITALS)
    ]
    bare = [
        {"index": f"cn-b{number}", "question": f"写第 {number} 首诗。", "reference_answer": ""}
        for number in range(_BARE)
    ]
    return lines([*asked, *bare])


def _answers(*, padding: str, right: int) -> bytes:
    """Answers of which the first `right` hold the reference, the words around it as padding."""
    told = {
        f"cn-{number}": f"{padding}首都是{city if number < right else '某座城市'}。"
        for number, (_, city) in enumerate(_CAPITALS)
    }
    return answers(told | {f"cn-b{number}": f"{padding}诗。" for number in range(_BARE)})


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def _run(desk: AppService, **fields: str) -> str:
    """`brief` is right on 6 of 12 in few words, `long` on all of them in many."""
    brief = given(desk, _answers(padding="我觉得，答案应该是这样的：", right=6), "brief")
    long = given(desk, _answers(padding=_WORDS * 3, right=12), "long")
    return finish(desk, open_form(desk, _questions(), models=[], **fields) | brief | long)


@pytest.fixture
def run_id(desk: AppService) -> str:
    return _run(desk)


def _overview(desk: AppService, run_id: str, language: Language) -> str:
    return DrawnPage("results", desk, {"run": run_id}, language).text


def _duels(desk: AppService, run_id: str, **form: str) -> str:
    return DrawnPage("results", desk, {**form, "run": run_id, "sub": "duels"}).text


def _report(desk: AppService, run_id: str, language: Language) -> str:
    return markdown(compile_report("Capitals", read_results(desk.database, run_id)), language)


@pytest.mark.parametrize(
    ("language", "first", "metrics", "reason"),
    [
        (
            "en",
            "long wins: the judge prefers it to brief",
            "long covers the references best: recall (ROUGE-L)",
            "References are 2 characters, answers",
        ),
        (
            "zh",
            "long 胜出：与 brief 对决",
            "long 对参考答案的覆盖最好：召回率（ROUGE-L）",
            "参考答案 2 字，回答",
        ),
    ],
)
def test_the_judge_speaks_first_and_recall_leads(
    desk: AppService, run_id: str, language: Language, first: str, metrics: str, reason: str
):
    page = _overview(desk, run_id, language)
    told = _report(desk, run_id, language)
    for whole in (page, told):
        places = [whole.index(part) for part in (first, metrics, reason)]
        assert places == sorted(places)
        assert "closest to the references" not in whole
    # The first sentence after the title of the report.
    opening = [line for line in told.splitlines() if line and not line.startswith("#")]
    assert opening[0].startswith(f"**{first}")


_NOT_JUDGED = {"en": "no reference: not judged", "zh": "没有参考答案，未评判"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_lacks_a_reference_was_not_judged_and_is_not_unreadable(
    desk: AppService, run_id: str, language: Language
):
    k = 2 * _BARE  # both orders of one pair
    row = next(row for row in read_cells(desk.database, run_id) if row.cell.mode == "judge")
    assert (row.unreadable, row.unreferenced) == (0, k)
    told = _report(desk, run_id, language)
    page = _overview(desk, run_id, language)
    for whole in (told, page):
        assert _NOT_JUDGED[language] in whole.casefold()
    # 12 questions with a reference in both orders, and all of these could be read.
    assert (
        "24 comparisons, of which 24" if language == "en" else "共 24 次比较，其中 24 次"
    ) in told
    assert ("8 of 32" if language == "en" else "32 次展示中有 8 次") in told


def test_the_duels_have_a_filter_for_each_of_the_two(desk: AppService, run_id: str):
    pages = {
        name: _duels(desk, run_id, duel_outcome=name) for name in ("unreferenced", "unreadable")
    }
    assert "4 duels" in pages["unreferenced"]
    assert "写第 0 首诗" in pages["unreferenced"]
    assert "No duels match" in pages["unreadable"]


def test_exports_count_and_name_what_was_not_judged(desk: AppService, run_id: str):
    report = compile_report("Capitals", read_results(desk.database, run_id))
    (kept,) = json.loads(write(report, "json", "en"))["reliability"]
    assert (kept["verdicts"], kept["unreferenced"], kept["unreadable"]) == (32, 8, 0.0)
    duels = [json.loads(line) for line in duel_lines(report.arenas)]
    bare = [duel for duel in duels if duel["rule"] == "no-reference"]
    assert len(bare) == 8
    assert {duel["winner"] for duel in bare} == {None}


def test_compare_goes_by_recall_too_and_offers_rouge(desk: AppService, run_id: str):
    cells = [str(row.id) for row in read_cells(desk.database, run_id) if row.cell.mode != "judge"]

    def compared(**wish: str) -> str:
        return DrawnPage("compare", desk, {"cells": ",".join(cells), **wish}).text

    assert "long is closer to the references than brief by 0.50." in compared()
    assert "References are 2 characters" in compared()
    assert "brief and long cannot be told apart." in compared(measure="rouge")


def test_a_judge_that_marks_single_answers_speaks_first_and_marks_none_without_a_reference(
    desk: AppService,
):
    run_id = _run(desk, judging__template="score10-zh.1")
    page = _overview(desk, run_id, "en")
    assert page.index("reference-judge (rule-based)") < page.index("long covers the references")
    assert '<th scope="col" class="r">Not judged</th>' in page
    note = "Not judged by reference-judge (rule-based), for lack of a reference:"
    assert f"{note} {_BARE} of 16 answers." in page
    assert "without a readable rating" not in page
    (late, *_) = compile_report("Marks", read_results(desk.database, run_id)).answers
    (mark,) = late.ratings
    assert (mark.n, mark.unscored, mark.unreferenced) == (12, 0, _BARE)


def test_the_chosen_metrics_stand_once_on_the_overview(desk: AppService):
    run_id = _run(desk, metrics="rouge-1-r")
    page = _overview(desk, run_id, "en")
    assert page.count('id="chosen-pairs') == 1
