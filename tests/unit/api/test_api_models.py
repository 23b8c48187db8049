"""Models: what is stated of them, and who may add, change, test and remove them."""

from collections.abc import Callable
from typing import Any

import pytest
from decision_server import DecisionBehaviour, DecisionServer, Form
from endpoint_server_examples import MODEL
from starlette.testclient import TestClient

from evalui.access import Person
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker

ENDPOINT: dict[str, Any] = {
    "name": "far",
    "path": "gpt-x",
    "place": "endpoint",
    "address": "http://127.0.0.1:9/v1",
    "key": "sk-secret-1",
    "input_price": 2.5,
    "max_length": 4096,
}


def test_every_model_states_what_it_can_do(api: TestClient) -> None:
    models = {model["name"]: model for model in api.get("/models").json()}
    assert models["biased"]["abilities"] == ["generate", "loglik", "next_token"]
    assert models["biased"]["sees_pictures"]
    assert (models["always-A"]["place"], models["always-A"]["baseline"]) == ("demo", True)
    assert models["gone"]["problem"]
    assert api.get("/models/biased").json() == models["biased"]


def test_a_model_is_added_changed_and_removed_and_its_key_never_shown(
    api: TestClient, desk: AppService
) -> None:
    added = api.post("/models", json=ENDPOINT)
    assert added.status_code == 201, added.text
    assert (added.json()["added"], added.json()["input_price"]) == (True, 2.5)
    changed = api.put("/models/far", json={**ENDPOINT, "input_price": 0, "key": "sk-secret-2"})
    assert changed.json()["input_price"] == 0.0
    shown = [added.text, changed.text, api.get("/models").text]
    assert not any("sk-secret" in each for each in shown)
    assert desk.models.added_entry("far").max_length == 4096
    assert api.delete("/models/far").status_code == 204
    assert api.get("/models/far").status_code == 404
    assert api.delete("/models/far").json()["key"] == "model-not-added"


@pytest.mark.parametrize("form", ["systemone", "decisions", "decide"])
def test_a_server_of_decisions_is_added_by_its_address_alone(
    api: TestClient, desk: AppService, form: Form
) -> None:
    with DecisionServer(DecisionBehaviour(form=form)) as server:
        sent = {"name": "decider", "path": MODEL, "place": "endpoint", "address": server.url}
        assert api.post("/models", json=sent).status_code == 201
        shown = api.get("/models/decider").json()
        assert (shown["abilities"], shown["problem"]) == (["decide"], "")
        assert not shown["sees_pictures"]
        assert api.post("/models/decider/test").status_code == 202
        assert Worker(desk.database, desk.models.catalog).run_test_once()
    (tried,) = api.get("/models/decider").json()["test"]["abilities"]
    assert (tried["ability"], tried["problem"]) == ("decide", "")


def test_a_server_with_chat_is_added_for_decisions_by_the_backend_or_the_interface(
    api: TestClient,
) -> None:
    with DecisionServer(DecisionBehaviour(chat=True)) as server:
        sent = {"name": "both", "path": MODEL, "place": "endpoint", "address": server.url}
        api.post("/models", json={**sent, "backend": "decision"})
        shown = api.get("/models/both").json()
        assert (shown["backend"], shown["abilities"]) == ("decision", ["decide"])
        api.post("/models", json={**sent, "name": "stated", "api": "decision"})
        shown = api.get("/models/stated").json()
        assert (shown["backend"], shown["abilities"]) == ("openai", ["decide"])
        refused = api.post("/models", json={**sent, "name": "odd", "api": "telepathy"})
        assert (refused.status_code, refused.json()["key"]) == (422, "request-field")


