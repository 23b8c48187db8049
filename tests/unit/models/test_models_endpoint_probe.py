"""What servers do and say, and what is concluded; no network."""

import math
import threading
import time
from collections.abc import Callable

import pytest

from evalui.errors import ModelError, Unreachable
from evalui.models import ModelEntry
from evalui.models.endpoint_findings import Findings, common, restricted
from evalui.models.endpoint_http import Declined, Faltered, Json, Server
from evalui.models.endpoint_probe import probe
from evalui.models.endpoint_settings import Endpoint, read_endpoint
from evalui.models.endpoint_survey import Survey, usable

Route = Callable[[Json], Json]


class Fake(Server):
    """Answers by a function for each path; a path without one is not there."""

    def __init__(self, **routes: Route) -> None:
        super().__init__("http://toy/v1", key="", timeout_s=1.0)
        self.routes = routes

    def post(self, path: str, body: Json) -> Json:
        name = path.strip("/").replace("/", "_")
        if name not in self.routes:
            raise Declined("HTTP 404", status=404)
        return self.routes[name](body)

    def get(self, path: str) -> Json:
        return self.post(path, {})


def listing(*logprobs: float) -> Json:
    rows = [{"token": f" {at}", "logprob": each} for at, each in enumerate(logprobs)]
    return {"content": [rows[0] | {"top_logprobs": rows}]}


def chat(logprobs: Json | None = None, most: int = 20, field: str = "max_tokens") -> Route:
    def reply(body: Json) -> Json:
        if field not in body:
            raise Declined(f"use '{field}' instead", status=400)
        if body.get("top_logprobs", 0) > most:
            raise Declined("too many", status=400)
        choice = {"message": {"content": "A"}, "finish_reason": "length", "logprobs": logprobs}
        return {"model": "toy@main", "choices": [choice]}

    return reply


def faltering(**how: object) -> Route:
    def falter(_: Json) -> Json:
        raise Faltered("not now", **how)  # type: ignore[arg-type]

    return falter


def test_chat_alone_can_only_write():
    found = probe(Fake(chat_completions=chat()), "toy")
    assert found.abilities == {"generate"}
    assert (found.chat, found.completions, found.told) == (True, False, "toy@main")


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
        (listing(math.nan, -1.0), "its log-probabilities are no numbers"),
    ],
)
def test_a_list_that_says_nothing_is_none_and_the_reason_is_kept(
    logprobs: Json | None, reason: str
):
    routes = {"completions": chat(), "chat_completions": chat(logprobs)}
    routes["completions"] = lambda _: {"choices": [{"text": "A", "logprobs": logprobs}]}
    found = probe(Fake(**routes), "toy")
    assert "next_token" not in found.abilities
    assert found.lacks["next_token"] == reason


def test_a_list_that_somebody_else_has_spoilt_is_asked_for_again():
    spoilt, sound = chat(listing(-0.5, -9999.0)), chat(listing(-0.5, -1.5))
    answers = [spoilt, spoilt, sound]
    found = probe(Fake(chat_completions=lambda body: answers.pop(0)(body)), "toy")
    assert found.chat_top == 20


def test_the_word_for_the_longest_reply_is_found():
    found = probe(Fake(chat_completions=chat(field="max_completion_tokens")), "toy")
    assert found.limit_field == "max_completion_tokens"


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
    assert not probe(Fake(**routes), "toy").scores_ids
    completions.read = 12  # type: ignore[attr-defined]
    found = probe(Fake(**routes), "toy")
    assert found.scores_ids
    assert found.picks
    assert found.abilities == {"next_token", "loglik", "generate"}


def test_a_server_that_lists_other_models_is_told_so():
    listed = {"models": lambda _: {"data": [{"id": "other"}]}}
    with pytest.raises(ModelError, match=r"has no model 'toy'\. It has: other\."):
        probe(Fake(**listed), "toy")


def test_a_list_of_models_that_fails_says_nothing():
    found = probe(Fake(models=faltering(status=500), chat_completions=chat()), "toy")
    assert found.abilities == {"generate"}


