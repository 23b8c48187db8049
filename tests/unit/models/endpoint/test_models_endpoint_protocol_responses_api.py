"""The Responses API in the form of chat."""

import pytest

from evalui.models.endpoint.protocol import (
    Json,
    RejectedError,
    RequestExtras,
    RetryableError,
    as_chat_answer,
    read_text,
)
from evalui.types import Usage

MESSAGES = [{"role": "user", "content": "Which?"}]
USAGE = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}


def answered(*output: Json, **more: object) -> Json:
    return {"status": "completed", "output": list(output), "usage": USAGE, **more}


def message(*texts: str) -> Json:
    parts = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "content": parts}


def test_a_request_has_the_names_of_the_api_and_nothing_is_kept():
    body = {"model": "m", "messages": MESSAGES, "max_tokens": 1, "stop": ["#"], "temperature": 0.0}
    assert RequestExtras().apply("responses", body) == {
        "model": "m",
        "input": MESSAGES,
        "max_output_tokens": 16,
        "store": False,
        "temperature": 0.0,
    }
    longer = {"messages": [], "max_completion_tokens": 99}
    assert RequestExtras().apply("responses", longer)["max_output_tokens"] == 99


def test_an_effort_and_a_schema_have_places_of_their_own_wherever_they_were_stated():
    extras = RequestExtras({"reasoning_effort": "low", "reasoning": {"summary": "auto"}})
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": {}, "strict": True}}
    sent = extras.apply("responses", {"messages": MESSAGES, "response_format": form})
    assert sent["reasoning"] == {"summary": "auto", "effort": "low"}
    described = {"type": "json_schema", "name": "reply", "schema": {}, "strict": True}
    assert sent["text"] == {"format": described}
    assert not {"reasoning_effort", "response_format"} & sent.keys()
    stated = {"messages": MESSAGES, "reasoning_effort": "high"}  # by the run
    assert extras.apply("responses", stated)["reasoning"]["effort"] == "high"


def test_the_text_and_the_thoughts_are_read_as_those_of_chat():
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    reply = read_text(as_chat_answer(answered(thought, message("The ", "end # of it"))), ("#",))
    assert (reply.text, reply.thoughts, reply.finish_reason) == ("The end ", "hm", "stop")
    assert reply.usage == Usage(9, 5)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            answered(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "used up its tokens",
        ),
        (
            answered(
                message("a"), status="incomplete", incomplete_details={"reason": "content_filter"}
            ),
            "content filter",
        ),
        (answered({"type": "function_call"}), "calls a tool"),
    ],
)
def test_what_is_no_reply_is_refused(answer: Json, told: str):
    with pytest.raises(RejectedError, match=told):
        read_text(as_chat_answer(answer), ())


def test_a_refusal_in_words_is_what_the_model_wrote():
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}
    assert read_text(as_chat_answer(answered(refused)), ()).text == "I will not."


@pytest.mark.parametrize("status", ["failed", "in_progress", "incomplete"])
def test_a_reply_that_did_not_end_is_not_used(status: str):
    with pytest.raises(RetryableError, match="breaks off"):
        read_text(as_chat_answer(answered(message("a"), status=status)), ())
