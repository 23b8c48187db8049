"""Log-probabilities: lists of first tokens, scored prompts, token ids, and a server's tokenizer.

Completions send the tokens of a prompt back as texts (`echo`). vLLM's chat scores the tokens of
whatever its template makes of the turns (`prompt_logprobs`), and can leave the last turn open;
which tokens are the reply's shows beside the conversation alone.
"""

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.protocol import (
    Json,
    RejectedError,
    Send,
    as_list,
    as_object,
    choices,
    invalid_response,
    replace_surrogates,
    token_count,
)
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import THINKING_SWITCH, EncodedPair, spellings_among
from evalui.types import LabelProbs, Logprob, Message

if TYPE_CHECKING:
    from asyncio import Event

T = TypeVar("T")
MANY_TOKENS = 1000  # whose reading takes some milliseconds
MANY_CHARACTERS = 20_000  # of texts whose tokens are arranged
_ROUNDING = 1e-3  # a sum of listed probabilities may pass 1 by so much
_MIN_LOGPROB = -100.0  # no network finds one of its first choices so improbable
_MAX_ID_DIGITS = 12  # digits
_TOKEN_ID_PREFIX = "token_id:"  # vLLM's spelling of a token by its number
# How vocabularies spell a blank at the beginning of a token; some servers pass it on (LMDeploy).
_BLANK_SPELLINGS = ("\u0120", "\u2581")
# The same token after the same text: in bfloat16 servers differ by so much between batches.
_LOGPROB_TOLERANCE = 0.5
REPLACEMENT_CHARACTER = "\ufffd"  # what a part of a character is shown as, whichever it is
MAX_MERGED_TOKENS = 3  # tokens at the end of a context that the first of a continuation may take in
SCORE_PROMPT_FIELDS: Json = {"prompt_logprobs": 0}
# The reply is no turn of its own but one that is being written.
CONTINUE_REPLY_FIELDS: Json = {"add_generation_prompt": False, "continue_final_message": True}
CompletionCall = Callable[[Json], Awaitable[Json]]
# The spellings of a label that real vocabularies have as one token: what stands before and after.
_LABEL_AFFIXES = (
    *(
        (left, "")
        for left in ("", " ", "\n", "\t", "(", " (", "[", " [", "{", "<", ".", "（", "【")
    ),
    *((left, "") for left in ("「", "『", "〔")),
    *(("", right) for right in (".", ")", "]", "}", ">", "）", "】", " ", "\n")),
    *((" ", "."), (" ", ")"), ("(", ")"), (" (", ")"), ("[", "]"), ("（", "）"), ("【", "】")),
)
_FULL_WIDTH_OFFSET = 0xFEE0  # added to "A" it gives "Ａ"
MISSING = object()
_TOKENIZE, _DETOKENIZE = "/tokenize", "/detokenize"
_OTHER_TOKEN = -1  # stands for whichever token the model would have preferred
_MAX_ENTRIES = 20_000  # answers; the options of a question share their context, all prompts labels
# Tokens and characters of all of them; a server may send more than is true.
_MAX_TOTAL_LENGTH = 2**23


async def beside_loop(work: Callable[[], T], *, is_large: bool) -> T:
    """What work comes to: of large work in a thread, since nothing else would be sent or received
    meanwhile.
    """
    if not is_large:
        return work()
    import asyncio

    return await asyncio.to_thread(work)


@dataclass(frozen=True, slots=True)
class TopLogprob:
    """One token at some place, and its natural log-probability there."""

    token: str
    logprob: float

    @property
    def id(self) -> int | None:
        """The token's number, if the server spells tokens so."""
        number = self.token.removeprefix(_TOKEN_ID_PREFIX)
        return int(number) if number != self.token and _is_id(number) else None


@dataclass(frozen=True, slots=True)
class PromptToken:
    """One token of a prompt as the model saw it come; `is_top` if it was the model's own choice.

    `logprob` is None where nothing is known, as for the first token of a text.
    """

    token: str
    logprob: float | None
    is_top: bool


def read_top(choice: Json) -> list[TopLogprob]:
    """The most probable first tokens of a reply, the best first; [] if the server lists none."""
    logprobs = as_object(choice.get("logprobs"))
    content = as_list(logprobs.get("content"))  # chat, and the completions of llama.cpp
    listed = _from_content(content) if content else _from_columns(logprobs)
    if math.fsum(math.exp(each.logprob) for each in listed) > 1 + _ROUNDING:
        raise invalid_response(sentence("error.endpoint-more-than-one"))
    return sorted(listed, key=lambda each: -each.logprob)


