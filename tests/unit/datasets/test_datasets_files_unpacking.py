import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_files import (
    lying_workbook,
    lying_zip,
    workbook,
)

from evalui.datasets import reader
from evalui.datasets.files import read_all, read_chunks
from evalui.errors import DataError

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def peak_mb(work: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        work()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak / 2**20


def refused(path: Path) -> str:
    with pytest.raises(DataError) as raised:
        reader.load([path])
    return raised.value.sentence


@pytest.mark.parametrize("checked", [None, 10, 11])
def test_an_archive_that_lies_about_its_size_costs_nothing(tmp_path: Path, checked: int | None):
    path = tmp_path / "lying.zip"
    path.write_bytes(lying_zip(100, 10, checked=checked))
    messages: list[str] = []
    assert peak_mb(lambda: messages.append(refused(path))) < 8
    assert messages[0].startswith("lying.zip is not a zip archive, or it is damaged")


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/theme/theme1.xml"])
def test_a_part_of_a_workbook_that_lies_about_its_size_costs_nothing(tmp_path: Path, part: str):
    path = tmp_path / "lying.xlsx"
    path.write_bytes(lying_workbook(100, 10, part))
    messages: list[str] = []
    assert peak_mb(lambda: messages.append(refused(path))) < 8
    assert messages[0].startswith("lying.xlsx cannot be opened as a workbook")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0, 1, 4096, 300_000])
def test_an_honest_entry_is_read_whole(method: int, size: int):
    whole = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a", whole)
    with zipfile.ZipFile(packed) as archive:
        info = archive.getinfo("a")
        assert read_all(archive, info) == whole
        assert info.file_size == size
        assert max(map(len, read_chunks(archive, info)), default=0) <= 2**16


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("declared", [5, 2**30])
def test_an_entry_of_another_size_is_refused(method: int, declared: int):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a", b"ten bytes!")
        archive.getinfo("a").file_size = declared
    with zipfile.ZipFile(packed) as archive, pytest.raises((zipfile.BadZipFile, EOFError)):
        read_all(archive, archive.getinfo("a"))


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_checksum_is_refused(method: int):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a", b"ten bytes!")
        archive.getinfo("a").CRC += 1
    with zipfile.ZipFile(packed) as archive, pytest.raises(zipfile.BadZipFile):
        read_all(archive, archive.getinfo("a"))


@pytest.mark.parametrize(("method", "most"), [(zipfile.ZIP_BZIP2, 8), (zipfile.ZIP_LZMA, 80)])
def test_a_few_packed_bytes_that_make_many_cost_little(method: int, most: int):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        with archive.open("a", "w") as entry:
            for _ in range(100):
                entry.write(bytes(2**20))
        archive.getinfo("a").file_size = 10
    with zipfile.ZipFile(packed) as archive:
        info = archive.getinfo("a")

        def read() -> None:
            with pytest.raises(zipfile.BadZipFile):
                read_all(archive, info)

        assert peak_mb(read) < most


def test_a_header_that_is_too_wide_is_refused(tmp_path: Path):
    path = tmp_path / "wide.xlsx"
    path.write_bytes(workbook([[f"c{number}" for number in range(1001)], ["x"]]))
    assert refused(path) == "wide.xlsx has 1,001 columns; at most 1,000 are read."


def test_cells_beyond_the_header_are_notes_however_many(tmp_path: Path):
    path = tmp_path / "notes.xlsx"
    row = ["Which?", "a", "b", "A", *["note"] * 2000]
    path.write_bytes(workbook([["question", "A", "B", "answer"], row]))
    loaded = reader.load([path])
    assert [sample.choices for sample in loaded.dataset.samples] == [("a", "b")]


def test_a_picture_may_declare_what_it_likes(tmp_path: Path):
    path = tmp_path / "picture.xlsx"
    packed = io.BytesIO(workbook([["question", "A", "B", "answer"], ["Which?", "a", "b", "A"]]))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("xl/media/image1.svg", '<!DOCTYPE svg PUBLIC "x" "y"><svg/>')
    path.write_bytes(packed.getvalue())
    assert len(reader.load([path]).dataset.samples) == 1
