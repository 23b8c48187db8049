"""What an installed package brings stands on the pages under its own names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_servers import admitted, started
from extend_examples import files_of_page
from playwright.sync_api import expect


@pytest.fixture
def tab(chromium: Any, plugin: Path, tmp_path: Path) -> Iterator[Any]:
    """A page of a server that finds the package on its path."""
    path = os.pathsep.join([str(plugin), os.environ.get("PYTHONPATH", "")])
    with started(tmp_path, models=files_of_page()["models.toml"], PYTHONPATH=path) as server:
        server.wait_for_buttons()
        context = admitted(chromium, server.address)
        tab = context.new_page()
        tab.set_default_timeout(20_000)
        yield tab
        context.close()


def test_all_that_a_package_brings_is_on_the_pages(tab: Any, tmp_path: Path):
    (tmp_path / "quiz.txt").write_text(files_of_page()["quiz.txt"], encoding="utf-8")
    tab.goto("/en/")
    tab.set_input_files("#files", tmp_path / "quiz.txt")
    tab.get_by_label("overlap", exact=True).set_checked(True)
    for other in tab.locator("input[name=modes]:checked").all():
        other.set_checked(False)
    tab.get_by_label("One letter", exact=True).set_checked(True)
    tab.get_by_role("button", name="Start evaluation").click()
    tab.wait_for_selector("text=6 done", timeout=60_000)
    run_id = tab.url.partition("run=")[2].partition("&")[0]
    for language, mode, metric, section in (
        ("en", "One letter", "Reply length", "Never answered correctly"),
        ("zh", "单个字母", "回答长度", "无人答对"),
    ):
        tab.evaluate("localStorage.clear()")  # what was unfolded is remembered
        tab.goto(f"/{language}/?run={run_id}&sub=overview")
        tab.locator("#hardest > button").wait_for()
        tab.evaluate("document.querySelectorAll('.fold > button').forEach(each => each.click())")
        expect(tab.get_by_role("columnheader", name=metric)).to_be_visible()
        expect(tab.get_by_role("cell", name=mode, exact=True)).to_be_visible()
        expect(tab.locator("#hardest")).to_contain_text(section)
        expect(tab.locator("#hardest")).to_contain_text("And which of them is not?")
    tab.goto("/en/?tab=models")
    expect(tab.locator(".models-page")).to_contain_text("No letters: it gives no probabilities")
