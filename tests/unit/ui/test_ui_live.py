"""A live run: who is told how far it is, when that is made, and who may stop it."""

from collections.abc import Callable, Iterator

import pytest
from drawn_page import DrawnPage
from fastapi import FastAPI
from starlette.testclient import TestClient

from evalui.access import Person
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.store import queue
from evalui.store.voting.plans import keep_plan
from evalui.ui import live
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages import runs
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.web.routes import add_routes


@pytest.fixture
def run_id(desk: AppService, form_for: Callable[..., Form]) -> str:
    return start_run(desk, form_to_spec(form_for(name="Midterm")))


@pytest.fixture
def site(desk: AppService, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(live, "_MOMENT_S", 1e-9)  # a run is read anew with each request
    app = FastAPI()
    add_routes(app, desk)
    with TestClient(app) as client:
        yield client


def test_a_run_is_answered_in_the_language_that_is_asked_for(site: TestClient, run_id: str):
    english = site.get(f"/live/{run_id}?lang=en")
    assert english.headers["content-type"] == "text/html; charset=utf-8"
    assert 'aria-label="Midterm"' in english.text
    assert "0 of 36" in english.text
    assert 'data-title="Waiting · Midterm"' in english.text
    assert "0 / 36" in site.get(f"/live/{run_id}?lang=zh").text


def test_what_did_not_change_is_not_sent_again(desk: AppService, site: TestClient, run_id: str):
    first = site.get(f"/live/{run_id}")
    seen = {"If-None-Match": first.headers["etag"]}
    same = site.get(f"/live/{run_id}", headers=seen)
    assert (same.status_code, same.content) == (304, b"")
    by_proxy = {"If-None-Match": f"W/{first.headers['etag']}"}
    assert site.get(f"/live/{run_id}", headers=by_proxy).status_code == 304
    queue.cancel(desk.database, run_id)
    ended = site.get(f"/live/{run_id}", headers=seen)
    assert ended.status_code == 200
    assert 'data-state="cancelled"' in ended.text


def test_a_page_looks_while_any_run_goes_on_and_sooner_for_the_first_answer(
    desk: AppService, site: TestClient, run_id: str
):
    assert 'data-pause="2000"' in site.get(f"/live/{run_id}").text
    queue.claim(desk.database, "test")
    assert 'data-pause="500"' in site.get(f"/live/{run_id}").text
    with desk.database.writing() as connection:
        connection.execute("UPDATE cell SET done = 1")
        connection.execute("UPDATE run SET revision = revision + 1")
    assert 'data-pause="2000"' in site.get(f"/live/{run_id}").text
    with desk.database.writing() as connection:
        connection.execute("UPDATE run SET state = 'done', revision = revision + 1")
    assert 'data-pause=""' in site.get(f"/live/{run_id}").text


def test_a_revision_is_made_once_for_all_who_watch(
    desk: AppService, run_id: str, monkeypatch: pytest.MonkeyPatch
):
    made: list[str] = []
    plain = live.read_progress

    def read(service: AppService, run: str) -> object:
        made.append(run)
        return plain(service, run)

    monkeypatch.setattr(live, "read_progress", read)
    app = FastAPI()
    add_routes(app, desk)
    with TestClient(app) as client:
        names = [f"person-{number}" for number in range(20)]
        keep_plan(desk.database, run_id, names, 1)
        for name in names:
            with acting_as(Person(name, "reader")):
                assert client.get(f"/live/{run_id}").status_code == 200
    assert made == [run_id]


def test_who_may_not_see_a_run_is_told_that_there_is_none(desk: AppService, run_id: str):
    app = FastAPI()
    add_routes(app, desk)
    with TestClient(app) as client:  # within one moment
        with acting_as(Person("eve", "annotator")):
            first = client.get(f"/live/{run_id}")
        assert client.get(f"/live/{run_id}").status_code == 200
        with acting_as(Person("eve", "annotator")):
            refused = client.get(f"/live/{run_id}")
        unknown = client.get("/live/nowhere")
    assert (first.status_code, refused.status_code, unknown.status_code) == (404, 404, 404)
    assert "Midterm" not in refused.text


def test_a_page_shows_what_the_route_answers_and_who_may_change_a_run_stops_it(
    desk: AppService, site: TestClient, run_id: str
):
    page = DrawnPage("runs", desk, {"run": run_id})
    assert site.get(f"/live/{run_id}").text in page.text
    assert page.press("Stop") == f"?run={run_id}"
    assert desk.run(run_id).state == "cancelled"
    assert "<button>Stop" not in DrawnPage("runs", desk, {"run": run_id}).text


def test_who_only_sees_a_run_is_offered_no_stop(desk: AppService, run_id: str):
    keep_plan(desk.database, run_id, ["rita"], 1)
    named = desk.acting_for(Person("rita", "reader"))
    page = DrawnPage("runs", named, {"run": run_id})
    assert "Midterm" in page.text
    assert "<button>Stop" not in page.text


def test_a_page_is_drawn_anew_when_its_run_ends_while_it_is_drawn(
    desk: AppService, run_id: str, monkeypatch: pytest.MonkeyPatch
):
    plain = runs.list_runs

    def read(service: AppService) -> object:
        rows = plain(service)
        queue.cancel(desk.database, run_id)
        return rows

    monkeypatch.setattr(runs, "list_runs", read)
    page = DrawnPage("runs", desk, {"run": run_id})
    props = [getattr(each, "props", {}) for each in page.layout.blocks.values()]
    drawn = [each["drawn"]["state"] for each in props if "drawn" in each]
    assert drawn == ["queued"]  # what a look sees by now is something else
