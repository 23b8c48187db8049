"""The Bias view: charts with tables that lead to questions, the tests in words, the maps."""

from collections.abc import Callable

import pytest
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD, laid_out, shown

from evalui.messages import messages
from evalui.runs.database.runs import read_cells
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.bias import BiasView

MakeAct = Callable[..., Action]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def few(room: AppService) -> str:
    """Four questions, every order, two models."""
    return ran(room, ("capitals.csv", GOOD))


@pytest.fixture(scope="module")
def view(room: AppService) -> BiasView:
    return laid_out(BiasView(room, messages("en")))


def always_a(view: BiasView, run_id: str) -> str:
    """The id of the cell of always-A."""
    return next(
        str(c.id) for c in read_cells(view.service.database, run_id) if c.cell.model == "always-A"
    )


def two_subjects(desk: AppService, *names: str) -> str:
    """A run over files of these subjects, 40 questions each."""
    files = [(f"{name}_val.csv", questions(40, start=40 * i)) for i, name in enumerate(names)]
    return ran(desk, *files)


def test_each_count_of_the_heat_map_is_a_link_to_its_questions(view: BiasView, few: str):
    cell = always_a(view, few)
    table = shown(view, few, {"bias_cell": cell})["bias-heat-table"]
    address = f"?run={few}&amp;sub=samples&amp;cell={cell}&amp;gold=3&amp;picked=0"
    assert f'<a href="{address}" data-cell="3,0">4</a>' in table


def test_the_verdict_stands_beside_the_picker(view: BiasView, many: str):
    head = shown(view, many)["bias-top"]
    assert 'class="note bad"' in head
    assert "<b>Clear bias</b>. Picks A" in head


def test_every_test_is_explained_with_its_method(view: BiasView, many: str):
    tests = shown(view, many)["bias-tests"]
    for told in ("Do picks depend on position?", "within-question permutation", "Cochran Q"):
        assert told in tests


def test_few_questions_have_no_p_value(view: BiasView, few: str):
    parts = shown(view, few)
    assert '<span class="mono nw">.' not in parts["bias-tests"]
    assert "p = " not in parts["bias-tests"]


def test_a_cell_of_the_grid_lists_its_questions(view: BiasView, few: str, act: MakeAct):
    cell: Form = {"bias_cell": always_a(view, few)}
    before = shown(view, few, cell)["bias-grid-table"]
    assert 'data-cell="4,1"' in before
    assert "Capital of Norway?" not in before
    after = view.listed(few, act("cell", cell, slots="4", options="1"))
    assert "Kept one position 4 times and one option 1 times" in after
    assert "Capital of Norway?" in after
    closed = view.listed(few, act("close", cell | {"slots": "4", "options": "1"}))
    assert closed == before


def test_an_address_opens_a_cell_of_the_grid(view: BiasView, few: str):
    cell: Form = {"bias_cell": always_a(view, few)}
    asked = shown(view, few, cell | {"slots": "4", "options": "1"})["bias-grid-table"]
    assert "Capital of Norway?" in asked
    nothing = shown(view, few, cell | {"slots": "x", "options": "9" * 40})["bias-grid-table"]
    assert "Capital of Norway?" not in nothing


def test_numbers_of_options_are_never_pooled(view: BiasView, room: AppService):
    run_id = ran(room, ("mixed.csv", questions(80, options=(3, 4))), models=["always-A"])
    three, four = (shown(view, run_id, {"bias_k": size})["bias-top"] for size in "34")
    assert "Number of options" in four
    assert "Picks A in all 120 readable replies" in three
    assert "Picks A in all 160 readable replies" in four


def test_one_order_says_what_it_cannot_tell(view: BiasView, room: AppService):
    parts = shown(view, ran(room, ("capitals.csv", GOOD), pattern="origin"))
    assert "Repeat the run with every position" in parts["bias-grid"]
    assert "Asked once, in the order as written" in parts["bias-top"]


def test_without_positions_the_view_says_what_to_do(view: BiasView, room: AppService):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=["cloze"])
    head = shown(view, run_id)["bias-top"]
    assert "Only modes that show the options can favour a position" in head


def test_the_prior_map_leads_to_what_was_picked(view: BiasView, many: str):
    table = shown(view, many)["bias-prior-table"]
    assert "biased" in table
    assert "always-A" in table
    address = f"?run={many}&amp;sub=samples&amp;cell={always_a(view, many)}&amp;picked=0"
    assert address in table
    assert 'data-cell="1,0"' in table


def test_categories_come_first_and_lead_to_their_subjects(
    view: BiasView, room: AppService, act: MakeAct
):
    run_id = two_subjects(room, "computer_network", "law")
    first = shown(view, run_id)["bias-gap-table"]
    assert 'data-of="stem"' in first
    assert "outcome=order_sensitive" not in first
    title, _, table = view.maps.regrouped(run_id, act("into", of="stem"))
    assert "Subjects of STEM" in title
    assert "subject=computer_network&amp;outcome=order_sensitive" in table
    assert "subject=law" not in table
    _, _, back = view.maps.regrouped(run_id, act("back", {"gap_by": "subject"}))
    assert back == first


def test_groups_of_few_questions_are_listed_and_not_drawn(view: BiasView, room: AppService):
    enough = two_subjects(room, "north", "south")
    assert "No group has 30 questions" not in shown(view, enough)["bias-gap-table"]
    files = [(f"{name}_val.csv", questions(4)) for name in ("east", "west")]
    table = shown(view, ran(room, *files))["bias-gap-table"]
    assert "No group has 30 questions" in table
    assert "subject=east" in table
