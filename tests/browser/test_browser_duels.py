"""A workbook of open questions by hand: duels, until somebody chooses another way to judge."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser_examples import drop_answers
from browser_views import complete
from open_browser_examples import Hall
from playwright.sync_api import expect

# The columns of Z-bench, in its order; most of its questions have a reference, none has guidance.
HEAD = ("question", "index", "reference_answer", "evaluating_guidance", "capability")
FACTS, SUMS = "基础能力-事实问答", "进阶能力-数学计算"
ROWS = (
    ("谁是蝙蝠侠", 1, "布鲁斯·韦恩", None, FACTS),
    ("1955 年谁是美国总统", 2, "艾森豪威尔", None, FACTS),
    ("中国的首都是哪里？", 3, "北京", None, FACTS),
    ("《静夜思》是谁写的？", 4, "李白", None, FACTS),
    ("鸡兔同笼，共有 35 个头、94 只脚，鸡有几只？", 5, "23", None, SUMS),
    ("十二乘以十二是多少？", 6, "144", None, SUMS),
)
WRONG = {"GPT4": (), "Qwen": (2, 5), "GPT3.5": (1, 2, 3, 6)}  # the indexes, by model, best first


@pytest.fixture(scope="module")
def server(hall: Hall) -> str:
    """The address that the pages of this file belong to."""
    return hall.address


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A workbook in the shape of Z-bench."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in (HEAD, *ROWS):
        book.active.append(row)
    book.save(tmp_path / "subjective_zbench.xlsx")
    return tmp_path / "subjective_zbench.xlsx"


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, Path]:
    """One file of answers by model."""
    files = {model: tmp_path / f"{model}.jsonl" for model in WRONG}
    for model, path in files.items():
        rows = (
            {
                "index": index,
                "question": question,
                "prediction": "我不知道。" if index in WRONG[model] else f"答案是{reference}。",
            }
            for question, index, reference, *_ in ROWS
        )
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
    return files


def open_questions_without_models(page: Any, questions: Path) -> None:
    """The form with the workbook alone: nothing is compared yet."""
    page.goto("/en/")
    page.set_input_files("#files", questions)
    expect(page.locator(".evaluate")).to_contain_text("6 of 6 rows ready")
    for name in ("steady", "wordy"):
        page.get_by_label(name, exact=True).first.set_checked(False)
        expect(page.get_by_label(name, exact=True).first).not_to_be_checked()


def add_answers(page: Any, *files: Path) -> None:
    """Add files of answers, one by one, as the page takes them."""
    there = page.locator(".named").count()
    for place, file in enumerate(files, start=there + 1):
        drop_answers(page, file)
        expect(page.locator(".named")).to_have_count(place)


def switch_judge_on(page: Any) -> None:
    """Let the judge by reference judge; the rubric stays as the page has it."""
    page.get_by_label("Let a judge read the answers").set_checked(True)
    page.get_by_label("reference-judge", exact=True).set_checked(True)
    expect(rubric(page)).to_be_visible()


def rubric(page: Any) -> Any:
    """The line of what judges are asked, among the forms that fit."""
    return page.get_by_role("button", name=re.compile("^How it judges"))


def assert_three_models_duel(page: Any) -> None:
    """Start, wait for the end, and find each model with its ELO, those with fewer errors first."""
    expect(rubric(page)).to_contain_text("four choices, ")
    start = page.get_by_role("button", name="Start evaluation")
    expect(start).to_be_enabled()
    start.click()
    page.wait_for_url("**run=**")
    run = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run}&tab=runs")
    page.get_by_role("link", name="Read the results").click(timeout=60_000)
    lead = page.locator("table.lead:visible")
    expect(lead.locator("tbody .c-md")).to_have_text(list(WRONG))
    heads = lead.locator("thead th").all_inner_texts()
    elo = lead.locator(f"tbody tr > :nth-child({heads.index('ELO') + 1})").all_inner_texts()
    best, _, worst = (int(text.replace(",", "")) for text in elo)
    assert best > 1000 > worst  # 1000 is where all start


def test_three_files_of_answers_to_a_workbook_end_in_elo(
    page: Any, questions: Path, answers: dict[str, Path]
):
    open_questions_without_models(page, questions)
    add_answers(page, *answers.values())
    switch_judge_on(page)
    assert_three_models_duel(page)


def test_a_file_that_comes_while_the_page_is_drawn_is_taken(
    page: Any, questions: Path, answers: dict[str, Path]
):
    open_questions_without_models(page, questions)
    complete(page)
    held: list[Any] = []
    page.route("**/gradio_api/run/*", lambda route: held.append(route))
    page.get_by_label("steady", exact=True).first.set_checked(True)
    with page.expect_response("**/upload*"):
        drop_answers(page, answers["GPT4"])
    page.wait_for_timeout(500)  # the page has read the answer, and waits for what it asked for
    for each in held:
        each.continue_()
    page.unroute("**/gradio_api/run/*")
    expect(page.locator(".named")).to_have_count(1)


def test_a_judge_switched_on_for_one_model_compares_those_added_later(
    page: Any, questions: Path, answers: dict[str, Path]
):
    first, *others = answers.values()
    open_questions_without_models(page, questions)
    add_answers(page, first)
    switch_judge_on(page)
    add_answers(page, *others)
    assert_three_models_duel(page)
