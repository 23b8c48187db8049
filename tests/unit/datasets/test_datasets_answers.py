"""Answers in every dress: which option they name, or that they name none."""

import pytest

from evalui.datasets.answers import (
    RawAnswer,
    answer_letters,
    by_letter,
    by_text,
    fit_answers,
    truth_of,
    truth_options,
)

CITIES = ("Rome", "Paris", "Oslo", "Bern")


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "B",
            "b",
            "Ｂ",
            "ｂ",
            " B ",
            "(B)",
            "（B）",
            "【B】",
            "[B]",
            "B.",
            "B、",
            "B:",
            "B)",
            "B。",
        ),
        *("答案：B", "答案是B", "正确答案: B", "选B", "选项B", "B选项", "B项", "故选B", "应选 B"),
        *(
            "Answer: B",
            "The answer is B.",
            "option b",
            "option_b",
            "Choice B",
            "Answer B",
            "key: B",
        ),
        *(
            "B. Paris",
            "B、Paris",
            "(B) paris",
            "B - Paris",
            "B Paris",
            "B: PARIS.",
            "答案：B. Paris",
        ),
        *("\\boxed{B}", "$\\boxed{B}$", "**B**", '"B"', "“B”", "`B`"),
    ],
)
def test_a_letter_in_any_dress_is_that_letter(cell: str) -> None:
    assert by_letter(cell, CITIES) == 1


@pytest.mark.parametrize(
    "cell",
    ["", "E", "AB", "A, B", "B. Rome", "B. London", "Paris", "2", "not B", "B or C", "Be", "B?"],
)
def test_what_is_no_single_letter_or_contradicts_itself_names_none(cell: str) -> None:
    assert by_letter(cell, CITIES) is None


@pytest.mark.timeout(20)
def test_a_hostile_answer_takes_no_time() -> None:
    for cell in ("answer " * 20_000, "(" * 100_000, "选" * 100_000, "B" + " " * 100_000 + "x"):
        assert by_letter(cell, CITIES) is None
        assert answer_letters(cell) == ""


@pytest.mark.parametrize(
    ("cell", "place"),
    [("Paris", 1), ("paris.", 1), ("ＰＡＲＩＳ", 1), (" Paris\n", 1), ("Par", None), ("", None)],
)
def test_a_text_may_differ_in_case_width_and_full_stop(cell: str, place: int | None) -> None:
    assert by_text(cell, CITIES) == place


def test_the_same_text_counts_before_a_similar_one() -> None:
    assert by_text("CO", ("Co", "CO", "co")) == 1
    assert by_text("cO", ("Co", "CO", "co")) is None


@pytest.mark.parametrize(
    ("cell", "truth"),
    [
        *(
            (word, True)
            for word in ("对", "√", "✓", "是", "正确", "T", "TRUE", "yes", "Y", "True.")
        ),
        *(
            (word, False)
            for word in ("错", "×", "✗", "否", "错误", "F", "false", "No", "n", "不对")
        ),
        *((word, None) for word in ("", "1", "0", "maybe", "A", "对错")),
    ],
)
def test_words_for_true_and_false(cell: str, truth: bool | None) -> None:
    assert truth_of(cell) is truth


@pytest.mark.parametrize(
    ("answers", "question", "options"),
    [
        (["对", "错"], "地球是圆的", ("对", "错")),
        (["√", "错"], "地球是圆的", ("对", "错")),
        (["正确", "错误"], "地球是圆的", ("正确", "错误")),
        (["是", "否"], "地球是圆的吗", ("是", "否")),
        (["TRUE", "FALSE"], "地球是圆的", ("对", "错")),
        (["true", "false"], "The earth is round.", ("True", "False")),
        (["T", "F"], "The earth is round.", ("True", "False")),
        (["yes", "No"], "Is it?", ("Yes", "No")),
    ],
)
def test_the_two_options_are_called_as_the_file_calls_them(
    answers: list[str], question: str, options: tuple[str, str]
) -> None:
    assert truth_options(answers, [question]) == options


def fit(*cells: str, options: tuple[str, ...] = CITIES) -> tuple[str, float, bool, str]:
    found = fit_answers([RawAnswer(cell, options) for cell in cells])
    return found.key, found.share, found.assumed, found.rival


def test_the_key_that_explains_most_answers_is_found_with_what_speaks_against_it() -> None:
    assert fit("A", "D", "x", "B") == ("letter", 0.75, False, "")
    assert fit("0", "3") == ("index0", 1.0, False, "")
    assert fit("1", "4") == ("index1", 1.0, False, "")
    assert fit("1", "2") == ("index0", 1.0, True, "")
    assert fit("Rome", "Oslo") == ("text", 1.0, False, "")
    assert fit("A", "AC", "B、D") == ("letter", 1.0, False, "")
    assert fit("2", "3", options=("4", "3", "2", "1")) == ("index0", 1.0, True, "text")
    assert fit("because", "why") == ("letter", 0.0, False, "")


def test_letters_beyond_the_options_are_no_answers_of_several_letters() -> None:
    assert fit("FACE", "BED") == ("letter", 0.0, False, "")
