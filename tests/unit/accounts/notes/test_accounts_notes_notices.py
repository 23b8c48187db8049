"""The end of a run leaves a note to its owner, until they have seen it."""

from collections.abc import Callable

import pytest

from evalui.access import Person
from evalui.accounts.notes import notices
from evalui.accounts.notes.notices import claim_due, mark_seen, mark_sent, read_unseen
from evalui.accounts.notes.preferences import NotePreferences, write_preferences
from evalui.runs.database.connection import Database

ANN = Person("ann", "annotator")


def wants(database: Database, **chosen: str) -> None:
    write_preferences(database, NotePreferences(**chosen), hosts=["hooks"], by=ANN)


def test_who_owns_a_run_gets_a_note_when_it_ends(database: Database, ended: Callable[..., str]):
    done, failed = ended("done"), ended("failed")
    ended("cancelled")  # its owner did that
    ended("done", owner="bob")
    unseen = read_unseen(database, "ann")
    assert [(each.run, each.state) for each in unseen] == [(failed, "failed"), (done, "done")]
    mark_seen(database, unseen[:1])
    assert read_unseen(database, "ann") == unseen[1:]


def test_a_run_that_ends_again_leaves_another_note(database: Database, ended: Callable[..., str]):
    run_id = ended("failed")
    with database.writing() as connection:
        connection.execute("UPDATE run SET state = 'failed', error = 'x'")  # no other state
        connection.execute("UPDATE run SET state = 'queued'")
        connection.execute("UPDATE run SET state = 'done', finished = 3")
    assert [each.state for each in read_unseen(database, "ann")] == ["done", "failed"]
    assert {each.run for each in read_unseen(database, "ann")} == {run_id}


def test_a_note_is_in_the_transaction_that_ends_the_run(
    database: Database, ended: Callable[..., str]
):
    run_id = ended("failed")

    def end_and_fail() -> None:
        with database.writing() as connection:
            connection.execute("UPDATE run SET state = 'done' WHERE id = ?", (run_id,))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        end_and_fail()
    assert [each.state for each in read_unseen(database, "ann")] == ["failed"]


def test_nothing_is_sent_to_who_wants_nothing(database: Database, ended: Callable[..., str]):
    ended()
    ended(owner="local")
    assert claim_due(database) is None
    wants(database, mail="ann@example.org")
    assert claim_due(database) is None  # not later either
    new = ended()
    claimed = claim_due(database)
    assert claimed is not None
    assert claimed.run == new
    assert len(read_unseen(database, "ann")) == 2  # being sent is not being seen


def test_a_note_is_tried_four_times_with_longer_pauses(
    database: Database, ended: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    wants(database, webhook="http://hooks/x")
    ended()
    now = 1000.0
    monkeypatch.setattr(notices.time, "time", lambda: now)
    for number, pause in enumerate((60.0, 300.0, 1800.0), start=1):
        claimed = claim_due(database)
        assert claimed is not None
        assert (claimed.tries, claimed.is_last_try) == (number, False)
        assert claim_due(database) is None  # neither by another server
        now += pause - 1
        assert claim_due(database) is None
        now += 1
    last = claim_due(database)
    assert last is not None
    assert last.is_last_try
    mark_sent(database, last)
    now += 1e9
    assert claim_due(database) is None
