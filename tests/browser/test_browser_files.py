"""Files as people have them, from the drop to the figures, and the card of every guess."""

from pathlib import Path
from typing import Any

import pytest
from axe_examples import violations
from browser_examples import close_preview, preview
from browser_servers import ROOT
from log_examples import SAMPLES, zipped
from open_browser_examples import overflow
from playwright.sync_api import expect

SHAPES = ROOT / "tests" / "golden" / "shapes"
SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# Nothing in the names tells what the columns are, and the answers are places.
UNCLEAR = """{0}1,{0}2,{0}3,{0}4,{0}5
Capital of France?,Paris,Rome,1,spring
Capital of Italy?,Paris,Rome,2,autumn
Of Gaul?,Paris,Rome,1,spring
Of Latium?,Paris,Rome,2,autumn
"""
ROLES = ("question", "A", "B", "answer", "")


def finish(page: Any, name: str) -> None:
    """Start the run of the open form with one model in its own order, and wait for its end."""
    page.get_by_label("steady", exact=True).check()
    page.get_by_label("Name of the run").fill(name)
    page.get_by_role("button", name="Start evaluation").click()
    page.wait_for_url("**run=**", wait_until="commit")
    page.get_by_role("link", name="Read the results").click(timeout=60_000)


def test_columns_called_option_a_lead_from_the_drop_to_the_bias_page(page: Any):
    page.goto("/en/")
    page.set_input_files("#files", SHAPES / "s01_option_a.csv")
    card = page.locator(".ds")
    expect(card).to_contain_text("multiple choice")
    expect(card).to_contain_text("3 of 3 rows ready")
    right = preview(page).locator(".options .ok")
    expect(right).to_have_text(
        ["right answer:B. 4", "right answer:C. Paris", "right answer:A. water"]
    )
    close_preview(page)
    finish(page, "option_a")
    page.get_by_role("link", name="Bias", exact=True).click()
    page.wait_for_url("**sub=bias**")
    expect(page.locator(".headline h1:visible")).to_contain_text("steady")


def test_a_sheet_under_a_title_goes_through_the_card_to_a_run(page: Any):
    page.goto("/en/")
    page.set_input_files("#files", SHAPES / "m01_title_row.xlsx")
    expect(page.locator(".ds")).to_contain_text("5 of 5 rows ready")
    page.get_by_role("button", name="Columns").click()
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    head_row = page.get_by_label("Row of the headers")
    expect(head_row.locator("option:checked")).to_have_text("row 2, detected")
    head_row.select_option("3")
    expect(page.get_by_text("The columns are not clear enough")).to_be_visible()
    head_row.select_option("2")
    expect(page.get_by_text("5 of 5 rows will be readable")).to_be_visible()
    expect(page.locator(".asked .options .ok").first).to_contain_text("全国人大")
    page.get_by_role("button", name="Use these columns").click()
    expect(page.locator(".ds")).to_contain_text("5 of 5 rows ready")
    finish(page, "title_row")
    expect(page.locator(".headline h1")).to_contain_text("steady is right on 80 %")


def test_a_file_that_is_not_clear_is_confirmed_once(page: Any, tmp_path: Path):
    file = tmp_path / "unclear.csv"
    file.write_text(UNCLEAR.format("w"), encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", file)
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    for number, role in enumerate(ROLES, start=1):
        page.get_by_label(f"Role of w{number}").select_option(role)
    expect(page.get_by_text("4 of 4 rows will be readable")).to_be_visible()
    page.wait_for_load_state("networkidle")  # the answer to the last role
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("4–4 of 4")).to_be_visible()
    page.get_by_role("button", name="Use these columns").press("Enter")
    expect(page.get_by_text("4 of 4 rows ready")).to_be_visible()
    expect(page.get_by_role("button", name="Start evaluation")).to_be_enabled()


def test_escape_leaves_the_card_and_what_was_changed_on_it(page: Any, tmp_path: Path):
    file = tmp_path / "known.csv"
    file.write_text("question,A,B,answer,vote\nQ?,yes,no,A,B\nR?,yes,no,B,A\n", encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", file)
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("Role of answer").select_option("")
    expect(page.get_by_role("button", name="Use these columns")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.get_by_text("2 of 2 rows ready")).to_be_visible()
    expect(preview(page).locator(".ok").first).to_contain_text("A. yes")


def test_the_card_has_no_serious_fault(page: Any, tmp_path: Path):
    file = tmp_path / "unclear.csv"
    file.write_text(UNCLEAR.format("x"), encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", file)
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    address = page.url.partition("?")[2]
    for theme in ("light", "dark"):
        assert violations(page, f"/en/?{address}", theme) == []


def test_a_log_of_another_harness_is_named_and_leads_from_the_drop_to_its_results(
    page: Any, tmp_path: Path
):
    (tmp_path / SAMPLES.name).write_bytes(SAMPLES.read_bytes())
    page.goto("/en/")
    page.set_input_files("#files", tmp_path / SAMPLES.name)
    card = page.locator(".log")
    expect(card).to_contain_text("finished run")
    expect(card).to_contain_text("lm-evaluation-harness")
    page.get_by_role("button", name="Import this run").click()
    expect(page.get_by_text("No file states which model has answered").last).to_be_visible()
    page.get_by_label("Name of the model").fill("qwen2")
    page.get_by_role("button", name="Import this run").click()
    page.wait_for_url("**/results?run=**")
    expect(page.get_by_text("qwen2").first).to_be_visible()


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_the_card_of_a_log_fits_a_phone_and_has_no_serious_fault(page: Any, tmp_path: Path):
    name, content = zipped("opencompass")
    (tmp_path / name).write_bytes(content)
    page.goto("/en/")
    page.set_input_files("#files", tmp_path / name)
    expect(page.get_by_label("Name of the model")).to_have_value("pick-a")
    assert overflow(page) == 0
    address = page.url.partition("?")[2]
    for theme in ("light", "dark"):
        assert violations(page, f"/en/?{address}", theme) == []


def test_a_published_set_is_looked_for_while_its_name_is_typed(page: Any):
    page.goto("/en/")
    field = page.get_by_label("A name, a topic, a language")
    field.press_sequentially("humaneval")
    expect(page.locator(".published")).to_contain_text("an administrator has turned that on")
    expect(field).to_have_value("humaneval")
    field.fill("no such set")
    field.press("Enter")
    expect(page.get_by_text("No published set matches.")).to_be_visible()


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_the_card_fits_a_phone(page: Any, tmp_path: Path):
    file = tmp_path / "unclear.csv"
    file.write_text(UNCLEAR.format("y"), encoding="utf-8")
    page.goto("/zh/")
    page.set_input_files("#files", file)
    expect(page.get_by_role("heading", name="各列分别是什么？")).to_be_visible()
    assert overflow(page) == 0
