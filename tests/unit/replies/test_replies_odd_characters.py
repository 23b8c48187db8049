"""Every reader of replies reads any character: signs and letters of all scripts raise nothing."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalui.replies import (
    compile_pattern,
    contains_injection,
    read_by_pattern,
    read_correctness,
    read_rating,
    read_tolerant,
    read_verdict,
    split_thoughts,
)

FORMS = ("compass", "mtbench", "arena_hard", "json", "scores", "named", "graded")
OPTIONS = (
    ("2", "3", "4", "5"),
    ("Roma", "İzmir", "İstanbul", "Iğdır"),
    ("yes", "no"),
    ("A", "B", "ﬁsh", "ß"),
    ("五", "第三", "five", "fıve"),
)
PATTERN = compile_pattern("compass", r"(?P<a>first)|(?P<b>second)")


def _is_odd(character: str) -> bool:
    """Of another length in small letters or plain forms, or a digit, sign or mark of its own."""
    forms = (character.lower(), character.upper(), character.casefold())
    plain = unicodedata.normalize("NFKC", character)
    is_mark = unicodedata.category(character) in ("Nd", "Nl", "No", "Pd", "Sm", "Mn", "Cf", "Co")
    return plain != character or is_mark or any(len(form) != 1 for form in forms)


ODD = [chr(code) for code in range(0x80, 0xFFFF) if not 0xD800 <= code < 0xE000]
ODD = [character for character in ODD if _is_odd(character)] + ["ı", "\u2028", "\x85", "𝟏", "🅐"]
PIECES = (
    *(
        "The answer is ",
        "Answer: ",
        "答案是",
        "正解は",
        "Cevap: ",
        "A",
        "B",
        "4",
        "five",
        "-7",
        "0.",
    ),
    *("the third one", "第二", "Rating: ", "评分：", "[[", "]]", "7/10", "Accuracy: ", "Choice: "),
    *("Assistant A is better", "correct", "不正确", '{"winner": "', '"}', "<think>", "</think>"),
    *("İki artı iki: ", "\\boxed{", "```", "&#304;", " ", "\n", ". "),
)


@given(st.lists(st.sampled_from(PIECES) | st.sampled_from(ODD), max_size=14).map("".join))
@example("İki artı iki: 4")
@example("&#304;&#57344;şlem sonucu 4")
@example("It falls to\n−7\nand rises.\n\nRating: [[8]]")
@example("Rating: fıve")
def test_any_character_is_read(reply: str):
    for options in OPTIONS:
        slot = read_tolerant(reply, options).choice
        assert slot is None or slot < len(options)
    for form in FORMS:
        assert read_verdict(form, reply).rule
    assert read_rating(reply, criteria=("Accuracy",)).rule
    assert read_correctness(reply).rule
    assert read_by_pattern(PATTERN, reply).rule
    assert isinstance(contains_injection(reply), bool)
    assert split_thoughts(reply).thoughts is not None


@pytest.mark.parametrize("reply", ["İki artı iki: 4", "İşlem sonucu 4"])
def test_a_turkish_capital_moves_no_place_in_a_line(reply: str):
    assert read_tolerant(reply, ("2", "3", "4", "5")).choice == 2


def test_a_minus_sign_is_a_hyphen():
    assert read_tolerant("x = −2", ("x = 2", "x = -2", "x = 4")).choice == 1
    assert read_rating("It falls to\n−7\nand rises.\n\nRating: [[8]]").value == 8
    assert read_rating("Rating: −7").rule == "out-of-range"
