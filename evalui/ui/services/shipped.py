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
        raise _none()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sample_files():
            # Always the same date, so that it is always the same upload.
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())
    return _SAMPLE_NAME, packed.getvalue()


def open_sample() -> tuple[str, bytes]:
    """The shipped open questions as a file; raises `DataError` if there are none."""
    if not OPEN_SAMPLE.exists():
        raise _none()
    return OPEN_SAMPLE.name, OPEN_SAMPLE.read_bytes()


def _none() -> DataError:
    return DataError("no-sample")
