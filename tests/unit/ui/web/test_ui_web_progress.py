"""The progress of a run as JSON: who gets it, when it is made, and when it is the same."""

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from evalui.access import Person
from evalui.app.evaluations import start_run
from evalui.app.exports import ExportProgress
from evalui.app.service import AppService
from evalui.store import queue
from evalui.store.voting.plans import keep_plan
from evalui.ui import published
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.published import PublishedRuns
from evalui.ui.web import progress
from evalui.ui.web.routes import add_routes


@pytest.fixture
def run_id(desk: AppService, form_for: Callable[..., Form]) -> str:
    return start_run(desk, form_to_spec(form_for(name="Midterm")))


@pytest.fixture
def site(desk: AppService, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(published, "_MOMENT_S", 1e-9)  # a run is read anew with each request
    app = FastAPI()
    add_routes(app, desk, PublishedRuns())
    with TestClient(app) as client:
        yield client


def test_a_run_is_answered_in_the_language_that_is_asked_for(site: TestClient, run_id: str):
    english = site.get(f"/progress/{run_id}?lang=en")
    assert english.headers["content-type"] == "application/json"
    told = english.json()
    assert (told["run"], told["name"], told["work"]) == (run_id, "Midterm", "0 of 36")
    assert told["is_live"]
    assert site.get(f"/progress/{run_id}?lang=zh").json()["work"] == "0 / 36"


def test_what_did_not_change_is_not_sent_again(desk: AppService, site: TestClient, run_id: str):
    first = site.get(f"/progress/{run_id}")
    seen = {"If-None-Match": first.headers["etag"]}
    same = site.get(f"/progress/{run_id}", headers=seen)
    assert (same.status_code, same.content) == (304, b"")
    by_proxy = {"If-None-Match": f"W/{first.headers['etag']}"}
    assert site.get(f"/progress/{run_id}", headers=by_proxy).status_code == 304
    queue.cancel(desk.database, run_id)
    ended = site.get(f"/progress/{run_id}", headers=seen)
    assert ended.status_code == 200
    assert (ended.json()["is_live"], ended.json()["is_over"]) == (False, True)


def test_a_revision_is_made_once_for_all_who_watch(
    desk: AppService, run_id: str, monkeypatch: pytest.MonkeyPatch
):
    made: list[str] = []
    plain = progress.read_progress

    def read(service: AppService, run: str) -> object:
        made.append(run)
        return plain(service, run)

    monkeypatch.setattr(progress, "read_progress", read)
    app = FastAPI()
    add_routes(app, desk, PublishedRuns())
    with TestClient(app) as client:
        names = [f"person-{number}" for number in range(20)]
        keep_plan(desk.database, run_id, names, 1)
        for name in names:
            with acting_as(Person(name, "reader")):
                assert client.get(f"/progress/{run_id}").status_code == 200
    assert made == [run_id]


def test_news_name_another_version_when_a_run_has_changed(
    desk: AppService, site: TestClient, run_id: str
):
    first = site.get(f"/news/{run_id}").json()
    assert site.get(f"/news/{run_id}").json() == first
    assert first["pause_s"] == 0.0
    queue.cancel(desk.database, run_id)
    assert site.get(f"/news/{run_id}").json()["version"] != first["version"]


def test_news_of_files_tell_how_far_they_are(desk: AppService, site: TestClient, run_id: str):
    told = {site.get(f"/news/{run_id}?files=yes").json()["version"]}
    under_way = ExportProgress(run_id, "zip")
    desk.exports._under_way.append(under_way)
    told.add(site.get(f"/news/{run_id}?files=yes").json()["version"])
    under_way.sent = 7
    told.add(site.get(f"/news/{run_id}?files=yes").json()["version"])
    assert len(told) == 3


def test_who_may_not_see_a_run_is_told_that_there_is_none(site: TestClient, run_id: str):
    assert site.get(f"/progress/{run_id}").status_code == 200
    with acting_as(Person("eve", "annotator")):  # though it has been made for somebody
        refused = site.get(f"/progress/{run_id}")
    unknown = site.get("/progress/nowhere")
    assert (refused.status_code, unknown.status_code) == (404, 404)
    assert "Midterm" not in refused.text
    assert site.get(f"/news/{run_id}").status_code == 200
    with acting_as(Person("eve", "annotator")):
        assert site.get(f"/news/{run_id}").status_code == 404
