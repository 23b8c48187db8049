"""The endpoints that `gradio_client` may call, on a real server."""

import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_server_examples import ApiServer, api_server
from gradio_client import Client as GradioClient
from gradio_client.exceptions import AppError

from evalui.client import Client
from evalui.store.connection import Database

pytestmark = pytest.mark.slow

QUESTIONS = "question,A,B,C,D,answer\n" + "".join(
    f"Which letter is number {n}?,a{n},b{n},c{n},d{n},{'ABCD'[n % 4]}\n" for n in range(8)
)


def _connect(server: ApiServer, language: str = "en") -> Any:
    headers = {"Authorization": f"Bearer {server.token}"}
    address = f"{server.url}/{language}/"
    # Gradio may still be coming, for which its client waits 5 s.
    with urllib.request.urlopen(urllib.request.Request(f"{address}config", headers=headers)):
        return GradioClient(address, headers=headers, verbose=False, analytics_enabled=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(tmp_path_factory.mktemp("data")) as running:
        yield running


def test_a_run_is_started_followed_and_read(server: ApiServer, tmp_path: Path):
    (tmp_path / "letters.csv").write_text(QUESTIONS)
    rest = Client(server.url, server.token)
    upload = rest.upload([tmp_path / "letters.csv"])
    client = _connect(server)
    try:
        spec: dict[str, Any] = {
            "datasets": [{"upload": upload.id}],
            "models": ["perfect", "noisy"],
            "modes": [{"mode": "multiple_choice", "pattern": "circular"}],
        }
        run = client.predict(spec, api_name="/evaluate")
        assert run["cells"], "the answer is a run in full"
        deadline = time.monotonic() + 100
        while (told := client.predict(run["id"], api_name="/status"))["state"] != "done":
            assert time.monotonic() < deadline, told
            time.sleep(0.2)  # the worker is another process
        assert told == rest.run(run["id"]).model_dump(mode="json")
        rows = client.predict(run["id"], api_name="/results")
        file = f"{server.url}/api/v1/runs/{run['id']}/report.metrics.json"
        token = {"Authorization": f"Bearer {server.token}"}
        with urllib.request.urlopen(urllib.request.Request(file, headers=token)) as sent:
            assert rows == json.load(sent)
        assert {row["value"] for row in rows if row["metric"] == "acc_origin"} >= {100.0}
    finally:
        client.close()


def test_what_cannot_be_done_is_said_in_the_language_of_the_address(server: ApiServer):
    client = _connect(server, "zh")
    try:
        with pytest.raises(AppError, match="没有任务"):
            client.predict("nobody's", api_name="/status")
        with pytest.raises(AppError, match="modes"):
            client.predict({"datasets": [{"upload": "x"}]}, api_name="/evaluate")
        # An object with a path might be taken for a file by Gradio, so none gets there.
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            client.predict({"datasets": [{"path": "/etc/hostname"}]}, api_name="/evaluate")
    finally:
        client.close()


def test_a_server_that_only_shows_starts_nothing(tmp_path: Path):
    Database(tmp_path / "evalui.sqlite").close()  # a store has to be there
    with api_server(tmp_path, read_only="1") as server:
        client = _connect(server)
        try:
            spec = {"datasets": [{"entry": "x"}], "models": ["perfect"]}
            with pytest.raises(AppError):
                client.predict(spec, api_name="/evaluate")
        finally:
            client.close()
