"""Trials in pages: each once, in the order in which they were written, while the run goes on."""

import pytest
from runs_examples import add_run, dataset, spec, trial

from evalui.errors import UnknownRun
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease
from evalui.store.trials import TrialCursor, read_trial_page, write_trials

START = TrialCursor()


def read(database: Database, run: str, n: int, cursor: TrialCursor = START) -> list[list[str]]:
    """The ids of the trials of each page, until none comes any more."""
    pages: list[list[str]] = []
    following: TrialCursor | None = cursor
    while following:
        page = read_trial_page(database, run, following, n)
        pages.append([one.sample_id for _, trials in page.parts for one in trials])
        if page.next == following:
            break
        following = page.next
    return pages


def write(database: Database, lease: Lease, numbers: range, cell: int = 1) -> None:
    for number in numbers:  # a batch each, so that blocks are merged in between
        write_trials(database, lease, cell, [trial(number)])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 100])
def test_every_trial_is_in_one_page(database: Database, lease: Lease, n: int) -> None:
    write(database, lease, range(6))
    queue.finish_cell(database, lease, 1)
    queue.finish(database, lease)
    pages = read(database, lease.run_id, n)
    assert [each for page in pages for each in page] == [f"sums/{number}" for number in range(6)]
    assert all(len(page) <= n for page in pages)


def test_a_run_that_goes_on_is_read_on_where_it_was(database: Database, lease: Lease) -> None:
    assert read(database, lease.run_id, 4) == [[]]
    write(database, lease, range(3))
    page = read_trial_page(database, lease.run_id, START, 10)
    assert page.next is not None
    write(database, lease, range(3, 6))  # the blocks are others now
    (rest,) = read_trial_page(database, lease.run_id, page.next, 10).parts
    assert [one.sample_id for one in rest[1]] == ["sums/3", "sums/4", "sums/5"]


def test_a_page_passes_over_no_cell_that_still_grows(database: Database) -> None:
    run = add_run(database, spec(models=["perfect", "always-A"]), dataset())
    claimed = queue.claim(database, "w", run)
    assert claimed
    first, second = (row["id"] for row in database.rows("SELECT id FROM cell ORDER BY place"))
    queue.start_cell(database, claimed.lease, second, "f")
    write(database, claimed.lease, range(2), second)
    assert read(database, run, 10) == [[]]  # the first has not begun
    queue.start_cell(database, claimed.lease, first, "f")
    write(database, claimed.lease, range(2, 4), first)
    queue.finish_cell(database, claimed.lease, first)
    queue.finish_cell(database, claimed.lease, second)
    queue.finish(database, claimed.lease)
    assert read(database, run, 3) == [["sums/2", "sums/3", "sums/0"], ["sums/1"]]


def test_texts_come_with_their_trials(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(0, reply="A."), trial(1, reply="B.")])
    ((_, trials),) = read_trial_page(database, lease.run_id, TrialCursor(0, 1), 5).parts
    assert [one.reply for one in trials] == ["B."]


def test_there_is_no_page_of_a_run_that_is_not_there(database: Database) -> None:
    with pytest.raises(UnknownRun):
        read_trial_page(database, "none", START, 5)


@pytest.mark.parametrize("text", ["", "1", "1.", ".1", "-1.2", "1.2.3", "1,2", "².1", "1" * 30])
def test_what_is_no_cursor_is_none(text: str) -> None:
    assert TrialCursor.read(text) is None
    assert TrialCursor.read(str(TrialCursor(3, 14))) == TrialCursor(3, 14)
