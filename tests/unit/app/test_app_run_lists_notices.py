"""The end of a run leaves a notice to its owner, until they have seen it."""

from collections.abc import Callable

import pytest

from evalui.access import Person
from evalui.accounts.people import add_person
from evalui.app.run_lists import unseen_notices
from evalui.app.service import AppService

ANN = Person("ann", "annotator")


@pytest.fixture
def ann(desk: AppService) -> AppService:
    add_person(desk.database, "ann", "annotator", by=Person("admin", "admin"))
    return desk.acting_for(ANN)


@pytest.fixture
def ended(ann: AppService) -> Callable[..., str]:
    """A run that ends in a state, without any cells."""
    made: list[str] = []

    def end(state: str = "done", *, owner: str = "ann") -> str:
        run_id = f"run{len(made)}"
        made.append(run_id)
        with ann.database.writing() as connection:
            connection.execute(
                "INSERT INTO run (id, owner, name, spec, state, created, queued)"
                " VALUES (?, ?, 'Midterm', '', 'running', 1, 1)",
                (run_id, owner),
            )
            connection.execute(
                "UPDATE run SET state = ?, finished = 2 WHERE id = ?", (state, run_id)
            )
        return run_id

    return end


def test_who_owns_a_run_gets_a_notice_when_it_ends(ann: AppService, ended: Callable[..., str]):
    done, failed = ended("done"), ended("failed")
    ended("cancelled")  # its owner did that
    ended("done", owner="bob")
    assert [(each.run, each.state) for each in unseen_notices(ann)] == [
        (failed, "failed"),
        (done, "done"),
    ]
    assert [each.run for each in unseen_notices(ann, failed)] == [done]  # its page shows it


def test_a_run_that_ends_again_leaves_another_notice(ann: AppService, ended: Callable[..., str]):
    run_id = ended("failed")
    with ann.database.writing() as connection:
        connection.execute("UPDATE run SET state = 'failed', error = 'x'")  # no other state
        connection.execute("UPDATE run SET state = 'queued'")
        connection.execute("UPDATE run SET state = 'done', finished = 3")
    assert [(each.run, each.state) for each in unseen_notices(ann)] == [
        (run_id, "done"),
        (run_id, "failed"),
    ]


def test_a_notice_is_in_the_transaction_that_ends_the_run(
    ann: AppService, ended: Callable[..., str]
):
    run_id = ended("failed")

    def end_and_fail() -> None:
        with ann.database.writing() as connection:
            connection.execute("UPDATE run SET state = 'done' WHERE id = ?", (run_id,))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        end_and_fail()
    assert [each.state for each in unseen_notices(ann)] == ["failed"]
