"""A run lives on its own: the page only watches it, stops it and reads it."""

import json
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
    expect(first.locator(".runs-page")).to_contain_text("Running")
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
    expect(page.locator(".runs-page")).to_contain_text("Stopped")


def test_progress_is_watched_by_small_answers_and_a_question_stays(page: Any, run_id: str):
    start_sample(page, "slow")
    done = page.locator(".matrix [role=progressbar]").first
    expect(page.locator(".matrix")).to_contain_text("per s")
    # The queue follows once more when there are answers; then nothing but the run itself changes.
    expect(page.get_by_role("link", name="Read the results")).to_be_visible()
    looks: list[Any] = []
    page.on("request", lambda each: looks.append(each))
    passed = """before => +document.querySelector('.matrix [role=progressbar]')
        .getAttribute('aria-valuenow') > before"""
    row = page.locator("tr").filter(has=page.locator(f"a[href*='{run_id}']")).first
    row.get_by_role("button", name="Delete").click()
    sure = page.get_by_role("button", name="Delete permanently")
    expect(sure).to_be_focused()
    work = page.locator(".runs-list [data-far=work]").first
    told = work.inner_text()
    for _ in range(3):
        page.wait_for_function(passed, arg=int(done.get_attribute("aria-valuenow")))
    expect(work).not_to_have_text(told)
    expect(sure).to_be_focused()
    assert all("if-none-match" in each.headers for each in looks)
    assert {"live/" in each.url for each in looks} == {True}
    page.get_by_role("button", name="Keep").click()
    expect(sure).to_be_hidden()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.locator(".runs-page")).to_contain_text("Stopped")


def test_ten_tabs_of_one_browser_follow_a_run_and_answer_clicks(
    page: Any, chromium: Any, server: str
):
    start_sample(page, "slow")
    expect(page.locator(".matrix")).to_contain_text("per s")
    context = admitted(chromium, server)
    tabs = [context.new_page() for _ in range(10)]
    for tab in tabs:
        tab.goto(page.url)
    fills = [tab.locator(".matrix [role=progressbar]").first for tab in tabs]
    before = [int(fill.get_attribute("aria-valuenow")) for fill in fills]
    for tab, far in zip(tabs, before, strict=True):
        tab.wait_for_function(
            """far => +document.querySelector('.matrix [role=progressbar]')
                .getAttribute('aria-valuenow') > far""",
            arg=far,
        )
    # The last one is answered as if it were alone; all learn of it without being loaded anew.
    tabs[9].get_by_role("button", name="Stop").first.click()
    for tab in (page, *tabs):
        ended = tab.locator(".ended tr", has=tab.locator(f"a[href*='{_run(page)}']"))
        expect(ended).to_contain_text("Stopped")
        expect(tab.locator("h2", has_text="Queue")).to_have_count(0)
    context.close()


def test_what_has_ended_is_found_and_the_search_stands_in_the_address(page: Any, run_id: str):
    page.goto("/en/runs?find=steady")
    found = page.locator(".ended tbody tr")
    expect(found.filter(has=page.locator(f"a[href*='{run_id}']"))).to_have_count(1)
    search = page.get_by_placeholder("Find a run by its name or model")
    expect(search).to_have_value("steady")
    search.press("End")
    search.press_sequentially(" nowhere", delay=100)
    expect(page.get_by_text("No run matches")).to_be_visible()
    expect(page).to_have_url("/en/runs?find=steady+nowhere")
    search.fill(run_id)
    expect(found).to_have_count(1)
    page.reload()
    expect(found).to_have_count(1)
    found.get_by_role("link", name="Details").click()
    expect(page.locator(".run-in-full h2")).to_have_text("evalui-sample")
    expect(page).to_have_url(f"/en/runs?run={run_id}")
    page.go_back()
    expect(search).to_have_value(run_id)


def test_what_a_script_draws_of_a_run_is_text(page: Any):
    name = "<img src=x onerror=alert(1)> ${document.title = 'run'} {{value}} \\underline{x} `"
    page.goto("/en/")
    start_sample(page, name=name)
    shown = page.locator(".run-in-full")
    expect(shown.locator("h2")).to_have_text(name)
    expect(shown.locator(f"[aria-label={json.dumps(name)}]")).to_have_count(1)
    assert page.locator(".runs-page img").count() == 0
    assert page.title().endswith(f"{name} · Runs · evalui")


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
    run_id = _run(page)
    row = page.locator("tr").filter(has=page.locator(f"a[href*='{run_id}']"))
    stopped = row.filter(has_text="Stopped")
    page.get_by_role("button", name="Stop").first.click()
    expect(stopped).to_contain_text("kept")
    stopped.get_by_role("button", name="Resume").click()
    expect(stopped).to_have_count(0)
    page.get_by_role("button", name="Stop").first.click()
    stopped.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_role("button", name="Delete permanently")).to_have_count(0)


def test_nothing_of_a_visit_stays_in_the_browser(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}")
    expect(page.locator(".results-page h1")).to_be_visible()
    kept = page.evaluate("Object.keys(localStorage).filter(key => key.includes('run-history'))")
    assert kept == []


def _run(page: Any) -> str:
    """The run that the address of a page names."""
    return parse_qs(urlsplit(str(page.url)).query)["run"][0]
