"""Whatever a client sends to the events of the page, none answers 500 and none leaves a traceback.

The table is drawn with a fixed seed from what the pages themselves read: every listener, every act
and field that the source names, with values of every wrong kind.
"""

import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from annotate_examples import open_run
from starlette.testclient import TestClient
from ui_examples import GOOD, MODELS, served

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.server import create_app
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.voting.votes import MAX_COMMENT
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.web import events

SOURCE = "".join(
    path.read_text(encoding="utf-8")
    for path in sorted(Path(events.__file__).parents[1].rglob("*"))
    if path.suffix in (".py", ".html")
)
FIELDS = sorted(
    set(re.findall(r'(?:field_values?|\.value)\((?:[a-z.]+, )?f?"([a-z_]+)', SOURCE))
    | set(re.findall(r"\bdata-([a-z]+)=", SOURCE))
    | {"name", "uploads", "models", "modes", "cells", "answers", "picks", "judges"}
)
ACTS = sorted(
    set(re.findall(r'(?:\.do (?:==|!=) |data-do=|case )"([a-z_]+)"', SOURCE))
    | set(re.findall(r'button\([^\n]+?, "([a-z_]+)"', SOURCE))
    | set(re.findall(r'"([a-z_]+)": self\.\w+,', SOURCE))
)
TEXTS = (
    *(
        "",
        "x",
        "-1",
        "0",
        "7",
        "1e999",
        "9" * 30,
        "9" * 5000,
        "²",
        "٣",
        "nan",
        "null",
        "{",
        "{}",
        "[]",
    ),
    *(
        "[]",
        "[1, 2]",
        '["a"]',
        '[["a"], {}]',
        "\0",
        "a:b:c",
        "a@b@c",
        "../..",
        "1,2,x",
        "中" * 5000,
    ),
    *('["", 9, 9, "duels", [], 1e300]', "[null, null, null]", '[1, "x", 2, [], [], "soon"]'),
)
COUNT = int(os.environ.get("EVALUI_FUZZ", "800"))


