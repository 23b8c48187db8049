from pathlib import Path

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry
from evalui.models.endpoint.config import read_endpoint

URL = "http://127.0.0.1:8000/v1"


def entry(**options: object) -> ModelEntry:
    return ModelEntry("m", "openai", path="gpt", max_length=99, options=options)


def test_an_address_is_enough():
    endpoint = read_endpoint(entry(base_url=URL))
    assert (endpoint.model, endpoint.urls, endpoint.api) == ("gpt", (URL,), "auto")
    assert (endpoint.concurrency, endpoint.timeout_s, endpoint.retries) == (8, 60.0, 3)
    assert (endpoint.key, endpoint.tokenizer, endpoint.max_length) == ("", None, 99)


def test_several_addresses_are_kept_once_each_without_a_slash_at_the_end():
    endpoint = read_endpoint(entry(base_url=URL, base_urls=[f"{URL}/", "https://b.example/v1"]))
    assert endpoint.urls == (URL, "https://b.example/v1")


@pytest.mark.parametrize(
    "url", ["http://[::1]:8000/v1", "http://localhost", "https://模型.example/v1"]
)
def test_any_host_will_do(url: str):
    assert read_endpoint(entry(base_url=url)).urls == (url,)


def test_all_options_are_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "secret")
    endpoint = read_endpoint(
        entry(
            base_url=URL,
            api_key_env="MY_KEY",
            api="chat",
            concurrency=2,
            requests_per_minute=30.5,
            timeout_s=1,
            retries=0,
            seed=7,
            tokenizer="/models/x",
        )
    )
    assert (endpoint.key, endpoint.api, endpoint.concurrency) == ("secret", "chat", 2)
    assert (endpoint.requests_per_minute, endpoint.timeout_s) == (30.5, 1.0)
    assert (endpoint.retries, endpoint.seed, endpoint.tokenizer) == (0, 7, Path("/models/x"))
    assert "secret" not in repr(endpoint)


def test_a_line_break_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", " secret\n")
    assert read_endpoint(entry(base_url=URL, api_key_env="MY_KEY")).key == "secret"


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 300.0), ({"timeout_s": 5}, 25.0), ({"timeout_s": 5, "total_timeout_s": 7}, 7.0)],
)
def test_an_answer_may_last_five_times_as_long_as_a_pause_in_it(
    options: dict[str, object], expected: float
):
    assert read_endpoint(entry(base_url=URL, **options)).total_timeout_s == expected


def test_a_refused_address_is_a_problem():
    with pytest.raises(ModelError, match="is not asked: its address 169"):
        read_endpoint(entry(base_url="http://0xA9FEA9FE/v1"))


@pytest.mark.parametrize("key", ["sk-sécret", "sk-秘密", "sk-\nsecret", "sk-\x7f"])
def test_what_cannot_be_sent_is_no_key_and_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, key: str
):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(ModelError, match="MY_KEY holds characters that no API key has") as error:
        read_endpoint(entry(base_url=URL, api_key_env="MY_KEY"))
    assert "sk-" not in str(error.value)


def test_a_key_of_blanks_is_not_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", " \n")
    with pytest.raises(ModelError, match="is not set"):
        read_endpoint(entry(base_url=URL, api_key_env="MY_KEY"))


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pa55@a.example/v1",
        "http://pa55@a.example:port/v1",
        "http:user:pa55@a.example",
        "http://a.example/v1?key=pa55",
        "http://a.example/v1#pa55",
    ],
)
def test_an_address_with_a_password_or_a_query_is_refused_and_not_reported(url: str):
    with pytest.raises(ModelError, match="must have no user name, password, query") as error:
        read_endpoint(entry(base_urls=[url]))
    assert "pa55" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "options.base_url is missing"),
        ({"base_url": "127.0.0.1:8000"}, "options.base_url must be an http address"),
        ({"base_url": "ftp://a/v1"}, "options.base_url must be an http address"),
        ({"base_url": "http://a:port/v1"}, "options.base_url must be an http address"),
        ({"base_url": f"{URL}\n"}, "options.base_url must be an http address"),
        ({"base_url": f" {URL}"}, "options.base_url must be an http address"),
        ({"base_url": "http://exa mple/v1"}, "options.base_url must be an http address"),
        ({"base_url": "http://a..b/v1"}, "options.base_url must be an http address"),
        ({"base_url": f"http://{'a' * 64}.com/v1"}, "options.base_url must be an http address"),
        ({"base_url": "http://\u2028x/v1"}, "options.base_url must be an http address"),
        ({"base_urls": URL}, "options.base_urls must be a list of texts"),
        ({"base_urls": [7]}, "options.base_url must be an http address, found 7"),
        ({"base_url": URL, "api": "grpc"}, "options.api must be auto, chat, completions"),
        ({"base_url": URL, "api": 1}, "options.api must be a text, found 1"),
        ({"base_url": URL, "concurrency": 0}, "a whole number of at least 1, found 0"),
        ({"base_url": URL, "concurrency": True}, "a whole number of at least 1, found True"),
        ({"base_url": URL, "timeout_s": float("nan")}, "a number of at least 0.1, found nan"),
        ({"base_url": URL, "retries": 1.5}, "a whole number of at least 0, found 1.5"),
        ({"base_url": URL, "api_key": "sk-1"}, "options.api_key is unknown. Known: base_url,"),
    ],
)
def test_a_wrong_option_is_reported(options: dict[str, object], told: str):
    with pytest.raises(ModelError) as error:
        read_endpoint(entry(**options))
    assert told in str(error.value)


def test_the_name_at_the_server_is_needed():
    with pytest.raises(ModelError, match="has no path"):
        read_endpoint(ModelEntry("m", "openai", options={"base_url": URL}))


def test_what_an_entry_adds_to_its_requests_is_read():
    extras = read_endpoint(
        entry(
            base_url=URL,
            extra_body={"enable_thinking": False, "provider": {"order": ["a"]}},
            headers={"X-Project": "p"},
            query={"api-version": "2024-10-21"},
            key_header="api-key",
        )
    ).extras
    assert extras.body == {"enable_thinking": False, "provider": {"order": ["a"]}}
    assert (extras.headers, extras.query) == ({"X-Project": "p"}, {"api-version": "2024-10-21"})
    assert extras.key_header == "api-key"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"extra_body": "x"}, "options.extra_body must be a table"),
        ({"headers": {"X-A": 1}}, "options.headers"),
        ({"extra_body": {"temperature": 1}}, "must not have temperature"),
        ({"headers": {"Authorization": "Bearer sk"}}, "name of a secret"),
    ],
)
def test_what_may_not_be_added_is_refused(options: dict[str, object], told: str):
    with pytest.raises(ModelError, match=told):
        read_endpoint(entry(base_url=URL, **options))