def invalid_top_reason(listed: Sequence[TopLogprob]) -> str:
    """Why a list of tokens, the best first, cannot be the model's own; "" if it can.

    Some servers list what is left after sampling at temperature 0. vLLM (0.32) fills the lists of
    all requests of a batch with token 0 if one of them has `logprob_token_ids`.
    """
    if not listed or listed[-1].logprob >= _MIN_LOGPROB:
        return ""
    return sentence("error.endpoint-ruled-out")


def read_echo(choice: Json) -> list[PromptToken]:
    """The tokens of the prompt and of what was written after it; [] if the server sends none."""
    logprobs = as_object(choice.get("logprobs"))
    tokens, scores = as_list(logprobs.get("tokens")), as_list(logprobs.get("token_logprobs"))
    tops = as_list(logprobs.get("top_logprobs"))
    return [
        _echo_token(str(token), score, as_object(tops[at] if at < len(tops) else None))
        for at, (token, score) in enumerate(zip(tokens, scores, strict=False))
    ]


def read_prompt(choice: Json, ids: Sequence[int]) -> list[PromptToken]:
    """What vLLM's `prompt_logprobs` holds of each token id of a prompt.

    A server that ignores the setting scores none of them, which is not to be summed to 0.
    """
    rows = as_list(choice.get("prompt_logprobs"))
    if len(rows) != len(ids):
        raise invalid_response(
            sentence("error.endpoint-token-count", found=len(rows), count=len(ids))
        )
    return [_prompt_token(row, token) for row, token in zip(rows, ids, strict=True)]


def read_row(row: object, token: int) -> PromptToken:
    """What `prompt_logprobs` holds of one token."""
    fields = as_object(row)
    return PromptToken(str(token), _logprob(fields.get("logprob")), is_top=fields.get("rank") == 1)


def _from_content(content: list[Any]) -> list[TopLogprob]:
    first = as_object(content[0])
    rows = [as_object(row) for row in as_list(first.get("top_logprobs"))]
    if "token" in first and all(row.get("token") != first["token"] for row in rows):
        rows.append(first)  # LMDeploy lists the others only
    return [
        TopLogprob(_plain_token(str(row.get("token", ""))), _logprob(row.get("logprob")))
        for row in rows
    ]


def _plain_token(token: str) -> str:
    """The text of a token that the server may spell as its vocabulary does."""
    is_spelt = token.startswith(_BLANK_SPELLINGS)
    return replace_surrogates(f" {token[1:]}" if is_spelt else token)


def _from_columns(logprobs: Json) -> list[TopLogprob]:
    tops = as_list(logprobs.get("top_logprobs"))
    first = as_object(tops[0]) if tops else {}
    listed = {token: _logprob(logprob) for token, logprob in first.items()}
    _check_duplicate_texts(logprobs, listed)
    return [TopLogprob(replace_surrogates(token), logprob) for token, logprob in listed.items()]


def _check_duplicate_texts(logprobs: Json, listed: Mapping[str, float]) -> None:
    """Tokens listed by their texts replace each other where two have the same text, such as "A"
    with its blank left out and "A". It shows if the token that was written is among the lost.
    """
    tokens, scores = as_list(logprobs.get("tokens")), as_list(logprobs.get("token_logprobs"))
    if not tokens or not scores or str(tokens[0]) not in listed:
        return
    if _logprob(scores[0]) > listed[str(tokens[0])] + _ROUNDING:
        raise invalid_response(sentence("error.endpoint-same-text"))


def _echo_token(token: str, score: object, top: Json) -> PromptToken:
    if score is None:
        return PromptToken(token, None, is_top=False)
    logprob = _logprob(score)
    best = max((_logprob(other) for other in top.values()), default=math.inf)
    return PromptToken(token, logprob, is_top=logprob >= best)


def _prompt_token(row: object, token: int) -> PromptToken:
    if row is None:
        return PromptToken(str(token), None, is_top=False)
    fields = as_object(as_object(row).get(str(token)))
    if not fields:
        raise invalid_response(sentence("error.endpoint-other-tokens"))
    return read_row(fields, token)


