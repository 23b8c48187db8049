"""What a server can really do, by trying it: a setting it ignores is answered with HTTP 200."""

import io
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.endpoint.decisions import (
    DECISION_FORMS,
    SMALL_DECISION,
    DecisionForm,
    decision_body,
    decision_of,
)
from evalui.models.endpoint.logprobs import (
    CONTINUE_REPLY_FIELDS,
    SCORE_PROMPT_FIELDS,
    context_tokens,
    invalid_top_reason,
    read_chat_tokens,
    read_echo,
    read_prompt,
    read_top,
    score_reply,
    span_by_text,
)
from evalui.models.endpoint.protocol import (
    LIMIT_FIELDS,
    MAX_MESSAGE_LENGTH,
    NOT_IMPLEMENTED,
    REQUEST_TIMEOUT,
    RESPONSES_PATH,
    STREAMED,
    TOO_MANY_REQUESTS,
    Json,
    RejectedError,
    RetryableError,
    ServedModel,
    as_chat_answer,
    as_list,
    as_object,
    choices,
    content_of,
    first_text,
    read_message,
    replace_surrogates,
    reported_model,
    response_format,
    served_model,
    token_count,
)
from evalui.pictures import Picture, mark_of
from evalui.replies import begins_with_mark, closes_thought, split_thoughts
from evalui.types import Ability

if TYPE_CHECKING:
    from concurrent.futures import Future

    from evalui.models.endpoint.server import HttpServer

_NEWER_LIMIT_FIELD, _LIMIT_FIELD = LIMIT_FIELDS
# What models that think before they reply may refuse. One goes at a time, since a refusal may
# also name what is allowed: the one that changes no reply first, as texts are cut here anyway.
OPTIONAL_FIELDS = ("stop", "temperature")
_MIN_LETTER_MASS = 0.5  # the probability of all letters where a letter is what a reply begins with
# Thoughts may begin with "I", which is a word; one more request shows what it is.
_LETTER = re.compile(r"\s*[A-HJ-Z]\s*")
_LEAST_TOKENS = 16  # the highest minimum of a longest reply that servers are known to have
_NAMES_LIMIT = re.compile(r"\bmax_(?:completion_|output_)?tokens\b")
_STREAM_ONLY = re.compile(r"only supports? (?:the )?stream", re.IGNORECASE)
_LIMIT_REACHED = "output limit was reached"  # OpenAI's word where one token is not enough to think
T = TypeVar("T")
_MIN_TOP = 2  # a list of one token shows nothing of the others
_PROBE_TEXT = "Question: Which of these is the largest?\nAnswer:"
_PROBE_MESSAGES: list[Json] = [{"role": "user", "content": "Name a letter."}]
_PROBE_REPLY = "B"
_INTERFACE_PATH = re.compile(
    rf"/(?:chat/completions|completions|responses|models|{'|'.join(DECISION_FORMS)})$"
)
_VERSION_PATH = re.compile(r"/v\d+(?:beta)?(?:/|$)")
# What servers allow: OpenAI's chat and vLLM 20, OpenAI's completions 5.
_TOP_COUNTS = (20, 10, 5, 2)
_PROBE_IDS = tuple(range(100, 112))  # every vocabulary has these
_PICKED_IDS = (100, 103)
_SHORT_REPLY_TOKENS = 64  # some servers indent JSON, and some models say more than a word
_PROBE_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"letter": {"type": "string", "enum": ["Q", "X"]}},
        "required": ["letter"],
        "additionalProperties": False,
    }
)
_COLOURS = ("red", "blue")
_COLOUR_QUESTION = "What colour is this picture? Answer with one word: red or blue."
_WORD = re.compile(r"[a-z]+")  # "coloured" is not red
_COLOUR_TOKENS = 2048  # where a model thinks before that word
_SQUARE_SIDE = 224  # pixels; some models refuse smaller ones
_UNUSED_STOP = "\n\n\n\n"  # a stop text that one token will not be
_TOP_RETRIES = 3  # times that a list is requested anew which another request may have spoilt
_LIST_RETRIES = 2  # times that an answer without a list is requested anew
_THOUGHT_TOKENS = 512  # that a model may write which does not begin with the letter requested
_MAX_FAULTS = 2  # times that a request is sent again after a fault of the server, such as HTTP 500
_FAULT_DELAY_S = 0.5  # before the first of them
_LM_STUDIO_STATES = ("loaded", "loading", "not-loaded")
_NO_ROUTE_STATUSES = (404, 405)
_MAX_RETRIES = 7  # times that a request waits because the server accepts fewer of them
_MAX_RETRY_DELAY_S = 20.0  # for each of them


def _joined(join: Callable[[Iterable[Any]], Any]) -> Mapping[str, Any]:
    """Metadata of a field of `Capabilities`: what those of several servers come to."""
    return {"join": join}


