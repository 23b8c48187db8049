"""With passwords nothing is answered but for whoever has signed in, or sends a token."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from door_examples import RIGHT, client_of, people, settings_of
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts.invitations import invite
from evalui.accounts.people import set_disabled, set_password
from evalui.accounts.sign_in import PER_NAME
from evalui.accounts.tokens import add_token, read_tokens, revoke_token
from evalui.errors import StoreError
from evalui.store.connection import Database
from evalui.ui.web.doors import password, sign_in

SIGN_IN = "/account/sign-in"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = people(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def browser(database: Database) -> TestClient:
    return another(database)


def another(database: Database, **options: str) -> TestClient:
    return client_of(settings_of(database.path.parent, auth="password"), **options)


def full(*_: object, **__: object) -> NoReturn:
    raise StoreError("disk-full", n=0)


def enter(
    browser: TestClient, password: str = RIGHT, address: str = SIGN_IN, **fields: str
) -> httpx.Response:
    return browser.post(address, data={"name": "ann", "password": password, **fields})


def cookies_of(answer: httpx.Response) -> dict[str, str]:
    """Each cookie that is set, with everything that is said of it."""
    lines = answer.headers.get_list("set-cookie")
    return {line.partition("=")[0]: line.partition("=")[2] for line in lines}


@pytest.mark.parametrize(
    ("path", "back"),
    [
        ("/", ""),
        ("/en/", "en/"),
        ("/zh/?run=a%2Bb&tab=results", "zh/?run=a%2Bb&tab=results"),
        ("/r/abc", "r/abc"),
        ("/r/abc/q/x/%E5%AE%89?model=m", "r/abc/q/x/%E5%AE%89?model=m"),
        ("/export/abc.html", "export/abc.html"),
    ],
)
def test_who_opens_a_page_signs_in_and_gets_there(browser: TestClient, path: str, back: str):
    refused = browser.get(path, headers={"accept": "text/html,*/*"})
    assert refused.status_code == 303
    assert refused.headers["cache-control"] == "no-store"
    target = urlsplit(str(refused.next_request.url))  # pyright: ignore[reportOptionalMemberAccess]
    assert target.path == SIGN_IN
    assert parse_qs(target.query).get("to", [""]) == [back]
    answer = enter(browser, address=f"{target.path}?{target.query}")
    assert answer.status_code == 303
    assert answer.next_request
    assert str(answer.next_request.url) == f"http://box.test{path}"
    assert browser.get(path).json()["who"] == ["ann", "annotator", "write"]


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", "/upload", {"accept": "text/html"}),
        ("POST", "/en/gradio_api/run/act_runs", {}),
        ("GET", "/en/gradio_api/info", {}),
        ("GET", "/export/abc.csv", {}),
        ("GET", "/votes/abc.jsonl", {}),
        ("GET", "/api/v1/runs", {"accept": "application/json"}),
        ("GET", "/en/", {"sec-fetch-mode": "same-origin", "accept": "text/html"}),
        ("DELETE", "/none", {}),
        ("GET", "/healthz/x", {}),
        ("GET", "/staticx", {}),
        ("GET", "/metrics", {}),
    ],
)
def test_everything_else_is_refused_in_json(
    browser: TestClient, method: str, path: str, headers: dict[str, str]
):
    answer = browser.request(method, path, headers=headers)
    assert answer.status_code == 401
    assert "Sign in" in answer.json()["error"]
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/static/css/x.css", "/s/abc", "/vote/x"])
def test_what_is_public_is_answered_as_nobody(browser: TestClient, path: str):
    assert browser.get(path).json()["who"] == ["", "reader", "read"]


def test_on_a_public_page_somebody_who_is_known_is(browser: TestClient):
    enter(browser)
    assert browser.get("/vote/x").json()["who"][0] == "ann"
    assert browser.get("/static/x").json()["who"][0] == ""


def test_the_sign_in_page_reads_no_query_that_is_no_text(browser: TestClient):
    async def with_bytes(scope: Scope, receive: Receive, send: Send) -> None:
        await browser.app(scope | {"query_string": b"q=\xed\xa0\x80"}, receive, send)

    page = TestClient(with_bytes, base_url=browser.base_url).get(SIGN_IN)
    assert page.status_code == 200
    assert '<span class="mono">box.test</span>' in page.text


def test_the_cookies_are_for_this_server_alone(browser: TestClient):
    cookies = cookies_of(enter(browser, stay="on"))
    assert len(cookies) == 2
    for cookie in cookies.values():
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/" in cookie
        assert "Max-Age=2592000" in cookie
        assert "Secure" not in cookie
        assert RIGHT not in cookie
    session = next(name for name in cookies if not name.endswith("-known"))
    assert "Max-Age" not in cookies_of(enter(browser))[session]


def test_over_https_they_are_sent_over_https_alone(database: Database):
    for cookie in cookies_of(enter(another(database, base="https://box.test"))).values():
        assert "Secure" in cookie


def test_below_another_path_they_stay_there(database: Database):
    browser = another(database, root_path="/tools/evalui")
    refused = browser.get("/tools/evalui/en/?run=x", headers={"accept": "text/html"})
    assert refused.headers["location"] == "../account/sign-in?to=en%2F%3Frun%3Dx"
    answer = enter(browser, address="/tools/evalui/account/sign-in?to=en%2F%3Frun%3Dx")
    assert str(answer.next_request.url) == "http://box.test/tools/evalui/en/?run=x"  # pyright: ignore[reportOptionalMemberAccess]
    assert all("Path=/tools/evalui" in cookie for cookie in cookies_of(answer).values())
    assert browser.get("/tools/evalui/en/").json()["who"][0] == "ann"


def test_two_servers_of_one_host_keep_each_others_cookies(database: Database, tmp_path: Path):
    (tmp_path / "other").mkdir()
    people(tmp_path / "other").close()
    other = client_of(settings_of(tmp_path / "other", auth="password"))
    assert not set(cookies_of(enter(another(database)))) & set(cookies_of(enter(other)))


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.test/",
        "//evil.test/",
        "/%2Fevil.test",
        "\\\\evil.test",
        "/\\evil.test",
        "%5C%5Cevil.test",
        "..//evil.test",
        "en/../../../evil.test",
        "en/%2e%2e/%2e%2e/evil",
        "\t//evil.test",
        "javascript:alert(1)",
        "en/\r\nSet-Cookie: x=y",
        "?x#//evil.test",
        "@evil.test",
        ":pass@evil.test",
    ],
)
def test_the_way_back_never_leads_to_another_site(database: Database, to: str):
    browser = another(database, root_path="/tools")
    answer = browser.post(
        f"/tools{SIGN_IN}", params={"to": to}, data={"name": "ann", "password": RIGHT}
    )
    assert answer.status_code == 303
    assert re.match(r"\.\./(?!\.|/|\\)", answer.headers["location"] + "x")
    reached = answer.next_request.url  # pyright: ignore[reportOptionalMemberAccess]
    assert reached.host == "box.test"
    assert reached.path.startswith("/tools/")
    assert "x" not in answer.cookies


def test_unknown_and_wrong_look_the_same_and_the_name_stays(browser: TestClient):
    wrong = enter(browser, "wrong")
    unknown = browser.post(SIGN_IN, data={"name": "n<b>", "password": "wrong"})
    for answer in (wrong, unknown):
        assert answer.status_code == 401
        assert "Name and password do not match." in answer.text
        assert "set-cookie" not in answer.headers
    assert 'value="ann"' in wrong.text
    assert "n&lt;b&gt;" in unknown.text
    assert "wrong" not in wrong.text.replace('"wrong"', "")


def test_too_many_tries_are_stated_and_end_in_time(browser: TestClient, database: Database):
    for _ in range(PER_NAME):
        assert enter(browser, "wrong").status_code == 401
    answer = enter(browser)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "300"
    assert "Too many tries. Wait 5 minutes" in answer.text
    assert enter(another(database)).status_code == 429


def test_a_browser_that_was_let_in_before_is_not_kept_out_by_others(
    browser: TestClient, database: Database
):
    enter(browser)
    browser.post("/account/sign-out")
    attacker = another(database)
    for _ in range(PER_NAME + 1):
        enter(attacker, "wrong")
    assert enter(attacker).status_code == 429
    assert enter(browser).status_code == 303
    # The mark is of this person: it does not help with the name of another one.
    for _ in range(PER_NAME):
        browser.post(SIGN_IN, data={"name": "root", "password": "wrong"})
    assert browser.post(SIGN_IN, data={"name": "root", "password": RIGHT}).status_code == 429


def test_signing_out_ends_the_session_in_the_store(browser: TestClient, database: Database):
    enter(browser)
    kept = {cookie.name: cookie.value or "" for cookie in browser.cookies.jar}
    answer = browser.post("/account/sign-out")
    assert answer.status_code == 303
    assert str(answer.next_request.url) == f"http://box.test{SIGN_IN}"  # pyright: ignore[reportOptionalMemberAccess]
    assert browser.post("/upload").status_code == 401
    copied = another(database)
    copied.cookies.update(kept)
    assert copied.post("/upload").status_code == 401
    assert browser.get("/account/sign-out").status_code == 405  # no link or picture signs out


def test_another_site_signs_nobody_in_or_out(browser: TestClient):
    enter(browser)
    for origin in ("https://evil.test", "null"):
        headers = {"origin": origin}
        assert browser.post("/account/sign-out", headers=headers).status_code == 403
        answer = browser.post(SIGN_IN, data={"name": "root", "password": RIGHT}, headers=headers)
        assert answer.status_code == 403
    assert browser.get("/en/").json()["who"][0] == "ann"


def test_who_is_disabled_is_out_at_once(browser: TestClient, database: Database):
    enter(browser)
    secret = add_token(database, "ann", by=ME, scope="write")
    set_disabled(database, "ann", disabled=True, by=ME)
    assert browser.post("/upload").status_code == 401
    token = {"authorization": f"Bearer {secret}"}
    assert another(database).post("/upload", headers=token).status_code == 401
    assert enter(browser).status_code == 401


def test_a_token_acts_for_its_person_in_its_scope(browser: TestClient, database: Database):
    for scope in ("read", "write"):
        secret = add_token(database, "ann", by=ME, scope=scope)
        for kind in ("Bearer", "bearer"):
            answer = browser.post("/upload", headers={"authorization": f"{kind} {secret}"})
            assert answer.json()["who"] == ["ann", "annotator", scope]
        assert browser.get(f"/en/?token={secret}").status_code == 303  # in a header alone
        assert (
            browser.post("/upload", headers={"authorization": f"Basic {secret}"}).status_code == 401
        )
        revoke_token(database, read_tokens(database)[-1].id, by=ME)
        answer = browser.post("/upload", headers={"authorization": f"Bearer {secret}"})
        assert answer.status_code == 401


def test_the_token_of_the_start_opens_nothing(browser: TestClient, tmp_path: Path):
    token = (tmp_path / "access-token").read_text().strip()
    assert browser.get(f"/en/?token={token}").status_code == 303
    answer = browser.post("/upload", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 401


@pytest.mark.parametrize("name", ["", "x" * 5000, "\0", "ann\0", "a" * 64])
def test_a_strange_name_is_a_wrong_one(browser: TestClient, name: str):
    answer = browser.post(SIGN_IN, data={"name": name, "password": RIGHT})
    assert answer.status_code == (413 if len(name) > 4096 else 401)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe=%ff&name=%ED%A0%80&password=%00", b"&&=&"])
def test_a_strange_form_is_a_wrong_one(browser: TestClient, content: bytes):
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post(SIGN_IN, content=content, headers=kind).status_code == 401
    assert browser.post(SIGN_IN, content=iter([content]), headers=kind).status_code == 401


def test_a_form_is_refused_by_its_size_whatever_length_it_states(
    browser: TestClient, database: Database
):
    for place in (SIGN_IN, f"/invitation/{invite(database, 'ann', by=ME)}"):
        for headers in ({}, {"content-length": "5"}):
            answer = browser.post(place, content=iter([b"x" * 4000, b"x" * 97]), headers=headers)
            assert answer.status_code == 413


def test_an_invited_person_chooses_a_password_once(browser: TestClient, database: Database):
    address = f"/invitation/{invite(database, 'ann', by=ME)}"
    shown = browser.get(address)
    assert shown.status_code == 200
    assert "<b>ann</b>" in shown.text
    assert "set-cookie" not in shown.headers
    short = browser.post(address, data={"password": "short"})
    assert short.status_code == 400
    assert "10 characters" in short.text
    answer = browser.post(address, data={"password": "my own words", "name": "root"})
    assert str(answer.next_request.url) == "http://box.test/"  # pyright: ignore[reportOptionalMemberAccess]
    assert browser.get("/en/").json()["who"][0] == "ann"
    for ended in (browser.get(address), browser.post(address, data={"password": "another one"})):
        assert ended.status_code == 404
        assert "was used, has ended" in ended.text
    assert enter(another(database)).status_code == 401
    assert enter(another(database), "my own words").status_code == 303


@pytest.mark.parametrize("path", ["/invitation/x", "/invitation/", "/account/", "/account/x"])
def test_other_addresses_beside_these_pages_lead_nowhere(browser: TestClient, path: str):
    assert browser.get(path).status_code == 404


def test_the_pages_speak_the_language_that_is_chosen(browser: TestClient):
    assert "<h1>Sign in</h1>" in browser.get(SIGN_IN).text
    chosen = browser.get(f"{SIGN_IN}?lang=zh&to=r/x")
    assert "<h1>登录</h1>" in chosen.text
    assert 'href="?lang=en&amp;to=r%2Fx"' in chosen.text
    assert "用户名与密码不符。" in enter(browser, "wrong").text
    preferred = {"accept-language": "zh-CN"}
    browser.cookies.clear()
    assert 'lang="zh-CN"' in browser.get(SIGN_IN, headers=preferred).text


def test_a_websocket_is_closed(browser: TestClient):
    with pytest.raises(WebSocketDisconnect) as caught, browser.websocket_connect("/en/"):
        pass
    assert caught.value.code == 1008


def test_a_store_that_cannot_be_used_is_stated_without_its_folder(
    browser: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object, **__: object) -> Person:
        raise StoreError("data-folder", reason=str(tmp_path))

    enter(browser)
    monkeypatch.setattr(password, "person_of_session", broken)
    monkeypatch.setattr(sign_in, "sign_in", broken)
    for answer in (browser.get("/en/"), enter(browser)):
        assert answer.status_code == 503
        assert "cannot be read" in answer.json()["error"]
        assert str(tmp_path) not in answer.text


def test_a_full_disk_keeps_nobody_out_who_is_in(
    browser: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
):
    enter(browser)
    with database.writing() as connection:
        connection.execute("UPDATE session SET seen = seen - 3600")
    monkeypatch.setattr(Database, "writing", full)
    assert browser.get("/en/").json()["who"][0] == "ann"
    assert enter(browser).status_code == 503


def test_a_server_that_nobody_can_sign_in_to_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.handler.filters.clear()  # a server of another test leaves out what repeats itself
    client_of(settings_of(tmp_path, auth="password"))
    assert "evalui users add" in caplog.text
    caplog.clear()
    people(tmp_path).close()
    client_of(settings_of(tmp_path, auth="password"))
    assert "evalui users add" not in caplog.text


def test_signing_in_works_where_nothing_else_is_written(database: Database):
    browser = client_of(settings_of(database.path.parent, auth="password", read_only=True))
    assert enter(browser).status_code == 303
    assert browser.get("/en/").json()["who"][0] == "ann"


def test_a_known_browser_is_unknown_after_another_password_and_after_a_month(database: Database):
    settings = settings_of(database.path.parent, auth="password")
    pages = sign_in._SignInPages(database, settings, "cookie", "secret")
    now = int(time.time())
    mark = pages._mark("ann", now)
    assert pages._is_known(mark, "ann")
    for other, name in (
        (mark, "bob"),
        (mark.replace(str(now), str(now - 1)), "ann"),
        (pages._mark("ann", now - int(sign_in.LONGEST_S) - 1), "ann"),
        (pages._mark("ann", now + 60), "ann"),
        ("", "ann"),
        ("9" * 40 + ".x", "ann"),
    ):
        assert not pages._is_known(other, name)
    set_password(database, "ann", RIGHT, by=Person("ann"))
    assert not pages._is_known(mark, "ann")


def test_the_form_of_who_has_gone_is_no_fault_of_ours() -> None:
    parts = [
        {"type": "http.request", "body": b"na", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return parts.pop(0)

    gone = Request({"type": "http", "method": "POST"}, receive)
    assert asyncio.run(sign_in.small_form(gone)) is None


def test_over_https_only_a_cookie_that_no_neighbour_can_set_counts(database: Database):
    browser = another(database, base="https://box.test")
    cookies = cookies_of(enter(browser))
    assert len(cookies) == 2  # the session, and that this browser is known
    for name, said in cookies.items():
        assert name.startswith("__Host-")
        assert {"secure", "httponly", "path=/"} <= set(said.lower().split("; "))
        assert "domain" not in said.lower()
    assert browser.get("/en/").json()["who"][0] == "ann"
    (name, secret), *_ = browser.cookies.items()
    tossed = another(database, base="https://box.test")
    header = {"cookie": f"{name.removeprefix('__Host-')}={secret}"}
    assert tossed.get("/upload", headers=header).status_code == 401
    ended = cookies_of(browser.post("/account/sign-out"))
    assert list(ended) == [name]
    assert {"secure", "path=/", "max-age=0"} <= set(ended[name].lower().split("; "))
    assert browser.get("/upload").status_code == 401


@pytest.mark.parametrize(
    ("base", "root_path"), [("http://box.test", ""), ("https://box.test", "/evalui")]
)
def test_elsewhere_browsers_would_refuse_that_name(database: Database, base: str, root_path: str):
    browser = another(database, base=base, root_path=root_path)
    entered = enter(browser, address=f"{root_path}{SIGN_IN}")
    assert "__Host-" not in entered.headers["set-cookie"]
    assert browser.get(f"{root_path}/en/").json()["who"][0] == "ann"
    ended = browser.post(f"{root_path}/account/sign-out").headers["set-cookie"].lower()
    assert f"path={root_path or '/'};" in ended + ";"
    assert browser.get(f"{root_path}/upload").status_code == 401
