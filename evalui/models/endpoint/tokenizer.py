"""A server's own tokenizer, and the log-probabilities of token ids, where prompts may be ids.

The tokenizer has the role of `tokenization.Tokenizer`; the log-probabilities are exact.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence, Sized
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Send
from evalui.models.endpoint.json_values import Json, as_list
from evalui.models.endpoint.large_work import MANY_TOKENS, beside_loop
from evalui.models.endpoint.responses import choices, invalid_response, read_prompt, read_top
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import THINKING_SWITCH, EncodedPair, spellings_among
from evalui.types import Message

if TYPE_CHECKING:
    from asyncio import Event

T = TypeVar("T")
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
