"""Pictures at an endpoint: whether they are seen is tried; requests carry them in their place."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from endpoint_server_examples import MODEL, Behaviour, Reply, ToyServer, painted

from evalui.errors import MissingAbility
from evalui.models import ModelEntry
from evalui.models.endpoint import limits
from evalui.models.endpoint.backend import EndpointModel, OpenAIBackend
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.limits import reply_byte_limit
from evalui.models.endpoint.probe import Capabilities
from evalui.models.endpoint.protocol import RequestExtras, content_of, encode
from evalui.pictures import Mark, Picture, mark_of
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Request,
    Response,
)

COLOURS = ("red", "blue", "gold", "green")
PICTURES = {name: Picture(mark_of(body).id, body) for name in COLOURS for body in [painted(name)]}
OPTIONS = "A. blue\nB. red\nC. green\nD. gold"
Opened = Callable[..., EndpointModel]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens the model of a server that behaves so, or that is there."""
    with ExitStack() as stack:

        def open_model(can: Behaviour | ToyServer, **options: object) -> EndpointModel:
            server = can if isinstance(can, ToyServer) else stack.enter_context(ToyServer(can))
            model = OpenAIBackend().open(entry(server, **options))
            assert isinstance(model, EndpointModel)
            stack.callback(model.close)
            return model

        yield open_model


def entry(server: ToyServer, **options: object) -> ModelEntry:
    return ModelEntry(
        "toy model", "openai", path=MODEL, options={"base_url": server.url, **options}
    )


def mark(colour: str) -> str:
    return str(Mark(PICTURES[colour].id))


def asked(colour: str, options: str = OPTIONS) -> str:
    return f"{mark(colour)}\nWhich colour is it?\n{options}\nAnswer:"


def answer(model: EndpointModel, request: Request) -> Response:
    ((_, response),) = model.answer([request])
    return response


def replies(model: EndpointModel, *requests: Generate) -> list[str]:
    found = dict(model.answer(requests))
    return [each.text for _, each in sorted(found.items()) if isinstance(each, GeneratedText)]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_plain_prompt_is_sent_with_its_picture_as_a_message(opened: Opened, colour: str):
    with ToyServer(Behaviour(pictures="seen")) as server:
        model = opened(server)
        completions = len(server.posts("v1/completions"))
        request = Generate(asked(colour), 5, pictures=(PICTURES[colour],))
        assert replies(model, request) == [
            {"blue": "A", "red": "B", "green": "C", "gold": "D"}[colour]
        ]
        assert len(server.posts("v1/completions")) == completions
        (turn,) = server.posts("chat/completions")[-1]["messages"]
    sent = base64.b64encode(PICTURES[colour].body).decode()
    assert turn == {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{sent}"}},
            {"type": "text", "text": f"\nWhich colour is it?\n{OPTIONS}\nAnswer:"},
        ],
    }


def test_options_that_are_pictures_stand_behind_their_letters(opened: Opened):
    model = opened(Behaviour(pictures="seen"))
    shown = "\n".join(
        f"{letter}. {mark(colour)}" for letter, colour in zip("ABCD", COLOURS, strict=True)
    )
    pictures = tuple(PICTURES.values())
    requests = [
        Generate((Message("user", f"Which one is {colour} ?\n{shown}"),), 5, pictures=pictures)
        for colour in COLOURS
    ]
    assert replies(model, *requests) == ["A", "B", "C", "D"]


def test_letters_of_pictures_come_from_the_probabilities_of_chat(opened: Opened):
    model = opened(Behaviour(pictures="seen"))
    request = NextToken(asked("green"), ("A", "B", "C", "D"), pictures=(PICTURES["green"],))
    letters = answer(model, request)
    assert isinstance(letters, LabelProbs)
    assert letters.logprobs.index(max(letters.logprobs)) == 2


def test_a_reply_to_a_picture_is_scored_by_chat(opened: Opened):
    model = opened(Behaviour(completions=False, pictures="seen", turns=True))
    with_picture = Loglik(asked("red"), " red", pictures=(PICTURES["red"],))
    scored = answer(model, with_picture)
    assert isinstance(scored, Logprob)
    assert (scored.total, scored.n_tokens) == (-1.0, 1)


