"""Files that are there once they are whole."""

from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path

import pytest

from evalui.errors import StoreError
from evalui.report.write.archive import write_private


@pytest.mark.parametrize(
    "error", [OSError(ENOSPC, "No space left"), StoreError("trials-gone", cell=1)]
)
def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path, error: Exception):
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise error

    (tmp_path / "old.csv").write_text("whole")
    for name in ("old.csv", "new.csv"):
        with pytest.raises(StoreError, match=f"{name}.*No space|deleted"):
            write_private(tmp_path / name, pieces())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.csv": "whole"}
    with pytest.raises(StoreError, match=r"old.csv/x cannot be written: Not a directory"):
        write_private(tmp_path / "old.csv" / "x", [b"whole"])
