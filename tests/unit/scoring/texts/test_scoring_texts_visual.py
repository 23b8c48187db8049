"""The figures of questions on pictures, worked by hand and beside VLMEvalKit's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import edit_distance  # pyright: ignore[reportUnknownVariableType] - it has no types
from scoring_examples import golden

from evalui.scoring.texts.visual import (
    VISUAL_METRICS,
    anls,
    contains_any,
    contains_each,
    normalised_for_vqa,
    relaxed_accuracy,
    vqa_accuracy,
)

THEIRS = golden("vlmevalkit/texts.json")
PEOPLE = ["stop"] * 3 + ["a stop sign"] * 2 + ["sign"] * 5


@pytest.mark.parametrize("name", ["vqa_accuracy", "anls", "relaxed_accuracy"])
def test_each_value_is_that_of_vlmevalkit(name: str):
    rows, hits = THEIRS[name]["rows"], THEIRS[name]["hits"]
    own = [VISUAL_METRICS[name](reply, references) for references, reply in rows]
    assert own == pytest.approx(hits, abs=1e-12)
    assert 0.2 < sum(hits) / len(hits) < 0.8


def test_the_sum_of_ocrbench_and_the_languages_of_mtvqa_are_those_of_vlmevalkit():
    for name, figure, scale in (("ocrbench", "Final Score", 1), ("mtvqa", "Average", 0.5)):
        rows, theirs = THEIRS[name]["rows"], THEIRS[name]["figures"]
        right = sum(contains_any(reply, references) for references, reply, _ in rows)
        assert scale * right == theirs[figure]


@pytest.mark.parametrize(
    ("reply", "accuracy"),
    [
        # 5 say "sign": each of them has 4 that agree, each of the other 5 has 5.
        ("Sign.", 1.0),
        # 3 say "stop": each of them has 2 that agree (2/3), each of the other 7 has 3.
        ("the stop", (3 * 2 / 3 + 7) / 10),
        # 2 say "stop sign": each has 1 (1/3), each of the other 8 has 2 (2/3).
        ("stop sign", (2 * 1 / 3 + 8 * 2 / 3) / 10),
        ("no", 0.0),
        ("", 0.0),
    ],
)
def test_vqa_accuracy_counts_the_other_people(reply: str, accuracy: float):
    assert vqa_accuracy(reply, PEOPLE) == pytest.approx(accuracy)


def test_vqa_accuracy_needs_people_enough_for_a_right_answer():
    assert vqa_accuracy("x", ["x"] * 3) is None
    assert vqa_accuracy("x", ["x"] * 4) == 1


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The Two\nDogs!", "2 dogs"),
        ("Coca-Cola", "coca cola"),
        ("left / right", "left right"),
        ("$1,000 (about)", "$1000 about"),
        ("3.5 U.S. miles.", "3.5 us miles"),
        ("dont, couldntve", "don't couldntve"),
        ("couldn'tve oclock None", "couldn't've o'clock 0"),
    ],
)
def test_what_the_evaluation_of_vqa_compares(text: str, plain: str):
    assert normalised_for_vqa(text) == plain


@pytest.mark.parametrize(
    ("reply", "references", "similarity"),
    [
        ("Paris", ["paris"], 1.0),
        ("Pariz", ["London", "Paris"], 0.8),
        ("ab", ["abcd"], 0.5),
        ("ab", ["abcde"], 0.0),  # 0.4
        ("a  b", ["a b"], 1.0),
        ("", ["x"], 0.0),
        ("a" * 100_000, ["a"], 0.0),
    ],
)
def test_anls_is_the_closest_reference_above_a_half(
    reply: str, references: list[str], similarity: float
):
    assert anls(reply, references) == pytest.approx(similarity)


@given(st.text("ab ß", max_size=70), st.text("ab ß", max_size=70).map(lambda text: f"{text}b"))
def test_anls_counts_the_edits_of_any_texts(reply: str, reference: str):
    first, second = (" ".join(text.lower().split()) for text in (reply, reference))
    edits = int(edit_distance(first, second))  # pyright: ignore[reportUnknownArgumentType]
    share = 1 - edits / max(len(reply.upper()), len(reference.upper()))
    assert anls(reply, [reference]) == pytest.approx(share if share >= 0.5 else 0)


@pytest.mark.timeout(20)  # a second; cell by cell it would take a minute
def test_anls_of_long_texts_is_soon_there():
    reply = "".join(chr(97 + n * n % 26) for n in range(8000))
    assert anls(reply, [f"x{reply[2:]}y"]) == 1 - 3 / 8000


@pytest.mark.parametrize(
    ("reply", "reference", "right"),
    [
        ("105", "100", 1),
        ("105.01", "100", 0),
        (" 95 ", "100", 1),
        ("0.52", "50%", 1),
        ("52", "50%", 0),
        ("-100", "100", 0),
        ("0.0", "0", 0),
        ("0", "0", 1),
        ("Blue", "blue", 1),
        ("bluish", "blue", 0),
        ("1,000", "1000", 0),
    ],
)
def test_relaxed_accuracy_forgives_five_per_cent_of_a_number(
    reply: str, reference: str, right: int
):
    assert relaxed_accuracy(reply, [reference]) == right
    assert relaxed_accuracy(reply, ["none", reference]) == right


def test_a_reply_contains_one_reference_or_a_share_of_them():
    assert contains_any("It says CENTRE\nStreet.", ["centre street", "x"]) == 1
    assert contains_any("cent", ["centre"]) == 0
    covered = ["the old town", "was built", "in 1820"]
    assert contains_each("The Old Town, was built in 1820.", covered) == 1
    assert contains_each("Old town built in 1820", covered) == pytest.approx(2 / 3)
    assert contains_each("城市由河流分开", ["河流", "城 市", "山"]) == pytest.approx(2 / 3)