@dataclass(frozen=True, slots=True)
class Site:
    """A running application with finished runs of both kinds."""

    client: TestClient
    runs: tuple[str, ...]
    upload: str
    listeners: tuple[dict[str, Any], ...]

    def send(self, body: Any, page: str = "en", name: str = "predict") -> Any:
        content = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.client.post(
            f"/{page}/gradio_api/run/{name}",
            content=content,
            headers={"content-type": "application/json"},
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def battered(tmp_path: Path) -> Iterator[Site]:
    """A site of one test's own: its events may delete the runs."""
    yield from _site(tmp_path)


def _site(folder: Path) -> Iterator[Site]:
    (folder / "models.toml").write_text(MODELS, encoding="utf-8")
    settings = Settings(
        data_dir=folder / "data", models=folder / "models.toml", workers=0, token=False
    )
    settings.data_dir.mkdir()
    desk = AppService(settings, Database(settings.database))
    upload = store_upload(desk, [("capitals.csv", GOOD.encode())])
    run = start_run(
        desk,
        form_to_spec(
            {"uploads": [upload], "models": ["biased", "always-A"], "modes": ["multiple_choice"]}
        ),
    )
    Worker(desk.database, desk.models.catalog).run_once()
    runs = (run, open_run(desk, judged=True), "nowhere00")
    desk.database.close()
    app = served(lambda: create_app(settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        listed = client.get("/en/config").json()["dependencies"]
        listeners = tuple(each for each in listed if each["api_visibility"] != "public")
        yield Site(client, runs, upload, listeners)


def drawn(site: Site, seed: int) -> dict[str, Any]:
    """An event of the right shape for Gradio, and of any contents."""
    chance = random.Random(seed)
    # Every listener with every act, and then again with other contents.
    listener = site.listeners[seed % len(site.listeners)]
    do = ACTS[seed // len(site.listeners) % len(ACTS)]
    texts = (*TEXTS, *site.runs, *site.runs, site.upload)
    run, number = chance.choice(site.runs), chance.choice((0, 1, -1, 99, 10**30, 1e300))
    kept = (  # as the pages keep it: what was seen of an arena, of the runs, of the models
        [run, number, number, chance.choice(("overall", "duels", "x")), [], number],
        [number, run, '["", ""]'],
        [run, run],
        ["", run, number],
    )
    texts = (*texts, *(json.dumps(each) for each in kept for _ in range(8)))
    some = {name: chance.choice(texts) for name in chance.sample(FIELDS, 12)}
    form: dict[str, Any] = {
        name: chance.choice(texts) for name in chance.sample(FIELDS, min(30, len(FIELDS)))
    }
    form |= {name: [chance.choice(texts)] for name in chance.sample(FIELDS, 8)}
    form |= chance.choice(({}, {"uploads": [site.upload], "models": ["biased"]}))
    form |= chance.choice(({}, {"modes": ["multiple_choice"], "pattern": "circular"}))
    act = {**some, "run": chance.choice(site.runs[1:]), "do": do, "form": form}
    strange: Any = chance.choice(({}, {"do": 7, "form": []}, {"form": {"a": {}}, "do": None}))
    return {
        "data": [chance.choice((*texts, *site.runs * 20, None)) for _ in listener["inputs"]],
        "event_data": chance.choice((act, act, act, strange, None)),
        "fn_index": listener["id"],
        "trigger_id": chance.choice((None, listener["targets"][0][0], 10**6)),
        "session_hash": "fuzz",
    }


def test_no_event_of_any_contents_is_answered_by_a_traceback(
    battered: Site,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
):
    failed: dict[str, str] = {}
    for seed in range(COUNT):
        event = drawn(battered, seed)
        answer = battered.send(event)
        told = [each for each in ("Traceback", " at 0x", str(tmp_path)) if each in answer.text]
        if answer.status_code == 500 or told:
            where = "\n".join(capfd.readouterr().err.splitlines()[-4:])
            failed.setdefault(where, json.dumps(event)[:300])
    said = capfd.readouterr()
    assert not failed, "\n\n".join(f"{event}\n{where}" for where, event in failed.items())
    assert "Traceback" not in said.out + said.err + caplog.text


def named(site: Site, name: str, sent: dict[str, Any]) -> dict[str, Any]:
    """The event of a name, whose fields are empty."""
    found = next(each for each in site.listeners if each["api_name"] == name)
    empty = [""] * len(found["inputs"])
    return {"data": empty, "event_data": sent or None, "fn_index": found["id"]}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        b"\xff",
        "[]",
        "null",
        "{}",
        {"data": [], "fn_index": None},
        {"data": [], "fn_index": 9999},
        {"data": [], "fn_index": -1},
        {"data": [], "fn_index": "0"},
        {"data": {}, "fn_index": 1},
        {"data": [""], "fn_index": 1},
        {"data": ["", ""], "fn_index": 1},
        {"data": [7], "fn_index": 1},
        {"data": [{"path": "/etc/passwd"}], "fn_index": 1},
        {"data": [], "fn_index": 1, "event_data": {"do": "\ud800"}},
        {"data": [], "fn_index": 1, "event_data": {"do": {"a": {}}}},
        {"data": [], "fn_index": 1, "event_data": {"path": "/etc/passwd"}},
        {"data": [], "fn_index": 1, "event_data": {"form": {"path": "/etc/passwd"}}},
        {"data": [], "fn_index": 1, "session_hash": 7},
        '{"data": [], "fn_index": 1, "event_data": ' + "[" * 9999 + "}",
    ],
    ids=str,
)
def test_an_event_of_the_wrong_shape_is_refused(
    site: Site, body: Any, capfd: pytest.CaptureFixture[str]
):
    answer = site.send(body)
    assert (answer.status_code, answer.json()) == (400, {"error": "No such event."})
    assert "Traceback" not in capfd.readouterr().err


def test_an_event_that_is_too_large_is_refused(site: Site):
    big = {"do": "x" * (events.LARGEST + 1)}
    answer = site.send({"data": [], "event_data": big, "fn_index": 1})
    assert answer.status_code == 413


def test_no_name_of_a_session_is_kept(site: Site, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def kept(_: object, name: str) -> None:
        made.append(name)

    monkeypatch.setattr("gradio.state_holder.StateHolder.__getitem__", kept)
    sent = named(site, "arena_open", {"query": ""}) | {"session_hash": "x" * 1000, "batched": True}
    assert site.send(sent).status_code == 200
    assert made == []


def vote(site: Site, comment: str = "", **sent: Any) -> dict[str, Any]:
    """A vote as the ballot sends it."""
    found = next(each for each in site.listeners if each["api_name"] == "annotate_vote")
    values = [f"run={site.runs[1]}", "ann", comment]
    return {"data": values, "event_data": {"pair": "x", **sent}, "fn_index": found["id"]}


def test_a_note_on_a_pair_that_no_page_sends_is_refused(site: Site):
    sent = vote(site, "x" * (MAX_COMMENT + 1), choice="a")
    assert "What the page sent does not fit" in site.send(sent).text


def test_a_vote_that_no_button_sends_is_refused_in_the_language_of_the_page(site: Site):
    sent = vote(site, choice="x")
    assert "What the page sent does not fit" in site.send(sent).text
    assert "页面" in site.send(sent, "zh").text


@pytest.mark.parametrize("name", ["results_open", "evaluate_act_drop"])
def test_no_answer_tells_an_address_of_memory(site: Site, name: str):
    answer = site.send(named(site, name, {"query": ""})).text
    assert '"props":{' in answer  # beside which Gradio puts its own listeners
    assert " at 0x" not in answer


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
        ("X-Gradio-Server", "http://evil.example"),
    ],
)
def test_no_visitor_says_which_address_the_server_has(site: Site, header: str, value: str):
    named_by_it = site.client.get("/en/config", headers={header: value}).json()["root"]
    assert named_by_it == site.client.get("/en/config").json()["root"]


def test_what_only_the_browser_does_is_no_event(site: Site):
    (kept,) = (each for each in site.listeners if not each["backend_fn"])
    assert site.send({"data": ["ann"], "fn_index": kept["id"]}).status_code == 400


def test_a_value_that_gradio_sends_with_its_own_events_goes_no_further(site: Site):
    name = next(each for each in site.listeners if each["api_name"] == "annotate_begin")
    sent = {"data": ["", "ann"], "fn_index": name["id"], "event_data": "ann"}
    assert site.send(sent).status_code == 200


def test_our_own_mistake_keeps_its_traceback_on_the_log_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr("evalui.ui.pages.arena.judged_runs", broken)
    answer = site.send(named(site, "arena_open", {"query": ""}))
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "ZeroDivisionError: a secret of the server" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "gradio_api/dev/reload"),
        ("GET", "gradio_api/heartbeat/x"),
        ("GET", "gradio_api/queue/data?session_hash=x"),
        ("GET", "gradio_api/file=/etc/passwd"),
        ("GET", "gradio_api/proxy=http://127.0.0.1/"),
        ("GET", "gradio_api/openapi.json"),
        ("GET", "monitoring"),
        ("POST", "login"),
        ("POST", "gradio_api/upload"),
        ("POST", "gradio_api/queue/join"),
        ("POST", "gradio_api/call/tick"),
        ("POST", "gradio_api/component_server"),
        ("POST", "gradio_api/run/"),
    ],
)
def test_routes_of_gradio_that_no_page_uses_are_closed(site: Site, method: str, path: str):
    answer = site.client.request(method, f"/en/{path}", json={} if method == "POST" else None)
    assert answer.status_code == 404
    assert "content-security-policy" in answer.headers