_ALL, _ANY, _LEAST, _MOST = map(_joined, (all, any, min, max))
_FIRST = _joined(lambda several: next((each for each in several if each), ""))
_EACH = _joined(lambda several: frozenset[str]().union(*several))
_SAME = _joined(lambda several: next(iter(several)) if len({*several}) == 1 else "")
_LEAST_KNOWN = _joined(lambda several: min((each for each in several if each), default=0))
_NAMES = _joined(lambda several: "|".join(sorted(set(several))))
_MERGED = _joined(lambda several: {key: each for one in several for key, each in one.items()})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one server really did when it was probed; each field states what several can do.

    `chat_top` and `completion_top` are how many of the most probable tokens it lists in chat and in
    completions, 0 if none. `echo`: it scores the tokens of a prompt in OpenAI's old manner, if it
    may write `echo_tokens` of its own; `prompt_logprobs`: in vLLM's; `chat_prompt_logprobs`: so
    does its chat. `accepts_token_ids`: it takes prompts as token ids and spells tokens as ids;
    `picks_token_ids`: it scores any given tokens as the next one. `has_tokenizer_routes`: it
    turns texts into ids. `thinks`: its chat writes thoughts before the reply, so that the first
    token is no answer; `opens_thoughts`: its template does, so that only their end is marked;
    `responses`: its chat is the Responses API. `json_schema`: its chat writes JSON that fits a
    schema. `limit_field` is chat's name of the longest reply, which has `least_tokens` at least;
    `streams`: it replies by stream alone; `refused_fields` are the fields that it does without.
    `sees_pictures`: its chat names the colour of a picture; `blind_reason` is why it does not;
    `scores_pictures`: it scores a reply to one. `decisions` is the form in which it takes
    decisions, "" if it takes none; one that was found to take them has nothing else.
    `max_length` (0: not reported), `root` and `reported_model` are what it reports of the model.
    """

    chat: bool = field(default=False, metadata=_ALL)
    completions: bool = field(default=False, metadata=_ALL)
    chat_top: int = field(default=0, metadata=_LEAST)
    completion_top: int = field(default=0, metadata=_LEAST)
    echo: bool = field(default=False, metadata=_ALL)
    echo_tokens: int = field(default=0, metadata=_MOST)
    prompt_logprobs: bool = field(default=False, metadata=_ALL)
    chat_prompt_logprobs: bool = field(default=False, metadata=_ALL)
    accepts_token_ids: bool = field(default=False, metadata=_ALL)
    picks_token_ids: bool = field(default=False, metadata=_ALL)
    has_tokenizer_routes: bool = field(default=False, metadata=_ALL)
    thinks: bool = field(default=False, metadata=_ANY)
    opens_thoughts: bool = field(default=False, metadata=_ANY)
    responses: bool = field(default=False, metadata=_ANY)
    json_schema: bool = field(default=False, metadata=_ALL)
    # A server that refuses the old name needs the new one; most others know both.
    limit_field: str = field(default="max_tokens", metadata=_LEAST)
    least_tokens: int = field(default=1, metadata=_MOST)
    streams: bool = field(default=False, metadata=_ANY)
    refused_fields: frozenset[str] = field(default=frozenset(), metadata=_EACH)
    sees_pictures: bool = field(default=False, metadata=_ALL)
    blind_reason: str = field(default="", metadata=_FIRST)
    scores_pictures: bool = field(default=False, metadata=_ALL)
    decisions: Literal["", DecisionForm] = field(default="", metadata=_SAME)
    max_length: int = field(default=0, metadata=_LEAST_KNOWN)
    root: str = field(default="", metadata=_NAMES)
    reported_model: str = field(default="", metadata=_NAMES)
    missing_reasons: Mapping[Ability, str] = field(
        default_factory=dict[Ability, str], metadata=_MERGED
    )

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can answer, by whichever way."""
        abilities: set[Ability] = set()
        if self.chat or self.completions:
            abilities.add("generate")
        if self.scores_token_ids or self.chat_top >= _MIN_TOP or self.completion_top >= _MIN_TOP:
            abilities.add("next_token")
        if self.scores_token_ids or self.echo or self.chat_prompt_logprobs:
            abilities.add("loglik")
        if self.json_schema:
            abilities.add("schema")
        if self.decisions:
            abilities.add("decide")
        return frozenset(abilities)

    @property
    def plain_only(self) -> Mapping[Ability, str]:
        """Why it gives plain prompts what it does not give conversations, by what that is."""
        why: dict[Ability, str] = {}
        if self.thinks:
            why["next_token"] = sentence("error.endpoint-thinks")
        elif not (self.scores_token_ids or self.chat_top >= _MIN_TOP or not self.chat):
            why["next_token"] = sentence("error.endpoint-plain-only")
        if self.chat and not (self.scores_token_ids or self.chat_prompt_logprobs):
            why["loglik"] = sentence("error.endpoint-plain-only")
        elif self.opens_thoughts:
            why["loglik"] = sentence("error.opens-thoughts")
        return {ability: reason for ability, reason in why.items() if ability in self.abilities}

    @property
    def text_only(self) -> Mapping[Ability, str]:
        """Why it gives texts what it does not give pictures, by what that is: these are shown in
        conversations alone, which no tokens stand for.
        """
        if not self.sees_pictures:
            return dict.fromkeys(self.abilities, self.blind_reason)
        unscored = sentence("error.endpoint-pictures-unscored")
        why: dict[Ability, str] = {}
        if self.thinks:
            why["next_token"] = sentence("error.endpoint-thinks")
        elif self.chat_top < _MIN_TOP:
            why["next_token"] = unscored
        if not self.scores_pictures:
            why["loglik"] = unscored
        elif self.opens_thoughts:
            why["loglik"] = sentence("error.opens-thoughts")
        return {ability: reason for ability, reason in why.items() if ability in self.abilities}

    @property
    def scores_token_ids(self) -> bool:
        """Whether it scores any token ids after any others, which answers everything exactly."""
        return self.accepts_token_ids and self.prompt_logprobs and self.has_tokenizer_routes

    @property
    def is_nondeterministic(self) -> bool:
        """Whether chat draws replies at a temperature of its own, so no two need be the same."""
        return self.chat and "temperature" in self.refused_fields

    @property
    def honours(self) -> frozenset[str]:
        """The settings of writing that its replies follow.

        Those of OpenAI's interface; a server that shows its tokenizer or scores prompts is one that
        draws itself and renders chat templates, as vLLM. None where nothing is written.
        """
        if self.decisions:
            return frozenset()
        names = {"temperature", "top_p"}
        if self.chat:
            names.add("reasoning_effort")
        if self.has_tokenizer_routes or self.prompt_logprobs or self.chat_prompt_logprobs:
            names |= {"top_k", "min_p", "thinking"}
        return frozenset(names - self.refused_fields)

    @property
    def interface_key(self) -> str:
        """How requests are sent, in one word per kind; another way may change the figures."""
        next_token = "ids" if self.scores_token_ids else f"top{self.completion_top}/{self.chat_top}"
        scoring = "+".join(["echo"] * self.echo + ["turns"] * self.chat_prompt_logprobs)
        loglik = "ids" if self.scores_token_ids else scoring or "-"
        also = "|drawn" * self.is_nondeterministic + "|responses" * self.responses
        also += f"|{self.decisions}" if self.decisions else ""
        return f"{next_token}|{loglik}|{self.chat:d}{self.completions:d}{also}"


