"""Runs: started from uploads alone, by whom, once, and taken away in pages and files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from ui_examples import FAULTY, GOOD

from evalui.access import Person
from evalui.app.datasets import store_upload
from evalui.app.evaluations import run_to_repeat
from evalui.app.results import export_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.worker.worker import Worker
from evalui.store.runs import read_runs

OPEN = '{"query": "Who wrote Faust?", "response": "Goethe"}\n{"query": "2+2?", "response": "4"}\n'
ANSWERS = '{"index": 1, "model": "mine", "answer": "Goethe"}\n'


def test_a_run_is_started_from_uploads(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    answer = api.post("/runs", json=spec)
    run = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"runs/{run['id']}")
    assert (run["state"], run["total"], run["place"]) == ("queued", 16, 1)
    assert [cell["model"] for cell in run["cells"]] == ["biased"]
    (dataset,) = run_to_repeat(desk, run["id"]).datasets  # the screen can repeat it
    assert (dataset.upload, dataset.name) == (spec["datasets"][0]["upload"], "capitals")
    assert dataset.paths == ()


@pytest.mark.parametrize(
    "dataset",
    [
        "/etc/passwd",
        {"path": "/etc/passwd"},
        {"path": ["~/.ssh/id_rsa"]},
        {"path": "../uploads", "upload": "{upload}"},
        {"path": "/etc/passwd", "upload": "0123456789abcdef"},
    ],
)
def test_no_path_of_the_server_is_read(
    api: TestClient, spec: dict[str, Any], dataset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(dataset, dict) and dataset.get("upload") == "{upload}":
        dataset = {**dataset, "upload": spec["datasets"][0]["upload"]}
    opened: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", lambda path: opened.append(path) or b"")
    answer = api.post("/runs", json={**spec, "datasets": [dataset]})
    assert (answer.status_code, answer.json()["key"]) == (422, "spec-path")
    assert opened == []


@pytest.mark.parametrize("upload", ["../../evalui.sqlite", "..", "/etc", "0123456789abcdef", "a/b"])
def test_no_id_leads_out_of_the_uploads(api: TestClient, spec: dict[str, Any], upload: str) -> None:
    answer = api.post("/runs", json={**spec, "datasets": [{"upload": upload}]})
    assert (answer.status_code, answer.json()["key"]) == (422, "upload-gone")
    answer = api.post("/runs", json={**spec, "datasets": [{}]})
    assert answer.json()["key"] == "spec-no-upload"


def test_answers_come_from_uploads_too(
    api: TestClient, send: Callable[..., str], spec: dict[str, Any]
) -> None:
    questions, answers = send(OPEN, "qa.jsonl"), send(ANSWERS, "mine.jsonl")
    wanted = {"version": 2, "datasets": [{"upload": questions}], "models": []}
    given = {"model": "mine", "upload": answers, "dataset": questions}
    run = api.post("/runs", json={**wanted, "answers": [given]}).json()
    assert "cells" in run, run
    assert [(cell["model"], cell["total"]) for cell in run["cells"]] == [("mine", 1)]
    for wrong in ({"path": "/etc/passwd"}, {"path": "/etc/passwd", "run": run["id"]}):
        refused = api.post("/runs", json={**wanted, "answers": [{"model": "m", **wrong}]}).json()
        assert refused["key"] == "spec-path"
    several = {"model": "m", "upload": spec["datasets"][0]["upload"]}
    assert api.post("/runs", json={**wanted, "answers": [several]}).status_code == 422


def test_no_answer_of_another_person_s_run_or_upload_is_used(
    api: TestClient,
    send: Callable[..., str],
    finished: str,
    spec: dict[str, Any],
    become: Callable[..., None],
) -> None:
    become("eve")
    assert api.post("/runs", json=spec).json()["key"] == "upload-gone"
    earlier = {"model": "biased", "run": finished}
    wanted = {"datasets": [{"upload": send(OPEN, "qa.jsonl")}], "answers": [earlier]}
    answer = api.post("/runs", json={**wanted, "version": 2})
    assert (answer.status_code, answer.json()["key"]) == (404, "no-run")


def test_faulty_rows_are_told_without_a_path_of_the_server(
    api: TestClient, desk: AppService, send: Callable[..., str], spec: dict[str, Any]
) -> None:
    upload = send(FAULTY)
    told = api.post("/runs", json={**spec, "datasets": [{"upload": upload}]}).json()
    assert told["key"] == "faults"
    assert f'"datasets": [{{"upload": "{upload}", "skip_faulty": true}}]' in told["detail"]
    assert str(desk.settings.data_dir) not in told["detail"]
    left_out = {**spec, "datasets": [{"upload": upload, "skip_faulty": True}]}
    assert api.post("/runs", json=left_out).json()["left_out"] == [
        "Faulty rows left out of capitals: 2."
    ]


def test_a_request_that_is_sent_twice_starts_one_run(
    api: TestClient, desk: AppService, spec: dict[str, Any], become: Callable[..., None]
) -> None:
    once = {"Idempotency-Key": "k1"}
    first, second = (api.post("/runs", json=spec, headers=once).json()["id"] for _ in range(2))
    assert first == second
    other = api.post("/runs", json={**spec, "seed": 1}, headers=once)
    assert (other.status_code, other.json()["key"]) == (409, "request-key")
    assert api.post("/runs", json=spec, headers={"Idempotency-Key": "k2"}).json()["id"] != first
    assert len(read_runs(desk.database)) == 2
    assert api.delete(f"/runs/{first}").status_code == 204
    assert api.post("/runs", json=spec, headers=once).json()["id"] != first
    bad = api.post("/runs", json=spec, headers={"Idempotency-Key": "x" * 201})
    assert bad.json()["key"] == "request-key-form"
    become("eve")
    eve = desk.acting_for(Person("eve", "annotator"))
    store_upload(eve, [("capitals.csv", GOOD.encode())])  # the same files, the same key
    assert api.post("/runs", json=spec, headers=once).status_code == 201
    assert len(api.get("/runs").json()["runs"]) == 1


def test_runs_are_listed_in_pages_the_newest_first(
    api: TestClient, spec: dict[str, Any], become: Callable[..., None]
) -> None:
    ids = [api.post("/runs", json=spec).json()["id"] for _ in range(3)]
    page = api.get("/runs?limit=2").json()
    assert [run["id"] for run in page["runs"]] == ids[:0:-1]
    page = api.get(f"/runs?limit=2&cursor={page['next']}").json()
    assert ([run["id"] for run in page["runs"]], page["next"]) == (ids[:1], "")
    become("eve")
    assert api.get("/runs").json()["runs"] == []


def test_a_run_is_stopped_resumed_and_deleted(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    run = api.post("/runs", json=spec).json()["id"]
    assert api.post(f"/runs/{run}/stop").json()["state"] == "cancelled"
    assert api.post(f"/runs/{run}/resume").json()["state"] == "queued"
    Worker(desk.database, desk.models.catalog).run_once()
    done = api.get(f"/runs/{run}").json()
    assert (done["state"], done["done"], done["cells"][0]["accuracy"]) == ("done", 16, 0.75)
    assert (done["cells"][0]["width"], done["cells"][0]["max_width"]) == (0, 0)  # of no endpoint
    assert api.delete(f"/runs/{run}").status_code == 204
    assert api.get(f"/runs/{run}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "", None),
        ("POST", "/stop", None),
        ("POST", "/resume", None),
        ("GET", "", None),
        ("GET", "/trials", None),
        ("GET", "/events", None),
        ("GET", "/report.zip", None),
        ("GET", "/figures", None),
        ("GET", "/votes", None),
        ("GET", "/ballot", None),
        ("POST", "/votes", {"pair": "x", "choice": "a"}),
        ("PUT", "/voters", {"people": ["x"]}),
    ],
)
def test_nobody_reaches_a_run_of_another_person(
    api: TestClient,
    finished: str,
    become: Callable[..., None],
    method: str,
    path: str,
    body: Any,
) -> None:
    become("eve", "operator")
    assert api.request(method, f"/runs/{finished}{path}", json=body).status_code == 404
    become("root", "admin")
    assert api.request(method, f"/runs/{finished}{path}", json=body).status_code != 404


@pytest.mark.parametrize(
    ("path", "key"),
    [("", "not-allowed-start"), ("/{run}/stop", "not-allowed-change")],
)
def test_a_token_to_read_changes_nothing(
    api: TestClient,
    finished: str,
    spec: dict[str, Any],
    become: Callable[..., None],
    path: str,
    key: str,
) -> None:
    become("local", "admin", scope="read")
    refused = api.post(f"/runs{path.format(run=finished)}", json=spec)
    assert (refused.status_code, refused.json()["key"]) == (403, key)
    assert api.get(f"/runs/{finished}").json()["may"] == ["see"]


def test_trials_come_in_pages_each_once(api: TestClient, finished: str, desk: AppService) -> None:
    lines: list[str] = []
    cursor = ""
    while True:
        page = api.get(f"/runs/{finished}/trials", params={"cursor": cursor, "limit": 5})
        lines += page.text.splitlines()
        if (cursor := page.headers.get("next-cursor", "")) == "":
            break
    _, whole = export_run(desk, finished, "trials.jsonl", "en")
    assert lines == b"".join(whole).decode().splitlines()
    assert len(lines) == 16
    for wrong in ("x", "1", "-1.0", "1.x", "9" * 30, "²."):
        assert api.get(f"/runs/{finished}/trials", params={"cursor": wrong}).status_code == 422


def test_a_page_of_a_run_that_goes_on_ends_where_it_is(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    run = api.post("/runs", json=spec).json()["id"]
    empty = api.get(f"/runs/{run}/trials")
    assert (empty.text, empty.headers["next-cursor"]) == ("", "0.0")
    Worker(desk.database, desk.models.catalog).run_once()
    rest = api.get(f"/runs/{run}/trials?cursor=0.0")
    assert len(rest.text.splitlines()) == 16
    assert "next-cursor" not in rest.headers


def test_the_report_and_its_figures_are_those_of_the_screen(
    api: TestClient, desk: AppService, finished: str
) -> None:
    figures = api.get(f"/runs/{finished}/figures")
    name, content = export_run(desk, finished, "json", "en")
    assert figures.content == b"".join(content)
    assert figures.json()["overview"][0]["acc_origin"] == 75.0
    packed = api.get(f"/runs/{finished}/report.zip")
    assert packed.content[:2] == b"PK"
    assert name.removesuffix("json") in packed.headers["content-disposition"]
    assert api.get(f"/runs/{finished}/report.doc").json()["key"] == "no-export"


def test_votes_are_cast_on_ballots_without_names(
    api: TestClient, desk: AppService, send: Callable[..., str]
) -> None:
    upload = send(OPEN, "qa.jsonl")
    spec = {"version": 2, "datasets": [{"upload": upload}], "models": ["biased", "always-A"]}
    run = api.post("/runs", json={**spec, "mode": "question_answer"}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    ballot = api.get(f"/runs/{run}/ballot").json()
    assert (ballot["voted"], ballot["pairs"]) == (0, 2)
    assert "biased" not in json.dumps(ballot)
    sent = {"pair": ballot["pair"], "choice": "a", "comment": "clear", "seconds": 3.5}
    assert api.post(f"/runs/{run}/votes", json=sent).status_code == 204
    assert api.get(f"/runs/{run}/ballot").json()["voted"] == 1
    assert api.get(f"/runs/{run}/votes").json()["key"] == "votes-open"
    gone = api.post(f"/runs/{run}/votes", json={**sent, "pair": "x"})
    assert (gone.status_code, gone.json()["key"]) == (409, "pair-gone")
    assert api.post(f"/runs/{run}/votes", json={**sent, "choice": "c"}).status_code == 422
    assert api.post(f"/runs/{run}/votes/close").status_code == 204
    (vote,) = map(json.loads, api.get(f"/runs/{run}/votes").text.splitlines())
    assert (vote["by"], vote["comment"]) == ("local", "clear")
    assert api.post(f"/runs/{run}/votes", json=sent).json()["key"] == "voter-finished"


def test_who_is_not_named_votes_on_no_pair(
    api: TestClient, desk: AppService, send: Callable[..., str]
) -> None:
    upload = send(OPEN, "qa.jsonl")
    spec = {"version": 2, "datasets": [{"upload": upload}], "models": ["biased", "always-A"]}
    run = api.post("/runs", json={**spec, "mode": "question_answer"}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    pair = api.get(f"/runs/{run}/ballot").json()["pair"]
    named = {"people": ["ann", "ben"], "overlap": 2}
    assert api.put(f"/runs/{run}/voters", json=named).status_code == 204
    for answer in (
        api.get(f"/runs/{run}/ballot"),
        api.post(f"/runs/{run}/votes", json={"pair": pair, "choice": "a"}),
    ):
        assert (answer.status_code, answer.json()["key"]) == (403, "not-assigned")
    assert api.get(f"/runs/{run}/votes").text == ""
    refused = api.put(f"/runs/{run}/voters", json={"people": ["ann"], "overlap": 2})
    assert (refused.status_code, refused.json()["key"]) == (422, "plan-overlap")
    assert api.put(f"/runs/{run}/voters", json={"people": []}).status_code == 204
    assert api.get(f"/runs/{run}/ballot").json()["pair"] == pair


def test_who_is_named_sees_and_votes_on_that_run_alone(
    api: TestClient,
    desk: AppService,
    send: Callable[..., str],
    become: Callable[..., None],
) -> None:
    spec = {"version": 2, "models": ["biased", "always-A"], "mode": "question_answer"}
    spec["datasets"] = [{"upload": send(OPEN, "qa.jsonl")}]
    run, other = (api.post("/runs", json=spec).json()["id"] for _ in range(2))
    for _ in range(2):
        Worker(desk.database, desk.models.catalog).run_once()
    named = {"people": ["eve"], "overlap": 1}
    assert api.put(f"/runs/{run}/voters", json=named).status_code == 204

    become("eve")
    assert [each["id"] for each in api.get("/runs").json()["runs"]] == [run]
    assert api.get(f"/runs/{run}").json()["may"] == ["annotate", "see"]
    vote = {"pair": api.get(f"/runs/{run}/ballot").json()["pair"], "choice": "a"}
    assert api.post(f"/runs/{run}/votes", json=vote).status_code == 204
    for answer in (
        api.delete(f"/runs/{run}"),
        api.put(f"/runs/{run}/voters", json=named),
        api.post(f"/runs/{run}/links"),
    ):
        assert (answer.status_code, answer.json()["key"]) == (403, "not-allowed-change")
    assert api.get(f"/runs/{other}").status_code == 404
    assert api.post(f"/runs/{other}/votes", json=vote).status_code == 404

    become("local", "admin")
    assert api.put(f"/runs/{run}/voters", json={"people": []}).status_code == 204
    become("eve")
    assert api.get("/runs").json()["runs"] == []
    assert api.get(f"/runs/{run}/ballot").status_code == 404


def test_a_run_that_everyone_may_see_is_changed_by_its_owner_alone(
    api: TestClient, finished: str, become: Callable[..., None]
) -> None:
    place = f"/runs/{finished}/everyone"
    become("eve", "reader")
    assert api.get(f"/runs/{finished}").status_code == 404
    become("local", "admin")
    assert api.put(place).status_code == 204
    assert api.get(f"/runs/{finished}").json()["everyone"] is True
    become("eve", "reader")
    assert [each["id"] for each in api.get("/runs").json()["runs"]] == [finished]
    assert api.get(f"/runs/{finished}").json()["may"] == ["see"]
    become("eve", "operator")
    for refused in (api.delete(place), api.delete(f"/runs/{finished}")):
        assert (refused.status_code, refused.json()["key"]) == (403, "not-allowed-change")
    assert api.get(f"/runs/{finished}/ballot").json()["key"] == "not-allowed-annotate"
    become("local", "admin")
    assert api.delete(place).status_code == 204
    become("eve", "operator")
    assert api.get("/runs").json()["runs"] == []
    assert api.get(f"/runs/{finished}/report.json").status_code == 404


def test_a_run_is_planned_and_not_started(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    wanted = {**spec, "models": ["biased", "gone"]}
    plan = api.post("/runs/plan", json=wanted).json()
    assert read_runs(desk.database) == []
    assert (plan["cost"]["requests"], plan["cost"]["cached"]) == (16, 0)
    able, unable = plan["cells"]
    assert (able["model"], able["dataset"], able["total"]) == ("biased", "capitals", 16)
    assert unable["impossible"] in plan["warnings"][0]
    assert plan["hindrance"] == ""
    assert plan["ahead"] == {"runs": 0, "held": ""}
    started = api.post("/runs", json=wanted).json()
    assert started["total"] == plan["cost"]["requests"]
    assert api.post("/runs/plan", json=spec).json()["ahead"]["runs"] == 1
    assert api.post("/runs/plan", json={**spec, "models": ["x"]}).json()["key"] == "unknown-model"
    faulty = {**spec, "datasets": [{"path": "/etc/passwd"}]}
    assert api.post("/runs/plan", json=faulty).json()["key"] == "spec-path"


def test_a_plan_states_what_hinders_the_run(
    api: TestClient, desk: AppService, spec: dict[str, Any], become: Callable[..., None]
) -> None:
    nothing = api.post("/runs/plan", json={**spec, "models": ["gone"]}).json()
    assert nothing["hindrance"] == messages("en")("cost.nothing")
    desk.settings.limit_queued = 1
    api.post("/runs", json=spec)
    full = api.post("/runs/plan", json=spec, headers={"Accept-Language": "zh"}).json()
    assert (
        full["hindrance"]
        == api.post("/runs", json=spec, headers={"Accept-Language": "zh"}).json()["detail"]
    )
    become("rita", "reader")
    assert api.post("/runs/plan", json=spec).json()["key"] == "not-allowed-start"


def test_groups_are_declared_in_the_specification_that_is_sent(
    api: TestClient, desk: AppService, spec: dict[str, Any]
) -> None:
    groups = [{"name": "Sets", "members": ["capitals"], "of": "datasets", "mean": "micro"}]
    wrong = api.post("/runs/plan", json={**spec, "summary_groups": "cevil"})
    assert wrong.status_code == 422
    assert "There are no published groups 'cevil'" in wrong.text
    wrong = api.post("/runs/plan", json={**spec, "summary_groups": "ceval"})
    assert (wrong.status_code, wrong.json()["key"]) == (422, "group-no-subject")
    run = api.post("/runs", json={**spec, "summary_groups": groups}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    made = api.get(f"/runs/{run}/report.json").json()
    (group,) = (row for row in made["summary_groups"] if row["metric"] == "robust")
    (cell,) = made["overview"]
    assert (group["group"], group["model"], group["mean"]) == ("Sets", "biased", "micro")
    assert group["value"] == pytest.approx(cell["robust"])
    assert "Sets" in api.get(f"/runs/{run}/report.md").text
