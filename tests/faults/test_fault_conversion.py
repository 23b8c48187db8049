"""The conversion of a store of an earlier version is killed."""

import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_examples import STORE, check_consistent

ROOT = Path(__file__).parents[2]
STORES = ROOT / "tests" / "golden" / "net" / "stores"
CONVERT = """
import sys
import convert_store
print("begins", flush=True)
sys.exit(convert_store.main(sys.argv[1:]))
"""


def versions() -> list[str]:
    return sorted(path.name.partition(".")[0] for path in STORES.glob("*.sqlite.gz"))


def start(old: Path, new: Path) -> subprocess.Popen[bytes]:
    """A conversion that has loaded what it needs."""
    process = subprocess.Popen(
        [sys.executable, "-c", CONVERT, str(old), str(new)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    return process


@pytest.mark.parametrize("version", versions())
def test_a_conversion_that_is_killed_leaves_the_old_store_and_is_done_again(
    version: str, tmp_path: Path
):
    content = gzip.decompress((STORES / f"{version}.sqlite.gz").read_bytes())
    old, whole = tmp_path / "old.sqlite", tmp_path / "whole" / STORE
    old.write_bytes(content)
    whole.parent.mkdir()
    process = start(old, whole)
    begun = time.monotonic()
    process.communicate()
    took = time.monotonic() - begun
    assert process.returncode == 0
    expected = check_consistent(whole)
    assert expected
    for part in range(8):
        new = tmp_path / f"killed-{part}" / STORE
        new.parent.mkdir()
        process = start(old, new)
        time.sleep(took * part / 8)  # the instant
        process.kill()
        process.communicate()
        assert old.read_bytes() == content
        if new.exists():  # it was too quick
            shutil.rmtree(new.parent)
            new.parent.mkdir()
        process = start(old, new)
        process.communicate()
        assert process.returncode == 0
        assert check_consistent(new) == expected
        assert list(new.parent.iterdir()) == [new]