@pytest.mark.parametrize(
    ("can", "told"),
    [
        (Behaviour(pictures="ignored"), "shown a red picture and asked for its colour, it answers"),
        (Behaviour(pictures="refused"), "HTTP 400: toy is not a multimodal model"),
        (Behaviour(chat=False), "in chat alone"),
    ],
)
def test_a_model_that_sees_no_pictures_is_known_with_the_reason(can: Behaviour, told: str):
    backend = OpenAIBackend()
    with ToyServer(can) as server:
        model = entry(server)
        assert backend.problem(model) == ""
        assert not backend.sees_pictures(model)
        reasons = backend.text_only(model)
    assert reasons.keys() == {"next_token", "loglik", "generate"}
    assert all(told in reason for reason in reasons.values())


def test_a_model_that_sees_pictures_is_known():
    backend = OpenAIBackend()
    with ToyServer(Behaviour(completions=False, pictures="seen", turns=True)) as server:
        assert backend.sees_pictures(entry(server))
        assert backend.text_only(entry(server)) == {}
        assert not backend.sees_pictures(entry(server, api="completions"))


def test_whether_replies_to_pictures_are_scored_is_tried():
    backend = OpenAIBackend()
    can = Behaviour(completions=False, pictures="seen", turns=True, scores_pictures=False)
    with ToyServer(can) as server:
        model = entry(server)
        assert "loglik" in backend.abilities(model)
        assert backend.sees_pictures(model)
        assert backend.text_only(model).keys() == {"loglik"}


def test_a_server_that_always_names_the_same_colour_does_not_see():
    def says_red(answer: dict[str, object]) -> object:
        choices = [{"message": {"content": "Red."}, "finish_reason": "stop"}]
        return answer | {"choices": choices}

    backend = OpenAIBackend()
    with ToyServer(Behaviour(alter=says_red)) as server:
        model = entry(server)
        assert not backend.sees_pictures(model)
        assert "a blue picture" in backend.text_only(model)["generate"]


@pytest.mark.parametrize(("thinks", "most"), [(False, 64), (True, 2048)])
def test_a_model_that_thinks_may_do_so_before_it_names_a_colour(thinks: bool, most: int):
    def in_thoughts(answer: dict[str, Any]) -> object:
        for choice in answer.get("choices", ()):
            said = choice["message"]["content"]
            choice["message"]["content"] = f"<think>Is it red? Or blue?</think>{said}"
        return answer

    alter = in_thoughts if thinks else (lambda answer: answer)
    can = Behaviour(completions=False, logprobs=False, pictures="seen", alter=alter)
    with ToyServer(can) as server:
        assert OpenAIBackend().sees_pictures(entry(server))
        shown = [body for body in server.posts("chat/completions") if "image_url" in str(body)]
    assert [body["max_tokens"] for body in shown] == [most, most]


def test_a_colour_is_a_word_of_the_reply():
    def wordy(answer: dict[str, Any]) -> object:
        for choice in answer.get("choices", ()):
            choice["message"]["content"] = f"It is {choice['message']['content']}-coloured."
        return answer

    can = Behaviour(completions=False, logprobs=False, pictures="seen", alter=wordy)
    with ToyServer(can) as server:
        assert OpenAIBackend().sees_pictures(entry(server))


def test_a_server_that_breaks_off_at_a_picture_still_reads_texts(opened: Opened):
    class Breaking(ToyServer):
        def respond(self, path: str, body: dict[str, object], headers: dict[str, str]) -> Reply:
            if "image_url" in json.dumps(body):
                return Reply(cut=True)
            return super().respond(path, body, headers)

    with Breaking() as server:
        model = opened(server)
        assert replies(model, Generate("Say", 5)) != []
        with pytest.raises(MissingAbility, match="cannot be reached"):
            answer(model, Generate(asked("red"), 5, pictures=(PICTURES["red"],)))


def test_what_is_scored_by_texts_alone_is_no_way_for_pictures(opened: Opened):
    model = opened(Behaviour(pictures="seen"))  # its echo scores texts
    assert "loglik" in model.abilities
    with pytest.raises(MissingAbility, match="gives no probabilities for this"):
        answer(model, Loglik(asked("red"), " red", pictures=(PICTURES["red"],)))


