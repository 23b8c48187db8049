"""A server's own tokenizer, asked over HTTP, in the role that `tokens` wants."""

import threading
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import partial
from typing import Any, TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Json, Post, as_list
from evalui.models.endpoint.responses import unusable
from evalui.models.tokenization import spellings_among
from evalui.types import Message

T = TypeVar("T")

# The spellings of a label that real vocabularies have as one token: what stands before and after.
_AROUND = (
    *(
        (left, "")
        for left in ("", " ", "\n", "\t", "(", " (", "[", " [", "{", "<", ".", "（", "【")
    ),
    *((left, "") for left in ("「", "『", "〔")),
    *(("", right) for right in (".", ")", "]", "}", ">", "）", "】", " ", "\n")),
    *((" ", "."), (" ", ")"), ("(", ")"), (" (", ")"), ("[", "]"), ("（", "）"), ("【", "】")),
)
_FULL_WIDTH = 0xFEE0  # added to "A" it gives "Ａ"
_UNKNOWN = object()
_MOST_KEPT = 20_000  # answers; the options of a question share their context, all prompts labels
_LONGEST_KEPT = 2**23  # tokens and characters of all of them; a server may say more than is true


class Memory:
    """What a server has said of texts and tokens, which never changes."""

    def __init__(self) -> None:
        self._known: dict[object, Any] = {}
        self._length = 0  # of all that is known; about, since threads add to it at once
        self._asking: dict[object, threading.Lock] = {}  # each held while its key is asked for
        self._one = threading.Lock()  # protects these: two threads must not make two of a key

    def recall(self, key: object, ask: Callable[[], T]) -> T:
        """What is known under `key`; asked for if nothing is."""
        known = self._known.get(key, _UNKNOWN)  # once: another thread may clear them meanwhile
        if known is _UNKNOWN:
            # Two threads may ask the same at once and are told the same.
            known = ask()
            length = _length(known)
            if len(self._known) >= _MOST_KEPT or self._length + length > _LONGEST_KEPT:
                self._known.clear()
                self._length = 0
            self._known[key] = known
            self._length += length
        return known

    def recall_alone(self, key: object, ask: Callable[[], T]) -> T:
        """As `recall`; others who want to know the same wait instead of asking too."""
        with self._one:
            alone = self._asking.setdefault(key, threading.Lock())
        with alone:
            found = self.recall(key, ask)
        # Not after an error: those who wait would ask, and so would those who come.
        with self._one:
            self._asking.pop(key, None)
        return found


def _length(known: object) -> int:
    return len(known) if isinstance(known, Sized) else 1


class ServerTokenizer:
    """vLLM's /tokenize and /detokenize; see `tokens.Tokenizer`.

    Its vocabulary cannot be listed (`size` is 0), and which token stands for the empty context
    is not told (`start` is None unless every text begins with one).
    """

    size = 0

    def __init__(self, name: str, model: str, post: Post, memory: Memory) -> None:
        self.name = name
        self._model = model
        self._post = post
        self._memory = memory
        alone, begun = self._ids("a"), self._ids("a", special=True)
        before = len(begun) - len(alone)
        # A server that puts a token behind the text, or has no such setting, is not misread.
        self.lead = begun[:before] if begun[max(0, before) :] == alone else ()
        self.start = self.lead[0] if self.lead else None

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
            self._memory.recall(
                key, lambda: self._tokenize({"messages": turns, "add_generation_prompt": True})
            )
        )

    def spellings(self, labels: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
        """For each label the ids of the common spellings of it that are one token."""
        found = {
            label: self._memory.recall_alone(("spelt", label), partial(self._spelt, label))
            for label in labels
        }
        return {label: ids for label, ids in found.items() if ids}

    def _spelt(self, label: str) -> tuple[int, ...]:
        wide = "".join(chr(ord(each) + _FULL_WIDTH) for each in label if "!" <= each <= "~")
        texts = [left + label + right for left, right in _AROUND]
        texts += [left + wide for left in ("", " ")] if len(wide) == len(label) else []
        single = sorted({ids[0] for text in texts if len(ids := self._ids(text)) == 1})
        places = spellings_among(self.spell(single)).get(label, ())
        return tuple(single[place] for place in places)

    def _ids(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        body: Json = {"prompt": text, "add_special_tokens": special}
        return self._memory.recall((text, special), lambda: self._tokenize(body))

    def _tokenize(self, body: Json) -> tuple[int, ...]:
        answer = self._post("/tokenize", {"model": self._model, **body})
        found = as_list(answer.get("tokens"))
        if any(type(token) is not int for token in found) or len(found) != answer.get("count"):
            raise unusable(sentence("error.endpoint-no-token-ids"))
        return tuple(found)

    def _text(self, ids: tuple[int, ...]) -> str:
        return self._memory.recall(ids, lambda: self._detokenize(ids))

    def _detokenize(self, ids: tuple[int, ...]) -> str:
        answer = self._post("/detokenize", {"model": self._model, "tokens": list(ids)})
        text = answer.get("prompt")
        if not isinstance(text, str):
            raise unusable(sentence("error.endpoint-no-detokenize"))
        return text