def common_capabilities(capabilities: Sequence[Capabilities]) -> Capabilities:
    """What all of several servers can do."""
    assert capabilities, "at least one server is available"
    return Capabilities(
        **{
            each.name: each.metadata["join"]([getattr(one, each.name) for one in capabilities])
            for each in fields(Capabilities)
        }
    )


def has_thoughts(answer: Json) -> bool:
    """Whether a reply shows thoughts: in a field or a part of their own, or by a mark at its
    beginning, be it the most probable first token alone.
    """
    try:
        (choice,) = choices(answer)
        listed = read_top(choice)
    except RetryableError:
        return False
    text, thoughts = read_message(choice)
    marks = [text or "", *(each.token for each in listed[:1])]
    return bool(thoughts) or any(map(begins_with_mark, marks))


def whole_reply_thoughts(answer: Json) -> tuple[bool, bool]:
    """Of a reply that may have been cut off: whether it closes a thought that it did not open, and
    whether it shows thoughts or nothing that is visible.
    """
    try:
        (choice,) = choices(answer)
    except RetryableError:
        return False, False
    text, shown = first_text(choice), has_thoughts(answer)
    return closes_thought(text) and not shown, shown or not text.strip()


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """One attempt: the server's answer, or the reason why there is none.

    `auth_error` is what to raise if the key was refused everywhere.
    """

    answer: Json
    reason: str = ""
    status: int = 0
    auth_error: ModelError | None = None


@dataclass(frozen=True, slots=True)
class InterfaceProbe:
    """Whether one interface answers at all, and how long a list of tokens it gives.

    `thinks` and `opens_thoughts` as in `Capabilities`. `status` is that of a refusal, `body` what
    was sent at last, but for the list: it lacks what is refused.
    """

    works: bool = False
    top: int = 0
    thinks: bool = False
    opens_thoughts: bool = False
    reason: str = ""
    status: int = 0
    reported_model: str = ""
    auth_error: ModelError | None = None
    answer: Json = field(default_factory=dict[str, Any], repr=False)
    body: Json = field(default_factory=dict[str, Any], repr=False)

    @property
    def limit_field(self) -> str:
        """The name of the longest reply."""
        return _NEWER_LIMIT_FIELD if _NEWER_LIMIT_FIELD in self.body else _LIMIT_FIELD

    @property
    def refused_fields(self) -> frozenset[str]:
        """The fields that it does without."""
        return frozenset(OPTIONAL_FIELDS) - self.body.keys()


def adapt_request(body: Json, reason: str) -> Json:
    """The same question in the manner that a refusal names: with the newer name of the limit, a
    higher limit, by stream, or without a field.
    """
    if _NEWER_LIMIT_FIELD in reason and _LIMIT_FIELD in body:
        others = {field: value for field, value in body.items() if field != _LIMIT_FIELD}
        return others | {_NEWER_LIMIT_FIELD: body[_LIMIT_FIELD]}
    limits = [field for field in LIMIT_FIELDS if body.get(field, _LEAST_TOKENS) < _LEAST_TOKENS]
    if limits and _NAMES_LIMIT.search(reason):
        return body | dict.fromkeys(limits, _LEAST_TOKENS)
    if _STREAM_ONLY.search(reason) and "stream" not in body:
        return body | STREAMED
    named = (each for each in OPTIONAL_FIELDS if each in body and re.search(rf"\b{each}\b", reason))
    refused = next(named, "")
    return {field: value for field, value in body.items() if field != refused}


