"""A question with a picture is refused, and a plain text never is."""

import base64
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from opened_tables import faults_of, only_table
from openpyxl import Workbook

from evalui.datasets import LoadResult, load
from evalui.datasets.model import MAX_FAULTS
from evalui.errors import DataError

PNG = base64.b64encode(
    bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(range(256))
).decode()
BLOB = base64.b64encode(bytes((7 * n * n + n // 3) % 256 for n in range(900))).decode()
URI = "data:image/png;base64," + PNG
PART = {"type": "image_url", "image_url": {"url": "https://example.org/1.png"}}


def jsonl(folder: Path, *rows: dict[str, Any], name: str = "qa.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def rules(loaded: LoadResult) -> list[tuple[int, str, str, str]]:
    return [(f.line, f.column, f.rule, f.expected) for f in loaded.faults]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("image", "cats/1.png"),
        ("Image_2", "x.jpg"),
        ("img_path", "x.jpg"),
        ("images", ["x.jpg"]),
        ("picture", {"path": "x.jpg", "bytes": None}),
        ("图片", "x.jpg"),
        ("anything", {"bytes": "iVBOR", "path": None}),
        ("anything", [{"image": {"bytes": "iVBOR"}}]),
        ("anything", {"url": URI}),
        ("anything", {"url": "https://example.org/a/b.JPG?size=2"}),
        ("messages", [{"role": "user", "content": [{"type": "text", "text": "Q"}, PART]}]),
        ("messages", json.dumps([{"role": "user", "content": [PART]}])),
        ("messages", json.dumps({"role": "user", "content": [{"type": "image"}]})),
        ("question", json.dumps([{"type": "image"}, {"type": "text", "text": "What is this?"}])),
        ("question", f"What is this? <img src='{URI}'>"),
        ("question", f"What is this? {PNG}"),
        ("question", BLOB),
        ("choices", ["a", PNG]),
        ("question", '=DISPIMG("ID_3F2A",1)'),
    ],
)
def test_a_picture_is_found(name: str, value: Any) -> None:
    row = {"id": "1", name: value, "answer": "A"}
    assert faults_of(only_table("x.json", json.dumps([row]))) == [(1, name, "picture")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("image", ""),
        ("image", None),
        ("images", []),
        ("image", {"bytes": None, "path": None}),
        ("image", "None"),
        ("image_caption", "A cat on a mat."),
        ("imagery", "vivid"),
        ("question", "Which image format is lossless? " * 500),
        ("question", "下图中的图片是什么？" * 5000),
        ("question", "ACGT" * 1000),
        ("question", "a" * 5000),
        ("question", "deadbeef0123" * 200),
        ("question", "https://example.org/" + "path/to/Some0Page/" * 80 + "index.html?a=1"),
        ("source", {"url": "https://example.org/page"}),
        ("turns", [{"role": "user", "content": [{"type": "text", "text": "Q"}]}]),
        ("question", "What does data:image/png;base64 mean?"),
        # Questions about JSON, the last ones nothing but JSON.
        ("question", '{"type": "image", "src": "logo.png"}: which field names the file?'),
        ("question", '[{"type": "image", "id": 1}, {"id": 2}] Which item lacks a type?'),
        ("question", '{"type": "image", "width": 300}'),
        ("question", '{"widgets": [{"type": "image", "url": "logo"}]}'),
        ("question", '[{"type": "image", "width": 300}, {"type": "button", "label": "OK"}]'),
    ],
)
def test_a_text_is_no_picture(name: str, value: Any) -> None:
    row = {"id": "1", name: value, "answer": "A"}
    assert faults_of(only_table("x.json", json.dumps([row]))) == []


def test_only_the_rows_with_pictures_are_faults(tmp_path: Path) -> None:
    rows = [
        {"query": f"Q{n}?", "response": "R", "image": "a.png" if n == 1 else ""} for n in range(3)
    ]
    loaded = load([jsonl(tmp_path, *rows)])
    assert rules(loaded) == [(2, "image", "picture", "text; images are not supported yet")]
    assert ([s.question for s in loaded.dataset.samples], loaded.n_rows) == (["Q0?", "Q2?"], 3)


def test_a_table_of_options_with_pictures_is_refused_by_row(tmp_path: Path) -> None:
    path = tmp_path / "x_val.csv"
    path.write_text(f'id,question,A,B,answer\n0,P?,a,b,A\n1,"{URI}",a,b,B\n2,Q?,a,{PNG},A\n')
    loaded = load([path])
    assert [(f.line, f.column, f.rule) for f in loaded.faults] == [
        (3, "question", "picture"),
        (4, "B", "picture"),
    ]
    assert str(loaded.faults[0]) == (
        "x_val.csv, line 3, column question: found a picture, "
        "expected text; images are not supported yet"
    )
    assert (len(loaded.dataset.samples), loaded.n_rows) == (1, 3)


def test_json_lines_of_a_table_are_looked_at_before_they_are_flattened(tmp_path: Path) -> None:
    row = {"question": "Q?", "A": "a", "B": "b", "answer": "A"}
    path = jsonl(tmp_path, row, row | {"image": {"bytes": "iVBOR", "path": None}})
    assert [(f.line, f.column, f.rule) for f in load([path]).faults] == [(2, "image", "picture")]


def test_a_sheet_with_pictures_is_refused_by_row(tmp_path: Path) -> None:
    book = Workbook()
    for row in (("question", "answer", "image"), ("P?", "x", None), ("Q?", "y", "1.png")):
        book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess] - a new one has a sheet
    book.save(tmp_path / "qa.xlsx")
    assert [(f.line, f.rule) for f in load([tmp_path / "qa.xlsx"]).faults] == [(3, "picture")]


