"""What a server can really do, found out by asking: a setting that is ignored is answered with
HTTP 200 all the same.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.endpoint.chat_logprobs import CONTINUED, SCORED, before, read_turns, score_turns
from evalui.models.endpoint.http.client import (
    LONGEST,
    TIMED_OUT,
    TOO_MANY,
    Declined,
    Faltered,
    Json,
    Server,
    as_list,
    as_object,
    mended,
    whole,
)
from evalui.models.endpoint.probing.capabilities import Findings
from evalui.models.endpoint.probing.interface_probe import (
    DISPENSABLE,
    NEWER_LIMIT,
    Listing,
    Try,
    adapted,
    answered,
    is_spoilt,
    listed,
)
from evalui.models.endpoint.prompt_logprobs import seam_by_text
from evalui.models.endpoint.responses import choices, read_echo, read_prompt, read_top
from evalui.types import Ability

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

_TEXT = "Question: Which of these is the largest?\nAnswer:"
_TURNS = [{"role": "user", "content": "Name a letter."}]
_REPLY = "B"
_TOPS = (20, 10, 5, 2)  # what servers allow: OpenAI's chat and vLLM 20, OpenAI's completions 5
_IDS = tuple(range(100, 112))  # every vocabulary has these
_PICKED = (100, 103)
_NEVER = "\n\n\n\n"  # a stop text that one token will not be
_AGAIN = 3  # times that a list is asked for anew which somebody else's request may have spoilt
_NO_ROUTE = (404, 405)
_WAITS = 7  # times that a question is put off because the server wants fewer of them
_LONGEST_WAIT_S = 20.0  # for each of them


@dataclass(frozen=True, slots=True)
class _Served:
    """What the server says of its models; `names` () if it says nothing."""

    names: tuple[str, ...] = ()
    root: str = ""
    max_length: int = 0


def probe(server: Server, model: str, sleep: Callable[[float], None] = time.sleep) -> Findings:
    """What the server can do for the model. A server that wants fewer questions is waited for.

    Raises:
        Faltered: it cannot be asked now.
        ModelError: it lets nobody in with this key, or cannot serve the model.
    """
    asked = _Probe(server, model, sleep)
    # At once: somebody may wait for it.
    models, chatting = _begin(asked.models), _begin(asked.chat)
    completing, echoing = _begin(asked.completions), _begin(asked.echo)
    for each in (models, chatting, completing, echoing):
        each.exception()  # waits; none may be under way when the ids are tried
    served, chat, completions = models.result(), chatting.result(), completing.result()
    if not (chat.works or completions.works):
        locked = chat.locked or completions.locked
        raise locked or _useless(server, model, served, completions.reason or chat.reason)
    # Last, since it spoils lists asked for at the same time, see `why_unbelievable`.
    found = asked.ids() if completions.works else Findings()
    may_score = found.prompt_logprobs or not completions.works
    why_no_echo, echo_tokens = echoing.result()
    found = replace(
        found,
        chat=chat.works,
        completions=completions.works,
        chat_top=chat.top,
        listed=completions.top,
        echo=not why_no_echo,
        echo_tokens=echo_tokens,
        turns=chat.works and may_score and asked.turns(),
        limit_field=chat.limit_field,
        refused=chat.refused,
        max_length=served.max_length,
        root=served.root,
        told=completions.told or chat.told,
    )
    return replace(found, lacks=_lacks(found, chat, completions, why_no_echo))


class _Probe:
    """The single questions; each is asked in a thread of its own."""

    def __init__(self, server: Server, model: str, sleep: Callable[[float], None]) -> None:
        self._server = server
        self._model = model
        self._sleep = sleep

    def models(self) -> _Served:
        """What /models lists; nothing if it fails, as with servers that load on demand."""
        try:
            answer = self._patiently(lambda: self._server.get("models"))
        except (Declined, Faltered, ModelError) as error:
            if isinstance(error, Faltered) and _is_passing(error):
                raise
            return _Served()
        listed = [as_object(each) for each in as_list(answer.get("data"))]
        own = next((each for each in listed if each.get("id") == self._model), as_object(None))
        return _Served(
            tuple(str(each.get("id", "")) for each in listed),
            str(own.get("root") or ""),
            whole(own.get("max_model_len")),
        )

    def chat(self) -> Listing:
        """Whether it converses, and lists tokens while it does; and which fields it refuses."""
        body: Json = {"messages": _TURNS, "max_tokens": 1, "temperature": 0.0, "stop": [_NEVER]}
        extras = [{"logprobs": True, "top_logprobs": top} for top in _TOPS]
        found = self._listing("chat/completions", body, extras)
        while not found.works and (other := adapted(body, found.reason)) != body:
            body = other
            found = self._listing("chat/completions", body, extras)
        return replace(
            found,
            limit_field="max_tokens" if "max_tokens" in body else NEWER_LIMIT,
            refused=frozenset(DISPENSABLE) - body.keys(),
        )

    def completions(self) -> Listing:
        """Whether it goes on with a text, and lists tokens while it does."""
        body: Json = {"prompt": _TEXT, "max_tokens": 1, "temperature": 0.0}
        return self._listing("completions", body, [{"logprobs": top} for top in _TOPS])

    def echo(self) -> tuple[str, int]:
        """Why it does not score the tokens of a prompt by `echo`, "" if it does; and how many
        tokens of its own it must be let write.
        """
        reason = ""
        for tokens in (0, 1):
            body: Json = {"prompt": _TEXT, "max_tokens": tokens, "echo": True, "logprobs": 1}
            tried = self._try("completions", body)
            reason = tried.reason or _why_not_echoed(tried.answer)
            if not tried.reason:
                return reason, tokens
        return reason, 0

    def ids(self) -> Findings:
        """Whether it takes token ids, scores them, and turns texts into them."""
        body: Json = {
            "prompt": list(_IDS),
            "max_tokens": 1,
            "logprobs": 1,
            "prompt_logprobs": 0,
            "return_tokens_as_token_ids": True,
        }
        for extra in ({"logprob_token_ids": list(_PICKED)}, {}):
            tried = self._try("completions", body | extra)
            if not tried.reason:
                break
        texts = self._aside("/tokenize", {"prompt": "a b", "add_special_tokens": False})
        back = self._aside("/detokenize", {"tokens": list(_PICKED)})
        try:
            (choice,) = choices(tried.answer)
            places = read_prompt(choice, _IDS)
            listed = read_top(choice)
        except Faltered:
            return Findings()
        known = {each.id for each in listed}
        # A server that takes the list for a text counts other tokens.
        read = whole(as_object(tried.answer.get("usage")).get("prompt_tokens"))
        return Findings(
            ids=read == len(_IDS) and any(each.id is not None for each in listed),
            prompt_logprobs=bool(places) and all(p.logprob is not None for p in places[1:]),
            picks=known.issuperset(_PICKED),
            tokenizes=bool(as_list(texts.answer.get("tokens")))
            and isinstance(back.answer.get("prompt"), str),
        )

    def turns(self) -> bool:
        """Whether chat scores the tokens of a conversation with the beginning of a reply."""
        body: Json = {"max_tokens": 1, "temperature": 0.0, **SCORED}
        turns = [*_TURNS, {"role": "assistant", "content": _REPLY}]
        both = self._try("chat/completions", body | CONTINUED | {"messages": turns})
        if not as_list(both.answer.get("prompt_logprobs")):
            return False
        alone = self._try("chat/completions", body | {"messages": _TURNS})
        try:
            score_turns(read_turns(both.answer), before(read_turns(alone.answer)), _REPLY)
        except (Declined, Faltered):
            return False
        return True

    def _listing(self, path: str, body: Json, extras: Sequence[Json]) -> Listing:
        """`extras` ask for lists of `_TOPS` tokens."""
        tried = self._believable(path, body | extras[0])
        if not tried.reason:
            return listed(tried.answer, _TOPS[0])
        if tried.status in _NO_ROUTE:
            return Listing(reason=tried.reason)
        bare = answered(self._try(path, body))
        if not bare.works:
            return bare
        if tried.locked:  # as OpenAI tells that a model has no logprobs
            why = sentence("error.endpoint-locked-top")
            return replace(bare, reason=why)
        for extra, top in zip(extras[1:], _TOPS[1:], strict=True):
            shorter = self._believable(path, body | extra)
            if not shorter.reason:
                return listed(shorter.answer, top)
        return replace(bare, reason=tried.reason)

    def _believable(self, path: str, body: Json) -> Try:
        """An answer whose list of tokens can be true, if there is one in a few attempts."""
        tried = self._try(path, body)
        for _ in range(_AGAIN):
            if not is_spoilt(tried):
                break
            tried = self._try(path, body)
        return tried

    def _aside(self, path: str, body: Json) -> Try:
        """As `_try` at a route that a server is of use without: if a gateway does not answer
        there, twice, there is none.
        """
        try:
            return self._try(path, body)
        except Faltered as error:
            if error.status in (0, TOO_MANY):  # nobody there, or too many questions everywhere
                raise
        try:
            return self._try(path, body)
        except Faltered as error:
            return Try({}, error.reason, error.status)

    def _try(self, path: str, body: Json) -> Try:
        sent = {"model": self._model, **body}
        try:
            return Try(self._patiently(lambda: self._server.post(path, sent)))
        except ModelError as error:  # a key may be good for some routes only
            return Try({}, error.sentence, locked=error)
        except Declined as error:
            return Try({}, error.reason, error.status)
        except Faltered as error:
            if _is_passing(error):
                raise
            return Try({}, error.reason, error.status)

    def _patiently(self, ask: Callable[[], Json]) -> Json:
        """What `ask` returns, asked again after a while if the server wants fewer questions, and
        once if the connection broke: some close it after an error while it is used again.
        """
        broken = False
        for attempt in range(_WAITS):
            try:
                return ask()
            except Faltered as error:
                if error.blame == "server" and not error.status and not broken:
                    broken = True
                    continue
                if error.status != TOO_MANY or error.retry_after_s > _WAITS * _LONGEST_WAIT_S:
                    raise
                self._sleep(min(error.retry_after_s or 2.0**attempt, _LONGEST_WAIT_S))
        return ask()


def _lacks(
    found: Findings, chat: Listing, completions: Listing, why_no_echo: str
) -> dict[Ability, str]:
    """Why abilities are missing, by what the interfaces did that work."""
    reasons = [each.reason for each in (completions, chat) if each.works and each.reason]
    chat_only = sentence("error.endpoint-chat-only")
    why: dict[Ability, str] = {
        "next_token": reasons[0] if reasons else "",
        "loglik": why_no_echo if completions.works else chat_only,
    }
    return {key: each for key, each in why.items() if each and key not in found.abilities}


def _begin(question: Callable[[], T]) -> "Future[T]":
    """The answer to come, from a thread for which the end of the program does not wait."""
    from concurrent.futures import Future

    answer: Future[T] = Future()

    def ask() -> None:
        try:
            answer.set_result(question())
        except BaseException as error:  # noqa: BLE001 (raised where the result is read)
            answer.set_exception(error)

    threading.Thread(target=ask, name="endpoint-question", daemon=True).start()
    return answer


def _is_passing(error: Faltered) -> bool:
    """Whether the error tells nothing of what the server can do."""
    return error.blame == "server" or error.status == TIMED_OUT


def _why_not_echoed(answer: Json) -> str:
    try:
        (choice,) = choices(answer)
        places = read_echo(choice)
    except Faltered as error:
        return error.reason
    unscored = sum(place.logprob is None for place in places)
    if len(places) < len(_TEXT.split()) or unscored > 1:
        return sentence("error.endpoint-ignores-echo")
    if seam_by_text(places, "", _TEXT) is None:
        return sentence("error.endpoint-other-echo")
    return ""


def _useless(server: Server, model: str, served: _Served, reason: str) -> ModelError:
    if served.names and model not in served.names:
        return ModelError(
            "endpoint-unknown-model",
            url=server.url,
            model=model,
            known=mended(", ".join(served.names[:20]))[:LONGEST],
        )
    return ModelError(
        "endpoint-no-reply-at-all",
        url=server.url,
        reason=reason,
    )
