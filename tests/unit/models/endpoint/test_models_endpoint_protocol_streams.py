"""Answers as one object, and as a stream of events."""

import json

import pytest

from evalui.models.endpoint.logprobs import read_top
from evalui.models.endpoint.protocol import Json, RejectedError, read_answer, read_text, usage_of
from evalui.types import Usage


def stream(*chunks: Json, end: str = "data: [DONE]\n\n") -> bytes:
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return (": keep-alive\n\n" + events + end).encode()


def piece(reason: str | None = None, **delta: object) -> Json:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def test_a_stream_adds_up_to_the_answer():
    answer = read_answer(
        stream(
            piece(role="assistant", content="", reasoning_content="hm"),
            piece(content="The "),
            piece(content="end"),
            piece("stop"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        )
    )
    assert answer is not None
    text = read_text(answer, ())
    assert (text.text, text.thoughts, text.usage) == ("The end", "hm", Usage(3, 2))


def test_a_call_of_a_tool_is_one_in_a_stream_too():
    call = {"index": 0, "id": "1", "function": {"name": "f", "arguments": ""}}
    answer = read_answer(stream(piece(content=""), piece(tool_calls=[call]), piece("stop")))
    assert answer is not None
    with pytest.raises(RejectedError, match="calls a tool"):
        read_text(answer, ())


def test_the_list_of_the_first_token_is_that_of_a_stream_too():
    first = piece(content="B")
    listed = [{"token": "B", "logprob": -0.1}, {"token": "A", "logprob": -2.5}]
    first["choices"][0]["logprobs"] = {"content": [listed[0] | {"top_logprobs": listed}]}
    answer = read_answer(stream(first, piece("length")))
    assert answer is not None
    assert [each.token for each in read_top(answer["choices"][0])] == ["B", "A"]


def test_a_stream_that_breaks_off_has_no_reason_to_end():
    answer = read_answer(stream(piece(content="half"), end='data: {"choi'))
    assert answer is not None
    assert "finish_reason" not in answer["choices"][0]


@pytest.mark.parametrize("content", [b"", b"<html>", b"[1]", b'"text"', b"data: nothing\n\n"])
def test_what_holds_no_object_is_none(content: bytes):
    assert read_answer(content) is None


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"prompt_tokens": 30, "completion_tokens": 1, "total_tokens": 351}, Usage(30, 321)),
        ({"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}, Usage(30, 5)),
        ({"prompt_tokens": 30, "completion_tokens": 5}, Usage(30, 5)),
        ({"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}, Usage(30, 5)),
        ({"prompt_tokens": -1, "completion_tokens": "5"}, Usage(0, 0)),
    ],
)
def test_thoughts_that_only_the_total_counts_are_tokens_written(usage: Json, cost: Usage):
    assert usage_of({"usage": usage}) == cost


def test_an_answer_without_usage_costs_nothing_known():
    assert usage_of({}) is None
