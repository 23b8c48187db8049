"""Texts become token ids, with care at the boundary between a context and its continuation.

Knows nothing about networks.
"""

import json
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

from evalui.errors import MissingAbility, ModelError
from evalui.messages import sentence
from evalui.replies import closes_thought, mentions_thoughts, opened_thought
from evalui.types import GeneratedText, Message, Prompt, Usage

TokenIds = tuple[int, ...]

# What may surround a letter in a one-token spelling of it: blanks, the word-boundary marks of
# sentencepiece and of byte-level vocabularies, brackets, and the full stop.
_STRIPPED_CHARACTERS = string.whitespace + "\u2581\u0120()[]{}<>【】「」『』〔〕."

THINKING_SWITCH = "enable_thinking"  # its name in the chat templates that have one


class Tokenizer(Protocol):
    """The part of a tokenizer that evalui uses.

    `bos_ids` are the tokens it adds before every text by itself (begin-of-text, or GLM's
    `[gMASK]<sop>`, or none). They stand for the empty context, too; where there are none it is
    `empty_context_id`: begin-of-text, else end-of-text, else None.
    """

    name: str
    size: int

    @property
    def bos_ids(self) -> tuple[int, ...]:
        """The tokens before every text."""
        ...

    @property
    def empty_context_id(self) -> int | None:
        """The token that stands for the empty context."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        ...

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        ...

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins.

        `thinking` "on" or "off" is told the chat template, "" leaves it to the template.

        Raises:
            ModelError: the model has no chat template.
        """
        ...


