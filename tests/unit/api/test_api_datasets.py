"""Uploads: what was read of them, whose they are, and what is refused."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from starlette.testclient import TestClient
from ui_examples import FAULTY, GOOD

from evalui.api import datasets
from evalui.api.application import PREFIX, create_api
from evalui.app.service import AppService
from evalui.client import Client
from evalui.datasets import ANSWER_KEYS
from evalui.datasets.answers import AnswerFunction, AnswerRow
from evalui.runs.worker.worker import Worker


def test_an_upload_states_its_questions_and_its_faults_with_their_lines(api: TestClient) -> None:
    sent = api.post("/datasets", files=[("files", ("capitals.csv", FAULTY.encode()))])
    described = sent.json()
    (part,) = described["parts"]
    assert (sent.status_code, described["files"], described["problem"]) == (
        201,
        ["capitals.csv"],
        "",
    )
    assert (part["kind"], part["questions"], part["rows"]) == ("multiple_choice", 4, 6)
    assert [(fault["line"], fault["rule"]) for fault in part["faults"]] == [
        (6, "answer-not-an-option"),
        (7, "empty-question"),
    ]
    assert api.get(f"/datasets/{described['id']}").json() == described


def test_the_parts_of_a_configuration_are_its_entries(api: TestClient) -> None:
    config = (
        '[{"subset_list": ["law"], "dataset": "custom_eval", "pattern": "ceval"},'
        ' {"subset_list": ["art"], "dataset": "custom_qa", "pattern": "general_qa"}]'
    )
    files = [("custom_config.json", config), ("law_val.csv", GOOD)]
    files += [("art.jsonl", '{"query": "Who?", "response": "Me."}\n')]
    sent = api.post("/datasets", files=[("files", (n, text.encode())) for n, text in files])
    kinds = [part["kind"] for part in sent.json()["parts"]]
    assert kinds == ["multiple_choice", "general_qa"], sent.text


def test_files_that_are_no_questions_are_kept_with_the_reason(api: TestClient) -> None:
    sent = api.post("/datasets", files=[("files", ("a.csv", b"\x00\x01\x02" * 50))]).json()
    assert (sent["state"], sent["parts"]) == ("faulty", [])
    assert "a.csv" in sent["problem"]
    assert api.get("/datasets").json()[0]["id"] == sent["id"]


@pytest.fixture
def may_read(desk: AppService, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Files wait for this to be set; nobody waits long for an answer before it is."""
    begin, ask = threading.Event(), desk.files.runner.ask

    def wait_and_ask(*request: object) -> object:
        begin.wait()
        return ask(*request)

    monkeypatch.setattr(desk.files.runner, "ask", wait_and_ask)
    monkeypatch.setattr(datasets, "PATIENCE_S", 0.1)
    return begin


