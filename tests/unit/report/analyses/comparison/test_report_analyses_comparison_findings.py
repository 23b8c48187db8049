"""The one sentence of a comparison, and what it rests on."""

import pytest
from bias_examples import right
from comparison_examples import CASES, compared

from evalui.messages import messages
from evalui.report.analyses.comparison import marks_title, support, sureness, verdict


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("two apart", "sure beats fond by 50 points.", "sure 比 fond 高 50 分。"),
        (
            "two steady",
            "sure is ahead of never by 100.0 points on every question.",
            "sure 在每一题上都比 never 高 100.0 分。",
        ),
        (
            "two alike",
            "sure and same are equal on each of 120 questions.",
            "sure 与 same 在全部 120 题上都相同。",
        ),
        (
            "two level",
            "less and lesser cannot be told apart.",
            "less 与 lesser 分不出高下。",
        ),
        (
            "two guessing",
            "Neither never nor nor is better than guessing.",
            "never 和 nor 都不比乱猜好。",
        ),
        (
            "two of few questions",
            "sure and less cannot be told apart.",
            "sure 与 less 分不出高下。",
        ),
        (
            "three, one ahead",
            "sure beats all others, the next, less, by 33 points.",
            "sure 胜过其他所有模型，比其次的 less 高 33 分。",
        ),
        (
            "three, two on top",
            "less and lesser cannot be told apart at the top.",
            "less 和 lesser 并列最前，分不出高下。",
        ),
        ("three alike", "Nothing separates these 3 models.", "这 3 个模型分不出高下。"),
        (
            "three guessing",
            "None of these 3 models is better than guessing.",
            "这 3 个模型都不比乱猜好。",
        ),
    ],
)
def test_the_verdict_follows_from_the_tests(name: str, english: str, chinese: str):
    assert verdict(messages("en"), CASES[name]) == english
    assert verdict(messages("zh"), CASES[name]) == chinese


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two apart", "Plausible range 41–59, p < .001, paired on the same 120 questions."),
        ("two level", "120 questions would usually miss a difference under "),
        ("two of few questions", "12 questions would usually miss a difference under 40 points."),
        ("three, one ahead", "Paired on the same questions, corrected for 3 comparisons."),
    ],
)
def test_the_support_gives_range_test_and_questions(name: str, expected: str):
    assert support(messages("en"), CASES[name]).startswith(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two apart", "Very. 120 questions show any difference of "),
        ("two steady", "Very: the same on every one of 40 questions."),
        ("two level", "Not enough to tell: the plausible range, "),
        (
            "two of few questions",
            "Not enough to tell: p = .125, corrected and, for few questions, exact.",
        ),
        ("two alike", "No difference is shown on 120 questions."),
        ("three, two on top", "2 of 3 pairs are told apart after correction."),
    ],
)
def test_how_sure_it_is_stands_on_the_closed_line(name: str, expected: str):
    assert sureness(messages("en"), CASES[name]).startswith(expected)


def test_the_title_of_the_marks_counts_the_measures():
    assert marks_title(messages("en"), CASES["two apart"]) == "sure is ahead under all 3 measures"
    assert marks_title(messages("en"), CASES["two alike"]) == "Difference by measure"
    assert marks_title(messages("en"), CASES["three alike"]) == "Difference of each pair"


def test_that_the_second_only_guesses_is_part_of_the_support():
    case = compared({"sure": right, "drawn": lambda question, _, target: (target + question) % 4})
    assert support(messages("en"), case).endswith("; drawn is no better than guessing.")
    assert "guessing" not in support(messages("en"), CASES["two apart"])