def _logprob(value: object) -> float:
    """A log-probability; one that is none spoils the whole answer."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= _ROUNDING:
        return min(0.0, float(value))
    raise invalid_response(sentence("error.endpoint-no-logprob"))


@dataclass(frozen=True, slots=True)
class _ProbabilityRange:
    """The probability of a label: at least what is listed, at most what may be missing more."""

    low: float
    high: float

    @property
    def value(self) -> float:
        return self.low or self.high


def label_probs(
    listed: Sequence[TopLogprob], labels: Sequence[str], *, complete: int = 0
) -> LabelProbs:
    """The labels' log-probabilities, as far as the list of tokens, best first, decides them.

    A label that is not in the list has some probability all the same. It cannot be more than what
    the list leaves over, nor can one spelling of it be more probable than the last token listed.
    Only the first of these holds where the list is shorter than it should be: completions list
    tokens by their texts, and of two with the same text, such as "A" with its blank left out and
    "A", one is lost.

    `complete` is how many tokens a list has of which none was lost, 0 if none can be.

    The spellings of a label are summed. A label that is not listed gets the most it can have;
    where that leaves open which label is the best, those in question get the same value, which
    every reading treats as a tie. If no label is listed, nothing is known of any: all are -inf.
    """
    spelt = spellings_among([each.token for each in listed])
    lost = len(listed) < complete
    ranges = [
        _probability_range(listed, label, spelt.get(label, ()), lost=lost) for label in labels
    ]
    best = max(each.low for each in ranges)
    mass = min(1.0, math.fsum(each.low for each in ranges))
    if best == 0:
        return LabelProbs(tuple(-math.inf for _ in labels), mass, listed[0].token)
    rivals = sum(each.high >= best for each in ranges)
    values = [best if rivals > 1 and each.high >= best else each.value for each in ranges]
    return LabelProbs(tuple(_log(value) for value in values), mass, listed[0].token)


def _probability_range(
    listed: Sequence[TopLogprob], label: str, places: Sequence[int], *, lost: bool
) -> _ProbabilityRange:
    """`places` are those of the label's spellings in the list; `lost`: it may have had more."""
    least = math.fsum(math.exp(listed[place].logprob) for place in places)
    rest = max(0.0, 1.0 - math.fsum(math.exp(each.logprob) for each in listed))
    if lost:
        return _ProbabilityRange(least, least + rest)
    # Two spellings are common, with a space and without; others are rare enough to be left out.
    missing = {label, f" {label}"} - {each.token for each in listed}
    lowest = math.exp(min(each.logprob for each in listed))
    return _ProbabilityRange(least, least + min(rest, len(missing) * lowest))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class ContinuationSpan:
    """The tokens `begin` to `end` are the continuation; `merged` as in `Logprob`."""

    begin: int
    end: int
    merged: bool


def split_continuation(context: str, continuation: str) -> tuple[str, str]:
    """The two texts, the blanks at the end of the context moved to the continuation.

    As `tokenization.encode_pairs` does it, which has the reasons.
    """
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def span_by_text(places: Sequence[PromptToken], left: str, whole: str) -> ContinuationSpan | None:
    """The seam by the lengths of the tokens' texts; None if they do not spell the prompt.

    They do not where tokens are parts of characters, as often in Chinese.
    """
    joined = "".join(place.token for place in places)
    shift = joined.find(whole)  # behind a begin-of-text token, for instance
    if shift < 0:
        return None
    seam, end = shift + len(left), shift + len(whole)
    starts = [0]
    for place in places:
        starts.append(starts[-1] + len(place.token))
    begin = next(
        (at for at in range(len(places)) if starts[at] >= seam or starts[at + 1] > seam), None
    )
    if begin is None:
        return None
    last = next((at for at in range(begin, len(places)) if starts[at] >= end), len(places))
    return ContinuationSpan(begin, last, merged=starts[begin] < seam)


def span_by_context(
    places: Sequence[PromptToken], context: Sequence[PromptToken]
) -> ContinuationSpan:
    """The seam by the tokens of the context alone: after the longest prefix in common.

    Raises:
        RetryableError: the prefix ends too early for that, so the server has scored the same tokens
            differently, and it is unknown which ones are the continuation's.
    """
    same = 0
    for whole, alone in zip(places, context, strict=False):
        if not _is_same_token(whole, alone):
            break
        same += 1
    if context and (same == 0 or same < len(context) - MAX_MERGED_TOKENS):
        raise invalid_response(sentence("error.endpoint-no-seam"))
    return ContinuationSpan(same, len(places), merged=same < len(context))


