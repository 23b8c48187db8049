"""The Models page on a server of its own, with the demo models and nobody else's runs."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from open_browser_examples import ROOT, overflow, wait_for_server
from playwright.sync_api import expect

LATE = ROOT / "assets" / "models" / "demo-late"
PHONE = {"viewport": {"width": 390, "height": 844}}


@dataclass(frozen=True, slots=True)
class Server:
    """A server with the shipped models and a folder of its own."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    def wait(self) -> None:
        """Return when it answers."""
        wait_for_server(self.process, self.address, self.log)


@contextmanager
def running(folder: Path, **settings: str) -> Generator[Server]:
    """Start a server, and end it; whoever needs it waits for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "EVALUI_DATA_DIR": str(folder / "data"),
        "EVALUI_MODELS": str(ROOT / "assets" / "models.toml"),
        "EVALUI_PORT": str(port),
        "OMP_NUM_THREADS": "1",
        **settings,
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            yield Server(process, f"http://127.0.0.1:{port}", folder / "log")
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """One whose visitors may add models and one whose may not, started at the same time."""
    open_, closed = tmp_path_factory.mktemp("open"), tmp_path_factory.mktemp("closed")
    none = {"EVALUI_EDIT_MODELS": "false", "EVALUI_WORKERS": "0"}
    with running(open_) as first, running(closed, **none) as second:
        first.wait()
        second.wait()
        yield first.address, second.address


@pytest.fixture(scope="module")
def server(servers: tuple[str, str]) -> str:
    """In place of the other tests' server, which has not the demo models."""
    return servers[0]


def model(page: Any, name: str) -> Any:
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.locator(".models-list > li").filter(has=heading)


def test_a_model_is_added_and_removed(page: Any):
    page.goto("/en/?tab=models")
    page.locator("[name=add_name]").fill("mine")
    page.get_by_label("Folder of the model").fill("/no/such/folder")
    page.get_by_role("button", name="Add model").click()
    expect(page.locator("#models-add [role=alert]")).to_contain_text("There is no folder")
    page.get_by_label("Folder of the model").fill(str(LATE))
    page.get_by_role("button", name="Add model").click()
    expect(model(page, "mine")).to_contain_text("added here")
    model(page, "mine").get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove from the catalog").click()
    expect(model(page, "mine")).to_have_count(0)


def test_a_demo_model_is_tested(page: Any):
    page.goto("/en/?tab=models")
    late = model(page, "demo-late")
    expect(late).to_contain_text("Ready to load")
    expect(late).to_contain_text("about 12.5 MB, fits")
    late.get_by_role("button", name="Test this model").click()
    expect(late).to_contain_text(re.compile("Test is queued|Loading|Being tested|Loaded now"))
    # The first model of a worker brings torch with it.
    expect(late.locator(".tried")).to_contain_text("Paris", timeout=60_000)
    expect(late.locator(".tried")).to_contain_text("requests per s")
    expect(late).to_contain_text("Ready to load")
    page.get_by_text("Show 10").click()
    expect(model(page, "always-A")).to_contain_text("No texts: it gives no probability of a text.")


def test_models_chosen_by_an_address_stay_chosen(page: Any):
    page.goto("/en/?tab=evaluate&models=demo-early&models=noisy")
    expect(page.locator(".preselected")).to_contain_text("Chosen: demo-early, noisy.")
    page.get_by_role("button", name="Try it with a sample").click()
    expect(page.get_by_label("noisy", exact=True)).to_be_checked()
    expect(page.get_by_label("demo-early", exact=True)).to_be_checked()
    expect(page.get_by_label("demo-late", exact=True)).not_to_be_checked()
    expect(page.get_by_role("button", name="Start evaluation")).to_be_enabled()
    page.get_by_role("tab", name="Models", exact=True).click()
    expect(page.locator("#models-pane h1")).to_have_text("Models")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_scrolls_down_only(page: Any):
    page.goto("/zh/?tab=models&__theme=dark")
    expect(page.locator("#models-pane h1")).to_have_text("模型")
    expect(model(page, "demo-early")).to_contain_text("可以载入")
    page.get_by_label("端点").check()
    expect(page.get_by_label("存放密钥的环境变量")).to_be_visible()
    assert overflow(page) == 0


def test_who_may_not_add_models_has_no_form(chromium: Any, servers: tuple[str, str]):
    context = chromium.new_context(base_url=servers[1])
    tab = context.new_page()
    tab.goto("/en/?tab=models")
    expect(tab.locator("#models-add")).to_contain_text("by the administrator")
    expect(tab.get_by_role("button", name="Add model")).to_have_count(0)
    expect(tab.locator("#models-pane")).to_contain_text("No worker is running")
    context.close()
