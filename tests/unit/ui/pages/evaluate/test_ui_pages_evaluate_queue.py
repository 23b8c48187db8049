"""What would come before a new run, and what would make it wait."""

from collections.abc import Callable

import pytest
from ui_evaluate_screen import Screen

from evalui.access import Person
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.store.runs import read_runs
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages.evaluate.spec import form_to_spec

MakeForm = Callable[..., Form]
ADA = Person("ada", "operator")


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk, "en")


def ahead(page: str) -> str:
    """What the card states of the queue."""
    return page.partition("Ahead of you")[2].partition("</dd>")[0].rpartition(">")[2]


def test_runs_of_all_people_come_before_a_new_one_by_turns(
    desk: AppService, tab: Screen, form_for: MakeForm
):
    with acting_as(ADA):
        for name in ("a secret", "another"):
            form = form_for(models=["biased"], modes=["multiple_choice"], name=name)
            start_run(desk, form_to_spec(form))
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO turn VALUES ('ada', 5.0)")
    assert ahead(tab.render(form_for())) == "none"
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO turn VALUES ('local', 6.0)")
    page = tab.render(form_for())
    assert ahead(page) == "1 run", "then turns come round"
    assert "a secret" not in page


def test_a_limit_that_would_hold_the_run_is_stated_before_the_start(
    desk: AppService, tab: Screen, form_for: MakeForm
):
    desk.settings.limit_tokens_day = 0
    page = tab.render(form_for())
    assert "Your tokens for today are used up." in page
    assert tab.may_start


def test_no_more_runs_are_queued_than_a_person_may(desk: AppService, form_for: MakeForm):
    desk.settings.limit_queued = 1
    start_run(desk, form_to_spec(form_for()))
    with pytest.raises(SpecError, match="1 of your runs are already waiting"):
        start_run(desk, form_to_spec(form_for()))
    with acting_as(ADA):
        start_run(desk, form_to_spec(form_for()))
        assert len(read_runs(desk.database, ADA)) == 1
