"""Texts become token ids, with care at the seam between a context and its continuation.

Knows tokenizers only by the small role below, and nothing about networks.
"""

import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evalui.errors import ModelError
from evalui.models.logprob_queries import common_prefix_length
from evalui.types import Message, Prompt

# What may surround a letter in a one-token spelling of it: blanks, the word-boundary marks of
# sentencepiece and of byte-level vocabularies, brackets, and the full stop.
_STRIPPED_CHARACTERS = string.whitespace + "\u2581\u0120()[]{}<>【】「」『』〔〕."


class Tokenizer(Protocol):
    """The little that evalui asks of a tokenizer.

    `bos_ids` is what it puts before every text on its own (a begin-of-text token or nothing),
    `empty_context_id` stands for the empty context: begin-of-text, else end-of-text, else None.
    """

    name: str
    bos_ids: tuple[int, ...]
    empty_context_id: int | None
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        ...

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        ...

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation up to where the model's turn begins.

        Raises:
            ModelError: the model has no chat template.
        """
        ...


@dataclass(frozen=True, slots=True)
class EncodedContext:
    """A prompt as token ids, at least one."""

    ids: tuple[int, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A continuation after a context, both as token ids and neither empty."""

    context: tuple[int, ...]
    continuation: tuple[int, ...]
    merged: bool
    truncated: bool


def strip_before_label(prompt: Prompt) -> Prompt:
    """The prompt as it must end for a label to be the next token.

    Spaces at the end of a plain text are dropped: most tokenizers write " A" as one token, and
    a space left behind would make the model begin a second one. Line breaks stay.
    """
    return prompt.rstrip(" ") if isinstance(prompt, str) else prompt


def encode_contexts(
    tokenizer: Tokenizer, prompts: Sequence[Prompt], *, limit: int
) -> list[EncodedContext]:
    """The prompts as token ids, cut on the left to `limit` tokens."""
    texts = [prompt if isinstance(prompt, str) else tokenizer.render(prompt) for prompt in prompts]
    ids = _encode_all(tokenizer, texts)
    return [
        EncodedContext(whole[-limit:], truncated=len(whole) > limit)
        for whole in (
            _with_bos(tokenizer, text, ids[text], plain=isinstance(prompt, str))
            for text, prompt in zip(texts, prompts, strict=True)
        )
    ]