def read_probe(tried: ProbeReply, top: int = 0) -> InterfaceProbe:
    """What the answer to a question shows, for a list of `top` tokens or without one."""
    if _LIMIT_REACHED in tried.reason:
        return InterfaceProbe(works=True)
    if tried.reason:
        return InterfaceProbe(reason=tried.reason, status=tried.status, auth_error=tried.auth_error)
    try:
        (choice,) = choices(tried.answer)
    except RetryableError as error:
        return InterfaceProbe(reason=error.reason)
    why = _missing_top_reason(choice) if top else ""
    return InterfaceProbe(
        works=True,
        top=0 if why else top,
        reason=why,
        reported_model=reported_model(tried.answer),
        answer=tried.answer,
    )


def _read_decision(
    form: DecisionForm, tried: ProbeReply, redact: Callable[[str], str]
) -> InterfaceProbe:
    """Whether an answer to the small decision is one, or why not."""
    if tried.reason:
        return InterfaceProbe(reason=tried.reason, status=tried.status, auth_error=tried.auth_error)
    try:
        decision_of(form, tried.answer, SMALL_DECISION, redact=redact)
    except RetryableError as error:
        return InterfaceProbe(reason=error.reason)
    return InterfaceProbe(works=True, reported_model=reported_model(tried.answer))


def begins_with_letter(answer: Json) -> bool:
    """Whether a reply begins with what it was to be, a letter: by its list of first tokens, else
    by its text.
    """
    try:
        (choice,) = choices(answer)
        listed = read_top(choice)
    except RetryableError:
        return False
    if not listed:
        return bool(_LETTER.fullmatch(first_text(choice)))
    mass = math.fsum(math.exp(each.logprob) for each in listed if _LETTER.fullmatch(each.token))
    return mass >= _MIN_LETTER_MASS


def may_be_spoilt(answer: Json, attempt: int) -> bool:
    """Whether the list of tokens may be there, or be the model's own, another time: behind a router
    some providers send lists and others none.
    """
    try:
        (choice,) = choices(answer)
        listed = read_top(choice)
    except RetryableError:
        return False
    return bool(invalid_top_reason(listed)) if listed else attempt < _LIST_RETRIES


def fits_probe_schema(choice: Json) -> bool:
    """Whether a reply is JSON, as far as it goes; thoughts alone are the beginning of any reply."""
    message = as_object(choice.get("message"))
    text = message.get("content")
    if isinstance(text, str) and text.strip():
        return text.lstrip().startswith("{")
    thinks = message.get("reasoning_content") or message.get("reasoning")
    return bool(thinks) and choice.get("finish_reason") == "length"


def _missing_top_reason(choice: Json) -> str:
    try:
        listed = read_top(choice)
    except RetryableError as error:
        return error.reason
    if not listed:
        return sentence("error.endpoint-ignores-logprobs")
    if all(each.id is not None for each in listed):
        return sentence("error.endpoint-spells-ids")
    if len(listed) == 1:
        return sentence("error.endpoint-one-token")
    return invalid_top_reason(listed)


@dataclass(frozen=True, slots=True)
class _ServedModels:
    """What the server reports of its models; `names` () if it reports nothing."""

    names: tuple[str, ...] = ()
    own: ServedModel = field(default_factory=ServedModel)


def probe(
    server: "HttpServer", model: str, sleep: Callable[[float], None] = time.sleep
) -> Capabilities:
    """What the server can do for the model. A server that wants fewer requests is waited for.

    Raises:
        RetryableError: it cannot be probed now.
        ModelError: it rejects the API key, or cannot serve the model.
    """
    requests = _ServerProbe(server, model, sleep)
    # At the same time: a user may wait for it.
    models, chatting = _run_in_thread(requests.models), _run_in_thread(requests.chat)
    completing, echoing = _run_in_thread(requests.completions), _run_in_thread(requests.echo)
    for each in (models, chatting, completing, echoing):
        each.exception()  # waits; none may be under way when the ids are tried
    served, chat, completions = models.result(), chatting.result(), completing.result()
    if not (chat.works or completions.works):
        return _other_interface(requests, served, chat, completions)
    # Last, since it spoils lists requested at the same time, see `invalid_top_reason`.
    capabilities = requests.token_ids() if completions.works else Capabilities()
    may_score = capabilities.prompt_logprobs or not completions.works
    why_no_echo, echo_tokens = echoing.result()
    capabilities = replace(
        capabilities,
        chat=chat.works,
        completions=completions.works,
        chat_top=chat.top,
        completion_top=completions.top,
        echo=not why_no_echo,
        echo_tokens=echo_tokens,
        chat_prompt_logprobs=chat.works and may_score and requests.chat_prompt_logprobs(),
        thinks=chat.thinks,
        opens_thoughts=chat.opens_thoughts,
        json_schema=chat.works and requests.json_schema(chat),
        limit_field=chat.limit_field,
        least_tokens=chat.body[chat.limit_field],
        streams="stream" in chat.body,
        refused_fields=chat.refused_fields,
        max_length=served.own.max_length,
        root=served.own.root,
        reported_model=completions.reported_model or chat.reported_model,
    )
    reasons = _missing_reasons(capabilities, chat, completions, why_no_echo)
    blind_reason = requests.blind_reason(capabilities, chat.body)
    return replace(
        capabilities,
        sees_pictures=not blind_reason,
        blind_reason=blind_reason,
        scores_pictures=not blind_reason
        and capabilities.chat_prompt_logprobs
        and requests.chat_prompt_logprobs(_colour_turns(_COLOURS[0])),
        missing_reasons=reasons,
    )


