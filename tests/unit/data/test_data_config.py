import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalui.data import Layout, load
from evalui.errors import DataError

ROWS = "question,A,B,answer\nQ?,1,2,A\n"
ENTRY = {"name": "mine", "pattern": "ceval", "dataset": "eval_example/mine", "subset_list": ["one"]}
QA = {"name": "qa", "pattern": "general_qa", "dataset": "eval_example/qa", "subset_list": ["one"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place in ("mine/one_val.csv", "mine/one_dev.csv", "mine/two_val.csv", "other/one_val.csv"):
        (tmp_path / "set" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / place).write_text(ROWS)
    return tmp_path / "set"


def write(folder: Path, *entries: Any) -> Path:
    path = folder / "custom_config.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_a_configuration_chooses_folder_and_subsets(folder: Path) -> None:
    loaded = load([write(folder, ENTRY)])
    assert loaded.files == ("one_dev.csv", "one_val.csv")
    assert loaded.dataset.name == "mine"
    assert (len(loaded.dataset.samples), len(loaded.dataset.shots)) == (1, 1)


def test_several_subsets_are_one_dataset(folder: Path) -> None:
    loaded = load([write(folder, ENTRY | {"subset_list": ["one", "two"]})])
    assert loaded.files == ("one_dev.csv", "one_val.csv", "two_val.csv")


def test_general_qa_that_is_not_there_is_left_out_aloud(folder: Path) -> None:
    loaded = load([write(folder, QA, ENTRY)])
    assert loaded.dataset.kind == "multiple_choice"
    assert str(loaded.notes[0]) == "qa was left out: its folder is not among the files."


def test_multiple_choice_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match=r"expected two_val\.csv in eval_example/other"):
        load(
            [
                write(
                    folder, ENTRY, ENTRY | {"dataset": "eval_example/other", "subset_list": ["two"]}
                )
            ]
        )


@pytest.mark.parametrize("file", ["one.jsonl", "one_test.jsonl", "one.csv"])
def test_each_kind_of_a_configuration_is_a_dataset_with_its_own_name(
    folder: Path, file: str
) -> None:
    (folder / "qa").mkdir()
    text = "query,response\nCapital?,Beijing\n"
    jsonl = '{"query": "Capital?", "response": "Beijing"}\n'
    (folder / "qa" / file).write_text(text if file.endswith("csv") else jsonl)
    config = write(folder, QA, ENTRY)
    first = load([config], layout=Layout(kind="general_qa"))
    second = load([config], layout=Layout(kind="multiple_choice"))
    assert (first.dataset.name, first.files) == ("qa", (file,))
    assert (second.dataset.name, second.files) == ("mine", ("one_dev.csv", "one_val.csv"))
    assert set(first.kinds) == {"general_qa", "multiple_choice"} == set(second.kinds)
    assert first.dataset.samples[0].references == ("Beijing",)


def test_the_same_configuration_works_in_a_folder_in_an_archive_and_beside_its_files(
    folder: Path, tmp_path: Path
) -> None:
    config = write(folder, QA, ENTRY)
    archive = tmp_path / "upload.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.rglob("*.*"):
            packed.write(file, file.relative_to(tmp_path))
    loose = tmp_path / "loose"
    loose.mkdir()
    uploads = [config, folder / "mine" / "one_dev.csv", folder / "mine" / "one_val.csv"]
    copies = [Path(shutil.copy(upload, loose)) for upload in uploads]
    hashes = {load(paths).dataset.sha256 for paths in ([config], [folder], [archive], copies)}
    assert len(hashes) == 1


def test_a_configuration_cannot_reach_files_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "one_val.csv").write_text(ROWS)
    (tmp_path / "uploads").mkdir()
    for dataset in ("../secret", str(tmp_path / "secret"), "/secret", "..\\secret"):
        config = write(tmp_path / "uploads", ENTRY | {"dataset": dataset})
        with pytest.raises(DataError, match="is not among the files"):
            load([config])


def test_a_path_that_turns_back_is_not_followed(folder: Path) -> None:
    (folder / "one_val.csv").write_text(ROWS)
    with pytest.raises(DataError, match="is not among the files"):
        load([write(folder, ENTRY | {"dataset": "mine/.."})])


def test_a_link_does_not_lead_outside_either(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "one_val.csv").write_text(ROWS)
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "mine").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match="is not among the files"):
        load([write(tmp_path / "uploads", ENTRY)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", r"custom_config\.json line 1: no JSON"),
        ("{}", r"custom_config\.json is no SWIFT configuration"),
        ("[]", r"custom_config\.json is no SWIFT configuration"),
        ("[1]", r"custom_config\.json, dataset 1: found the pattern None"),
        (json.dumps([ENTRY | {"pattern": "mmlu"}]), "found the pattern 'mmlu', expected ceval"),
        (json.dumps([ENTRY | {"dataset": ""}]), "expected a folder under “dataset”"),
        (json.dumps([ENTRY | {"subset_list": "one"}]), "expected a list of names"),
        (json.dumps([ENTRY | {"dataset": "x" * 5000}]), "cannot be read: File name too long"),
        (json.dumps([ENTRY | {"name": "\ud800"}]), r"half of a \\u pair"),
        (json.dumps([QA]), r"expected one\.jsonl in eval_example/qa"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_configuration_is_told(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "custom_config.json"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        load([path])


def test_other_json_that_lies_in_a_folder_is_passed_over(folder: Path) -> None:
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "other" / "one_val.csv").unlink()
    assert load([folder]).files == ("one_dev.csv", "one_val.csv", "two_val.csv")
