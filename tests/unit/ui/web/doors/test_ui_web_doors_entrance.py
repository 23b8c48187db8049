"""Which door stands before the application, and whose word for an address is believed."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from door_examples import RIGHT, client_of, people, settings_of
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.sign_in import PER_ADDRESS
from evalui.accounts.tokens import add_token
from evalui.errors import SpecError
from evalui.store.connection import Database
from evalui.ui.web.doors.token import TokenMiddleware
from evalui.web.address import check_door, listen


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> None:
    people(tmp_path).close()


def client(folder: Path, peer: str, **fields: Any) -> TestClient:
    return client_of(settings_of(folder, auth="password", **fields), peer=peer)


def sign_in(browser: TestClient, name: str, password: str, **headers: str) -> Any:
    fields = {"name": name, "password": password}
    return browser.post("/account/sign-in", data=fields, headers=headers)


@pytest.mark.parametrize(
    ("peer", "proxies", "scheme", "visitor"),
    [
        ("127.0.0.1", [], "http", "127.0.0.1"),  # whoever has a login on this machine
        ("::1", [], "http", "::1"),
        ("127.0.0.1", ["127.0.0.1/32"], "https", "203.0.113.9"),
        ("192.0.2.7", [], "http", "192.0.2.7"),
        ("192.0.2.7", ["192.0.2.0/24"], "https", "203.0.113.9"),
        ("127.0.0.1", ["192.0.2.0/24"], "http", "127.0.0.1"),  # it is not the one that is listed
    ],
)
def test_only_a_proxy_says_where_somebody_is(
    tmp_path: Path, peer: str, proxies: list[str], scheme: str, visitor: str
):
    headers = {"x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.1, 203.0.113.9"}
    browser = client(tmp_path, peer, proxy_addresses=proxies)
    with closing(Database(tmp_path / "evalui.sqlite")) as database:
        headers["authorization"] = f"Bearer {add_token(database, 'ann', by=ME)}"
    answer = browser.get("/", headers=headers).json()
    assert (answer["scheme"], answer["from"]) == (scheme, visitor)


@pytest.mark.parametrize(("peer", "host"), [("127.0.0.1", "out.test"), ("192.0.2.7", "")])
def test_only_a_proxy_says_how_the_server_is_called(tmp_path: Path, peer: str, host: str):
    browser = client(tmp_path, peer, proxy_addresses=["127.0.0.1/32"])
    with closing(Database(tmp_path / "evalui.sqlite")) as database:
        headers = {"authorization": f"Bearer {add_token(database, 'ann', by=ME)}"}
    named = {"x-forwarded-host": "out.test", "x-gradio-server": "http://out.test"}
    assert browser.get("/", headers=headers | named).json()["host"] == host


def test_behind_a_proxy_each_visitor_has_tries_of_their_own(tmp_path: Path):
    browser = client(tmp_path, "127.0.0.1", proxy_addresses=["127.0.0.1/32"])
    for n in range(PER_ADDRESS):
        # What a visitor states themselves stands before what the proxy adds.
        stated = f"198.51.100.{n}, 203.0.113.9"
        assert sign_in(browser, f"n{n}", "wrong", **{"x-forwarded-for": stated}).status_code == 401
    shut = {"x-forwarded-for": "198.51.100.99, 203.0.113.9"}
    assert sign_in(browser, "ann", RIGHT, **shut).status_code == 429
    assert sign_in(browser, "ann", RIGHT, **{"x-forwarded-for": "203.0.113.10"}).status_code == 303


def test_who_is_no_proxy_has_one_address_whatever_they_state(tmp_path: Path):
    browser = client(tmp_path, "127.0.0.1")
    for n in range(PER_ADDRESS):
        forged = {"x-forwarded-for": f"198.51.100.{n}"}
        assert sign_in(browser, f"n{n}", "wrong", **forged).status_code == 401
    assert sign_in(browser, "ann", RIGHT, **{"x-forwarded-for": "10.0.0.1"}).status_code == 429


def test_a_server_that_believes_no_proxy_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    client(tmp_path, "127.0.0.1", proxy_addresses=["127.0.0.1/32"])
    client_of(settings_of(tmp_path))
    assert "EVALUI_PROXY_ADDRESSES" not in caplog.text
    client(tmp_path, "127.0.0.1")
    assert "EVALUI_PROXY_ADDRESSES lists no proxy" in caplog.text


def test_with_a_token_the_door_is_the_one_of_before(tmp_path: Path):
    browser = client_of(settings_of(tmp_path))
    answer = browser.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 401
    assert "evalui serve" in answer.text
    assert browser.get("/account/sign-in").status_code == 401
    assert browser.get("/s/x").json()["who"] == ["", "reader", "read"]
    assert TokenMiddleware.__doc__


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"auth": "password", "token": False}, "--no-token"),
        ({"auth": "proxy", "token": False, "proxy_addresses": ["10.0.0.0/8"]}, "--no-token"),
        ({"auth": "proxy"}, "EVALUI_PROXY_ADDRESSES"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    tmp_path: Path, fields: dict[str, Any], reason: str
):
    with pytest.raises(SpecError, match=reason):
        check_door(settings_of(tmp_path, **fields))


def test_settings_that_do_not_are_taken(tmp_path: Path):
    check_door(settings_of(tmp_path))
    check_door(settings_of(tmp_path, token=False))
    check_door(settings_of(tmp_path, auth="password"))
    check_door(settings_of(tmp_path, auth="proxy", proxy_addresses=["127.0.0.1/32"]))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0"])
def test_where_others_reach_it_the_token_is_not_enough(host: str):
    with pytest.raises(SpecError, match="EVALUI_AUTH"):
        listen(host, 0, only_here=True)


def test_a_name_counts_as_what_it_stands_for(monkeypatch: pytest.MonkeyPatch):
    import socket

    def resolved(*_: object, **__: object) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with pytest.raises(SpecError, match=r"box\.test can be reached"):
        listen("box.test", 0, only_here=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_this_machine_alone_is_served_with_a_token(host: str):
    with listen(host, 0, only_here=True) as listener:
        assert listener.getsockname()[1]
