"""One finished run read in every view, and one that is not finished."""

import io
import re
import zipfile
from typing import Any

import pytest
from browser_examples import start_sample
from browser_views import complete
from playwright.sync_api import expect

SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}}


def test_the_overview_shows_figures_with_ranges_and_every_figure_sorted(page: Any, run_id: str):
    page.goto(f"/r/{run_id}")
    lead = page.locator("table.lead:visible")
    expect(lead.locator("tr", has_text="always-A")).to_contain_text("0.0–1.6")
    expect(lead.locator("tr", has_text="always-A")).to_contain_text("picks A every time")
    every = page.locator("#every-figure")
    every.locator("> button").click()
    every.get_by_role("link", name="Accuracy", exact=True).click()
    page.wait_for_url("**sort=-accuracy**")
    expect(every.locator("th[aria-sort=descending]")).to_contain_text("Accuracy")
    expect(every.locator("tbody tr").first).to_contain_text("80 %")


def test_a_long_table_is_sorted_by_keyboard_and_keeps_its_first_column(page: Any, run_id: str):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/r/{run_id}#by-subject")
    table = page.locator("#by-subject .data-table").first
    names = table.locator("[role=gridcell][aria-colindex='1']")
    expect(names.first).to_have_text("All subjects")
    left = names.first.bounding_box()["x"]
    table.locator(".virtual-table-viewport").evaluate("each => each.scrollTo(200, 0)")
    assert names.first.bounding_box()["x"] == left
    table.get_by_role("button", name="Open cell menu").first.press("Enter")
    expect(page.get_by_role("menuitem", name="Sort ascending")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(names.first).to_have_text("words_zh")


def test_the_report_downloads_at_the_first_click(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=report")
    page.get_by_role("link", name="Preview").click()
    expect(page.locator(".document h1")).to_have_text("evalui-sample")
    page.locator("#other-files > button").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download ZIP").click()
    content = started.value.path().read_bytes()
    assert "report.md" in zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_the_language_changes_and_the_view_stays(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=bias")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(f"**/zh/results?**run={run_id}**sub=bias**")
    page.locator("body[data-ready]").wait_for()
    expect(page.get_by_role("link", name="偏差", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    expect(page.locator(".results-page")).to_contain_text("公平值")
    page.wait_for_function("window.gradio_config !== undefined")
    page.wait_for_timeout(1500)  # Gradio has started, and would have written the browser's language
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_the_address_names_the_view_that_is_open(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=report")
    assert page.url.endswith(f"/en/results?run={run_id}&sub=report")
    samples = page.get_by_role("link", name="Samples", exact=True)
    samples.click()
    page.wait_for_url(f"**/en/results?run={run_id}**sub=samples**")
    page.reload()
    expect(samples).to_have_attribute("aria-current", "page")


def test_a_live_run_shows_its_newest_figures_by_itself_in_the_same_view(page: Any):
    start_sample(page, "slow")
    expect(page.locator(".matrix")).to_contain_text("per s")
    run = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/results?run={run}")
    for shown in (page.locator(".live .sofar"), page.locator("table.lead .big").first):
        before = shown.inner_text()
        expect(shown).not_to_have_text(before, timeout=30_000)
    page.get_by_role("link", name="Samples", exact=True).click()
    page.wait_for_url("**sub=samples**")
    progress = page.locator(".runline + .note")
    expect(progress).to_contain_text("Still running:")
    before = progress.inner_text()
    expect(progress).not_to_have_text(before, timeout=30_000)
    expect(page.get_by_role("link", name="Samples", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.locator(".results-page h1")).to_be_visible()
    expect(page).to_have_title(re.compile("^Stopped · "))


def test_views_that_were_drawn_before_are_shown_again_whole(page: Any, run_id: str):
    page.goto(f"/en/results?run={run_id}&sub=bias")
    chart = page.locator(".results-page .js-plotly-plot .plotly").first
    expect(chart).to_be_visible()
    parts = page.locator(
        ".results-page :is(h1, h2, h3, .js-plotly-plot, table, [data-testid=fold])"
    )
    shown = parts.count()
    for _ in range(2):
        page.get_by_role("link", name="Overview", exact=True).click()
        expect(page.locator("table.lead").first).to_be_visible()
        complete(page)
        page.get_by_role("link", name="Bias", exact=True).click()
        expect(chart).to_be_visible()
        expect(parts).to_have_count(shown)
        complete(page)


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_tables_of_a_few_models_show_their_figures_on_a_phone(page: Any, run_id: str):
    page.goto(f"/r/{run_id}")
    page.locator("body[data-ready]").wait_for()
    sections = page.locator("#by-subject, #every-rule")
    sections.last.wait_for()
    sections.locator("> button").evaluate_all("all => all.forEach(one => one.click())")
    sections.locator(".scroll").first.wait_for()
    sections.locator("[role=gridcell]").first.wait_for()
    hidden = sections.locator(".scroll, .virtual-table-viewport").evaluate_all(
        "all => all.map(one => one.scrollWidth - one.clientWidth)"
    )
    assert len(hidden) >= 2
    assert max(hidden) == 0
