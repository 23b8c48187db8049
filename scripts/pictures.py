"""Makes the pictures of the tutorial and of README again, as a browser shows them.

    .venv/bin/python scripts/pictures.py        # needs the extra [test], and Chromium

A server of its own runs on a free port, with a data folder that is thrown away.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "tutorial"
MODELS = ("demo-early", "demo-late")


def main() -> None:
    """Do what the tutorial says, and take a picture of each step; then of the judged run."""
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for command, take in (("serve", take_tutorial), ("demo", take_arena)):
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.set_default_timeout(120_000)
            with server(command) as address:
                page.goto(address)
                take(page)
        browser.close()


@contextmanager
def server(command: str) -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "evalui.cli", command, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"EVALUI_DATA_DIR": folder},
        )
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait()


def take_tutorial(page: Page) -> None:
    """Its pictures, by a browser that has opened the address."""
    page.set_input_files("#files", ROOT / "examples" / "quiz.csv")
    page.get_by_role("button", name="Start evaluation").wait_for(timeout=120_000)
    page.wait_for_selector(".evaluate .cost", timeout=60_000)
    page.get_by_text("Details", exact=True).click()
    save(page, "1-faults")
    page.get_by_text("Details", exact=True).click()

    # The demonstration models are folded where there are others.
    if page.locator(".models .foldrow:not([open]) b", has_text="Demo and baselines").count():
        page.get_by_text("Demo and baselines").click()
    for model in MODELS:
        page.get_by_label(model, exact=True).check()
    page.get_by_role("button", name="Start evaluation").scroll_into_view_if_needed()
    save(page, "2-models")

    page.get_by_role("button", name="Start evaluation").click()
    page.wait_for_url("**run=**", wait_until="commit")
    page.get_by_text("312 of 312").first.wait_for()
    page.get_by_text("Read the results").click()
    page.get_by_text("Right in every order", exact=True).first.wait_for()
    save(page, "3-overview")
    page.get_by_role("link", name="Bias", exact=True).click()
    page.locator(".js-plotly-plot").first.wait_for()
    save(page, "4-bias")
    page.get_by_role("link", name="Samples", exact=True).click()
    page.get_by_text("Prompt").first.wait_for()
    save(page, "5-samples")


def take_arena(page: Page) -> None:
    """The judged run of the gallery."""
    page.get_by_role("link", name="Judged answers").click()
    page.get_by_text("Bradley-Terry rating").first.wait_for()
    save(page, "6-judged")


def save(page: Page, name: str) -> None:
    """Take the picture once nothing moves."""
    page.wait_for_timeout(1500)
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