def probe_decisions(
    server: "HttpServer", model: str, sleep: Callable[[float], None] = time.sleep
) -> Capabilities:
    """As `probe`, of a server that is to be asked for decisions, whatever else it has."""
    requests = _ServerProbe(server, model, sleep)
    served, (form, decided) = requests.models(), requests.decisions()
    if not form:
        what = sentence("error.endpoint-tried-decisions")
        raise decided.auth_error or requests.unusable_error(
            served, decided.reason, what=what, works=_ServerProbe.decides
        )
    return _deciding(form, served, decided)


def loads_on_demand(server: "HttpServer") -> bool:
    """Whether the server loads the model that a request names, maybe in place of another: what
    llama.cpp's router, LM Studio and Ollama list shows them. Nothing is loaded by these requests.
    """

    def read(path: str, field: str) -> object:
        try:
            return server.get(path).get(field)
        except (ModelError, RejectedError, RetryableError):
            return None

    def listed(path: str) -> list[Json]:
        return [as_object(each) for each in as_list(read(path, "data"))]

    return (
        any("value" in as_object(each.get("status")) for each in listed("models"))
        or any(each.get("state") in _LM_STUDIO_STATES for each in listed("/api/v0/models"))
        or (isinstance(read("/api/ps", "models"), list) and bool(read("/api/version", "version")))
    )


def _other_interface(
    requests: "_ServerProbe",
    served: _ServedModels,
    chat: InterfaceProbe,
    completions: InterfaceProbe,
) -> Capabilities:
    """What a server can do that has neither chat nor completions where both were tried.

    Raises:
        ModelError: it rejects the key, or has nothing else; the sentence names an address that
            answers, if there is one.
    """
    if locked := chat.auth_error or completions.auth_error:
        raise locked
    responses = requests.responses()
    if responses.works:
        capabilities = Capabilities(
            chat=True,
            responses=True,
            refused_fields=responses.refused_fields,
            json_schema=requests.json_schema(responses, RESPONSES_PATH),
            max_length=served.own.max_length,
            root=served.own.root,
            reported_model=responses.reported_model,
            missing_reasons={
                "next_token": sentence("error.endpoint-responses-only"),
                "loglik": sentence("error.endpoint-responses-only"),
            },
        )
        blind_reason = requests.blind_reason(capabilities, responses.body)
        return replace(capabilities, sees_pictures=not blind_reason, blind_reason=blind_reason)
    form, decided = requests.decisions()
    if form:
        return _deciding(form, served, decided)
    # Chat may say no more than that it is not the interface of this model.
    refusals = (
        each for each in (responses, decided) if each.status not in (0, *_NO_ROUTE_STATUSES)
    )
    tried = (each for each in (chat, completions, decided) if each.status not in _NO_ROUTE_STATUSES)
    reason = next((each.reason for each in (*refusals, *tried)), chat.reason)
    what = sentence("error.endpoint-tried-all")
    raise requests.unusable_error(served, reason, what=what, works=_ServerProbe.answers)


def _deciding(form: DecisionForm, served: _ServedModels, decided: InterfaceProbe) -> Capabilities:
    """What a server can do that is asked for decisions."""
    writes_nothing = sentence("error.endpoint-decides-only")
    return Capabilities(
        decisions=form,
        blind_reason=sentence("error.endpoint-decides-texts"),
        max_length=served.own.max_length,
        root=served.own.root,
        reported_model=decided.reported_model,
        missing_reasons={
            "next_token": writes_nothing,
            "loglik": writes_nothing,
            "generate": writes_nothing,
        },
    )


