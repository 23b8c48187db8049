import pytest

from evalui.models.endpoint.logprobs import (
    ContinuationSpan,
    PromptToken,
    score_span,
    span_by_context,
    span_by_text,
    split_continuation,
)
from evalui.models.endpoint.protocol import RetryableError


def places(*tokens: str) -> list[PromptToken]:
    """The first has no score, as from every server; the n-th has -n."""
    return [
        PromptToken(token, -float(at) if at else None, is_top=at % 2 == 0)
        for at, token in enumerate(tokens)
    ]


def test_blanks_at_the_end_of_a_context_belong_to_the_continuation():
    assert split_continuation("Answer: ", "yes") == ("Answer:", " yes")


@pytest.mark.parametrize(
    ("tokens", "left", "whole", "seam"),
    [
        (("The", " sky", " is"), "The sky", "The sky is", ContinuationSpan(2, 3, False)),
        (("The", " sk", "y is"), "The sky", "The sky is", ContinuationSpan(2, 3, True)),
        (("<s>", "The", " sky", " is"), "The sky", "The sky is", ContinuationSpan(3, 4, False)),
        (("The", " sky", " is", " blue"), "The sky", "The sky is", ContinuationSpan(2, 3, False)),
        (("a", "", "b"), "a", "ab", ContinuationSpan(1, 3, False)),
        (("a", "b"), "", "ab", ContinuationSpan(0, 2, False)),
    ],
)
def test_the_seam_is_found_by_the_lengths_of_the_tokens(
    tokens: tuple[str, ...], left: str, whole: str, seam: ContinuationSpan
):
    assert span_by_text(places(*tokens), left, whole) == seam


def test_tokens_that_are_parts_of_characters_do_not_spell_the_text():
    assert span_by_text(places("�", "", "好"), "你", "你好") is None


def test_the_seam_is_found_by_the_context_alone():
    whole = places("�", "", "", "�", "", "好")
    assert span_by_context(whole, whole[:3]) == ContinuationSpan(3, 6, merged=False)


def test_a_token_across_the_seam_is_merged():
    alone = places("The", " sk", "y")
    assert span_by_context(places("The", " sk", "y is"), alone) == ContinuationSpan(
        2, 3, merged=True
    )


def test_the_same_text_with_another_score_is_another_token():
    whole, alone = places("a", "", ""), places("a", "")
    other = [*alone, PromptToken("", -9.0, is_top=False)]
    assert span_by_context(whole, other) == ContinuationSpan(2, 3, merged=True)


def parts(noise: float, at: int = 5) -> list[PromptToken]:
    """Forty parts of characters; one of them is scored a bit differently by another batch."""
    found = [PromptToken("\ufffd", -14.0 + 0.1 * n, is_top=False) for n in range(40)]
    found[0] = PromptToken("\ufffd", None, is_top=False)
    found[at] = PromptToken("\ufffd", (found[at].logprob or 0.0) + noise, is_top=False)
    return found


ENDS = [PromptToken("\ufffd", -1.0, is_top=True)] * 3


def test_noise_between_batches_does_not_move_the_seam():
    assert span_by_context([*parts(0.0625), *ENDS], parts(0)) == ContinuationSpan(
        40, 43, merged=False
    )


def test_noise_in_a_token_that_its_text_shows_does_not_move_the_seam():
    alone = places("The", " sky", " is")
    whole = [PromptToken(each.token, (each.logprob or 0.0) * 1.3, is_top=False) for each in alone]
    whole[0] = alone[0]
    assert span_by_context([*whole, *ENDS], alone) == ContinuationSpan(3, 6, merged=False)


@pytest.mark.parametrize("at", [1, 5, 36])
def test_a_seam_far_before_the_end_of_the_context_is_none(at: int):
    with pytest.raises(RetryableError, match="where the context ends"):
        span_by_context([*parts(3.0, at), *ENDS], parts(0))


def test_a_token_may_take_in_the_last_three_of_the_context():
    assert span_by_context([*parts(3.0, 37), *ENDS], parts(0)) == ContinuationSpan(
        37, 43, merged=True
    )


def test_a_context_that_comes_back_otherwise_is_not_scored_as_the_continuation():
    with pytest.raises(RetryableError, match="where the context ends"):
        span_by_context(places("x", "y", "z"), places("a", "b"))


def test_without_a_context_all_is_continuation():
    assert span_by_context(places("a", "b"), ()) == ContinuationSpan(0, 2, merged=False)


def test_a_continuation_is_scored_by_its_own_tokens():
    scored = score_span(places("a", "b", "c", "d"), ContinuationSpan(2, 4, merged=False))
    assert scored is not None
    assert (scored.total, scored.n_tokens, scored.greedy) == (-5.0, 2, False)
    greedy = score_span(places("a", "b", "c", "d"), ContinuationSpan(2, 3, merged=True))
    assert greedy is not None
    assert (greedy.greedy, greedy.merged) == (True, True)


@pytest.mark.parametrize(
    "seam", [ContinuationSpan(0, 2, merged=False), ContinuationSpan(2, 2, merged=False)]
)
def test_what_has_no_score_is_not_made_up(seam: ContinuationSpan):
    assert score_span(places("a", "b"), seam) is None
