import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalui.datasets import Layout, config_entries, load
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


def test_the_comments_of_swifts_page_are_left_out(folder: Path) -> None:
    text = json.dumps([ENTRY | {"name": "mine # 1"}], indent=1)
    commented = text.replace('"ceval",', '"ceval", # the pattern, "ceval" or "general_qa"\n # more')
    (folder / "custom_config.json").write_text(commented)
    assert [entry.name for entry in config_entries([folder / "custom_config.json"])] == ["mine # 1"]


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
        ("{", r"custom_config\.json line 1: not valid JSON"),
        ("{}", r"custom_config\.json has no list of questions"),
        ("[]", r"custom_config\.json is empty"),
        ("[1]", r"custom_config\.json is a list of texts or numbers"),
        (json.dumps([ENTRY | {"pattern": "mmlu"}]), "found the pattern 'mmlu', expected ceval"),
        (json.dumps([ENTRY | {"dataset": ""}]), "expected a folder under “dataset”"),
        (json.dumps([ENTRY | {"subset_list": "one"}]), "expected a list of names"),
        (json.dumps([ENTRY | {"dataset": "x" * 5000}]), "cannot be read: File name too long"),
        (json.dumps([QA]), r"expected one\.jsonl in eval_example/qa"),
        ("[" * 100_000, "nested too deeply"),
        (f'{{"limit": {"9" * 5000}}}', "has no list of questions"),
    ],
)
def test_a_bad_configuration_is_told(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "custom_config.json"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        load([path])


@pytest.mark.parametrize("text", ["{", "{}", "[]", "[1]", "9", '{"pattern": "ceval"}'])
def test_what_is_no_configuration_is_not_measured_by_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "questions.json"
    path.write_text(text)
    with pytest.raises(DataError) as refused:
        load([path])
    assert "SWIFT" not in str(refused.value)
    assert "configuration" not in str(refused.value)


def test_other_json_that_lies_in_a_folder_is_passed_over(folder: Path) -> None:
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "other" / "one_val.csv").unlink()
    loaded = load([folder])
    assert loaded.files == ("one_dev.csv", "one_val.csv", "two_val.csv")
    assert "package.json" in str(loaded.notes[0])


@pytest.fixture
def mixed(folder: Path) -> Path:
    """A configuration of two multiple-choice entries and one of open questions."""
    (folder / "qa").mkdir()
    (folder / "qa" / "one.jsonl").write_text('{"query": "Capital?", "response": "Beijing"}\n')
    other = ENTRY | {"name": "other", "dataset": "eval_example/other"}
    return write(folder, QA, ENTRY, other)


def test_each_entry_of_a_configuration_is_a_dataset(mixed: Path) -> None:
    found = config_entries([mixed])
    assert [(entry.name, entry.pattern) for entry in found] == [
        ("qa", "general_qa"),
        ("mine", "ceval"),
        ("other", "ceval"),
    ]
    loaded = [load([mixed], layout=Layout(entry=entry.name)) for entry in found]
    assert [(one.dataset.name, one.dataset.kind, one.files) for one in loaded] == [
        ("qa", "general_qa", ("one.jsonl",)),
        ("mine", "multiple_choice", ("one_dev.csv", "one_val.csv")),
        ("other", "multiple_choice", ("one_val.csv",)),
    ]
    assert [note for one in loaded for note in one.notes if note.rule == "other-kind"] == []


def test_an_entry_is_the_same_dataset_as_its_folder(mixed: Path, folder: Path) -> None:
    chosen = load([mixed], layout=Layout(entry="mine")).dataset
    files = [folder / "mine" / "one_dev.csv", folder / "mine" / "one_val.csv"]
    assert chosen.sha256 == load(files).dataset.sha256


def test_files_that_lost_their_folders_go_to_the_entry_whose_kind_they_have(
    mixed: Path, folder: Path, tmp_path: Path
) -> None:
    write(folder, QA, ENTRY)
    loose = tmp_path / "loose"
    loose.mkdir()
    files = [mixed, *(folder / "mine").glob("one_*.csv"), folder / "qa" / "one.jsonl"]
    copies = [Path(shutil.copy(file, loose)) for file in files]
    qa, mine = (load(copies, layout=Layout(entry=entry.name)) for entry in config_entries(copies))
    assert (qa.dataset.kind, qa.files) == ("general_qa", ("one.jsonl",))
    assert (mine.dataset.kind, mine.files) == ("multiple_choice", ("one_dev.csv", "one_val.csv"))
    assert [note.rule for one in (qa, mine) for note in one.notes] == [
        "across-files",
        "few-dev-rows",
    ]


def test_entries_of_one_name_are_told_apart(folder: Path) -> None:
    other = ENTRY | {"dataset": "eval_example/other"}
    config = write(folder, ENTRY, other, other | {"name": "mine (2)"})
    names = ["mine", "mine (2)", "mine (2) (2)"]
    assert [entry.name for entry in config_entries([config])] == names
    assert load([config], layout=Layout(entry="mine (2)")).files == ("one_val.csv",)


def test_an_entry_whose_folder_is_missing_is_no_dataset_and_said_once(folder: Path) -> None:
    config = write(folder, QA, ENTRY, ENTRY | {"name": "other", "dataset": "eval_example/other"})
    found = config_entries([config])
    assert [entry.name for entry in found] == ["mine", "other"]
    loaded = [load([config], layout=Layout(entry=entry.name)) for entry in found]
    messages = [str(note) for one in loaded for note in one.notes if note.rule == "folder-missing"]
    assert messages == ["qa was left out: its folder is not among the files."]


def test_files_without_a_configuration_have_no_entries(folder: Path) -> None:
    assert config_entries([folder / "mine"]) == ()


def test_an_entry_that_is_not_there_is_told_with_those_that_are(mixed: Path) -> None:
    with pytest.raises(DataError, match=r"no entry .law.\. Known: qa, mine, other"):
        load([mixed], layout=Layout(entry="law"))


def test_a_file_without_its_folder_is_not_given_to_two_entries_of_its_kind(
    folder: Path, tmp_path: Path
) -> None:
    config = write(folder, ENTRY, ENTRY | {"name": "other", "dataset": "eval_example/other"})
    loose = tmp_path / "loose"
    loose.mkdir()
    copies = [Path(shutil.copy(file, loose)) for file in (config, folder / "other/one_val.csv")]
    with pytest.raises(DataError, match=r"one_val\.csv may belong to mine or to other"):
        load(copies, layout=Layout(entry="mine"))
    assert load([config], layout=Layout(entry="mine")).files == ("one_dev.csv", "one_val.csv")