class _ServerProbe:
    """The single requests of a probe; each is sent in a thread of its own."""

    def __init__(self, server: "HttpServer", model: str, sleep: Callable[[float], None]) -> None:
        self._server = server
        self._model = model
        self._sleep = sleep

    def models(self) -> _ServedModels:
        """What /models lists; nothing if it fails, as with servers that load on demand."""
        try:
            answer = self._with_retries(lambda: self._server.get("models"))
        except (RejectedError, RetryableError, ModelError) as error:
            if isinstance(error, RetryableError) and _is_transient(error):
                raise
            return _ServedModels()
        listed = (as_object(each) for each in as_list(answer.get("data")))
        names = tuple(str(each.get("id", "")) for each in listed)
        return _ServedModels(names, served_model(answer, self._model) or ServedModel())

    def chat(self) -> InterfaceProbe:
        """Whether it converses, and lists tokens while it does; and which fields it refuses."""
        body: Json = {
            "messages": _PROBE_MESSAGES,
            "max_tokens": 1,
            "temperature": 0.0,
            "stop": [_UNUSED_STOP],
        }
        extras = [{"logprobs": True, "top_logprobs": top} for top in _TOP_COUNTS]
        probed = self._probe_top("chat/completions", body, extras)
        while not probed.works and (other := adapt_request(body, probed.reason)) != body:
            body = other
            probed = self._probe_top("chat/completions", body, extras)
        return replace(self._without_thoughts(probed, body), body=body)

    def responses(self) -> InterfaceProbe:
        """Whether it has the Responses API, and which fields it refuses there."""
        body: Json = {"messages": _PROBE_MESSAGES, "temperature": 0.0}
        tried = self._request(RESPONSES_PATH, body)
        if tried.reason and (other := adapt_request(body, tried.reason)) != body:
            body = other
            tried = self._request(RESPONSES_PATH, body)
        probed = read_probe(replace(tried, answer=as_chat_answer(tried.answer)))
        return replace(probed, body=body)

    def decisions(self) -> tuple[Literal["", DecisionForm], InterfaceProbe]:
        """The form in which it decides, "" if in none, with why not: as the form says it that is
        there, if one is. A gateway's fault at one of them hides no other.
        """
        failed: list[InterfaceProbe] = []
        faults: list[RetryableError] = []
        for form in DECISION_FORMS:
            try:
                tried = self._send(form, decision_body(form, self._model, SMALL_DECISION))
            except RetryableError as error:
                # No server there, or too many requests everywhere.
                if error.status in (0, REQUEST_TIMEOUT, TOO_MANY_REQUESTS):
                    raise
                faults.append(error)
                continue
            probed = _read_decision(form, tried, self._server.redacted)
            if probed.works:
                return form, probed
            failed.append(probed)
        locked = [each for each in failed if each.auth_error]
        refusals = [each for each in failed if each.status not in (0, *_NO_ROUTE_STATUSES)]
        if faults and not (locked or refusals):
            raise faults[0]
        unreadable = [each for each in failed if not each.status]
        return "", (*locked, *refusals, *unreadable, *failed)[0]

    def answers(self) -> bool:
        """Whether chat, completions or decisions answer."""
        return self.chat().works or self.completions().works or self.decides()

    def decides(self) -> bool:
        """Whether decisions answer."""
        return bool(self.decisions()[0])

    def unusable_error(
        self,
        served: _ServedModels,
        reason: str,
        *,
        what: str,
        works: Callable[["_ServerProbe"], bool],
    ) -> ModelError:
        """Why the server cannot be used, and what may help: another name, or another address.

        `what` says what it does not answer, `works` whether a server answers it.
        """
        url = self._server.url
        if served.names and self._model not in served.names:
            known = replace_surrogates(", ".join(served.names[:20]))[:MAX_MESSAGE_LENGTH]
            return ModelError("endpoint-unknown-model", url=url, model=self._model, known=known)
        for other in _other_addresses(url):
            if self._works_at(other, works):
                return ModelError(
                    "endpoint-other-address", url=url, what=what, other=other, reason=reason
                )
        has_version = _VERSION_PATH.search(urlsplit(url).path)
        key = "endpoint-no-reply-here" if has_version else "endpoint-no-reply-at-all"
        return ModelError(key, url=url, what=what, reason=reason)

    def _works_at(self, url: str, works: Callable[["_ServerProbe"], bool]) -> bool:
        """Whether something works at another address; a fault there is no answer."""
        server = self._server.at(url)
        try:
            return works(_ServerProbe(server, self._model, self._sleep))
        except RetryableError:
            return False
        finally:
            server.close()

    def _without_thoughts(self, probed: InterfaceProbe, body: Json) -> InterfaceProbe:
        """What chat does, without the list of a first token that is a thought."""
        answer, opens = probed.answer, False
        if not probed.works or begins_with_letter(answer):
            return probed  # even if it stands in the field of thoughts, this is the reply
        if not has_thoughts(answer):
            # A blank or a phrase may stand before the letter, or thoughts that the template opened:
            # the whole reply shows it.
            longer = {field: _THOUGHT_TOKENS for field in LIMIT_FIELDS if field in body}
            whole = self._request("chat/completions", body | longer).answer
            opens, thinks = whole_reply_thoughts(whole)
            if not (opens or thinks):
                return probed
        if not probed.top:
            return replace(probed, thinks=True, opens_thoughts=opens)
        why = sentence("error.endpoint-thinks")
        return replace(probed, thinks=True, opens_thoughts=opens, top=0, reason=why)

    def completions(self) -> InterfaceProbe:
        """Whether it goes on with a text, and lists tokens while it does."""
        body: Json = {"prompt": _PROBE_TEXT, "max_tokens": 1, "temperature": 0.0}
        return self._probe_top("completions", body, [{"logprobs": top} for top in _TOP_COUNTS])

    def echo(self) -> tuple[str, int]:
        """Why it does not score the tokens of a prompt by `echo`, "" if it does; and how many
        tokens of its own it must be let write.
        """
        reason = ""
        for tokens in (0, 1):
            body: Json = {"prompt": _PROBE_TEXT, "max_tokens": tokens, "echo": True, "logprobs": 1}
            tried = self._request("completions", body)
            reason = tried.reason or _missing_echo_reason(tried.answer)
            if not tried.reason:
                return reason, tokens
        return reason, 0

    def token_ids(self) -> Capabilities:
        """Whether it takes token ids, scores them, and turns texts into them."""
        body: Json = {
            "prompt": list(_PROBE_IDS),
            "max_tokens": 1,
            "logprobs": 1,
            "prompt_logprobs": 0,
            "return_tokens_as_token_ids": True,
        }
        for extra in ({"logprob_token_ids": list(_PICKED_IDS)}, {}):
            tried = self._request("completions", body | extra)
            if not tried.reason:
                break
        texts = self._request_optional_route(
            "/tokenize", {"prompt": "a b", "add_special_tokens": False}
        )
        back = self._request_optional_route("/detokenize", {"tokens": list(_PICKED_IDS)})
        try:
            (choice,) = choices(tried.answer)
            places = read_prompt(choice, _PROBE_IDS)
            listed = read_top(choice)
        except RetryableError:
            return Capabilities()
        known = {each.id for each in listed}
        # A server that takes the list for a text counts other tokens.
        read = token_count(as_object(tried.answer.get("usage")).get("prompt_tokens"))
        return Capabilities(
            accepts_token_ids=read == len(_PROBE_IDS)
            and any(each.id is not None for each in listed),
            prompt_logprobs=bool(places) and all(p.logprob is not None for p in places[1:]),
            picks_token_ids=known.issuperset(_PICKED_IDS),
            has_tokenizer_routes=bool(as_list(texts.answer.get("tokens")))
            and isinstance(back.answer.get("prompt"), str),
        )

    def chat_prompt_logprobs(self, turns: Sequence[Json] = _PROBE_MESSAGES) -> bool:
        """Whether chat scores the tokens of a conversation with the beginning of a reply."""
        body: Json = {"max_tokens": 1, "temperature": 0.0, **SCORE_PROMPT_FIELDS}
        whole = {"messages": [*turns, {"role": "assistant", "content": _PROBE_REPLY}]}
        both = self._request("chat/completions", body | CONTINUE_REPLY_FIELDS | whole)
        if not as_list(both.answer.get("prompt_logprobs")):
            return False
        alone = self._request("chat/completions", body | {"messages": turns})
        try:
            score_reply(
                read_chat_tokens(both.answer),
                context_tokens(read_chat_tokens(alone.answer)),
                _PROBE_REPLY,
            )
        except (RejectedError, RetryableError):
            return False
        return True

    def json_schema(self, chat: InterfaceProbe, path: str = "chat/completions") -> bool:
        """Whether chat writes nothing but JSON that fits a schema.

        The request itself does not ask for JSON, so a server that ignores the schema writes none.
        One that was cut off in hidden thoughts has accepted it, at least.
        """
        sent = {field: value for field, value in chat.body.items() if field != "stop"}
        sent |= {
            chat.limit_field: _SHORT_REPLY_TOKENS,
            "response_format": response_format(_PROBE_SCHEMA),
        }
        try:
            (choice,) = choices(as_chat_answer(self._request(path, sent).answer))
        except RetryableError:  # the rest of what is known is worth more than this
            return False
        return fits_probe_schema(choice)

    def blind_reason(self, can: Capabilities, body: Json) -> str:
        """Why chat does not see pictures, "" if it does: shown one square after the other, it names
        the colour of each. `body` is what it takes.
        """
        if not can.chat:
            return sentence("error.endpoint-pictures-by-chat")
        path = RESPONSES_PATH if can.responses else "chat/completions"
        limit = _COLOUR_TOKENS if can.thinks or can.responses else _SHORT_REPLY_TOKENS
        sent = {field: value for field, value in body.items() if field != "stop"}
        for colour in _COLOURS:
            asked = {"messages": _colour_turns(colour), can.limit_field: limit}
            try:
                tried = self._request(path, sent | asked)
            except RetryableError as error:
                if error.status == TOO_MANY_REQUESTS:
                    raise
                return error.reason  # one that breaks off at a picture still reads texts
            if tried.reason:
                return tried.reason
            reply = _reply(as_chat_answer(tried.answer))
            if set(_WORD.findall(reply.lower())).intersection(_COLOURS) != {colour}:
                told = reply[:MAX_MESSAGE_LENGTH] or "-"
                return sentence("error.endpoint-ignores-pictures", colour=colour, told=told)
        return ""

    def _probe_top(self, path: str, body: Json, extras: Sequence[Json]) -> InterfaceProbe:
        """`extras` request lists of `_TOP_COUNTS` tokens."""
        tried = self._request_valid_top(path, body | extras[0])
        if not tried.reason:
            return read_probe(tried, _TOP_COUNTS[0])
        if tried.status in _NO_ROUTE_STATUSES:
            return InterfaceProbe(reason=tried.reason, status=tried.status)
        bare = read_probe(self._request(path, body))
        if not bare.works:
            return bare
        if tried.auth_error:  # how OpenAI reports that a model has no logprobs
            why = sentence("error.endpoint-locked-top")
            return replace(bare, reason=why)
        for extra, top in zip(extras[1:], _TOP_COUNTS[1:], strict=True):
            shorter = self._request_valid_top(path, body | extra)
            if not shorter.reason:
                return read_probe(shorter, top)
        return replace(bare, reason=tried.reason)

    def _request_valid_top(self, path: str, body: Json) -> ProbeReply:
        """An answer whose list of tokens can be true, if there is one in a few attempts."""
        tried = self._request(path, body)
        for attempt in range(_TOP_RETRIES):
            if not may_be_spoilt(tried.answer, attempt):
                break
            tried = self._request(path, body)
        return tried

    def _request_optional_route(self, path: str, body: Json) -> ProbeReply:
        """As `_request` at a route that a server is of use without: if a gateway does not answer
        there, twice, there is none.
        """
        try:
            return self._request(path, body)
        except RetryableError as error:
            # No server there, or too many requests everywhere.
            if error.status in (0, TOO_MANY_REQUESTS):
                raise
        try:
            return self._request(path, body)
        except RetryableError as error:
            return ProbeReply({}, error.reason, error.status)

    def _request(self, path: str, body: Json) -> ProbeReply:
        return self._send(path, {"model": self._model, **body})

    def _send(self, path: str, sent: Json) -> ProbeReply:
        try:
            answer = self._with_retries(lambda: self._server.post(path, sent))
            for _ in range(_LIST_RETRIES):
                if answer.get("choices") or "choices" not in answer:
                    break
                answer = self._with_retries(lambda: self._server.post(path, sent))
            return ProbeReply(answer)
        except ModelError as error:  # a key may be good for some routes only
            return ProbeReply({}, error.sentence, auth_error=error)
        except RejectedError as error:
            return ProbeReply({}, error.reason, error.status)
        except RetryableError as error:
            if _is_transient(error):
                raise
            return ProbeReply({}, error.reason, error.status)

    def _with_retries(self, send: Callable[[], Json]) -> Json:
        """What `send` returns, sent again after a while if the server wants fewer requests, and
        once if the connection broke: some close it after an error while it is used again.
        """
        broken = False
        for attempt in range(_MAX_RETRIES):
            try:
                return send()
            except RetryableError as error:
                if error.blame == "server" and not error.status and not broken:
                    broken = True
                    continue
                is_fault = error.status >= 500 and error.status != NOT_IMPLEMENTED
                if is_fault and attempt < _MAX_FAULTS and not error.retry_after_s:
                    self._sleep(_FAULT_DELAY_S * 2.0**attempt)
                    continue
                if (
                    error.status != TOO_MANY_REQUESTS
                    or error.retry_after_s > _MAX_RETRIES * _MAX_RETRY_DELAY_S
                ):
                    raise
                self._sleep(min(error.retry_after_s or 2.0**attempt, _MAX_RETRY_DELAY_S))
        return send()