def test_token_ids_are_no_way_for_pictures():
    can = Capabilities(
        chat=True,
        completions=True,
        chat_top=20,
        prompt_logprobs=True,
        accepts_token_ids=True,
        has_tokenizer_routes=True,
        chat_prompt_logprobs=True,
        sees_pictures=True,
        scores_pictures=True,
    )
    assert can.scores_token_ids
    requests = [
        NextToken(asked("red"), ("A", "B"), pictures=(PICTURES["red"],)),
        Loglik(asked("red"), " red", pictures=(PICTURES["red"],)),
    ]
    with ToyServer(Behaviour(pictures="seen", turns=True)) as server:
        model = EndpointModel("toy model", read_endpoint(entry(server)), can)
        try:
            assert len(dict(model.answer(requests))) == 2
        finally:
            model.close()
        assert {path for path, _, _ in server.asked} == {"/v1/chat/completions"}


def test_a_mark_that_stands_for_no_picture_of_the_request_stays_text():
    written = f"I see {Mark('0' * 32)}."
    assert content_of(written, {}) == written
    known = {PICTURES["red"].id: PICTURES["red"]}
    parts = content_of(f"{written} {mark('red')} \n", known)
    assert parts == [
        {"type": "text", "text": "I see "},
        {"type": "text", "text": str(Mark("0" * 32))},
        {"type": "text", "text": ". "},
        {"type": "image_url", "image_url": {"url": PICTURES["red"]}},
    ]


def test_the_responses_api_has_parts_of_its_own(opened: Opened):
    with ToyServer(
        Behaviour(chat=False, completions=False, responses=True, pictures="seen")
    ) as server:
        model = opened(server)
        request = Generate(asked("gold"), 30, pictures=(PICTURES["gold"],))
        assert replies(model, request) == ["D"]
        parts = server.posts("responses")[-1]["input"][0]["content"]
    assert [part["type"] for part in parts] == ["input_image", "input_text"]
    assert parts[0]["image_url"].startswith("data:image/png;base64,")


def test_texts_are_sent_to_the_responses_api_as_before():
    turns = [{"role": "user", "content": "Say"}]
    sent = RequestExtras().apply("responses", {"model": "m", "messages": turns, "max_tokens": 20})
    assert sent["input"] == turns


def test_a_picture_makes_no_reply_longer_than_its_tokens_may():
    content = content_of(f"{mark('red')}abc", {PICTURES["red"].id: PICTURES["red"]})
    turns = [{"role": "user", "content": content}]
    text = [{"role": "user", "content": "abc"}]
    longer = reply_byte_limit({"messages": turns}) - reply_byte_limit({"messages": text})
    assert longer == 2**14 * limits.BYTES_PER_TOKEN


def test_large_pictures_are_sent_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch, opened: Opened):
    monkeypatch.setattr(limits, "MAX_SENT_PICTURE_BYTES", 1)
    budget = limits._FairByteSemaphore(1)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(limits, "_SENT_PICTURES", budget)
    under_way: list[int] = []
    counted = [0]

    class Counting(ToyServer):
        def respond(self, path: str, body: dict[str, object], headers: dict[str, str]) -> Reply:
            counted[0] += 1
            under_way.append(counted[0])
            reply = super().respond(path, body, headers)
            counted[0] -= 1
            return Reply(reply.status, reply.body, delay=0.01)

    with Counting(Behaviour(pictures="seen")) as server:
        model = opened(server, concurrency=8)
        under_way.clear()
        requests = [
            Generate(asked(colour), 5, seed=at, pictures=(PICTURES[colour],))
            for at in range(3)
            for colour in COLOURS
        ]
        assert replies(model, *requests) == ["B", "A", "D", "C"] * 3
    assert set(under_way) == {1}
    assert budget._free == 1  # pyright: ignore[reportPrivateUsage]


def test_a_request_is_encoded_as_it_always_was():
    assert encode({"a": "é", "b": [1, None]}) == '{"a":"é","b":[1,null]}'.encode()
