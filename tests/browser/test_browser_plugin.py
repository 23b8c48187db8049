"""What an installed package brings stands on the pages under its own names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_servers import admitted, started
from playwright.sync_api import expect

QUIZ = """\
Which of these is a prime number?
A. 21
B. 23 is a prime number
ANSWER: B

Which city is a capital?
A. Paris is a capital city
B. Lyon
ANSWER: A
"""
MODELS = '[overlap]\nbackend = "word_overlap"\n'


@pytest.fixture
def tab(chromium: Any, plugin: Path, tmp_path: Path) -> Iterator[Any]:
    """A page of a server that finds the package on its path."""
    path = os.pathsep.join([str(plugin), os.environ.get("PYTHONPATH", "")])
    with started(tmp_path, models=MODELS, PYTHONPATH=path) as server:
        server.wait()
        context = admitted(chromium, server.address)
        tab = context.new_page()
        tab.set_default_timeout(20_000)
        yield tab
        context.close()


def test_format_backend_mode_and_metric_of_a_package_are_on_the_pages(tab: Any, tmp_path: Path):
    (tmp_path / "quiz.txt").write_text(QUIZ, encoding="utf-8")
    tab.goto("/en/")
    tab.set_input_files("#files", tmp_path / "quiz.txt")
    tab.get_by_label("overlap", exact=True).set_checked(True)
    mode = tab.get_by_label("One letter", exact=True)
    for other in tab.locator("input[name=modes]:checked").all():
        other.set_checked(False)
    mode.set_checked(True)
    tab.get_by_role("button", name="Start evaluation").click()
    tab.wait_for_selector("text=done")
    tab.screenshot(path="/tmp/d/shot1.png", full_page=True)
    tab.goto(tab.url.replace("runs", "results"))
    tab.screenshot(path="/tmp/d/shot2.png", full_page=True)
