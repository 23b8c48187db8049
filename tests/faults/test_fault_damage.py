"""The store or its log is damaged: it opens as it was at some moment, or is refused in words."""

import random
from contextlib import closing, suppress
from pathlib import Path

import pytest
from fault_examples import LOG, STORE, check_consistent, copy_of, without_checkpoints
from flow_examples import Office

from evalui.errors import StoreError
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.runs import read_runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run that is done, half of it in the log."""
    office = Office(tmp_path_factory.mktemp("whole"))
    office.hire(delay=0)
    office.queue(n=20)
    office.work_here()
    with closing(Database(office.database.path)) as other:
        without_checkpoints(other)
    without_checkpoints(office.database)
    office.queue(n=30)
    office.work_here()
    kept = tmp_path_factory.mktemp("kept")
    copy_of(office.database.path, kept)
    office.close()
    return kept


def read_all(path: Path) -> int:
    """The trials of all runs, each read as pages read them."""
    with closing(Database(path)) as database:
        return sum(
            len(tuple(result.trials))
            for run in read_runs(database)
            for result in read_results(database, run.id)
        )


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_log_loses_what_comes_after_the_damage_and_nothing_before(
    folder: Path, tmp_path: Path, seed: int
):
    drawn = random.Random(seed)
    log = bytearray((folder / LOG).read_bytes())
    at = drawn.randrange(len(log))
    match seed % 4:
        case 0:
            log[at] ^= 1 << drawn.randrange(8)
        case 1:
            log[at : at + 4096] = drawn.randbytes(4096)
        case 2:
            log[at:] = b"\0" * (len(log) - at)
        case _:
            log += drawn.randbytes(10_000)
    place = copy_of(folder / STORE, tmp_path, log=bytes(log))
    runs = check_consistent(place)
    assert sum(runs.values()) == read_all(place)
    assert sum(runs.values()) <= 4 * 50


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_store_is_whole_or_refused_in_a_sentence(folder: Path, tmp_path: Path, seed: int):
    drawn = random.Random(seed)
    place = copy_of(folder / STORE, tmp_path, log=b"")
    (tmp_path / LOG).unlink()
    content = bytearray(place.read_bytes())
    at = drawn.randrange(len(content))
    content[at : at + 512] = drawn.randbytes(len(content[at : at + 512]))
    place.write_bytes(content)
    with suppress(StoreError):  # every other error would be one that no page can show
        assert read_all(place) <= 4 * 50
