"""Long prompts are read and arranged in threads: the loop sends and receives meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evalui.models.endpoint import logprobs as tokenizer
from evalui.models.endpoint import requests as requests
from evalui.models.endpoint.config import Endpoint
from evalui.models.endpoint.logprobs import MANY_CHARACTERS, MANY_TOKENS
from evalui.models.endpoint.probe import Capabilities
from evalui.models.endpoint.protocol import Json
from evalui.models.endpoint.requests import RequestBuilder
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import EncodedContext, EncodedPair
from evalui.types import Loglik, Logprob, Message, Response

Noted = Callable[[object, str], list[bool]]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Have a function note whether each of its calls is made on the loop, which is this thread."""

    def note(module: object, name: str) -> list[bool]:
        calls: list[bool] = []
        function = getattr(module, name)

        def noting(*args: object, **kwargs: object) -> object:
            calls.append(threading.current_thread() is threading.main_thread())
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, noting)
        return calls

    return note


def score(
    capabilities: Capabilities, request: Loglik, answering: Callable[[str, Json], Json]
) -> Response:
    async def send(path: str, body: Json) -> Json:
        return answering(path, body)

    builder = RequestBuilder("m", Endpoint("m", ("http://a/v1",)), capabilities, None)
    return asyncio.run(builder.jobs([request])[0](send))


@pytest.mark.parametrize(("tokens", "on_loop"), [(10, True), (MANY_TOKENS + 1, False)])
def test_a_long_prompt_of_ids_is_read_beside_the_loop(noted: Noted, tokens: int, on_loop: bool):
    calls = noted(tokenizer, "read_prompt")
    context = tuple(range(tokens))
    pair = EncodedPair(context, (7,), merged=False, truncated=False)
    batch = ScoringBatch(None, {}, {}, {0: pair})  # type: ignore[arg-type]
    rows = [None, *({str(n): {"logprob": -1.0, "rank": 1}} for n in (*context[1:], 7))]

    async def complete(_: Json) -> Json:
        return {"choices": [{"prompt_logprobs": rows}]}

    found = asyncio.run(tokenizer.token_id_logprobs(batch, 0, complete, picks_token_ids=False))
    assert batch.response(0, *found) == Logprob(-1.0, 1, greedy=True)
    assert calls == [on_loop]


@pytest.mark.parametrize(("tokens", "on_loop"), [(10, True), (MANY_TOKENS, False)])
def test_labels_tried_after_a_long_prompt_are_read_beside_the_loop(
    noted: Noted, tokens: int, on_loop: bool
):
    calls = noted(tokenizer, "read_prompt")
    context = tuple(range(tokens))
    spelling = SimpleNamespace(spell=lambda ids: ["A" for _ in ids])
    labels = {0: ((7,), (8,))}
    batch = ScoringBatch(spelling, {0: EncodedContext(context, truncated=False)}, labels, {})  # type: ignore[arg-type]

    async def complete(body: Json) -> Json:
        listed = {"top_logprobs": [{"token_id:7": -0.5}], "tokens": ["token_id:7"]}
        return {
            "choices": [
                {
                    "index": at,
                    "logprobs": listed | {"token_logprobs": [-0.5]},
                    "prompt_logprobs": [
                        None,
                        *({str(n): {"logprob": -1.0, "rank": 1}} for n in ids[1:]),
                    ],
                }
                for at, ids in enumerate(body["prompt"])
            ]
        }

    asyncio.run(tokenizer.token_id_logprobs(batch, 0, complete, picks_token_ids=False))
    assert calls == [on_loop] * 2


@pytest.mark.parametrize(("words", "on_loop"), [(10, True), (MANY_TOKENS + 1, False)])
def test_a_long_conversation_is_read_beside_the_loop(noted: Noted, words: int, on_loop: bool):
    calls = noted(requests, "read_chat_tokens")

    def answering(_: str, body: Json) -> Json:
        texts = ["x"] * words + ["fire"] * (len(body["messages"]) - 1)
        rows = [
            {str(n): {"logprob": -1.0, "rank": 1, "decoded_token": text}}
            for n, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1 + len(rows)}
        return {"prompt_logprobs": [None, *rows], "usage": usage}

    request = Loglik((Message("user", "x" * words),), "fire")
    found = score(Capabilities(chat=True, chat_prompt_logprobs=True), request, answering)
    assert found == Logprob(-1.0, 1, greedy=True)
    assert calls == [on_loop] * 2


@pytest.mark.parametrize(("words", "on_loop"), [(10, True), (MANY_CHARACTERS, False)])
def test_a_long_echo_is_read_beside_the_loop(noted: Noted, words: int, on_loop: bool):
    calls = [noted(requests, "read_echo"), noted(requests, "span_by_text")]

    def answering(_: str, body: Json) -> Json:
        tokens = [" x"] * words + [" fire"]
        assert body["prompt"] == "".join(tokens)
        scores = [None, *([-1.0] * words)]
        logprobs = {"tokens": tokens, "token_logprobs": scores, "top_logprobs": []}
        return {"choices": [{"logprobs": logprobs}], "usage": {}}

    found = score(
        Capabilities(completions=True, echo=True), Loglik(" x" * words, " fire"), answering
    )
    assert isinstance(found, Logprob)
    assert (found.total, found.n_tokens) == (-1.0, 1)
    assert calls == [[on_loop], [on_loop]]


@pytest.mark.parametrize(("length", "on_loop"), [(10, True), (MANY_CHARACTERS + 1, False)])
def test_the_tokens_of_a_long_text_are_arranged_beside_the_loop(
    noted: Noted, length: int, on_loop: bool
):
    calls = noted(requests, "encode_requests")

    def answering(path: str, body: Json) -> Json:
        if path == "/tokenize":
            ids = [ord(each) for each in body["prompt"]]
            return {"tokens": ids, "count": len(ids)}
        rows = [None, *({str(n): {"logprob": -1.0, "rank": 1}} for n in body["prompt"][1:])]
        return {"choices": [{"prompt_logprobs": rows}]}

    capabilities = Capabilities(
        completions=True, prompt_logprobs=True, accepts_token_ids=True, has_tokenizer_routes=True
    )
    found = score(capabilities, Loglik("x" * length, " a"), answering)
    assert found == Logprob(-2.0, 2, greedy=True)
    assert set(calls) == {on_loop}
