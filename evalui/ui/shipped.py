"""The samples that come with evalui, for people who want to try it without a file."""

import io
import zipfile
from pathlib import Path

from evalui.errors import DataError
from evalui.settings import ASSETS

OPEN_SAMPLE = ASSETS / "samples" / "open" / "arena-demo.jsonl"
_SAMPLE = ASSETS / "samples" / "demo"
_SAMPLE_NAME = "evalui-sample.zip"


def sample_files() -> tuple[Path, ...]:
    """The files of the shipped sample, () if there are none."""
    return tuple(sorted(_SAMPLE.glob("*.csv")))


def sample_archive() -> tuple[str, bytes]:
    """The shipped sample as if somebody uploaded it; raises `DataError` if there is none."""
    if not sample_files():
        raise DataError("This installation has no sample.", "no-sample")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sample_files():
            # Always the same date, so that it is always the same upload.
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())
    return _SAMPLE_NAME, packed.getvalue()