UNKNOWN = ("nowhere00", "../x", "x" * 500, "\0")


@pytest.mark.parametrize("sub", ["overview", "samples", "duels", "bias", "statistics", "report"])
@pytest.mark.parametrize("run", UNKNOWN)
def test_the_results_of_an_unknown_run_are_answered_in_words(site: Site, sub: str, run: str):
    shown = site.send(named(site, "results_open", {"query": urlencode({"run": run, "sub": sub})}))
    assert shown.status_code == 200
    assert "There is no" in shown.text
    assert "Traceback" not in shown.text


@pytest.mark.parametrize("name", ["run", "runs", "cells", "group"])
@pytest.mark.parametrize("value", [*UNKNOWN, "99", "1,1,1", "9" * 400])
def test_the_comparison_of_what_is_unknown_is_answered_in_words(site: Site, name: str, value: str):
    sent = event_of_compare(site, {name: value, "q": value, "page": value, "measure": value})
    shown = site.send(sent)
    assert shown.status_code == 200
    assert "Compare" in shown.text
    assert "Traceback" not in shown.text


def event_of_compare(site: Site, query: dict[str, str]) -> dict[str, Any]:
    """The way to an address of the page."""
    sent = named(site, "compare_open", {"query": urlencode(query)})
    return sent | {"data": ["", ""]}


@pytest.mark.parametrize("kind", ["csv", "html", "xlsx", "zip"])
def test_an_export_of_an_unknown_run_is_answered_in_words(site: Site, kind: str):
    answer = site.client.get(f"/export/nowhere00.{kind}")
    assert answer.status_code == 404
    assert "no " in answer.text
