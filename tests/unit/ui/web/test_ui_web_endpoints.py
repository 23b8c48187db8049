"""Calls of `gradio_client`: what may be called, and what sessions leave behind."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from ui_examples import MODELS, served

from evalui.server import create_app
from evalui.settings import Settings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "models.toml").write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=folder, models=folder / "models.toml", workers=0, token=False)
    app = served(lambda: create_app(settings))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def _endpoints(site: TestClient) -> dict[str, dict[str, Any]]:
    listed = site.get("/en/config").json()["dependencies"]
    return {each["api_name"]: each for each in listed if each["api_visibility"] == "public"}


def test_three_endpoints_are_public_and_documented(site: TestClient):
    assert {*_endpoints(site)} == {"evaluate", "status", "results"}
    told = site.get("/en/gradio_api/info").json()
    assert {*told["named_endpoints"]} == {"/evaluate", "/status", "/results"}
    assert not told["unnamed_endpoints"]
    assert "specification" in told["named_endpoints"]["/evaluate"]["description"]


def test_an_endpoint_is_called_by_the_queue_and_takes_no_path(site: TestClient):
    number = _endpoints(site)["status"]["id"]
    call = {"fn_index": number, "data": ["x"], "session_hash": "s"}
    assert site.post("/en/gradio_api/run/predict", json=call).status_code == 400
    assert site.post("/en/gradio_api/call/status", json={"data": ["x"]}).status_code == 404
    assert site.post("/en/gradio_api/queue/join", json=call).status_code == 200
    told = site.get("/en/gradio_api/queue/data?session_hash=s").text
    assert "There is no run" in told
    call |= {"fn_index": _endpoints(site)["evaluate"]["id"]}
    for spec in ({"path": "/etc/hostname"}, {"datasets": [{"path": "/etc/hostname"}]}):
        sent = call | {"data": [spec]}
        assert site.post("/en/gradio_api/queue/join", json=sent).status_code == 404


@pytest.mark.slow
def test_sessions_leave_no_memory_behind(tmp_path: Path):
    (tmp_path / "models.toml").write_text(MODELS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS, str(tmp_path)], check=True, capture_output=True
    )
    assert float(done.stdout) < 15  # 60 if each were kept


SESSIONS = """
import asyncio, sys
from pathlib import Path
from starlette.testclient import TestClient
from evalui.server import create_app
from evalui.settings import Settings

folder = Path(sys.argv[1])

async def build():
    models = folder / "models.toml"
    return create_app(Settings(data_dir=folder, models=models, workers=0, token=False))

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

with TestClient(asyncio.run(build()), base_url="http://127.0.0.1") as site:
    config = site.get("/en/config?page=arena").json()
    (draw,) = (each["id"] for each in config["dependencies"] if "apply" in each["api_name"])

    def open_pages(first, last):
        for name in range(first, last):
            sent = {"fn_index": draw, "data": [], "session_hash": str(name)}
            assert site.post("/en/gradio_api/run/predict", json=sent).status_code == 200

    open_pages(0, 60)
    before = megabytes()
    open_pages(60, 300)
    print(megabytes() - before)
"""
