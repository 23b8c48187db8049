"""What the errors of servers mean, in the shapes that they have."""

import json

import pytest

from evalui.errors import ModelError
from evalui.models.endpoint.protocol import (
    RejectedError,
    RetryableError,
    ServerReply,
    error_body,
    error_message,
    failure_of,
)

URL = "http://toy/v1"


def failure(status: int, body: object, **headers: str) -> Exception:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of(ServerReply(status, named, b""), body, URL, redact=lambda text: text)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "too many"}}, "too many"),
        ({"error": "too many"}, "too many"),
        ([{"error": {"code": 400, "message": "no logprobs"}}], "no logprobs"),
        (
            {"detail": [{"loc": ["body", "top_k"], "msg": "not permitted", "input": 1}]},
            "body.top_k: not permitted",
        ),
        ({"detail": [{"msg": "one"}, {"msg": "two"}, {"msg": "one"}]}, "one; two"),
        ({"code": 5, "error": "url.not_found", "message": "没找到对象"}, "url.not_found"),
        ("<html><head><title>504 Gateway Time-out</title></head></html>", "504 Gateway Time-out"),
        ("plain  words\n", "plain words"),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_words_of_a_server_are_told_in_one_line(body: object, told: str):
    assert error_message(body) == told


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, {"error": {"message": "Insufficient Balance"}}),
        (429, {"error": {"message": "quota", "type": "insufficient_quota"}}),
        (429, {"error": {"message": "quota", "code": "insufficient_quota"}}),
        (429, [{"error": {"message": "quota", "code": "insufficient_quota"}}]),
        (400, {"error": {"message": "overdue", "code": "Arrearage"}}),
        (200, {"error": {"message": "no credits", "code": 402}}),
    ],
)
def test_an_account_without_money_ends_the_model_with_the_servers_words(status: int, body: object):
    error = failure(status, body)
    assert isinstance(error, ModelError)
    assert "nothing is left on its account" in error.sentence
    assert error.sentence.endswith(error_message(body))


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 524, 529, 408, 409, 429])
def test_what_may_pass_is_tried_again(status: int):
    assert isinstance(failure(status, {}), RetryableError)


@pytest.mark.parametrize(
    ("status", "blame"), [(500, "either"), (502, "server"), (529, "server"), (524, "server")]
)
def test_a_server_that_speaks_of_itself_is_to_blame(status: int, blame: str):
    error = failure(status, {})
    assert isinstance(error, RetryableError)
    assert error.blame == blame


def test_an_error_inside_a_200_is_what_its_code_states():
    error = failure(200, {"error": {"message": "Provider returned error", "code": 502}})
    assert isinstance(error, RetryableError)
    assert (error.status, error.blame) == (502, "server")
    assert isinstance(failure(200, {"error": {"message": "x", "code": 400}}), RejectedError)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 4096 tokens."),
        (400, "the prompt is too long"),
        (413, "Payload too large"),
        (429, "Request too large for gpt-4 on tokens per min"),
    ],
)
def test_a_prompt_that_is_too_long_is_refused_with_what_helps(status: int, message: str):
    error = failure(status, {"error": {"message": message}})
    assert isinstance(error, RejectedError)
    assert message.rstrip(".") in error.reason
    assert "fewer worked examples" in error.reason


def test_a_list_of_stop_texts_that_is_too_long_is_no_long_prompt():
    error = failure(400, {"error": {"message": "Invalid 'stop': array too long."}})
    assert isinstance(error, RejectedError)
    assert "worked examples" not in error.reason


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry_after": "3"}, {}, 3.0),
        ({"retry_after_ms": "250"}, {}, 0.25),
        ({}, [{"error": {"details": [{"retryDelay": "3.5s"}]}}], 3.5),
        ({}, {"error": {"details": [{"retryDelay": "soon"}]}}, 0.0),
        ({"retry_after_ms": "soon"}, {}, 0.0),
    ],
)
def test_how_long_a_server_wants_to_be_left_alone_is_read_wherever_it_stands(
    headers: dict[str, str], body: object, seconds: float
):
    error = failure(429, body, **headers)
    assert isinstance(error, RetryableError)
    assert error.retry_after_s == seconds


def test_a_body_that_is_no_json_is_a_text():
    assert error_body(b"\xffoh") == "\ufffdoh"
    assert error_body(json.dumps({"a": 1}).encode()) == {"a": 1}
