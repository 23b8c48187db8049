import pytest
from scipy.stats import binomtest, chisquare

from evalui.datasets.health import check_choices, letter_balance_p
from evalui.types import Sample


def sample(number: int, target: int, *choices: str, question: str = "") -> Sample:
    options = choices or ("aa", "bb", "cc", "dd")
    text = question or f"Question {number}?"
    return Sample(f"x/{number}", text, options, target, {"subject": "x"})


def letters(*counts: int) -> list[Sample]:
    return [
        sample(100 * target + number, target, *"abcd"[: len(counts)])
        for target, count in enumerate(counts)
        for number in range(count)
    ]


def test_the_letters_are_tested_against_an_even_spread() -> None:
    counts = (30, 20, 10, 20)
    assert letter_balance_p(letters(*counts)) == pytest.approx(chisquare(counts).pvalue, abs=1e-12)


def test_questions_with_other_numbers_of_options_are_tested_apart() -> None:
    # Three options cannot have D: pooled, an even spread would look uneven.
    even = letters(40, 40, 40) + letters(10, 10, 10, 10)
    assert letter_balance_p(even) == pytest.approx(1.0)
    uneven = letters(40, 40, 40) + letters(30, 5, 5, 5)
    assert letter_balance_p(uneven) < 0.001  # type: ignore[operator]


def test_too_few_questions_have_no_test() -> None:
    assert letter_balance_p(letters(4, 5, 5, 5)) is None
    assert letter_balance_p(letters(5, 5, 5, 5)) == pytest.approx(1.0)


def test_always_the_commonest_letter_has_its_wilson_interval() -> None:
    best = check_choices(letters(10, 30, 20, 20)).always_letter
    expected = binomtest(30, 80).proportion_ci(method="wilson")
    assert (best.letter, best.share.value, best.share.n) == ("B", 0.375, 80)
    assert best.share.low == pytest.approx(expected.low, abs=1e-12)
    assert best.share.high == pytest.approx(expected.high, abs=1e-12)


def test_always_the_longest_option_shares_ties() -> None:
    samples = [
        sample(1, 0, "long", "a", "b"),
        sample(2, 1, "long", "a", "b"),
        sample(3, 0, "long", "tall", "b"),
        sample(4, 2, "a", "b", "c"),
    ]
    assert check_choices(samples).longest_option.value == pytest.approx((1 + 0 + 1 / 2 + 1 / 3) / 4)


def test_chance_is_the_mean_over_questions() -> None:
    assert check_choices([sample(1, 0, "a", "b"), sample(2, 0)]).chance == pytest.approx(3 / 8)


def test_equal_questions_are_grouped_whatever_their_blanks() -> None:
    samples = [sample(1, 0, question="Why  so?"), sample(2, 0), sample(3, 1, question="Why so?")]
    assert check_choices(samples).duplicates == (("x/1", "x/3"),)


def test_counts_lengths_and_languages() -> None:
    samples = [sample(1, 0, "a", "bbb", question="为什么?"), sample(2, 2)]
    health = check_choices(samples)
    assert health.n == 2
    assert health.options_per_question == {2: 1, 4: 1}
    assert health.letter_counts == (1, 0, 1, 0)
    assert health.languages == {"zh": 1, "en": 1}
    assert health.subjects == {"x": 2}
    assert (health.option_length.shortest, health.option_length.longest) == (1, 3)
    assert (health.question_length.shortest, health.question_length.median) == (4, 7.5)


def test_options_that_name_others_are_listed() -> None:
    marked = Sample("x/1", "Q?", ("a", "all of the above"), 0, refers_to_other_options=True)
    assert check_choices([marked, sample(2, 0)]).refers_to_other_options == ("x/1",)


def test_questions_with_options_of_the_same_text_are_listed() -> None:
    twice = Sample("x/1", "Q?", ("a", "b", "b"), 0)
    assert check_choices([twice, sample(2, 0)]).duplicate_options == ("x/1",)


def test_nothing_has_no_health_and_no_error() -> None:
    health = check_choices(())
    assert (health.n, health.chance, health.letters_p) == (0, 0.0, None)
    assert health.longest_option.n == 0
