"""What stands around every page: links, history, theme, notes, fields that keep what is in them."""

import re
from typing import Any

import pytest
from browser_servers import TOKEN, admitted, started
from open_browser_examples import Hall, contest
from playwright.sync_api import expect

_COUNT_LOADS = "sessionStorage.loads = 1 + Number(sessionStorage.loads ?? 0)"


def ready(tab: Any) -> None:
    """Wait until the buttons of the page are answered."""
    tab.wait_for_function("document.body.dataset.ready !== undefined")


@pytest.fixture
def counted(page: Any) -> Any:
    """A page that counts how often a document is loaded."""
    page.add_init_script(_COUNT_LOADS)
    return page


def loads(tab: Any) -> int:
    return tab.evaluate("Number(sessionStorage.loads)")


def test_links_change_the_view_without_a_reload_and_history_goes_through_them(
    counted: Any, run_id: str
):
    page = counted
    page.goto(f"/en/?run={run_id}&tab=results")
    expect(page.get_by_role("heading", level=1, name="steady").first).to_be_visible()
    ready(page)  # until then a link is the browser's own
    before = loads(page)
    page.get_by_role("link", name="Bias", exact=True).click()
    page.wait_for_url("**sub=bias**")
    expect(page.get_by_role("heading", level=1, name="picks A").first).to_be_visible()
    page.get_by_role("link", name="Statistics", exact=True).click()
    page.wait_for_url("**sub=statistics**")
    statistics = page.get_by_role("link", name="Statistics", exact=True)
    expect(statistics).to_have_attribute("aria-current", "page")
    page.go_back()
    page.wait_for_url("**sub=bias**")
    expect(page.get_by_role("heading", level=1, name="picks A").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="steady").first).to_be_visible()
    page.go_forward()
    page.wait_for_url("**sub=bias**")
    assert loads(page) == before


def test_who_comes_back_to_a_new_evaluation_finds_its_files(page: Any):
    page.goto("/en/")
    page.set_input_files(
        "#files",
        {
            "name": "capitals.csv",
            "mimeType": "text/csv",
            "buffer": b"id,question,A,B,C,D,answer\n1,Capital of France?,Paris,Rome,Oslo,Bern,A\n",
        },
    )
    expect(page.locator(".ds b").first).to_have_text("capitals")
    for name in ("Compare", "Models"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        page.get_by_role("link", name="Evaluate").click()
        expect(page.locator(".ds b").first).to_have_text("capitals")


def test_a_search_stands_in_the_address_once_and_keeps_the_cursor(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=results&sub=samples")
    ready(page)
    before = page.evaluate("history.length")
    search = page.get_by_label("Find in questions and replies")
    expect(search).to_be_visible()
    search.press_sequentially("plus", delay=150)
    page.wait_for_url("**=plus**")
    # Slowly, so that what was typed first is answered while the rest is typed.
    search.fill("")
    page.wait_for_url(lambda url: "plus" not in url)
    search.press_sequentially("plus plus", delay=300)
    page.wait_for_url("**=plus+plus**")
    expect(search).to_have_value("plus plus")
    search.fill("plus")
    page.wait_for_url(lambda url: url.endswith("=plus"))
    expect(search).to_be_focused()
    expect(search).to_have_value("plus")
    assert page.evaluate("history.length") <= before + 1
    page.reload()
    expect(search).to_have_value("plus")


def test_a_press_before_gradio_is_there_is_answered_when_it_is(
    chromium: Any, tmp_path_factory: pytest.TempPathFactory
):
    with started(tmp_path_factory.mktemp("early"), EVALUI_WORKERS="0") as server:
        server.wait()
        context = admitted(chromium, server.address)
        tab = context.new_page()
        tab.goto("/en/?tab=compare")  # Gradio may still be being imported
        expect(tab.get_by_role("heading", level=1)).to_have_text("Compare")
        tab.get_by_role("link", name="Evaluate").click()  # links need no Gradio
        expect(tab.get_by_role("heading", level=1)).to_have_text("New evaluation")
        tab.get_by_role("button", name="Try the sample").click()
        tab.wait_for_url("**run=**", timeout=60_000)
        context.close()


def test_the_first_language_is_the_browser_s_and_a_choice_is_kept(
    chromium: Any, server: str, run_id: str
):
    context = chromium.new_context(base_url=server, locale="zh-CN")
    tab = context.new_page()
    tab.goto(f"/r/{run_id}?token={TOKEN}")
    expect(tab.locator("html")).to_have_attribute("lang", "zh-CN")
    tab.get_by_role("link", name="偏差").click()
    expect(tab.get_by_role("heading", level=1, name="steady").first).to_be_visible()
    expect(tab.get_by_role("link", name="EN", exact=True)).to_have_attribute(
        "href", re.compile("sub=bias")
    )
    tab.get_by_role("link", name="EN", exact=True).click()
    tab.wait_for_url("**/en/**sub=bias**")
    assert f"run={run_id}" in tab.url
    tab.goto(f"/r/{run_id}")
    expect(tab.locator("html")).to_have_attribute("lang", "en")
    context.close()


def test_the_theme_changes_at_once_and_stays(counted: Any):
    page = counted
    page.goto("/en/?tab=compare")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(246, 246, 243)"
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) == "rgb(18, 20, 22)"
    assert loads(page) == 1
    page.reload()
    assert page.evaluate(ground) == "rgb(18, 20, 22)"
    page.goto("/en/?tab=compare&__theme=light")
    assert page.evaluate(ground) == "rgb(246, 246, 243)"
    assert "__theme" not in page.url


def test_what_takes_longer_shows_that_it_works(page: Any, run_id: str):
    held: list[Any] = []
    is_held = [True]
    page.goto(f"/en/results?run={run_id}&sub=samples")
    ready(page)
    page.wait_for_load_state("networkidle")
    line = page.locator(".busy")
    expect(line).to_be_empty()
    page.route(
        "**/gradio_api/run/**",
        lambda route: held.append(route) if is_held[0] else route.continue_(),
    )
    page.get_by_role("link", name="Bias", exact=True).click()
    expect(line).to_have_text("Working")
    is_held[0] = False
    for route in held:
        route.continue_()
    page.wait_for_url("**sub=bias**")
    expect(line).to_be_empty()


def test_a_section_that_was_unfolded_is_so_on_the_next_visit(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=results")
    line = page.locator("#how-sure > button")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(page.locator("#how-sure table")).to_be_visible()
    page.reload()
    expect(line).to_have_attribute("aria-expanded", "true")
    line.click()
    expect(page.locator("#how-sure table")).to_be_hidden()
    page.reload()
    expect(line).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("address", ["/en/models", "/en/?tab=compare"])
def test_the_note_that_a_run_has_ended_is_closed_for_good(chromium: Any, hall: Hall, address: str):
    contest(hall)
    context = admitted(chromium, hall.address)
    tab = context.new_page()
    tab.goto(address)
    notes = tab.locator(".notice")
    expect(notes.first).to_contain_text("is done.")
    count = notes.count()
    notes.first.get_by_role("button", name="Close").click()
    expect(notes).to_have_count(count - 1)
    tab.reload()
    expect(tab.get_by_role("heading", level=1)).to_be_visible()
    expect(notes).to_have_count(count - 1)
    context.close()
