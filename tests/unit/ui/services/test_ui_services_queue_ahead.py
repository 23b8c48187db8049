"""What comes before a new run."""

from collections.abc import Callable

from evalui.access import Person
from evalui.ui.components.form import Form
from evalui.ui.services.queue_ahead import QueueAhead, queue_ahead
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.service import AppService


def test_the_runs_of_an_owner_that_are_not_over_come_first(
    desk: AppService, form_for: Callable[..., Form], finished: Callable[..., str]
):
    finished()
    assert queue_ahead(desk.database, desk.person) == QueueAhead(0, 0)
    desk.start(read_run_form(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue_ahead(desk.database, desk.person).runs == 1
    assert queue_ahead(desk.database, Person("someone else")) == QueueAhead(0, 0)
