import datetime
import math

import pytest

from evalui.models.endpoint.logprobs import (
    PromptToken,
    TopLogprob,
    read_echo,
    read_prompt,
    read_top,
)
from evalui.models.endpoint.probe import has_thoughts
from evalui.models.endpoint.protocol import (
    Json,
    RejectedError,
    RetryableError,
    choices,
    read_text,
    retry_after,
)
from evalui.types import GeneratedText, Usage

NOON = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)


def replied(**choice: object) -> Json:
    return {"choices": [{"finish_reason": "stop", **choice}]}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("1e300", 86400.0),
        ("nan", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86400.0),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", 0.0),
        ("Sun, 01 Mar 2026 12:00:30", 0.0),
    ],
)
def test_a_server_may_say_when_to_come_back_in_seconds_or_by_a_date(header: str, seconds: float):
    assert retry_after(header, NOON) == seconds


def test_choices_are_put_into_the_order_of_the_prompts():
    answer: Json = {"choices": [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}]}
    assert [choice["text"] for choice in choices(answer, 2)] == ["a", "b"]


@pytest.mark.parametrize(
    "found",
    [
        None,
        [],
        "text",
        [{"index": 0}],
        [{"index": 0}, {"index": 0}],
        [{"index": 0}, {"index": 2}],
        [{"index": 0}, {"index": 1}, {"index": 1}],
    ],
)
def test_choices_that_fit_no_prompt_are_not_used(found: object):
    with pytest.raises(RetryableError) as error:
        choices({"choices": found}, 2)
    assert error.value.blame == "answer"


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"text": " yes"}, GeneratedText(" yes")),
        ({"text": ""}, GeneratedText("")),
        ({"message": {"content": "yes"}}, GeneratedText("yes")),
        ({"message": {"content": ""}}, GeneratedText("")),
        ({"message": {"content": None, "refusal": "I will not."}}, GeneratedText("I will not.")),
        (
            {"message": {"content": "B", "reasoning": "hm"}},
            GeneratedText("B", thoughts="hm"),
        ),
        (
            {"message": {"content": "B", "reasoning_content": "hm", "reasoning": "hm"}},
            GeneratedText("B", thoughts="hm"),
        ),
        ({"message": {"content": [{"type": "text", "text": "B"}]}}, GeneratedText("B")),
        (
            {
                "message": {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                        {"type": "text", "text": "B"},
                        {"type": "output_text", "text": "!"},
                    ]
                }
            },
            GeneratedText("B!", thoughts="hm"),
        ),
        ({"text": "a lot", "finish_reason": "length"}, GeneratedText("a lot", None, "length")),
        ({"text": "a#b", "finish_reason": "length"}, GeneratedText("a")),
        ({"text": "ends", "finish_reason": "eos"}, GeneratedText("ends")),
        ({"text": "ends", "finish_reason": "END_TURN"}, GeneratedText("ends")),
        ({"text": "a lot", "finish_reason": "max_tokens"}, GeneratedText("a lot", None, "length")),
        (
            {"text": "a lot", "finish_reason": "model_length"},
            GeneratedText("a lot", None, "length"),
        ),
    ],
)
def test_a_reply_is_what_the_model_wrote(choice: Json, text: GeneratedText):
    assert read_text(replied(**choice), stop=("#",)) == text


def test_the_cost_is_reported_with_the_reply():
    answer = replied(text="a") | {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    assert read_text(answer, ()).usage == Usage(9, 2)
    odd = replied(text="a") | {"usage": {"prompt_tokens": "9", "completion_tokens": -2}}
    assert read_text(odd, ()).usage == Usage(0, 0)


@pytest.mark.parametrize(
    "choice",
    [{}, {"text": None}, {"message": {"content": None}}, {"text": "a", "finish_reason": None}],
)
def test_a_reply_that_is_none_is_not_used(choice: Json):
    with pytest.raises(RetryableError):
        read_text(replied(**choice), ())


@pytest.mark.parametrize("choice", [{"text": ""}, {"message": {"content": ""}}])
def test_an_empty_reply_of_no_tokens_is_asked_for_again(choice: Json):
    usage = {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}
    with pytest.raises(RetryableError, match="without a text"):
        read_text(replied(**choice) | {"usage": usage}, ())
    wrote_nothing = usage | {"completion_tokens": 1, "total_tokens": 10}
    assert read_text(replied(**choice) | {"usage": wrote_nothing}, ()).text == ""


@pytest.mark.parametrize(
    "reason",
    ["error", "abort", "insufficient_system_resource", "network_error", "", 7],
)
def test_a_reply_that_was_interrupted_is_not_used(reason: object):
    with pytest.raises(RetryableError, match="breaks off") as error:
        read_text(replied(text="half of", finish_reason=reason), ("of",))
    assert error.value.blame == "answer"


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"message": {"content": None}, "finish_reason": "length"}, "used up its tokens"),
        ({"message": {}, "finish_reason": "length"}, "used up its tokens"),
        (
            {"message": {"content": [{"type": "thinking"}]}, "finish_reason": "length"},
            "used up its tokens",
        ),
        ({"message": {"content": None, "reasoning": "B"}}, "field of thoughts"),
        ({"message": {"content": " ", "reasoning_content": "B"}}, "field of thoughts"),
        ({"message": {"content": None}, "finish_reason": "tool_calls"}, "calls a tool"),
        ({"message": {"content": "", "tool_calls": [{"id": "1"}]}}, "calls a tool"),
        ({"message": {"content": None, "function_call": {"name": "f"}}}, "calls a tool"),
    ],
)
def test_a_reply_without_a_text_is_refused_with_what_helps(choice: Json, told: str):
    with pytest.raises(RejectedError, match=told):
        read_text(replied(**choice), ())


