"""One finished run read in every view, in both languages and themes."""

import io
import zipfile
from typing import Any

from browser_examples import start_sample
from playwright.sync_api import expect


def test_the_overview_shows_figures_with_ranges_and_a_chart(page: Any, run_id: str):
    page.goto(f"/r/{run_id}")
    expect(page.locator(".kpis")).to_contain_text("plausible range 20–31")
    expect(page.locator(".kpis")).to_contain_text("Picks A in all 960 readable replies")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Accuracy", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Accuracy")


def test_the_report_downloads_at_the_first_click(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=report")
    expect(page.locator("#report-preview")).to_contain_text("evalui-sample")
    expect(page.locator("#report-preview h1")).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download ZIP").click()
    content = started.value.path().read_bytes()
    assert "report.md" in zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_the_language_changes_and_the_run_stays(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=bias")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(f"**/zh/?run={run_id}&sub=bias")
    expect(page.get_by_role("tab", name="偏差")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#bias-heat")).to_contain_text("每行")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_the_dark_theme_stays_and_charts_follow_it(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}")
    page.get_by_role("link", name="Dark / light").click()
    page.wait_for_selector("body.dark")
    page.goto(f"/en/?run={run_id}&sub=bias")
    page.wait_for_selector("body.dark .js-plotly-plot .xtick text")
    ink = page.evaluate(
        "getComputedStyle(document.querySelector('.js-plotly-plot .heatmap-label text')).fill"
    )
    assert ink == "rgb(236, 237, 238)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 20, 22)"


def test_the_address_names_the_view_that_is_open(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&sub=report")
    expect(page.locator("#report-pane")).to_contain_text("Keep this run")
    assert page.url.endswith("sub=report")
    page.get_by_role("tab", name="Samples", exact=True).click()
    page.wait_for_url(f"**/en/?run={run_id}&sub=samples")
    page.reload()
    expect(page.get_by_role("tab", name="Samples", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )


def test_a_live_run_loads_its_newest_figures_in_the_same_view(page: Any):
    start_sample(page, "slow")
    expect(page.locator(".matrix")).to_contain_text("per s")
    run = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run}&tab=results")
    note = page.locator("#results-head .note")
    expect(note).to_contain_text("Still running:")
    before = note.inner_text()
    page.get_by_role("tab", name="Samples", exact=True).click()
    page.wait_for_url("**sub=samples")
    page.get_by_role("link", name="Load the newest figures").click()
    expect(page.locator("#results-head .note")).not_to_have_text(before)
    expect(page.get_by_role("tab", name="Samples", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    page.get_by_role("link", name="Watch it run").click()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.locator("#runs-pane")).to_contain_text("Stopped by you")
