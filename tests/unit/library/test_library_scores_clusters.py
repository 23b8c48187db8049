"""Questions that are copies of each other, or stand on one passage, are no independent evidence."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evalui.library import compare, score_choices

N_QUESTIONS, COPIES, RUNS = 25, 4, 100


def _answers(
    right: NDArray[np.bool_], column: str = "question", copies: int = COPIES
) -> pd.DataFrame:
    """Each question in several copies, under ids of their own, which are answered alike."""
    marks = np.repeat(right, copies)
    shared = np.repeat([f"text {place}" for place in range(len(right))], copies)
    ids = [f"row-{place}" for place in range(len(marks))]
    given = {"id": ids, "choice": np.where(marks, "A", "B"), "answer": "A", column: shared}
    return pd.DataFrame(given)


def _right(rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.random(N_QUESTIONS) < 0.6


@pytest.mark.parametrize("column", ["question", "cluster"])
def test_the_range_of_copied_questions_holds_the_truth_as_often_as_it_says(column: str):
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(RUNS):
        scores = score_choices(_answers(_right(rng), column), options=4).set_index("metric")
        accuracy = scores.loc["acc_origin"]
        assert accuracy["n"] == N_QUESTIONS * COPIES
        held += accuracy["low"] <= 60 <= accuracy["high"]
    assert 0.90 <= held / RUNS <= 0.99  # .61 where copies count as independent


def test_equal_models_are_told_apart_on_copies_no_more_often_than_it_says():
    rng = np.random.default_rng(5)
    found = sum(
        compare(_answers(_right(rng)), _answers(_right(rng)), options=4)["p"].iloc[0] < 0.05
        for _ in range(RUNS)
    )
    assert found / RUNS <= 0.09  # .35 where copies count as independent


@pytest.mark.parametrize("measure", ["accuracy", "robust", "majority"])
def test_four_copies_of_each_question_say_what_the_questions_say(measure: str):
    rng = np.random.default_rng(6)
    marks = [[_right(rng) for _ in range(2)] for _ in range(2)]
    once, copied = (
        compare(
            *(_shown_twice(pair, measure, copies) for pair in marks), measure=measure, options=2
        )
        for copies in (1, COPIES)
    )
    for name in ("points", "points_low", "points_high", "p_holm"):
        assert copied[name].iloc[0] == pytest.approx(once[name].iloc[0], abs=0.01), name
    assert copied["n"].iloc[0] == COPIES * once["n"].iloc[0]


def _shown_twice(marks: list[NDArray[np.bool_]], measure: str, copies: int) -> pd.DataFrame:
    """In both orders of two options, or in two replies to the order as written."""
    frames = [_answers(each, copies=copies) for each in marks]
    if measure == "majority":
        frames = [frame.assign(repeat=repeat) for repeat, frame in enumerate(frames, start=1)]
    else:
        first, second = frames
        turned = second.assign(
            answer="B", choice=np.where(second["choice"] == "A", "B", "A"), order="BA"
        )
        frames = [first.assign(order="AB"), turned]
    return pd.concat(frames, ignore_index=True)
