"""A damaged store is said in words, wherever it is met."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from ui_examples import served

from evalui.runs.database.connection import Database
from evalui.server import create_app
from evalui.settings import Settings
from evalui.version import __version__


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server whose store is damaged after its start: all but its first page is noise."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), workers=0, token=False)
    Database(settings.database).close()
    app = served(lambda: create_app(settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        damage(settings.database)
        yield client


def damage(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * (size - 4096))


@pytest.mark.parametrize("path", ["/en/", "/zh/?run=x", "/votes/x.jsonl", "/export/x.csv"])
def test_every_page_says_that_the_store_is_damaged(
    client: TestClient, path: str, capfd: pytest.CaptureFixture[str]
):
    answer = client.get(path)
    assert answer.status_code == 503
    assert "The database is damaged. Restore it from a copy" in answer.text
    assert answer.headers["content-security-policy"]
    assert "Traceback" not in capfd.readouterr().err


def test_the_page_says_it_in_both_languages(client: TestClient):
    page = client.get("/en/").text
    assert "The store of evalui cannot be read" in page
    assert "无法读取 evalui 的数据库" in page


def test_an_event_says_that_the_store_is_damaged(
    client: TestClient, capfd: pytest.CaptureFixture[str]
):
    listeners = client.get("/en/config").json()["dependencies"]
    number = next(each["id"] for each in listeners if each["api_name"] == "runs_open")
    event = {"data": [], "fn_index": number, "event_data": {"query": ""}}
    answer = client.post("/en/gradio_api/run/predict", json=event)
    assert answer.status_code == 503
    assert "The database is damaged" in answer.text
    assert "Traceback" not in capfd.readouterr().err


def test_health_says_no_more_than_that_it_is_bad(client: TestClient):
    answer = client.get("/healthz")  # which anybody may ask, also without the token
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "version": __version__}
