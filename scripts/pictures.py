"""Makes the pictures of docs/tutorial.md anew, as a browser shows them.

    .venv/bin/python scripts/pictures.py        # needs the extra [test], and Chromium

A server of its own runs on a free port, with a data folder that is thrown away.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "tutorial"
MODELS = ("demo-early", "demo-late")


def main() -> None:
    """Do what the tutorial says, and take a picture of each step."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "evalui.cli", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"EVALUI_DATA_DIR": folder},
        )
        assert server.stdout
        try:
            take_pictures(server.stdout.readline().strip())
        finally:
            server.terminate()
            server.wait()


def take_pictures(address: str) -> None:
    """The pictures of the tutorial, by a browser that opens this address."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(address)
        page.set_default_timeout(120_000)
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
        page.get_by_text("312 of 312").wait_for()
        page.get_by_text("Read the results").click()
        page.get_by_text("Right in every order", exact=True).first.wait_for()
        save(page, "3-overview")
        page.get_by_role("link", name="Bias", exact=True).click()
        page.locator(".js-plotly-plot").first.wait_for()
        save(page, "4-bias")
        page.get_by_role("link", name="Samples", exact=True).click()
        page.get_by_text("Prompt").first.wait_for()
        save(page, "5-samples")
        browser.close()


def save(page: Page, name: str) -> None:
    """Take the picture once nothing moves."""
    page.wait_for_timeout(1500)
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
