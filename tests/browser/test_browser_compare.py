"""Two models of a finished run compared, from the tab down to one question."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

PHONE = {"viewport": {"width": 390, "height": 844}}


def test_a_run_is_compared_from_its_tab_down_to_a_question(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}")
    expect(page.locator(".kpis")).to_be_visible()
    page.get_by_role("tab", name="Compare", exact=True).click()
    expect(page.locator(".compare-title")).to_contain_text("steady beats always-A by")
    expect(page.locator("#tab-compare .js-plotly-plot .main-svg").first).to_be_visible()
    page.get_by_label("Measure").select_option("accuracy")
    expect(page.locator("#compare-parts")).to_contain_text("Right as written")
    page.get_by_role("button", name=re.compile("^Only steady")).click()
    only = page.get_by_role("button", name=re.compile("^Only steady"))
    expect(only).to_have_attribute("aria-pressed", "true")
    line = page.locator(".compare-list li > button").nth(2)
    question = line.locator(".q").inner_text()
    line.click()
    expect(page.locator(".compare-detail .question")).to_have_text(question)
    expect(page.locator(".compare-detail .variant")).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".compare-detail .question")).not_to_have_text(question)


def test_what_is_ticked_becomes_an_address(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&run={run_id}")
    page.get_by_text("Choose others").click()
    group = page.locator(".compare-group").filter(has_text="cloze").first
    expect(group.get_by_role("checkbox").first).to_be_disabled()
    expect(group).to_contain_text("Not comparable with")
    ticked = page.locator(".compare-choose").get_by_role("checkbox", checked=True)
    for left in (1, 0):
        ticked.first.uncheck()
        expect(ticked).to_have_count(left)
    expect(page.locator(".compare-go")).to_contain_text("Tick two or more")
    boxes = page.locator(".compare-group").filter(has_text="letters").first.get_by_role("checkbox")
    boxes.nth(0).check()
    expect(page.locator(".compare-go")).to_contain_text("Tick one more")
    boxes.nth(1).check()
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_url(re.compile(r"tab=compare&cells=\d+,\d+"))
    expect(page.locator(".compare-title")).to_be_visible()
    page.get_by_role("link", name="中文").click()
    expect(page.get_by_role("tab", name="对比")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#compare-parts")).to_contain_text("分歧在哪里")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_scrolls_down_only(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&run={run_id}")
    title = page.locator(".compare-title")
    expect(title).to_be_visible()
    before = title.inner_text()
    page.get_by_label("Measure").select_option("accuracy")
    # On a slow machine the list of the new measure would replace a question opened before it came.
    expect(title).not_to_have_text(before)
    page.locator(".compare-list li > button").first.click()
    expect(page.locator(".compare-detail .variant").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_cells_nobody_has_are_told(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&cells=999999,{len(run_id)}")
    expect(page.locator("#compare-head")).to_contain_text("There is no such run.")
    expect(page.locator("#compare-head [role=alert]")).to_be_visible()
