"""The end of a run is stated above the pages of its owner until they have seen it."""

import re
from collections.abc import Callable

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.app.run_lists import close_notice, unseen_notices
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.top_bar import top_bar

ADMIN = Person("admin", "admin")


def notes(desk: AppService, form: Form) -> list[str]:
    bar = top_bar(desk, messages("en"), str(form.get("tab", "evaluate")), form)
    return re.findall(r"</svg>([^<]+) <a", bar.partition('class="notices"')[2])


def test_a_note_stands_on_every_page_until_the_run_is_opened(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished(name="Midterm")
    assert notes(desk, {"tab": "models"}) == ["Midterm is done."]
    assert notes(desk, {"tab": "evaluate"}) == ["Midterm is done."]
    assert notes(desk, {"tab": "results", "run": run_id}) == []
    assert notes(desk, {"tab": "models"}) == []


def test_the_list_of_runs_shows_them_all(desk: AppService, finished: Callable[..., str]):
    for number in range(5):
        finished(name=f"run {number}")
    assert notes(desk, {"tab": "models"}) == [f"run {n} is done." for n in (4, 3, 2)]
    assert "and 2 more" in top_bar(desk, messages("en"), "models", {})
    assert "notices" not in top_bar(desk, messages("en"), "runs", {})
    assert unseen_notices(desk) == []


def test_a_note_can_be_closed_by_its_owner_alone(desk: AppService, finished: Callable[..., str]):
    finished(name="Midterm")
    finished(name="Final")
    (final, _) = unseen_notices(desk)
    assert f"../notices/{final.id}/close" in top_bar(desk, messages("en"), "evaluate", {})
    close_notice(desk.acting_for(Person("eve", "admin")), final.id)
    assert notes(desk, {}) == ["Final is done.", "Midterm is done."]
    close_notice(desk, final.id)
    close_notice(desk, 999)
    assert notes(desk, {}) == ["Midterm is done."]


def test_a_note_is_for_its_owner_alone(desk: AppService, finished: Callable[..., str]):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    add_person(desk.database, "ann", "annotator", by=ADMIN)
    with acting_as(Person("ann", "annotator")):
        run_id = finished(name="Midterm")
    with acting_as(ADMIN):
        assert notes(desk, {"tab": "results", "run": run_id}) == []
    with acting_as(Person("ann", "annotator")):
        assert notes(desk, {"tab": "models"}) == ["Midterm is done."]


def test_a_read_only_server_shows_no_notices_and_keeps_them(
    desk: AppService, finished: Callable[..., str]
):
    finished(name="Midterm")
    (notice,) = unseen_notices(desk)
    settings = desk.settings
    desk.settings = settings.model_copy(update={"read_only": True})
    assert notes(desk, {"tab": "models"}) == []
    close_notice(desk, notice.id)
    desk.settings = settings
    assert unseen_notices(desk) == [notice]
