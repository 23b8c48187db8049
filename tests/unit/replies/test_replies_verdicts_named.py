"""Verdicts that name the answers by numbers, in words that no option of a question has."""

import pytest

from evalui.replies import read_verdict, without_options
from evalui.types import Outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("[[Answer 1]]", "a"),
        ("Because it is right.\n\n[[Answer 2]]", "b"),
        ("**[[answer 1]]**", "a"),
        ("My verdict: [[both good]]", "tie"),
        ("[[both bad]].", "neither"),
        ("回答2更完整。\n[[回答2]]", "b"),
        ("结论：[[回答1]]", "a"),
        ("【【都好】】", "tie"),
        ("[[都不好]]", "neither"),
        ("Verdict: Answer 2", "b"),
        ("最终结论：回答1", "a"),
        # The question has options of its own, of which the judge speaks.
        ("Option B is right. Answer 1 chose B, Answer 2 chose A.\n[[Answer 1]]", "a"),
        ("The right option is A. Answer 1 says A is better supported.\n[[Answer 1]]", "a"),
        ("正确选项是 B。回答1选了 A，回答2选了 B。\n[[回答2]]", "b"),
        ("甲说谎，乙没有。回答2推理正确。\n[[回答2]]", "b"),
        ('{"reason": "x", "winner": "Answer 2"}', "b"),
        ("[[1]]", "a"),
        ("It is more accurate.\n\n[[x = Answer 2]]", "b"),
        ("[[Answer B]]", "b"),
    ],
)
def test_the_words_of_the_form_are_read(reply: str, outcome: Outcome):
    for form in ("named", "graded"):
        assert read_verdict(form, reply).outcome == outcome


@pytest.mark.parametrize(
    "reply",
    [
        "A",
        "[[A]]",
        "[[B]]",
        "选择：B",
        "Choice: D",
        "My choice is A.",
        "A is better.",
        "The answer is B.",
        "Answer B",
        "The verdict is option 2.",
        "正确的是选项1。",
        "甲更好",
        "[[x]]",
        "[[A>>B]]",
        "A > B",
        '{"winner": "A"}',
        "[[Answer 1]] or [[Answer 2]]",
        "One of: Answer 1, Answer 2, both good, both bad",
        "回答1、回答2、都好、都不好",
    ],
)
def test_an_option_of_the_question_and_a_list_are_no_verdict(reply: str):
    for form in ("named", "graded"):
        assert read_verdict(form, reply).outcome is None


@pytest.mark.parametrize(
    ("reply", "outcome", "strength"),
    [
        ("[[Answer 1 much better]]", "a", 3),
        ("[[Answer 1 better]]", "a", 1),
        ("[[Answer 2 is much better]]", "b", 3),
        ("[[回答1明显更好]]", "a", 3),
        ("[[回答2更好]]", "b", 1),
    ],
)
def test_how_much_better_is_told_where_the_form_has_steps(
    reply: str, outcome: Outcome, strength: int
):
    read = read_verdict("graded", reply)
    assert (read.outcome, read.strength) == (outcome, strength)
    assert read_verdict("named", reply).strength is None


def test_only_what_may_name_an_option_is_taken_out():
    text = "A good answer: I like Answer 1's plan B. A tie is a draw; answer b, c."
    assert without_options(text) == (
        "Ø good answer: I like Answer 1's plan Ø. Ø tie is a draw; answer Ø, Ø."
    )
    assert without_options("DNA, B12, C++ and vitamin D.") == "DNA, B12, Ø++ and vitamin Ø."