def test_who_may_use_a_model_stays_unless_a_change_states_it(
    api: TestClient, desk: AppService, sent_by: Callable[[Person], Any]
) -> None:
    private = {**ENDPOINT, "everyone": False}
    desk.settings.auth = "password"
    with sent_by(Person("ann", "operator")):
        assert api.post("/models", json=private).json()["everyone"] is False
        changed = api.put("/models/far", json=ENDPOINT).json()
        assert (changed["everyone"], changed["people"], changed["owner"]) == (False, [], "ann")
        opened = api.put("/models/far", json={**ENDPOINT, "everyone": True})
    assert opened.json()["everyone"] is True


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({**ENDPOINT, "input_price": -1}, "input_price"),
        ({**ENDPOINT, "options": {}}, "options"),
        ({**ENDPOINT, "backend": "decision", "api": "chat"}, "api"),
        ({**ENDPOINT, "place": "elsewhere"}, "place"),
        ({"name": "x"}, "path"),
    ],
)
def test_a_wrong_field_is_named(api: TestClient, sent: dict[str, Any], place: str) -> None:
    answer = api.post("/models", json=sent)
    assert (answer.status_code, answer.json()["key"]) == (422, "request-field")
    assert answer.json()["detail"].startswith(f"{place}: ")


def test_annotators_test_models_and_change_none(
    api: TestClient, desk: AppService, become: Callable[..., None]
) -> None:
    become("ann")
    for answer in (
        api.post("/models", json=ENDPOINT),
        api.put("/models/biased", json=ENDPOINT),
        api.delete("/models/biased"),
    ):
        assert (answer.status_code, answer.json()["key"]) == (403, "not-allowed-add-models")
    tried = api.post("/models/biased/test")
    assert (tried.status_code, tried.json()["test"]["state"]) == (202, "queued")
    assert Worker(desk.database, desk.models.catalog).run_test_once()
    test = api.get("/models/biased").json()["test"]
    assert test["state"] == "done", test
    assert {each["ability"] for each in test["abilities"]} == {"generate", "loglik", "next_token"}
    become("eve")
    assert api.get("/models/biased").json()["test"] is None


def test_an_endpoint_is_asked_again(api: TestClient, become: Callable[..., None]) -> None:
    api.post("/models", json=ENDPOINT)
    assert api.post("/models/far/look").json()["name"] == "far"
    assert api.post("/models/none/look").json()["key"] == "unknown-model"
    become("rita", "reader")
    assert api.post("/models/far/look").json()["key"] == "not-allowed-start"


def test_the_owner_of_a_model_is_not_stated_by_who_adds_it(api: TestClient) -> None:
    refused = api.post("/models", json={**ENDPOINT, "owner": "ann"})
    assert (refused.status_code, refused.json()["key"]) == (422, "request-field")


def test_what_a_model_adds_to_requests_is_sent_as_json(api: TestClient, desk: AppService) -> None:
    extras = {"extra_body": {"enable_thinking": False}, "query": {"api-version": "2024-10-21"}}
    assert api.post("/models", json={**ENDPOINT, **extras}).status_code == 201
    options = desk.models.added_entry("far").options
    assert {name: options[name] for name in extras} == extras
    refused = api.put("/models/far", json={**ENDPOINT, "headers": {"X-Api-Key": "sk-secret-3"}})
    assert refused.status_code == 422
    assert "sk-secret-3" not in refused.text
    api.put("/models/far", json={**ENDPOINT, "key_header": "api-key"})
    options = desk.models.added_entry("far").options
    assert options["key_header"] == "api-key"
    assert not options.keys() & extras.keys()  # what is left out has its default again


def test_a_server_that_decides_is_added_tested_and_run(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    decided = {"mode": "multiple_choice", "labels": "dealt"}
    with DecisionServer() as server:
        sent = {"name": "decider", "path": MODEL, "place": "endpoint", "address": server.url}
        assert api.post("/models", json=sent).status_code == 201
        assert api.post("/models/decider/look").json()["abilities"] == ["decide"]
        api.post("/models/decider/test")
        run = {**spec, "models": ["decider", "biased"], "modes": [decided]}
        started = api.post("/runs", json=run).json()
        worker = Worker(desk.database, desk.models.catalog)
        assert worker.run_test_once()
        worker.run_once()
    (tested,) = api.get("/models/decider").json()["test"]["abilities"]
    assert (tested["ability"], tested["problem"]) == ("decide", "")
    ended = api.get(f"/runs/{started['id']}").json()
    assert [cell["state"] for cell in ended["cells"]] == ["done", "done"]