def score_span(places: Sequence[PromptToken], span: ContinuationSpan) -> Logprob | None:
    """The continuation's score; None if it has no token, or one of unknown probability."""
    own = places[span.begin : span.end]
    known = [place.logprob for place in own if place.logprob is not None]
    if not own or len(known) < len(own):
        return None
    greedy = all(place.is_top for place in own)
    return Logprob(math.fsum(known), len(own), greedy=greedy, merged=span.merged)


def _is_same_token(left: PromptToken, right: PromptToken) -> bool:
    if left.token != right.token or (left.logprob is None) != (right.logprob is None):
        return False
    if left.token and REPLACEMENT_CHARACTER not in left.token:
        return True
    # The text does not show which token it is; its probability does.
    return math.isclose(left.logprob or 0.0, right.logprob or 0.0, abs_tol=_LOGPROB_TOLERANCE)


@dataclass(frozen=True, slots=True)
class ChatToken:
    """One token of what the template made of a conversation."""

    token_id: int
    text: str
    scored_token: PromptToken


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """The tokens of a conversation alone: their ids, and the texts of the last ones, which the
    first token of a reply may take in.
    """

    token_ids: tuple[int, ...]
    last_texts: tuple[str, ...]


def read_chat_tokens(answer: Json) -> list[ChatToken]:
    """What the server reports of each token of a conversation but the first.

    Raises:
        RetryableError: it does not score all of them.
    """
    rows = as_list(answer.get("prompt_logprobs"))
    if not rows or len(rows) != token_count(as_object(answer.get("usage")).get("prompt_tokens")):
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    return [_chat_token(row) for row in rows[1:]]


def context_tokens(tokens: Sequence[ChatToken]) -> ContextTokens:
    """What is to be known of a conversation to find a reply behind it."""
    last = tokens[max(0, len(tokens) - MAX_MERGED_TOKENS) :]
    return ContextTokens(tuple(each.token_id for each in tokens), tuple(each.text for each in last))


def score_reply(tokens: Sequence[ChatToken], context: ContextTokens, reply: str) -> Logprob:
    """The score of a reply; `tokens` of both together, `context` of the conversation alone.

    Raises:
        RejectedError: the template does not put the reply, as it is, after the conversation.
    """
    pairs = zip(tokens, context.token_ids, strict=False)
    seam = sum(1 for _ in takewhile(lambda pair: pair[0].token_id == pair[1], pairs))
    taken_in = len(context.token_ids) - seam
    scored = score_span(
        [each.scored_token for each in tokens],
        ContinuationSpan(seam, len(tokens), merged=taken_in > 0),
    )
    # What the reply took in must still be there: a template may open thoughts ("<think>") only
    # where the model's turn is to begin.
    text = "".join(context.last_texts[len(context.last_texts) - taken_in :]) + reply
    if scored is None or taken_in > MAX_MERGED_TOKENS or not _matches_text(tokens[seam:], text):
        raise RejectedError(sentence("error.endpoint-template"))
    return scored


def _chat_token(row: object) -> ChatToken:
    by_id = as_object(row)
    if len(by_id) != 1:
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    ((number, fields),) = by_id.items()
    text = as_object(fields).get("decoded_token")
    if not isinstance(text, str) or not _is_id(number):
        raise invalid_response(sentence("error.endpoint-no-token-ids"))
    return ChatToken(int(number), text, read_row(fields, int(number)))


def _is_id(number: str) -> bool:
    return number.isdecimal() and len(number) <= _MAX_ID_DIGITS


def _matches_text(own: Sequence[ChatToken], text: str) -> bool:
    """Whether these tokens are the text. Parts of characters may be any, but none is of ASCII: a
    blank that was taken off shows.
    """
    pieces = re.split(f"({REPLACEMENT_CHARACTER}+)", "".join(each.text for each in own))
    known = [
        f"[^\\x00-\\x7f]{{1,{len(piece)}}}" if at % 2 else re.escape(piece)
        for at, piece in enumerate(pieces)
    ]
    return bool(re.fullmatch("".join(known), text))


