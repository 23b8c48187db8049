"""The application: who is there, its documents, its problems, and that nothing breaks it."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from evalui.access import Person
from evalui.api.problems import MAX_BODY
from evalui.app.service import AppService
from evalui.runs.fair_queue.limits import UserLimits
from evalui.ui.current_person import acting_as

JSON_BODY = {"Content-Type": "application/json"}


def test_who_sends_the_request_is_told_what_they_may(
    api: TestClient, become: Callable[..., None]
) -> None:
    assert api.get("/me").json()["may"] == [
        *("see", "start", "annotate", "add_models", "administer", "manage_accounts")
    ]
    become("rita", "reader")
    limits = asdict(UserLimits())
    assert api.get("/me").json() == {
        "name": "rita",
        "role": "reader",
        "scope": "write",
        "may": ["see"],
        "limits": limits,
    }


def test_the_person_is_that_of_the_request_and_of_no_context(
    api: TestClient, desk: AppService, become: Callable[..., None]
) -> None:
    desk.settings.auth = "password"
    with acting_as(Person("root", "admin")):  # as the screen knows who looks
        assert api.get("/me").json()["may"] == []
        become("rita", "reader")
        assert api.get("/me").json()["name"] == "rita"
        assert api.get("/people").status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status", "key"),
    [
        ("GET", "/nothing", 404, "no-route"),
        ("PUT", "/me", 405, "wrong-method"),
        ("GET", "/runs/none", 404, "no-run"),
        ("GET", "/runs/none/events", 404, "no-run"),
        ("GET", "/datasets/none", 404, "no-upload-id"),
        ("DELETE", "/datasets/../../etc", 404, "no-route"),
        ("GET", "/models/none", 404, "unknown-model"),
        ("GET", "/runs?limit=0", 422, "request-field"),
        ("GET", "/runs?cursor=x", 422, "no-cursor"),
        ("POST", "/datasets", 411, "length-required"),
    ],
)
def test_errors_are_problems(
    api: TestClient, method: str, path: str, status: int, key: str
) -> None:
    answer = api.request(method, path)
    problem = answer.json()
    if key == "length-required":  # a client sends a length where it sends a body
        answer = api.post(path, content=iter([b"x"]))
        problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["key"]) == (status, status, key)
    assert problem["type"] == f"urn:evalui:error:{key}"


def test_the_sentence_is_in_the_language_of_the_request(api: TestClient) -> None:
    english, chinese = (
        api.get("/runs/x", headers={"Accept-Language": tag}).json() for tag in ("en", "zh-CN")
    )
    assert english["detail"] == "There is no run 'x'."
    assert re.search("[一-鿿]", chinese["detail"])
    assert english["key"] == chinese["key"]


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"[" * 100_000, b'{"datasets": ["\\ud800"], "models": ["\\ud800"]}']
)
def test_a_body_that_is_no_run_is_a_problem(api: TestClient, body: bytes) -> None:
    answer = api.post("/runs", content=body, headers=JSON_BODY)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_halves_of_characters_are_taken_nowhere(api: TestClient, spec: dict[str, Any]) -> None:
    for path, sent in (
        ("/runs", {**spec, "name": "\ud800"}),
        ("/runs", {**spec, "\ud800": 1}),
        ("/models", {"name": "a", "path": "\udfff"}),
    ):
        answer = api.post(path, content=json.dumps(sent).encode(), headers=JSON_BODY)
        assert (answer.status_code, answer.json()["key"]) == (422, "half-character")


@pytest.mark.parametrize("depth", [40, 300, 700, 900, 950, 1000, 5000])
def test_no_depth_breaks_it(api: TestClient, spec: dict[str, Any], depth: int) -> None:
    deep = json.dumps(spec)[:-1] + ', "mode": "cloze", "template": ' + '{"a": ' * depth + "1"
    sent = {**JSON_BODY, "Idempotency-Key": "k"}
    answer = api.post("/runs", content=(deep + "}" * (depth + 1)).encode(), headers=sent)
    assert answer.json()["key"] in ("spec-too-deep", "no-json-body")


def test_a_body_is_as_long_as_it_states_and_not_too_long(api: TestClient) -> None:
    assert api.post("/runs", content=b" " * (MAX_BODY + 1)).status_code == 413
    place = "/runs/x/rights/datasets"  # ends as the one route that takes more
    assert api.put(place, content=b" " * (MAX_BODY + 1)).status_code == 413
    assert api.post("/runs", content=iter([b"{}"])).json()["key"] == "length-required"
    stated = {**JSON_BODY, "Content-Length": "9" * 30}
    assert api.post("/runs", content=b"{}", headers=stated).status_code == 413


def test_the_page_describes_every_route_and_needs_nothing_else(api: TestClient) -> None:
    page, document = api.get("/docs").text, api.get("/openapi.json").json()
    for path, item in document["paths"].items():
        for method in item:
            assert f"<code>{method.upper()} {path}</code>" in page
    for name in document["components"]["schemas"]:
        assert f'<h3 id="{name}">{name}</h3>' in page
    assert not re.search("<script|src=|http", page.partition("<body>")[2])


def test_every_answer_has_a_schema(api: TestClient) -> None:
    document = api.get("/openapi.json").json()
    for path, item in document["paths"].items():
        for method, route in item.items():
            good = [each for code, each in route["responses"].items() if code.startswith("2")]
            assert good, (method, path)
            assert all("content" in each for each in good) or "204" in route["responses"], path


_TEXTS = st.text(max_size=40)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_NAMES = (
    "version datasets upload path models modes mode answers run model judging judges limit seed"
    " name place address key pair choice seconds template columns entry"
)
_FIELDS = st.sampled_from(_NAMES.split())
_KNOWN = st.dictionaries(
    _FIELDS, _JSON | st.lists(st.dictionaries(_FIELDS, _JSON, max_size=3), max_size=2), max_size=5
)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_request_of_any_shape_breaks_it(
    api: TestClient, finished: str, method: str, data: st.DataObject
) -> None:
    paths = api.get("/openapi.json").json()["paths"]
    path = data.draw(st.sampled_from([path for path in paths if method.lower() in paths[path]]))
    for name in re.findall(r"\{(\w+)\}", path):
        value = data.draw(st.just(finished) | _TEXTS)
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    query = data.draw(
        st.dictionaries(st.sampled_from(["cursor", "limit", "x"]), _TEXTS, max_size=3)
    )
    known: dict[str, Any] = data.draw(_KNOWN)
    body = data.draw(st.binary(max_size=60) | st.just(json.dumps(known).encode()))
    headers = data.draw(
        st.dictionaries(
            st.sampled_from(["Idempotency-Key", "Last-Event-ID", "Accept-Language"]),
            st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=20),
            max_size=3,
        )
    )
    kind = data.draw(st.sampled_from(["application/json", "multipart/form-data; boundary=x", "x"]))
    sent = {name: value.strip().encode("latin-1") for name, value in headers.items()}
    answer = api.request(
        method,
        path,
        params=query,
        content=body,
        headers={**sent, "Content-Type": kind.encode()},
    )
    assert answer.status_code < 500
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
