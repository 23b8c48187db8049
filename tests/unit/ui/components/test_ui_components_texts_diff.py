"""A reference and a reply side by side, word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.ui.components.texts import DiffSegment, closest_reference, diff_texts, split_words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It is 8 km.", ["It ", "is ", "8 ", "km", "."]),
        ("don't go", ["don't ", "go"]),
        ("  two\nlines ", ["  two\n", "lines "]),
        ("北京是中国的首都。", ["北京", "是", "中国", "的", "首都", "。"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_words_with_their_blanks(text: str, cut: list[str]):
    assert split_words(text) == cut


def test_what_only_one_side_says_is_marked():
    found = diff_texts("The capital is Paris.", "the capital is Lyon.")
    assert found.reference == (
        DiffSegment("The capital is ", True),
        DiffSegment("Paris", False),
        DiffSegment(".", True),
    )
    assert found.reply == (
        DiffSegment("the capital is ", True),
        DiffSegment("Lyon", False),
        DiffSegment(".", True),
    )


def test_chinese_is_compared_by_words():
    found = diff_texts("首都是北京", "首都是上海")
    assert [piece.text for piece in found.reply if not piece.shared] == ["上海"]
    assert [piece.text for piece in found.reply if piece.shared] == ["首都是"]


def test_an_empty_reply_shares_nothing():
    assert diff_texts("Paris", "").reference == (DiffSegment("Paris", False),)
    assert diff_texts("Paris", "").reply == ()


def test_texts_that_are_too_long_are_shown_without_marks():
    found = diff_texts("word " * 4000, "other")
    assert not found.compared
    assert found.reply == (DiffSegment("other", True),)


@given(st.text(), st.text())
def test_the_pieces_of_a_text_are_the_text(reference: str, reply: str):
    found = diff_texts(reference, reply)
    assert "".join(piece.text for piece in found.reference) == reference
    assert "".join(piece.text for piece in found.reply) == reply


def test_the_reference_with_the_most_common_words_is_closest():
    assert closest_reference(("a dog", "a black cat", "nothing"), "the black cat") == 1
