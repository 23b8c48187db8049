"""The printed address opens the application, and its token is in nothing that is passed on."""

from typing import Any

import pytest
from browser_servers import TOKEN
from playwright.sync_api import expect


@pytest.fixture
def stranger(chromium: Any, server: str):
    """A browser that has not been at the printed address; it may use the clipboard."""
    context = chromium.new_context(
        base_url=server, permissions=["clipboard-read", "clipboard-write"]
    )
    yield context
    context.close()


def test_the_printed_address_opens_a_link_and_leaves_no_token(stranger: Any, run_id: str):
    tab = stranger.new_page()
    asked: list[Any] = []
    tab.on("request", lambda request: asked.append(request))
    tab.goto(f"/r/{run_id}?token={TOKEN}")
    expect(tab.locator(".results-page h1")).to_be_visible()
    assert TOKEN not in tab.url
    assert TOKEN not in tab.evaluate("document.referrer + document.cookie + document.baseURI")
    tab.locator(".results-page").get_by_role("link", name="Share").click()
    tab.locator(".share-panel .acts").get_by_role("button", name="Copy link").click()
    expect(tab.get_by_text("Copied")).to_be_visible()
    tab.wait_for_function("async () => await navigator.clipboard.readText()")
    assert tab.evaluate("navigator.clipboard.readText()").endswith(f"/r/{run_id}")
    assert [request.url for request in asked[1:] if TOKEN in request.url] == []
    assert [each for each in asked if TOKEN in each.headers.get("referer", "")] == []
    tab.go_back()  # the address before, not the one with the token
    assert TOKEN not in tab.url


def test_without_the_printed_address_a_page_says_where_to_find_it(stranger: Any, run_id: str):
    tab = stranger.new_page()
    answer = tab.goto(f"/r/{run_id}")
    assert answer.status == 401
    expect(tab.get_by_role("heading").first).to_be_visible()
    expect(tab.locator("body")).to_contain_text("Open the address that evalui serve printed")
    expect(tab.locator("code").last).to_have_text("evalui serve")
    expect(tab.locator("body")).to_contain_text("访问令牌")


def test_a_link_from_another_site_opens_for_whoever_has_the_cookie(
    page: Any, server: str, run_id: str
):
    """The chat in which a colleague sends a permalink is another site than the server."""
    page.goto(f"data:text/html,<a href='{server}/r/{run_id}'>look at this</a>")
    page.get_by_text("look at this").click()
    expect(page.locator(".results-page h1")).to_be_visible()