def test_what_takes_long_to_read_is_answered_before_it_is_read(
    api: TestClient,
    may_read: threading.Event,
    become: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = api.post("/datasets", files=[("files", ("capitals.csv", GOOD.encode()))])
    described, place = sent.json(), f"/{sent.headers['Location']}"
    assert (sent.status_code, described["state"], described["parts"]) == (202, "reading", [])
    assert api.get(place).status_code == 202
    monkeypatch.setattr(datasets, "PATIENCE_S", 60)
    may_read.set()
    read = api.get(place)
    assert (read.status_code, read.json()["state"]) == (200, "ready")
    assert [part["questions"] for part in read.json()["parts"]] == [4]
    become("eve")
    assert api.get(place).status_code == 404


def test_a_client_waits_until_its_upload_is_read(
    desk: AppService, may_read: threading.Event, tmp_path: Path
) -> None:
    (tmp_path / "capitals.csv").write_text(GOOD)
    states: list[str] = []

    def on_progress(now: datasets.UploadedDatasets) -> None:
        states.append(now.state)
        if len(states) == 2:
            may_read.set()

    with _served(desk) as url:
        read = Client(url).upload([tmp_path / "capitals.csv"], on_progress)
    assert {*states} == {"reading"}
    assert (read.state, [part.questions for part in read.parts]) == ("ready", [4])


@contextmanager
def _served(desk: AppService) -> Iterator[str]:
    app = FastAPI()
    app.mount(PREFIX, create_api(desk))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    (socket,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def test_another_person_sees_no_upload(
    api: TestClient, send: Callable[..., str], become: Callable[..., None]
) -> None:
    upload = send()
    become("eve")
    assert api.get("/datasets").json() == []
    assert api.get(f"/datasets/{upload}").status_code == 404
    assert api.delete(f"/datasets/{upload}").status_code == 404


def test_an_upload_is_deleted_with_its_files(
    api: TestClient, desk: AppService, send: Callable[..., str]
) -> None:
    upload, other = send(), send(GOOD.replace("Oslo", "Riga"))
    assert api.delete(f"/datasets/{upload}").status_code == 204
    assert [each["id"] for each in api.get("/datasets").json()] == [other]
    assert [path.name for path in desk.settings.uploads.rglob("capitals.csv")] == ["capitals.csv"]


@pytest.mark.parametrize("scope", ["read", "write"])
def test_readers_upload_and_delete_nothing(
    api: TestClient, become: Callable[..., None], scope: str
) -> None:
    become("rita", "reader" if scope == "write" else "admin", scope=scope)
    for answer in (
        api.post("/datasets", files=[("files", ("a.csv", GOOD.encode()))]),
        api.delete("/datasets/0123456789abcdef"),
    ):
        assert (answer.status_code, answer.json()["key"]) == (403, "not-allowed-start")


def test_what_is_too_large_is_not_read(api: TestClient, desk: AppService) -> None:
    desk.uploads.limit = 10
    sent = api.post("/datasets", files=[("files", ("a.csv", b"x" * 2_000_000))])
    assert (sent.status_code, sent.json()["key"]) == (413, "upload-too-large")


def test_only_forms_are_taken(api: TestClient) -> None:
    assert api.post("/datasets", content=b"a,b").json()["key"] == "not-multipart"
    assert api.post("/datasets", files=[("other", ("a.csv", b"x"))]).json()["key"] == "upload-empty"


OWN_NAMES = """nr,Frage,erste,zweite,richtig
1,Hauptstadt von Norwegen?,Oslo,Rom,1
2,Hauptstadt von Italien?,Oslo,Rom,2
"""


def test_columns_are_guessed_named_and_remembered(
    api: TestClient, send: Callable[..., str]
) -> None:
    upload = send(OWN_NAMES, "staedte.csv")
    assert api.get(f"/datasets/{upload}").json()["parts"][0]["questions"] == 0
    (part,) = api.get(f"/datasets/{upload}").json()["parts"]
    table, guess = part["columns"]["table"], part["columns"]["guess"]
    assert (table["headers"], table["rows"][0][2]) == (
        ["nr", "Frage", "erste", "zweite", "richtig"],
        "Oslo",
    )
    assert (guess["roles"][1], part["columns"]["kept"]) == ("question", {})
    chosen = {"question": "Frage", "A": "erste", "B": "zweite", "answer": "richtig"}
    sent = {"columns": chosen, "answer_key": "index1"}
    part = api.post(f"/datasets/{upload}/columns?remember=true", json=sent).json()
    assert (part["questions"], part["faults"]) == (2, [])
    assert part["columns"]["kept"] == chosen
    run = {"datasets": [{"upload": upload, **sent}], "models": ["biased"], "mode": "cloze"}
    assert api.post("/runs", json={**run, "version": 2}).json()["total"] == 2
    other = send(OWN_NAMES.replace("Rom", "Riga"), "more.csv")
    (part,) = api.get(f"/datasets/{other}").json()["parts"]
    assert part["columns"]["kept"] == chosen
    by_text = send(OWN_NAMES.replace(",1\n", ",Oslo\n").replace(",2\n", ",Rom\n"), "text.csv")
    assert api.get(f"/datasets/{by_text}").json()["parts"][0]["columns"]["kept"] == {}
    for wrong in ({"columns": {"role": "Frage"}}, {"column": {}}):
        refused = api.post(f"/datasets/{upload}/columns", json=wrong)
        assert (refused.status_code, refused.json()["key"]) == (422, "request-field")
    assert api.post("/datasets/0123456789abcdef/columns", json=sent).status_code == 404


def test_a_function_of_a_package_is_an_answer_key_of_an_upload(
    api: TestClient, send: Callable[..., str], desk: AppService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(row: AnswerRow) -> str:
        return row.columns["votes"][0]

    entries = {**ANSWER_KEYS._entries, "first_vote": AnswerFunction(compute)}
    monkeypatch.setattr(ANSWER_KEYS, "_entries", entries)
    packages = {**ANSWER_KEYS._packages, "first_vote": "their-keys 2.1"}
    monkeypatch.setattr(ANSWER_KEYS, "_packages", packages)
    text = "id,question,A,B,votes\n1,Which?,yes,no,BA\n2,What?,one,two,\n3,Who?,he,she,AA\n"
    upload = send(text, "survey.csv")
    sent = {"answer_key": "first_vote"}
    part = api.post(f"/datasets/{upload}/columns", json=sent).json()
    (fault,) = part["faults"]
    assert (fault["line"], fault["rule"]) == (3, "answer-function")
    assert "IndexError" in fault["actual"]
    assert part["questions"] == 2
    dataset = {"upload": upload, "skip_faulty": True, **sent}
    run = {"version": 3, "datasets": [dataset], "models": ["biased"], "mode": "multiple_choice"}
    started = api.post("/runs", json=run)
    assert started.status_code == 201, started.text
    Worker(desk.database, desk.models.catalog).run_once()
    (cell,) = api.get(f"/runs/{started.json()['id']}/figures").json()["overview"]
    assert "|plugins:their-keys 2.1|" in cell["signature"]
    assert cell["n"] == 2
    unknown = api.post(f"/datasets/{upload}/columns", json={"answer_key": "last_vote"})
    assert unknown.status_code == 422
    assert "first_vote" in unknown.text


def test_commas_in_texts_are_accepted_by_a_field(api: TestClient, send: Callable[..., str]) -> None:
    upload = send("question,A,B,answer\nIs it, then?,yes,no,A\nIs it, now?,yes,no,B\n")
    (part,) = api.get(f"/datasets/{upload}").json()["parts"]
    assert "2 of 2 rows are read" in str(part)
    read = api.post(f"/datasets/{upload}/columns", json={"commas_in_text": True}).json()
    assert [each["text"] for each in read["preview"]["questions"]] == [
        "Is it, then?",
        "Is it, now?",
    ]


def test_an_upload_shows_its_questions_and_every_guess(
    api: TestClient, send: Callable[..., str]
) -> None:
    upload = send(GOOD.replace("4,Capital", "4,Main town"))
    (part,) = api.get(f"/datasets/{upload}").json()["parts"]
    preview = part["preview"]
    assert (preview["start"], preview["total"], len(preview["questions"])) == (0, 4, 3)
    question = preview["questions"][1]
    assert (question["text"], question["line"]) == ("Capital of Italy?", 3)
    assert [each["letter"] for each in question["options"] if each["right"]] == ["B"]
    reading = preview["reading"]
    assert (reading["kind"]["value"], reading["head_row"]) == (
        "multiple_choice",
        {"value": 1, "origin": "name"},
    )
    assert [each["role"] for each in reading["columns"]][:3] == ["id", "question", "A"]
    page = api.post(f"/datasets/{upload}/columns?start=3", json={}).json()["preview"]
    assert [each["text"] for each in page["questions"]] == ["Main town of Switzerland?"]


def test_another_reading_is_shown_with_what_it_makes(
    api: TestClient, send: Callable[..., str]
) -> None:
    upload = send(OWN_NAMES, "staedte.csv")
    sent = {"columns": {"question": "Frage", "answer": "zweite"}, "kind": "general_qa"}
    part = api.post(f"/datasets/{upload}/columns", json=sent).json()
    assert (part["kind"], part["questions"]) == ("general_qa", 2)
    assert part["preview"]["questions"][0]["references"] == ["Rom"]
    origins = {each["header"]: each["origin"] for each in part["preview"]["reading"]["columns"]}
    assert (origins["Frage"], origins["zweite"]) == ("name", "person")
