"""The results of multiple choice as a person meets them: front page, maps, slider, phone."""

from typing import Any

import pytest
from playwright.sync_api import expect

PHONE = {"viewport": {"width": 390, "height": 844}}


def test_the_front_page_tells_the_bias_and_every_pair(page: Any, run_id: str):
    page.goto(f"/r/{run_id}")
    expect(page.locator("#overview-top")).to_contain_text("steady has a clear position bias.")
    expect(page.locator(".kpis .st.bad").first).to_have_text("Clear bias")
    expect(page.locator("#overview-pairs")).to_contain_text("steady beats always-A by")
    page.get_by_role("button", name="Open Bias").click()
    expect(page.locator("#bias-tests")).to_contain_text("within-question permutation")


def test_the_slider_tells_what_more_questions_would_show(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=statistics")
    expect(page.locator("#statistics-power")).to_contain_text("With 240 questions (now)")
    page.locator("input[name=size]").focus()
    page.keyboard.press("End")
    expect(page.locator("#statistics-power")).to_contain_text("With 10,000 questions")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("view", ["overview", "bias", "statistics", "calibration", "health"])
def test_no_view_is_wider_than_a_phone(page: Any, run_id: str, view: str):
    page.goto(f"/en/?run={run_id}&sub={view}")
    expect(page.locator("#results-head h1")).to_be_visible()
    expect(page.locator(f"#tab-{view} .ev > *").first).to_be_attached()
    page.wait_for_timeout(1000)  # charts are drawn after the text
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
