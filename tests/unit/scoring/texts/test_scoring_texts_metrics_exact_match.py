import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.scoring.texts.metrics import exact_match, normalised_words, token_f1


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("The Beatles.", "beatles"),
        ("the U.S.", "US"),
        ("Ｐａｒｉｓ！", "paris"),
        ("北京。", "北京"),
        ("it's", "its"),
        ("1,000,000", "1000000"),
        ("−5", "-5"),
        ("A.", "a"),
        ("。", "。"),
    ],
)
def test_case_punctuation_articles_and_width_do_not_count(reply: str, reference: str):
    assert exact_match(normalised_words(reply), normalised_words(reference)) == 1.0


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("-5", "5"),
        ("3.5", "35"),
        ("3.5", "3 5"),
        (".5", "5"),
        ("Paris Rome", "Rome Paris"),
        ("北京市", "北京"),
        ("。", "！"),
        ("", ""),
        ("", "a"),
        ("a", "the"),
    ],
)
def test_other_words_signs_and_orders_count(reply: str, reference: str):
    assert exact_match(normalised_words(reply), normalised_words(reference)) == 0.0


@pytest.mark.parametrize(
    ("reply", "reference", "f1"),
    [
        ("It is Paris", "Paris", 2 * 1 / (3 + 1)),
        ("首都是北京", "北京", 2 * 2 / (5 + 2)),
        ("no no no", "no", 2 * 1 / (3 + 1)),
        ("no no no", "no no", 2 * 2 / (3 + 2)),
        ("Rome", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("", "", 0.0),
    ],
)
def test_f1_counts_shared_words(reply: str, reference: str, f1: float):
    assert token_f1(normalised_words(reply), normalised_words(reference)) == pytest.approx(f1)


def test_chinese_is_compared_by_character_and_latin_words_inside_it_as_words():
    assert normalised_words("用GPT-4回答") == ("用", "gpt", "4", "回", "答")


@given(st.text(max_size=20), st.text(max_size=20))
def test_an_exact_match_has_the_full_f1(reply: str, reference: str):
    ours, theirs = normalised_words(reply), normalised_words(reference)
    assert (exact_match(ours, theirs) == 1.0) <= (token_f1(ours, theirs) == 1.0)


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("C++", "c＋＋."),
        ("**C#**", "C#"),
        ("5 %", "５％"),
        ("$ 5.00", "$5.00"),
        ("$5$", "5"),
        ("$$x^2$$", "x^2"),
        ("It costs $5 and $6.", "it costs $5, and $6"),
        ("x + y", "x+y"),
        ("# Paris", "Paris"),
    ],
)
def test_signs_that_belong_to_a_word_are_read_in_any_dress(reply: str, reference: str):
    assert exact_match(normalised_words(reply), normalised_words(reference)) == 1.0


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("C++", "C"),
        ("C#", "C"),
        ("C++", "C#"),
        ("A+", "A"),
        ("5%", "5"),
        ("5‰", "5%"),
        ("$5", "5"),
        ("$5", "€5"),
        ("5 €", "5"),
        (".5", "0.5"),
    ],
)
def test_signs_that_make_another_word_count(reply: str, reference: str):
    assert exact_match(normalised_words(reply), normalised_words(reference)) == 0.0
