"""Open questions for judges, as OpenCompass and MT-bench publish them."""

import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from evalui.datasets import LoadResult, load
from evalui.shipped_files import ASSETS
from evalui.types import Sample

ZBENCH = ASSETS / "samples" / "zbench" / "subjective_zbench.xlsx"


def write(folder: Path, rows: list[dict[str, Any]], ending: str) -> Path:
    """The same rows as JSON Lines, as CSV or as a workbook."""
    path = folder / f"s{ending}"
    names = list(rows[0])
    if ending == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif ending == ".csv":
        lines = (",".join(str(row.get(name, "")) for name in names) for row in rows)
        path.write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
    else:
        book = Workbook()
        sheet: Any = book.active
        for cells in (names, *([row.get(name) for name in names] for row in rows)):
            sheet.append(cells)
        book.save(path)
    return path


def only(loaded: LoadResult) -> Sample:
    assert not loaded.faults, str(loaded.faults[0])
    (sample,) = loaded.dataset.samples
    return sample


def test_z_bench_is_read_whole() -> None:
    loaded = load([ZBENCH])
    samples = loaded.dataset.samples
    assert (loaded.dataset.kind, len(samples), loaded.faults) == ("subjective", 311, ())
    assert sum(bool(sample.references) for sample in samples) == 242
    assert samples[1].id == "subjective_zbench/2"
    assert (samples[1].question, samples[1].references) == (
        "1955 年谁是美国总统",
        ("艾森豪威尔",),
    )
    assert samples[1].metadata == {
        "subject": "subjective_zbench",
        "language": "zh",
        "capability": "基础能力-事实问答",
        "index": "2",
        "file": "subjective_zbench.xlsx",
        "line": "3",
    }


ENDINGS = pytest.mark.parametrize("ending", [".xlsx", ".csv", ".jsonl"])


@ENDINGS
def test_the_columns_come_in_any_order_and_spelling(tmp_path: Path, ending: str) -> None:
    row = {
        " Capability ": "talk",
        "author": "me",
        "Evaluating_Guidance": "be kind",
        "QUESTION": "Why?",
        "Reference_Answer": "Because.",
        "Index": "en-3",
    }
    sample = only(load([write(tmp_path, [row], ending)]))
    assert (sample.id, sample.question, sample.references) == ("s/en-3", "Why?", ("Because.",))
    assert {name: sample.metadata[name] for name in ("capability", "guidance", "author")} == {
        "capability": "talk",
        "guidance": "be kind",
        "author": "me",
    }


@ENDINGS
def test_only_the_question_is_needed(tmp_path: Path, ending: str) -> None:
    row = {"question": "Why?", "capability": ""}
    sample = only(load([write(tmp_path, [row], ending)]))
    assert (sample.id, sample.references) == ("s/row-1", ())
    assert not {"capability", "guidance", "index"} & sample.metadata.keys()


@ENDINGS
@pytest.mark.parametrize(
    ("index", "id"),
    [(12, "s/12"), (12.0, "s/12"), ("12.0", "s/12"), ("cn-12", "s/cn-12"), (1.5, "s/1.5")],
)
def test_an_index_is_a_number_or_a_name(tmp_path: Path, ending: str, index: Any, id: str) -> None:
    row = {"question": "Why?", "index": index, "capability": "talk"}
    sample = only(load([write(tmp_path, [row], ending)]))
    assert (sample.id, sample.metadata["index"]) == (id, id.removeprefix("s/"))


@pytest.mark.parametrize(
    ("index", "question", "language"),
    [
        ("cn-1", "Why?", "zh"),
        ("zh-1", "Why?", "zh"),
        ("CN-1", "Why?", "zh"),
        ("en-1", "为什么？", "en"),
        ("1", "为什么？", "zh"),
        ("1", "Translate 犬", "zh"),
        ("1", "Why?", "en"),
        ("china-1", "Why?", "en"),
        ("", "ｗｈｙ？", "en"),
    ],
)
def test_the_language_is_that_of_the_index_else_of_the_script(
    tmp_path: Path, index: str, question: str, language: str
) -> None:
    row = {"question": question, "index": index, "capability": "talk"}
    assert only(load([write(tmp_path, [row], ".jsonl")])).metadata["language"] == language


MT_BENCH = {
    "question_id": 101,
    "category": "reasoning",
    "turns": ["Who is second?", "And now?"],
    "reference": ["You are.", "Uncertain."],
}


def test_the_turns_of_mt_bench_are_a_question_and_its_follow_ups(tmp_path: Path) -> None:
    loaded = load([write(tmp_path, [MT_BENCH], ".jsonl")])
    sample = only(loaded)
    assert loaded.dataset.kind == "subjective"
    assert (sample.id, sample.question) == ("s/101", "Who is second?")
    assert sample.follow_ups == ("And now?",)
    assert sample.references == ("You are.", "Uncertain.")
    assert sample.metadata["capability"] == sample.metadata["category"] == "reasoning"


def test_turns_may_stand_in_a_cell_as_json(tmp_path: Path) -> None:
    row = {"turns": '["Who?", "And now?"]', "capability": "talk"}
    sample = only(load([write(tmp_path, [row], ".xlsx")]))
    assert (sample.question, sample.follow_ups) == ("Who?", ("And now?",))


@pytest.mark.parametrize(
    ("row", "rule", "column"),
    [
        ({"turns": ["Who?", ""]}, "bad-turns", "turns"),
        ({"turns": "Who?"}, "bad-turns", "turns"),
        ({"turns": [["Who?"]]}, "bad-turns", "turns"),
        ({"turns": ["Who?", "And?"], "question": "Other?"}, "bad-turns", "turns"),
        ({"turns": []}, "empty-question", "question"),
        ({"question": ""}, "empty-question", "question"),
        ({"question": "Who?", "reference": {"a": 1}}, "bad-reference", "reference"),
        ({"question": "Who?", "history": [1]}, "bad-history", "history"),
        ({"question": "Who?", "index": 1}, "duplicate-id", "id"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_column(
    tmp_path: Path, row: dict[str, Any], rule: str, column: str
) -> None:
    first = {"question": "First?", "index": 1, "reference": "r", "capability": "talk"}
    loaded = load([write(tmp_path, [first, row], ".jsonl")])
    (fault,) = loaded.faults
    assert (fault.line, fault.rule, fault.column) == (2, rule, column)
    assert (len(loaded.dataset.samples), loaded.n_rows) == (1, 2)


def test_blank_rows_of_a_sheet_are_no_questions(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "capability": "talk"}, {}, {"question": " "}, {"question": "How?"}]
    loaded = load([write(tmp_path, rows, ".xlsx")])
    assert [sample.metadata["line"] for sample in loaded.dataset.samples] == ["2", "5"]
    assert (loaded.n_rows, loaded.faults) == (2, ())
