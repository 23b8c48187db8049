"""What an entry adds to its requests, and what it may not."""

import datetime

import pytest

from evalui.errors import ModelError
from evalui.models.endpoint.protocol import RequestExtras, check_extras, read_extras


def test_a_value_that_names_a_variable_is_read_and_kept_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GATEWAY_API_KEY", " s3cret\n")
    extras = read_extras({}, {"X-Gateway-Key": "$GATEWAY_API_KEY", "X-Team": "a"}, {}, "")
    assert extras.headers == {"X-Gateway-Key": "s3cret", "X-Team": "a"}
    assert extras.secrets == ("s3cret",)
    assert "s3cret" not in repr(extras)
    assert "s3cret" not in extras.key


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_API_KEY", raising=False)
    with pytest.raises(ModelError, match="NO_API_KEY"):
        read_extras({}, {"X-Key": "$NO_API_KEY"}, {}, "")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (({"messages": []}, {}, {}, ""), "must not have messages"),
        (({"Top_Logprobs": 3}, {}, {}, ""), "must not have Top_Logprobs"),
        (({"a": datetime.date(2026, 1, 1)}, {}, {}, ""), "something that JSON cannot express"),
        (({"a": float("nan")}, {}, {}, ""), "something that JSON cannot express"),
        (({"a": "b" * 5000}, {}, {}, ""), "more than 4000"),
        (({}, {"Host": "elsewhere"}, {}, ""), "must not have Host"),
        (({}, {"Content-Length": "0"}, {}, ""), "must not have Content-Length"),
        (({}, {"Authorization": "Bearer sk-1"}, {}, ""), "name of a secret"),
        (({}, {"X-Api-Key": "sk-1"}, {}, ""), "name of a secret"),
        (({}, {"Cookie": "a=b"}, {}, ""), "name of a secret"),
        (({}, {"X-A": "b\r\nHost: c"}, {}, ""), "cannot be sent"),
        (({}, {"X A": "b"}, {}, ""), "cannot be sent"),
        (({}, {}, {"token": "b"}, ""), "name of a secret"),
        (({}, {}, {"a": "b\n"}, ""), "cannot be sent"),
        (({}, {}, {}, "Host"), "cannot be sent"),
        (({}, {}, {}, "api key"), "cannot be sent"),
    ],
)
def test_what_cannot_be_added_is_refused(given: tuple[object, ...], told: str):
    with pytest.raises(ModelError, match=told) as error:
        check_extras(*given)  # type: ignore[arg-type]
    assert "sk-1" not in error.value.sentence


def test_fields_are_added_to_requests_for_text_and_never_replace_evaluis_own():
    extras = RequestExtras(body={"enable_thinking": False, "chat_template_kwargs": {"a": 1}})
    assert extras.apply("chat/completions", {"model": "m"}) == {
        "enable_thinking": False,
        "chat_template_kwargs": {"a": 1},
        "model": "m",
    }
    assert extras.apply("/tokenize", {"prompt": "a"}) == {"prompt": "a"}
    assert extras.apply("/tokenize", {"messages": []}) == {
        "chat_template_kwargs": {"a": 1},
        "messages": [],
    }


def test_what_a_run_says_to_a_chat_template_stands_beside_what_the_entry_says():
    extras = RequestExtras(body={"chat_template_kwargs": {"a": 1, "enable_thinking": True}})
    given = {"chat_template_kwargs": {"enable_thinking": False}}
    sent = extras.apply("chat/completions", given)
    assert sent == {"chat_template_kwargs": {"a": 1, "enable_thinking": False}}


def test_the_key_names_what_may_change_an_answer():
    assert RequestExtras().key == ""
    one = RequestExtras(body={"a": 1, "b": 2}, query={"v": "1"})
    assert one.key == RequestExtras(body={"b": 2, "a": 1}, query={"v": "1"}).key
    assert one.key != RequestExtras(body={"a": 1, "b": 3}, query={"v": "1"}).key


def test_the_key_has_the_values_of_headers_that_are_no_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GATEWAY_API_KEY", "s3cret")
    one, other = (read_extras({}, {"X-Variant": each}, {}, "").key for each in "ab")
    assert one != other
    secret = read_extras({}, {"X-Gateway-Key": "$GATEWAY_API_KEY"}, {}, "").key
    monkeypatch.setenv("GATEWAY_API_KEY", "another")
    assert read_extras({}, {"X-Gateway-Key": "$GATEWAY_API_KEY"}, {}, "").key == secret
