"""Which files are a split: by the ways in which the hub and authors lay sets out."""

import io
import zipfile
from pathlib import Path

import pytest

from evalui.benchmarks.index import find
from evalui.benchmarks.places import DataFile, DataFolder, TaskData, split_files
from evalui.benchmarks.questions import read_rows
from evalui.errors import DataError


def found(paths: list[str], name: str, split: str) -> list[tuple[str, str]]:
    benchmark = find(name)
    files = [DataFile(path, Path(path)) for path in paths]
    parts = split_files(files, benchmark.configs, split, benchmark.layouts)
    return [(each.part, each.data.path) for each in parts]


@pytest.mark.parametrize(
    ("name", "split", "path"),
    [
        ("arc_challenge", "test", "ARC-Challenge/test-00000-of-00001.parquet"),
        ("arc_challenge", "test", "ARC-Challenge/test/0000.parquet"),
        ("commonsense_qa", "validation", "data/validation-00000-of-00001.parquet"),
        ("commonsense_qa", "validation", "default/validation/0000.parquet"),
        ("commonsense_qa", "validation", "validation.jsonl"),
        ("hellaswag", "validation", "data/hellaswag_val.jsonl"),
        ("mmlu", "dev", "all/dev-00000-of-00001.parquet"),
        ("bustm", "test_public", "datasets/bustm/test_public.json"),
    ],
)
def test_a_split_is_found_however_it_is_laid_out(name: str, split: str, path: str):
    other = ["README.md", "ARC-Easy/test-00000-of-00001.parquet", "data/test-0.parquet"]
    expected = [] if "hellaswag_val" in path else [path]  # a name that the index does not state
    assert [path for _, path in found([*other, path], name, split)] == expected


def test_each_part_is_that_of_its_folder_or_file():
    paths = ["dev/law_dev.csv", "val/law_val.csv", "val/logic_val.csv", "test/law_test.csv"]
    assert found(paths, "ceval", "val") == [
        ("law", "val/law_val.csv"),
        ("logic", "val/logic_val.csv"),
    ]
    zipped = [f"ceval-exam!/{path}" for path in paths]
    assert [part for part, _ in found(zipped, "ceval", "dev")] == ["law"]
    assert found(["x/test/anatomy.csv"], "cmmlu", "test") == []


def test_other_parts_of_a_folder_are_not_taken():
    paths = ["boolq/validation-0.parquet", "rte/validation-0.parquet", "cb/validation-0.parquet"]
    assert found(paths, "rte", "validation") == [("rte", "rte/validation-0.parquet")]


def test_all_pieces_of_a_split_are_taken():
    paths = [f"data/train-0000{n}-of-00003.parquet" for n in range(3)]
    assert [path for _, path in found(paths, "boolq", "train")] == paths


def test_a_zip_is_read_as_a_folder(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "cmmlu_v1.zip", "w") as archive:
        archive.writestr("test/anatomy.csv", ",Question,A,B,C,D,Answer\n0,Q,a,b,c,d,C\n")
        archive.writestr("__MACOSX/test/._anatomy.csv", "x")
    folder = DataFolder(tmp_path, "given")
    ((part, file),) = [(each.part, each.data) for each in folder.split(find("cmmlu"), "test")]
    assert part == "anatomy"
    assert [row["Answer"] for row in read_rows(file)] == ["C"]


def test_a_zip_that_is_none_is_a_fault(tmp_path: Path):
    (tmp_path / "a.zip").write_bytes(b"PK not really")
    with pytest.raises(DataError, match=r"a\.zip cannot be read"):
        _ = DataFolder(tmp_path, "given").files


def test_the_given_folder_comes_before_what_was_fetched_and_that_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    line = '{"question": "?", "answer": "#### 1"}\n'
    cached = tmp_path / "cache/datasets--openai--gsm8k"
    for root in (tmp_path / "given/openai/gsm8k", tmp_path / "fetched/openai/gsm8k"):
        (root / "main").mkdir(parents=True)
    data = TaskData(tmp_path / "fetched", tmp_path / "given")
    assert data.with_split(find("gsm8k"), "test") is None
    for revision in ("old", "new"):
        (cached / "snapshots" / revision / "main").mkdir(parents=True)
        (cached / "snapshots" / revision / "main/test.jsonl").write_text(line)
    (cached / "refs").mkdir()
    (cached / "refs/main").write_text("old\n")
    folder = data.with_split(find("gsm8k"), "test")
    assert folder
    assert (folder.origin, folder.revision) == ("cache", "old")
    for origin in ("fetched", "given"):
        (tmp_path / origin / "openai/gsm8k/main/test.jsonl").write_text(line)
        folder = data.with_split(find("gsm8k"), "test")
        assert folder
        assert folder.origin == origin


def rows_of(tmp_path: Path, name: str, content: str, columns: tuple[str, ...] = ()):
    (tmp_path / name).write_text(content, encoding="utf-8")
    return list(read_rows(DataFile(name, tmp_path / name), columns))


def test_tables_have_a_head_or_the_columns_of_the_index(tmp_path: Path):
    columns = ("question", "A", "answer")
    assert rows_of(tmp_path, "a.csv", "q,x,A\n", columns) == [
        {"question": "q", "A": "x", "answer": "A"}
    ]
    headed = "question,A,answer\nq,x,A\n"
    assert rows_of(tmp_path, "b.csv", headed, columns) == rows_of(
        tmp_path, "a.csv", "q,x,A\n", columns
    )
    assert rows_of(tmp_path, "c.tsv", "a\tb\n1\t2\n") == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "a,b\n1,2\n1,2,3\n", "line 3: found 3 cells, expected 2"),
        ("a.jsonl", '{"a": 1}\n{"a"\n', "line 2: found .* expected an object on a line"),
        ("a.jsonl", "[1]\n", "line 1: found int, expected an object"),
        ("a.json", "[{]", "a.json cannot be read"),
        ("a.csv", f"a,b\n{'x' * 140_000},2\n", "a.csv cannot be read: field larger"),
    ],
)
def test_a_file_that_is_no_table_says_where(tmp_path: Path, name: str, content: str, message: str):
    with pytest.raises(DataError, match=message):
        rows_of(tmp_path, name, content)


def test_json_arrays_and_lines_are_the_same(tmp_path: Path):
    one = rows_of(tmp_path, "a.json", '[{"a": 1}, {"a": 2}]')
    assert one == rows_of(tmp_path, "a.jsonl", '{"a": 1}\n\n{"a": 2}\n')


def test_a_member_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("test.jsonl", "x" * 100)
    (tmp_path / "a.zip").write_bytes(packed.getvalue())
    monkeypatch.setattr("evalui.benchmarks.places._MAX_BYTES", 99)
    with pytest.raises(DataError, match="more than 99 bytes"):
        DataFile("a!/test.jsonl", tmp_path / "a.zip", "test.jsonl").read()
