import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from picture_examples import base64_of, picture

from evalui.datasets import files
from evalui.datasets.files import collect_files
from evalui.datasets.model import Limits
from evalui.datasets.picture_files import current_folder, open_folder
from evalui.errors import DataError
from evalui.pictures import mark_of

LIMITS = Limits()


def zipped(path: Path, files: dict[str, bytes], *, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def names(path: Path, limits: Limits = LIMITS) -> list[str]:
    return [str(member.path) for member in collect_files([path], limits).files]


def test_a_folder_is_walked_in_name_order_without_hidden_files(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    for place in ("val/b_val.csv", "dev/b_dev.csv", ".git/x.csv", "__MACOSX/y.csv", "a.tsv"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("x")
    assert names(folder) == ["set/a.tsv", "set/dev/b_dev.csv", "set/val/b_val.csv"]


def test_a_name_that_is_no_text_is_made_one(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xb7.csv")
    path.write_bytes(b"x")
    assert names(path) == ["\ufffd.csv"]


def test_an_archive_is_unpacked_in_memory(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"d/b.csv": b"1", "a.csv": b"2", "__MACOSX/._a.csv": b"3"})
    assert names(path) == ["a.csv", "d/b.csv"]
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_other_kinds_are_named_in_a_note(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"1"} | {f"{n}.pdf": b"" for n in range(7)})
    (note,) = collect_files([path], LIMITS).notes
    assert str(note).endswith("0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf (+2).")


def test_names_that_chinese_windows_packed_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("AAAA_val.csv", b"1")
    path.write_bytes(packed.getvalue().replace(b"AAAA", "法学".encode("gb18030")))
    assert names(path) == ["法学_val.csv"]


@pytest.mark.parametrize("name", ["../x.csv", "/etc/x.csv", "a/../../x.csv", "C:\\x.csv"])
def test_a_name_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "s.zip", {name: b"1"})
    with pytest.raises(DataError, match="points outside"):
        collect_files([path], LIMITS)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"a" * (5 * 2**20)})
    with pytest.raises(DataError, match=r"s\.zip: a\.csv grows more than 100 times"):
        collect_files([path], LIMITS)


def test_what_is_too_much_unpacked_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.xml": os.urandom(800), "b.xml": os.urandom(800)})
    with pytest.raises(DataError, match="unpacked; at most"):
        collect_files([path], Limits(unpacked=1000))


def test_texts_in_an_archive_are_counted_without_their_pictures(tmp_path: Path) -> None:
    large = base64_of(picture(kind="BMP", size=(80, 80))).encode()
    texts = {f"{n}.csv": b"question,image\nQ?," + large for n in range(2)}
    path = zipped(tmp_path / "s.zip", texts)
    limits = Limits(unpacked=1000, bytes=500, unpacked_pictures=60_000)
    collected = collect_files([path], limits)
    mark = str(mark_of(picture(kind="BMP", size=(80, 80))))
    assert [file.data for file in collected.files] == [f"question,image\nQ?,{mark}".encode()] * 2
    with pytest.raises(DataError, match="exceed"):
        collect_files([path], replace(limits, unpacked=100))
    with pytest.raises(DataError, match=r"0\.csv has 0\.0 MB; at most"):
        collect_files([path], replace(limits, bytes=50))
    with pytest.raises(DataError, match="unpacked; at most"):
        collect_files([path], replace(limits, unpacked_pictures=40_000))


def test_each_picture_file_that_is_too_large_is_one_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_PICTURE_BYTES", 10)
    for place in ("qa.csv", "x/a.png", "y/a.png"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(picture())
    folder = open_folder(None)
    collect_files([tmp_path], Limits())
    assert folder.find("a.png") is None
    mark = folder.find("y/a.png")
    assert mark
    assert folder.refused[mark.id] == "a file of more than 20 MB"


def test_picture_files_are_counted_apart(tmp_path: Path) -> None:
    pictures = {f"images/{n}.png": picture(size=(n, 5)) for n in range(1, 5)}
    path = zipped(tmp_path / "s.zip", {"a.csv": b"1"} | pictures)
    limits = Limits(files=1, unpacked=1, pictures=4)
    open_folder(None)
    assert names(path, limits) == ["a.csv"]
    assert [str(place) for place in current_folder().files] == list(pictures)
    open_folder(None)
    with pytest.raises(DataError, match=r"4\.png is one picture too many; at most 3"):
        collect_files([path], replace(limits, pictures=3))


def test_a_picture_may_shrink_as_much_as_it_likes_in_an_archive(tmp_path: Path) -> None:
    blank = picture(kind="BMP", size=(1000, 500))
    path = zipped(tmp_path / "s.zip", {"a.csv": b"1", "1.bmp": blank})
    open_folder(None)
    collect_files([path], LIMITS)
    assert current_folder().known == {mark_of(blank).id}


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"", "b.csv": b""})
    with pytest.raises(DataError, match="has 2 files; at most 1"):
        collect_files([path], Limits(files=1))


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"1"})
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="is encrypted"):
        collect_files([path], LIMITS)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"hello" * 100})
    data = bytearray(path.read_bytes())
    data[40] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"s\.zip is not a zip archive, or it is damaged"):
        collect_files([path], LIMITS)


def test_an_archive_with_a_nameless_file_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.csv": b"1"})
    path.write_bytes(path.read_bytes().replace(b"a.csv", b"\0.csv"))
    with pytest.raises(DataError, match=r"s\.zip is not a zip archive, or it is damaged"):
        collect_files([path], LIMITS)


def test_a_file_over_the_limit_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(b"x" * (3 * 2**20))
    with pytest.raises(DataError, match=r"big\.csv has 3\.0 MB; at most 2\.0 MB are read"):
        collect_files([path], Limits(bytes=2 * 2**20))


def test_several_files_may_not_exceed_the_whole(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_bytes(b"x" * 600)
    with pytest.raises(DataError, match=r"b\.csv and the files before it exceed"):
        collect_files(paths, Limits(unpacked=1000))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.csv", "does not exist"),
        ("x.docx", "is of a kind that cannot be read. Expected CSV"),
        ("empty", "has no file that can be read"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, reason: str) -> None:
    for other in ("x.docx", "x.xls"):
        (tmp_path / other).write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=f"{name} {reason}"):
        collect_files([tmp_path / name], LIMITS)


def test_no_file_at_all_is_told() -> None:
    with pytest.raises(DataError, match="No file was given"):
        collect_files([], LIMITS)
