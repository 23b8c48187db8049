import math

import pytest

from evalui.models.endpoint.logprobs import TopLogprob, label_probs
from evalui.scoring.choice.options import reading_of_scores

ABCD = ("A", "B", "C", "D")


def listed(**probabilities: float) -> list[TopLogprob]:
    """`_A` stands for " A"."""
    return [TopLogprob(name.replace("_", " "), math.log(p)) for name, p in probabilities.items()]


def values(tokens: list[TopLogprob]) -> list[float]:
    return [math.exp(each) for each in label_probs(tokens, ABCD).logprobs]


def test_the_spellings_of_a_label_are_summed():
    tokens = [*listed(_A=0.4, A=0.2, _B=0.1, _C=0.1, D=0.1), TopLogprob("(A", math.log(0.05))]
    assert values(tokens) == pytest.approx([0.65, 0.1, 0.1, 0.1])
    assert label_probs(tokens, ABCD).mass == pytest.approx(0.95)


def test_a_label_that_is_not_listed_gets_the_most_it_can_have():
    tokens = listed(_A=0.6, _B=0.2, _C=0.1, the=0.04)
    assert values(tokens) == pytest.approx([0.6, 0.2, 0.1, 0.06])


def test_what_the_list_leaves_over_bounds_it_too():
    tokens = listed(_A=0.6, _B=0.2, _C=0.19)
    assert values(tokens)[3] == pytest.approx(0.01)


def test_a_list_that_is_too_short_may_have_lost_any_spelling():
    """A list of completions keeps one of several tokens with the same text."""
    tokens = listed(_A=0.3, A=0.002, _B=0.31, B=0.01, _C=0.05)
    full = label_probs(tokens, ABCD, complete=5)
    assert reading_of_scores(full.logprobs, 0, "forced").choice == 1
    short = label_probs(tokens, ABCD, complete=6)
    assert reading_of_scores(short.logprobs, 0, "forced").tied
    clear = label_probs(listed(_A=0.3, _B=0.66), ABCD, complete=6)
    assert [math.exp(each) for each in clear.logprobs] == pytest.approx([0.3, 0.66, 0.04, 0.04])


def test_what_is_not_listed_is_no_part_of_the_mass():
    assert label_probs(listed(_A=0.6, _B=0.2), ABCD).mass == pytest.approx(0.8)


def test_an_unlisted_label_that_may_be_the_best_makes_a_tie():
    """Only " A" is listed; "B" and " B" may have more between them."""
    probs = label_probs(listed(_the=0.5, _A=0.1), ("A", "B"))
    reading = reading_of_scores(probs.logprobs, 0, "forced")
    assert (reading.choice, reading.tied, reading.credit) == (None, True, 0.5)


def test_a_close_second_with_a_missing_spelling_makes_a_tie():
    close = listed(_A=0.4, A=0.02, _B=0.41, _C=0.05, x=0.03)
    assert reading_of_scores(label_probs(close, ABCD).logprobs, 0, "forced").tied
    decided = listed(_A=0.4, A=0.02, _B=0.41, B=0.03, _C=0.05)
    assert reading_of_scores(label_probs(decided, ABCD).logprobs, 0, "forced").choice == 1


def test_a_bound_is_never_the_answer():
    for tokens in (listed(_the=0.3, A=0.1), listed(A=0.01), listed(_the=0.9, B=0.05, C=0.04)):
        probs = label_probs(tokens, ABCD)
        choice = reading_of_scores(probs.logprobs, 0, "forced").choice
        assert choice is None or ABCD[choice] in {each.token.strip() for each in tokens}


def test_nothing_is_stated_of_labels_if_none_is_listed():
    probs = label_probs(listed(_The=0.6, _It=0.3), ABCD)
    assert probs.logprobs == (-math.inf,) * 4
    assert (probs.mass, probs.top_token) == (0.0, " The")
    assert reading_of_scores(probs.logprobs, 0, "forced").rule == "no-probability"
