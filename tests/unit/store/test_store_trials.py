import pytest
from runs_examples import trial

from evalui.errors import StoreError
from evalui.runs.results import read_result
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells
from evalui.store.trials import (
    DeferredTrials,
    done_keys,
    read_trials,
    read_trials_of,
    write_trials,
)
from evalui.types import Variant


def test_trials_read_back_as_they_were(database: Database, lease: Lease) -> None:
    written = (trial(0, reply="A"), trial(1, choice=None, credit=0.5, tied=True))
    write_trials(database, lease, 1, written)
    assert tuple(read_trials(database, 1)) == written


def test_questions_come_in_file_order_and_variants_in_the_patterns(
    database: Database, lease: Lease
) -> None:
    in_order = [
        trial(number, order)
        for number in (0, 1)
        for order in ((0, 1, 2, 3), (3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0))
    ]
    write_trials(database, lease, 1, in_order[::-1])
    assert list(read_trials(database, 1)) == in_order


def test_the_trials_of_a_question_share_its_id(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(0), trial(0, (3, 0, 1, 2))])
    one, other = read_trials(database, 1)
    assert one.sample_id is other.sample_id


def test_a_trial_written_twice_is_there_once_and_counted_once(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(1), trial(2)])
    write_trials(database, lease, 1, [trial(2, choice=3, credit=0.0), trial(3)])
    (cell,) = read_cells(database, lease.run_id)
    assert (cell.done, cell.origin_n, cell.origin_credit) == (3, 3, 3.0)
    assert read_trials(database, 1)[1].choice == 0


def test_the_running_accuracy_counts_the_files_own_order_only(
    database: Database, lease: Lease
) -> None:
    write_trials(
        database,
        lease,
        1,
        [
            trial(1),
            trial(1, (3, 0, 1, 2), choice=1, credit=0.0),
            trial(2, choice=1, credit=0.0),
            trial(2, (3, 0, 1, 2)),
            trial(3, choice=None, credit=0.5, tied=True),
            trial(4, choice=None, credit=0.0),
            trial(4, (3, 0, 1, 2), choice=None, credit=0.0),
        ],
    )
    (cell,) = read_cells(database, lease.run_id)
    assert (cell.origin_n, cell.origin_credit, cell.accuracy) == (4, 1.5, 0.375)
    assert (cell.done, cell.unreadable, cell.tied) == (7, 2, 1)


def test_before_the_first_trial_there_is_no_accuracy(database: Database, lease: Lease) -> None:
    (cell,) = read_cells(database, lease.run_id)
    assert (cell.accuracy, cell.remaining_seconds) == (None, None)


def test_the_rate_tells_the_time_that_is_left(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(number) for number in range(6)])
    (cell,) = read_cells(database, lease.run_id)
    assert cell.rate
    assert cell.remaining_seconds == pytest.approx(18 / cell.rate)
    assert cell.seconds == pytest.approx(6 / cell.rate)


def test_what_is_done_is_not_run_again(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(1), trial(1, (3, 0, 1, 2))])
    assert done_keys(database, 1) == {
        ("sums/1", Variant((0, 1, 2, 3))),
        ("sums/1", Variant((3, 0, 1, 2))),
    }


def test_a_result_has_every_question_and_the_trials_so_far(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(1)])
    result = read_result(database, lease.run_id, 1)
    assert list(result.samples) == [f"sums/{number}" for number in range(6)]
    assert (result.state, result.total, len(result.trials)) == ("running", 24, 1)
    assert "|model:perfect@f|" in result.cell.signature


def test_the_trials_of_one_question_are_those_of_all(database: Database, lease: Lease) -> None:
    orders = ((3, 0, 1, 2), (0, 1, 2, 3), (2, 3, 0, 1))
    for order in orders:  # in several blocks, other questions between
        write_trials(database, lease, 1, [trial(number, order, reply="A") for number in (1, 0)])
    every = [each for each in read_trials(database, 1) if each.sample_id == "sums/1"]
    assert list(read_trials_of(database, 1, "sums/1")) == every
    assert [each.variant.permutation for each in every] == [orders[1], orders[0], orders[2]]
    assert read_trials_of(database, 1, "sums/5") == ()


def test_texts_that_were_deleted_meanwhile_are_an_error(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(0, reply="A"), trial(1, reply="B")])
    trials = read_trials(database, 1)
    with database.writing() as connection:
        connection.execute("DELETE FROM trial WHERE reply = 'B'")
    assert trials[0].reply == "A"
    with pytest.raises(StoreError, match="trials of cell 1 have been deleted"):
        _ = trials[1]
    assert trials.reading.credit.tolist() == [1.0, 1.0]


def test_a_report_of_a_deleted_run_never_shows_the_texts_of_another(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(0, reply="A")])
    trials = read_trials(database, 1)
    with database.writing() as connection:
        connection.execute("DELETE FROM trial")
        connection.execute("DELETE FROM trial_block")
    write_trials(database, lease, 1, [trial(1, reply="of another")])
    with pytest.raises(StoreError, match="have been deleted"):
        _ = trials[0]
    assert read_trials(database, 1)[0].reply == "of another"


def test_deferred_trials_are_read_when_they_are_needed() -> None:
    made = columns_of([trial(0), trial(1), trial(2)])
    reads: list[TrialColumns] = []

    def read() -> TrialColumns:
        reads.append(made.take(slice(None)))
        return reads[-1]

    trials = DeferredTrials(3, read)
    assert (len(trials), len(reads)) == (3, 0)
    assert columns_of(trials) is trials.columns
    assert list(trials) == list(made)
    assert len(reads) == 1
    reads[:] = [made] * len(reads)  # nobody holds on to what was read
    assert trials[0] == made[0]
    assert len(reads) == 2
