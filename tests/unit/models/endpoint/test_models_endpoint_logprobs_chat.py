"""Which tokens of a conversation are the reply's, and what is no answer."""

import math

import pytest

from evalui.models.endpoint.logprobs import context_tokens, read_chat_tokens, score_reply
from evalui.models.endpoint.protocol import Json, RejectedError, RetryableError


def row(number: int, text: str, logprob: object = -1.0, rank: int = 2) -> Json:
    return {str(number): {"logprob": logprob, "rank": rank, "decoded_token": text}}


def told(*rows: object, read: int | None = None) -> Json:
    usage = {"prompt_tokens": 1 + len(rows) if read is None else read}
    return {"prompt_logprobs": [None, *rows], "usage": usage}


START = (row(5, "user"), row(6, "\n"))
CONTEXT = context_tokens(read_chat_tokens(told(*START)))


def test_the_reply_is_what_comes_after_the_conversation():
    both = told(*START, row(7, "f", -0.5, 1), row(8, "ire", -0.25, 1))
    score = score_reply(read_chat_tokens(both), CONTEXT, "fire")
    assert (score.total, score.n_tokens, score.greedy, score.merged) == (-0.75, 2, True, False)


def test_a_token_that_is_no_first_choice_is_not_greedy():
    both = told(*START, row(7, "f", -0.5, 1), row(8, "ire", -0.25, 2))
    assert not score_reply(read_chat_tokens(both), CONTEXT, "fire").greedy


def test_parts_of_characters_may_be_any():
    both = told(*START, row(7, "\ufffd"), row(8, "\ufffd"), row(9, "山。"))
    assert score_reply(read_chat_tokens(both), CONTEXT, "火山。").n_tokens == 3
    with pytest.raises(RejectedError):
        score_reply(read_chat_tokens(both), CONTEXT, "火山!")


@pytest.mark.parametrize(("parts", "trimmed"), [(2, " 火"), (2, "  火"), (1, "火山。"), (2, "x火")])
def test_a_character_in_parts_hides_nothing_that_was_taken_off(parts: int, trimmed: str):
    both = told(*START, *(row(7 + at, "\ufffd") for at in range(parts)))
    assert score_reply(read_chat_tokens(both), CONTEXT, "火").n_tokens == parts
    with pytest.raises(RejectedError):
        score_reply(read_chat_tokens(both), CONTEXT, trimmed)


def test_thoughts_that_are_opened_for_the_model_alone_are_no_context_of_a_reply():
    context = context_tokens(read_chat_tokens(told(*START, row(20, "<think>"), row(21, "\n"))))
    both = read_chat_tokens(told(*START, row(7, "fire")))
    with pytest.raises(RejectedError, match="chat template changes"):
        score_reply(both, context, "fire")


@pytest.mark.parametrize("own", [("\n\ufffd", "\ufffd"), ("\n火",), ("\n", "火")])
def test_a_merged_token_spells_what_it_took_in(own: tuple[str, ...]):
    both = read_chat_tokens(told(START[0], *(row(30 + at, text) for at, text in enumerate(own))))
    score = score_reply(both, CONTEXT, "火")
    assert (score.n_tokens, score.merged) == (len(own), True)
    with pytest.raises(RejectedError):
        score_reply(both, CONTEXT, " 火")


def test_a_reply_that_takes_in_the_end_of_the_template_is_marked():
    both = told(START[0], row(9, "\nfire"))
    score = score_reply(read_chat_tokens(both), CONTEXT, "fire")
    assert (score.n_tokens, score.merged) == (1, True)


@pytest.mark.parametrize(
    "rows",
    [
        (*START, row(7, "fire")),  # blanks taken off
        (*START, row(7, "<think></think>"), row(8, " fire")),
        (*START, row(7, " fire"), row(8, "<end>")),
        START,
        (row(1, "system"), row(2, "x"), row(3, "y"), row(7, " fire")),
    ],
    ids=["trimmed", "before", "behind", "lost", "another beginning"],
)
def test_a_template_that_changes_the_reply_scores_nothing(rows: tuple[Json, ...]):
    context = (
        CONTEXT if rows[0] == START[0] else context_tokens(read_chat_tokens(told(*START, *START)))
    )
    with pytest.raises(RejectedError, match="chat template changes"):
        score_reply(read_chat_tokens(told(*rows)), context, " fire")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"prompt_logprobs": None},
        told(*START, read=9),  # some come from a cache, unscored
        told(row(5, "user"), None),
        told({**row(5, "a"), **row(6, "b")}),
        told({"x": {"logprob": -1.0, "decoded_token": "a"}}),
        told({"5": {"logprob": -1.0}}),
        told(row(5, "a", math.nan)),
        told(row(5, "a", "high")),
        told(row(5, "a", 0.5)),
    ],
)
def test_what_does_not_score_every_token_is_no_answer(answer: Json):
    with pytest.raises(RetryableError):
        read_chat_tokens(answer)