def _missing_reasons(
    capabilities: Capabilities, chat: InterfaceProbe, completions: InterfaceProbe, why_no_echo: str
) -> dict[Ability, str]:
    """Why abilities are missing, by what the interfaces did that work."""
    reasons = [each.reason for each in (chat, completions) if each.works and each.reason]
    chat_only = sentence("error.endpoint-chat-only")
    why: dict[Ability, str] = {
        "next_token": reasons[0] if reasons else "",
        "loglik": why_no_echo if completions.works else chat_only,
    }
    return {key: each for key, each in why.items() if each and key not in capabilities.abilities}


def _colour_turns(colour: str) -> list[Json]:
    """A conversation about a square of one colour."""
    from PIL import Image

    written = io.BytesIO()
    Image.new("RGB", (_SQUARE_SIDE, _SQUARE_SIDE), colour).save(written, "PNG")
    mark = mark_of(written.getvalue())
    square = Picture(mark.id, written.getvalue())
    content = content_of(f"{mark}{_COLOUR_QUESTION}", {mark.id: square})
    return [{"role": "user", "content": content}]


def _reply(answer: Json) -> str:
    """What a model says, without its thoughts; "" if it says nothing."""
    try:
        (choice,) = choices(answer)
    except RetryableError:
        return ""
    return " ".join((split_thoughts(first_text(choice)).spoken or "").split())


