"""The Bias view as a person meets it: cells that are links, an address for all that opens."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}}


def open_bias(page: Any, run_id: str, more: str = "", *, language: str = "en") -> None:
    page.goto(f"/{language}/?run={run_id}&tab=results&sub=bias{more}")
    expect(page.locator(".headline h1")).to_be_visible()


def test_another_model_changes_the_verdict_and_the_address(page: Any, run_id: str):
    open_bias(page, run_id)
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="always-A").click()
    expect(page.locator(".headline h1")).to_have_text("always-A picks A every time.")
    expect(page.locator(".support")).to_contain_text("One position only.")
    page.wait_for_url("**&sub=bias&cell=*")
    page.reload()
    expect(page.locator(".headline h1")).to_have_text("always-A picks A every time.")


def test_a_cell_of_the_heat_map_leads_to_its_questions_and_back(page: Any, run_id: str):
    open_bias(page, run_id)
    # In the middle of the first cell, which counts what stood at A and was picked at A.
    page.locator("#by-answer ev-plot .nsewdrag").first.click(position={"x": 30, "y": 20})
    page.wait_for_url("**gold=0&picked=0")
    expect(page.get_by_label("Right answer at")).to_have_value("A")
    expect(page.locator(".questions a").first).to_be_visible()
    page.go_back()
    expect(page.locator(".headline h1")).to_contain_text("picks A")
    expect(page).to_have_url(re.compile(r"&sub=bias(&cell=\d+)?$"))


def test_the_keyboard_reaches_the_questions_of_the_grid(page: Any, run_id: str):
    open_bias(page, run_id)
    section = page.locator("#content-or-position")
    section.locator("> button").focus()
    page.keyboard.press("Enter")
    cell = section.locator(".same a[href*='slots=4&options=1']")
    cell.focus()
    page.keyboard.press("Enter")
    expect(section).to_contain_text("Kept one position 4 times")
    page.wait_for_url("**slots=4&options=1#content-or-position")
    section.locator("a[href*='&q=']:visible").first.click()
    expect(page.locator(".qa .qtext")).to_be_visible()


def test_an_address_opens_the_section_that_it_names(page: Any, run_id: str):
    open_bias(page, run_id, "#tests")
    expect(page.locator("#tests > button")).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#tests")).to_contain_text("within-question permutation")


def test_letters_of_a_chart_follow_the_theme(page: Any, run_id: str):
    open_bias(page, run_id, "&__theme=dark")
    ink = page.locator("#by-answer ev-plot .xtick text").first.evaluate(
        "text => getComputedStyle(text).fill"
    )
    assert ink == "rgb(236, 237, 238)"


def test_calibration_and_health_have_their_own_addresses(page: Any, run_id: str):
    page.goto(f"/zh/?run={run_id}&tab=results&sub=calibration")
    expect(page.locator("#calibration")).to_contain_text("ECE")
    page.goto(f"/en/?run={run_id}&tab=results&sub=health")
    expect(page.locator(".support")).to_contain_text("240 questions, as this run asked them")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("view", ["bias", "calibration", "health"])
def test_no_view_is_wider_than_a_phone(page: Any, run_id: str, view: str):
    page.goto(f"/en/?run={run_id}&tab=results&sub={view}")
    expect(page.locator(".fold[id]").first).to_be_visible()
    page.evaluate("document.querySelectorAll('.fold > button:not(.open)').forEach(b => b.click())")
    page.wait_for_timeout(1000)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_chart_is_saved_as_an_image_and_its_values_as_a_table(page: Any, run_id: str):
    open_bias(page, run_id)
    plot = page.locator("#by-answer ev-plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    plot.hover()
    with page.expect_download() as image:
        plot.locator("[data-title='Save as image']").click()
    assert image.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as values:
        plot.locator("[data-title='Save the values (CSV)']").click()
    lines = values.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0] == '"right answer at position","A","B","C","D","unreadable"'
    assert lines[1].startswith('"A","A → A: ')
