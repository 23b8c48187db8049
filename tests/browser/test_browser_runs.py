"""A run lives on its own: the page only watches it, stops it and reads it."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from browser_examples import start_sample
from browser_servers import admitted
from playwright.sync_api import expect


def test_a_run_goes_on_while_its_page_is_closed(page: Any, chromium: Any, server: str):
    context = admitted(chromium, server)
    first = context.new_page()
    start_sample(first, "slow")
    address = first.url
    expect(first.locator("#tab-runs")).to_contain_text("Running")
    context.close()
    page.goto(address)
    expect(page.locator(".matrix")).to_contain_text("Running")
    done = page.locator(".matrix [role=progressbar]").first
    before = int(done.get_attribute("aria-valuenow"))
    page.wait_for_function(
        "before => +document.querySelector('.matrix [role=progressbar]')"
        ".getAttribute('aria-valuenow') > before",
        arg=before,
    )
    page.get_by_role("button", name="Stop").first.click()
    expect(page.locator("#tab-runs")).to_contain_text("Stopped by you")


def test_progress_is_watched_by_its_address_and_a_question_stays(page: Any, run_id: str):
    start_sample(page, "slow")
    done = page.locator(".matrix [role=progressbar]").first
    expect(done).not_to_have_attribute("aria-valuenow", "0")
    requests: list[Any] = []
    page.on("request", lambda each: requests.append(each))
    passed = """before => +document.querySelector('.matrix [role=progressbar]')
        .getAttribute('aria-valuenow') > before"""
    page.wait_for_function(passed, arg=int(done.get_attribute("aria-valuenow")))
    looks = [each for each in requests if "tab=runs" in each.url]
    assert any("if-none-match" in each.headers for each in looks)
    assert not [each for each in requests if "gradio_api/run" in each.url]
    row = page.locator("tr").filter(has=page.locator(f"a[href*='{run_id}']")).first
    row.get_by_role("button", name="Delete").click()
    sure = page.get_by_role("button", name="Delete for good")
    expect(sure).to_be_visible()
    page.wait_for_function(passed, arg=int(done.get_attribute("aria-valuenow")))
    expect(sure).to_be_visible()
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.locator("#tab-runs")).to_contain_text("Stopped by you")


def test_a_double_click_starts_one_run_and_the_tab_counts_it(page: Any):
    start_sample(page, "slow", clicks=2)
    expect(page.locator(".matrix")).to_contain_text("per s")
    expect(page.get_by_role("link", name="Runs")).to_have_text("Runs1")
    page.get_by_role("button", name="Stop").first.click()
    expect(page.get_by_role("link", name="Runs")).to_have_text("Runs")


def test_a_stopped_run_keeps_its_answers_and_can_go_on(page: Any):
    start_sample(page, "slow")
    expect(page.locator(".matrix")).to_contain_text("per s")
    # Others that were stopped stand beside it, and move down once it has ended.
    run_id = parse_qs(urlsplit(str(page.url)).query)["run"][0]
    row = page.locator("tr").filter(has=page.locator(f"a[href*='{run_id}']"))
    stopped = row.filter(has_text="Stopped by you")
    page.get_by_role("button", name="Stop").first.click()
    expect(stopped).to_contain_text("kept")
    stopped.get_by_role("button", name="Resume").click()
    expect(stopped).to_have_count(0)
    page.get_by_role("button", name="Stop").first.click()
    stopped.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("button", name="Delete for good")).to_have_count(0)


def test_nothing_of_a_visit_stays_in_the_browser(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}")
    expect(page.locator("#tab-results h1")).to_be_visible()
    kept = page.evaluate("Object.keys(localStorage).filter(key => key.includes('run-history'))")
    assert kept == []
