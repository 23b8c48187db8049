"""Two models of a finished run compared, from the page down to one question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from browser_servers import started
from browser_views import complete
from playwright.sync_api import expect

from evalui.app.datasets import store_sample
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.pages.evaluate.spec import form_to_spec

MODELS = """
[steady]
backend = "scripted"
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }
"""
SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}}


@dataclass(frozen=True, slots=True)
class Sampled:
    """A server and its finished run of the sample."""

    address: str
    run_id: str


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sampled]:
    """A server of its own, whose run was done beside it."""
    with started(tmp_path_factory.mktemp("compare"), models=MODELS, EVALUI_WORKERS="0") as opened:
        opened.wait_for_buttons()
        settings = Settings(data_dir=opened.data, models=opened.models)
        service = AppService(settings, Database(settings.database))
        form = {
            "uploads": [store_sample(service)],
            "models": ["steady", "always-A"],
            "modes": ["multiple_choice", "cloze"],
            "pattern": "circular",
        }
        run_id = start_run(service, form_to_spec(form))
        Worker(service.database, service.models.catalog).run_once(run_id)
        yield Sampled(opened.address, run_id)
        service.database.close()


@pytest.fixture(scope="module")
def server(sampled: Sampled) -> str:
    """The address that the pages of this file belong to."""
    return sampled.address


@pytest.fixture(scope="module")
def run_id(sampled: Sampled) -> str:
    """A finished run of the sample."""
    return sampled.run_id


def title(page: Any) -> Any:
    """The sentence that answers."""
    return page.get_by_role("heading", level=1)


def pick(page: Any, name: str, option: str) -> None:
    """Choose in one of the lists."""
    page.get_by_role("combobox", name=name).click()
    page.get_by_role("option", name=re.compile(option)).click()


def test_a_run_is_compared_from_its_page_down_to_a_question(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=compare")
    page.wait_for_url(f"**/en/compare?run={run_id}")
    expect(title(page)).to_contain_text("beats")
    pick(page, "Measure", "^Accuracy")
    expect(page).to_have_url(re.compile("measure=accuracy"))
    complete(page)
    only = page.get_by_role("radio", name=re.compile("^Only steady"))
    expect(only).to_have_count(1)
    only.click()
    expect(page).to_have_url(re.compile("only="))
    expect(only).to_be_checked()
    complete(page)  # else the links of the list are those of before
    line = page.locator(".compare-list li > a").nth(2)
    question = line.locator(".q").inner_text()
    line.click()
    opened = page.locator(".compare-detail .qtext")
    expect(opened).to_have_text(question)
    expect(page.locator(".compare-detail table")).to_have_count(2)
    address = page.url
    page.locator(".compare-list li > a[aria-expanded=true]").focus()
    page.keyboard.press("ArrowDown")
    expect(opened).not_to_have_text(question)
    focused = page.locator(".compare-list li > a:focus")
    expect(focused).to_have_attribute("aria-expanded", "true")
    page.go_back()
    expect(opened).to_have_text(question)
    assert page.url == address
    page.reload()
    expect(opened).to_have_text(question)
    expect(only).to_be_checked()


def test_the_list_is_paged_by_addresses(page: Any, run_id: str):
    page.goto(f"/en/compare?run={run_id}")
    rows = page.locator(".compare-list .id")
    expect(rows).to_have_count(20)
    first = rows.first.inner_text(), page.locator(".compare-list .q").first.inner_text()
    page.get_by_role("link", name="Next").click()
    expect(page).to_have_url(re.compile("page=1"))
    shown = page.locator(".compare-list .q").first
    expect(shown).not_to_have_text(first[1])
    page.go_back()
    expect(shown).to_have_text(first[1])


@pytest.mark.usefixtures("run_id")
def test_what_is_chosen_becomes_an_address(page: Any):
    page.goto("/en/compare")
    expect(title(page)).to_have_text("Compare")
    pick(page, "Several runs", ".")
    expect(page).to_have_url(re.compile(r"/compare\?cells=\d+,\d+$"))
    expect(page.locator("h1")).to_contain_text("beats")
    page.keyboard.press("Tab")
    models = page.locator("fieldset.models")
    for left in (1, 0):
        models.get_by_role("checkbox", checked=True).first.click()
        expect(models.get_by_role("checkbox", checked=True)).to_have_count(left)
    expect(page.get_by_text("Choose two or more models.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"runs=[^&]+&group=\d+$"))
    models.get_by_role("checkbox").nth(0).click()
    expect(page.get_by_text("Choose one more model")).to_be_visible()
    models.get_by_role("checkbox").nth(1).click()
    expect(page).to_have_url(re.compile(r"/compare\?cells=\d+,\d+$"))
    expect(page.locator("h1")).to_contain_text("beats")
    pick(page, "Dataset and mode", "cloze")
    expect(models.get_by_role("checkbox")).to_have_count(1)
    expect(page.get_by_text("Choose one more model")).to_be_visible()
    page.go_back()
    expect(models.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.get_by_role("link", name="中文").click()
    tabs = page.get_by_role("navigation", name="页面")
    expect(tabs.get_by_role("link", name="对比")).to_have_attribute("aria-current", "page")
    expect(page.locator(".compare-page")).to_contain_text("分歧在哪里")


def test_models_that_are_pressed_quickly_are_all_taken(page: Any, run_id: str):
    page.goto(f"/en/compare?run={run_id}")
    boxes = page.locator("fieldset.models").get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    # Sooner than the first is answered.
    boxes.evaluate_all("all => all.forEach((each, n) => setTimeout(() => each.click(), 50 * n))")
    expect(page.get_by_text("Choose two or more models.")).to_be_visible()
    expect(page.locator("fieldset.models").get_by_role("checkbox", checked=True)).to_have_count(0)


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_scrolls_down_only(page: Any, run_id: str):
    page.goto(f"/en/compare?run={run_id}")
    expect(page.locator("h1")).to_contain_text("beats")
    page.locator(".compare-list li > a").first.click()
    expect(page.locator(".compare-detail table").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_cells_that_are_not_there_are_reported(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&cells=999999,{len(run_id)}")
    expect(page.get_by_role("alert")).to_contain_text("There is no such run.")


def test_statistics_leave_pairs_to_the_comparison_and_lead_there_and_back(page: Any, run_id: str):
    page.goto(f"/en/results?run={run_id}&sub=statistics&measure=accuracy")
    page.get_by_role("link", name="Compare them").click()
    expect(page).to_have_url(re.compile(r"/compare\?cells=\d+,\d+&measure=accuracy$"))
    expect(title(page)).to_contain_text("beats")
    page.get_by_text("How sure is this?").click()
    page.locator("#sure").get_by_role("link", name="Statistics").click()
    page.wait_for_url(f"**/results?run={run_id}&sub=statistics")
