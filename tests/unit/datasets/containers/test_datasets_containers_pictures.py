"""Pictures in cells become marks, a row whose picture cannot be used is a fault, a text stays."""

import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from opened_tables import faults_of, named_rows, only_table
from openpyxl import Workbook
from picture_examples import base64_of, picture, uri_of

from evalui.datasets import LoadResult, load
from evalui.datasets.picture_files import current_folder, open_folder
from evalui.pictures import mark_of

RED, BLUE = picture("red"), picture("blue", "JPEG", (60, 40))
DAMAGED = BLUE[:300]
MARK, MARK_2 = str(mark_of(RED)), str(mark_of(BLUE))
BLOB = base64_of(bytes((7 * n * n + n // 3) % 256 for n in range(900)))
PART = {"type": "image_url", "image_url": {"url": "https://example.org/1.png"}}


@pytest.fixture(autouse=True)
def upload() -> None:
    """An upload with two picture files."""
    open_folder(None)
    current_folder().add_file(PurePosixPath("set/images/red.png"), RED)
    current_folder().add_file(PurePosixPath("set/images/blue.jpg"), BLUE)
    current_folder().add_file(PurePosixPath("set/images/blue, a cat.jpg"), BLUE)


def jsonl(folder: Path, *rows: dict[str, Any], name: str = "qa.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def reasons(loaded: LoadResult) -> list[tuple[int, str, str]]:
    return [(f.line, f.column, f.actual) for f in loaded.faults]


@pytest.mark.parametrize(
    ("name", "value", "marked"),
    [
        ("image", "images/red.png", MARK),
        ("image", "red.png", MARK),
        ("img_path", ".\\images\\red.png", MARK),
        ("Image_2", base64_of(RED), MARK),
        ("image", uri_of(BLUE), MARK_2),
        ("images", ["red.png", uri_of(BLUE)], MARK + MARK_2),
        ("images", f"['red.png', '{base64_of(BLUE)}']", MARK + MARK_2),
        ("image", "red.png; images/blue.jpg", MARK + MARK_2),
        ("image", "blue, a cat.jpg", MARK_2),
        ("image", "red.png | blue, a cat.jpg", MARK + MARK_2),
        ("picture", {"path": "red.png", "bytes": None}, MARK),
        ("图片", "red.png", MARK),
        ("anything", "images/red.png", MARK),
        ("anything", {"bytes": base64_of(RED), "path": None}, MARK),
        ("anything", [{"image": {"bytes": base64_of(RED)}}], [{"image": MARK}]),
        ("anything", {"url": uri_of(RED)}, MARK),
        ("question", f"What is this? <img width=3 src='{uri_of(RED)}'>", f"What is this? {MARK}"),
        ("question", f"See ![fig. 1]({uri_of(RED)}).", f"See {MARK}."),
        ("question", f"What is this? {base64_of(RED)}", f"What is this? {MARK}"),
        ("choices", ["a", base64_of(RED)], ["a", MARK]),
        (
            "messages",
            [{"role": "user", "content": [PART | {"image_url": {"url": uri_of(RED)}}]}],
            [{"role": "user", "content": [{"type": "text", "text": MARK}]}],
        ),
        (
            "messages",
            json.dumps([{"role": "user", "content": [{"type": "image", "image": "red.png"}]}]),
            json.dumps([{"role": "user", "content": [{"type": "text", "text": MARK}]}]),
        ),
    ],
)
def test_a_picture_becomes_its_mark(name: str, value: Any, marked: Any) -> None:
    row = {"id": "1", name: value, "answer": "A"}
    table = only_table("x.json", json.dumps([row]))
    assert faults_of(table) == []
    assert named_rows(table)[0][name] == marked


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("image", "cats/1.png", "not in the upload"),
        ("image", "/etc/passwd", "not in the upload"),
        ("image", "../images/red.png", "not in the upload"),
        ("image", "https://example.org/red.png", "the address"),
        ("images", ["red.png", "green.png"], "“green.png”"),
        ("anything", {"url": "https://example.org/a/b.JPG?size=2"}, "the address"),
        ("messages", [{"role": "user", "content": [{"type": "text", "text": "Q"}, PART]}], "addr"),
        ("messages", json.dumps([{"role": "user", "content": [PART]}]), "the address"),
        ("messages", json.dumps({"role": "user", "content": [{"type": "image"}]}), "not in the up"),
        ("question", json.dumps([{"type": "image"}, {"type": "text", "text": "Q?"}]), "not in the"),
        ("question", BLOB, "no PNG"),
        ("image", uri_of(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg+xml"), "no PNG"),
        ("image", base64_of(RED[:50]), "cannot be read"),
        ("question", f"<picture:{'0' * 32}> What is this?", "the mark 00000000"),
        ("question", '=DISPIMG("ID_3F2A",1)', "not in the upload"),
        ("has_image", True, "not in the upload"),
    ],
)
def test_a_picture_that_cannot_be_used_is_a_fault(name: str, value: Any, reason: str) -> None:
    row = {"id": "1", name: value, "answer": "A"}
    table = only_table("x.json", json.dumps([row]))
    assert faults_of(table) == [(1, name, "picture")]
    assert reason in table.faults[0].actual


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
        ("question", "https://example.org/9j/" + "path/to/Some0Page/" * 8),
        ("source", {"url": "https://example.org/page"}),
        ("turns", [{"role": "user", "content": [{"type": "text", "text": "Q"}]}]),
        ("question", "What does data:image/png;base64 mean?"),
        ("question", "What is in images/red.png, which is not shown?"),
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
    table = only_table("x.json", json.dumps([row]))
    assert faults_of(table) == []
    assert "<picture:" not in str(table.rows)


def test_a_column_is_left_alone_if_another_one_has_the_same_picture() -> None:
    rows = [{"image": "1.jpg", "decoded_image": {"bytes": base64_of(RED), "path": None}}]
    assert named_rows(only_table("x.json", json.dumps(rows))) == [
        {"image": "1.jpg", "decoded_image": MARK}
    ]


def test_a_cell_may_name_the_row_whose_picture_it_repeats() -> None:
    text = f"index\tquestion\timage\n7\tQ?\t{base64_of(RED)}\n8\tR?\t7\n"
    assert [row["image"] for row in named_rows(only_table("x.tsv", text))] == [MARK, MARK]


@pytest.mark.parametrize(
    ("unusable", "reason"),
    [(str(mark_of(DAMAGED)), "cannot be read"), (f"<picture:{'0' * 32}>", "the mark 00000000")],
)
def test_a_row_lends_no_picture_that_is_unusable(unusable: str, reason: str) -> None:
    current_folder().mark(DAMAGED)
    table = only_table("x.tsv", f"index\tquestion\timage\n1\tQ?\t{unusable}\n2\tR?\t1\n")
    assert faults_of(table) == [(2, "image", "picture"), (3, "image", "picture")]
    assert all(reason in fault.actual for fault in table.faults)


@pytest.mark.timeout(20)  # no second; a pattern that backtracks would take many
@pytest.mark.parametrize(
    ("name", "value"),
    [("image", f"red.png{' ' * 100_000}x"), ("question", f"{'![' * 100_000} ({MARK})")],
)
def test_a_long_cell_is_soon_read(name: str, value: str) -> None:
    table = only_table("x.json", json.dumps([{name: value}]))
    assert len(table.rows) + len(table.faults) == 1


def test_an_id_may_be_the_name_of_a_file() -> None:
    rows = [{"id": "red.png", "question": "Q?", "scan": "red.png"}]
    table = only_table("x.json", json.dumps(rows))
    assert named_rows(table) == [{"id": "red.png", "question": "Q?", "scan": MARK}]


def test_of_several_files_of_a_name_the_path_decides() -> None:
    current_folder().add_file(PurePosixPath("set/other/red.png"), BLUE)
    rows = [{"image": "other/red.png"}, {"image": "images/red.png"}, {"image": "red.png"}]
    table = only_table("x.json", json.dumps(rows))
    assert [row["image"] for row in named_rows(table)] == [MARK_2, MARK]
    assert [fault.line for fault in table.faults] == [3]


def test_only_the_rows_with_unusable_pictures_are_faults(tmp_path: Path) -> None:
    rows = [
        {"query": f"Q{n}?", "response": "R", "image": "a.png" if n == 1 else ""} for n in range(3)
    ]
    loaded = load([jsonl(tmp_path, *rows)])
    assert str(loaded.faults[0]) == (
        "qa.jsonl, line 2, column image: found a picture that is not in the upload, or there more "
        "than once: “a.png”, expected a PNG, JPEG, WebP, GIF, BMP or TIFF file in the upload, of "
        "at most 20 MB and 50 million pixels"
    )
    assert ([s.question for s in loaded.dataset.samples], loaded.n_rows) == (["Q0?", "Q2?"], 3)


def test_a_table_of_options_has_pictures_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "x_val.csv"
    rows = f'0,P?,a,b,A\n1,"{uri_of(RED)}",a,b,B\n2,Q?,a,{base64_of(BLUE)},A\n'
    path.write_text(f"id,question,A,B,answer\n{rows}")
    loaded = load([path])
    assert [(s.question, s.choices[1]) for s in loaded.dataset.samples] == [
        ("P?", "b"),
        (MARK, "b"),
        ("Q?", MARK_2),
    ]


def test_a_sheet_has_a_column_of_paths(tmp_path: Path) -> None:
    book = Workbook()
    for row in (("question", "answer", "image"), ("P?", "x", None), ("Q?", "y", "1.png")):
        book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess] - a new one has a sheet
    book.save(tmp_path / "qa.xlsx")
    (tmp_path / "1.png").write_bytes(RED)
    assert reasons(load([tmp_path / "qa.xlsx"]))[0][:2] == (3, "image")
    samples = load([tmp_path]).dataset.samples
    assert [sample.question for sample in samples] == ["P?", f"{MARK}\nQ?"]


def test_a_picture_may_be_longer_than_a_cell(tmp_path: Path) -> None:
    large = picture("red", "BMP", (400, 400))
    path = tmp_path / "x_val.csv"
    path.write_text(f'question,A,B,answer\n"{uri_of(large)}",a,b,A\nQ?,a,b,B\n')
    assert [s.question for s in load([path]).dataset.samples] == [str(mark_of(large)), "Q?"]


def test_a_text_in_another_encoding_has_pictures_too(tmp_path: Path) -> None:
    large = picture("red", "BMP", (400, 400))
    path = tmp_path / "x_val.csv"
    path.write_text(f"question,A,B,answer,image\n题？,a,b,A,{base64_of(large)}\n", "utf-16")
    assert [s.question for s in load([path]).dataset.samples] == [f"{mark_of(large)}\n题？"]


def test_picture_files_that_no_row_names_are_ignored_with_one_note(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        packed.writestr("a.jsonl", json.dumps({"query": "Q?", "response": "R", "image": "1.png"}))
        for n in range(1, 9):
            packed.writestr(f"images/{n}.png", picture(size=(n, 5)))
    loaded = load([tmp_path / "set.zip"])
    assert (loaded.faults, len(loaded.dataset.samples)) == ((), 1)
    assert [str(note) for note in loaded.notes] == [
        "Ignored, since they hold no table of questions: 2.png, 3.png, 4.png, 5.png, 6.png (+2)."
    ]


@pytest.mark.parametrize("head", ["image", "question"])
def test_lists_too_deep_to_follow_are_no_pictures(head: str) -> None:
    deep = "[" * 900 + json.dumps([{"role": "user", "content": [PART]}]) + "]" * 900
    cell = deep.replace('"', '""')
    table = only_table("x.csv", f'id,{head},answer\n1,"{cell}",B\n')
    assert len(table.faults) == (head == "image")
