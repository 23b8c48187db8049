"""Layouts of picture sets, from files to the questions that models are asked."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from picture_examples import base64_of, picture, uri_of

from evalui.datasets import Layout, LoadResult, load, opening
from evalui.datasets.external_answers import read_answers
from evalui.datasets.model import DatasetFormat, FileTable, Row, Tables
from evalui.datasets.reader import read_columns
from evalui.pictures import mark_of
from evalui.registry import Registry

PICTURES = [picture("red", size=(n, 8)) for n in range(8, 16)]
BASE64 = [base64_of(each) for each in PICTURES]
NAMES = {str(mark_of(each)): f"[{n}]" for n, each in enumerate(PICTURES)}
FILES = {f"images/{n}.png": each for n, each in enumerate(PICTURES)}


def named(text: str) -> str:
    """The text with the numbers of the pictures in the places of their marks."""
    for mark, name in NAMES.items():
        text = text.replace(mark, name)
    return text


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "set"


def tsv(heads: str, *rows: Sequence[object]) -> str:
    return "\n".join("\t".join(map(str, row)) for row in (heads.split(), *rows)) + "\n"


def lines(*rows: Mapping[str, Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def questions(loaded: LoadResult) -> list[str]:
    assert loaded.faults == ()
    return [named(sample.question) for sample in loaded.dataset.samples]


def test_vlmevalkits_table_of_choices(tmp_path: Path) -> None:
    rows = [
        (
            n,
            f"What is drawn in {n}?",
            ["", "It is a hint."][n % 2],
            "a circle",
            "a line",
            "AB"[n % 2],
            ["shape", "size"][n // 2],
            "perception",
            "dev",
            BASE64[n],
        )
        for n in range(4)
    ]
    heads = "index question hint A B answer category l2-category split image"
    loaded = load([write(tmp_path, {"MMBench_DEV_EN.tsv": tsv(heads, *rows)})])
    assert questions(loaded) == [
        "[0]\nWhat is drawn in 0?",
        "[1]\nIt is a hint.\nWhat is drawn in 1?",
        "[2]\nWhat is drawn in 2?",
        "[3]\nIt is a hint.\nWhat is drawn in 3?",
    ]
    second = loaded.dataset.samples[1]
    assert (second.id, second.choices, second.target) == ("shape/1", ("a circle", "a line"), 1)
    kept = {name: second.metadata.get(name) for name in ("l2-category", "split", "image")}
    assert kept == {"l2-category": "perception", "split": "dev", "image": None}


def test_rotations_of_a_row_are_left_out_with_a_note(tmp_path: Path) -> None:
    options = ("one", "two", "three")
    rows: list[Sequence[object]] = [
        (
            n + k * 10**6,
            f"How many in {n}?",
            *options[k:],
            *options[:k],
            "ACB"[k],
            BASE64[n] if k == 0 else n,
        )
        for k in range(3)
        for n in range(2)
    ]
    other = (3 * 10**6 + 1, "How few in 1?", *options[1:], options[0], "C", 1)
    loaded = load(
        [write(tmp_path, {"x.tsv": tsv("index question A B C answer image", *rows, other)})]
    )
    assert questions(loaded) == ["[0]\nHow many in 0?", "[1]\nHow many in 1?", "[1]\nHow few in 1?"]
    assert [sample.id for sample in loaded.dataset.samples] == ["x/0", "x/1", "x/3000001"]
    (note,) = (note for note in loaded.notes if note.rule == "rotations-left-out")
    assert str(note).startswith("x.tsv: 4 rows repeat a question")
    assert (loaded.n_rows, loaded.skipped, loaded.n_unusable_rows) == (7, 4, 0)


def test_a_list_of_pictures_has_its_places_in_question_and_options(tmp_path: Path) -> None:
    rows = [
        (
            n,
            "Compare <image 2> with <image 1>.",
            "<image 1>",
            f"not {n}",
            "A",
            f"['{BASE64[n]}', '{BASE64[n + 1]}']",
        )
        for n in range(3)
    ]
    loaded = load([write(tmp_path, {"x.tsv": tsv("index question A B answer image", *rows)})])
    assert questions(loaded)[:2] == ["Compare [1] with [0].", "Compare [2] with [1]."]
    assert [named(text) for text in loaded.dataset.samples[1].choices] == ["[1]", "not 1"]


def test_numbered_columns_are_numbered_places(tmp_path: Path) -> None:
    table = "question,A,B,answer,image_1,image_2\n" + "".join(
        f"Is [image 2] darker than {{image_1}} in {n}?,yes it is,no not at all,A,"
        f"images/{n}.png,{'' if n == 2 else f'images/{n + 1}.png'}\n"
        for n in range(3)
    )
    loaded = load([write(tmp_path, {"x.csv": table, **FILES})])
    assert questions(loaded) == [
        "Is [1] darker than [0] in 0?",
        "Is [2] darker than [1] in 1?",
        "Is [image 2] darker than [2] in 2?",
    ]


@pytest.mark.parametrize(
    ("columns", "question", "asked"),
    [
        ({"image_2": "1.png", "image_1": "0.png"}, "Which?", "[0]\n[1]\nWhich?"),
        ({"image_2": "1.png", "image_1": "0.png"}, "Is <image> in <image>?", "Is [0] in [1]?"),
        (
            {"image_10": "3.png", "image_9": "2.png"},
            "Is <image 10> in <image 9>?",
            "Is [3] in [2]?",
        ),
        (
            {"image_1": ["0.png", "2.png"], "image_2": "1.png"},
            "Is <image 2> in <image 1>?",
            "[2]\nIs [1] in [0]?",
        ),
        (
            {"image_1": ["0.png", "2.png"], "image_2": "1.png"},
            "Is <image 3> in <image 1>?",
            "[1]\nIs [2] in [0]?",
        ),
        ({"image_2": "1.png", "image": "0.png"}, "Is <image 2> in <image 1>?", "Is [1] in [0]?"),
        ({"image": "0.png"}, f"Is <image {'1' * 5000}>?", f"[0]\nIs <image {'1' * 5000}>?"),
        ({f"image_{'1' * 5000}": "0.png"}, "Is it?", "[0]\nIs it?"),
        ({"image": "1.png", "image_1": "0.png"}, "Is <image 2> in <image 1>?", "Is [1] in [0]?"),
    ],
)
def test_a_numbered_column_has_the_picture_of_its_number(
    tmp_path: Path, columns: Mapping[str, str | list[str]], question: str, asked: str
) -> None:
    row = {"query": question, "response": "a cat", **columns}
    loaded = load([write(tmp_path, {"x.jsonl": lines(row), **FILES})])
    assert questions(loaded) == [asked]


def test_what_has_no_place_stands_before_the_question(tmp_path: Path) -> None:
    rows = [
        {
            "query": f"Which <image> is it, {n}?",
            "response": f"a cat {n}",
            "images": ["0.png", f"{n}.png"],
        }
        for n in range(1, 4)
    ]
    loaded = load([write(tmp_path, {"x.jsonl": lines(*rows), **FILES})])
    assert questions(loaded)[0] == "[1]\nWhich [0] is it, 1?"


def test_options_may_be_pictures(tmp_path: Path) -> None:
    inline = "question,A,B,answer\n" + "".join(
        f"Which shows {n}?,{BASE64[n]},{BASE64[n + 1]},B\n" for n in range(3)
    )
    by_path = [
        {"question": f"Which shows {n}?", "options": [f"{n}.png", f"{n + 1}.png"], "answer": "B"}
        for n in range(3)
    ]
    for files in ({"x.csv": inline}, {"x.jsonl": lines(*by_path), **FILES}):
        loaded = load([write(tmp_path / str(len(files)), files)])
        assert questions(loaded) == ["Which shows 0?", "Which shows 1?", "Which shows 2?"]
        options = [tuple(map(named, sample.choices)) for sample in loaded.dataset.samples]
        assert options == [("[0]", "[1]"), ("[1]", "[2]"), ("[2]", "[3]")]
        assert {sample.target for sample in loaded.dataset.samples} == {1}


def test_a_conversation_has_its_pictures_in_the_turn_of_the_user(tmp_path: Path) -> None:
    shown = [
        {
            "conversations": [
                {"from": "human", "value": f"<image>\nWhat is in {n}?"},
                {"from": "gpt", "value": f"A cat {n}."},
            ],
            "image": f"{n}.png",
        }
        for n in range(3)
    ]
    before = [
        {
            "messages": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": f"What is in {n}?"},
            ],
            "images": [f"{n}.png"],
            "reference": f"A cat {n}.",
        }
        for n in range(3)
    ]
    for number, rows in enumerate((shown, before)):
        folder = write(tmp_path / str(number), {"x.jsonl": lines(*rows), **FILES})
        assert questions(load([folder]))[:2] == ["[0]\nWhat is in 0?", "[1]\nWhat is in 1?"]


def test_parts_of_messages_hold_or_name_their_pictures(tmp_path: Path) -> None:
    def row(n: int, part: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        content = [part, {"type": "text", "text": f"What is in {n}?"}]
        messages = [{"role": "user", "content": content}]
        return {"messages": messages, "reference": f"A cat {n}.", **more}

    url = [
        row(n, {"type": "image_url", "image_url": {"url": uri_of(PICTURES[n])}}) for n in range(3)
    ]
    apart = [row(n, {"type": "image"}, images=[f"{n}.png"]) for n in range(3)]
    for number, rows in enumerate((url, apart)):
        folder = write(tmp_path / str(number), {"x.jsonl": lines(*rows), **FILES})
        assert questions(load([folder]))[:2] == ["[0]\nWhat is in 0?", "[1]\nWhat is in 1?"]


def test_some_rows_may_have_no_picture(tmp_path: Path) -> None:
    rows = [
        {"question": f"Which of {n}?", "choices": ["x", "y"], "answer": n % 2, "hint": ""}
        | {"image": f"images/{n}.png" if n % 2 else None}
        for n in range(4)
    ]
    loaded = load([write(tmp_path, {"data/x.jsonl": lines(*rows), **FILES})])
    assert questions(loaded) == [
        "Which of 0?",
        "[1]\nWhich of 1?",
        "Which of 2?",
        "[3]\nWhich of 3?",
    ]


def test_a_column_of_pictures_may_have_any_name_and_is_no_other_column(tmp_path: Path) -> None:
    table = "question,answer,scene\n" + "".join(
        f"What is seen in scene {n}?,a thing {n},{BASE64[n]}\n" for n in range(4)
    )
    folder = write(tmp_path, {"x.csv": table})
    loaded = load([folder])
    assert questions(loaded)[:1] == ["[0]\nWhat is seen in scene 0?"]
    assert "scene" not in loaded.dataset.samples[0].metadata
    columns = read_columns([folder])
    assert columns
    assert columns.headers == ("question", "answer")


def test_questions_may_be_clustered_by_their_picture(tmp_path: Path) -> None:
    table = "question,A,B,answer,image\n" + "".join(
        f"What is {n}?,it is {n},no,A,{BASE64[n // 2]}\n" for n in range(4)
    )
    loaded = load([write(tmp_path, {"x.csv": table})], layout=Layout(cluster="image"))
    clusters = [named(sample.cluster) for sample in loaded.dataset.samples]
    assert clusters == ["[0]", "[0]", "[1]", "[1]"]


def test_the_pictures_are_kept_for_the_store(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    folder = write(tmp_path, {"x.csv": f"question,answer,image\nQ?,x,{BASE64[0]}\n"})
    assert load([folder], pictures=kept).dataset.pictures == str(kept)
    id_ = mark_of(PICTURES[0]).id
    assert {path.name for path in kept.iterdir()} == {id_, f"{id_}.small"}
    assert (kept / id_).read_bytes() == PICTURES[0]
    plain = write(tmp_path / "plain", {"y.csv": "question,answer\nQ?,x\n"})
    assert load([plain], pictures=kept).dataset.pictures == ""


def test_answers_from_elsewhere_name_questions_without_their_pictures(tmp_path: Path) -> None:
    rows = [(n, f"What is in <image 1> of {n}?", f"cat {n}", BASE64[n]) for n in range(3)]
    samples = load([write(tmp_path, {"x.tsv": tsv("index question answer image", *rows)})])
    replies = [
        {"question": row[1], "prediction": f"dog {row[0]}", "image": "a.png"} for row in rows
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text(lines(*replies))
    answers = read_answers(path, samples.dataset.samples)
    assert list(answers.answers.values()) == [("dog 0",), ("dog 1",), ("dog 2",)]
    assert answers.faults == ()


def test_formats_of_packages_have_pictures_and_name_none_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = mark_of(PICTURES[1])

    def read(data: bytes, name: str) -> Tables:
        rows = [Row(1, (f"What is {uri_of(data)}?", "a cat")), Row(2, (f"Is it {other}?", "no"))]
        return Tables((FileTable(name, ("question", "answer"), rows, typed=True),))

    def recognises(data: bytes, name: str) -> bool:
        return name.endswith(".md") and bool(data)

    formats: Registry[DatasetFormat] = Registry("dataset format")
    formats.register("own")(DatasetFormat((".md",), recognises, read))
    monkeypatch.setattr(opening, "DATASET_FORMATS", formats)
    (tmp_path / "x.md").write_bytes(PICTURES[0])
    loaded = load([tmp_path / "x.md"])
    assert [named(sample.question) for sample in loaded.dataset.samples] == ["What is [0]?"]
    assert [(fault.line, fault.rule) for fault in loaded.faults] == [(2, "picture")]
