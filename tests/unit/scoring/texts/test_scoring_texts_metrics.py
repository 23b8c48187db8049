import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import golden

from evalui.scoring.scorers import score_answers
from evalui.scoring.texts.metrics import (
    BLEUS,
    TEXT_METRICS,
    TokenizedText,
    best_scores,
    mean_scores,
    score_pair,
    tokenize,
)
from evalui.types import Sample

PAIRS: list[dict[str, Any]] = golden("evalscope/qa_inputs.json")
EVALSCOPE = golden("evalscope/qa_evalscope_1_14_1.json")
EXPECTED: dict[str, dict[str, Any]] = {case["id"]: case for case in EVALSCOPE["per_sample"]}
PUBLISHED = golden("evalscope/seed003_row.json")


def _compare(reply: str, reference: str):
    return score_pair(tokenize(reply), tokenize(reference))


def _words(text: str) -> TokenizedText:
    return TokenizedText(tuple(text.split()), tuple(text.split()))


def _swift_names(figures: dict[str, float]) -> dict[str, float]:
    """EvalScope's figures under SWIFT's names; the smallest double stands for 0."""
    return {name.lower(): value if value > 1e-300 else 0.0 for name, value in figures.items()}


# ------------------------------------------------------------------ figures of the peers


def test_all_golden_pairs_are_tested():
    assert len(PAIRS) == len(EXPECTED) == 92


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['id']}-{pair['kind']}")
def test_each_pair_has_evalscopes_figures(pair: dict[str, Any]):
    expected = _swift_names(EXPECTED[pair["id"]]["scores"])
    found = _compare(pair["prediction"], pair["reference"])
    assert dict(found) == pytest.approx(expected, abs=1e-9, rel=0)


def test_means_are_evalscopes():
    scores = [_compare(pair["prediction"], pair["reference"]) for pair in PAIRS]
    expected = _swift_names(EVALSCOPE["mean_over_samples_that_have_the_key"])
    assert dict(mean_scores(scores)) == pytest.approx(expected, abs=1e-9, rel=0)


def test_the_published_row_is_met_to_the_last_digit():
    pairs = zip(PUBLISHED["predictions"], PUBLISHED["references"], strict=True)
    scores = [_compare(*pair) for pair in pairs]
    assert mean_scores(scores) == PUBLISHED["seed_report"]
    assert len(scores) == 3


def test_each_pair_of_the_published_row_is_met_to_the_last_digit():
    # A precision of 1/22 is printed as 0.04545454545454546: nltk takes it through the logarithm.
    found = map(_compare, PUBLISHED["predictions"], PUBLISHED["references"])
    assert list(found) == [_swift_names(figures) for figures in PUBLISHED["per_sample"]]


# ------------------------------------------------------------------ worked by hand


def test_figures_come_under_swifts_names_in_its_order():
    assert tuple(_compare("a", "a")) == TEXT_METRICS
    assert TEXT_METRICS[:4] == ("rouge-1-r", "rouge-1-p", "rouge-1-f", "rouge-2-r")
    assert TEXT_METRICS[8:] == ("rouge-l-f", *BLEUS)


def test_rouge_1_counts_a_repeated_word_once_and_rouge_l_each_time():
    figures = score_pair(_words("the the cat"), _words("the cat sat here"))
    assert (figures["rouge-1-r"], figures["rouge-1-p"]) == (2 / 4, 2 / 2)
    assert (figures["rouge-l-r"], figures["rouge-l-p"]) == (2 / 4, 2 / 3)


def test_bleu_clips_repeated_words():
    # The example of Papineni et al., section 2.1: two of the seven are found.
    figures = score_pair(_words("the " * 7), _words("the cat is on the mat"))
    assert figures["bleu-1"] == pytest.approx(2 / 7)


def test_a_short_reply_pays_the_brevity_penalty_in_each_order():
    figures = score_pair(_words("a b"), _words("a b c d"))
    assert figures["bleu-1"] == figures["bleu-2"] == pytest.approx(math.exp(1 - 4 / 2))
    assert figures["bleu-3"] == 0


def test_a_long_reply_pays_none():
    assert score_pair(_words("a b c d"), _words("a b"))["bleu-1"] == pytest.approx(1 / 2)


def test_an_order_without_a_match_is_zero_and_not_the_smallest_number():
    assert score_pair(_words("b a"), _words("a b"))["bleu-2"] == 0.0


@pytest.mark.parametrize(("reply", "reference"), [("", "a"), (" \n", "a"), ("a", ""), ("", "")])
def test_a_blank_side_is_zero_in_every_figure(reply: str, reference: str):
    figures = score_answers(Sample("q", "", target=(reference,)), (reply,))
    assert len(figures) == len(TEXT_METRICS) + 2
    assert set(figures.values()) == {0.0}


# ------------------------------------------------------------------ properties

_TEXTS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)


@given(_TEXTS, _TEXTS)
def test_rouge_l_is_the_longest_common_subsequence(first: list[str], second: list[str]):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, word in enumerate(first, start=1):
        for column, other in enumerate(second, start=1):
            table[row][column] = (
                table[row - 1][column - 1] + 1
                if word == other
                else max(table[row - 1][column], table[row][column - 1])
            )
    figures = score_pair(_words(" ".join(first)), _words(" ".join(second)))
    assert figures["rouge-l-p"] == table[-1][-1] / len(first)


@given(_TEXTS, _TEXTS)
def test_swapping_the_texts_swaps_recall_and_precision(first: list[str], second: list[str]):
    here = score_pair(_words(" ".join(first)), _words(" ".join(second)))
    there = score_pair(_words(" ".join(second)), _words(" ".join(first)))
    for rouge in ("rouge-1", "rouge-2", "rouge-l"):
        assert here[f"{rouge}-r"] == there[f"{rouge}-p"]
        assert here[f"{rouge}-f"] == there[f"{rouge}-f"]


# ------------------------------------------------------------------ several references


def test_recall_precision_and_f_are_those_of_the_reference_with_the_best_f():
    # The first reference has the better recall, the second the better f.
    references = [_words("a"), _words("a b x")]
    scores = [score_pair(_words("a b c d"), each) for each in references]
    chosen = best_scores(scores)
    assert scores[0]["rouge-1-r"] > scores[1]["rouge-1-r"]
    assert [chosen[f"rouge-1-{part}"] for part in "rpf"] == [
        scores[1][f"rouge-1-{part}"] for part in "rpf"
    ]


def test_each_bleu_is_the_best_over_the_references():
    scores = [score_pair(_words("a b c"), _words(each)) for each in ("c b a", "a b x")]
    assert best_scores(scores)["bleu-1"] == scores[0]["bleu-1"] > scores[1]["bleu-1"]
    assert best_scores(scores)["bleu-2"] == scores[1]["bleu-2"] > scores[0]["bleu-2"]


def test_a_further_reference_never_lowers_the_score():
    one = score_answers(Sample("q", "", target=("Paris",)), ("It is Paris.",))
    two = score_answers(Sample("q", "", target=("Paris", "It is Paris.")), ("It is Paris.",))
    assert all(two[name] >= value for name, value in one.items() if not name.endswith(("-r", "-p")))
    assert (two["exact_match"], two["token_f1"], two["bleu-4"]) == (1.0, 1.0, 1.0)
