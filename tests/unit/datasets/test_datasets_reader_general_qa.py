"""Questions with reference texts, in each of their shapes."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.datasets import Layout, LoadResult, load
from evalui.shipped_files import ASSETS
from evalui.types import DatasetKind, Message, Sample


def jsonl(folder: Path, *rows: Any, name: str = "qa.jsonl") -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    return text(folder, "\n".join(lines) + "\n", name)


def text(folder: Path, content: str, name: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def only(loaded: LoadResult) -> Sample:
    assert not loaded.faults, str(loaded.faults[0])
    (sample,) = loaded.dataset.samples
    return sample


def test_the_example_that_swift_publishes_is_read() -> None:
    path = ASSETS / "samples" / "swift" / "custom_general_qa" / "default.jsonl"
    loaded = load([path])
    first, _, third = loaded.dataset.samples
    assert loaded.dataset.kind == "general_qa"
    assert (first.id, first.question) == ("default/row-1", "中国的首都是哪里？")
    assert (first.references, first.history) == (("中国的首都是北京",), ())
    assert third.metadata == {
        "subject": "default",
        "language": "zh",
        "file": "default.jsonl",
        "line": "3",
    }


@pytest.mark.parametrize(
    ("row", "references"),
    [
        ({"query": "q", "response": "r"}, ("r",)),
        ({"question": "q", "answer": "r"}, ("r",)),
        ({"Question ": "q", "ANSWER": "r"}, ("r",)),
        ({"query": "q", "response": ["r", "s"]}, ("r", "s")),
        ({"query": "q", "response": ["r", "", None, 4.50]}, ("r", "4.5")),
        ({"query": "q", "response": 42}, ("42",)),
        ({"query": "q", "response": None}, ()),
        ({"query": "q", "response": "  "}, ()),
        ({"query": "q", "response": []}, ()),
        ({"query": "q"}, ()),
        ({"query": 42, "response": "r\r\ns"}, ("r\ns",)),
    ],
)
def test_references_are_none_one_or_several_texts(
    tmp_path: Path, row: Any, references: tuple[str, ...]
) -> None:
    assert only(load([jsonl(tmp_path, row)])).references == references


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("query,response\nCapital?,Beijing\n", "qa.csv"),
        ("question\tanswer\nCapital?\tBeijing\n", "qa.tsv"),
        ("\ufeffanswer;question\nBeijing;Capital?\n", "qa.csv"),
        ("id,question,answer,explanation\n1,Capital?,Beijing,because\n", "qa.csv"),
    ],
)
def test_a_table_without_options_is_read(tmp_path: Path, content: str, name: str) -> None:
    loaded = load([text(tmp_path, content, name)])
    sample = only(loaded)
    assert loaded.dataset.kind == "general_qa"
    assert (sample.question, sample.references) == ("Capital?", ("Beijing",))


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("id,question,A,B,C,D,answer", "multiple_choice"),
        ("question,A,B,answer,capability", "multiple_choice"),
        ("question,answer", "general_qa"),
        ("id,question,answer,subject", "general_qa"),
        ("query", "general_qa"),
        ("question,capability", "subjective"),
        ("question,evaluating_guidance", "subjective"),
        ("question,Reference_Answer", "subjective"),
        ("turns", "subjective"),
    ],
)
def test_the_header_tells_the_kind(tmp_path: Path, header: str, kind: DatasetKind) -> None:
    row = ",".join("x" for _ in header.split(","))
    assert load([text(tmp_path, f"{header}\n{row}\n", "set.csv")]).dataset.kind == kind


def test_columns_may_have_names_of_the_users_own(tmp_path: Path) -> None:
    path = text(tmp_path, "ask,gold,question\nCapital?,Beijing,no\n", "qa.csv")
    sample = only(load([path], layout=Layout(question="Ask", answer="gold")))
    assert (sample.question, sample.references) == ("Capital?", ("Beijing",))
    assert sample.metadata["question"] == "no"


PAIRS = [["Hello", "Hi"], ["How?", "Well"]]
ROLES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    ("history", "contents"),
    [
        (PAIRS, ["user:Hello", "assistant:Hi", "user:How?", "assistant:Well"]),
        (ROLES, ["user:Hello", "assistant:Hi"]),
        (json.dumps(PAIRS), ["user:Hello", "assistant:Hi", "user:How?", "assistant:Well"]),
        ([], []),
        (None, []),
        ("", []),
    ],
)
def test_the_history_is_read_in_both_shapes(
    tmp_path: Path, history: Any, contents: list[str]
) -> None:
    sample = only(load([jsonl(tmp_path, {"query": "And?", "history": history})]))
    assert [f"{turn.role}:{turn.content}" for turn in sample.history] == contents


def test_a_table_has_its_history_as_json(tmp_path: Path) -> None:
    content = 'query,response,history\nAnd?,r,"[[""Hello"", ""Hi""]]"\n'
    sample = only(load([text(tmp_path, content, "qa.csv")]))
    assert sample.history == (Message("user", "Hello"), Message("assistant", "Hi"))


@pytest.mark.parametrize("cell", ["Hello", "[", '[[""\\ud800"", ""Hi""]]', "[" * 5000])
def test_a_cell_that_is_no_history_is_a_fault(tmp_path: Path, cell: str) -> None:
    loaded = load([text(tmp_path, f'query,history\nAnd?,"{cell}"\n', "qa.csv")])
    (fault,) = loaded.faults
    assert (fault.line, fault.column, fault.rule) == (2, "history", "bad-history")


def test_a_system_text_leads_the_conversation(tmp_path: Path) -> None:
    sample = only(load([jsonl(tmp_path, {"system": "Be brief.", "query": "q", "history": PAIRS})]))
    assert sample.history[:2] == (Message("system", "Be brief."), Message("user", "Hello"))


def messages(*turns: str) -> list[dict[str, str]]:
    return [dict(zip(("role", "content"), turn.split(":"), strict=True)) for turn in turns]


@pytest.mark.parametrize(
    ("turns", "response", "references"),
    [
        (("system:s", "user:a", "assistant:b", "user:q"), "r", ("r",)),
        (("system:s", "user:a", "assistant:b", "user:q", "assistant:r"), None, ("r",)),
        (("system:s", "user:a", "assistant:b", "user:q", "assistant:x"), "r", ("r",)),
    ],
)
def test_messages_are_taken_apart(
    tmp_path: Path, turns: tuple[str, ...], response: str | None, references: tuple[str, ...]
) -> None:
    row = {"messages": messages(*turns), "response": response}
    sample = only(load([jsonl(tmp_path, row)]))
    assert (sample.question, sample.references) == ("q", references)
    assert [turn.role for turn in sample.history] == ["system", "user", "assistant"]


SHAREGPT = [
    {"from": "system", "value": "s"},
    {"from": "human", "value": "a"},
    {"from": "gpt", "value": "b"},
    {"from": "human", "value": "q"},
    {"from": "gpt", "value": "r"},
]


@pytest.mark.parametrize(
    "row",
    [
        {"conversations": SHAREGPT},
        {"conversation": SHAREGPT, "id": "c1"},
        {"input": messages("system:s", "user:a", "assistant:b", "user:q"), "ideal": "r"},
        {"messages": SHAREGPT},
        {"messages": json.dumps(SHAREGPT)},
    ],
)
def test_conversations_of_other_makers_are_taken_apart(tmp_path: Path, row: Any) -> None:
    sample = only(load([jsonl(tmp_path, row)]))
    assert (sample.question, sample.references) == ("q", ("r",))
    assert [turn.role for turn in sample.history] == ["system", "user", "assistant"]


def test_a_message_in_parts_is_its_texts(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Hello"}, {"type": "text", "text": "there"}]
    sample = only(load([jsonl(tmp_path, {"messages": [{"role": "user", "content": parts}]})]))
    assert sample.question == "Hello\nthere"


def test_what_an_instruction_is_about_stands_below_it(tmp_path: Path) -> None:
    rows = (
        {"instruction": "Translate.", "input": "house", "output": "Haus"},
        {"instruction": "Name a fruit.", "input": "", "output": "plum"},
    )
    loaded = load([jsonl(tmp_path, *rows)])
    assert [sample.question for sample in loaded.dataset.samples] == [
        "Translate.\nhouse",
        "Name a fruit.",
    ]


@pytest.mark.parametrize(
    ("answers", "references"),
    [
        ({"text": ["a", "b", "a"], "answer_start": [0, 4, 9]}, ("a", "b")),
        ({"value": "a", "aliases": ["b"], "type": "x"}, ("a", "b")),
        ({"spans": ["a", "b"], "types": ["span", "span"]}, ("a", "b")),
    ],
)
def test_references_may_stand_in_an_object(
    tmp_path: Path, answers: Any, references: tuple[str, ...]
) -> None:
    sample = only(load([jsonl(tmp_path, {"question": "Who is it?", "answer": answers})]))
    assert sample.references == references


def test_ids_and_further_columns_are_kept(tmp_path: Path) -> None:
    row = {"id": 7, "query": "q", "response": "r", "Source": "a book", "level": 2, "empty": ""}
    sample = only(load([jsonl(tmp_path, row, name="law_test.jsonl")]))
    assert sample.id == "law_test/7"
    assert sample.metadata == {
        "Source": "a book",
        "level": "2",
        "index": "7",
        "subject": "law",
        "language": "en",
        "file": "law_test.jsonl",
        "line": "1",
    }


def test_a_subject_column_names_the_subject(tmp_path: Path) -> None:
    sample = only(load([jsonl(tmp_path, {"query": "q", "subject": "law"})]))
    assert (sample.id, sample.subject) == ("law/row-1", "law")


def test_files_of_several_subjects_are_one_dataset(tmp_path: Path) -> None:
    row = {"query": "q", "response": "r"}
    paths = [jsonl(tmp_path, row, name=name) for name in ("law.jsonl", "logic_test.jsonl")]
    loaded = load(paths)
    assert [sample.id for sample in loaded.dataset.samples] == ["law/row-1", "logic_test/row-1"]


def test_questions_without_reference_are_counted_in_a_note(tmp_path: Path) -> None:
    loaded = load([jsonl(tmp_path, {"query": "a", "response": "r"}, {"query": "b"})])
    assert [str(note) for note in loaded.notes] == [
        "qa.jsonl: 1 of 2 questions have no reference answer."
    ]
    assert not loaded.faults


@pytest.mark.parametrize(
    ("row", "rule", "column"),
    [
        ("{", "invalid-json", ""),
        ("[1]", "invalid-json", ""),
        ({"query": " "}, "empty-question", "query"),
        ({"query": {"text": "q"}}, "empty-question", "query"),
        ({"response": "r"}, "empty-question", "query"),
        ({"query": "q", "history": "Hello"}, "bad-history", "history"),
        ({"query": "q", "history": [["Hello"]]}, "bad-history", "history"),
        ({"query": "q", "history": [["Hello", None]]}, "bad-history", "history"),
        ({"query": "q", "history": [{"role": "tool", "content": "x"}]}, "bad-history", "history"),
        ({"messages": [{"role": "user"}]}, "bad-messages", "messages"),
        ({"messages": messages("system:s")}, "bad-messages", "messages"),
        (
            {"messages": messages("user:q", "assistant:a", "assistant:b")},
            "bad-messages",
            "messages",
        ),
        ({"messages": messages("user:q"), "query": "p"}, "bad-messages", "messages"),
        ({"messages": messages("system:s", "user:q"), "system": "t"}, "bad-messages", "system"),
        ({"query": "q", "response": {"note": "r"}}, "bad-reference", "response"),
        ({"query": "q", "response": [{"note": "r"}]}, "bad-reference", "response"),
        ({"query": "q", "Query": "p"}, "duplicate-column", "query"),
        ({"query": "first", "id": "1"}, "duplicate-id", "id"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_column(
    tmp_path: Path, row: Any, rule: str, column: str
) -> None:
    first = {"query": "first", "response": "r", "id": 1}
    rest = {"messages": messages("user:other"), "id": 3, "history": []}
    loaded = load([jsonl(tmp_path, first, row, rest)])
    (fault,) = loaded.faults
    assert (fault.line, fault.rule, fault.column.casefold()) == (2, rule, column)
    assert len(loaded.dataset.samples) == 2
    assert loaded.n_rows == 3


def test_an_unquoted_comma_is_a_fault(tmp_path: Path) -> None:
    path = text(tmp_path, "query,response\nWho, me?,you\nWho?,me\n", "qa.csv")
    (fault,) = load([path]).faults
    assert str(fault) == (
        "qa.csv, line 2: found 3 cells, expected 2 cells, as in the header; "
        "a text that contains “,” needs quotes around it"
    )


def test_two_columns_of_one_name_are_a_fault(tmp_path: Path) -> None:
    loaded = load([text(tmp_path, "query,Query\na,b\n", "qa.csv")])
    assert [fault.rule for fault in loaded.faults] == ["duplicate-column"]


def test_a_missing_column_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    path = text(tmp_path, "qestion,capability\na,b\n", "qa.csv")
    (fault,) = load([path]).faults
    assert (fault.rule, fault.column) == ("missing-column", "question")
    assert fault.expected.endswith("is “qestion” meant?")


def test_a_header_without_rows_is_a_fault(tmp_path: Path) -> None:
    (fault,) = load([text(tmp_path, "query,response\n", "qa.csv")]).faults
    assert fault.rule == "no-rows"
