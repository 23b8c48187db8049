"""What servers do and say, and what is concluded; no network."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from evalui.errors import ModelError, Unreachable
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.models.endpoint.backend import EndpointStatus, restrict_to_api, usable_capabilities
from evalui.models.endpoint.config import Endpoint, read_endpoint
from evalui.models.endpoint.probe import (
    Capabilities,
    common_capabilities,
    probe,
)
from evalui.models.endpoint.protocol import Json, RejectedError, RetryableError
from evalui.models.endpoint.server import HttpServer
from evalui.types import Usage

Route = Callable[[Json], Json]


class Fake(HttpServer):
    """Answers by a function for each path; a path without one is not there."""

    def __init__(self, **routes: Route) -> None:
        super().__init__("http://toy/v1", key="", timeout_s=1.0, total_s=60)
        self.routes = routes

    def post(self, path: str, body: Json) -> Json:
        name = path.strip("/").replace("/", "_")
        if name not in self.routes:
            raise RejectedError("HTTP 404", status=404)
        return self.routes[name](body)

    def get(self, path: str) -> Json:
        return self.post(path, {})


def listing(*logprobs: float) -> Json:
    rows = [{"token": f" {at}", "logprob": each} for at, each in enumerate(logprobs)]
    return {"content": [rows[0] | {"top_logprobs": rows}]}


def chat(logprobs: Json | None = None, most: int = 20, field: str = "max_tokens") -> Route:
    def reply(body: Json) -> Json:
        if field not in body:
            raise RejectedError(f"use '{field}' instead", status=400)
        if body.get("top_logprobs", 0) > most:
            raise RejectedError("too many", status=400)
        choice = {"message": {"content": "A"}, "finish_reason": "length", "logprobs": logprobs}
        return {"model": "toy@main", "choices": [choice]}

    return reply


def faltering(**how: object) -> Route:
    def falter(_: Json) -> Json:
        raise RetryableError("not now", **how)  # type: ignore[arg-type]

    return falter


def test_chat_alone_can_only_write():
    found = probe(Fake(chat_completions=chat()), "toy")
    assert found.abilities == {"generate"}
    assert (found.chat, found.completions, found.reported_model) == (True, False, "toy@main")


def test_a_list_in_chat_gives_the_next_token():
    found = probe(Fake(chat_completions=chat(listing(-0.5, -1.5))), "toy")
    assert found.abilities == {"generate", "next_token"}
    assert found.chat_top == 20


@pytest.mark.parametrize(("most", "top"), [(20, 20), (19, 10), (5, 5), (1, 0)])
def test_the_longest_list_that_is_allowed_is_found(most: int, top: int):
    found = probe(Fake(chat_completions=chat(listing(-0.5, -1.5), most)), "toy")
    assert found.chat_top == top


@pytest.mark.parametrize(
    ("logprobs", "reason"),
    [
        (None, "it ignores logprobs and answers without them"),
        (listing(-0.5), "it lists only one token, whatever is asked"),
        (listing(0.0, -9999.0), "it lists tokens that the model rules out"),
        (listing(math.nan, -1.0), "its log-probabilities are not numbers"),
    ],
)
def test_a_list_that_states_nothing_is_none_and_the_reason_is_kept(
    logprobs: Json | None, reason: str
):
    routes = {"completions": chat(), "chat_completions": chat(logprobs)}
    routes["completions"] = lambda _: {"choices": [{"text": "A", "logprobs": logprobs}]}
    found = probe(Fake(**routes), "toy")
    assert "next_token" not in found.abilities
    assert found.missing_reasons["next_token"] == reason


def test_a_list_spoilt_by_another_request_is_requested_again():
    spoilt, sound = chat(listing(-0.5, -9999.0)), chat(listing(-0.5, -1.5))
    answers = iter([spoilt, spoilt])
    found = probe(Fake(chat_completions=lambda body: next(answers, sound)(body)), "toy")
    assert found.chat_top == 20


def test_the_word_for_the_longest_reply_is_found():
    found = probe(Fake(chat_completions=chat(field="max_completion_tokens")), "toy")
    assert found.limit_field == "max_completion_tokens"


@pytest.mark.parametrize(
    ("refused", "told", "kept"),
    [
        ("stop", "'stop' is not supported. Supported: temperature, top_p", {"temperature"}),
        ("temperature", "'temperature' is not supported", {"stop"}),
    ],
)
def test_only_the_field_that_is_refused_is_left_out(refused: str, told: str, kept: set[str]):
    def converse(body: Json) -> Json:
        if refused in body:
            raise RejectedError(told, status=400)
        return chat()(body)

    found = probe(Fake(chat_completions=converse), "toy")
    assert (found.refused_fields, found.is_nondeterministic) == (
        {refused},
        refused == "temperature",
    )
    assert not found.refused_fields & kept


def test_servers_of_one_model_are_queried_in_a_manner_that_all_of_them_take():
    new = Capabilities(
        chat=True, limit_field="max_completion_tokens", refused_fields=frozenset({"stop"})
    )
    for servers in (Capabilities(chat=True), new), (new, Capabilities(chat=True)):
        found = common_capabilities(servers)
        assert (found.limit_field, found.refused_fields) == ("max_completion_tokens", {"stop"})


def test_a_prompt_as_ids_that_is_taken_for_a_text_is_not_believed():
    """It answers, but has read another number of tokens than were sent."""

    def completions(_: Json) -> Json:
        rows = [None, *({str(token): {"logprob": -1.0}} for token in range(101, 112))]
        listed = {"top_logprobs": [{"token_id:100": -1.0, "token_id:103": -2.0}]}
        choice = {"text": "A", "prompt_logprobs": rows, "logprobs": listed}
        return {"choices": [choice], "usage": {"prompt_tokens": completions.read}}  # type: ignore[attr-defined]

    routes = {
        "completions": completions,
        "tokenize": lambda _: {"tokens": [1, 2], "count": 2},
        "detokenize": lambda _: {"prompt": "a b"},
    }
    completions.read = 31  # type: ignore[attr-defined]
    assert not probe(Fake(**routes), "toy").scores_token_ids
    completions.read = 12  # type: ignore[attr-defined]
    found = probe(Fake(**routes), "toy")
    assert found.scores_token_ids
    assert found.picks_token_ids
    assert found.abilities == {"next_token", "loglik", "generate"}


def test_a_server_that_lists_other_models_is_reported():
    listed = {"models": lambda _: {"data": [{"id": "other"}]}}
    with pytest.raises(ModelError, match=r"has no model 'toy'\. It has: other\."):
        probe(Fake(**listed), "toy")


def test_a_list_of_models_that_fails_states_nothing():
    found = probe(Fake(models=faltering(status=500), chat_completions=chat()), "toy")
    assert found.abilities == {"generate"}


def test_a_server_without_any_interface_is_reported():
    with pytest.raises(
        ModelError, match="answers neither chat nor completions nor decisions: HTTP 404"
    ):
        probe(Fake(), "toy")


@pytest.mark.parametrize("how", [{"blame": "server"}, {"status": 408}])
def test_what_may_pass_is_not_taken_for_a_missing_ability(how: dict[str, object]):
    routes = {"chat_completions": chat(), "completions": faltering(**how)}
    with pytest.raises(RetryableError):
        probe(Fake(**routes), "toy")


def test_a_crash_at_an_unknown_setting_is_a_missing_ability():
    routes = {"chat_completions": chat(), "completions": faltering(status=500)}
    assert probe(Fake(**routes), "toy").abilities == {"generate"}


LOCKED = "refuses the key"


def locked(_: Json) -> Json:
    raise ModelError(Sentence("http://toy/v1 refuses the key"))


def vllm(**more: Route) -> dict[str, Route]:
    """The routes of a server that can do everything."""

    def completions(_: Json) -> Json:
        rows = [None, *({str(token): {"logprob": -1.0}} for token in range(101, 112))]
        listed = {"top_logprobs": [{"token_id:100": -1.0, "token_id:103": -2.0}]}
        choice = {"text": "A", "prompt_logprobs": rows, "logprobs": listed}
        return {"choices": [choice], "usage": {"prompt_tokens": 12}}

    return {
        "chat_completions": chat(listing(-0.5, -1.5)),
        "completions": completions,
        "tokenize": lambda _: {"tokens": [1, 2], "count": 2},
        "detokenize": lambda _: {"prompt": "a b"},
        **more,
    }


@pytest.mark.parametrize(
    ("route", "abilities"),
    [
        ("models", {"next_token", "loglik", "generate"}),
        ("chat_completions", {"next_token", "loglik", "generate"}),
        ("tokenize", {"next_token", "generate"}),
        ("completions", {"next_token", "generate"}),
    ],
)
def test_a_key_refused_at_one_route_rules_out_no_other(route: str, abilities: set[str]):
    assert probe(Fake(**vllm(**{route: locked})), "toy").abilities == abilities


def test_a_key_refused_wherever_replies_come_from_is_reported():
    with pytest.raises(ModelError, match=LOCKED):
        probe(Fake(**vllm(chat_completions=locked, completions=locked)), "toy")
    with pytest.raises(ModelError, match=LOCKED):
        probe(Fake(chat_completions=locked), "toy")


@pytest.mark.parametrize("how", [{"status": 503, "blame": "server"}, {"status": 408}])
def test_a_gateway_that_fails_beside_the_interface_is_no_outage(how: dict[str, object]):
    found = probe(Fake(**vllm(tokenize=faltering(**how))), "toy")
    assert not found.has_tokenizer_routes
    assert found.abilities == {"next_token", "generate"}


def test_a_gateway_that_fails_once_beside_the_interface_is_requested_again():
    answers: list[Route] = [faltering(status=503, blame="server"), vllm()["tokenize"]]
    routes = vllm(tokenize=lambda body: answers.pop(0)(body))
    assert probe(Fake(**routes), "toy").has_tokenizer_routes


def test_a_connection_that_breaks_once_is_no_outage():
    answers, sound = iter([faltering(blame="server")]), chat(listing(-0.5, -1.5))
    found = probe(Fake(chat_completions=lambda body: next(answers, sound)(body)), "toy")
    assert found.chat_top == 20


class Limited(Fake):
    """Takes five requests in a minute; its clock goes on by sleeping only."""

    def __init__(self, told: float, **routes: Route) -> None:
        super().__init__(**routes)
        self.told = told
        self.now = 0.0
        self.sent: list[float] = []
        self.one = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self.one:
            self.now += seconds

    def post(self, path: str, body: Json) -> Json:
        with self.one:
            if sum(self.now - each < 60 for each in self.sent) >= 5:
                raise RetryableError(
                    "slow down", blame="server", status=429, retry_after_s=self.told
                )
            self.sent.append(self.now)
        return super().post(path, body)


@pytest.mark.parametrize("told", [20.0, 0.0])
def test_a_server_that_wants_fewer_questions_is_waited_for(told: float):
    server = Limited(told, **vllm())
    assert probe(server, "toy", server.sleep).scores_token_ids
    assert len(server.sent) > 5


def test_a_server_that_has_had_enough_for_hours_is_not_waited_for():
    server = Limited(3600.0, **vllm())
    with pytest.raises(RetryableError):
        probe(server, "toy", server.sleep)
    assert server.now == 0


def test_what_several_servers_can_do_is_what_each_can():
    one = Capabilities(chat=True, chat_top=20, echo=True, max_length=100, reported_model="x")
    two = Capabilities(
        chat=True,
        chat_top=5,
        max_length=50,
        reported_model="x",
        missing_reasons={"loglik": "it does not"},
    )
    both = common_capabilities([one, two])
    assert (both.chat_top, both.echo, both.max_length, both.reported_model) == (5, False, 50, "x")
    assert both.missing_reasons == {"loglik": "it does not"}
    assert common_capabilities([one]) == one


def test_a_tokenizer_here_serves_as_one_there():
    found = Capabilities(accepts_token_ids=True, prompt_logprobs=True, completions=True)
    assert "loglik" not in found.abilities
    assert "loglik" in restrict_to_api(found, "auto", tokenizer=True).abilities
    assert "loglik" not in restrict_to_api(found, "chat", tokenizer=True).abilities


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def endpoint(*urls: str) -> Endpoint:
    return read_endpoint(ModelEntry("m", "openai", path="toy", options={"base_urls": list(urls)}))


class Prober:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.down: set[str] = set()

    def __call__(self, server: HttpServer, model: str) -> Capabilities:
        del model
        self.asked.append(server.url)
        if server.url in self.down:
            raise RetryableError(f"{server.url} is down", blame="server")
        return Capabilities(chat=True)


def wait(survey: EndpointStatus) -> None:
    """For what goes on in the background."""
    while any(note.is_probing for note in survey._records.values()):
        time.sleep(0.001)


def test_a_success_is_remembered_for_ten_minutes_and_a_failure_for_thirty_seconds():
    clock, prober, both = Clock(), Prober(), endpoint("http://a/v1", "http://b/v1")
    prober.down.add("http://b/v1")
    survey = EndpointStatus(prober, clock)
    seen = survey.get(both)
    assert (list(seen.available), seen.unavailable) == (
        ["http://a/v1"],
        {"http://b/v1": "http://b/v1 is down"},
    )
    clock.now = 29.0
    survey.get(both)
    assert sorted(prober.asked) == ["http://a/v1", "http://b/v1"]
    prober.down.clear()
    clock.now = 31.0
    survey.get(both)
    wait(survey)
    assert prober.asked.count("http://b/v1") == 2
    assert list(survey.get(both).available) == ["http://a/v1", "http://b/v1"]
    clock.now = 601.0
    survey.get(both)
    wait(survey)
    assert prober.asked.count("http://a/v1") == 2


def test_opening_a_model_uses_only_a_new_probe():
    prober, one = Prober(), endpoint("http://a/v1")
    prober.down.add("http://a/v1")
    survey = EndpointStatus(prober, Clock())
    with pytest.raises(Unreachable, match="http://a/v1 is down"):
        usable_capabilities(one, survey.get(one))
    prober.down.clear()
    assert usable_capabilities(one, survey.refresh(one, wait_s=60.0)).chat
    prober.down.add("http://a/v1")
    assert usable_capabilities(one, survey.get(one)).chat
    with pytest.raises(Unreachable, match="http://a/v1 is down"):
        usable_capabilities(one, survey.refresh(one, wait_s=60.0))


def test_a_probe_that_outlasts_an_opening_serves_the_next_one_and_no_other():
    clock, asked, answering = Clock(), [], threading.Event()

    def prober(server: HttpServer, model: str) -> Capabilities:
        del model
        asked.append(server.url)
        answering.wait()
        return Capabilities(chat=True)

    survey, one = EndpointStatus(prober, clock), endpoint("http://a/v1")
    with pytest.raises(Unreachable, match="has not answered yet"):
        usable_capabilities(one, survey.refresh(one, wait_s=0.01))
    answering.set()
    wait(survey)
    clock.now = 60.0
    assert usable_capabilities(one, survey.refresh(one, wait_s=60.0)).chat
    assert len(asked) == 1
    survey.refresh(one, wait_s=60.0)
    assert len(asked) == 2


def test_what_two_openings_request_together_is_paid_for_once():
    begun, answering = threading.Event(), threading.Event()

    def prober(server: HttpServer, model: str) -> Capabilities:
        del model
        begun.set()
        answering.wait()
        server.usage = Usage(30, 4)
        return Capabilities(chat=True)

    looks: list[int] = []

    def clock() -> float:
        looks.append(1)
        return 0.0

    survey, one, spent = EndpointStatus(prober, clock), endpoint("http://a/v1"), list[Usage]()
    both = [
        threading.Thread(
            target=lambda: spent.append(survey.refresh(one, wait_s=60.0).probe_usage), daemon=True
        )
        for _ in range(2)
    ]
    for each in both:
        each.start()
    begun.wait()
    while len(looks) < 4:  # two of each before it waits
        time.sleep(0.001)
    answering.set()
    for each in both:
        each.join()
    assert sorted(usage.prompt_tokens for usage in spent) == [0, 30]
    assert sorted(usage.completion_tokens for usage in spent) == [0, 4]


def test_a_probe_without_a_caller_is_made_anew():
    clock, prober, one = Clock(), Prober(), endpoint("http://a/v1")
    survey = EndpointStatus(prober, clock)
    survey.refresh(one, wait_s=-1.0)
    wait(survey)
    clock.now = 300.0
    survey.refresh(one, wait_s=60.0)
    assert len(prober.asked) == 2


def test_how_long_busy_servers_want_to_be_left_alone_is_passed_on():
    def prober(server: HttpServer, model: str) -> Capabilities:
        del model
        wanted = {"http://a/v1": 300.0, "http://b/v1": 90.0}[server.url]
        raise RetryableError("slow down", blame="server", status=429, retry_after_s=wanted)

    clock, both = Clock(), endpoint("http://a/v1", "http://b/v1")
    survey = EndpointStatus(prober, clock)
    survey.get(both)
    clock.now = 20.0
    with pytest.raises(Unreachable, match="slow down") as error:
        usable_capabilities(both, survey.get(both))
    assert error.value.retry_after_s == 70.0


def test_a_page_does_not_wait_long_for_a_server_that_was_never_seen():
    answering = threading.Event()

    def prober(server: HttpServer, model: str) -> Capabilities:
        del server, model
        answering.wait()
        return Capabilities(chat=True)

    clock, one = Clock(), endpoint("http://a/v1")
    survey = EndpointStatus(prober, clock)
    seen = survey.get(one, wait_s=0.01)
    clock.now = 60.0
    survey.get(one, wait_s=50.0)  # it has been waited for long enough
    assert (seen.available, seen.unavailable, seen.misconfigured) == ({}, {}, {})
    with pytest.raises(Unreachable, match="has not answered yet"):
        usable_capabilities(one, seen)
    answering.set()
    assert list(survey.get(one, wait_s=70.0).available) == ["http://a/v1"]


def thinking(message: Json, tops: Json | None, whole: Json | None = None) -> Route:
    def reply(body: Json) -> Json:
        cut = body["max_tokens"] == 1 or whole is None
        choice = {"message": message if cut else whole, "finish_reason": "length"}
        if body.get("logprobs"):
            choice["logprobs"] = tops
        return {"model": "toy", "choices": [choice]}

    return reply


def writing(content: str | None, reason: str = "stop", **message: str) -> Route:
    """Chat that replies this to a request with a schema."""

    def reply(body: Json) -> Json:
        if "response_format" not in body:
            return chat()(body)
        said = {"content": content, **message}
        return {"choices": [{"message": said, "finish_reason": reason}]}

    return reply


def letters(first: str, logprob: float = -0.1) -> Json:
    rows = [{"token": first, "logprob": logprob}, {"token": "A", "logprob": -4.0}]
    return {"content": [rows[0] | {"top_logprobs": rows}]}


@pytest.mark.parametrize(
    ("message", "whole"),
    [
        ({"content": None, "reasoning_content": "Okay"}, None),
        ({"content": None, "reasoning": "Okay"}, None),
        ({"content": "<think>"}, None),
        ({"content": [{"type": "thinking", "thinking": "Okay"}]}, None),
        ({"content": ""}, {"content": ""}),  # thoughts that are hidden
        ({"content": "Okay"}, {"content": "Okay, B.</think>B"}),  # opened by the template
    ],
)
def test_a_model_that_thinks_first_has_no_letters(message: Json, whole: Json | None):
    found = probe(Fake(chat_completions=thinking(message, letters("Okay"), whole)), "toy")
    assert found.abilities - {"schema"} == {"generate"}
    assert found.thinks
    assert found.opens_thoughts == (whole is not None and "</think>" in whole["content"])
    assert "extra_body" in found.missing_reasons["next_token"]


@pytest.mark.parametrize(
    ("message", "tops", "whole"),
    [
        ({"content": None, "reasoning_content": "B"}, letters("B"), None),  # the wrong field
        ({"content": ""}, letters("\n"), {"content": "\nB"}),
        ({"content": "Sure"}, letters("Sure"), {"content": "Sure: B"}),
        ({"content": "B"}, letters("B"), None),
    ],
)
def test_a_model_that_does_not_think_keeps_its_letters(
    message: Json, tops: Json, whole: Json | None
):
    found = probe(Fake(chat_completions=thinking(message, tops, whole)), "toy")
    assert (found.thinks, found.chat_top) == (False, 20)


def test_letters_of_a_model_that_thinks_are_left_to_plain_prompts():
    routes = {"chat_completions": thinking({"content": "<think>"}, letters("<think>"))}
    plain = {"choices": [{"text": "A", "logprobs": letters("A")}]}
    found = probe(Fake(completions=lambda _: plain, **routes), "toy")
    assert "next_token" in found.abilities
    assert "a thought and no letter" in found.plain_only["next_token"]
    chat_alone = restrict_to_api(found, "chat", tokenizer=False)
    assert "a thought and no letter" in chat_alone.missing_reasons["next_token"]


def test_a_thought_may_begin_with_a_word_of_one_letter():
    message, tops = {"content": "I"}, letters("I")
    whole = {"content": "I choose B.</think>B"}
    found = probe(Fake(chat_completions=thinking(message, tops, whole)), "toy")
    assert (found.thinks, found.opens_thoughts, found.chat_top) == (True, True, 0)
    found = probe(Fake(chat_completions=thinking(message, tops, message)), "toy")
    assert (found.thinks, found.chat_top) == (False, 20)


def test_options_are_not_scored_within_a_thought_that_a_template_opens():
    able = Capabilities(chat=True, accepts_token_ids=True, prompt_logprobs=True)
    able = replace(able, has_tokenizer_routes=True, thinks=True, opens_thoughts=True)
    assert "opens a thought" in able.plain_only["loglik"]
    assert "loglik" not in replace(able, opens_thoughts=False).plain_only


def test_options_that_completions_alone_score_are_left_to_plain_prompts():
    able = Capabilities(chat=True, completions=True, echo=True)
    assert "--no-chat" in able.plain_only["loglik"]
    assert replace(able, chat_prompt_logprobs=True).plain_only == {}
    assert restrict_to_api(able, "completions", tokenizer=True).plain_only == {}


@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_fault_or_two_during_the_probe_are_no_fact_about_the_server(status: int):
    faults = iter([status, status])

    def hiccup(body: Json) -> Json:
        if code := next(faults, 0):
            raise RetryableError("hiccup", blame="server", status=code)
        return chat(listing(-0.5, -1.5))(body)

    found = probe(Fake(chat_completions=hiccup), "toy", sleep=lambda _: None)
    assert found.chat_top == 20


def test_a_list_that_some_of_a_routers_providers_send_is_found():
    answers, sound = iter([chat(), chat()]), chat(listing(-0.5, -1.5))
    found = probe(Fake(chat_completions=lambda body: next(answers, sound)(body)), "toy")
    assert found.chat_top == 20


def test_the_reason_of_chat_is_told_before_that_of_completions():
    def refused(_: Json) -> Json:
        raise RejectedError("enable_thinking must be set to false", status=400)

    with pytest.raises(ModelError, match="enable_thinking must be set to false"):
        probe(Fake(chat_completions=refused), "toy")


def test_the_responses_api_serves_a_model_that_has_nothing_else():
    def reply(body: Json) -> Json:
        if "temperature" in body:
            raise RejectedError("'temperature' is not supported", status=400)
        return {"model": "toy", "status": "completed", "output": []}

    found = probe(Fake(responses=reply), "toy")
    assert (found.responses, found.abilities) == (True, {"generate"})
    assert "temperature" in found.refused_fields
    assert "Responses API only" in found.missing_reasons["next_token"]


class Elsewhere(Fake):
    """A server whose interface is at one address alone."""

    def __init__(self, url: str, right: str) -> None:
        super().__init__(**({"chat_completions": chat()} if url == right else {}))
        self.url, self.right = url, right

    def at(self, url: str) -> "Elsewhere":
        return Elsewhere(url, self.right)


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("http://toy", "http://toy/v1"),
        ("http://toy/api", "http://toy/api/v1"),
        ("http://toy/v1/chat/completions", "http://toy/v1"),
        ("http://toy/completions", "http://toy/v1"),
        ("http://toy/api/completions", "http://toy/api"),
    ],
)
def test_another_address_that_answers_is_offered(url: str, right: str):
    with pytest.raises(ModelError, match=f"but {right} does"):
        probe(Elsewhere(url, right), "toy")


def test_without_such_an_address_none_is_offered():
    with pytest.raises(ModelError, match=r"HTTP 404\.$"):
        probe(Elsewhere("http://toy/v1", ""), "toy")
    with pytest.raises(ModelError, match="A base URL mostly ends in /v1"):
        probe(Elsewhere("http://toy/openai", ""), "toy")


@pytest.mark.parametrize(
    ("route", "known"),
    [
        (writing('{"letter": "Q"}'), True),
        (writing('\n{\n  "letter"', "length"), True),
        (writing(None, "length", reasoning_content="Let me see"), True),
        (writing("Q is a letter."), False),
        (writing("", "length"), False),
        (writing(None), False),
    ],
)
def test_who_writes_json_where_it_was_not_asked_for_knows_schemas(route: Route, known: bool):
    found = probe(Fake(chat_completions=route), "toy")
    assert ("schema" in found.abilities) == known


@pytest.mark.parametrize(
    "error", [RejectedError("no response_format", status=400), RetryableError("slow", status=408)]
)
def test_a_server_that_turns_a_schema_down_is_of_use_without(error: Exception):
    def reply(body: Json) -> Json:
        if "response_format" in body:
            raise error
        return chat()(body)

    found = probe(Fake(chat_completions=reply), "toy", sleep=lambda _: None)
    assert found.abilities == {"generate"}


def test_only_what_all_servers_know_of_schemas_counts_and_only_in_chat():
    able, plain = Capabilities(chat=True, json_schema=True), Capabilities(chat=True)
    assert common_capabilities([able, able]).json_schema
    assert not common_capabilities([able, plain]).json_schema
    both = Capabilities(chat=True, completions=True, json_schema=True)
    assert not restrict_to_api(both, "completions", tokenizer=False).json_schema
