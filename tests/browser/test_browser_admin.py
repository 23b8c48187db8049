"""An administrator invites a person, who signs up and is given another role and limits."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from axe_examples import violations
from browser_servers import Server, started
from open_browser_examples import overflow
from playwright.sync_api import expect

from evalui.access import LOCAL_PERSON
from evalui.accounts.people import add_person
from evalui.messages import LANGUAGES
from evalui.store.connection import Database

PASSWORD = "a password of some length"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"EVALUI_AUTH": "password", "EVALUI_WORKERS": "0"}
    with started(tmp_path_factory.mktemp("box"), **settings) as server:
        server.wait()
        database = Database(server.data / "evalui.sqlite")
        for name, role in (("root", "admin"), ("ann", "annotator")):
            add_person(database, name, role, by=LOCAL_PERSON, password=PASSWORD)
        database.close()
        yield server


@pytest.fixture
def visit(chromium: Any, box: Server) -> Iterator[Any]:
    """A browser of its own, of that width; signed in as a person, unless that is ""."""
    opened: list[Any] = []
    errors: list[str] = []

    def open_(name: str, width: int = 1280) -> Any:
        context = chromium.new_context(
            base_url=box.address,
            viewport={"width": width, "height": 900},
            permissions=["clipboard-read", "clipboard-write"],
        )
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        if name:
            page.goto("/en/")
            page.get_by_label("Name").fill(name)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_selector("[data-ready]", timeout=60_000)  # Gradio may still be coming
        return page

    yield open_
    for context in opened:
        context.close()
    assert errors == []


def row(page: Any, name: str) -> Any:
    return page.locator(".people tr").filter(has=page.get_by_text(name, exact=True))


def choose(page: Any, label: str, choice: str) -> None:
    """Choose of a list of Gradio."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=choice, exact=True).click()


def test_an_invited_person_signs_up_and_is_given_a_role_and_limits(visit: Any):
    admin = visit("root")
    admin.get_by_role("banner").get_by_role("link", name="Admin").click()
    expect(admin.get_by_role("heading", level=1)).to_have_text("0 jobs running, 0 waiting.")
    admin.get_by_role("link", name="Invite a person").click()
    admin.get_by_label("Name", exact=True).fill("Nina")
    admin.get_by_role("button", name="Invite", exact=True).click()
    expect(admin.get_by_role("status").filter(has_text="nina")).to_contain_text("works once")
    admin.get_by_role("button", name="Copy link").click()
    link = admin.evaluate("navigator.clipboard.readText()")
    expect(row(admin, "nina")).to_contain_text("invited")

    nina = visit("")
    nina.goto(link)
    nina.get_by_label("Password").fill(PASSWORD)
    nina.get_by_role("button", name="Set password").click()
    nina.wait_for_selector("#tab-evaluate-link")
    assert nina.locator("#tab-admin-link").count() == 0
    nina.goto("/en/?tab=admin")
    nina.wait_for_url("**/en/admin")
    expect(nina.locator(".page [role=alert]")).to_have_text("Only administrators may do this.")
    expect(nina.locator("main")).not_to_contain_text("root")

    admin.reload()
    expect(admin.locator(".admin")).not_to_contain_text("/invitation/")
    expect(row(admin, "nina")).to_contain_text("now")
    row(admin, "nina").get_by_role("link", name="Edit").click()
    expect(admin).to_have_url(re.compile(r"/en/admin[?]person=nina$"))
    expect(admin.get_by_text("Role and limits of nina")).to_be_visible()
    choose(admin, "Role", "Operator")
    admin.get_by_role("button", name="Save").click()
    expect(admin.get_by_text("The role of nina is changed.")).to_be_visible()
    expect(row(admin, "nina")).to_contain_text("Operator")
    row(admin, "nina").get_by_role("link", name="Edit").click()
    admin.get_by_label("Runs at a time").fill("3")
    admin.get_by_label("Dollars a day, of endpoints").fill("20")
    admin.get_by_role("button", name="Save").click()
    expect(row(admin, "nina")).to_contain_text("0 of 3")
    nina.goto("/en/?tab=models")
    expect(nina.get_by_role("link", name="Add a model")).to_be_visible()

    admin.get_by_role("link", name="Server").click()
    log = admin.locator(".audit")
    for words in ("changed limits", "changed a role", "chose a password", "made an invitation"):
        expect(log).to_contain_text(words)
    choose(admin, "Person", "nina")
    expect(log).not_to_contain_text("changed limits")
    expect(log).to_contain_text("chose a password")
    expect(admin).to_have_url(re.compile(r"/en/admin[?]sub=server&who=nina$"))
    admin.reload()
    expect(log).to_contain_text("chose a password")
    expect(log).not_to_contain_text("changed limits")
    admin.go_back()
    expect(log).to_contain_text("changed limits")


