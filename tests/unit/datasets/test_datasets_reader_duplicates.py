"""Rows with options of the same text: they stay with a note, or are left out by choice."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.datasets import load
from evalui.datasets.answers import ANSWER_KEYS
from evalui.datasets.model import FileRole, FileTable, Layout, Roles, Row
from evalui.datasets.reader import equal_letters
from evalui.datasets.samples import read_rows

HEADER = "id,question,A,B,C,D,answer\n"
PLAIN = "1,Which number is even?,1,2,3,5,B\n"
TWICE = "2,Which switching may reorder?,circuit,packet,packet,message,B\n"
SKIP = Layout(duplicate_options="skip")
Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make


@pytest.mark.parametrize(
    ("choices", "groups"),
    [
        (("a", "b", "c"), ()),
        (("a", "b", "b", "c"), ("BC",)),
        (("a", "b", "a", "b"), ("AC", "BD")),
        (("a", "a", "a"), ("ABC",)),
        (("CO", "Co", "co"), ()),
        (("a b", "a  b"), ()),
    ],
)
def test_options_are_equal_to_the_letter_only(
    choices: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    assert equal_letters(choices) == groups


def test_such_a_row_stays_and_is_told_with_its_line_and_options(write: Write) -> None:
    loaded = load([write("net_val.csv", HEADER + PLAIN + TWICE)])
    assert not loaded.faults
    assert [sample.fixed_reason for sample in loaded.dataset.samples] == ["", "duplicates"]
    assert [str(note) for note in loaded.notes] == [
        "net_val.csv: rows with options of the same text, by line: 3 (B = C). They count in "
        "accuracy (1 in all), and are left out of the robust figures and of the bias tests."
    ]


@pytest.mark.parametrize(
    ("row", "target"),
    [
        ("2,Q?,a,b,b,c,C\n", 2),  # the second of them is right: by its letter
        ("2,Q?,a,b,b,c,A\n", 0),  # none of them is
        ("2,Q?,a,a,a,a,D\n", 3),  # all options have one text
        ("2,Q?,a, b ,b,c,C\n", 2),  # blanks around a cell are no part of its text
    ],
)
def test_the_gold_letter_is_that_of_the_file(write: Write, row: str, target: int) -> None:
    (sample,) = load([write("x.csv", HEADER + row)]).dataset.samples
    assert (sample.target, sample.fixed_reason) == (target, "duplicates")


def test_by_choice_such_rows_are_left_out_and_counted(write: Write) -> None:
    loaded = load([write("net_val.csv", HEADER + PLAIN + TWICE)], layout=SKIP)
    assert [sample.id for sample in loaded.dataset.samples] == ["net/1"]
    assert loaded.n_rows == 2
    assert [str(note) for note in loaded.notes] == [
        "net_val.csv: rows with options of the same text were left out as requested, 1 in all, "
        "by line: 3 (B = C)."
    ]


def test_worked_examples_follow_the_same_choice(write: Write) -> None:
    paths = [write("net_dev.csv", HEADER + TWICE), write("net_val.csv", HEADER + PLAIN)]
    assert len(load(paths).dataset.shots) == 1
    assert not load(paths, layout=SKIP).dataset.shots


def test_many_such_rows_are_told_in_part_and_counted(write: Write) -> None:
    rows = "".join(TWICE.replace("2,", f"{n},", 1) for n in range(13))
    (note,) = load([write("x.csv", HEADER + rows)]).notes
    assert note.params["n"] == "13"
    assert note.params["where"].endswith("11 (B = C) (+3)")


def test_the_digest_changes_only_where_rows_were_left_out(write: Write) -> None:
    def digests(text: str) -> set[str]:
        path = write("x.csv", HEADER + text)
        return {load([path], layout=layout).dataset.sha256 for layout in (Layout(), SKIP)}

    assert len(digests(PLAIN)) == 1
    assert len(digests(PLAIN + TWICE)) == 2


_CELLS = st.sampled_from(["", "a", "b", "B", "A", "1", "2"])


@given(
    rows=st.lists(st.tuples(st.lists(_CELLS, min_size=2, max_size=5), _CELLS), max_size=6),
    key=st.sampled_from(["index0", "index1", "text"]),  # the others look at all the rows
)
def test_a_row_is_a_sample_or_has_faults_and_equal_options_alone_are_none(
    rows: list[tuple[list[str], str]], key: str
) -> None:
    lines = [
        Row(n, ("Q?", *cells, *[""] * (5 - len(cells)), answer))
        for n, (cells, answer) in enumerate(rows, start=2)
    ]
    roles = Roles(("question", *"ABCDE", "answer"), kind="multiple_choice", sure=True)
    table = FileTable("x.csv", roles.roles, lines)
    part = read_rows(table, roles, FileRole("x", None, "x.csv"), Layout(answer_key=key))
    kept = {sample.metadata["line"]: sample for sample in part.samples}
    assert set(kept).isdisjoint(str(fault.line) for fault in part.faults)
    assert not [fault for fault in part.faults if fault.rule == "duplicate-option"]
    for line, (_, *cells, answer) in lines:
        texts = tuple(filter(None, cells))
        gaps = "" in cells[: len(texts)]
        target = ANSWER_KEYS[key](answer, texts)
        usable = len(texts) >= 2 and not gaps and target is not None
        assert (str(line) in kept) == usable
        if usable:
            assert kept[str(line)].choices == texts
            assert kept[str(line)].target == target
            assert kept[str(line)].duplicate_options == bool(equal_letters(texts))