def test_a_list_without_the_chosen_token_has_it_and_blanks_are_blanks():
    listed = [{"token": "ĠB", "logprob": -2.0}, {"token": "▁C", "logprob": -3.0}]
    choice = {"logprobs": {"content": [{"token": "A", "logprob": -0.5, "top_logprobs": listed}]}}
    assert [(each.token, each.logprob) for each in read_top(choice)] == [
        ("A", -0.5),
        (" B", -2.0),
        (" C", -3.0),
    ]


@pytest.mark.parametrize(
    ("message", "top", "shown"),
    [
        ({"content": None, "reasoning_content": "Okay"}, "Okay", True),
        ({"content": "<think>"}, "<think>", True),
        ({"content": ""}, "<|channel|>", True),
        ({"content": "◁think▷Let"}, "◁", True),
        ({"content": [{"type": "thinking", "thinking": "Let"}]}, "Let", True),
        ({"content": "A"}, "A", False),
        ({"content": ""}, "\n", False),
    ],
)
def test_thoughts_show_in_a_field_a_part_or_a_mark(message: Json, top: str, shown: bool):
    logprobs = {"content": [{"token": top, "logprob": -0.1, "top_logprobs": []}]}
    assert has_thoughts(replied(message=message, logprobs=logprobs)) is shown


@pytest.mark.parametrize("reason", ["content_filter", "sensitive", "SAFETY"])
def test_a_withheld_reply_is_turned_down(reason: str):
    with pytest.raises(RejectedError):
        read_text(replied(text="a", finish_reason=reason), ())


@pytest.mark.parametrize(
    "logprobs",
    [
        {"top_logprobs": [{" B": -2.0, " A": -1.0}]},
        {
            "content": [
                {
                    "token": " A",
                    "logprob": -1.0,
                    "top_logprobs": [
                        {"token": " B", "logprob": -2.0},
                        {"token": " A", "logprob": -1.0},
                    ],
                }
            ]
        },
    ],
)
def test_a_list_of_tokens_is_read_in_both_shapes_the_best_first(logprobs: Json):
    assert read_top({"logprobs": logprobs}) == [TopLogprob(" A", -1.0), TopLogprob(" B", -2.0)]


@pytest.mark.parametrize("logprobs", [None, {}, {"content": []}, {"top_logprobs": [None]}, "no"])
def test_no_list_is_no_list(logprobs: object):
    assert read_top({"logprobs": logprobs}) == []


@pytest.mark.parametrize("bad", [math.nan, 0.1, None, "x", True, [1]])
def test_numbers_that_are_no_log_probabilities_are_not_used(bad: object):
    with pytest.raises(RetryableError, match="are not numbers"):
        read_top({"logprobs": {"top_logprobs": [{"A": bad}]}})


def test_probabilities_beyond_one_are_not_used():
    with pytest.raises(RetryableError, match="more than 1"):
        read_top({"logprobs": {"top_logprobs": [{"A": -0.1, "B": -0.2}]}})


def test_a_token_lost_behind_another_of_the_same_text_is_noticed_if_it_was_written():
    tops = {"A": math.log(0.002), "B": math.log(0.3)}
    written: Json = {"tokens": ["A"], "top_logprobs": [tops]}
    with pytest.raises(RetryableError, match="with the same text"):
        read_top({"logprobs": written | {"token_logprobs": [math.log(0.55)]}})
    best = read_top({"logprobs": written | {"token_logprobs": [math.log(0.002)]}})
    assert [each.token for each in best] == ["B", "A"]


def test_a_token_may_be_spelt_by_its_number():
    assert TopLogprob("token_id:42", -1.0).id == 42
    assert TopLogprob(" 42", -1.0).id is None


def test_an_echo_shows_each_token_and_whether_the_model_would_have_written_it():
    logprobs: Json = {
        "tokens": ["a", "b", "c"],
        "token_logprobs": [None, -1.0, -2.0],
        "top_logprobs": [None, {"b": -1.0}, {"x": -0.5, "c": -2.0}],
    }
    assert read_echo({"logprobs": logprobs}) == [
        PromptToken("a", None, is_top=False),
        PromptToken("b", -1.0, is_top=True),
        PromptToken("c", -2.0, is_top=False),
    ]


def test_an_echo_without_the_best_tokens_claims_nothing():
    logprobs: Json = {"tokens": ["a", "b"], "token_logprobs": [None, -1.0]}
    assert read_echo({"logprobs": logprobs})[1] == PromptToken("b", -1.0, is_top=False)


def test_the_scores_of_token_ids_are_found_by_their_ids():
    rows = [None, {"7": {"logprob": -1.0, "rank": 1}}, {"8": {"logprob": -3.0, "rank": 5}, "9": {}}]
    assert read_prompt({"prompt_logprobs": rows}, (5, 7, 8)) == [
        PromptToken("5", None, is_top=False),
        PromptToken("7", -1.0, is_top=True),
        PromptToken("8", -3.0, is_top=False),
    ]


@pytest.mark.parametrize("rows", [None, [], [None], {}])
def test_a_prompt_that_is_not_scored_is_not_used(rows: object):
    with pytest.raises(RetryableError, match="tokens where 3 were sent"):
        read_prompt({"prompt_logprobs": rows}, (5, 7, 8))


@pytest.mark.parametrize("ids", [(5, 7), (5, 6, 8)])
def test_scores_of_other_tokens_than_were_sent_are_not_used(ids: tuple[int, ...]):
    rows = [None, {"7": {"logprob": -1.0}}, {"8": {"logprob": -3.0}}]
    with pytest.raises(RetryableError, match="tokens"):
        read_prompt({"prompt_logprobs": rows}, ids)
