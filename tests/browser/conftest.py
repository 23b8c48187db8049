"""The real server with its worker, and a real browser that may reach nothing else."""

import os
import shutil
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from browser_examples import start_sample
from browser_servers import ROOT, admit, admitted, started
from browser_views import COUNT_REQUESTS
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
# Scripted models answer at once; `slow` leaves time to stop a run or to close the page. What was
# kept of one run is not asked again, so all runs of a server have its two minutes together.
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
options = { rule = "noisy", delay = 0.1 }
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


@dataclass(frozen=True, slots=True)
class WatchedTab:
    """A tab of a context of its own; what goes wrong in it is noted."""

    tab: Any
    foreign: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def kept_tabs() -> Iterator[dict[str, WatchedTab]]:
    """The tab of a file with `SAME_TAB = True`, by its server: a new one draws each page anew."""
    kept: dict[str, WatchedTab] = {}
    yield kept
    for each in kept.values():
        each.tab.context.close()


@pytest.fixture
def page(
    chromium: Any, server: str, kept_tabs: dict[str, WatchedTab], request: pytest.FixtureRequest
) -> Iterator[Any]:
    """An empty tab, 1280 wide unless told; it fails on script errors and on foreign requests.

    What it shows at the end of a test that failed is kept, with `EVALUI_SHOTS=1` of every test.
    """
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 900}})
    is_kept = getattr(request.module, "SAME_TAB", False) and list(options) == ["viewport"]
    if is_kept and server in kept_tabs:
        watched = kept_tabs[server]
        watched.tab.set_viewport_size(options["viewport"])
    else:
        watched = _watched_tab(chromium, server, options)
        if is_kept:
            kept_tabs[server] = watched
    yield watched.tab
    failed = request.node.stash.get(FAILED, False)
    if failed or os.environ.get("EVALUI_SHOTS") == "1":
        SHOTS.mkdir(exist_ok=True)
        watched.tab.screenshot(path=SHOTS / f"{request.node.name}.png", full_page=True)
    found = [*watched.foreign, *watched.errors]
    if not is_kept:
        watched.tab.context.close()
    elif failed or found:
        kept_tabs.pop(server).tab.context.close()
    else:
        _forget(watched.tab, server)
    assert found == []


def _watched_tab(chromium: Any, server: str, options: dict[str, Any]) -> WatchedTab:
    context = admitted(chromium, server, **options)
    context.add_init_script(COUNT_REQUESTS)  # which `complete` reads
    watched = WatchedTab(context.new_page())

    def note(request: Any) -> None:
        if not request.url.startswith((server, "data:", "blob:")):
            watched.foreign.append(request.url)

    # To hold up each request would switch off the browser's cache; `ARGUMENTS` let none out.
    context.on("request", note)
    watched.tab.set_default_timeout(20_000)
    watched.tab.on("pageerror", lambda error: watched.errors.append(str(error)))
    return watched


def _forget(tab: Any, server: str) -> None:
    """Leave nothing in a tab that the next test could find, but for its history."""
    if tab.url.startswith(server):  # some tests open nothing in it
        tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.goto("about:blank")
    tab.context.clear_cookies()
    admit(tab.context, server)


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
