"""A person changes what belongs to their own account, in a browser alone."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.accounts.sessions import person_of_session, start_session
from evalui.accounts.sign_in import sign_in
from evalui.accounts.tokens import add_token, person_of_token, read_tokens
from evalui.app.service import AppService
from evalui.errors import AccountError
from evalui.ui.current_person import acting_as
from evalui.ui.web.routes import add_routes

pytestmark = pytest.mark.usefixtures("cheap_passwords")

ADMIN = Person("admin", "admin")
ANN = Person("ann", "annotator")
PASSWORD = "correct horse"


@pytest.fixture
def desk(desk: AppService) -> AppService:
    add_person(desk.database, "ann", "annotator", by=ADMIN, password=PASSWORD)
    add_person(desk.database, "bob", "annotator", by=ADMIN)
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    return desk


@pytest.fixture
def client(desk: AppService) -> Iterator[TestClient]:
    app = FastAPI()
    add_routes(app, desk)
    with acting_as(ANN):
        yield TestClient(app, follow_redirects=False)


@pytest.fixture
def post(client: TestClient) -> Callable[..., str]:
    def send(do: str, status: int = 303, **fields: str) -> str:
        answer = client.post("/me/", data={"do": do, **fields})
        assert answer.status_code == status
        return answer.text

    return send


def test_a_token_is_shown_once_and_revoked(desk, client, post):
    page = post("token", 200, scope="read", label="<ci>", days="90")
    (secret,) = re.findall(r'<code class="mono">([^<]+)</code>', page)
    assert "你的账号" in client.get("/me/?lang=zh").text
    assert person_of_token(desk.database, secret) == Person(
        "ann", "annotator", scope="read", by_token=True
    )
    assert secret not in client.get("/me/").text
    assert "&lt;ci&gt;" in client.get("/me/").text
    (token,) = read_tokens(desk.database, "ann")
    assert token.expires is not None
    assert round((token.expires - token.created) / 86400) == 90
    post("revoke", id=str(token.id))
    assert read_tokens(desk.database, "ann") == ()


def test_the_token_of_another_person_stays(desk, post):
    add_token(desk.database, "bob", by=ADMIN)
    (token,) = read_tokens(desk.database, "bob")
    post("revoke", id=str(token.id))
    assert read_tokens(desk.database, "bob") == (token,)


def test_a_password_is_changed_by_who_knows_the_one_before(desk, post):
    session = start_session(desk.database, "ann")
    token = add_token(desk.database, "ann", by=ANN)
    page = post("password", 400, old="guess", password="another long one")
    assert "do not match" in page
    assert "10 characters" in post("password", 400, old=PASSWORD, password="short")
    assert person_of_session(desk.database, session)
    post("password", old=PASSWORD, password="another long one")
    assert person_of_session(desk.database, session) is None
    assert person_of_token(desk.database, token) is None
    with pytest.raises(AccountError):
        sign_in(desk.database, "ann", PASSWORD, address="")
    assert sign_in(desk.database, "ann", "another long one", address="").name == "ann"


def test_signing_out_everywhere_ends_own_sessions_and_tokens_alone(desk, post):
    own, other = (start_session(desk.database, name) for name in ("ann", "bob"))
    tokens = [add_token(desk.database, name, by=ADMIN) for name in ("ann", "bob")]
    post("sign-out")
    assert person_of_session(desk.database, own) is None
    assert person_of_session(desk.database, other)
    assert [bool(person_of_token(desk.database, each)) for each in tokens] == [False, True]


def test_behind_a_proxy_there_is_no_password_to_change(desk, client, post):
    desk.settings = desk.settings.model_copy(update={"auth": "proxy"})
    assert 'type="password"' not in client.get("/me/").text
    post("password", 403, old=PASSWORD, password="another long one")
    assert sign_in(desk.database, "ann", PASSWORD, address="").name == "ann"


@pytest.mark.parametrize(
    "person", [Person("", scope="read"), Person("guest", guest_of="run")], ids=["nobody", "guest"]
)
def test_who_has_no_account_has_no_page(client, person: Person):
    with acting_as(person):
        assert client.get("/me/").status_code == 403
        assert client.post("/me/", data={"do": "token"}).status_code == 403


def test_a_script_changes_nothing(desk, client):
    with acting_as(replace(ANN, by_token=True)):
        assert client.get("/me/").status_code == 403
        assert client.post("/me/", data={"do": "token"}).status_code == 403
    assert read_tokens(desk.database, "ann") == ()


def test_a_server_of_one_person_has_no_accounts(desk, client):
    desk.settings = desk.settings.model_copy(update={"auth": "token"})
    assert client.get("/me/").status_code == 403


def test_a_form_that_is_none_of_ours_changes_nothing(client, post):
    post("nothing")
    assert client.post("/me/", data={"do": "notes", "mail": "x" * 5000}).status_code == 413
