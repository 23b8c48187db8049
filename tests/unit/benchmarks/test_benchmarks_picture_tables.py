"""A table of VLMEvalKit by its name becomes questions with their pictures.

The columns are VLMEvalKit's; the rows were written for this project.
"""

import base64
import csv
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalui.benchmarks.index import find, read_index
from evalui.benchmarks.preparing import PreparedBenchmark, availability, resolve, task_data
from evalui.datasets import load
from evalui.errors import DataError
from evalui.pictures import mark_of
from evalui.settings import Settings
from evalui.types import Sample

Row = Mapping[str, str]


def picture(shade: int) -> str:
    """A grey PNG of two by two pixels, as base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + crc

    rows = zlib.compress(b"".join(b"\0" + bytes([shade, shade]) for _ in range(2)))
    head = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(whole).decode()


CHOICE = {"question": "What is it?", "A": "a cup", "B": "None", "C": "a lake", "answer": "C"}
YES_NO = {"question": "Is it a cup? Please answer yes or no.", "answer": "No"}
WORDS = {"question": "Which sign?", "answer": "['Stop', 'stop', 'Stop']"}
# A row of every set, but for its index and picture; then the right option or the references.
ROWS: list[tuple[str, Row, str | tuple[str, ...]]] = [
    *(
        (name, CHOICE | {"hint": "Look.", "category": "cups"}, "a lake")
        for name in ("MMBench_DEV_EN", "MMBench_DEV_EN_V11", "MMBench_DEV_CN")
    ),
    *(
        (name, CHOICE | {"category": "cups", "l2-category": "things"}, "a lake")
        for name in ("MMBench_DEV_CN_V11", "CCBench", "AI2D_TEST", "AesBench_VAL", "BLINK")
    ),
    *(
        (name, CHOICE | {"split": "val", "category": "cups"}, "a lake")
        for name in ("MMStar", "MMT-Bench_VAL", "MMT-Bench_VAL_MI", "RealWorldQA", "SEEDBench2")
    ),
    *(
        (name, CHOICE | {"category": "cups"}, "a lake")
        for name in ("SEEDBench2_Plus", "SEEDBench_IMG", "ScienceQA_TEST", "ScienceQA_VAL")
    ),
    ("MMMU_DEV_VAL", CHOICE | {"split": "validation", "category": "Art"}, "a lake"),
    ("POPE", YES_NO | {"category": "popular"}, "No"),
    ("MME", YES_NO | {"category": "color", "image_path": "color/1.jpg"}, "No"),
    ("HallusionBench", YES_NO | {"category": "VD", "l2-category": "map"}, "No"),
    ("TextVQA_VAL", WORDS, ("Stop", "stop", "Stop")),
    ("DocVQA_VAL", WORDS, ("Stop", "stop", "Stop")),
    ("InfoVQA_VAL", WORDS, ("Stop", "stop", "Stop")),
    ("ChartQA_TEST", {"question": "How many?", "answer": "12", "split": "test_human"}, ("12",)),
    ("OCRVQA_TEST", {"question": "Who wrote it?", "answer": "[untitled]"}, ("[untitled]",)),
    ("OCRVQA_TESTCORE", {"question": "Who wrote it?", "answer": "Ann Lee"}, ("Ann Lee",)),
    ("MathVision", {"question": "How long?", "answer": "7", "choices": "[]"}, ("7",)),
    ("MathVision_MINI", {"question": "How long?", "answer": "7"}, ("7",)),
    ("MathVista_MINI", {"question": "How long?", "answer": "7", "task": "geometry"}, ("7",)),
    ("OCRBench", WORDS | {"category": "Digit String Recognition"}, ("Stop", "stop", "Stop")),
    (
        "MTVQA_TEST",
        {"question": "何と書いてある？", "answer": "止まれ", "category": "JA"},
        ("止まれ",),
    ),
    *(
        (name, {"question": "Covered?", "answer": "['the old town', 'in 1820']"}, ())
        for name in read_index()
        if name.startswith("VCR_")
    ),
    (
        "COCO_VAL",
        {"answer": "['A cup.', 'One cup on a table.']"},
        ("A cup.", "One cup on a table."),
    ),
    ("MMVet", {"question": "Which?", "answer": "cup<OR>mug", "category": "rec"}, ("cup<OR>mug",)),
    ("LLaVABench", {"question": "What?", "gpt4_ans": "A cup.", "category": "conv"}, ("A cup.",)),
]


@pytest.fixture
def tables(settings: Settings, tmp_path: Path) -> Settings:
    """A folder for tables in `EVALUI_TASK_DATA`."""
    (tmp_path / "given/LMUData").mkdir(parents=True)
    return settings.model_copy(update={"task_data": tmp_path / "given"})


def write(settings: Settings, name: str, rows: Sequence[Row]) -> None:
    """A table as pandas writes it."""
    assert settings.task_data
    path = settings.task_data / f"LMUData/{name}.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def lines_of(prepared: PreparedBenchmark) -> list[dict[str, Any]]:
    (path,) = prepared.paths
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def samples_of(prepared: PreparedBenchmark) -> Sequence[Sample]:
    loaded = load(prepared.paths, name=prepared.name)
    assert loaded.n_faults == 0
    return loaded.dataset.samples


def numbered(rows: Sequence[Row], first: int = 1) -> list[Row]:
    return [
        {"index": str(n), "image": picture(n % 250)} | dict(row)
        for n, row in enumerate(rows, start=first)
    ]


@pytest.mark.parametrize(("name", "row", "right"), ROWS)
def test_a_row_of_each_set(tables: Settings, name: str, row: Row, right: str | tuple[str, ...]):
    write(tables, name, numbered([row]))
    prepared, benchmark = resolve(name, tables), find(name)
    (line,) = lines_of(prepared)
    assert (prepared.name, prepared.questions, prepared.unreadable) == (name, 1, 0)
    assert line["images"] == [picture(1)]
    (sample,) = samples_of(prepared)
    assert "{" not in sample.question
    assert sample.question.startswith(f"{mark_of(base64.b64decode(picture(1)))}\n")
    assert row.get("question", "picture") in sample.question
    if subject := row.get(benchmark.subject):
        assert sample.subject == subject
    assert sample.metadata.get("metric", "") == benchmark.metric
    if isinstance(sample.target, int):
        assert sample.choices[sample.target] == right
        letters = tuple(row[letter] for letter in "ABC" if letter in row)
        assert sample.choices == (letters or ("Yes", "No"))
    else:
        assert sample.target == (right or ("the old town", "in 1820"))


def test_each_set_that_can_be_asked_has_a_row_here():
    asked = {each.name for each in read_index().values() if each.pictures and not each.unsupported}
    assert {name for name, *_ in ROWS} == asked


def test_copies_in_other_orders_are_the_same_question(tables: Settings):
    first, second = numbered([CHOICE, CHOICE | {"question": "And this?"}], first=240)
    copies = [
        dict(first) | {"index": "1000240", "image": "240", "A": "a lake", "C": "a cup"},
        dict(second) | {"index": "2000241", "image": "241"},
    ]
    shared = dict(first) | {"index": "242", "question": "Which colour?", "image": "240"}
    write(tables, "MMBench_DEV_EN", [first, second, *copies, shared])
    prepared = resolve("MMBench_DEV_EN", tables)
    assert [line["id"] for line in lines_of(prepared)] == ["240", "241", "242"]
    shown = [line["images"] for line in lines_of(prepared)]
    assert shown == [[picture(240)], [picture(241)], [picture(240)]]
    assert prepared.notes == ()


def test_a_million_is_no_copy_where_a_set_is_not_circular(tables: Settings):
    write(tables, "MMStar", [dict(row) for row in numbered([CHOICE], first=1_000_001)])
    assert resolve("MMStar", tables).questions == 1


def test_the_hint_stands_before_the_question(tables: Settings):
    rows = [CHOICE | {"hint": "Look."}, CHOICE | {"hint": ""}]
    write(tables, "ScienceQA_TEST", numbered(rows))
    questions = [line["question"] for line in lines_of(resolve("ScienceQA_TEST", tables))]
    assert questions == ["Look.\n\nWhat is it?", "What is it?"]


def test_a_row_has_several_pictures_in_a_cell(tables: Settings):
    cell = str([picture(1), picture(2)])
    write(tables, "BLINK", [dict(row) | {"image": cell} for row in numbered([CHOICE])])
    (line,) = lines_of(resolve("BLINK", tables))
    assert line["images"] == [picture(1), picture(2)]


def test_pictures_stand_where_the_text_of_mmmu_has_them(tables: Settings):
    cells = {"image": str([picture(1), picture(2)]), "split": "validation", "A": "<image 2>"}
    row = CHOICE | {"question": "What is between <image 1> and <image 2>?"} | cells
    write(tables, "MMMU_DEV_VAL", [dict(each) | cells for each in numbered([row])])
    (sample,) = samples_of(resolve("MMMU_DEV_VAL", tables))
    first, second = (mark_of(base64.b64decode(picture(n))) for n in (1, 2))
    assert sample.question == f"What is between {first} and {second}?"
    assert sample.choices[0] == str(second)


def test_pictures_larger_than_a_cell_of_the_csv_module_are_read(tables: Settings):
    large = base64.b64encode(bytes(200_000)).decode()
    write(tables, "MMStar", [dict(row) | {"image": large} for row in numbered([CHOICE])])
    assert lines_of(resolve("MMStar", tables))[0]["images"] == [large]


def test_pictures_lie_in_files_below_the_table(tables: Settings, tmp_path: Path):
    assert tables.task_data
    folder = tables.task_data / "LMUData/images/COCO"
    folder.mkdir(parents=True)
    content = base64.b64decode(picture(7))
    (folder / "7.png").write_bytes(content)
    (tmp_path / "secret.png").write_bytes(content)
    outside = "../../secret.png"
    assert (folder.parent.parent / outside).is_file()
    paths = ["7.png"] * 30 + [outside]
    rows = [{"index": str(n), "image_path": path, "answer": "A."} for n, path in enumerate(paths)]
    write(tables, "COCO_VAL", rows)
    prepared = resolve("COCO_VAL", tables)
    lines = lines_of(prepared)
    assert [line.get("images") for line in lines] == [[picture(7)]] * 30 + [None]
    assert (prepared.unreadable, prepared.reason) == (1, f"30: no picture {outside}")


def test_what_has_no_picture_or_no_options_is_left_out_and_told(tables: Settings):
    rows = [dict(row) | {"split": "validation"} for row in numbered([CHOICE] * 4)]
    rows[1] |= {"A": "", "B": "", "C": "", "answer": "7 kg"}
    rows[2]["image"] = ""
    rows[3]["split"] = "dev"
    write(tables, "MMMU_DEV_VAL", rows)
    prepared = resolve("MMMU_DEV_VAL", tables)
    assert (prepared.questions, prepared.left_out) == (1, 2)
    (note,) = map(str, prepared.notes)
    assert note.startswith("2 rows of MMMU_DEV_VAL are not asked: no picture, or no options")


def test_the_answer_is_the_option_under_its_letter(tables: Settings):
    row = {"question": "Which?", "A": "a", "B": "", "C": "c", "D": "d", "answer": "D"}
    write(tables, "MMStar", numbered([row]))
    (line,) = lines_of(resolve("MMStar", tables))
    assert (line["choices"]["text"], line["answerKey"]) == (["a", "c", "d"], "C")


def test_a_question_of_several_categories_is_one_of_each(tables: Settings):
    rows = [YES_NO | {"category": "random,popular"}, YES_NO | {"category": "random"}]
    write(tables, "POPE", numbered(rows))
    lines = lines_of(resolve("POPE", tables))
    assert [(line["id"], line["subject"]) for line in lines] == [
        ("1-random", "random"),
        ("1-popular", "popular"),
        ("2-random", "random"),
    ]


def test_fields_of_hallusionbench_come_from_the_index(tables: Settings):
    row = {**YES_NO, "category": "VS", "l2-category": "chart", "index": "a_VS_chart_3_1_0"}
    write(tables, "HallusionBench", numbered([row]))
    (sample,) = samples_of(resolve("HallusionBench", tables))
    fields = ("set_id", "figure_id", "question_id", "subject")
    assert [sample.metadata[name] for name in fields] == ["3", "1", "0", "chart"]


def test_pictures_of_mme_are_groups(tables: Settings):
    rows = [YES_NO | {"category": "color", "image_path": "color/1.jpg"}] * 2
    write(tables, "MME", numbered(rows))
    samples = samples_of(resolve("MME", tables))
    assert [sample.metadata["picture_group"] for sample in samples] == ["color/1.jpg"] * 2


@pytest.mark.parametrize("name", ["MMVet", "LLaVABench"])
def test_a_judged_set_says_that_our_judge_is_another(tables: Settings, name: str):
    row = next(row for own, row, _ in ROWS if own == name)
    write(tables, name, numbered([row]))
    (note,) = map(str, resolve(name, tables).notes)
    assert "its marks are no figures of" in note


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Video-MME", "asks about videos"),
        ("MMBench-Video", "asks about videos"),
        ("MMLongBench_DOC", "whole documents"),
        ("MMDU", "dialogues with pictures"),
        ("MLLMGuard_DS", "a model that its authors trained"),
        ("MMBench_TEST_EN", "answers of MMBench_TEST_EN are not published"),
        ("MMMU_TEST", "not published"),
    ],
)
def test_a_set_that_is_not_asked_says_why(tables: Settings, name: str, reason: str):
    write(tables, name, numbered([CHOICE]))
    with pytest.raises(DataError, match=reason):
        resolve(name, tables)


def test_a_table_that_is_not_here_says_which_file_to_copy_where(tables: Settings):
    with pytest.raises(DataError) as raised:
        resolve("coco_val", tables)
    assert "Copy COCO_VAL.tsv, which VLMEvalKit" in str(raised.value)
    assert str(raised.value).endswith(f"to {tables.task_data}/LMUData.")
    write(tables, "COCO_VAL", numbered([{"answer": "A cup."}]))
    assert availability(find("COCO_VAL"), task_data(tables)).files == ("COCO_VAL.tsv",)
    with pytest.raises(DataError, match="POPE is not on this machine"):
        resolve("POPE", tables)
    with pytest.raises(DataError, match="COCO_VAL is not on this machine"):
        resolve("COCO_VAL:train", tables)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"question\tA\tB\tanswer\nQ\ta\tb\tA\n", "no column “index”"),
        (b"index\tquestion\n1\t\xff\xfe\n", "utf-8"),
        (b"index\tquestion\n1\ta\tb\tc\td\n2\ta\n", "cannot be read|not laid out"),
    ],
)
def test_a_damaged_table_is_refused(tables: Settings, content: bytes, reason: str):
    assert tables.task_data
    (tables.task_data / "LMUData/MMStar.tsv").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        resolve("MMStar", tables)


def test_the_memory_of_a_large_table_is_that_of_its_texts(tables: Settings):
    import tracemalloc

    large = base64.b64encode(bytes(300_000)).decode()
    write(tables, "MMStar", [dict(row) | {"image": large} for row in numbered([CHOICE] * 120)])
    tracemalloc.start()
    resolve("MMStar", tables)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.6 * 120 * len(large)
