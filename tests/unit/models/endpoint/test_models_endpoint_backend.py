"""The whole backend against a server of our own that does, or does not, what it should."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from endpoint_server_examples import (
    DECISIONS_UNTRIED,
    MODEL,
    THINKING,
    Behaviour,
    Json,
    Reply,
    ToyServer,
    logprob,
    refusal,
)

from evalui.errors import MissingAbility, ModelError, RequestRejected, Unreachable
from evalui.models import Model, ModelEntry
from evalui.models.base import addresses_of, sampling_seed
from evalui.models.endpoint.backend import EndpointModel, OpenAIBackend
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.driver import RetryPolicy
from evalui.models.endpoint.probe import Capabilities
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Request,
    Usage,
)

QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.05)
HEALTHY = Capabilities(
    chat=True,
    completions=True,
    chat_top=20,
    completion_top=20,
    echo=True,
    root="/models/toy",
    reported_model=MODEL,
)
ABCD = ("A", "B", "C", "D")
ASK = (Message("user", "Which one?"),)


OPEN: list[EndpointModel] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close()


@pytest.fixture
def server() -> Iterator[ToyServer]:
    with ToyServer() as server:
        yield server
        close()


def close() -> None:
    while OPEN:
        OPEN.pop().close()


def entry(*servers: ToyServer, **options: object) -> ModelEntry:
    urls = [server.url for server in servers]
    return ModelEntry("toy model", "openai", path=MODEL, options={"base_urls": urls, **options})


def opened(*servers: ToyServer, **options: object) -> EndpointModel:
    """A model whose servers are known to be well, so none is probed."""
    endpoint = read_endpoint(entry(*servers, **options))
    OPEN.append(EndpointModel("toy model", endpoint, HEALTHY, QUICK))
    return OPEN[-1]


def probed(*servers: ToyServer, **options: object) -> EndpointModel:
    model = OpenAIBackend(retry_policy=QUICK).open(entry(*servers, **options))
    assert isinstance(model, EndpointModel)
    OPEN.append(model)
    return model


def answers(model: Model, *requests: Request) -> list[object]:
    found = dict(model.answer(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[key] for key in sorted(found)]


def test_all_three_kinds_are_answered(server: ToyServer):
    letters, score, text, reply = answers(
        probed(server),
        NextToken("Which one? Answer:", ABCD),
        Loglik("The sky is", " blue today"),
        Generate("Once upon", 5),
        Generate(ASK, 5),
    )
    assert isinstance(letters, LabelProbs)
    assert [math.exp(each) for each in letters.logprobs[1:]] == pytest.approx([0.6, 0.05, 0.04])
    assert letters.top_token == " B"
    assert isinstance(score, Logprob)
    assert score.total == pytest.approx(logprob(" blue") + logprob(" today"))
    assert (score.n_tokens, score.merged) == (2, False)
    assert isinstance(text, GeneratedText)
    assert (text.text, text.finish_reason) == (" nce upon", "length")
    assert isinstance(reply, GeneratedText)
    assert (reply.text, reply.finish_reason) == ("You said: Which one?", "stop")


def test_a_plain_prompt_is_sent_as_it_must_end_for_a_label_to_follow(server: ToyServer):
    answers(opened(server), NextToken("Which? Answer: ", ABCD), Loglik("The sky is ", "blue"))
    assert {body["prompt"] for body in server.posts()} == {"Which? Answer:", "The sky is blue"}


def test_the_abilities_are_those_the_server_really_has():
    backend = OpenAIBackend()
    with ToyServer(Behaviour(logprobs=False, echo=False)) as server:
        assert backend.abilities(entry(server)) == {"generate"}
        assert backend.missing_reasons(entry(server)) == {
            "next_token": "it ignores logprobs and answers without them; ask for replies instead",
            "loglik": "it ignores echo and answers without the prompt; ask for replies instead",
            "decide": DECISIONS_UNTRIED,
        }
        assert backend.problem(entry(server)) == ""


def test_a_mode_beyond_the_abilities_is_reported_with_the_reason():
    with (
        ToyServer(Behaviour(logprobs=False, echo=False)) as server,
        pytest.raises(MissingAbility, match="it ignores logprobs and answers without them"),
    ):
        answers(probed(server), NextToken("Which?", ABCD))


def test_an_unknown_model_is_reported_with_those_that_are_known(server: ToyServer):
    wrong = replace(entry(server), path="nobody")
    problem = OpenAIBackend().problem(wrong)
    assert problem == f"{server.url} has no model 'nobody'. It has: toy."


def test_a_server_that_is_gone_is_reported_and_can_be_waited_for(server: ToyServer):
    server.stop()
    backend = OpenAIBackend(retry_policy=QUICK)
    assert "cannot be reached" in backend.problem(entry(server))
    assert backend.abilities(entry(server)) == frozenset()
    with pytest.raises(Unreachable, match="cannot be reached"):
        backend.open(entry(server))


def test_a_key_comes_from_the_environment_and_is_never_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOY_KEY", "sk-secret")
    with ToyServer(Behaviour(key="sk-secret")) as server:
        model = probed(server, api_key_env="TOY_KEY")
        answers(model, Generate("Hello", 3))
        monkeypatch.setenv("TOY_KEY", "sk-other")
        problem = OpenAIBackend().problem(entry(server, api_key_env="TOY_KEY"))
    assert "refuses the key (HTTP 401)" in problem
    assert "***" in problem
    assert "sk-" not in problem


def test_no_key_of_the_environment_is_sent_unless_it_is_named(
    monkeypatch: pytest.MonkeyPatch, server: ToyServer
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-private")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS",
        "authorization: Bearer sk-private\nAUTHORIZATION: private\nX-Mine : private\nno header",
    )
    answers(probed(server), Generate("Hello", 3))
    assert "private" not in repr(server.asked)
    assert {headers["authorization"] for _, _, headers in server.asked} == {"Bearer none"}
    monkeypatch.setenv("TOY_KEY", "sk-named")
    answers(probed(server, api_key_env="TOY_KEY"), Generate("Hello", 3))
    assert server.asked[-1][2]["authorization"] == "Bearer sk-named"
    assert "private" not in repr(server.asked)


def test_no_beginning_of_a_key_is_reported(monkeypatch: pytest.MonkeyPatch, server: ToyServer):
    monkeypatch.setenv("TOY_KEY", "sk-0123456789abcdef")
    server.always = Reply(401, {"error": {"message": f"{'x' * 288} sk-0123456789abcdef"}})
    problem = OpenAIBackend().problem(entry(server, api_key_env="TOY_KEY"))
    assert problem.endswith("x ***")


def test_a_key_that_is_missing_is_a_problem(server: ToyServer):
    problem = OpenAIBackend().problem(entry(server, api_key_env="NO_SUCH_KEY"))
    assert problem.startswith("The environment variable NO_SUCH_KEY")


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, {"error": "slow down"}, {"retry-after": "0"}),
        Reply(500, {"error": "oops"}),
        Reply(503, "<html>busy</html>"),
        Reply(200, "<html>welcome</html>"),
        Reply(200, {"choices": []}),
        Reply(200, {"choices": None}),
        Reply(200, {"error": {"message": "Rate limit exceeded", "code": 429}}),
        Reply(200, {"error": "oops", "choices": []}),
        Reply(200, {"choices": [{"text": "half of", "finish_reason": "error"}]}),
        Reply(200, {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
        Reply(200, {"choices": [{"text": "half a", "finish_reason": None}]}),
        Reply(200, {"choices": [{"index": 1, "text": "other", "finish_reason": "stop"}]}),
        Reply(200, {"choices": [{"text": "x" * 99, "finish_reason": "stop"}]}, cut=True),
        Reply(200, {"model": "cheaper", "choices": [{"text": "x", "finish_reason": "stop"}]}),
    ],
    ids=lambda fault: f"{fault.status} {str(fault.body)[:40]}",
)
def test_a_fault_that_passes_is_never_an_answer(server: ToyServer, fault: Reply):
    model = opened(server, concurrency=1)
    server.script.extend([fault] * 3)
    assert answers(model, Generate("Once upon", 5)) == answers(model, Generate("Once upon", 5))
    assert not server.script


def test_an_answer_that_comes_too_late_is_requested_again(server: ToyServer):
    model, late = opened(server, timeout_s=1.0), threading.Event()

    def hangs() -> Iterator[bytes]:
        assert late.wait(60)
        yield b"{}"

    server.script.append(Reply(200, stream=hangs))
    (text,) = answers(model, Generate("Once upon", 5))
    late.set()
    assert isinstance(text, GeneratedText)
    assert len(server.posts()) >= 2


def test_a_request_that_is_turned_down_spoils_no_other(server: ToyServer):
    model = opened(server, concurrency=1)
    server.script.append(Reply(400, {"error": {"message": "the prompt is too long"}}))
    found: dict[int, object] = {}
    with pytest.raises(RequestRejected, match="too long") as told:
        found.update((key, each) for key, each in model.answer([Generate("a", 3)] * 3))
    assert "to 1 requests" in str(told.value)


def test_half_a_character_is_turned_down_and_not_held_against_the_server(server: ToyServer):
    model = opened(server, retries=0)
    with pytest.raises(RequestRejected, match="characters that cannot be sent"):
        list(model.answer([Generate(f"a\ud800{n}", 5) for n in range(6)]))
    assert not server.posts()
    assert answers(model, Generate("a", 5))


def test_a_limit_reported_with_http_200_can_be_waited_for(server: ToyServer):
    model = opened(server)
    server.always = Reply(200, {"error": {"message": "Rate limit exceeded", "code": 429}})
    with pytest.raises(Unreachable, match="HTTP 429: Rate limit exceeded"):
        list(model.answer([Generate("Hello", 3)]))


def test_an_error_with_http_200_is_what_its_code_states(server: ToyServer):
    model = opened(server)
    server.always = Reply(200, {"error": {"message": "too much", "code": 400}})
    with pytest.raises(RequestRejected, match="HTTP 400: too much"):
        list(model.answer([Generate("Hello", 3)]))
    assert len(server.posts()) == 1


def test_what_was_answered_is_given_before_a_refusal_is_reported(server: ToyServer):
    model = opened(server, concurrency=1)
    server.script.append(Reply(422, {"detail": "no"}))
    found: list[int] = []
    with pytest.raises(RequestRejected):
        found.extend(key for key, _ in model.answer([Generate("a", 3)] * 3))
    assert found == [1, 2]


def test_a_filtered_reply_is_no_answer():
    def filtered(answer: Json) -> Json:
        answer["choices"][0]["finish_reason"] = "content_filter"
        return answer

    with ToyServer() as server:
        model = opened(server)
        server.behaviour = Behaviour(alter=filtered)
        with pytest.raises(RequestRejected, match="content filter"):
            answers(model, Generate(ASK, 5))


def test_a_reply_that_is_never_usable_is_refused_in_the_end(server: ToyServer):
    model = opened(server, retries=1)
    server.always = Reply(200, {"choices": []})
    with pytest.raises(RequestRejected, match="without a choice"):
        answers(model, Generate(ASK, 5))
    assert len(server.posts("chat/completions")) > 1


def test_thoughts_are_no_part_of_the_reply(server: ToyServer):
    model = opened(server)
    server.behaviour = Behaviour(alter=replying("stop", "B", reasoning_content="I see: A"))
    (text,) = answers(model, Generate(ASK, 5))
    assert isinstance(text, GeneratedText)
    assert (text.text, text.thoughts, text.finish_reason) == ("B", "I see: A", "stop")


def replying(reason: str, content: str | None, **more: str) -> Callable[[Json], Json]:
    message = {"role": "assistant", "content": content, **more}

    def alter(answer: Json) -> Json:
        answer["choices"][0] |= {"message": message, "finish_reason": reason}
        return answer

    return alter


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (None, {"reasoning_content": "Let me see: A"}),
        ("\n\n", {"reasoning": "Let me see: A"}),
        ("", {}),  # thoughts that nobody is shown
    ],
)
def test_a_reply_whose_tokens_all_went_into_thoughts_is_no_answer(
    server: ToyServer, content: str | None, more: dict[str, str]
):
    model = opened(server)
    server.behaviour = Behaviour(alter=replying("length", content, **more))
    with pytest.raises(RequestRejected, match=r"before the reply began; raise the longest reply"):
        answers(model, Generate(ASK, 5))
    assert len(server.posts("chat/completions")) == 1, "the same again would be paid for again"


def test_blanks_that_were_cut_off_are_what_the_model_wrote(server: ToyServer):
    model = opened(server)
    server.behaviour = Behaviour(alter=replying("length", "\n\n"))
    (text,) = answers(model, Generate(ASK, 5))
    assert isinstance(text, GeneratedText)
    assert (text.text, text.finish_reason) == ("\n\n", "length")


def test_a_model_that_thinks_is_requested_in_the_manner_it_takes():
    with ToyServer(Behaviour(completions=False, refused=THINKING)) as server:
        model = probed(server)
        assert model.abilities == {"generate"}
        (text,) = answers(model, Generate(ASK, 50, stop=("said",)))
        assert isinstance(text, GeneratedText)
        assert (text.text, text.finish_reason) == ("You ", "stop")
        body = server.posts("chat/completions")[-1]
        assert set(body) == {"model", "messages", "max_completion_tokens"}
        assert body["max_completion_tokens"] == 50
        told = (
            "two for each refusal, two more, a whole reply, turns, a schema, a square, the request"
        )
        assert len(server.posts("chat/completions")) == 13, told
        assert ["sets the temperature itself" in note for note in model.notes] == [True]


def test_why_a_model_that_thinks_gives_no_probabilities_is_reported():
    with ToyServer(Behaviour(completions=False, refused=THINKING)) as server:
        lacks = OpenAIBackend().missing_reasons(entry(server))
    assert lacks["next_token"].startswith("it does not let this key ask for logprobs; ask for")


def test_one_token_that_is_too_few_to_think_is_no_failure_of_chat():
    told = "Could not finish the message because max_tokens or model output limit was reached."
    with ToyServer(Behaviour(completions=False, refused={"max_tokens": refusal(told)})) as server:
        assert OpenAIBackend().abilities(entry(server)) == {"generate"}


def test_replies_drawn_at_another_temperature_are_kept_apart(server: ToyServer):
    usual = probed(server, api="chat")
    server.behaviour = Behaviour(refused={"temperature": THINKING["temperature"]})
    drawing = probed(server, api="chat")
    assert (usual.notes, len(drawing.notes)) == ((), 1)
    assert usual.fingerprint != drawing.fingerprint
    assert probed(server, api="completions").notes == ()


def test_a_temperature_that_is_only_refused_with_a_list_is_still_sent():
    told = "logprobs are given at temperature 1 only"
    with ToyServer(Behaviour(completions=False, refused={"logprobs": refusal(told)})) as server:
        model = probed(server)
        answers(model, Generate(ASK, 5))
        assert model.notes == ()
        assert server.posts("chat/completions")[-1]["temperature"] == 0


def test_the_cost_of_probing_is_reported_with_the_first_answers(server: ToyServer):
    told: list[Json] = []
    server.behaviour = Behaviour(alter=lambda each: told.append(each.get("usage", {})) or each)
    model = probed(server)
    assert model.usage() == Usage(0, 0)
    assert sum(usage.get("completion_tokens", 0) for usage in told) > 0
    answers(model, Generate("one two", 3))
    assert model.usage() == Usage(
        sum(usage.get("prompt_tokens", 0) for usage in told),
        sum(usage.get("completion_tokens", 0) for usage in told),
    )


def test_what_a_page_has_found_out_is_not_charged_to_a_run(server: ToyServer):
    backend = OpenAIBackend(retry_policy=QUICK)
    spent: list[Usage] = []
    for looks in range(2):
        for _ in range(looks):
            backend.abilities(entry(server))
        model = backend.open(entry(server))
        assert isinstance(model, EndpointModel)
        OPEN.append(model)
        answers(model, Generate("one two", 3))
        spent.append(model.usage())
    assert spent[0] == spent[1]


def test_a_text_ends_before_the_stop_whether_the_server_obeys_or_not(server: ToyServer):
    stops = ("q", "w", "x", "y", "said")
    (text,) = answers(opened(server), Generate(ASK, 5, stop=stops))
    assert isinstance(text, GeneratedText)
    assert (text.text, text.finish_reason) == ("You ", "stop")
    assert server.posts("chat/completions")[-1]["stop"] == list(stops[:4])


@pytest.mark.parametrize("bad", [math.nan, 0.5, None, "high"])
def test_numbers_that_are_no_log_probabilities_spoil_the_answer(server: ToyServer, bad: object):
    model = opened(server, retries=0)

    def spoilt(answer: Json) -> Json:
        answer["choices"][0]["logprobs"]["top_logprobs"] = [{" A": bad, " B": -1.0}]
        return answer

    server.behaviour = Behaviour(alter=spoilt)
    with pytest.raises(RequestRejected, match="log-probabilities are not numbers"):
        answers(model, NextToken("Which?", ABCD))


def test_a_list_of_one_token_decides_only_what_it_can(server: ToyServer):
    model = opened(server)

    def short(answer: Json) -> Json:
        answer["choices"][0]["logprobs"]["top_logprobs"] = [{" A": math.log(0.6)}]
        return answer

    server.behaviour = Behaviour(alter=short)
    (letters,) = answers(model, NextToken("Which?", ABCD))
    assert isinstance(letters, LabelProbs)
    assert [math.exp(each) for each in letters.logprobs] == pytest.approx([0.6, 0.4, 0.4, 0.4])
    assert letters.mass == pytest.approx(0.6)


def test_a_short_list_of_completions_may_have_lost_tokens_and_one_of_chat_not(server: ToyServer):
    def short(answer: Json) -> Json:
        logprobs = answer["choices"][0]["logprobs"]
        tops = {" A": 0.36, "A": 0.01, " B": 0.38, "B": 0.01}
        if "content" in logprobs:
            listed = [{"token": token, "logprob": math.log(p)} for token, p in tops.items()]
            logprobs["content"][0]["top_logprobs"] = listed
        else:
            logprobs["top_logprobs"] = [{token: math.log(p) for token, p in tops.items()}]
        return answer

    model = opened(server)
    server.behaviour = Behaviour(alter=short)
    texts, chat = answers(model, NextToken("Which?", ("A", "B")), NextToken(ASK, ("A", "B")))
    assert isinstance(texts, LabelProbs)
    assert texts.logprobs[0] == texts.logprobs[1]
    assert isinstance(chat, LabelProbs)
    assert chat.logprobs[0] < chat.logprobs[1]


def test_a_plain_prompt_is_a_users_words_where_there_is_only_chat():
    with ToyServer(Behaviour(completions=False)) as server:
        model = probed(server)
        assert model.abilities == {"next_token", "generate"}
        (text, _) = answers(model, Generate("Hello", 5), NextToken("Which?", ABCD))
        assert text == GeneratedText("You said: Hello", text.usage, "stop")  # type: ignore[attr-defined]


def test_the_largest_list_that_the_server_allows_is_requested():
    with ToyServer(Behaviour(most=5)) as server:
        answers(probed(server, api="chat"), NextToken(ASK, ABCD))
        assert server.posts("chat/completions")[-1]["top_logprobs"] == 5


def test_the_catalog_may_allow_one_interface_only(server: ToyServer):
    assert probed(server, api="chat").abilities == {"next_token", "generate"}
    assert probed(server, api="completions").abilities == {"next_token", "loglik", "generate"}


def test_two_servers_share_the_work_and_one_may_be_dead(server: ToyServer):
    with ToyServer() as dead:
        model = opened(server, dead)
        dead.stop()
        found = dict(model.answer([Generate(f"Say {n}", 3) for n in range(40)]))
        assert sorted(found) == list(range(40))
    assert len(server.posts()) == 40


def test_a_server_that_is_killed_at_work_loses_nothing_and_doubles_nothing(server: ToyServer):
    with ToyServer() as second, ToyServer() as third:
        model = opened(server, second, third, concurrency=2)
        found: list[tuple[int, object]] = []
        for answered in model.answer([Generate(f"{n} apples", 3) for n in range(150)]):
            found.append(answered)
            if third.posts() and not third.gone:
                third.stop()
        assert third.gone
    assert sorted(key for key, _ in found) == list(range(150))
    texts = {key: text.text for key, text in found if isinstance(text, GeneratedText)}
    assert texts == {n: f" {f'{n} apples'[-8:]}" for n in range(150)}


def test_a_server_that_is_down_is_reported_but_stops_nothing(server: ToyServer):
    with ToyServer() as dead:
        dead.stop()
    backend = OpenAIBackend()
    assert backend.problem(entry(server, dead)) == ""
    assert list(backend.unavailable_addresses(entry(server, dead))) == [dead.url]
    assert backend.abilities(entry(server, dead)) == {"next_token", "loglik", "generate"}


def test_several_servers_can_do_what_each_of_them_can(server: ToyServer):
    with ToyServer(Behaviour(echo=False)) as other:
        backend = OpenAIBackend()
        assert backend.abilities(entry(server, other)) == {"next_token", "generate"}
        assert set(backend.missing_reasons(entry(server, other))) == {"loglik", "decide"}


def test_all_servers_gone_is_unreachable_with_a_time_to_wait(server: ToyServer):
    slow = replace(QUICK, initial_open_time=6000.0, max_open_time=6000.0)
    model = EndpointModel("toy model", read_endpoint(entry(server)), HEALTHY, slow)
    OPEN.append(model)
    server.stop()
    for _ in range(2):
        with pytest.raises(Unreachable, match="cannot be reached") as told:
            list(model.answer([Generate("Hello", 3)] * 20))
        assert 5000 < told.value.retry_after_s <= 6000


def test_a_server_that_comes_back_is_requested_again(server: ToyServer):
    model = opened(server)
    server.always = Reply(503, {"error": "starting"})
    with pytest.raises(Unreachable):
        list(model.answer([Generate("Hello", 3)] * 9))
    server.always = None
    time.sleep(QUICK.max_open_time)
    assert len(list(model.answer([Generate("Hello", 3)] * 9))) == 9


def test_no_more_attempts_are_made_than_the_catalog_allows(server: ToyServer):
    server.always = Reply(500, {"error": "oops"})
    with pytest.raises(Unreachable):
        list(opened(server, retries=0).answer([Generate("Hello", 3)]))
    assert len(server.posts()) == 1


def test_a_server_that_refuses_us_is_left_out_for_those_that_do_not(server: ToyServer):
    with ToyServer(Behaviour(key="sk-1")) as locked:
        model = probed(server, locked)
        assert len(list(model.answer([Generate("Hello", 3)] * 20))) == 20


def test_a_list_with_impossible_tokens_is_no_answer(server: ToyServer):
    model = opened(server)

    def spoilt(answer: Json) -> Json:
        answer["choices"][0]["logprobs"]["top_logprobs"] = [{" A": -0.5, "<s>": -9999.0}]
        return answer

    server.behaviour = Behaviour(alter=spoilt)
    with pytest.raises(RequestRejected, match="rules out"):
        answers(model, NextToken("Which?", ABCD))


def test_a_locked_door_ends_the_call_at_once(server: ToyServer):
    model = opened(server)
    server.always = Reply(403, {"error": {"message": "quota is for members"}})
    with pytest.raises(ModelError, match="refuses the key"):
        list(model.answer([Generate("Hello", 3)] * 9))


def test_closing_the_iterator_drops_what_is_queued(server: ToyServer):
    model = opened(server, concurrency=1)
    before, closed = len(server.posts()), threading.Event()

    def held(answer: Json) -> object:
        if len(server.posts()) > before + 1:
            assert closed.wait(60)
        return answer

    server.behaviour = Behaviour(alter=held)
    answering = model.answer([Generate("Hello", 3)] * 50)
    next(answering)
    answering.close()  # type: ignore[attr-defined]
    closed.set()
    assert len(list(model.answer([Generate("Hello", 3)]))) == 1
    # The one that was answered, the one that was held, and that of the second call.
    assert len(server.posts()) - before <= 3


def test_every_token_is_counted_those_of_unused_answers_too(server: ToyServer):
    model = opened(server)
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    server.script.append(Reply(200, {"choices": [], "usage": usage}))
    (text,) = answers(model, Generate("one two", 3))
    assert isinstance(text, GeneratedText)
    assert text.usage is not None
    assert model.usage().prompt_tokens == 7 + text.usage.prompt_tokens
    assert model.usage().completion_tokens == 3 + text.usage.completion_tokens


def test_the_fingerprint_names_the_model_and_a_digest_of_its_addresses(server: ToyServer):
    with ToyServer() as other:
        assert probed(server).fingerprint != probed(other).fingerprint
        assert probed(server).fingerprint != probed(server, other).fingerprint
        assert probed(server, other).fingerprint == probed(other, server).fingerprint
        assert probed(server).fingerprint == probed(server, concurrency=2).fingerprint
        moved = probed(other, replies_of=addresses_of(probed(server).fingerprint))
        assert moved.fingerprint == probed(server).fingerprint
        assert probed(server).fingerprint != probed(server, api="chat").fingerprint
        assert probed(server).fingerprint != probed(server, seed=1).fingerprint


def test_other_weights_under_the_same_name_are_noticed_when_the_model_is_opened(server: ToyServer):
    backend, weights = OpenAIBackend(retry_policy=QUICK), entry(server)

    def fingerprint() -> str:
        model = backend.open(weights)
        assert isinstance(model, EndpointModel)
        OPEN.append(model)
        return model.fingerprint

    before = fingerprint()
    assert fingerprint() == before
    server.behaviour = Behaviour(alter=lambda answer: told_by(answer, "/models/other"))
    assert fingerprint() != before


def told_by(answer: Json, root: str) -> Json:
    for each in answer.get("data", []):
        each["root"] = root
    return answer


def test_the_fingerprint_holds_the_tokenizer_not_the_name_of_its_folder(
    server: ToyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.endpoint.backend._tokenizer", lambda *_: None)
    prints: list[str] = []
    for parent, text in (("a", "{}"), ("b", "{}"), ("c", '{"other": 1}')):
        folder = tmp_path / parent / "main"
        folder.mkdir(parents=True)
        (folder / "tokenizer.json").write_text(text)
        (folder / "model.safetensors").write_text(parent)  # the server has the weights
        prints.append(opened(server, tokenizer=str(folder)).fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_waiting_for_an_answer_can_be_stopped(server: ToyServer):
    model, ended = opened(server), threading.Event()

    def hangs() -> Iterator[bytes]:
        model.stop()
        assert ended.wait(60)
        yield b"{}"

    server.script.append(Reply(200, stream=hangs))
    with pytest.raises(Unreachable, match="told to stop"):
        list(model.answer([Generate("Hello", 3)]))
    assert len(server.posts()) == 1
    ended.set()


def test_samples_are_drawn_with_a_seed_and_the_rest_without(server: ToyServer):
    answers(opened(server), Generate("a", 3), Generate("b", 3, temperature=1.0))
    bodies = {body["prompt"]: body for body in server.posts() if body["prompt"] in ("a", "b")}
    assert "seed" not in bodies["a"]
    assert isinstance(bodies["b"]["seed"], int)


def test_each_repeat_is_drawn_with_a_seed_of_its_own(server: ToyServer):
    requests = [Generate("a", 3, temperature=1.0, repeat=repeat) for repeat in (0, 1, 2, 1)]
    answers(opened(server), *requests)
    seeds = [body["seed"] for body in server.posts() if body["prompt"] == "a"]
    assert len(seeds) == 4
    assert len(set(seeds)) == 3
    assert seeds.count(sampling_seed(0, Generate("a"), bits=31)) == 1


def test_chat_alone_may_score_the_beginning_of_a_reply():
    with ToyServer(Behaviour(completions=False, turns=True)) as server:
        model = probed(server)
        assert model.abilities == {"next_token", "loglik", "generate"}
        ice, fire = answers(model, Loglik(ASK, "it is ice"), Loglik("Which?", "fire"))
        with pytest.raises(RequestRejected, match="conversations only"):
            answers(model, Loglik("", "fire"))
    assert isinstance(ice, Logprob)
    assert ice.total == pytest.approx(sum(map(logprob, ("it", " is", " ice"))))
    assert (ice.n_tokens, ice.greedy, ice.merged) == (3, True, False)
    assert isinstance(fire, Logprob)
    assert (fire.total, fire.n_tokens) == (logprob("fire"), 1)


def test_options_of_a_question_request_their_conversation_once():
    with ToyServer(Behaviour(completions=False, turns=True)) as server:
        model = probed(server)
        before = len(server.posts("chat/completions"))
        server.script.append(Reply(503, {}))  # the first to ask fails, whichever it asks
        answers(
            model, *(Loglik(ASK, f"it is {option}") for option in ("ice", "fire", "air", "tea"))
        )
        asked = server.posts("chat/completions")[before:]
    assert len([body for body in asked if "continue_final_message" not in body]) <= 2
    assert len(asked) == 6


def test_conversations_are_scored_by_chat_and_texts_by_echo(server: ToyServer):
    server.behaviour = Behaviour(turns=True)
    endpoint = read_endpoint(entry(server))
    OPEN.append(
        EndpointModel("toy model", endpoint, replace(HEALTHY, chat_prompt_logprobs=True), QUICK)
    )
    answers(OPEN[-1], Loglik(ASK, "ice"), Loglik("Which?", " ice"))
    assert [body["prompt"] for body in server.posts()] == ["Which? ice"]
    assert len(server.posts("chat/completions")) == 2
    assert OPEN[-1].fingerprint != opened(server).fingerprint


def test_a_conversation_cannot_be_scored_by_texts_alone(server: ToyServer):
    model = opened(server)
    before = len(server.asked)
    with pytest.raises(MissingAbility, match="about a conversation; choose plain prompts"):
        answers(model, Loglik(ASK, "ice"))
    assert len(server.asked) == before


def test_what_an_entry_adds_is_sent_with_each_request(
    server: ToyServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "sk-mine")
    extras = {
        "api_key_env": "MY_API_KEY",
        "key_header": "api-key",
        "headers": {"X-Project": "p"},
        "query": {"api-version": "2024-10-21"},
        "extra_body": {"enable_thinking": False},
    }
    opened(server, **extras)
    plain = OPEN[-1].fingerprint
    answers(OPEN[-1], Generate(ASK, 3))
    path, body, headers = server.asked[-1]
    assert path.endswith("/chat/completions?api-version=2024-10-21")
    assert body["enable_thinking"] is False
    assert (headers["api-key"], headers["x-project"]) == ("sk-mine", "p")
    assert "authorization" not in headers
    opened(server, **extras | {"extra_body": {"enable_thinking": True}})
    assert OPEN[-1].fingerprint != plain


def test_a_secret_header_is_cut_out_of_what_a_server_says(
    server: ToyServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "sk-gateway")
    model = opened(server, headers={"X-Gateway-Key": "$MY_API_KEY"})
    server.always = Reply(400, {"error": {"message": "bad key sk-gateway"}})
    with pytest.raises(RequestRejected, match=r"bad key \*\*\*"):
        answers(model, Generate(ASK, 3))


@pytest.mark.parametrize(
    ("status", "told"),
    [(402, "nothing is left on its account"), (504, "HTTP 504")],
)
def test_an_account_without_money_ends_the_model_and_one_gateway_timeout_does_not(
    server: ToyServer, status: int, told: str
):
    model = opened(server, retries=0)
    server.script.append(Reply(status, {"error": {"message": "no"}}))
    error = ModelError if status == 402 else RequestRejected
    if status == 504:
        assert answers(model, Generate(ASK, 3))  # the check was answered, and then it was too
        return
    with pytest.raises(error, match=told):
        answers(model, Generate(ASK, 3))


SCHEMA = '{"type": "object", "properties": {"winner": {"enum": ["B"]}}, "required": ["winner"]}'


def test_a_schema_goes_along_where_the_server_keeps_to_it():
    with ToyServer(Behaviour(completions=False, schema=True)) as server:
        model = probed(server)
        assert "schema" in model.abilities
        forced, free = answers(model, Generate(ASK, 5, json_schema=SCHEMA), Generate(ASK, 5))
        assert isinstance(forced, GeneratedText)
        assert isinstance(free, GeneratedText)
        assert (forced.text, forced.constrained) == ('{"winner": "B"}', True)
        assert free.text.startswith("You said")
        assert not free.constrained
        sent = [body for body in server.posts("chat/completions") if body["max_tokens"] == 5]
        formats = [body.get("response_format") for body in sent]
        assert [each and each["json_schema"]["schema"] for each in formats] in (
            [json.loads(SCHEMA), None],
            [None, json.loads(SCHEMA)],
        )


def test_a_schema_is_left_out_where_the_server_ignores_it(server: ToyServer):
    model = probed(server)
    assert "schema" not in model.abilities
    (text,) = answers(model, Generate(ASK, 5, json_schema=SCHEMA))
    assert isinstance(text, GeneratedText)
    assert not text.constrained
    assert "response_format" not in server.posts("chat/completions")[-1]


def test_a_schema_that_is_refused_in_a_run_is_left_out_from_then_on():
    with ToyServer(Behaviour(completions=False, schema=True)) as server:
        model = probed(server)
        server.behaviour.refused = {"response_format": refusal("no response_format for you")}
        before = len(server.posts("chat/completions"))
        for _ in range(2):
            (text,) = answers(model, Generate(ASK, 5, json_schema=SCHEMA))
            assert isinstance(text, GeneratedText)
            assert text.text.startswith("You said")
            assert not text.constrained
        assert len(server.posts("chat/completions")) - before == 3


def test_a_request_that_is_refused_with_and_without_its_schema_is_refused():
    with ToyServer(Behaviour(completions=False, schema=True)) as server:
        model = probed(server)
        server.behaviour.refused = {"messages": refusal("the prompt is too long")}
        with pytest.raises(RequestRejected, match="too long"):
            answers(model, Generate(ASK, 5, json_schema=SCHEMA))
        server.behaviour.refused = {}
        (text,) = answers(model, Generate(ASK, 5, json_schema=SCHEMA))
        assert isinstance(text, GeneratedText)
        assert text.constrained, "the schema was not to blame"
