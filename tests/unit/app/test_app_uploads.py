"""Uploaded files are kept by owner and content, and nowhere else."""

from pathlib import Path

import pytest

from evalui.app.uploads import UploadStore
from evalui.errors import DataError


@pytest.fixture
def uploads(tmp_path: Path) -> UploadStore:
    return UploadStore(tmp_path / "uploads", limit=100)


def test_the_same_files_are_the_same_upload_in_any_order(uploads: UploadStore):
    one = uploads.store("ann", [("a.csv", b"1"), ("b.csv", b"2")])
    assert uploads.store("ann", [("b.csv", b"2"), ("a.csv", b"1")]) == one
    assert [path.name for path in uploads.paths("ann", one)] == ["a.csv", "b.csv"]


def test_other_content_is_another_upload(uploads: UploadStore):
    assert uploads.store("ann", [("a.csv", b"1")]) != uploads.store("ann", [("a.csv", b"2")])


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/evil.csv", "C:\\x\\evil.csv"]
)
def test_a_name_never_leaves_the_folder_of_its_upload(uploads: UploadStore, name: str):
    upload = uploads.store("ann", [(name, b"x")])
    (path,) = uploads.paths("ann", upload)
    assert path.name == "evil.csv"
    assert path.resolve().is_relative_to(uploads.root.resolve())


@pytest.mark.parametrize("name", ["", "..", ".", "\0"])
def test_a_name_that_is_none_gets_one(uploads: UploadStore, name: str):
    (path,) = uploads.paths("ann", uploads.store("ann", [(name, b"x")]))
    assert path.name == "file"


def test_files_of_one_name_are_both_kept(uploads: UploadStore):
    upload = uploads.store("ann", [("dev/x.csv", b"1"), ("val/x.csv", b"2")])
    assert sorted(path.read_bytes() for path in uploads.paths("ann", upload)) == [b"1", b"2"]


def test_files_of_one_name_keep_their_folder(uploads: UploadStore):
    files = [("set/dev/x.csv", b"1"), ("set\\test\\x.csv", b"2"), ("x.csv", b"3")]
    paths = uploads.paths("ann", uploads.store("ann", files))
    assert [path.parent.name for path in paths] == ["2", "dev", "test"]


def test_files_of_a_dropped_folder_keep_all_folders_above_them(uploads: UploadStore):
    files = [("run/results/m/x.json", b"1"), ("run/predictions/m/x.json", b"2"), ("y.csv", b"3")]
    upload = uploads.store("ann", files)
    assert uploads.about("ann", upload).files == (
        "run/predictions/m/x.json",
        "run/results/m/x.json",
        "y.csv",
    )


def test_a_file_that_is_a_folder_of_another_collides_with_nothing(uploads: UploadStore):
    upload = uploads.store("ann", [("a", b"1"), ("a/b", b"2"), ("a/b/c", b"3")])
    assert [path.read_bytes() for path in uploads.paths("ann", upload)] == [b"1", b"2", b"3"]


def test_folders_too_deep_for_a_file_system_are_left_out(uploads: UploadStore):
    deep = "/".join(["题" * 100] * 40)
    (path,) = uploads.paths("ann", uploads.store("ann", [(f"{deep}/x.csv", b"1")]))
    assert path.parent.parent == path.parents[1]
    assert path.name == "x.csv"


@pytest.mark.parametrize("folder", ["..", "../..", "/etc", "."])
def test_a_folder_never_leaves_that_of_its_upload(uploads: UploadStore, folder: str):
    upload = uploads.store("ann", [(f"{folder}/x.csv", b"1"), ("x.csv", b"2")])
    paths = uploads.paths("ann", upload)
    assert len(paths) == 2
    assert all(path.resolve().is_relative_to(uploads.root.resolve()) for path in paths)


def test_another_owner_sees_nothing(uploads: UploadStore):
    upload = uploads.store("ann", [("a.csv", b"1")])
    with pytest.raises(DataError, match="no longer here"):
        uploads.paths("bob", upload)


@pytest.mark.parametrize(
    "upload", ["../elsewhere", "elsewhere", "0123456789abcdeg", "", "0123456789abcdef/.."]
)
def test_what_is_no_id_is_refused(uploads: UploadStore, upload: str):
    uploads.store("ann", [("a.csv", b"1")])
    (own,) = uploads.root.iterdir()
    (own / "elsewhere").mkdir()
    (uploads.root / "elsewhere").mkdir()
    with pytest.raises(DataError):
        uploads.paths("ann", upload)


def test_too_much_is_refused(uploads: UploadStore):
    with pytest.raises(DataError, match="larger"):
        uploads.store("ann", [("a.csv", b"x" * 60), ("b.csv", b"x" * 60)])


def test_nothing_is_refused(uploads: UploadStore):
    with pytest.raises(DataError, match="no file"):
        uploads.store("ann", [])


def test_other_users_of_the_machine_cannot_read_them(uploads: UploadStore):
    upload = uploads.store("ann", [("a.csv", b"1")])
    (path,) = uploads.paths("ann", upload)
    assert path.parent.stat().st_mode & 0o077 == 0


def test_an_upload_is_found_again_by_its_files(uploads: UploadStore):
    upload = uploads.store("ann", [("a.csv", b"1")])
    assert uploads.id_of("ann", uploads.paths("ann", upload)) == upload


def test_files_from_elsewhere_are_of_no_upload(uploads: UploadStore, tmp_path: Path):
    with pytest.raises(DataError, match="not uploaded here"):
        uploads.id_of("ann", [tmp_path / "a.csv"])


def test_a_long_chinese_name_is_cut_to_what_a_file_system_takes(uploads: UploadStore):
    upload = uploads.store("ann", [("题" * 100 + ".csv", b"1")])
    (path,) = uploads.paths("ann", upload)
    assert path.name.endswith("题.csv")
    assert len(path.name.encode()) <= 200


def test_names_that_look_like_folders_do_not_collide(uploads: UploadStore):
    files = [("2", b"0"), ("a.csv", b"1"), ("a.csv", b"2")]
    upload = uploads.store("ann", files)
    assert sorted(path.read_bytes() for path in uploads.paths("ann", upload)) == [b"0", b"1", b"2"]
