"""Readiness, figures for Prometheus, who may read them, and that they name nothing."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.people import add_person
from evalui.accounts.tokens import add_token
from evalui.app.service import AppService
from evalui.errors import StoreError
from evalui.logs import JsonFormatter
from evalui.runs.upkeep import monitor
from evalui.runs.upkeep.monitor import StoreReadings
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.server import create_app
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.current_person import acting_as
from evalui.ui.web import monitoring
from evalui.ui.web.doors.token import TokenMiddleware
from evalui.ui.web.monitoring import Monitoring, MonitoringMiddleware
from evalui.version import __version__
from evalui.web.middleware import SameOriginMiddleware

LOCAL = ("127.0.0.1", 50000)
FAR = ("192.0.2.7", 50000)
Open = Callable[..., TestClient]


@pytest.fixture
def opened(desk: AppService) -> Open:
    """A client of a server with the token "secret"; without `client` it is on this machine."""

    def make(client: tuple[str, int] = LOCAL, root: str = "", **settings: object) -> TestClient:
        changed = desk.settings.model_copy(update=settings)
        watched = Monitoring(changed, desk.database)
        app = FastAPI(openapi_url=None)
        watched.add_routes(app)

        @app.get("/runs/{run_id}")
        def show(run_id: str) -> PlainTextResponse:
            with acting_as(Person("ada")):
                return PlainTextResponse(run_id)

        @app.get("/stream")
        async def stream() -> StreamingResponse:
            return StreamingResponse(iter(["a", "b"]))

        @app.get("/broken")
        def broken() -> None:
            raise RuntimeError("a secret question")

        app.mount(
            "/en", Starlette(routes=[Route("/files/{name}", lambda _: PlainTextResponse(""))])
        )
        guarded: ASGIApp = TokenMiddleware(app, "secret")
        whole = SameOriginMiddleware(MonitoringMiddleware(guarded, watched))
        return TestClient(whole, "http://127.0.0.1", False, root, client=client)

    return make


BEARER = {"authorization": "Bearer secret"}


def figures(
    client: TestClient, headers: dict[str, str] = BEARER, path: str = "/metrics"
) -> dict[tuple[str, ...], float]:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_server_without_a_worker_is_not_ready(opened: Open, desk: AppService):
    client = opened(FAR)  # the route is public
    assert client.get("/readyz").status_code == 503
    assert client.get("/readyz").json() == {"ready": False, "reason": "workers"}
    WorkerStatus(desk.database, "w").update()
    assert (client.get("/readyz").status_code, client.get("/readyz").json()) == (
        200,
        {"ready": True},
    )


def test_a_server_that_only_shows_needs_no_worker(opened: Open):
    assert opened(read_only=True).get("/readyz").json() == {"ready": True}


def test_a_full_disk_and_a_store_that_cannot_be_written_are_words(
    opened: Open, desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    client = opened()
    monkeypatch.setattr(monitor, "FULL_BYTES", 2**62)
    assert client.get("/readyz").json() == {"ready": False, "reason": "disk"}
    monkeypatch.undo()
    desk.database.damage = "page 7 is never used"
    assert client.get("/readyz").json() == {"ready": False, "reason": "store"}
    desk.database.damage = ""
    desk.database.path.rename(desk.database.path.with_name("moved"))
    assert client.get("/readyz").json() == {"ready": False, "reason": "store"}
    assert opened(data_dir=Path("/nowhere/at/all")).get("/readyz").json()["reason"] == "store"


def test_figures_of_store_disk_and_process(
    opened: Open, desk: AppService, finished: Callable[[], str]
):
    finished()
    WorkerStatus(desk.database, "w").update(run="x")  # beside the one that did the run
    read = figures(opened())
    assert read["evalui_store_readable",] == 1
    assert read["evalui_build_info", __version__] == 1
    assert read["evalui_runs", "done"] == 1
    assert read["evalui_runs", "failed"] == 0
    assert read["evalui_queue_oldest_seconds",] == 0
    assert read["evalui_queue_length",] == 0
    assert read["evalui_trials",] > 0
    assert {read[key] for key in read if key[0] == "evalui_cells_failed"} == {0}
    assert {key[1] for key in read if key[0] == "evalui_tokens"} == {"read", "written"}
    assert (read["evalui_workers", "busy"], read["evalui_workers", "idle"]) == (1, 1)
    assert 0 < read["evalui_disk_used_ratio",] < 1
    assert read["evalui_disk_free_bytes",] > 0
    assert read["process_resident_memory_bytes",] > 2**20


def test_a_store_that_cannot_be_read_is_a_figure(opened: Open, monkeypatch: pytest.MonkeyPatch):
    def damaged(_: Database) -> StoreReadings:
        raise StoreError("store-damaged")

    monkeypatch.setattr(monitoring, "read_store", damaged)
    read = figures(opened())
    assert read["evalui_store_readable",] == 0
    assert ("evalui_trials",) not in read
    assert read["process_resident_memory_bytes",] > 2**20


def test_requests_count_by_template_method_and_status(opened: Open):
    client = opened()
    for path in ("/runs/secret-run", "/runs/other", "/en/files/secret-name", "/none/secret-path"):
        client.get(path, headers=BEARER)
    client.request("BREW", "/runs/x", headers=BEARER)
    client.get("/broken", headers=BEARER)
    client.get("/runs/x")  # without the token
    client.get("/stream", headers=BEARER)
    text = client.get("/metrics", headers=BEARER).text
    assert "secret" not in text
    read = figures(client)
    count = "evalui_request_duration_seconds_count"
    assert read[count, "GET", "/runs/{run_id}", "200"] == 2
    assert read[count, "GET", "/en/files/{name}", "200"] == 1
    assert read[count, "GET", "other", "404"] == 1
    assert read[count, "GET", "other", "401"] == 1
    assert read[count, "GET", "/broken", "500"] == 1
    assert read[count, "GET", "/stream", "200"] == 1
    assert [key for key in read if key[0] == count and key[1] == "other"]


def test_the_path_that_a_proxy_takes_off_stands_in_no_template(opened: Open):
    client = opened(root="/evalui")
    for path in ("/evalui/runs/x", "/evalui/en/files/x", "/evalui/none"):
        client.get(path, headers=BEARER)
    text = client.get("/evalui/metrics", headers=BEARER).text
    routes = {part.partition('"')[0] for part in text.split('route="')[1:]}
    assert routes == {"/runs/{run_id}", "/en/files/{name}", "other"}


@pytest.mark.parametrize(
    ("mode", "client", "headers", "status"),
    [
        ("token", LOCAL, {}, 200),
        ("token", ("::1", 1), {}, 200),
        ("token", LOCAL, {"x-forwarded-for": "192.0.2.7"}, 401),
        ("token", LOCAL, {"forwarded": "for=192.0.2.7"}, 401),
        ("token", FAR, {}, 401),
        ("token", FAR, {"x-forwarded-for": "127.0.0.1"}, 401),
        ("token", FAR, BEARER, 200),
        ("token", ("testclient", 1), {}, 401),
        ("open", FAR, {}, 200),
        ("off", LOCAL, {}, 401),
        ("off", LOCAL, BEARER, 404),
    ],
)
def test_who_reads_the_figures(
    opened: Open, mode: str, client: tuple[str, int], headers: dict[str, str], status: int
):
    assert opened(client, metrics=mode).get("/metrics", headers=headers).status_code == status


def test_a_foreign_name_reads_no_figures(opened: Open):
    answer = opened().get("/metrics", headers={"host": "evil.example"})
    assert answer.status_code == 421


def test_a_request_that_fails_is_logged_with_the_id_of_its_answer(opened: Open):
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(JsonFormatter(lambda: "ada").format(record))
    logger = logging.getLogger("evalui.logs")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        client = opened()
        client.get("/runs/secret", headers=BEARER)  # in time and without a fault: only counted
        answers = [client.get(f"/{path}", headers=BEARER) for path in ("secret", "broken")]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    missing, broken = (json.loads(line) for line in lines)
    assert missing["request"] == answers[0].headers["x-request-id"] != broken["request"]
    assert (missing["route"], missing["status"]) == ("other", 404)
    assert (broken["route"], broken["status"]) == ("/broken", 500)
    assert "secret" not in "".join(lines)


def test_a_slow_request_is_logged(opened: Open, monkeypatch: pytest.MonkeyPatch):
    noted: list[tuple[object, ...]] = []
    monkeypatch.setattr(monitoring, "log_request", lambda *line: noted.append(line))
    monkeypatch.setattr(monitoring, "_SLOW_S", 0.0)
    opened().get("/runs/secret", headers=BEARER)
    assert noted[0][:3] == ("GET", "/runs/{run_id}", 200)


def test_settings_state_who_reads_the_figures():
    assert Settings.model_fields["metrics"].default == "token"


SHIPPED = Path(__file__).parents[4] / "deploy" / "systemd" / "evalui.env"


def test_requests_of_people_count_by_template_with_the_shipped_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for line in SHIPPED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            monkeypatch.setenv(*line.split("=", 1))
    settings = Settings(data_dir=tmp_path / "data", workers="0")
    settings.data_dir.mkdir(mode=0o700)
    store = Database(settings.database)
    add_person(store, "ann", "admin", by=LOCAL_PERSON)
    bearer = {"authorization": f"Bearer {add_token(store, 'ann', by=LOCAL_PERSON)}"}
    store.close()
    with TestClient(
        create_app(settings), "http://box.example.org", root_path=settings.root_path, client=LOCAL
    ) as box:
        for path in ("/evalui/healthz", "/evalui/api/v1/runs", "/evalui/api/v1/runs/none"):
            box.get(path, headers=bearer)
        read = figures(box, bearer, "/evalui/metrics")
    count = "evalui_request_duration_seconds_count"
    counted = {key[2]: value for key, value in read.items() if key[0] == count}
    assert counted == {"/healthz": 1, "/api/v1/runs": 1, "/api/v1/runs/{run_id}": 1}
