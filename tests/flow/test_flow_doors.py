"""The doors of a real server: who comes in, as whom, and who stays out."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from door_server import PROXY, ROWS, DoorServer, serving, signing_proxy
from net_examples import created
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.invitations import invite
from evalui.accounts.people import add_person, read_account, set_disabled
from evalui.accounts.sessions import end_sessions
from evalui.accounts.sign_in import PER_NAME
from evalui.accounts.tokens import add_token, read_tokens, revoke_token
from evalui.settings import Settings

SIGN_IN = "/account/sign-in"
RIGHT = "correct horse"
USER = "X-Forwarded-Preferred-Username"

# Every kind of route that the application has, or that Gradio would have.
PAGES = ("/", "/en/", "/zh/?tab=models", "/r/abc", "/r/abc/q/1")
OTHERS = (
    ("GET", "/export/abc.csv"),
    ("GET", "/votes/abc.jsonl"),
    ("GET", "/faults/0123456789abcdef.csv"),
    ("GET", "/examples/choices.csv"),
    ("POST", "/upload"),
    ("GET", "/upload/0123456789abcdef"),
    ("GET", "/en/config"),
    ("GET", "/en/theme.css"),
    ("GET", "/en/gradio_api/info"),
    ("GET", "/en/gradio_api/heartbeat/x"),
    ("POST", "/en/gradio_api/run/act_runs"),
    ("POST", "/en/gradio_api/queue/join"),
    ("GET", "/en/gradio_api/queue/data?session_hash=x"),
    ("POST", "/en/gradio_api/upload"),
    ("GET", "/en/gradio_api/file=/etc/passwd"),
    ("GET", "/en/gradio_api/proxy=http://127.0.0.1/"),
    ("GET", "/gradio_api/info"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/api/v1/runs"),
    ("PUT", "/none"),
    ("DELETE", "/r/abc"),
)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DoorServer]:
    """A server with passwords, and its administrator."""
    settings = {"EVALUI_AUTH": "password", "EVALUI_PROXY_ADDRESSES": f'["{PROXY}/32"]'}
    with serving(tmp_path_factory.mktemp("box"), **settings) as server:
        add_person(server.database, "root", "admin", by=ME, password=RIGHT)
        yield server


@pytest.fixture
def ann(box: DoorServer, request: pytest.FixtureRequest) -> str:
    """A person of this test alone."""
    name = f"ann.{abs(hash(request.node.name))}"
    return add_person(box.database, name, "annotator", by=ME, password=RIGHT).name


def enter(client: httpx.Client, name: str, password: str = RIGHT) -> httpx.Response:
    return client.post(SIGN_IN, data={"name": name, "password": password})


def drawn(client: httpx.Client, page: str = "runs") -> str:
    """The HTML of a page, its bar with the name of the person first."""
    answer = client.get(f"/en/{page}")
    assert answer.status_code == 200
    return answer.text


def test_nobody_is_answered_before_they_sign_in(box: DoorServer):
    with box.client(headers={"accept": "text/html"}) as client:
        for page in PAGES:
            answer = client.get(page)
            assert (page, answer.status_code) == (page, 303)
            assert answer.next_request
            assert answer.next_request.url.path == SIGN_IN
        assert client.get(SIGN_IN).status_code == 200
    with box.client() as client:
        for method, path in OTHERS:
            answer = client.request(method, path)
            assert (path, answer.status_code) == (path, 401)
            shown = answer.json()["error"]
            assert shown == "Sign in first, or send a token: Authorization: Bearer."
        assert client.get("/healthz").json()["ok"] is True
        assert client.get("/static/css/sign_in.css").status_code == 200


def test_the_page_is_of_the_person_until_they_sign_out(box: DoorServer, ann: str):
    with box.client(headers={"accept-language": "en"}) as client:
        assert enter(client, ann).status_code == 303
        assert client.get("/en/evaluate").status_code == 200
        page = drawn(client, "evaluate")
        assert f">{ann}<" in page
        assert 'action="../account/sign-out"' in page
        upload = client.post("/upload", files={"files": ("sums.csv", ROWS)})
        assert upload.status_code == 200
        kept = dict(client.cookies)
        assert client.post("/account/sign-out").status_code == 303
        assert client.get("/en/").status_code == 303
    with box.client(cookies=kept) as client:  # a copy of the cookie
        assert client.post("/upload").status_code == 401


def test_pages_of_two_people_are_not_mixed_up(box: DoorServer, ann: str):
    with box.client() as first, box.client() as second:
        enter(first, ann)
        enter(second, "root")
        for place in ("evaluate", "runs", "compare", "arena"):
            for _ in range(2):
                for client, name, other in ((first, ann, "root"), (second, "root", ann)):
                    in_tab = client.get(f"/en/?tab={place}").text
                    text = in_tab or drawn(client, place)
                    assert f">{name}<" in text
                    assert f">{other}<" not in text  # "root" is a word of Gradio's


@pytest.mark.parametrize("end", ["sessions", "disabled"])
def test_a_session_that_is_ended_stops_at_once(box: DoorServer, ann: str, end: str):
    with box.client() as client:
        enter(client, ann)
        secret = add_token(box.database, ann, by=ME, scope="write")
        script = {"authorization": f"Bearer {secret}"}
        assert client.get("/en/evaluate").status_code == 200
        if end == "sessions":
            end_sessions(box.database, ann, by=ME)
        else:
            set_disabled(box.database, ann, disabled=True, by=ME)
        assert client.get("/en/").status_code == 303
        assert client.get("/export/x.csv").status_code == 401
        by_token = client.get("/export/x.csv", headers=script).status_code
        assert by_token == (401 if end == "disabled" else 404)


def test_wrong_passwords_shut_the_name_and_no_other(box: DoorServer, ann: str):
    with box.client() as client:
        for _ in range(PER_NAME):
            assert enter(client, ann, "wrong").status_code == 401
        assert enter(client, ann).status_code == 429
        assert enter(client, "root").status_code == 303


def test_an_invitation_is_used_once(box: DoorServer, ann: str):
    address = f"/invitation/{invite(box.database, ann, by=ME)}"
    with box.client() as client, box.client() as second:
        assert client.get(address).status_code == 200
        assert client.post(address, data={"password": "my own words"}).status_code == 303
        assert f">{ann}<" in drawn(client)
        assert second.get(address).status_code == 404
        assert second.post(address, data={"password": "their words!"}).status_code == 404
        assert enter(second, ann, "my own words").status_code == 303


def test_the_way_back_stays_on_this_server(box: DoorServer, ann: str):
    fields = {"name": ann, "password": RIGHT}
    with box.client() as client:
        for to in ("https://evil.test/", "//evil.test", "/\\evil.test", "../..//evil.test"):
            answer = client.post(SIGN_IN, params={"to": to}, data=fields)
            assert answer.next_request
            assert answer.next_request.url.host == "127.0.0.1"
            assert answer.next_request.url.port == client.base_url.port


def test_the_cookie_knows_https_only_from_a_proxy(box: DoorServer, ann: str):
    stated = {"x-forwarded-proto": "https"}
    with box.client(headers=stated) as client:  # of this machine, but not the proxy
        assert "Secure" not in enter(client, ann).headers["set-cookie"]
    with box.client(source=PROXY) as client:
        assert "Secure" not in enter(client, ann).headers["set-cookie"]
        client.headers.update(stated)
        for cookie in enter(client, ann).headers.get_list("set-cookie"):
            for part in ("__Host-evalui", "Secure", "HttpOnly", "SameSite=lax"):
                assert part in cookie


def test_a_token_does_what_its_scope_allows(box: DoorServer, ann: str):
    sent = {"files": ("sums.csv", ROWS)}
    with box.client() as client:
        for scope, status in (("read", 403), ("write", 200)):
            secret = add_token(box.database, ann, by=ME, scope=scope)
            client.headers["authorization"] = f"Bearer {secret}"
            assert client.get("/en/evaluate").status_code == 200
            assert client.post("/upload", files=sent).status_code == status
            revoke_token(box.database, read_tokens(box.database, ann)[-1].id, by=ME)
            assert client.get("/en/?tab=runs").status_code == 303
            assert client.post("/upload", files=sent).status_code == 401


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DoorServer]:
    """A server that believes the headers of one address."""
    settings = {
        "EVALUI_AUTH": "proxy",
        "EVALUI_PROXY_ADDRESSES": f'["{PROXY}/32"]',
        "EVALUI_PROXY_ADMINS": "box-admins",
        "FORWARDED_ALLOW_IPS": "*",  # uvicorn's own, which is not read
    }
    with serving(tmp_path_factory.mktemp("proxied"), **settings) as server:
        yield server


def test_headers_count_from_the_proxy_alone(proxied: DoorServer):
    headers = {USER: "eve", "X-Forwarded-For": PROXY}
    with proxied.client(headers=headers) as client:
        for path in (*PAGES, *(path for _, path in OTHERS)):
            assert (path, client.get(path).status_code) == (path, 401)
        assert client.get("/healthz").status_code == 200
    assert not proxied.database.rows("SELECT 1 FROM person WHERE name = 'eve'")
    with proxied.client(source=PROXY, headers=headers) as client:
        assert ">eve<" in drawn(client)
    assert read_account(proxied.database, "eve").role == "reader"
    with proxied.client(source=PROXY) as client:
        assert client.get("/en/").status_code == 401


def test_people_come_in_through_a_proxy_as_oauth2_proxy_is_one(proxied: DoorServer):
    groups = {"ann": "law,staff", "boss": "box-admins"}
    with (
        signing_proxy(proxied.address, groups) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        assert client.get("/en/").headers["location"] == "/oauth2/start"
        for name, role in (("ann", "reader"), ("boss", "admin")):
            client.get(f"/oauth2/callback?code={name}")
            spoofed = {USER: "root", "X-Forwarded-Groups": "box-admins", "X-Forwarded-User": "root"}
            client.headers.update(spoofed)
            page = drawn(client)
            assert f">{name}<" in page
            assert ">root<" not in page
            sent = client.post("/upload", files={"files": ("sums.csv", ROWS)})
            assert sent.status_code == (200 if role == "admin" else 403)
        assert read_account(proxied.database, "boss").role == "reader"  # but for the group


def test_without_the_proxy_of_the_network_nothing_is_served(tmp_path: Path):
    """What is public stays so, and what needs a person has none."""
    wanted = {"auth": "proxy", "proxy_addresses": ["192.0.2.0/24"], "workers": 0}
    app = created(Settings.model_validate({"data_dir": tmp_path, **wanted}))
    here, user = ("127.0.0.1", 9), {USER: "root"}
    with TestClient(app, "http://127.0.0.1", client=here, headers=user) as client:
        assert client.get("/en/").status_code == 401
        assert client.get("/s/none").status_code == 404