class TokenizationCache:
    """What a server has sent of texts and tokens, which never changes. Of one event loop."""

    def __init__(self) -> None:
        self._entries: dict[object, Any] = {}
        self._total_length = 0  # of all that is known
        self._fetching: dict[object, Event] = {}  # set once the key is fetched, or was in vain

    def get(self, key: object) -> Any:
        """What is known under `key`, `MISSING` if nothing is."""
        return self._entries.get(key, MISSING)

    def keep(self, key: object, value: object) -> None:
        """Know something under `key`; too much of it makes all that is known forgotten."""
        length = _length(value)
        if len(self._entries) >= _MAX_ENTRIES or self._total_length + length > _MAX_TOTAL_LENGTH:
            self._entries.clear()
            self._total_length = 0
        self._entries[key] = value
        self._total_length += length

    async def get_once(self, key: object, fetch: Callable[[], Awaitable[T]]) -> T:
        """What is known under `key`, else fetched; others that need the same wait for it."""
        import asyncio

        while (fetching := self._fetching.get(key)) is not None:
            await fetching.wait()
        if (known := self.get(key)) is not MISSING:
            return known
        self._fetching[key] = done = asyncio.Event()
        try:
            value = await fetch()
            self.keep(key, value)
        finally:  # after an error the first of those that wait fetches it
            del self._fetching[key]
            done.set()
        return value


def _length(known: object) -> int:
    return len(known) if isinstance(known, Sized) else 1


class _NotFetched(Exception):
    """What the server has to be sent first to know something."""

    def __init__(self, key: object, path: str, body: Json) -> None:
        super().__init__(key)
        self.key = key
        self.path = path
        self.body = body


