from typing import Any

import pytest

from evalui.datasets.options import OptionList, read_options


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (["a", "b"], OptionList(("a", "b"))),
        ([" a ", 2, None], OptionList(("a", "2", ""))),
        (["A. a", "B. b"], OptionList(("a", "b"))),
        (["(A) a", "(B) b"], OptionList(("a", "b"))),
        (["A、甲", "B、乙"], OptionList(("甲", "乙"))),
        # Only where each begins with its own letter.
        (["A. a", "C. b"], OptionList(("A. a", "C. b"))),
        (
            [{"label": "A", "text": "a"}, {"label": "B", "text": "b"}],
            OptionList(("a", "b"), ("A", "B")),
        ),
        ([{"key": "1", "content": "a"}], OptionList(("a",), ("1",))),
        ([{"text": "a"}, {"text": "b"}], OptionList(("a", "b"))),
        ({"text": ["a", "b"], "label": ["A", "B"]}, OptionList(("a", "b"), ("A", "B"))),
        ({"text": ["a", "b"]}, OptionList(("a", "b"))),
        ({"A": "a", "B": "b"}, OptionList(("a", "b"), ("A", "B"))),
        ('["a", "b"]', OptionList(("a", "b"))),
        ("A. a; B. b", OptionList(("a", "b"))),
        ("A. a\nB. b\nC. c", OptionList(("a", "b", "c"))),
        ("A.甲B.乙", OptionList(("甲", "乙"))),
        ("（A）甲（B）乙", OptionList(("甲", "乙"))),
        ("选项：A、甲 B、乙", OptionList(("甲", "乙"))),
        ("a ) 3 , b ) 4", OptionList(("3", "4"))),
        ("①甲②乙", OptionList(("甲", "乙"))),
        ("1. a\n2. b", OptionList(("a", "b"), ("1", "2"))),
        ({"option_a": "a", "option_b": "b"}, OptionList(("a", "b"))),
        ([{"A": "a"}, {"B": "b"}], OptionList(("a", "b"), ("A", "B"))),
        ({"choices": ["a", "b"], "labels": [0, 1]}, OptionList(("a", "b"), (), (1,))),
        ({"so": 1, "as": 0}, OptionList(("so", "as"), (), (0,))),
        (
            [{"text": "a", "is_correct": False}, {"text": "b", "is_correct": True}],
            OptionList(("a", "b"), (), (1,)),
        ),
        ("['a', \"b's\"]", OptionList(("a", "b's"))),
        ("['a' 'b']", OptionList(("a", "b"))),
        ("['it\\'s'\n \"b's\" '[x], y']", OptionList(("it's", "b's", "[x], y"))),
        (
            "{'label': array(['A', 'B'], dtype=object), 'text': array(['a]', 'b'], dtype=object)}",
            OptionList(("a]", "b"), ("A", "B")),
        ),
        ('{"text": ["a", "b"], "label": ["A", "B"]}', OptionList(("a", "b"), ("A", "B"))),
    ],
)
def test_each_shape_is_read(value: Any, options: OptionList):
    assert read_options(value) == options


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "a; b",
        "A. Lincoln",
        "U.S.A. or B. Franklin",
        "[broken",
        "[" * 5000,
        {"text": ["a", "b"], "label": ["A"]},
        {"text": "a"},
        {"author": "a", "year": "b"},
        [{"index": 0, "turns": ["a"]}],
        [["a"], ["b"]],
        {},
    ],
)
def test_what_is_no_list_of_options_is_none(value: Any):
    assert read_options(value) is None


@pytest.mark.parametrize(
    "cell",
    [
        "[...]",
        "[{1, 2}, {3}]",
        "[b'a', b'b']",
        "[1j, 2]",
        "{[1]: 2}",
        "{'A': ...}",
        "{None: 'a', 'B': 'b'}",
        f"[0x{'f' * 5000}, 1]",
        r"['\ud800', 'b']",
        r'["\ud800", "b"]',
    ],
)
def test_what_only_python_has_and_half_characters_are_no_options(cell: str):
    assert read_options(cell) is None


def test_numbers_are_labels_in_python_too():
    assert read_options("{0: 'no', 1: 'yes'}") == OptionList(("no", "yes"), ("0", "1"))


def test_options_without_labels_are_named_by_letters():
    assert read_options(["x"] * 27) is not None
    named = OptionList(("x",) * 27).labelled
    assert [name for name, _ in named][-2:] == ["Z", "27"]