def test_a_server_without_any_interface_is_told_so():
    with pytest.raises(ModelError, match="answers neither chat nor completions: HTTP 404"):
        probe(Fake(), "toy")


@pytest.mark.parametrize("how", [{"blame": "server"}, {"status": 408}])
def test_what_may_pass_is_not_taken_for_a_missing_ability(how: dict[str, object]):
    routes = {"chat_completions": chat(), "completions": faltering(**how)}
    with pytest.raises(Faltered):
        probe(Fake(**routes), "toy")


def test_a_crash_at_an_unknown_setting_is_a_missing_ability():
    routes = {"chat_completions": chat(), "completions": faltering(status=500)}
    assert probe(Fake(**routes), "toy").abilities == {"generate"}


def test_what_several_servers_can_do_is_what_each_can():
    one = Findings(chat=True, chat_top=20, echo=True, max_length=100, told="x")
    two = Findings(chat=True, chat_top=5, max_length=50, told="x", lacks={"loglik": "it does not"})
    both = common([one, two])
    assert (both.chat_top, both.echo, both.max_length, both.told) == (5, False, 50, "x")
    assert both.lacks == {"loglik": "it does not"}
    assert common([one]) == one


def test_a_tokenizer_here_serves_as_one_there():
    found = Findings(ids=True, prompt_logprobs=True, completions=True)
    assert "loglik" not in found.abilities
    assert "loglik" in restricted(found, "auto", tokenizer=True).abilities
    assert "loglik" not in restricted(found, "chat", tokenizer=True).abilities


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

    def __call__(self, server: Server, model: str) -> Findings:
        del model
        self.asked.append(server.url)
        if server.url in self.down:
            raise Faltered(f"{server.url} is down", blame="server")
        return Findings(chat=True)


def wait(survey: Survey) -> None:
    """For what goes on in the background."""
    while any(note.asking for note in survey._notes.values()):
        time.sleep(0.001)


def test_a_success_is_remembered_for_ten_minutes_and_a_failure_for_thirty_seconds():
    clock, prober, both = Clock(), Prober(), endpoint("http://a/v1", "http://b/v1")
    prober.down.add("http://b/v1")
    survey = Survey(prober, clock)
    seen = survey.look(both)
    assert (list(seen.well), seen.down) == (["http://a/v1"], {"http://b/v1": "http://b/v1 is down"})
    clock.now = 29.0
    survey.look(both)
    assert sorted(prober.asked) == ["http://a/v1", "http://b/v1"]
    prober.down.clear()
    clock.now = 31.0
    survey.look(both)
    wait(survey)
    assert prober.asked.count("http://b/v1") == 2
    assert list(survey.look(both).well) == ["http://a/v1", "http://b/v1"]
    clock.now = 601.0
    survey.look(both)
    wait(survey)
    assert prober.asked.count("http://a/v1") == 2


def test_a_failure_that_is_forgotten_is_asked_again_at_once():
    prober, one = Prober(), endpoint("http://a/v1")
    prober.down.add("http://a/v1")
    survey = Survey(prober, Clock())
    with pytest.raises(Unreachable, match="http://a/v1 is down"):
        usable(one, survey.look(one))
    prober.down.clear()
    survey.forget(one)
    assert usable(one, survey.look(one)).chat


def test_a_page_does_not_wait_long_for_a_server_that_was_never_seen():
    answering = threading.Event()

    def prober(server: Server, model: str) -> Findings:
        del server, model
        answering.wait()
        return Findings(chat=True)

    clock, one = Clock(), endpoint("http://a/v1")
    survey = Survey(prober, clock)
    seen = survey.look(one, patience_s=0.01)
    clock.now = 60.0
    survey.look(one, patience_s=50.0)  # it has been waited for long enough
    assert (seen.well, seen.down, seen.wrong) == ({}, {}, {})
    with pytest.raises(Unreachable, match="has not answered yet"):
        usable(one, seen)
    answering.set()
    assert list(survey.look(one, patience_s=70.0).well) == ["http://a/v1"]
