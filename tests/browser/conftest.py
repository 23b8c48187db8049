"""The real server with its worker, and a real browser that may reach nothing else."""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_examples import start_sample
from browser_servers import ROOT, admitted, started
from open_browser_examples import Hall, open_hall

SHOTS = ROOT / "shots"
FAILED = pytest.StashKey[bool]()
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# Scripted models answer at once; `slow` leaves time to stop a run or to close the page.
MODELS = """
[steady]
backend = "scripted"
notes = "Leans to A."
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }

[slow]
backend = "scripted"
baseline = true
options = { rule = "noisy", delay = 0.02 }
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs Chromium; without it a user's machine skips, CI fails."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    missing = shutil.which("chromium") is None and not os.environ.get("CI")
    for item in here:
        item.add_marker(pytest.mark.browser)
        if missing:
            item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of its own, with an empty data folder."""
    with started(tmp_path_factory.mktemp("server"), models=MODELS) as server:
        server.wait_for_buttons()
        yield server.address


@pytest.fixture(scope="session")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A server with judges, and beside it the store it works on."""
    with open_hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, server: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """An empty tab, 1280 wide unless told; it fails on script errors and on foreign requests.

    What it shows at the end of a test that failed is kept, with `EVALUI_SHOTS=1` of every test.
    """
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 900}})
    context = admitted(chromium, server, **options)
    foreign: list[str] = []
    errors: list[str] = []

    def note(request: Any) -> None:
        if not request.url.startswith((server, "data:", "blob:")):
            foreign.append(request.url)

    # To hold up each request would switch off the browser's cache; `ARGUMENTS` let none out.
    context.on("request", note)
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    if request.node.stash.get(FAILED, False) or os.environ.get("EVALUI_SHOTS") == "1":
        SHOTS.mkdir(exist_ok=True)
        tab.screenshot(path=SHOTS / f"{request.node.name}.png", full_page=True)
    context.close()
    assert foreign == []
    assert errors == []


@pytest.fixture(scope="session")
def run_id(chromium: Any, server: str) -> str:
    """A finished run of the sample, started as a visitor would."""
    context = admitted(chromium, server)
    tab = context.new_page()
    start_sample(tab)
    found = tab.url.partition("run=")[2].partition("&")[0]
    tab.goto(f"/en/?run={found}&tab=runs")
    tab.wait_for_selector("text=2,160 done", timeout=60_000)
    context.close()
    return found
