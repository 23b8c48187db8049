"""Somebody signs in, works, and signs out; without a script too."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser_servers import Server, started
from playwright.sync_api import expect

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.invitations import invite
from evalui.accounts.people import add_person
from evalui.accounts.sessions import end_sessions
from evalui.store.connection import Database

RIGHT = "correct horse"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("box")
    with started(folder, EVALUI_AUTH="password", EVALUI_WORKERS="0") as server:
        server.wait()
        yield server


@pytest.fixture(scope="module")
def store(box: Server) -> Iterator[Database]:
    database = Database(box.data / "evalui.sqlite")
    add_person(database, "annotator-2", "annotator", by=ME, password=RIGHT)
    yield database
    database.close()


@pytest.fixture
def visitor(chromium: Any, box: Server, store: Database, request: pytest.FixtureRequest):
    """A tab of a browser that nobody has signed in from."""
    assert store
    context = chromium.new_context(base_url=box.address, **getattr(request, "param", {}))
    tab = context.new_page()
    tab.set_default_timeout(60_000)  # the server may still be importing Gradio
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert errors == []


def enter(tab: Any, password: str = RIGHT) -> None:
    tab.get_by_label("Name").fill("annotator-2")
    tab.get_by_label("Password").fill(password)
    tab.get_by_role("button", name="Sign in").click()


def test_the_page_that_was_wanted_opens_and_the_way_out_leads_back(visitor: Any):
    visitor.goto("/en/?tab=models")
    expect(visitor.get_by_role("heading", name="Sign in")).to_be_visible()
    enter(visitor, "wrong")
    expect(visitor.get_by_role("alert")).to_have_text("Name and password do not match.")
    enter(visitor)
    expect(visitor).to_have_url("/en/models")
    expect(visitor.locator(".person")).to_contain_text("annotator-2")
    visitor.locator("body[data-ready]").wait_for()  # else what Gradio still loads is broken off
    visitor.get_by_role("button", name="Sign out").click()
    expect(visitor).to_have_url("/account/sign-in")
    visitor.go_back()  # what a browser kept of the page is not shown
    expect(visitor.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("visitor", [{"java_script_enabled": False}], indirect=True)
def test_it_works_without_a_script(visitor: Any):
    visitor.goto("/me/")
    enter(visitor)
    expect(visitor).to_have_url("/me/")
    visitor.get_by_role("button", name="Sign out everywhere").click()
    expect(visitor.get_by_role("heading", name="Sign in")).to_be_visible()


def test_who_is_signed_out_meanwhile_signs_in_at_the_next_click(visitor: Any, store: Database):
    visitor.goto("/en/?tab=evaluate")
    enter(visitor)
    visitor.locator("body[data-ready]").wait_for(timeout=60_000)  # Gradio may still be coming
    end_sessions(store, "annotator-2", by=ME)
    visitor.get_by_role("button", name="Try the sample").click()
    expect(visitor.get_by_role("heading", name="Sign in")).to_be_visible()
    enter(visitor)
    expect(visitor.locator(".evaluate")).to_be_visible()


PHONE = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark", "locale": "zh-CN"}


@pytest.mark.parametrize("visitor", [PHONE], indirect=True)
def test_an_invitation_on_a_phone(visitor: Any, store: Database):
    add_person(store, "bo", "reader", by=ME)
    visitor.goto(f"/invitation/{invite(store, 'bo', by=ME)}")
    expect(visitor.get_by_role("heading", name="设置密码")).to_be_visible()
    assert visitor.evaluate("document.documentElement.scrollWidth") == 390
    visitor.get_by_label("密码").fill("short")
    visitor.get_by_role("button").last.click()
    expect(visitor.get_by_role("alert")).to_have_text("密码至少 10 个字符。")
    visitor.get_by_label("密码").fill("我的密码一共有十个字")
    visitor.get_by_role("button").last.click()
    expect(visitor.locator(".person")).to_contain_text("bo")
    assert visitor.evaluate("document.documentElement.scrollWidth") == 390