def test_a_link_is_copied_where_a_page_without_tls_has_no_clipboard(visit: Any):
    admin = visit("root")
    admin.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    admin.goto("/en/?tab=admin&add=person")
    admin.get_by_label("Name", exact=True).fill("otto")
    admin.get_by_role("button", name="Invite", exact=True).click()
    admin.get_by_role("button", name="Copy link").click()
    admin.get_by_role("link", name="Invite a person").click()
    expect(admin.locator(".admin")).not_to_contain_text("/invitation/")
    admin.get_by_label("Name", exact=True).focus()
    admin.keyboard.press("Control+V")
    pasted = re.compile("^http://.*/invitation/")
    expect(admin.get_by_label("Name", exact=True)).to_have_value(pasted)


def test_the_queue_is_paused_and_goes_on(visit: Any):
    admin = visit("root")
    admin.goto("/en/admin?sub=queue")
    admin.get_by_role("button", name="Pause").click()
    expect(admin.locator(".admin")).to_contain_text("The queue is paused")
    admin.get_by_role("button", name="Go on").click()
    expect(admin.locator(".admin")).not_to_contain_text("The queue is paused")


def test_what_is_typed_stays_while_the_page_changes_by_itself(visit: Any, box: Server):
    admin = visit("root")
    admin.goto("/en/admin?person=ann")
    admin.get_by_label("Runs at a time").fill("7")
    admin.get_by_text("What each role may do").click()
    admin.get_by_label("Runs at a time").focus()
    database = Database(box.data / "evalui.sqlite")
    add_person(database, "later", "reader", by=LOCAL_PERSON)
    database.close()
    expect(row(admin, "later")).to_be_visible(timeout=15_000)
    expect(admin.get_by_label("Runs at a time")).to_have_value("7")
    expect(admin.get_by_label("Runs at a time")).to_be_focused()
    expect(
        admin.get_by_text(
            "Look at runs that their owners show everybody, at models, and at pages behind links."
        )
    ).to_be_visible()


def test_who_is_signed_out_is_led_to_sign_in(visit: Any):
    page = visit("")
    page.goto("/en/admin?sub=server")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_nothing_scrolls_sideways_on_a_phone(visit: Any):
    admin = visit("root", 390)
    wider: dict[str, int] = {}
    for sub, language in product(("users", "queue", "models", "storage", "server"), LANGUAGES):
        admin.goto(f"/{language}/admin?sub={sub}")
        expect(admin.locator(".page h1")).to_be_visible()
        wider[f"{language} {sub}"] = overflow(admin)
    assert set(wider.values()) == {0}, wider


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_fault(visit: Any, theme: str):
    admin = visit("root")
    views = ("sub=users", "add=person", "person=ann", "sub=queue", "sub=models")
    admin.goto("/en/admin")
    admin.evaluate('localStorage.setItem(\'evalui.folds\', \'[" roles"," links"," settings"]\')')
    faults = {
        view: violations(admin, f"/en/admin?{view}", theme)
        for view in (*views, "sub=storage", "sub=server")
    }
    assert {view: each for view, each in faults.items() if each} == {}
