"""Behind a proxy its headers say who it is; those of anybody else say nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from door_examples import client_of, people, settings_of
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.audit import read_audit
from evalui.accounts.people import read_account, set_disabled
from evalui.accounts.tokens import add_token
from evalui.store.connection import Database

PROXY, ELSEWHERE = "10.1.2.3", "192.0.2.7"
USER, GROUPS = "X-Forwarded-Preferred-Username", "X-Forwarded-Groups"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = people(tmp_path)
    yield opened
    opened.close()


def client(database: Database, peer: str = PROXY, **fields: Any) -> TestClient:
    wanted = {"auth": "proxy", "proxy_addresses": ["10.1.2.0/24", "fd00::/8"]} | fields
    return client_of(settings_of(database.path.parent, **wanted), peer=peer)


def who(answer: Any) -> Any:
    assert answer.status_code == 200
    return answer.json()["who"]


def test_a_listed_proxy_says_who_it_is(database: Database):
    assert who(client(database).get("/en/", headers={USER: "Ann"}))[:2] == ["ann", "annotator"]
    assert who(client(database, "fd00::7").post("/upload", headers={USER: "root"}))[1] == "admin"
    assert read_account(database, "ann").seen


@pytest.mark.parametrize("peer", [ELSEWHERE, "127.0.0.1", "10.1.3.1", "::1", "testclient", ""])
def test_headers_from_elsewhere_are_refused(database: Database, peer: str):
    for more in (
        {},
        {"X-Forwarded-For": PROXY},
        {"X-Real-IP": PROXY, "Forwarded": f"for={PROXY}"},
        {"X-Forwarded-For": f"{PROXY}, {PROXY}", "X-Forwarded-Host": "box.test"},
    ):
        answer = client(database, peer).get("/en/", headers={USER: "root", **more})
        assert answer.status_code == 401
        assert "sends no name" in answer.json()["error"]


def test_nobody_is_trusted_where_none_is_listed(database: Database):
    for peer in (PROXY, "127.0.0.1"):
        browser = client(database, peer, proxy_addresses=[])
        assert browser.get("/", headers={USER: "root"}).status_code == 401


def test_the_visitor_of_a_proxy_cannot_pass_for_it(database: Database):
    """Through the proxy it is the visitor's address, by which nothing is believed or refused."""
    answer = client(database).get("/", headers={USER: "ann", "X-Forwarded-For": ELSEWHERE})
    assert answer.json()["from"] == ELSEWHERE
    assert who(answer)[0] == "ann"


@pytest.mark.parametrize("name", ["", " ", "a b", "DOMAIN\\ann", "local", "安", "x" * 65, "a,b"])
def test_a_name_that_cannot_be_one_is_refused(database: Database, name: str):
    sent = [(USER, name.encode())]
    assert client(database).get("/", headers=sent).status_code == 401  # pyright: ignore[reportArgumentType]


def test_a_name_that_is_sent_twice_is_refused(database: Database):
    sent = [(USER, "ann"), (USER, "root")]
    assert client(database).get("/", headers=sent).status_code == 401  # pyright: ignore[reportArgumentType]
    underscored = {USER.replace("-", "_"): "root"}
    assert client(database).get("/", headers=underscored).status_code == 401


def test_without_a_name_nobody_is_let_in(database: Database):
    assert client(database).get("/").status_code == 401
    assert client(database).get("/healthz").json()["who"][0] == ""
    assert client(database).get("/s/x").json()["who"][0] == ""


def test_somebody_new_gets_an_account_once(database: Database):
    for _ in range(2):
        assert who(client(database).get("/", headers={USER: "eve"}))[:2] == ["eve", "reader"]
    assert [entry.thing for entry in read_audit(database)].count("person eve") == 1
    browser = client(database, proxy_role="operator")
    assert who(browser.get("/", headers={USER: "eve"}))[1] == "reader"
    assert who(browser.get("/", headers={USER: "bob"}))[1] == "operator"


def test_who_is_disabled_stays_out(database: Database):
    set_disabled(database, "ann", disabled=True, by=ME)
    assert client(database).get("/", headers={USER: "ann"}).status_code == 401
    assert read_account(database, "ann").disabled


def test_a_group_makes_administrators_while_the_proxy_says_so(database: Database):
    browser = client(database, proxy_admins="Box-Admins")
    sent = {USER: "ann", GROUPS: "staff,box-admins"}
    assert who(browser.get("/", headers=sent))[1] == "admin"
    assert who(browser.get("/", headers={USER: "ann", GROUPS: "staff"}))[1] == "annotator"
    assert read_account(database, "ann").role == "annotator"
    assert (
        who(browser.get("/", headers={USER: "ann"}))[1] == "annotator"
    )  # it says nothing of groups
    none = client(database)  # no group is named
    assert who(none.get("/", headers={USER: "ann", GROUPS: ""}))[1] == "annotator"


def test_groups_of_no_header_are_left_alone(database: Database):
    browser = client(database, proxy_admins="staff", proxy_groups_header="")
    assert who(browser.get("/", headers={USER: "ann", GROUPS: "staff"}))[1] == "annotator"


def test_the_headers_may_have_other_names(database: Database):
    named = {"proxy_user_header": "Remote-User", "proxy_groups_header": "Remote-Groups"}
    browser = client(database, proxy_admins="law", **named)
    answer = browser.get("/", headers={"Remote-User": "ann", "Remote-Groups": "law", USER: "root"})
    assert who(answer) == ["ann", "admin", "write"]


def test_a_token_opens_from_anywhere(database: Database):
    secret = add_token(database, "ann", by=ME)
    sent = {"authorization": f"Bearer {secret}"}
    assert who(client(database, ELSEWHERE).get("/", headers=sent)) == ["ann", "annotator", "read"]
    # Not one of ours: the proxy may pass on its own.
    foreign = {"authorization": "Bearer eyJhbGciOi", USER: "root"}
    assert client(database, ELSEWHERE).get("/", headers=foreign).status_code == 401
    assert who(client(database).get("/", headers=foreign))[0] == "root"
