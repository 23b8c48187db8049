"""Runs as they are, and as they were at a moment."""

from collections.abc import Callable

import pytest

from evalui.access import Person
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.store import queue
from evalui.ui.current_person import acting_as


def change(desk: AppService, run_id: str) -> int:
    with desk.database.writing() as connection:
        queue.bump_revision(connection, run_id)
    return desk.run(run_id).revision


def test_a_run_stays_as_it_was_within_a_moment(desk: AppService, finished: Callable[..., str]):
    run_id, runs = finished(), desk.runs
    before = runs.read(run_id).revision
    with runs.at(1):
        assert runs.read(run_id).revision == before
    after = change(desk, run_id)
    with runs.at(1):
        assert runs.read(run_id).revision == before
        with runs.at(None):
            assert runs.read(run_id).revision == after
    assert runs.read(run_id).revision == after
    with runs.at(2):
        assert runs.read(run_id).revision == after


def test_at_every_moment_a_run_is_that_of_its_owner_alone(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    for moment in (None, 1, 1):
        with desk.runs.at(moment):
            assert desk.run(run_id).id == run_id
            with acting_as(Person("someone else", "annotator")), pytest.raises(UnknownRun):
                desk.run(run_id)
