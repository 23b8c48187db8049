"""Pictures of JSON and of workbooks, from the file to the questions that models are asked."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from picture_examples import base64_of, picture, uri_of

from evalui.datasets import Layout, LoadResult, load
from evalui.pictures import ids, mark_of
from evalui.types import Sample

RED, BLUE = picture("red"), picture("blue")
URI = uri_of(RED)
ASKED = {"query": "What?", "response": "so"}
NAMES = {str(mark_of(RED)): "[red]", str(mark_of(BLUE)): "[blue]"}


def named(text: str) -> str:
    """The text with colours in the places of the pictures."""
    for mark, name in NAMES.items():
        text = text.replace(mark, name)
    return text


def read(folder: Path, name: str, content: bytes) -> LoadResult:
    """What is read of a file beside two pictures."""
    files = {name: content, "images/r.png": RED, "images/b.png": BLUE}
    with zipfile.ZipFile(folder / "set.zip", "w") as archive:
        for path, data in files.items():
            archive.writestr(f"set/{path}", data)
    return load([folder / "set.zip"])


def only(loaded: LoadResult) -> Sample:
    assert loaded.faults == ()
    (sample,) = loaded.dataset.samples
    return sample


def of_json(folder: Path, row: Mapping[str, Any]) -> LoadResult:
    return read(folder, "qa.jsonl", json.dumps(row).encode())


def tsv(folder: Path, *rows: Mapping[str, str]) -> Path:
    with (folder / "qa.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return folder / "qa.tsv"


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else content}


def text(content: str) -> dict[str, str]:
    return {"type": "text", "text": content}


def url(address: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": address}}


ANSWER = {"role": "assistant", "content": "a square"}
SOURCE = {"type": "base64", "media_type": "image/png", "data": base64_of(RED)}


@pytest.mark.parametrize(
    "part",
    [
        url(URI),
        url("images/r.png"),
        {"type": "image_url", "image_url": URI},
        {"type": "input_image", "image_url": URI},
        {"type": "image", "image": "images/r.png"},
        {"type": "image", "url": URI},
        {"type": "image", "path": "r.png"},
        {"type": "image", "base64": base64_of(RED)},
        {"type": "image", "source": SOURCE},
    ],
)
def test_the_parts_of_a_message_are_one_text_in_their_order(
    tmp_path: Path, part: dict[str, Any]
) -> None:
    sample = only(
        of_json(tmp_path, {"messages": [user(text("Look:"), part, text("What?")), ANSWER]})
    )
    assert named(sample.question) == "Look:\n[red]\nWhat?"
    assert sample.references == ("a square",)


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ({"image": URI}, "[red]\nWhat?"),
        ({"image": {"bytes": base64_of(RED), "path": None}}, "[red]\nWhat?"),
        ({"images": ["images/r.png", {"path": "images/b.png"}]}, "[red]\n[blue]\nWhat?"),
        ({"images": [{"url": uri_of(BLUE)}, {"base64": base64_of(RED)}]}, "[blue]\n[red]\nWhat?"),
        ({"query": "<image>\nWhat?", "image": "images/b.png"}, "[blue]\nWhat?"),
        ({"query": "Is <image> in <image>?", "images": ["r.png", "b.png"]}, "Is [red] in [blue]?"),
        ({"query": [text("What is"), url(URI)]}, "What is\n[red]"),
        ({"query": json.dumps([url(URI), text("What?")])}, "[red]\nWhat?"),
    ],
)
def test_a_row_has_its_pictures_in_its_question(
    tmp_path: Path, row: Mapping[str, Any], question: str
) -> None:
    sample = only(of_json(tmp_path, {"query": "What?", "response": "a square"} | dict(row)))
    assert named(sample.question) == question


def test_each_turn_has_its_own_pictures(tmp_path: Path) -> None:
    turns = [user(url(URI), text("What?")), ANSWER, user(text("And now?"), url("b.png")), ANSWER]
    sample = only(of_json(tmp_path, {"messages": turns}))
    assert [named(turn.content) for turn in sample.history] == ["[red]\nWhat?", "a square"]
    assert named(sample.question) == "And now?\n[blue]"


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [user("<image>What?"), ANSWER, user("<image>And now?"), ANSWER]},
        {"query": "<image>And now?", "response": "x", "history": [["<image>What?", "a square"]]},
    ],
)
def test_pictures_beside_turns_go_to_their_places_in_order(
    tmp_path: Path, row: Mapping[str, Any]
) -> None:
    sample = only(of_json(tmp_path, {"images": ["images/r.png", "images/b.png"]} | dict(row)))
    assert [named(turn.content) for turn in sample.history] == ["[red]What?", "a square"]
    assert named(sample.question) == "[blue]And now?"


def test_a_conversation_of_llava_has_its_picture_where_it_says(tmp_path: Path) -> None:
    turns = [
        {"from": "human", "value": "What is it?\n<image>"},
        {"from": "gpt", "value": "A square."},
        {"from": "human", "value": "Of what colour?"},
        {"from": "gpt", "value": "Red."},
    ]
    sample = only(of_json(tmp_path, {"id": "7", "image": "images/r.png", "conversations": turns}))
    assert [named(turn.content) for turn in sample.history] == ["What is it?\n[red]", "A square."]
    assert (sample.question, sample.references) == ("Of what colour?", ("Red.",))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"image": "https://example.org/1.png"}, "the address of a picture"),
        ({"messages": [user(url("http://example.org/1.png"), text("What?"))]}, "the address"),
        ({"image": "images/none.png"}, "that is not in the upload"),
        ({"image": "../../images/r.png"}, "that is not in the upload"),
        ({"messages": [user({"type": "image"}, text("What?"))]}, "that is not in the upload"),
    ],
)
def test_a_picture_that_is_elsewhere_is_a_fault(
    tmp_path: Path, row: Mapping[str, Any], reason: str
) -> None:
    own = {} if "messages" in row else {"query": "What?", "response": "a square"}
    rows = (own | dict(row), {"query": "Why?", "response": "so"})
    content = "\n".join(map(json.dumps, rows)).encode()
    (fault,) = read(tmp_path, "qa.jsonl", content).faults
    assert (fault.line, fault.rule) == (1, "picture")
    assert reason in fault.actual


def test_faults_and_ids_have_no_marks(tmp_path: Path) -> None:
    rows = [
        {"question": "Which?", "A": "one", "B": "two", "answer": URI, "subject": "shapes"},
        {"question": "And now?", "A": "one", "B": "two", "answer": "B", "subject": f"{URI} sizes"},
        *({"question": f"{n}?", "A": "one", "B": "two", "answer": "A"} for n in range(3)),
    ]
    loaded = load([tsv(tmp_path, *rows)])
    (fault,) = loaded.faults
    assert (fault.line, fault.actual) == (2, "“[picture]”")
    assert loaded.dataset.samples[0].id == "sizes/2"
    asked = [
        ASKED | {"history": f"no turns {URI}", "subject": "shapes"},
        ASKED | {"history": "", "subject": f"{URI} sizes"},
    ]
    loaded = load([tsv(tmp_path, *asked)])
    (fault,) = loaded.faults
    assert fault.actual == "“no turns [picture]”"
    assert only(replace(loaded, faults=())).id == "sizes/row-2"


@pytest.mark.parametrize("name", ["explanation", "guidance"])
def test_what_judges_and_people_read_may_have_pictures(tmp_path: Path, name: str) -> None:
    row = {"query": "What?", "response": "a square", name: f"See {URI}."}
    loaded = load([tsv(tmp_path, row)], layout=Layout(guidance="guidance"))
    assert named(only(loaded).metadata[name]) == "See [red]."
    assert ids(only(loaded).texts) == (mark_of(RED).id,)


FOREIGN = f"<picture:{'0' * 32}>"
ESCAPED = FOREIGN.replace("<", "\\u003c")


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Which?", "options": f'["{ESCAPED}", "two"]', "answer": "B"},
        ASKED | {"history": f'[["{ESCAPED}", "a square"]]'},
        ASKED | {"explanation": f"See {FOREIGN}."},
    ],
)
def test_no_question_has_a_picture_that_is_not_of_the_upload(
    tmp_path: Path, row: Mapping[str, Any]
) -> None:
    """However the mark is written: it could be the picture of somebody else."""
    own = {name: "A" if name == "answer" else "one two" for name in row} | {"id": "2"}
    if "options" in row:
        own["options"] = '["one", "two"]'
    if "history" in row:
        own["history"] = "[]"
    loaded = load([tsv(tmp_path, dict(row) | {"id": "1"}, own)])
    (fault,) = loaded.faults
    assert (fault.line, fault.rule) == (2, "picture")
    assert "the mark 00000000" in fault.actual
    assert [sample.metadata["line"] for sample in loaded.dataset.samples] == ["3"]
    assert (loaded.n_rows, loaded.n_unusable_rows) == (2, 1)


# Workbooks


HEADS = ["题目", "选项A", "选项B", "答案"]


def book(rows: Sequence[Sequence[Any]], edit: Callable[[Any], object] = id) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as made:
        sheet = made.add_worksheet()
        for line, row in enumerate(rows):
            sheet.write_row(line, 0, row)
        edit(sheet)
    return stream.getvalue()


def data(original: bytes) -> dict[str, Any]:
    return {"image_data": io.BytesIO(original)}


def asked(loaded: LoadResult) -> list[tuple[str, tuple[str, ...], Any]]:
    assert loaded.faults == ()
    return [
        (named(each.question), tuple(map(named, each.choices)), each.target)
        for each in loaded.dataset.samples
    ]


def test_pictures_on_a_sheet_are_those_of_questions_and_options(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        sheet.insert_image("A2", "r.png", data(RED))
        sheet.embed_image("B3", "r.png", data(RED))
        sheet.insert_image("C3", "b.png", data(BLUE))
        sheet.embed_image("A4", "b.png", data(BLUE))

    rows = [
        HEADS,
        ["这是什么颜色？", "红", "蓝", "A"],
        ["哪个是蓝色？", "", "", "B"],
        ["", "红", "蓝", "B"],
    ]
    assert asked(read(tmp_path, "题库.xlsx", book(rows, edit))) == [
        ("[red]\n这是什么颜色？", ("红", "蓝"), 0),
        ("哪个是蓝色？", ("[red]", "[blue]"), 1),
        ("[blue]", ("红", "蓝"), 1),
    ]


def test_a_sheet_of_open_questions_has_pictures(tmp_path: Path) -> None:
    rows = [["query", "response"], ["Which colour?", "red"], ["And here?", "blue"]]
    loaded = read(
        tmp_path, "qa.xlsx", book(rows, lambda sheet: sheet.insert_image("A3", "b.png", data(BLUE)))
    )
    assert [question for question, _, _ in asked(loaded)] == ["Which colour?", "[blue]\nAnd here?"]


def test_a_column_of_a_sheet_names_files_beside_it(tmp_path: Path) -> None:
    rows = [
        ["question", "image", "A", "B", "answer"],
        ["Which colour?", "images/r.png", "red", "blue", "A"],
        ["And here?", r"images\b.png", "red", "blue", "B"],
    ]
    assert asked(read(tmp_path, "qa.xlsx", book(rows))) == [
        ("[red]\nWhich colour?", ("red", "blue"), 0),
        ("[blue]\nAnd here?", ("red", "blue"), 1),
    ]


def test_a_large_workbook_is_read_as_a_small_one(tmp_path: Path) -> None:
    """It stays on the disk."""
    padding = random.Random(1).randbytes(12 * 2**20)

    def edit(sheet: Any) -> None:
        for line in (1, 2, 3):
            sheet.insert_image(line, 0, "r.png", data(RED + bytes([line]) + padding))

    rows = [["query", "response"], *([f"Question {n}?", f"Answer {n}"] for n in range(3))]
    path = tmp_path / "qa.xlsx"
    path.write_bytes(book(rows, edit))
    large, packed = load([path]).dataset, read(tmp_path, path.name, path.read_bytes()).dataset
    assert (large.samples, large.sha256) == (packed.samples, packed.sha256)
    assert len(ids(sample.question for sample in large.samples)) == 3
