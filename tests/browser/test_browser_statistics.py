"""The results of multiple choice as a person meets them: front page, statistics, phone."""

from typing import Any

import pytest
from playwright.sync_api import expect

SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}}


def test_the_front_page_tells_the_bias_and_every_pair(page: Any, run_id: str):
    page.goto(f"/r/{run_id}")
    row = page.locator("table.lead tr", has_text="steady")
    expect(row.locator(".bad").first).to_contain_text("Clear")
    sure = page.locator("#how-sure")
    sure.locator("> button").click()
    expect(sure.locator("tbody tr").first).to_contain_text("steady over always-A")
    page.get_by_role("link", name="Bias", exact=True).click()
    expect(page.locator("#tests > button")).to_contain_text("Picks depend on position")


def test_more_questions_would_show_smaller_differences(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=statistics")
    power = page.locator("#power")
    power.locator("> button").click()
    expect(power).to_contain_text("With 240 questions (now)")
    page.get_by_role("combobox", name="Number of questions").click()
    page.get_by_role("option", name="10,000 questions").click()
    page.wait_for_url("**size=10000**")
    expect(power).to_contain_text("With 10,000 questions")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("view", ["overview", "statistics", "report&preview=1"])
def test_no_view_is_wider_than_a_phone(page: Any, run_id: str, view: str):
    page.goto(f"/en/?run={run_id}&sub={view}")
    page.locator(".fold[id]:visible").first.wait_for()
    page.evaluate("document.querySelectorAll('.fold > button:not(.open)').forEach(b => b.click())")
    page.wait_for_timeout(1000)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
