"""SWIFT's own configuration, dropped as a zip: a dataset for each kind, and one run of both."""

import zipfile
from pathlib import Path
from typing import Any

from browser_examples import unfold_baselines
from playwright.sync_api import expect

SWIFT = Path(__file__).parents[2] / "assets" / "samples" / "swift"


def test_a_configuration_of_both_kinds_becomes_two_datasets_and_one_run(page: Any, tmp_path: Path):
    archive = tmp_path / "swift.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in SWIFT.rglob("*.*"):
            packed.write(file, file.relative_to(SWIFT))
    page.goto("/en/")
    page.set_input_files("#files", archive)
    expect(page.locator(".ds b", has_text="custom_general_qa")).to_be_visible()
    expect(page.locator(".ds b", has_text="custom_ceval")).to_be_visible()
    unfold_baselines(page)
    for name in ("steady", "slow"):
        page.get_by_label(name, exact=True).set_checked(False)
    page.get_by_label("always-A", exact=True).set_checked(True)
    page.get_by_role("button", name="Start evaluation").click()
    page.wait_for_selector(".runs-page .matrix")
    run = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run}&tab=results")
    told = page.locator("#what-to-know", has_text="Not used").first
    told.locator("> button").click()
    expect(told).to_contain_text("Not used for custom_general_qa, which has no options")
    expect(told).to_contain_text("Not used for custom_ceval, which has options to choose from")
