"""The assembled application, without its workers."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from gradio.routes import App as GradioApp
from starlette.testclient import TestClient
from ui_examples import served

from evalui.server import create_app
from evalui.settings import Settings
from evalui.ui.components.packages import gradio_frontend


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("data"),
        workers=0,
        token=False,
        allowed_hosts=["evalui.test"],
    )
    app = served(lambda: create_app(settings))
    with TestClient(app, base_url="http://evalui.test") as client:
        yield client


@pytest.mark.parametrize(("path", "language"), [("/en/", "en"), ("/zh/", "zh-CN")])
def test_each_language_has_its_page(client: TestClient, path: str, language: str):
    page = client.get(path).text
    assert f'lang="{language}"' in page[:200]
    assert "../static/css/tokens.css?" in page


def test_the_browser_keeps_no_history(client: TestClient):
    config = client.get("/en/config").json()
    assert config["run_history"] is False
    assert config["analytics_enabled"] is False


def test_the_page_of_a_language_speaks_only_it(client: TestClient):
    english = client.get("/en/models").text
    assert "Models" in english
    assert "评测" not in english


def test_styles_and_scripts_are_served(client: TestClient):
    assert client.get("/static/js/charts.js").status_code == 200
    assert client.get("/static/css/tokens.css").headers["content-type"].startswith("text/css")


@pytest.mark.parametrize(
    "path", ["/", "/en/", "/en/?tab=runs", "/en/config", "/r/x", "/export/x.csv", "/votes/x.jsonl"]
)
def test_no_cache_keeps_what_the_server_knows(client: TestClient, path: str):
    assert client.get(path, follow_redirects=False).headers["cache-control"] == "no-store"


def _gradio_script() -> str:
    index = (gradio_frontend() / "index.html").read_text(encoding="utf-8")
    return index.partition(' src="./assets/')[2].partition('"')[0]


@pytest.mark.parametrize("path", ["/static/css/tokens.css", "/en/assets/{script}"])
def test_files_that_are_the_same_for_everyone_may_be_kept(client: TestClient, path: str):
    answer = client.get(path.format(script=_gradio_script()))
    assert answer.status_code == 200
    assert "no-store" not in answer.headers.get("cache-control", "")


@pytest.mark.parametrize("path", ["models.toml", "models/train.py", "samples/SOURCES.md"])
def test_models_and_samples_are_not_served(client: TestClient, path: str):
    assert client.get(f"/static/{path}").status_code == 404


def test_the_data_folder_is_closed_to_other_users(tmp_path: Path):
    served(lambda: create_app(Settings(data_dir=tmp_path / "data", workers=0)))
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


_LEAD_TO_PAGES = """
import sys
from pathlib import Path
from typing import Any
from starlette.testclient import TestClient
from evalui.settings import Settings
from evalui.server import create_app

app = create_app(Settings(data_dir=Path(sys.argv[1]), workers=0, token=False))
client = TestClient(app, base_url="http://127.0.0.1")  # not entered: the server does not start
for tab in ("evaluate", "results", "compare"):
    led = client.get(f"/en/?tab={tab}", follow_redirects=False)
    assert led.headers["location"] == tab, led
heavy = {"gradio", "pandas", "matplotlib", "torch", "transformers"}
sys.exit(", ".join(heavy & sys.modules.keys()) or 0)
"""


def test_the_server_listens_before_gradio_and_all_that_is_slow_is_imported(tmp_path: Path):
    # Gradio reads GRADIO_TEMP_DIR once, when it is imported, and not before it is set.
    folder = str(tmp_path / "data")
    subprocess.run([sys.executable, "-c", _LEAD_TO_PAGES, folder], check=True)


def test_an_idle_server_looks_seldom_for_calls_and_keeps_few_sessions(client: TestClient):
    client.get("/en/config")  # Gradio is there
    app: Any = client.app
    while not isinstance(app, FastAPI):  # inside of its guards
        app = app.app
    mounted = (getattr(route, "app", None) for route in app.routes)
    pages = [found.get_blocks() for found in mounted if isinstance(found, GradioApp)]
    assert len(pages) == 2
    for page in pages:
        assert page._queue.sleep_when_free >= 0.05
        assert page.state_holder.capacity <= 400
        assert page.has_launched  # else an event may name any file of the machine
        private = [each for each in page.fns.values() if each.api_visibility != "public"]
        assert private
        assert not any(each.queue for each in private)  # nor any of the pages
