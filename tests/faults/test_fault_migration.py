"""A server is killed while it brings a store of an earlier version up to date."""

import gzip
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from fault_examples import STORE, check_consistent

from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_runs
from evalui.runs.database.schema.steps import MIGRATIONS

STORES = Path(__file__).parents[1] / "golden" / "net" / "stores"
OPEN = """
import sys
from pathlib import Path
from evalui.runs.database.connection import Database
print("begins", flush=True)
Database(Path(sys.argv[1])).close()
"""


def versions() -> list[str]:
    return sorted(path.name.partition(".")[0] for path in STORES.glob("*.sqlite.gz"))


@pytest.mark.parametrize("version", versions())
def test_a_migration_that_is_killed_is_done_by_the_next_start(version: str, tmp_path: Path):
    original = tmp_path / "original"
    original.write_bytes(gzip.decompress((STORES / f"{version}.sqlite.gz").read_bytes()))
    begun = time.monotonic()
    whole = tmp_path / "whole" / STORE
    whole.parent.mkdir()
    shutil.copy(original, whole)
    with closing(Database(whole)):
        took = time.monotonic() - begun
    expected = check_consistent(whole)
    assert expected
    for part in range(8):
        place = tmp_path / f"killed-{part}" / STORE
        place.parent.mkdir()
        shutil.copy(original, place)
        process = subprocess.Popen([sys.executable, "-c", OPEN, str(place)], stdout=subprocess.PIPE)
        assert process.stdout
        with process.stdout:
            process.stdout.readline()
            time.sleep(took * part / 8)  # the instant
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert check_consistent(place) == expected
        with closing(Database(place)) as database:
            assert len(read_runs(database)) == len(expected)
            (found,) = database.rows("SELECT max(number) AS n FROM migration")
            assert found["n"] == len(MIGRATIONS)
