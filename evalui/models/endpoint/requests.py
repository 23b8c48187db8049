"""How each request is sent and read, by what the servers can do: as a job for a free server."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evalui.messages import Sentence, sentence
from evalui.models.base import sampling_seed
from evalui.models.endpoint.decisions import SMALL_DECISION, decision_body, decision_of
from evalui.models.endpoint.logprobs import (
    CONTINUE_REPLY_FIELDS,
    MANY_CHARACTERS,
    MANY_TOKENS,
    SCORE_PROMPT_FIELDS,
    ContextTokens,
    ContinuationSpan,
    PromptToken,
    ServerTokenizer,
    TokenizationCache,
    beside_loop,
    context_tokens,
    invalid_top_reason,
    label_probs,
    read_chat_tokens,
    read_echo,
    read_top,
    score_reply,
    score_span,
    span_by_context,
    span_by_text,
    split_continuation,
    token_id_logprobs,
)
from evalui.models.endpoint.probe import Capabilities
from evalui.models.endpoint.protocol import (
    MAX_MESSAGE_LENGTH,
    RESPONSES_PATH,
    STREAMED,
    Json,
    RejectedError,
    Send,
    as_chat_answer,
    as_list,
    as_object,
    choices,
    content_of,
    invalid_response,
    read_text,
    redacted,
    reported_model,
    response_format,
    token_count,
)
from evalui.models.scoring_requests import ScoringBatch, encode_requests
from evalui.models.tokenization import THINKING_SWITCH, Tokenizer, spellings, strip_before_label
from evalui.replies import closes_thought
from evalui.types import (
    Decide,
    Generate,
    Loglik,
    Message,
    NextToken,
    Prompt,
    Request,
    Response,
    prompt_of,
)

if TYPE_CHECKING:
    from evalui.models.endpoint.config import Endpoint

Job = Callable[[Send], Coroutine[Any, Any, Response]]
_UNKNOWN_LIMIT = 10**9  # tokens, where the longest input of the model is not stated
# A vLLM server applies generation defaults from the model's folder unless a request has its own.
_NEUTRAL_SAMPLING: Json = {"repetition_penalty": 1.0, "top_p": 1.0, "top_k": -1}
_SMALL_PROMPT = "Name a letter."
_MAX_STOPS = 4  # texts that a hosted API takes; the reply is cut at all of them here


class RequestBuilder:
    """Turns requests into jobs for servers with certain capabilities.

    `tokenizer` is the model's own if it lies here; else the server's is used.
    """

    def __init__(
        self,
        name: str,
        endpoint: "Endpoint",
        capabilities: Capabilities,
        tokenizer: Tokenizer | None,
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._capabilities = capabilities
        self._tokenizer = tokenizer
        self._tokenization_cache = TokenizationCache()
        self._spellings: Mapping[str, tuple[int, ...]] = {}
        self._known_models = list(filter(None, capabilities.reported_model.split("|")))
        self._refuses_schemas = False  # though it took one when it was probed
        lengths = [each for each in (endpoint.max_length, capabilities.max_length) if each]
        # One token more is read with a continuation, and the server writes one after it.
        self._limit = max(1, min(lengths, default=_UNKNOWN_LIMIT) - 2)

    def jobs(self, requests: Sequence[Request]) -> dict[int, Job]:
        """A job for each request, by its place.

        Raises:
            ModelError: a label has no token of its own, or a continuation cannot be scored.
        """
        jobs: dict[int, Job] = {}
        exact: dict[int, NextToken | Loglik] = {}
        for key, request in enumerate(requests):
            match request:
                case Generate():
                    jobs[key] = partial(self._generate, request)
                case Decide():
                    jobs[key] = partial(self._decide, request)
                case _ if self._capabilities.scores_token_ids and not request.pictures:
                    exact[key] = request
                case NextToken():
                    jobs[key] = partial(self._label_probs_from_top, request)
                case Loglik() if self._capabilities.chat_prompt_logprobs and not self._can_echo(
                    request
                ):
                    jobs[key] = partial(self._score_by_chat, request)
                case Loglik():
                    jobs[key] = partial(self._score_by_echo, request)
        return jobs | self._token_id_jobs(exact)

    def _token_id_jobs(self, requests: Mapping[int, NextToken | Loglik]) -> dict[int, Job]:
        if self._tokenizer is None:
            return {
                key: partial(self._score_with_server_tokenizer, each)
                for key, each in requests.items()
            }
        if requests and not self._spellings:
            self._spellings = spellings(self._tokenizer)
        batch = encode_requests(
            self._tokenizer, self._spellings, list(requests.values()), limit=self._limit
        )

        async def score(at: int, send: Send) -> Response:
            return batch.response(at, *await self._token_id_logprobs(batch, at, send))

        return {key: partial(score, at) for at, key in enumerate(requests)}

    async def _score_with_server_tokenizer(
        self, request: NextToken | Loglik, send: Send
    ) -> Response:
        tokenizer = ServerTokenizer(
            self._name, self._endpoint.model, send, self._tokenization_cache
        )
        labels = request.labels if isinstance(request, NextToken) else ()
        batch = await tokenizer.complete(
            lambda: encode_requests(
                tokenizer, tokenizer.spellings(labels), [request], limit=self._limit
            ),
            is_large=_length(request.context) > MANY_CHARACTERS,
        )
        scored = await self._token_id_logprobs(batch, 0, send)
        # The token that the model prefers to all labels is spelled, which only the server can do.
        return await tokenizer.complete(lambda: batch.response(0, *scored))

    async def _token_id_logprobs(
        self, batch: ScoringBatch, key: int, send: Send
    ) -> tuple[list[float], list[int]]:
        picks = self._capabilities.picks_token_ids
        return await token_id_logprobs(
            batch, key, self._completion_call(send), picks_token_ids=picks
        )

    async def _label_probs_from_top(self, request: NextToken, send: Send) -> Response:
        """Read the labels off a list of the most probable tokens."""
        text = self._as_text(request)
        complete = 0
        if text is not None and self._capabilities.completion_top:
            complete = self._capabilities.completion_top
            body: Json = {"prompt": strip_before_label(text), "logprobs": complete}
            answer = await self._completion_call(send)(body)
        elif self._capabilities.chat_top:
            body = {"logprobs": True, "top_logprobs": self._capabilities.chat_top}
            answer = await self._request_chat(send, _turns(request), 1, body)
        else:
            raise RejectedError(_unsupported_reason(request.context))
        (choice,) = choices(answer)
        listed = read_top(choice)
        if not listed:  # others were: it is what the probe saw
            raise invalid_response(sentence("error.endpoint-some-providers"))
        if why := invalid_top_reason(listed):
            raise invalid_response(why)
        return label_probs(listed, request.labels, complete=complete)

    async def _score_by_echo(self, request: Loglik, send: Send) -> Response:
        """Score a continuation by having the whole text sent back with its scores."""
        context = self._as_text(request)
        if context is None:
            raise RejectedError(_unsupported_reason(request.context))
        left, right = split_continuation(context, request.continuation)
        is_large = len(left) > MANY_CHARACTERS
        places = await self._echoed_tokens(left + right, send)
        seam = await beside_loop(
            partial(span_by_text, places, left, left + right), is_large=is_large
        )
        if seam is None:
            seam = await self._span_by_context(places, left, send)
        scored = score_span(places, seam)
        if scored is None:
            raise RejectedError(sentence("error.endpoint-first-token"))
        return scored

    async def _span_by_context(
        self, places: Sequence[PromptToken], left: str, send: Send
    ) -> ContinuationSpan:
        alone = await self._echoed_tokens(left, send) if left else ()
        find = partial(span_by_context, places, alone)
        return await beside_loop(find, is_large=len(places) > MANY_TOKENS)

    async def _echoed_tokens(self, text: str, send: Send) -> list[PromptToken]:
        written = self._capabilities.echo_tokens
        body: Json = {"prompt": text, "echo": True, "logprobs": 1, "max_tokens": written}
        answer = await self._completion_call(send)(body)
        (choice,) = choices(answer)
        tokens = len(as_list(as_object(choice.get("logprobs")).get("tokens")))
        places = await beside_loop(partial(read_echo, choice), is_large=tokens > MANY_TOKENS)
        if not places:
            raise invalid_response(sentence("error.endpoint-token-unscored"))
        read = token_count(as_object(answer.get("usage")).get("prompt_tokens"))
        return places[:read] if written and read else places

    def _can_echo(self, request: Loglik) -> bool:
        return self._capabilities.echo and self._as_text(request) is not None

    async def _score_by_chat(self, request: Loglik, send: Send) -> Response:
        """Score the beginning of a reply to a conversation, by chat alone."""
        turns = _turns(request)
        if not turns:
            raise RejectedError(_unsupported_reason(request.context))
        # All options of a question need it at the same time.
        context = await self._tokenization_cache.get_once(
            ("turns", request.context, request.picture_side),
            partial(self._context_tokens, turns, send),
        )
        both = [*turns, {"role": "assistant", "content": request.continuation}]
        fields = SCORE_PROMPT_FIELDS | CONTINUE_REPLY_FIELDS
        answer = await self._request_chat(send, both, 1, fields)
        return await beside_loop(
            lambda: score_reply(read_chat_tokens(answer), context, request.continuation),
            is_large=_scored_tokens(answer) > MANY_TOKENS,
        )

    async def _context_tokens(self, turns: Sequence[Json], send: Send) -> ContextTokens:
        answer = await self._request_chat(send, turns, 1, SCORE_PROMPT_FIELDS)
        return await beside_loop(
            lambda: context_tokens(read_chat_tokens(answer)),
            is_large=_scored_tokens(answer) > MANY_TOKENS,
        )

    async def _generate(self, request: Generate, send: Send) -> Response:
        body: Json = {"temperature": request.temperature}
        if self._capabilities.prompt_logprobs or self._capabilities.chat_prompt_logprobs:
            body |= _NEUTRAL_SAMPLING
        if request.stop:
            body["stop"] = list(request.stop[:_MAX_STOPS])
        if request.temperature > 0:
            # What every server takes has 31 bits.
            body["seed"] = sampling_seed(self._endpoint.seed, request, bits=31)
        body |= _body_of(request.settings)
        if request.json_schema and self._capabilities.json_schema and not self._refuses_schemas:
            return await self._generate_constrained(request, body, send)
        text = self._as_text(request)
        if text is not None and self._capabilities.completions:
            body |= {"prompt": text, "max_tokens": request.max_tokens}
            return read_text(await self._completion_call(send)(body), request.stop)
        if not self._capabilities.chat:
            raise RejectedError(_unsupported_reason(request.prompt))
        answer = await self._request_chat(send, _turns(request), request.max_tokens, body)
        reply = read_text(answer, request.stop)
        is_cut = reply.finish_reason == "length" and request.setting("thinking") != "off"
        if is_cut and self._capabilities.opens_thoughts and not closes_thought(reply.text):
            raise RejectedError(sentence("error.endpoint-only-thoughts"))
        return reply

    async def _decide(self, request: Decide, send: Send) -> Response:
        form = self._capabilities.decisions
        assert form, "only a server that decides is asked to"
        body = decision_body(form, self._endpoint.model, request)
        answer = self._check_model(await send(form, body))
        return decision_of(form, answer, request, redact=self._redacted)

    async def _generate_constrained(self, request: Generate, body: Json, send: Send) -> Response:
        """A reply that fits the schema, by chat; a free one where the schema alone is refused."""
        form = {"response_format": response_format(request.json_schema)}
        request_chat = partial(self._request_chat, send, _turns(request), request.max_tokens)
        try:
            answer = await request_chat(body | form)
        except RejectedError:
            answer = await request_chat(body)
            # The same request without it was taken: no other has to be sent twice.
            self._refuses_schemas = True
            return read_text(answer, request.stop)
        return replace(read_text(answer, request.stop), constrained=True)

    def _as_text(self, request: Request) -> str | None:
        """The prompt as a text; None for a conversation that only the server can render, and for
        pictures, which it is shown in chat alone.
        """
        prompt = prompt_of(request)
        if request.pictures:
            return None
        if isinstance(prompt, str):
            return prompt
        if self._tokenizer is not None and not self._capabilities.chat:
            return self._tokenizer.render(prompt)
        return None

    def _completion_call(self, send: Send) -> Callable[[Json], Awaitable[Json]]:
        """Request a completion; of one token at temperature 0 unless the body states otherwise."""
        usual: Json = {"model": self._endpoint.model, "max_tokens": 1, "temperature": 0.0}

        async def complete(body: Json) -> Json:
            return self._check_model(await send("completions", usual | body))

        return complete

    async def _request_chat(
        self, send: Send, turns: Sequence[Json], max_tokens: int, body: Json
    ) -> Json:
        usual: Json = {
            "model": self._endpoint.model,
            "messages": turns,
            "temperature": 0.0,
            self._capabilities.limit_field: max(max_tokens, self._capabilities.least_tokens),
            **(STREAMED if self._capabilities.streams else {}),
        }
        sent = {
            field: value
            for field, value in (usual | body).items()
            if field not in self._capabilities.refused_fields
        }
        if self._capabilities.responses:
            answer = as_chat_answer(await send(RESPONSES_PATH, sent))
        else:
            answer = await send("chat/completions", sent)
        return self._check_model(answer)

    async def small_request(self, send: Send) -> None:
        """The smallest request of all: that it is answered shows that the server is well."""
        if self._capabilities.decisions:
            await self._decide(SMALL_DECISION, send)
        elif self._capabilities.chat:
            await self._request_chat(send, [{"role": "user", "content": _SMALL_PROMPT}], 1, {})
        else:
            await self._completion_call(send)({"prompt": _SMALL_PROMPT})

    def _check_model(self, answer: Json) -> Json:
        """The answer, if it is from the model that answered the first time."""
        name, known = reported_model(answer), self._known_models
        if name and known and name not in known:
            raise invalid_response(
                sentence(
                    "error.endpoint-other-model",
                    name=self._redacted(name)[:MAX_MESSAGE_LENGTH],
                    known=", ".join(known)[:MAX_MESSAGE_LENGTH],
                )
            )
        return answer

    def _redacted(self, text: str) -> str:
        return redacted(text, (self._endpoint.key, *self._endpoint.extras.secrets))


def _body_of(settings: Iterable[tuple[str, Any]]) -> Json:
    """The fields for the settings of a request, by the names that servers have for them."""
    body: Json = {}
    for name, value in settings:
        if name == "thinking":
            body["chat_template_kwargs"] = {THINKING_SWITCH: value == "on"}
        else:
            body[name] = value
    return body


def _length(prompt: Prompt) -> int:
    """Characters."""
    return len(prompt) if isinstance(prompt, str) else sum(len(each.content) for each in prompt)


def _scored_tokens(answer: Json) -> int:
    return len(as_list(answer.get("prompt_logprobs")))


def _turns(request: Request) -> list[Json]:
    """The prompt as a conversation with its pictures; a plain one is a message of the user, and
    none begins with nothing.
    """
    prompt = prompt_of(request)
    if isinstance(prompt, str):
        prompt = (Message("user", prompt),) if prompt else ()
    pictures = {picture.id: picture for picture in request.pictures}
    return [{"role": turn.role, "content": content_of(turn.content, pictures)} for turn in prompt]


def _unsupported_reason(prompt: Prompt) -> Sentence:
    if isinstance(prompt, str):
        return sentence("error.endpoint-chat-only")
    return sentence("error.endpoint-plain-only")
