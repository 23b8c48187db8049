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


def test_a_click_on_the_heat_map_lists_its_questions(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=bias")
    area = page.locator(".chart-card:has(#bias-heat) .nsewdrag").first
    area.scroll_into_view_if_needed()
    area.hover(position={"x": 30, "y": 20})
    area.click(position={"x": 30, "y": 20})
    page.wait_for_url("**gold=0&picked=0")
    expect(page.get_by_label("Right answer at")).to_have_value("0")
    expect(page.locator(".questions a").first).to_be_visible()


def test_the_keyboard_reaches_the_questions_of_the_grid(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=bias")
    page.get_by_label("Model and mode").select_option(label="always-A · letters, circular")
    expect(page.locator("#bias-top")).to_contain_text("One position only")
    page.locator("#bias-grid-table summary").focus()
    page.keyboard.press("Enter")
    page.locator("#bias-grid-table [data-cell='4,1']").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".listed")).to_contain_text("Kept one position 4 times")
    page.locator(".listed a").first.click()
    expect(page.locator(".qa .qtext")).to_be_visible()


def test_the_slider_tells_what_more_questions_would_show(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=statistics")
    expect(page.locator("#statistics-power")).to_contain_text("With 240 questions (now)")
    page.locator("input[name=size]").focus()
    page.keyboard.press("End")
    expect(page.locator("#statistics-power")).to_contain_text("With 10,000 questions")


def test_calibration_and_health_have_their_own_addresses(page: Any, run_id: str):
    page.goto(f"/zh/?run={run_id}&sub=calibration")
    expect(page.locator("#calibration-title")).to_contain_text("ECE")
    page.goto(f"/en/?run={run_id}&sub=health")
    expect(page.locator("#health-pane")).to_contain_text("240 questions, as this run asked them")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("view", ["overview", "bias", "statistics", "calibration", "health"])
def test_no_view_is_wider_than_a_phone(page: Any, run_id: str, view: str):
    page.goto(f"/en/?run={run_id}&sub={view}")
    expect(page.locator("#results-head h1")).to_be_visible()
    expect(page.locator(f"#tab-{view} .ev > *").first).to_be_attached()
    page.wait_for_timeout(1000)  # charts are drawn after the text
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
