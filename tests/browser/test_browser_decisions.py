"""A model that only decides, from the Models page to when one can act on its answers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_servers import started
from decision_server import DecisionBehaviour, DecisionServer
from endpoint_server_examples import MODEL
from planted_deciders import PlantedDecider, planted_questions, right_texts, write_questions
from playwright.sync_api import expect

ASKED = planted_questions(120)
MOST_WORDS = 25


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """In place of the other tests' server: one without models."""
    with started(tmp_path_factory.mktemp("server"), models="") as running:
        running.wait_for_buttons()
        yield running.address


@pytest.fixture(scope="module")
def decider() -> Iterator[str]:
    """The address of a model that is too sure and leans to what stands first."""
    planted = PlantedDecider(
        right_texts(ASKED), accuracy=0.8, temperature=0.5, by_place=(1.0,), decimals=2
    )
    with DecisionServer(DecisionBehaviour(answer=planted)) as running:
        yield running.url


def test_a_decision_server_is_added_asked_in_every_order_and_its_sureness_told(
    page: Any, decider: str, tmp_path: Path
):
    page.goto("/en/models?add=endpoint")
    form = page.locator(".add-model")
    form.get_by_label("Base URL").fill(decider)
    page.locator("#add-path input").fill(MODEL)
    page.locator("#add-name input").fill("decider")
    form.get_by_role("button", name="Add model").click()
    heading = page.get_by_role("heading", name="decider", exact=True)
    model = page.locator(".models-list > li").filter(has=heading)
    expect(model).to_contain_text("Answers", timeout=60_000)
    model.locator("summary").click()
    expect(model).to_contain_text("decisions")

    page.goto("/en/")
    page.set_input_files("#files", write_questions(ASKED, tmp_path / "lands.csv"))
    page.get_by_label("decider", exact=True).check(timeout=60_000)
    page.get_by_label("Every position (circular)").check()
    page.get_by_role("button", name="Start evaluation").click()
    page.wait_for_url("**run=**", wait_until="commit")
    run_id = page.url.partition("run=")[2].partition("&")[0]
    page.goto(f"/en/?run={run_id}&tab=runs")
    page.wait_for_selector("text=480 done", timeout=60_000)

    page.goto(f"/en/?run={run_id}&tab=results&sub=overview")
    expect(page.locator(".headline h1")).to_contain_text("decider is right on 80 %")
    finding = page.get_by_role("heading", name=re.compile("^Act above"))
    words = re.fullmatch(
        r"Act above 0\.\d\d: \d+ % right \(\d+–\d+\) on \d+ % of questions", finding.inner_text()
    )
    assert words
    assert len(words[0].split()) <= MOST_WORDS
    page.wait_for_selector("body[data-ready]:not([data-drawing])")
    page.get_by_role("link", name="Thresholds and calibration").click()
    expect(page).to_have_url(re.compile("sub=calibration"))
    for section in ("act", "calibration"):
        button = page.locator(f"#{section} > button")
        expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#act")).to_contain_text(words[0])
    expect(page.locator("#act ev-plot .main-svg").first).to_be_visible()
    expect(page.locator("#act")).to_contain_text("Same option in every order")
    expect(page.locator("#calibration")).to_contain_text("decider is surer than it is right")
    page.locator("#calibration ev-plot").scroll_into_view_if_needed()
    expect(page.locator("#calibration ev-plot .main-svg").first).to_be_visible()
    page.goto(f"/en/?run={run_id}&tab=results&sub=bias")
    expect(page.locator(".headline h1")).to_contain_text("decider picks A")