def _run_in_thread(request: Callable[[], T]) -> "Future[T]":
    """The answer to come, from a thread for which the end of the program does not wait."""
    from concurrent.futures import Future

    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(request())
        except BaseException as error:  # noqa: BLE001 (raised where the result is read)
            answer.set_exception(error)

    threading.Thread(target=run, name="endpoint-request", daemon=True).start()
    return answer


def _is_transient(error: RetryableError) -> bool:
    """Whether the error shows nothing of what the server can do."""
    return error.blame == "server" or error.status == REQUEST_TIMEOUT


def _missing_echo_reason(answer: Json) -> str:
    try:
        (choice,) = choices(answer)
        places = read_echo(choice)
    except RetryableError as error:
        return error.reason
    unscored = sum(place.logprob is None for place in places)
    if len(places) < len(_PROBE_TEXT.split()) or unscored > 1:
        return sentence("error.endpoint-ignores-echo")
    if span_by_text(places, "", _PROBE_TEXT) is None:
        return sentence("error.endpoint-other-echo")
    return ""


def _other_addresses(url: str) -> list[str]:
    """Addresses that may be meant: without the path of an interface, or with the version."""
    parts = urlsplit(url)
    path = _INTERFACE_PATH.sub("", parts.path)
    paths = [path] if path != parts.path else []
    if not _VERSION_PATH.search(path):
        paths.append(f"{path}/v1")
    return [parts._replace(path=each).geturl() for each in paths]
