"""Two models of a finished run compared, from the tab down to one question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from browser_servers import started
from playwright.sync_api import expect

from evalui.app.service import AppService
from evalui.runs.database.connection import Database
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.run_form import read_run_form

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
            "uploads": [service.store_sample()],
            "models": ["steady", "always-A"],
            "modes": ["multiple_choice", "cloze"],
            "pattern": "circular",
        }
        run_id = service.start(read_run_form(form))
        Worker(service.database, service.catalog).run_once(run_id)
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


def test_a_run_is_compared_from_its_tab_down_to_a_question(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=compare")
    title = page.locator("#tab-compare h1")
    expect(title).to_contain_text("beats")
    page.get_by_label("Measure").select_option("accuracy")
    expect(page).to_have_url(re.compile("measure=accuracy"))
    page.get_by_role("link", name=re.compile("^Only steady")).click()
    only = page.get_by_role("link", name=re.compile("^Only steady"))
    expect(only).to_have_attribute("aria-current", "true")
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
    page.go_back()
    expect(opened).to_have_text(question)
    assert page.url == address
    page.reload()
    expect(opened).to_have_text(question)


def test_the_answer_is_in_the_page_without_a_script(page: Any, run_id: str):
    response = page.request.get(f"/en/?run={run_id}&tab=compare")
    assert response.status == 200
    body = response.text()
    assert body.index("beats") < body.index("compare-list")
    assert body.count('class="mono id"') == 20


def test_the_list_is_paged_by_addresses(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=compare")
    rows = page.locator(".compare-list .id")
    expect(rows).to_have_count(20)
    first = rows.first.inner_text(), page.locator(".compare-list .q").first.inner_text()
    page.get_by_role("link", name="Later").click()
    expect(page).to_have_url(re.compile("page=1"))
    shown = page.locator(".compare-list .q").first
    expect(shown).not_to_have_text(first[1])
    page.go_back()
    expect(shown).to_have_text(first[1])


def test_what_is_ticked_becomes_an_address(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&run={run_id}")
    page.get_by_text("Choose others").click()
    group = page.locator(".compare-group").filter(has_text="cloze").first
    expect(group.get_by_role("checkbox").first).to_be_disabled()
    expect(group).to_contain_text("Not comparable with")
    ticked = page.locator(".compare-choose").get_by_role("checkbox", checked=True)
    for left in (1, 0):
        ticked.first.uncheck()
        expect(ticked).to_have_count(left)
    expect(page.locator(".compare-go")).to_contain_text("Tick two or more")
    boxes = page.locator(".compare-group").filter(has_text="letters").first.get_by_role("checkbox")
    boxes.nth(0).check()
    expect(page.locator(".compare-go")).to_contain_text("Tick one more")
    boxes.nth(1).check()
    page.locator(".compare-go").get_by_role("link", name="Compare").click()
    page.wait_for_url(re.compile(r"\?tab=compare&cells=\d+(,|%2C)\d+"))
    expect(page.locator("#tab-compare h1")).to_contain_text("beats")
    page.get_by_role("link", name="中文").click()
    tabs = page.get_by_role("navigation", name="页面")
    expect(tabs.get_by_role("link", name="对比")).to_have_attribute("aria-current", "page")
    expect(page.locator("#tab-compare")).to_contain_text("分歧在哪里")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_scrolls_down_only(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&run={run_id}")
    expect(page.locator("#tab-compare h1")).to_be_visible()
    page.locator(".compare-list li > a").first.click()
    expect(page.locator(".compare-detail table").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_cells_that_are_not_there_are_reported(page: Any, run_id: str):
    page.goto(f"/en/?tab=compare&cells=999999,{len(run_id)}")
    expect(page.locator("#tab-compare [role=alert]")).to_contain_text("There is no such run.")
