"""A store that is damaged, or of another version, is said in words wherever it is met."""

import gzip
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from drawn_event import drawn_event
from starlette.testclient import TestClient
from ui_examples import served

import evalui
from evalui.cli.main import main
from evalui.errors import StoreError
from evalui.server import create_app
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.version import __version__

_OLD = Path(__file__).parents[1] / "golden" / "net" / "stores" / "schema-17.sqlite.gz"


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
    config = client.get("/en/config?page=runs").json()
    answer = client.post("/en/gradio_api/run/predict", json=drawn_event(config))
    assert answer.status_code == 200
    assert "The database is damaged" in answer.text
    assert "Traceback" not in capfd.readouterr().err


def test_health_says_no_more_than_that_it_is_bad(client: TestClient):
    answer = client.get("/healthz")  # which anybody may ask, also without the token
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "version": __version__}


def _old_archive(folder: Path) -> Path:
    with tarfile.open(folder / "b.tar.gz", "w:gz") as archive:
        (folder / "backup.json").write_text('{"format": 1, "folder": "/x"}')
        for name in ("backup.json", "evalui.sqlite"):
            archive.add(folder / name, name)
    return folder / "b.tar.gz"


@pytest.mark.parametrize(
    "opens",
    [
        lambda data: Database(data / "evalui.sqlite"),
        lambda data: Database(data / "evalui.sqlite", read_only=True),
        lambda data: create_app(Settings(data_dir=data, workers=0)),
        lambda data: evalui.open(data),
        lambda data: evalui.list_runs(data),
    ],
    ids=["store", "to read", "server", "library", "list"],
)
@pytest.mark.parametrize("version", [18, 20])
def test_a_store_of_another_version_is_refused_and_stays(
    opens: Callable[[Path], object], version: int, tmp_path: Path
) -> None:
    store = tmp_path / "evalui.sqlite"
    store.write_bytes(gzip.decompress(_OLD.read_bytes()))
    if version != 17:
        with closing(sqlite3.connect(store)) as opened:
            opened.executescript(f"DROP TABLE migration; PRAGMA user_version = {version}")
    before = store.read_bytes()
    with pytest.raises(StoreError, match=f"version {version} .*scripts/convert_store.py OLD NEW"):
        opens(tmp_path)
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "runs",
        "export x --to csv",
        "import {data}/evalui.sqlite --database {data}/other.sqlite",
        "restore {data}/b.tar.gz --into {data}/restored",
        "gate {data}/evalui.sqlite x --allow 1",
        "users list",
        "worker --database {data}/evalui.sqlite",
    ],
)
def test_every_command_refuses_it_in_a_line(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    (tmp_path / "evalui.sqlite").write_bytes(gzip.decompress(_OLD.read_bytes()))
    _old_archive(tmp_path)
    assert main(command.format(data=tmp_path).split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "evalui.sqlite is a store of version 17" in line
    assert "scripts/convert_store.py" in line
    assert not list(tmp_path.glob("restored/*"))
