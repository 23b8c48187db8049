"""On Evaluate an owner lets a team use a dataset, and a member starts from it."""

import pytest
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import GOOD
from ui_runs_screen import Screen as RunsScreen

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.accounts.teams import add_team, rights_of
from evalui.app.service import AppService
from evalui.errors import DataError
from evalui.ui.current_person import acting_as

ADMIN = Person("admin", "admin")
ANN = Person("ann", "annotator", frozenset({"law"}))
BOB = Person("bob", "annotator", frozenset({"law"}))


@pytest.fixture
def upload(desk: AppService) -> str:
    """A dataset of ann's."""
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    add_team(desk.database, "law", by=ADMIN)
    for name in ("ann", "bob"):
        add_person(desk.database, name, "annotator", by=ADMIN)
    with acting_as(ANN):
        made = desk.store_upload([("capitals.csv", GOOD.encode())])
    with desk.database.writing() as connection:
        row = ("ann", made, "capitals.csv", len(GOOD), 1.0)
        connection.execute("INSERT OR IGNORE INTO upload VALUES (?, ?, ?, ?, ?)", row)
    return made


def answered(desk: AppService, do: str, upload: str, **form: str) -> str:
    data = {"upload": upload, "thing": upload, "team": "law", "right": "run"}
    return Screen(desk).act(Press(do, data, dict(form)))


def test_a_member_starts_from_a_dataset_of_the_team(desk: AppService, upload: str):
    with acting_as(BOB):
        assert "Datasets of your teams" not in Screen(desk).render({})
    with acting_as(ANN):
        shown = answered(desk, "grant", upload, uploads=upload)
        assert 'aria-pressed="true"' in shown
        assert rights_of(desk.database, "dataset", f"ann/{upload}") == {"law": {"run"}}
    with acting_as(BOB):
        page = Screen(desk).render({})
        assert "Datasets of your teams" in page
        assert f'data-upload="{upload}"' in page
        shown = answered(desk, "take", upload)
        assert "capitals" in shown
        assert f'name="uploads" value="{upload}"' in shown
        assert desk.uploads.paths("bob", upload)
        # Whoever leaves the form before a run is started finds it again.
        assert "Datasets of your teams" in Screen(desk).render({})


def test_both_sides_state_that_a_used_dataset_is_kept(desk: AppService, upload: str):
    with acting_as(ANN):
        assert "keep it among their files" in answered(desk, "grant", upload, uploads=upload)
    with acting_as(BOB):
        assert "it stays if its owner" in Screen(desk).render({})


def test_who_has_not_the_dataset_changes_nothing(desk: AppService, upload: str):
    with acting_as(BOB):
        for do in ("grant", "ungrant", "take"):
            assert "capitals" not in answered(desk, do, upload)
        with pytest.raises(DataError):
            desk.uploads.paths("bob", upload)
    assert rights_of(desk.database, "dataset", f"ann/{upload}") == {}


def test_who_uploaded_the_same_leaves_the_rights_of_others_alone(desk: AppService, upload: str):
    with acting_as(ANN):
        answered(desk, "grant", upload)
    with acting_as(BOB):
        assert desk.store_upload([("capitals.csv", GOOD.encode())]) == upload
        answered(desk, "ungrant", upload)
    assert rights_of(desk.database, "dataset", f"ann/{upload}") == {"law": {"run"}}


def test_a_reader_takes_nothing(desk: AppService, upload: str):
    with acting_as(ANN):
        answered(desk, "grant", upload, uploads=upload)
    with acting_as(Person("bob", "reader", frozenset({"law"}))):
        assert "Your role lets you look" in answered(desk, "take", upload)


def test_a_list_of_runs_says_whose_they_are(desk: AppService, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    add_team(desk.database, "law", by=ADMIN)
    with acting_as(ANN):
        run_id = finished()
        assert "run of" not in RunsScreen(desk).render({})
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO team_right VALUES ('run', ?, 'law', 'view')", (run_id,))
    with acting_as(BOB):
        page = RunsScreen(desk).render({})
        assert "run of ann" in page
        assert 'data-do="ask"' not in page  # not theirs to delete