@dataclass(frozen=True, slots=True)
class EncodedContext:
    """A prompt as token ids, at least one; `thought` is the mark at its end that opens one."""

    ids: tuple[int, ...]
    truncated: bool
    thought: str = ""


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A continuation after a context, both as token ids and neither empty."""

    context: tuple[int, ...]
    continuation: tuple[int, ...]
    merged: bool
    truncated: bool


def strip_before_label(prompt: Prompt) -> Prompt:
    """The prompt as it must end for a label to be the next token.

    Spaces at the end of a plain text are dropped: most tokenizers encode " A" as one token, and
    after a space of its own the model would have to begin with another token. Line breaks stay.
    """
    return prompt.rstrip(" ") if isinstance(prompt, str) else prompt


def encode_contexts(
    tokenizer: Tokenizer, prompts: Sequence[Prompt], *, limit: int, thinking: str = ""
) -> list[EncodedContext]:
    """The prompts as token ids, cut on the left to `limit` tokens; `thinking` as for `render`."""
    texts = [
        prompt if isinstance(prompt, str) else tokenizer.render(prompt, thinking)
        for prompt in prompts
    ]
    ids = _encode_all(tokenizer, texts)
    contexts: list[EncodedContext] = []
    for text, prompt in zip(texts, prompts, strict=True):
        plain = isinstance(prompt, str)
        whole = _with_bos(tokenizer, text, ids[text], plain=plain)
        thought = "" if plain else opened_thought(text)
        contexts.append(EncodedContext(whole[-limit:], len(whole) > limit, thought))
    return contexts


def prompt_limit(model: str, limit: int, max_tokens: int) -> int:
    """How many tokens a prompt may have, so that a reply of `max_tokens` fits the model, too.

    Raises:
        ModelError: none is left.
    """
    if limit <= max_tokens:
        raise ModelError("reply-too-long", model=model, limit=limit, n=max_tokens)
    return limit - max_tokens


def generated_text(
    context: EncodedContext,
    text: str,
    *,
    n_tokens: int,
    stop: Sequence[str],
    ended: bool,
    constrained: bool = False,
) -> GeneratedText:
    """What was written after a context, up to the first of `stop`. `ended` is false where it was
    cut off at its last token; then it begins with the mark of a thought that was never closed, for
    by itself it would read as a reply.
    """
    if not (ended or constrained or closes_thought(text)):
        text = context.thought + text
    ends = [end for end in map(text.find, stop) if end >= 0]
    return GeneratedText(
        text[: min(ends, default=len(text))],
        Usage(len(context.ids), n_tokens),
        finish_reason="stop" if ended else "length",
        truncated=context.truncated,
        constrained=constrained,
    )


def encode_pairs(
    tokenizer: Tokenizer, pairs: Sequence[tuple[Prompt, str]], *, limit: int
) -> list[EncodedPair]:
    """Each (context, continuation) as token ids, cut on the left to `limit` tokens of input.

    As lm-evaluation-harness does it (api/model.py `_encode_pair`): blanks at the end of a plain
    context belong to the continuation, and the continuation is what context + continuation has
    beyond the tokens of the context. Where a tokenizer merges across the boundary that harness
    loses text; here the continuation begins after the longest common token prefix, and the pair
    is marked as `merged`.

    Raises:
        MissingAbility: the chat template opens a thought, where a continuation would be one.
        ModelError: a continuation has no tokens, or it does not fit the model.
    """
    texts = [_split_continuation(tokenizer, context, text) for context, text in pairs]
    ids = _encode_all(tokenizer, [text for left, right in texts for text in (left, left + right)])
    encoded: list[EncodedPair] = []
    for (left, right), (context, _) in zip(texts, pairs, strict=True):
        plain = isinstance(context, str)
        before = _with_bos(tokenizer, left, ids[left], plain=plain)
        whole = _with_bos(tokenizer, left, ids[left + right], plain=plain)
        encoded.append(_encode_pair(tokenizer, before, whole, limit=limit))
    return encoded


def spellings(tokenizer: Tokenizer) -> Mapping[str, tuple[int, ...]]:
    """The ids of all tokens with the same text, apart from blanks, brackets and stops.

    " A", "A", "(A" and full-width "Ａ" spell "A". They are distinct events, so their
    probabilities add up. Case is kept: "a" is the English article.
    """
    return spellings_among(tokenizer.spell(range(tokenizer.size)))


def spellings_among(spelled: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """As `spellings`, of a vocabulary given as the texts of its tokens."""
    ids: dict[str, list[int]] = {}
    for token, text in enumerate(spelled):
        if bare := strip_marks(text):
            ids.setdefault(bare, []).append(token)
    return {text: tuple(tokens) for text, tokens in ids.items()}


def strip_marks(text: str) -> str:
    """The text without the blanks, brackets and stops around it, in compatibility form (NFKC)."""
    return unicodedata.normalize("NFKC", text).strip(_STRIPPED_CHARACTERS)


def _split_continuation(
    tokenizer: Tokenizer, context: Prompt, continuation: str
) -> tuple[str, str]:
    """The two texts, the blanks at the end of a plain context moved to the continuation.

    A conversation keeps them: its template ends where the model was trained to begin.
    """
    if not isinstance(context, str):
        rendered = tokenizer.render(context)
        if opened_thought(rendered):
            raise opens_thoughts_error(tokenizer)
        return rendered, continuation
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def opens_thoughts_error(tokenizer: Tokenizer) -> MissingAbility:
    """The error of letters and continuations where a chat template makes the model think first."""
    why = sentence("error.opens-thoughts")
    return MissingAbility("cannot-do", model=tokenizer.name, why=why)


def _encode_all(tokenizer: Tokenizer, texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Each distinct text once: the options of a question share their context."""
    distinct = list(dict.fromkeys(texts))
    return {
        text: tuple(ids) for text, ids in zip(distinct, tokenizer.encode(distinct), strict=True)
    }


def _with_bos(
    tokenizer: Tokenizer, left: str, ids: tuple[int, ...], *, plain: bool
) -> tuple[int, ...]:
    """The tokens after the begin-of-text tokens, which are never doubled.

    A chat template has its own beginning; an empty `left` becomes `empty_context_id`.
    """
    if left and not plain:
        return ids
    bos = tokenizer.bos_ids if left else _empty_context(tokenizer)
    return ids if ids[: len(bos)] == bos else bos + ids


def _empty_context(tokenizer: Tokenizer) -> tuple[int, ...]:
    if tokenizer.bos_ids:
        return tokenizer.bos_ids
    if tokenizer.empty_context_id is None:
        raise ModelError("no-start-token", model=tokenizer.name)
    return (tokenizer.empty_context_id,)