class ServerTokenizer:
    """vLLM's /tokenize and /detokenize; see `tokenization.Tokenizer`.

    Its methods know what the server has sent already, so they are called within `complete`. Its
    vocabulary cannot be listed (`size` is 0), and which token stands for the empty context
    is not reported (`empty_context_id` is None unless every text begins with one).
    """

    size = 0

    def __init__(self, name: str, model: str, send: Send, memory: TokenizationCache) -> None:
        self.name = name
        self._model = model
        self._send = send
        self._cache = memory
        self._known: dict[object, Any] = {}  # what `complete` has needed: it is not forgotten

    async def complete(self, work: Callable[[], T], *, is_large: bool = False) -> T:
        """What work with this tokenizer comes to: it begins anew after each thing that the server
        had to be sent. `is_large` as in `beside_loop`.
        """
        while True:
            try:
                return await beside_loop(work, is_large=is_large)
            except _NotFetched as missing:
                self._known[missing.key] = await self._cache.get_once(
                    missing.key, partial(self._fetch, missing)
                )

    @property
    def bos_ids(self) -> tuple[int, ...]:
        """The tokens that stand before every text."""
        alone, begun = self._ids("a"), self._ids("a", special=True)
        before = len(begun) - len(alone)
        # A server that puts a token behind the text, or has no such setting, is not misread.
        return begun[:before] if begun[max(0, before) :] == alone else ()

    @property
    def empty_context_id(self) -> int | None:
        """The token that stands for the empty context."""
        return self.bos_ids[0] if self.bos_ids else None

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        return [list(self._ids(text)) if text else [] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens; the server does not leave special ones out."""
        return self._text(tuple(ids))

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return [self._text((token,)) for token in ids]

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins."""
        turns = [{"role": each.role, "content": each.content} for each in messages]
        body: Json = {"messages": turns, "add_generation_prompt": True}
        if thinking:
            body["chat_template_kwargs"] = {THINKING_SWITCH: thinking == "on"}
        return self._text(self._get((*messages, thinking), _TOKENIZE, body))

    def spellings(self, labels: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
        """For each label the ids of the common spellings of it that are one token."""
        ids_by_label = {label: self._spelt(label) for label in labels}
        return {label: ids for label, ids in ids_by_label.items() if ids}

    def _spelt(self, label: str) -> tuple[int, ...]:
        key = "spelt", label
        if (known := self._cache.get(key)) is MISSING:
            known = self._single_token_ids(label)
            self._cache.keep(key, known)
        return known

    def _single_token_ids(self, label: str) -> tuple[int, ...]:
        wide = "".join(chr(ord(each) + _FULL_WIDTH_OFFSET) for each in label if "!" <= each <= "~")
        texts = [left + label + right for left, right in _LABEL_AFFIXES]
        texts += [left + wide for left in ("", " ")] if len(wide) == len(label) else []
        single = sorted({ids[0] for text in texts if len(ids := self._ids(text)) == 1})
        places = spellings_among(self.spell(single)).get(label, ())
        return tuple(single[place] for place in places)

    def _ids(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        body: Json = {"prompt": text, "add_special_tokens": special}
        return self._get((text, special), _TOKENIZE, body)

    def _text(self, ids: tuple[int, ...]) -> str:
        return self._get(ids, _DETOKENIZE, {"tokens": list(ids)})

    def _get(self, key: object, path: str, body: Json) -> Any:
        known = self._known.get(key, MISSING)
        if known is MISSING:
            known = self._cache.get(key)
        if known is MISSING:
            raise _NotFetched(key, path, body)
        return known

    async def _fetch(self, missing: _NotFetched) -> tuple[int, ...] | str:
        answer = await self._send(missing.path, {"model": self._model, **missing.body})
        if missing.path == _DETOKENIZE:
            text = answer.get("prompt")
            if not isinstance(text, str):
                raise invalid_response(sentence("error.endpoint-no-detokenize"))
            return text
        ids = as_list(answer.get("tokens"))
        if any(type(token) is not int for token in ids) or len(ids) != answer.get("count"):
            raise invalid_response(sentence("error.endpoint-no-token-ids"))
        return tuple(ids)


async def token_id_logprobs(
    batch: ScoringBatch, key: int, complete: CompletionCall, *, picks_token_ids: bool
) -> tuple[list[float], list[int]]:
    """What `batch.response` makes the response to request number `key` of.

    `picks_token_ids` is as in `Capabilities`.
    """
    if key in batch.pairs:
        return await _score_continuation(batch.pairs[key], complete)
    context = batch.contexts[key].ids
    wanted = [token for spelt in batch.labels[key] for token in spelt]
    look = _picked_logprobs if picks_token_ids else _logprobs_one_by_one
    logprobs, top = await look(context, wanted, complete)
    return logprobs, [top]


async def _score_continuation(
    pair: EncodedPair, complete: CompletionCall
) -> tuple[list[float], list[int]]:
    """Of each token of the continuation the log-probability, and the model's own choice there."""
    ids = pair.context + pair.continuation
    body: Json = {"prompt": list(ids), "prompt_logprobs": 0}
    (choice,) = choices(await complete(body))
    read = partial(read_prompt, choice, ids)
    places = (await beside_loop(read, is_large=len(ids) > MANY_TOKENS))[len(pair.context) :]
    best = [
        token if place.is_top else _OTHER_TOKEN
        for token, place in zip(pair.continuation, places, strict=True)
    ]
    return [_require_score(place.logprob) for place in places], best


async def _picked_logprobs(
    context: Sequence[int], wanted: Sequence[int], complete: CompletionCall
) -> tuple[list[float], int]:
    """The next token's log-probabilities of some tokens, and the most probable of all."""
    body: Json = {
        "prompt": list(context),
        "logprobs": 1,
        "logprob_token_ids": sorted(set(wanted)),
        "return_tokens_as_token_ids": True,
    }
    (choice,) = choices(await complete(body))
    listed = read_top(choice)
    by_id = {each.id: each.logprob for each in listed}
    if not listed or any(token not in by_id for token in wanted):
        raise invalid_response(sentence("error.endpoint-labels-missing"))
    # At temperature 0 the token it wrote is the most probable, and it is always listed.
    return [by_id[token] for token in wanted], _require_score(listed[0].id)


async def _logprobs_one_by_one(
    context: Sequence[int], wanted: Sequence[int], complete: CompletionCall
) -> tuple[list[float], int]:
    """The same, each token put after the context as a prompt of its own."""
    distinct = sorted(set(wanted))
    prompts = [list(context), *([*context, token] for token in distinct)]
    body: Json = {
        "prompt": prompts,
        "logprobs": 1,
        "prompt_logprobs": 0,
        "return_tokens_as_token_ids": True,
    }
    bare, *tried = choices(await complete(body), len(prompts))

    def read() -> dict[int, float]:
        return {
            ids[-1]: _require_score(read_prompt(choice, ids)[-1].logprob)
            for ids, choice in zip(prompts[1:], tried, strict=True)
        }

    tokens = len(context) * len(distinct)
    logprobs = await beside_loop(read, is_large=tokens > MANY_TOKENS)
    top = read_top(bare)
    return [logprobs[token] for token in wanted], _require_score(top[0].id if top else None)


def _require_score(value: T | None) -> T:
    if value is None:
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    return value
