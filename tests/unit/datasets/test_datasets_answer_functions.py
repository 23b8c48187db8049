"""Right answers by a function of a package: what it sees, what it gives, and what it raises."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalui.datasets import ANSWER_KEYS, Layout, LoadResult, load
from evalui.datasets.answers import AnswerFunction, AnswerRow
from evalui.datasets.model import with_columns
from evalui.errors import DataError, UnknownName

Give = Callable[[Callable[[AnswerRow], object]], None]
Read = Callable[..., LoadResult]


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Give:
    """Register a function under the name `own`, as if a package brought it."""

    def register(compute: Callable[[AnswerRow], object]) -> None:
        entries = {**ANSWER_KEYS._entries, "own": AnswerFunction(compute)}
        monkeypatch.setattr(ANSWER_KEYS, "_entries", entries)
        packages = {**ANSWER_KEYS._packages, "own": "their-keys 2.1"}
        monkeypatch.setattr(ANSWER_KEYS, "_packages", packages)

    return register


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def load_text(text: str, name: str = "exam.csv", layout: Layout | None = None) -> LoadResult:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return load([path], layout=layout or Layout(answer_key="own"))

    return load_text


def longest(row: AnswerRow) -> str:
    """The longest option, for a file that has no answers at all."""
    return "ABCDEFGH"[max(range(len(row.options)), key=lambda at: len(row.options[at]))]


def targets(loaded: LoadResult) -> list[int | None]:
    return [sample.target for sample in loaded.dataset.samples]


TABLE = "id,question,A,B,C,votes\n1,Which?,one,three,,B B A\n2,What?,four,six,eleven,C\n"
LINES = "".join(
    json.dumps(row) + "\n"
    for row in (
        {"question": "Which?", "choices": ["one", "three"], "gold": {"place": 1}, "n": 7},
        {"question": "What?", "choices": ["four", "six", "eleven"], "gold": {"place": 2}, "n": 8},
    )
)


@pytest.mark.parametrize(("text", "name"), [(TABLE, "exam.csv"), (LINES, "exam.jsonl")])
def test_the_function_says_which_option_is_right_and_no_column_has_to(
    give: Give, read: Read, text: str, name: str
):
    give(longest)
    loaded = read(text, name)
    assert loaded.faults == ()
    assert [sample.choices for sample in loaded.dataset.samples] == [
        ("one", "three"),
        ("four", "six", "eleven"),
    ]
    assert targets(loaded) == [1, 2]
    assert loaded.dataset.packages == ("their-keys 2.1",)


def test_it_sees_the_options_the_answer_and_every_cell_of_the_row(give: Give, read: Read):
    rows: list[AnswerRow] = []

    def compute(row: AnswerRow) -> str:
        rows.append(row)
        return "B"

    give(compute)
    assert targets(read(TABLE)) == [1, 1]
    assert rows[0] == AnswerRow(
        "Which?",
        ("one", "three"),
        "",
        {"id": "1", "question": "Which?", "A": "one", "B": "three", "C": "", "votes": "B B A"},
    )
    rows.clear()
    assert targets(read(LINES.replace('"n"', '"Answer"'), "exam.jsonl")) == [1, 1]
    assert (rows[1].answer, rows[1].options) == ("8", ("four", "six", "eleven"))
    assert rows[1].columns["gold"] == {"place": "2"}
    assert rows[1].columns["Answer"] == "8"


def test_an_answer_that_could_be_read_without_it_is_left_to_the_function(give: Give, read: Read):
    give(longest)
    text = "question,A,B,answer\nWhich?,one,three,A\nWhat?,eleven,six,B\nWho?,ab,cde,A\n"
    assert targets(read(text)) == [1, 0, 1]
    assert targets(read(text, layout=Layout())) == [0, 1, 0]
    # Which option the lists mark as right does not count either, and no order is changed.
    rows = [{"question": f"{n}?", "choices": {"ab": 1, "abc": 0}} for n in range(3)]
    marked = "".join(json.dumps(row) + "\n" for row in rows)
    found = read(marked, "marked.jsonl").dataset.samples
    assert [(sample.choices, sample.target) for sample in found] == [(("ab", "abc"), 1)] * 3


def test_columns_under_other_names_are_named_as_ever(give: Give, read: Read):
    give(longest)
    text = "nr,Frage,erste,zweite\n1,Welche?,ja,nein\n2,Wer?,niemand,ich\n"
    layout = with_columns(
        Layout(answer_key="own"), {"question": "Frage", "A": "erste", "B": "zweite"}
    )
    loaded = read(text, layout=layout)
    assert (loaded.faults, targets(loaded)) == ((), [1, 0])


@pytest.mark.parametrize(
    ("given", "actual"),
    [
        ("no such column", "KeyError: 'no such column'"),
        ("D", "it gave 'D'"),
        ("b", "it gave 'b'"),
        ("AB", "it gave 'AB'"),
        ("", "it gave ''"),
        (1, "it gave 1"),
        (None, "it gave None"),
    ],
)
def test_what_it_raises_and_what_is_no_letter_of_an_option_is_a_fault_with_its_line(
    give: Give, read: Read, given: object, actual: str
):
    def compute(row: AnswerRow) -> object:
        if row.question != "What?":
            return "A"
        return row.columns["no such column"] if given == "no such column" else given

    give(compute)
    loaded = read(TABLE)
    (fault,) = loaded.faults
    assert (fault.file, fault.line, fault.rule) == ("exam.csv", 3, "answer-function")
    assert (fault.column, fault.actual) == ("own", actual)
    assert fault.expected == "a letter from A to C from own"
    assert targets(loaded) == [0]


def test_the_other_faults_of_a_row_come_first(give: Give, read: Read):
    give(longest)
    loaded = read("question,A,B,answer\n,one,two,A\nWhich?,one,,A\nWhat?,one,three,\n")
    assert [(fault.line, fault.rule) for fault in loaded.faults] == [
        (2, "empty-question"),
        (3, "too-few-options"),
    ]
    assert targets(loaded) == [1]


def test_a_test_split_without_answers_is_scored(give: Give, read: Read):
    give(longest)
    text = "id,question,A,B\n1,Which?,one,three\n"
    assert targets(read(text, "law_test.csv")) == [1]


def test_a_table_without_a_header_has_nothing_that_a_function_could_name(give: Give, read: Read):
    give(longest)
    loaded = read("Which?,one,three,B\nWhat?,four,six,A\n", "mmlu.csv")
    assert {fault.rule for fault in loaded.faults} == {"missing-column"}
    assert loaded.dataset.samples == ()


def test_questions_without_options_are_refused(give: Give, read: Read):
    give(longest)
    with pytest.raises(DataError, match=r"qa\.jsonl is not read with the function own"):
        read('{"query": "Who?", "response": "Me."}\n', "qa.jsonl")


def test_an_unknown_name_is_refused_with_the_known_ones(give: Give, read: Read):
    give(longest)
    with pytest.raises(UnknownName, match=r"answer key 'theirs'\. Known: .*own"):
        read(TABLE, layout=Layout(answer_key="theirs"))


def test_the_digest_of_a_dataset_knows_the_function(give: Give, read: Read):
    give(longest)
    text = "question,A,B,answer\nWhich?,one,three,B\n"
    own, usual = read(text), read(text, layout=Layout())
    assert targets(own) == targets(usual)
    assert own.dataset.sha256 != usual.dataset.sha256
    assert usual.dataset.packages == ()
