"""A server's own tokenizer, asked over HTTP, in the role that `tokens` wants."""

import threading
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import partial
from typing import Any, TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Json, Post, as_list
from evalui.models.endpoint.responses import invalid_response
from evalui.models.tokenization import spellings_among
from evalui.types import Message

T = TypeVar("T")

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
_MISSING = object()
_MAX_ENTRIES = 20_000  # answers; the options of a question share their context, all prompts labels
_MAX_TOTAL_LENGTH = (
    2**23
)  # tokens and characters of all of them; a server may say more than is true


class TokenizationCache:
    """What a server has said of texts and tokens, which never changes."""

    def __init__(self) -> None:
        self._entries: dict[object, Any] = {}
        self._total_length = 0  # of all that is known; about, since threads add to it at once
        self._key_locks: dict[object, threading.Lock] = {}  # each held while its key is asked for
        self._guard = threading.Lock()  # protects these: two threads must not make two of a key

    def get(self, key: object, fetch: Callable[[], T]) -> T:
        """What is known under `key`; asked for if nothing is."""
        known = self._entries.get(key, _MISSING)  # once: another thread may clear them meanwhile
        if known is _MISSING:
            # Two threads may ask the same at once and are told the same.
            known = fetch()
            length = _length(known)
            if (
                len(self._entries) >= _MAX_ENTRIES
                or self._total_length + length > _MAX_TOTAL_LENGTH
            ):
                self._entries.clear()
                self._total_length = 0
            self._entries[key] = known
            self._total_length += length
        return known

    def get_once(self, key: object, fetch: Callable[[], T]) -> T:
        """As `get`; others who want to know the same wait instead of asking too."""
        with self._guard:
            alone = self._key_locks.setdefault(key, threading.Lock())
        with alone:
            found = self.get(key, fetch)
        # Not after an error: those who wait would ask, and so would those who come.
        with self._guard:
            self._key_locks.pop(key, None)
        return found


def _length(known: object) -> int:
    return len(known) if isinstance(known, Sized) else 1


class ServerTokenizer:
    """vLLM's /tokenize and /detokenize; see `tokens.Tokenizer`.

    Its vocabulary cannot be listed (`size` is 0), and which token stands for the empty context
    is not told (`empty_context_id` is None unless every text begins with one).
    """

    size = 0

    def __init__(self, name: str, model: str, post: Post, memory: TokenizationCache) -> None:
        self.name = name
        self._model = model
        self._post = post
        self._cache = memory
        alone, begun = self._ids("a"), self._ids("a", special=True)
        before = len(begun) - len(alone)
        # A server that puts a token behind the text, or has no such setting, is not misread.
        self.bos_ids = begun[:before] if begun[max(0, before) :] == alone else ()
        self.empty_context_id = self.bos_ids[0] if self.bos_ids else None

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        return [list(self._ids(text)) if text else [] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens; the server does not leave special ones out."""
        return self._text(tuple(ids))

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return [self._text((token,)) for token in ids]

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation up to where the model's turn begins."""
        turns = [{"role": each.role, "content": each.content} for each in messages]
        key = tuple(messages)
        return self._text(
            self._cache.get(
                key, lambda: self._tokenize({"messages": turns, "add_generation_prompt": True})
            )
        )

    def spellings(self, labels: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
        """For each label the ids of the common spellings of it that are one token."""
        found = {
            label: self._cache.get_once(("spelt", label), partial(self._single_token_ids, label))
            for label in labels
        }
        return {label: ids for label, ids in found.items() if ids}

    def _single_token_ids(self, label: str) -> tuple[int, ...]:
        wide = "".join(chr(ord(each) + _FULL_WIDTH_OFFSET) for each in label if "!" <= each <= "~")
        texts = [left + label + right for left, right in _LABEL_AFFIXES]
        texts += [left + wide for left in ("", " ")] if len(wide) == len(label) else []
        single = sorted({ids[0] for text in texts if len(ids := self._ids(text)) == 1})
        places = spellings_among(self.spell(single)).get(label, ())
        return tuple(single[place] for place in places)

    def _ids(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        body: Json = {"prompt": text, "add_special_tokens": special}
        return self._cache.get((text, special), lambda: self._tokenize(body))

    def _tokenize(self, body: Json) -> tuple[int, ...]:
        answer = self._post("/tokenize", {"model": self._model, **body})
        found = as_list(answer.get("tokens"))
        if any(type(token) is not int for token in found) or len(found) != answer.get("count"):
            raise invalid_response(sentence("error.endpoint-no-token-ids"))
        return tuple(found)

    def _text(self, ids: tuple[int, ...]) -> str:
        return self._cache.get(ids, lambda: self._detokenize(ids))

    def _detokenize(self, ids: tuple[int, ...]) -> str:
        answer = self._post("/detokenize", {"model": self._model, "tokens": list(ids)})
        text = answer.get("prompt")
        if not isinstance(text, str):
            raise invalid_response(sentence("error.endpoint-no-detokenize"))
        return text
