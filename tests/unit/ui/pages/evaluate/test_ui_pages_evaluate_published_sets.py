"""A published set is looked for by its name on Evaluate, and becomes a dataset of the run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from press import Press
from ui_evaluate_screen import Screen

from evalui.access import Person
from evalui.app.service import AppService
from evalui.store.runs import read_runs
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages.evaluate.empty_state import MOST

HUB = Path(__file__).parents[4] / "golden" / "benchmarks" / "hub"
MakeAct = Callable[..., Press]


@pytest.fixture(autouse=True)
def _places(desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settings.task_data = HUB
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tab(desk: AppService) -> Screen:
    screen = Screen(desk, "en")
    screen.open({})
    return screen


def names_on(page: str) -> list[str]:
    return re.findall(r'data-do="published" data-name="(\w+)"', page)


def test_sets_are_listed_once_something_is_looked_for(tab: Screen, act: MakeAct):
    empty = str(tab.render({}))
    assert "Published sets" in empty
    assert names_on(empty) == []
    shown = str(tab.act(act("find", words="commonsense")))
    assert names_on(shown) == ["commonsense_qa"]
    assert "1,221 questions" in shown
    assert "No published set matches" in str(tab.act(act("find", words="zzz")))


def test_a_set_that_is_not_here_says_what_to_do_and_has_no_button(tab: Screen, act: MakeAct):
    page = str(tab.act(act("find", words="arc_challenge")))
    assert names_on(page) == []
    assert "evalui benchmarks fetch arc_challenge" in page
    assert str(HUB) not in page


def test_a_broad_search_shows_the_first_alone(tab: Screen, act: MakeAct):
    page = str(tab.act(act("find", words="e")))
    assert len(re.findall(r'<div class="set ', page)) == MOST


def test_a_set_becomes_a_dataset_that_starts(tab: Screen, desk: AppService, act: MakeAct):
    with pytest.warns(UserWarning, match="the published split has 1221"):
        page = str(tab.act(act("published", name="commonsense_qa")))
    assert "<b>commonsense_qa</b>" in page
    assert "40 of 40 rows ready" in page
    assert names_on(page) == []  # the search is done
    (upload,) = re.findall(r'name="uploads" value="(\w+)"', page)
    form: Form = {"uploads": [upload], "models": ["biased"], "modes": ["multiple_choice"]}
    assert "?run=" in str(tab.act(act("start", form)))
    assert len(read_runs(desk.database)) == 1


def test_with_a_file_no_set_is_looked_for(tab: Screen, form_for: Callable[..., Form]):
    assert "Published sets" not in str(tab.render(form_for(find="gsm8k")))


def test_a_name_that_is_none_is_refused(tab: Screen, act: MakeAct):
    page = str(tab.act(act("published", name="../etc/passwd")))
    assert "There is no published set" in page


def test_a_reader_is_offered_none(tab: Screen):
    with acting_as(Person("rob", "reader")):
        assert "Published sets" not in str(tab.render({}))
