"""Open questions from the file to the standings, a vote and a report that needs no server."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser_examples import drop_answers
from open_browser_examples import Hall, look_at_pair
from playwright.sync_api import expect

from evalui.store.voting.votes import read_votes

ROWS = [
    ("cn-1", "法国的首都是哪里？", "巴黎", "facts"),
    ("cn-2", "日本的首都是哪里？", "东京", "facts"),
    ("en-3", "What is the opposite of hot?", "cold", "words"),
    ("en-4", "What is three plus four?", "seven", "sums"),
]
RIGHT = {index: reference for index, _, reference, _ in ROWS}
WRONG = RIGHT | {"cn-2": "大阪", "en-3": "warm"}


@pytest.fixture(scope="module")
def server(hall: Hall) -> str:
    """The address that the pages of this file belong to."""
    return hall.address


def workbook(folder: Path) -> Path:
    """A file of open questions as OpenCompass writes them."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("index", "question", "reference_answer", "capability"), *ROWS):
        book.active.append(row)
    book.save(folder / "capitals.xlsx")
    return folder / "capitals.xlsx"


def answers(folder: Path, name: str, said: dict[str, str]) -> Path:
    """A file of one model's answers."""
    path = folder / f"{name}.jsonl"
    lines = [json.dumps({"index": index, "answer": text}) for index, text in said.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def finish(page: Any) -> None:
    """Start what is chosen, and wait until its verdict stands there."""
    start = page.get_by_role("button", name="Start evaluation")
    expect(start).to_be_enabled()
    start.click()
    page.wait_for_url("**run=**")
    run = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run}&tab=runs")
    page.get_by_role("link", name="Read the results").click(timeout=60_000)
    expect(page.locator("table.lead:visible").first).to_be_visible()


def standings(page: Any) -> list[str]:
    """The models, best first."""
    return page.locator("table.lead:visible tbody .c-md").all_inner_texts()


def test_the_sample_leads_to_standings_a_vote_and_a_report_of_its_own(
    page: Any, chromium: Any, tmp_path: Path, hall: Hall
):
    page.goto("/en/")
    page.get_by_role("button", name="Try open questions").click()
    page.wait_for_url("**run=**", timeout=60_000)
    expect(page.locator("table.lead:visible").first).to_be_visible(timeout=60_000)
    expect(page.locator(".support:visible")).to_contain_text("A rule judged", timeout=60_000)
    assert sorted(name.strip() for name in standings(page)) == ["steady", "wordy"]
    run_id = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run_id}&tab=annotate")
    name = page.get_by_label("Your name")
    name.fill("ann")
    name.press("Enter")
    expect(page.locator(".pair.now .ballot-answer")).to_have_count(2)
    page.evaluate("document.activeElement.blur()")
    look_at_pair(page)
    page.get_by_role("button", name="Both good").click()
    expect(page.locator(".ballot:not(.ahead) .last-vote")).to_contain_text("pair 1, both good")
    assert [vote.choice for vote in read_votes(hall.database, run_id)] == ["tie"]
    page.goto(f"/en/?run={run_id}&sub=report")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download HTML").click()
    started.value.save_as(tmp_path / "report.html")
    assert_stands_alone(chromium, tmp_path / "report.html", "steady", "wordy", "reference-judge")


def assert_stands_alone(chromium: Any, report: Path, *names: str) -> None:
    """The file shows its charts and asks nobody for anything."""
    context = chromium.new_context()
    asked: list[str] = []
    said: list[str] = []
    alone = context.new_page()
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("console", lambda message: said.append(message.text))
    alone.on("pageerror", lambda error: said.append(str(error)))
    alone.goto(report.as_uri())
    alone.wait_for_load_state("networkidle")
    for name in names:
        expect(alone.locator("body")).to_contain_text(name)
    expect(alone.locator("table.lead").first).to_be_visible()
    charts = alone.locator("figure ev-plot")
    assert charts.count() >= 2  # who beats whom, by group
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        expect(chart.locator(".main-svg").first).to_be_visible()
    context.close()
    assert [url for url in asked if not url.startswith((report.as_uri(), "data:"))] == []
    assert said == []


def test_files_of_questions_and_answers_are_compared_without_a_model(page: Any, tmp_path: Path):
    page.goto("/en/")
    page.set_input_files("#files", workbook(tmp_path))
    expect(page.locator(".evaluate")).to_contain_text("4 with a reference")
    drop_answers(page, answers(tmp_path, "careful", RIGHT))
    expect(page.locator(".named")).to_contain_text("4 of 4 questions answered")
    faulty = {"cn-1": "巴黎", "cn-99": "罗马"}
    bad = answers(tmp_path, "faulty", faulty)
    bad.write_text(bad.read_text() + "\nno JSON at all", encoding="utf-8")
    drop_answers(page, bad)
    expect(page.locator(".named")).to_have_count(2)
    told = page.locator(".named").nth(1)
    expect(told).to_contain_text("1 of 4 questions answered")
    expect(told).to_contain_text("1 answer belongs to no question: cn-99")
    expect(told).to_contain_text("1 row cannot be used")
    told.get_by_role("button", name="Remove").click()
    expect(page.locator(".named")).to_have_count(1)
    drop_answers(page, answers(tmp_path, "hasty", WRONG))
    expect(page.locator(".named")).to_have_count(2)
    for name in ("steady", "wordy"):
        page.get_by_label(name, exact=True).first.set_checked(False)
        expect(page.get_by_label(name, exact=True).first).not_to_be_checked()
    page.get_by_label("reference-judge", exact=True).set_checked(True)
    expect(page.locator(".cost")).to_contain_text("8")  # 4 questions, both orders
    finish(page)
    assert [name.strip() for name in standings(page)] == ["careful", "hasty"]
