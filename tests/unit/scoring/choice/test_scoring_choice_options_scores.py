import math

import pytest

from evalui.scoring.choice.options import NORMALISATIONS, normalise_scores, reading_of_scores

# "é" is one character and two bytes, "北京" two characters and six bytes.
TEXTS = ("Lyon", "Orléans", "北京")
SCORES = normalise_scores(
    TEXTS, totals=(-4.0, -6.0, -3.0), tokens=(1, 3, 2), unconditional=(-2.0, -9.0, -3.5)
)


def test_the_normalisations_come_in_their_registered_order():
    assert tuple(SCORES) == NORMALISATIONS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("raw", (-4.0, -6.0, -3.0)),
        ("un", (-2.0, 3.0, 0.5)),
        ("ln_token", (-4.0, -2.0, -1.5)),
        ("ln_char", (-4 / 4, -6 / 7, -3 / 2)),
        ("ln_byte", (-4 / 4, -6 / 8, -3 / 6)),
    ],
)
def test_each_normalisation_divides_by_its_own_length(name: str, expected: tuple[float, ...]):
    assert SCORES[name] == pytest.approx(expected)


def test_characters_and_bytes_choose_differently_on_mixed_scripts():
    chosen = {
        name: reading_of_scores(SCORES[name], 0, name).choice for name in ("ln_char", "ln_byte")
    }
    assert chosen == {"ln_char": 1, "ln_byte": 2}


def test_an_impossible_option_stays_impossible_without_the_question():
    scores = normalise_scores(
        ("a", "b"), totals=(-math.inf, -1.0), tokens=(1, 1), unconditional=(-math.inf, -2.0)
    )
    assert scores["un"] == (-math.inf, 1.0)


def test_one_length_per_option_is_insisted_on():
    with pytest.raises(ValueError, match="shorter"):
        normalise_scores(("a", "b"), totals=(-1.0, -2.0), tokens=(1,), unconditional=(-1.0, -2.0))
