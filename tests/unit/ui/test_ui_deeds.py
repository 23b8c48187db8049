import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from source_trees import nodes_of

import evalui
from evalui.access import Person
from evalui.app.service import AppService
from evalui.errors import NotAllowed, SpecError, UnknownRun
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.deeds import DEEDS, required_deed
from evalui.ui.shell import TABS

TABS_FOLDER = Path(evalui.__file__).parent / "ui" / "tabs"


def compared_with_do(tab: str) -> set[str]:
    """The texts that the modules of a tab compare an action's `do` with."""
    found: set[str] = set()
    folder = TABS_FOLDER / tab
    for path in folder.rglob("*.py") if folder.is_dir() else ():
        for node in nodes_of(path):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith(".do"):
                found |= {
                    part.value
                    for other in node.comparators
                    for part in ast.walk(other)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                }
            if isinstance(node, ast.Match) and ast.unparse(node.subject).endswith(".do"):
                found |= {
                    part.value.value
                    for case in node.cases
                    for part in ast.walk(case.pattern)
                    if isinstance(part, ast.MatchValue) and isinstance(part.value, ast.Constant)
                }
    return found


def test_every_tab_has_its_line():
    assert DEEDS.keys() == TABS.keys()


@pytest.mark.parametrize("tab", TABS)
def test_every_action_that_a_tab_knows_is_listed(tab: str):
    for name in compared_with_do(tab):
        assert required_deed(tab, Action(name, {}, {}))


def test_an_unknown_action_is_refused():
    with pytest.raises(SpecError):
        required_deed("compare", Action("drop", {}, {}))


def test_an_action_names_its_run_once(desk: AppService, finished: Callable[..., str]):
    run_id = finished()
    with acting_as(Person("eve", "annotator")):
        with pytest.raises(UnknownRun):
            desk.require("change", run_id)
        with pytest.raises(NotAllowed):
            desk.require("administer")
