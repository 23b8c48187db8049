"""The machine loses power: of the store's log is left what was written up to some page."""

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fault_examples import (
    LOG,
    STORE,
    check_consistent,
    checkpoint,
    copy_of,
    frames_of,
    page_size,
    without_checkpoints,
)
from flow_examples import Office

from evalui.models import read_catalog
from evalui.runs.worker import cell
from evalui.runs.worker.main import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.types import Trial

QUESTIONS = 40


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Office, str, bytes]]:
    """A run that is done, all of it in the log and nothing in the store; and the store before."""
    office = Office(tmp_path_factory.mktemp("power"))
    office.hire(delay=0.002)
    checkpoint(office.database)
    without_checkpoints(office.database)
    before = office.database.path.read_bytes()
    run_id = office.queue(n=QUESTIONS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cell, "FLUSH_S", 0.0)  # every batch is a commit
        assert office.work_here()
    assert office.database.path.read_bytes() == before
    yield office, run_id, before
    office.close()


def test_every_page_of_the_log_may_be_the_last(finished: tuple[Office, str, bytes], tmp_path: Path):
    office, run_id, _ = finished
    log = (office.folder / LOG).read_bytes()
    frames = list(frames_of(log))
    assert len(frames) > 100
    done = committed = 0
    for number, (end, commits) in enumerate(frames):
        place = copy_of(office.database.path, tmp_path / "cut", log=log[:end])
        runs = check_consistent(place)
        found = runs.get(run_id, 0)
        # Nothing between two commits is seen, and no commit takes anything away.
        assert found == done if not commits else found >= done
        done, committed = found, committed + commits
        if number % 10 == 0:  # in the middle of the page after it
            place = copy_of(office.database.path, tmp_path / "cut", log=log[: end + 1000])
            assert check_consistent(place).get(run_id, 0) == done
    assert done == 4 * QUESTIONS
    assert committed > 10


def test_every_page_of_the_store_may_be_the_last_that_was_folded(
    finished: tuple[Office, str, bytes], tmp_path: Path
):
    office, run_id, before = finished
    log = (office.folder / LOG).read_bytes()
    whole = copy_of(office.database.path, tmp_path / "folded")
    with closing(Database(whole)) as database:
        checkpoint(database)
    after, size = whole.read_bytes(), page_size(log)
    for end in range(0, len(after) + 1, size):
        place = tmp_path / "torn" / STORE
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(after[:end] + before[end:])
        (place.parent / LOG).write_bytes(log)
        assert check_consistent(place)[run_id] == 4 * QUESTIONS


@pytest.mark.parametrize("seed", range(5))
def test_a_run_goes_on_from_any_cut_to_the_same_figures(
    finished: tuple[Office, str, bytes], tmp_path: Path, seed: int
):
    office, run_id, _ = finished
    log = (office.folder / LOG).read_bytes()
    drawn = random.Random(seed)
    ends = [end for end, _ in frames_of(log)]
    place = copy_of(office.database.path, tmp_path, log=log[: drawn.choice(ends[len(ends) // 4 :])])
    shutil.copy(office.models, tmp_path)
    again = Office.__new__(Office)
    again.folder, again.models, again.processes = tmp_path, office.models, []
    again.database = Database(place)
    try:
        if again.database.row("SELECT 1 FROM run WHERE state = 'running'"):
            assert queue.requeue_lost(again.database, silent_s=-1.0) == 1
            catalog = read_catalog(office.models)
            assert Worker(again.database, lambda: catalog, name="again").run_once()
        assert again.trials(run_id) == office.trials(run_id)
    finally:
        again.close()


DURABLE = """
import os, sys
from pathlib import Path
from evalui.store.connection import Database
database = Database(Path(sys.argv[1]))
for durable in (True, False):
    os.write(2, f"begin {durable}\\n".encode())
    with database.writing(durable=durable) as connection:
        connection.execute("INSERT INTO decision VALUES (?, '1')", (str(durable),))
    os.write(2, f"end {durable}\\n".encode())
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_durable_transaction_is_on_the_disk_when_it_ends(tmp_path: Path):
    store = tmp_path / STORE
    Database(store).close()
    trace = tmp_path / "trace"
    subprocess.run(
        [
            *("strace", "-f", "-y", "-e", "trace=write,fsync,fdatasync", "-o", str(trace)),
            *(sys.executable, "-c", DURABLE, str(store)),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    calls = trace.read_text(errors="replace").splitlines()
    places = {
        name: next(at for at, call in enumerate(calls) if f'"{name}' in call)
        for name in ("begin True", "end True", "begin False", "end False")
    }
    synced = [at for at, call in enumerate(calls) if "sync(" in call and LOG in call]
    assert any(places["begin True"] < at < places["end True"] for at in synced)
    assert not any(places["begin False"] < at < places["end False"] for at in synced)


def test_trials_are_the_same_as_undisturbed(finished: tuple[Office, str, bytes], tmp_path: Path):
    office, run_id, _ = finished
    fresh = Office(tmp_path)
    fresh.hire(delay=0)
    try:
        other = fresh.queue(n=QUESTIONS)
        fresh.work_here()
        trials: list[tuple[Trial, ...]] = fresh.trials(other)
    finally:
        fresh.close()
    assert office.trials(run_id) == trials