def _encode_pair(
    tokenizer: Tokenizer, context: tuple[int, ...], whole: tuple[int, ...], *, limit: int
) -> EncodedPair:
    boundary = common_prefix_length(context, whole)
    merged = boundary < len(context)
    if boundary == 0:
        empty = _empty_context(tokenizer)
        whole, boundary = empty + whole, len(empty)
    continuation = whole[boundary:]
    if not continuation:
        raise ModelError("no-continuation", model=tokenizer.name)
    # The last token is predicted and is no input, hence the one token more.
    cut = max(0, len(whole) - (limit + 1))
    if cut >= boundary:
        raise ModelError(
            "continuation-too-long", n=len(continuation), model=tokenizer.name, limit=limit
        )
    return EncodedPair(whole[cut:boundary], continuation, merged=merged, truncated=cut > 0)


def common_prefix_length(left: TokenIds | str, right: TokenIds | str) -> int:
    """The length of the longest common prefix."""
    low, high = 0, min(len(left), len(right))
    # Comparing slices runs in C, and most pairs share much: bisection beats a loop over tokens.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class HFTokenizer:
    """The tokenizer saved in a model's folder; see `Tokenizer`.

    `eos_ids` are the tokens that end a text, `max_length` the longest input that its files state,
    `unusual_prefix` the texts of `bos_ids` where they are not just its begin-of-text token.
    `template` are values for its chat template, such as those that turn thinking on or off, and
    `template_parts` what a fingerprint must state of both.

    Raises:
        ModelError: it cannot be loaded.
    """

    def __init__(
        self, name: str, folder: Path, template: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        from transformers.models.auto.tokenization_auto import AutoTokenizer

        self.name = name
        self._template = template
        try:
            # Tokenizers come as one of several classes with the same methods.
            self._tokenizer = cast(Any, AutoTokenizer).from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
            if (folder / "tokenizer_config.json").is_file() and "auto_map" in (
                folder / "tokenizer_config.json"
            ).read_text(encoding="utf-8"):
                raise ModelError("tokenizer-own-code", model=name) from error
            raise ModelError("tokenizer-unloadable", model=name, reason=str(error)) from error
        bos: int | None = self._tokenizer.bos_token_id
        eos: int | None = self._tokenizer.eos_token_id
        self.empty_context_id = eos if bos is None else bos
        self.eos_ids: frozenset[int] = frozenset() if eos is None else frozenset({eos})
        self.size = len(self._tokenizer)
        self.max_length = int(self._tokenizer.model_max_length)
        self.bos_ids: tuple[int, ...] = self._added_before("a")
        usual = self.bos_ids in ((), (bos,))
        self.unusual_prefix: tuple[str, ...] = () if usual else tuple(self.spell(self.bos_ids))
        # Before version 1 letters and cut replies were read where a template opens a thought.
        marked = mentions_thoughts(str(self._tokenizer.chat_template or ""))
        self.template_parts: tuple[str, ...] = (
            *(["thoughts.1"] if marked else []),
            *([f"template:{json.dumps(dict(template), sort_keys=True)}"] if template else []),
        )

    def _added_before(self, text: str) -> tuple[int, ...]:
        """What stands before the tokens of a text when special tokens are added."""
        own: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        ids: list[int] = self._tokenizer(text)["input_ids"]
        starts = (at for at in range(len(ids)) if ids[at : at + len(own)] == own)
        return tuple(ids[: next(starts, 0)])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        if not texts:
            return []
        return self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        return self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return self._tokenizer.batch_decode(
            [[token] for token in ids], clean_up_tokenization_spaces=False
        )

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins.

        Raises:
            ModelError: the model has no chat template.
        """
        if not self._tokenizer.chat_template:
            raise ModelError("no-chat-template", model=self.name)
        turns = [{"role": message.role, "content": message.content} for message in messages]
        switch = {THINKING_SWITCH: thinking == "on"} if thinking else {}
        return self._tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, **{**self._template, **switch}
        )


_MIN_SHARED_CHARACTERS = 32  # characters; cutting for less costs more than it saves
_LINE_ENDS = ("word", "字", "7", "end.", "完。", "a )", "b  ", ":", "：", "<x>", "\t", "$", "")
_LINE_BREAKS = ("\n", "\n\n", " \n", "\r\n", "\n\n\n", "\t\n", "  \n\n", "\n \n", "\x0b\n")
_LINES = tuple(end + gap for end, gap in product(_LINE_ENDS, _LINE_BREAKS))
_LINE_BEGINNINGS = ("Word here", "word", "字符", "12 x", "A. one", "é", "Ωmega")


@dataclass(slots=True)
class LineTokenizer:
    """A tokenizer that never merges across a line break; see `Tokenizer`.

    Texts that begin alike are encoded once up to the last line break they share: few-shot examples
    are most of a prompt, and all options repeat the question.
    """

    inner: Tokenizer
    name: str
    bos_ids: tuple[int, ...]
    empty_context_id: int | None
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added; common beginnings are encoded once."""
        ids = _encode_shared(self.inner, set(texts))
        return [list(ids[text]) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        return self.inner.decode(ids)

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return self.inner.spell(ids)

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins."""
        return self.inner.render(messages, thinking)


def with_line_splitting(tokenizer: Tokenizer, spelled: Iterable[str]) -> Tokenizer:
    """A `LineTokenizer` if the tokenizer never merges a line break with a word after it.

    `spelled` are the texts of all its tokens. If none has a letter after a line break, neither
    merges nor a segmentation can cross one. That its splitting into words does not either is
    checked on many ends and beginnings of lines, and on all tokens that end with a line break.
    """
    tokens = set(spelled)
    own = sorted(f"word{token}" for token in tokens if token.endswith("\n"))
    if any(map(_continues_after_break, tokens)) or not _splits_at_breaks(
        tokenizer, _LINES, _LINE_BEGINNINGS
    ):
        return tokenizer
    if not _splits_at_breaks(tokenizer, own, _LINE_BEGINNINGS[1:3]):
        return tokenizer
    return LineTokenizer(
        tokenizer, tokenizer.name, tokenizer.bos_ids, tokenizer.empty_context_id, tokenizer.size
    )


def _continues_after_break(token: str) -> bool:
    # U+FFFD stands for a part of a character.
    after = token.partition("\n")[2]
    return any(each.isalnum() or each == "\ufffd" for each in after)


def _splits_at_breaks(
    tokenizer: Tokenizer, lines: Sequence[str], beginnings: Sequence[str]
) -> bool:
    """Whether each line followed by each beginning has the tokens of the two."""
    pairs = list(product(lines, beginnings))
    whole = tokenizer.encode([line + beginning for line, beginning in pairs])
    left = dict(zip(lines, tokenizer.encode(lines), strict=True))
    right = dict(zip(beginnings, tokenizer.encode(beginnings), strict=True))
    return all(
        ids == left[line] + right[beginning]
        for ids, (line, beginning) in zip(whole, pairs, strict=True)
    )


def _encode_shared(tokenizer: Tokenizer, texts: set[str]) -> dict[str, list[int]]:
    """The ids of each text: those of its beginning, encoded the same way, and of the rest."""
    ordered = sorted(texts)
    shared = [0, *map(common_prefix_length, ordered, ordered[1:]), 0]
    cuts = [_line_start(text, max(shared[at], shared[at + 1])) for at, text in enumerate(ordered)]
    heads = {text[:cut] for text, cut in zip(ordered, cuts, strict=True) if cut}
    tails = {text[cut:] for text, cut in zip(ordered, cuts, strict=True)}
    head_ids = _encode_shared(tokenizer, heads) if heads else {}
    tail_ids = dict(zip(tails, tokenizer.encode(list(tails)), strict=True))
    return {
        text: head_ids[text[:cut]] + tail_ids[text[cut:]] if cut else tail_ids[text]
        for text, cut in zip(ordered, cuts, strict=True)
    }


def _line_start(text: str, shared: int) -> int:
    """The start of the last line within the first `shared` characters, 0 if none is usable."""
    cut = text.rfind("\n", 0, shared - 1) + 1
    while cut >= _MIN_SHARED_CHARACTERS and not text[cut].isalnum():
        cut = text.rfind("\n", 0, cut - 1) + 1
    return cut if cut >= _MIN_SHARED_CHARACTERS else 0
