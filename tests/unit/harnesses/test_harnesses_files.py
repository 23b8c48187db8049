"""Archives of logs: unpacked to no more than they may, whatever they declare."""

import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalui.datasets.model import Limits
from evalui.errors import DataError
from evalui.harnesses import files as harness_files
from evalui.harnesses.files import opened_files


def packed(path: Path, **contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(f"{name}.json", content)
    return path


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which what was unpacked stays."""
    folder = tmp_path / "kept"

    @contextmanager
    def keeping(prefix: str, dir: Path | None) -> Generator[str]:
        del prefix, dir
        made = folder / str(len(list(folder.iterdir())) if folder.exists() else 0)
        made.mkdir(parents=True)
        yield str(made)

    monkeypatch.setattr(harness_files, "TemporaryDirectory", keeping)
    return folder


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_no_more_than_the_limit_is_written(tmp_path: Path, kept: Path):
    bomb = packed(tmp_path / "bomb.zip", a=bytes(2**22))
    limits = Limits(unpacked=2**21)
    with pytest.raises(DataError, match="2 MB"), opened_files([bomb], limits):
        pytest.fail("it was opened")
    assert bytes_in(kept) <= limits.unpacked


def test_the_limit_is_that_of_all_archives_together(tmp_path: Path, kept: Path):
    archives = [packed(tmp_path / f"{name}.zip", a=bytes(2**20)) for name in "abc"]
    limits = Limits(unpacked=5 * 2**19)
    with opened_files(archives[:2], limits) as files:
        assert len(files) == 2
    with pytest.raises(DataError), opened_files(archives, limits):
        pytest.fail("they were opened")
    assert bytes_in(kept) <= 2 * limits.unpacked


def test_an_archive_of_too_many_files_is_not_unpacked(tmp_path: Path, kept: Path):
    full = packed(tmp_path / "full.zip", a=b"1", b=b"2", c=b"3")
    with (
        pytest.raises(DataError, match="3 files; at most 2"),
        opened_files([full], Limits(files=2)),
    ):
        pytest.fail("it was opened")
    assert bytes_in(kept) == 0


@pytest.mark.parametrize(
    ("name", "folder"), [("qwen.zip", "qwen"), ("...zip", "log"), ("v1.5.zip", "v1.5")]
)
def test_an_archive_is_unpacked_to_a_folder_of_its_name(tmp_path: Path, name: str, folder: str):
    within = tmp_path / "within"
    within.mkdir()
    with opened_files([packed(tmp_path / name, a=b"{}")], Limits(), within=within) as (path,):
        assert path.parent.name == folder
        assert path.parents[2] == within
    assert list(within.iterdir()) == []


def test_folders_that_windows_writes_are_folders(tmp_path: Path):
    archive = packed(tmp_path / "a.zip", **{"predictions\\m\\x": b"{}", "..\\..\\y": b"{}"})
    with opened_files([archive], Limits()) as files:
        assert [path.parent.name for path in files] == ["a", "m"]
        assert files[1].parents[1].name == "predictions"
