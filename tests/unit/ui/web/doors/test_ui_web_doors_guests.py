"""Guests at every door: their ballot and what its page needs, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON
from evalui.accounts.guests import admit_guest, make_guest_link
from evalui.accounts.people import add_person
from evalui.accounts.sessions import start_session
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.current_person import current_person
from evalui.ui.web.doors.entrance import guarded
from evalui.ui.web.doors.guests import guest_cookie
from evalui.ui.web.monitoring import Monitoring
from evalui.web.address import access_token, cookie_of

BALLOT = "/en/annotate?run=k3f"
EVENT = "/en/gradio_api/run/annotate_vote"


async def who(request: Request) -> PlainTextResponse:
    del request
    person = current_person()
    return PlainTextResponse(f"<{person.name} of {person.guest_of}>" if person else "<alone>")


@pytest.fixture(params=["token", "password", "proxy"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", auth=request.param, allowed_hosts=["evalui.test"])


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    settings.data_dir.mkdir(mode=0o700)
    opened = Database(settings.database)
    with opened.writing() as connection:
        for name in ("k3f", "m4g"):
            connection.execute(
                "INSERT INTO run (id, owner, name, spec, state, created, queued, revision)"
                " VALUES (?, 'olga', ?, '{}', 'done', 1, 1, 1)",
                (name, name),
            )
    yield opened
    opened.close()


@pytest.fixture
def browser(settings: Settings, database: Database) -> Iterator[TestClient]:
    app = Starlette(routes=[Route("/{path:path}", who, methods=["GET", "POST", "HEAD"])])
    door = guarded(app, settings, Monitoring(settings, database))
    with TestClient(door, base_url="http://evalui.test", follow_redirects=False) as client:
        yield client


def invite(database: Database, browser: TestClient, run: str, name: str = "Mia") -> None:
    link = make_guest_link(database, run, by=LOCAL_PERSON, days=3)
    browser.cookies.set(guest_cookie(link), admit_guest(database, link, name))


def event(browser: TestClient, referer: str) -> str:
    headers = {"referer": f"http://evalui.test{referer}"} if referer else {}
    return browser.post(EVENT, json={}, headers=headers).text


def test_the_page_of_a_ballot_and_what_it_fetches_are_a_guests(
    browser: TestClient, database: Database
):
    invite(database, browser, "k3f")
    old = "/zh/?tab=annotate&run=k3f"  # it leads to the page
    for path in (BALLOT, BALLOT + "&lang=zh", old, "/pictures/k3f/0a", "/pictures/k3f/0a?small"):
        assert browser.get(path).text == "<guest:Mia of k3f>"
    assert event(browser, BALLOT) == "<guest:Mia of k3f>"
    assert browser.get("/en/config").text == "<guest:Mia of k3f>"
    assert browser.get("/static/js/wire.js").text == "< of >"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/en/",
        "/en/?tab=runs",
        "/en/runs",
        "/progress/k3f",
        "/en/?run=k3f",
        "/en/?run=k3f&tab=results",
        "/en/?run=m4g&tab=annotate",
        "/en/?run=k3f&tab=annotate&sub=voters",
        "/en/annotate",
        "/en/annotate?run=m4g",
        "/en/annotate?run=k3f&sub=voters",
        "/en/annotate?run=k3f&panel=name",
        "/en/annotate?run=k3f&run=m4g",
        "/en/models?run=k3f",
        "/r/k3f",
        "/export/k3f.json",
        "/pictures/m4g/0a",
        "/pictures/upload/k3f/0a",
        "/votes/k3f.jsonl",
        "/upload",
        "/api/v1/runs",
        "/account/tokens",
        "/en",
        "/healthz/x",
    ],
)
def test_no_other_address_is_answered_to_a_guest(
    browser: TestClient, database: Database, path: str
):
    invite(database, browser, "k3f")
    for method in ("GET", "POST", "HEAD"):
        answer = browser.request(method, path)
        assert answer.status_code in (303, 401, 404, 405)
        assert "guest:" not in answer.text
        assert "alone" not in answer.text


@pytest.mark.parametrize(
    "referer", ["", "/", "/en/annotate?run=m4g", "/en/?run=k3f&tab=runs", "/en/models?run=k3f"]
)
def test_events_of_other_pages_are_no_guests(browser: TestClient, database: Database, referer: str):
    invite(database, browser, "k3f")
    assert "guest:" not in event(browser, referer)


def test_who_came_by_two_links_is_on_each_page_the_guest_of_its_run(
    browser: TestClient, database: Database
):
    invite(database, browser, "k3f")
    invite(database, browser, "m4g", "Mia L")
    assert browser.get(BALLOT).text == "<guest:Mia of k3f>"
    assert event(browser, "/en/annotate?run=m4g") == "<guest:Mia L of m4g>"


def test_without_a_cookie_of_an_open_link_nobody_is_a_guest(
    browser: TestClient, database: Database
):
    browser.cookies.set("evalui-guest-0123456789ab", "no secret")
    assert browser.get(BALLOT).status_code in (303, 401)
    invite(database, browser, "k3f")
    with database.writing() as connection:
        connection.execute("UPDATE guest_link SET revoked = 1")
    answer = browser.get(BALLOT)
    assert answer.status_code in (303, 401)
    assert "guest:" not in answer.text


def test_the_page_behind_a_link_is_open_to_everybody(browser: TestClient):
    assert browser.get("/vote/anything").text == "< of >"


def test_who_is_known_otherwise_is_no_guest(
    browser: TestClient, database: Database, settings: Settings
):
    if settings.auth == "proxy":
        pytest.skip("a proxy names people in headers, see its own tests")
    invite(database, browser, "k3f")
    cookie, value = cookie_of(access_token(settings.data_dir))
    expected = "<alone>"
    if settings.auth == "password":
        add_person(database, "ann", "annotator", by=LOCAL_PERSON)
        value, expected = start_session(database, "ann"), "<ann of >"
    browser.cookies.set(cookie, value)
    assert browser.get(BALLOT).text == expected


def test_over_https_only_the_cookie_of_this_host_counts(browser: TestClient, database: Database):
    browser.base_url = browser.base_url.copy_with(scheme="https")
    invite(database, browser, "k3f")
    assert "guest:" not in browser.get(BALLOT).text
    ((name, secret),) = browser.cookies.items()
    browser.cookies.set(f"__Host-{name}", secret)
    assert browser.get(BALLOT).text == "<guest:Mia of k3f>"