def test_a_picture_too_long_for_a_cell_is_still_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "x_val.csv"
    path.write_text(f'question,A,B,answer\n"{URI}{PNG * 500}",a,b,A\nQ?,a,b,B\n')
    loaded = load([path])
    assert [(f.line, f.column, f.rule) for f in loaded.faults] == [(2, "question", "picture")]
    assert len(loaded.dataset.samples) == 1


def test_a_file_of_pictures_alone_says_so_in_one_sentence(tmp_path: Path) -> None:
    rows = [{"query": f"Q{n}?", "response": "R", "image": f"{n}.png"} for n in range(3)]
    with pytest.raises(DataError) as refused:
        load([jsonl(tmp_path, *rows)])
    assert str(refused.value) == (
        "There are no questions to score. qa.jsonl was left out: every row has a picture "
        "(column image), and images are not supported yet."
    )


def test_a_file_of_pictures_beside_others_is_left_out_with_a_note(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        packed.writestr("a.jsonl", json.dumps({"query": "Q?", "response": "R"}))
        packed.writestr("b.jsonl", json.dumps({"query": "Q?", "response": "R", "image": "x.png"}))
    loaded = load([tmp_path / "set.zip"])
    assert (loaded.files, loaded.faults) == (("a.jsonl",), ())
    assert [(note.rule, note.params["file"]) for note in loaded.notes] == [("pictures", "b.jsonl")]


def test_a_file_with_faults_of_other_kinds_is_not_called_one_of_pictures(tmp_path: Path) -> None:
    """The other fault is the first that is only counted."""
    pictured = [{"query": "Q?", "response": "R", "image": "1.png"}] * MAX_FAULTS
    loaded = load([jsonl(tmp_path, *pictured, {"query": "", "response": "R"})])
    assert (len(loaded.faults), loaded.unlisted) == (MAX_FAULTS, 1)
    assert [note.rule for note in loaded.notes] == []


def test_a_file_of_more_pictures_than_are_listed_says_so(tmp_path: Path) -> None:
    rows = [{"query": "Q?", "response": "R", "image": "1.png"}] * (MAX_FAULTS + 1)
    with pytest.raises(DataError, match="every row has a picture"):
        load([jsonl(tmp_path, *rows)])
