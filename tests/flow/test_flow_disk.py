"""The disk is full in the middle of a run."""

import pytest
from flow_examples import TRIALS, Office
from test_flow_judge import hire, queued_run, undisturbed

from evalui.models import read_catalog
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.types import Trial


def allow_pages(database: Database, more: int) -> None:
    with database.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + more}")


def test_a_full_disk_fails_the_run_which_goes_on_when_there_is_space(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = office.queue()
    allow_pages(office.database, 44)
    assert office.work_here()
    run = read_run(office.database, run_id)
    assert run.state == "failed"
    assert run.error.startswith("The disk is full, or the database may not grow. Free some space")
    assert 0 < run.done < TRIALS
    assert read_cells(office.database, run_id)[0].state == "failed"
    allow_pages(office.database, 100_000)
    queue.resume(office.database, run_id)
    assert office.work_here()
    assert read_run(office.database, run_id).state == "done"
    assert office.trials(run_id) == expected


def test_a_run_whose_failure_cannot_be_written_goes_on_by_itself(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    def write_no_more() -> None:
        office.database.row("PRAGMA query_only = ON")

    run_id = office.queue()
    catalog = read_catalog(office.models)
    assert Worker(office.database, lambda: catalog, on_batch=write_no_more).run_once()
    assert read_run(office.database, run_id).state == "running"
    office.database.row("PRAGMA query_only = OFF")
    assert queue.requeue_lost(office.database, silent_s=-1.0) == 1
    assert office.work_here()
    assert read_run(office.database, run_id).state == "done"
    assert office.trials(run_id) == expected


def test_judging_on_a_full_disk_goes_on_when_there_is_space(
    office: Office, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hire(office, delay=0)
    run_id = queued_run(office)
    allow_pages(office.database, 30)
    assert office.work_here()
    run = read_run(office.database, run_id)
    assert (run.state, run.done < run.total) == ("failed", True)
    assert run.error.startswith("The disk is full")
    allow_pages(office.database, 100_000)
    queue.resume(office.database, run_id)
    assert office.work_here()
    run = read_run(office.database, run_id)
    assert (run.state, run.done) == ("done", run.total)
    trials, _ = undisturbed(tmp_path_factory.mktemp("undisturbed"))
    assert office.trials(run_id) == trials