def encode_pairs(
    tokenizer: Tokenizer, pairs: Sequence[tuple[Prompt, str]], *, limit: int
) -> list[EncodedPair]:
    """Each (context, continuation) as token ids, cut on the left to `limit` tokens of input.

    As lm-evaluation-harness does it (api/model.py `_encode_pair`): blanks at the end of a plain
    context belong to the continuation, and the continuation is what context + continuation has
    beyond the tokens of the context. Where a tokenizer merges across the seam that harness
    loses text; here the continuation begins at the longest common token prefix, and is marked.

    Raises:
        ModelError: nothing of a continuation is left to score, or it does not fit the model.
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
    """The ids of all tokens that spell the same once blanks, brackets and stops are taken off.

    " A", "A", "(A" and full-width "Ａ" spell "A". They are distinct events, so their
    probabilities add up. Case is kept: "a" is the English article.
    """
    return spellings_among(tokenizer.spell(range(tokenizer.size)))


def spellings_among(spelled: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """As `spellings`, of a vocabulary whose tokens are spelled already."""
    found: dict[str, list[int]] = {}
    for token, text in enumerate(spelled):
        if bare := _strip_marks(text):
            found.setdefault(bare, []).append(token)
    return {text: tuple(tokens) for text, tokens in found.items()}


def label_ids(
    known: Mapping[str, tuple[int, ...]], labels: Sequence[str], tokenizer: Tokenizer
) -> tuple[tuple[int, ...], ...]:
    """The tokens whose probabilities are summed for each label: the same spellings for all.

    A spelling that some label lacks is used for none, because it would give the others more
    probability for the same knowledge: a vocabulary may have "(A" and no "(B".

    Raises:
        ModelError: a label has no spelling of one token, or the labels have none in common.
    """
    if missing := [label for label in labels if label not in known]:
        raise ModelError(
            "label-tokens",
            model=tokenizer.name,
            label=missing[0],
        )
    forms = [_by_form(label, known[label], tokenizer) for label in labels]
    shared = [form for form in forms[0] if all(form in each for each in forms)]
    if not shared:
        raise ModelError(
            "label-forms",
            model=tokenizer.name,
            labels=", ".join(labels),
        )
    return tuple(tuple(each[form] for form in shared) for each in forms)


def _by_form(
    label: str, tokens: Sequence[int], tokenizer: Tokenizer
) -> Mapping[tuple[str | int, ...], int]:
    """The spellings of a label by how they spell it.

    Tokens of one text ("A" with and without sentencepiece's word boundary) are numbered.
    """
    forms: dict[tuple[str | int, ...], int] = {}
    for token, text in zip(tokens, tokenizer.spell(tokens), strict=True):
        form = _spelling_form(text, label)
        number = sum((*form, n) in forms for n in range(len(tokens)))
        forms[*form, number] = token
    return forms


def _spelling_form(text: str, label: str) -> tuple[str | int, ...]:
    """The text with the distance from the label's character in its place: 0xFEE0 for "Ａ"."""
    if label in text:
        left, _, right = text.partition(label)
        return left, 0, right
    return tuple(
        ord(each) - ord(label) if len(label) == 1 and _strip_marks(each) == label else each
        for each in text
    )


def _strip_marks(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip(_STRIPPED_CHARACTERS)


def _split_continuation(
    tokenizer: Tokenizer, context: Prompt, continuation: str
) -> tuple[str, str]:
    """The two texts, the blanks at the end of a plain context moved to the continuation.

    A conversation keeps them: its template ends where the model was taught to begin.
    """
    if not isinstance(context, str):
        return tokenizer.render(context), continuation
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def _encode_all(tokenizer: Tokenizer, texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Each distinct text once: the options of a question share their context."""
    distinct = list(dict.fromkeys(texts))
    return {
        text: tuple(ids) for text, ids in zip(distinct, tokenizer.encode(distinct), strict=True)
    }


def _with_bos(
    tokenizer: Tokenizer, left: str, ids: tuple[int, ...], *, plain: bool
) -> tuple[int, ...]:
    """The tokens after what the model expects at the beginning of a text, never doubled.

    A chat template writes its own beginning; nothing at all to the left begins with `start`.
    """
    if left and not plain:
        return ids
    lead = tokenizer.bos_ids if left else _empty_context(tokenizer)
    return ids if ids[: len(lead)] == lead else lead + ids


def _empty_context(tokenizer: Tokenizer) -> tuple[int]:
    if tokenizer.empty_context_id is None:
        raise ModelError(
            "no-start-token",
            model=tokenizer.name,
        )
    return (tokenizer.empty_context_id,)


def _encode_pair(
    tokenizer: Tokenizer, context: tuple[int, ...], whole: tuple[int, ...], *, limit: int
) -> EncodedPair:
    seam = common_prefix_length(context, whole)
    merged = seam < len(context)
    if seam == 0:
        whole, seam = _empty_context(tokenizer) + whole, 1
    continuation = whole[seam:]
    if not continuation:
        raise ModelError(
            "no-continuation",
            model=tokenizer.name,
        )
    # The last token is predicted, never read, hence the one token more.
    kept = whole[-(limit + 1) :]
    cut = len(whole) - len(kept)
    if cut >= seam:
        raise ModelError(
            "continuation-too-long",
            n=len(continuation),
            model=tokenizer.name,
            limit=limit,
        )
    return EncodedPair(whole[cut:seam], continuation, merged=merged, truncated=cut > 0)
