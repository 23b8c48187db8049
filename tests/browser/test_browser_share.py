"""A link is made on a page, and opened in a private window, without scripts and without a door."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_examples import AXE, FOUND
from browser_examples import start_sample
from playwright.sync_api import expect

WIDTHS = {"screen": 1280, "phone": 390}


@pytest.fixture
def private(chromium: Any, server: str) -> Iterator[Any]:
    """A window that has never been here, and runs no scripts."""
    context = chromium.new_context(base_url=server, java_script_enabled=False)
    yield context
    context.close()


def made_link(tab: Any) -> str:
    """The address of a new link, from a page that has a Share button."""
    tab.get_by_role("link", name="Share", exact=True).click()
    tab.get_by_role("button", name="Make a link").click()
    href = tab.locator(".share-panel td a").first.get_attribute("href")
    assert href.startswith("../s/")
    return href.removeprefix("..")


def test_a_link_opens_in_a_private_window_until_it_is_withdrawn(
    page: Any, private: Any, run_id: str
):
    page.goto(f"/r/{run_id}")
    verdict = page.locator(".results-page h1").inner_text()
    figures = page.locator(".results-page table.lead:visible .big").all_inner_texts()
    link = made_link(page)
    shown = private.new_page()
    requested: list[str] = []
    shown.on("request", lambda request: requested.append(request.url))
    answer = shown.goto(link)
    assert answer.status == 200
    assert answer.headers["x-robots-tag"].startswith("noindex")
    assert shown.locator("h1").inner_text() == verdict
    assert shown.locator("table.lead:visible .big").all_inner_texts() == figures
    expect(shown.get_by_text("Read-only", exact=True)).to_be_visible()
    expect(shown.get_by_role("navigation")).to_have_count(0)
    assert shown.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        "?lang=zh",
        f"{link.removeprefix('/s/')}.csv",
    ]
    assert len(requested) == 1
    shown.get_by_text("How it was measured").click()
    expect(shown.get_by_text("evalui:").first).to_be_visible()
    with shown.expect_download() as download:
        shown.get_by_text("Table as CSV").click()
    assert "steady" in download.value.path().read_text(encoding="utf-8-sig")
    shown.get_by_role("link", name="中文").click()
    expect(shown.get_by_text("只读", exact=True)).to_be_visible()
    page.get_by_role("button", name="Withdraw").first.click()
    expect(page.locator(".share-panel")).to_contain_text("ended")
    ended = shown.goto(link)
    assert ended.status == 410
    expect(shown.locator("body")).to_contain_text("This link ended on")
    expect(shown.locator("body")).to_contain_text("失效")


def test_a_link_survives_the_deletion_of_its_run(page: Any, private: Any):
    start_sample(page, "always-A")
    run_id = re.search(r"run=([^&]+)", page.url)[1]
    row = page.locator(f'[data-key="{run_id}"]')
    row.get_by_role("button", name="Delete", exact=True).wait_for(timeout=60_000)
    page.goto(f"/r/{run_id}")
    link = made_link(page)
    shown = private.new_page()
    shown.goto(link)
    before = shown.locator("main").inner_text()
    page.goto(f"/en/?run={run_id}&tab=runs")
    row.get_by_role("button", name="Delete", exact=True).click()
    row.get_by_role("button", name="Delete permanently").click()
    expect(row).to_have_count(0)
    assert page.request.get(f"/export/{run_id}.json").status == 404
    assert shown.goto(link).status == 200
    assert shown.locator("main").inner_text() == before


def test_a_comparison_is_shared_where_it_is_seen(page: Any, private: Any, run_id: str):
    page.goto(f"/en/compare?run={run_id}")
    verdict = page.locator("h1:visible", has_text="steady").inner_text()
    shown = private.new_page()
    shown.goto(made_link(page))
    assert shown.locator("h1").inner_text() == verdict
    expect(shown.get_by_role("navigation")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_a_shared_page_never_scrolls_sideways(chromium: Any, page: Any, run_id: str, width: int):
    page.goto(f"/r/{run_id}")
    link = made_link(page)
    context = chromium.new_context(
        base_url=page.url.partition("/en/")[0], viewport={"width": width, "height": 800}
    )
    shown = context.new_page()
    for language in ("en", "zh"):
        shown.goto(f"{link}?lang={language}")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate("document.scripts.length") == 0
    for theme in ("light", "dark"):
        shown.emulate_media(color_scheme=theme)
        shown.evaluate(AXE.read_text(encoding="utf-8"))
        assert shown.evaluate(FOUND) == []
    context.close()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_is_the_system_s_or_the_other_one(
    chromium: Any, page: Any, run_id: str, system: str
):
    page.goto(f"/r/{run_id}")
    link = made_link(page)
    context = chromium.new_context(
        base_url=page.url.partition("/en/")[0], java_script_enabled=False, color_scheme=system
    )
    shown = context.new_page()
    shown.goto(link)
    colours = {"light": "rgb(246, 246, 243)", "dark": "rgb(18, 20, 22)"}
    other = "dark" if system == "light" else "light"
    expect(shown.locator("body")).to_have_css("background-color", colours[system])
    shown.locator("label.theme").click()
    expect(shown.locator("body")).to_have_css("background-color", colours[other])
    context.close()
