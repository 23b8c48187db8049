"""What administrators decide: people, limits, tokens, sessions, and the queue of all."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.invitations import invited_person
from evalui.accounts.people import add_person, find_person
from evalui.accounts.sessions import start_session
from evalui.accounts.tokens import add_token, person_of_token
from evalui.api import runs
from evalui.app.service import AppService
from evalui.runs.fair_queue.limits import UserLimits, limits_of, usual_limits


@pytest.fixture
def root(desk: AppService, become: Callable[..., None]) -> Person:
    """The administrator of a shared server, who sends all that follows."""
    desk.settings.auth = "password"
    add_person(desk.database, "root", "admin", by=LOCAL_PERSON)
    become("root", "admin")
    return Person("root", "admin")


def deeds(api: TestClient, n: int) -> list[str]:
    return [each["deed"] for each in api.get(f"/audit?limit={n}").json()]


@pytest.mark.usefixtures("root")
def test_a_person_is_invited_changed_and_removed(api: TestClient, desk: AppService) -> None:
    invited = api.post("/people/Ann?role=reader")
    assert invited.status_code == 200, invited.text
    secret = invited.json()["address"].removeprefix("/invitation/")
    assert invited_person(desk.database, secret) == "ann"
    assert api.put("/people/ann/role/annotator").json() == {"address": ""}
    assert find_person(desk.database, "ann") == Person("ann", "annotator")
    assert api.post("/people/ann/disable").status_code == 200
    assert find_person(desk.database, "ann") is None
    assert api.post("/people/ann/enable").status_code == 200
    again = api.post("/people/ann/invitation").json()["address"]
    assert invited_person(desk.database, again.removeprefix("/invitation/")) == "ann"
    assert api.delete("/people/ann/invitation").status_code == 200  # nobody was here by the name
    assert [use["account"]["name"] for use in api.get("/people").json()] == ["root"]
    assert deeds(api, 2) == ["remove-person", "withdraw"]
    for answer in (
        api.put("/people/ann/role/reader"),
        api.post("/people/ann/invitation"),
        api.delete("/people/ann/invitation"),
        api.delete("/people/ann?heir=="),
    ):
        assert (answer.status_code, answer.json()["key"]) == (404, "no-person")
    assert api.post("/people/root/disable").json()["key"] == "last-admin"
    assert api.put("/people/root/role/king").json()["key"] == "no-action"
    assert api.put("/people/ann/limits", json={}).status_code == 404


@pytest.mark.parametrize(("query", "owners"), [("heir=ben", ["ben"]), ("heir==", []), ("", None)])
def test_what_a_person_leaves_is_handed_over_or_deleted(
    api: TestClient,
    desk: AppService,
    spec: dict[str, Any],
    root: Person,
    query: str,
    owners: list[str] | None,
) -> None:
    for name in ("ann", "ben"):
        add_person(desk.database, name, "annotator", by=root)
    run = api.post("/runs", json={**spec, "datasets": [{"upload": upload_of(api)}]}).json()["id"]
    with desk.database.writing() as connection:
        connection.execute("UPDATE run SET owner = 'ann' WHERE id = ?", (run,))
    answer = api.delete(f"/people/ann?{query}")
    if owners is None:
        assert (answer.status_code, answer.json()["key"]) == (422, "heir-missing")
        return
    assert answer.status_code == 200
    left = api.get(f"/runs/{run}")
    assert [left.json()["owner"] for _ in range(left.status_code == 200)] == owners


def upload_of(api: TestClient) -> str:
    text = b"id,question,A,B,answer\n1,x?,a,b,A\n"
    return api.post("/datasets", files=[("files", ("q.csv", text))]).json()["id"]


def test_a_person_is_given_limits(api: TestClient, desk: AppService, root: Person) -> None:
    add_person(desk.database, "ann", "annotator", by=root)
    usual = usual_limits(desk.settings)
    given = {"queued": 3, "dollars_day": 2.5}
    assert api.put("/people/ann/limits?priority=1", json=given).status_code == 204
    assert limits_of(desk.database, "ann", usual) == UserLimits(queued=3, dollars_day=2.5)
    (use, _) = api.get("/people").json()
    assert (use["limits"]["queued"], use["limits"]["running"]) == (3, None)
    assert api.get("/queue").json()["decisions"]["priorities"] == {"ann": 1}
    assert deeds(api, 1) == ["set-limits"]
    for wrong in ({"queued": "many"}, {"queue": 3}, {"stored_bytes": 0.5}):
        assert api.put("/people/ann/limits", json=wrong).json()["key"] == "request-field"
    for wrong in ({"queued": -1}, {"dollars_day": -0.5}):
        assert api.put("/people/ann/limits", json=wrong).json()["key"] == "limit-negative"
    assert api.put("/people/ann/limits?priority=3", json={}).json()["key"] == "request-field"
    assert limits_of(desk.database, "ann", usual).queued == 3


def test_tokens_are_listed_without_secrets_and_revoked(
    api: TestClient, desk: AppService, root: Person
) -> None:
    add_person(desk.database, "ann", "annotator", by=root)
    secret = add_token(desk.database, "ann", by=root, scope="write", label="night")
    (token,) = api.get("/tokens?person=ann").json()
    assert (token["person"], token["scope"], token["label"]) == ("ann", "write", "night")
    assert secret not in json.dumps(token)
    assert api.get("/tokens?person=root").json() == []
    assert api.delete(f"/tokens/{token['id']}").status_code == 204
    assert person_of_token(desk.database, secret) is None
    assert api.delete(f"/tokens/{token['id']}").status_code == 404


def test_everybody_else_is_signed_out(api: TestClient, desk: AppService, root: Person) -> None:
    add_person(desk.database, "ann", "annotator", by=root)
    for name in ("ann", "ann", "root"):
        start_session(desk.database, name)
    assert api.delete("/sessions").json() == {"address": ""}
    assert [row["person"] for row in desk.database.rows("SELECT person FROM session")] == ["root"]


@pytest.mark.usefixtures("root")
def test_the_queue_is_read_and_decided(
    api: TestClient, spec: dict[str, Any], sent_by: Callable[[Person], Any]
) -> None:
    with sent_by(Person("ann", "annotator")):
        upload = upload_of(api)
        first, second = (
            api.post("/runs", json={**spec, "datasets": [{"upload": upload}]}).json()["id"]
            for _ in range(2)
        )
    assert api.put(f"/queue/runs/{second}/priority/2").status_code == 200
    queue = api.get("/queue").json()
    assert queue["decisions"]["state"] == "open"
    assert [each["id"] for each in queue["runs"]] == [second, first]
    assert [each["place"] for each in queue["runs"]] == [1, 2]
    assert api.put("/queue/paused").status_code == 200
    paused = api.get("/queue").json()
    assert paused["decisions"]["state"] == "paused"
    assert all(each["held"] for each in paused["runs"])
    assert api.put("/queue/closed").json()["key"] == "no-action"
    assert api.post(f"/queue/runs/{first}/stop").status_code == 200
    assert api.get(f"/runs/{first}").json()["state"] == "cancelled"
    assert deeds(api, 3) == ["stop-run", "set-queue", "set-priority"]
    assert api.put("/queue/runs/x/priority/2").status_code == 404


@pytest.mark.parametrize("role", ["annotator", "operator"])
def test_who_is_no_administrator_learns_and_changes_nothing(
    api: TestClient, become: Callable[..., None], role: str
) -> None:
    become("eve", role)
    document = api.get("/openapi.json").json()["paths"]
    routes = [
        (method, path)
        for path, item in document.items()
        for method, route in item.items()
        if route["tags"] == ["administration"]
    ]
    assert len(routes) > 15
    for method, path in routes:
        place = re.sub(r"{\w+}", "1", path)
        answer = api.request(method, place, json={})
        assert (answer.status_code, answer.json()["key"]) == (403, "not-allowed-administer"), path


@pytest.mark.usefixtures("root")
def test_the_queue_is_looked_through_once_however_long_it_is(
    api: TestClient, desk: AppService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with desk.database.writing() as connection:
        connection.executemany(
            "INSERT INTO run (id, owner, name, spec, state, created, queued, revision)"
            " VALUES (?, 'ann', 'x', '{}', 'queued', ?, ?, 1)",
            [(f"r{n}", n, n) for n in range(30)],
        )
    looks: list[int] = []
    places = runs.queue_places

    def counted(*given: Any) -> Any:
        looks.append(1)
        return places(*given)

    monkeypatch.setattr(runs, "queue_places", counted)
    shown = api.get("/queue").json()["runs"]
    assert [each["id"] for each in shown] == [f"r{n}" for n in range(30)]
    assert [each["place"] for each in shown] == list(range(1, 31))
    assert len(looks) == 1
