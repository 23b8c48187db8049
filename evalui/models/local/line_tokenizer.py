"""Texts that begin alike are tokenised once up to where they part.

Examples before a question are most of its text, and all options repeat the question. A text is
cut at the beginning of a line, where most tokenizers cut it anyway; whether this one does is
tried out before it is believed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from evalui.models.logprob_queries import common_prefix_length
from evalui.models.tokenization import Tokenizer
from evalui.types import Message

_MIN_SHARED_CHARACTERS = 32  # characters; cutting for less costs more than it saves
_LINE_ENDS = ("word", "字", "7", "end.", "完。", "a )", "b  ", ":", "：", "<x>", "\t", "$", "")
_LINE_BREAKS = ("\n", "\n\n", " \n", "\r\n", "\n\n\n", "\t\n", "  \n\n", "\n \n", "\x0b\n")
_LINES = tuple(end + gap for end, gap in product(_LINE_ENDS, _LINE_BREAKS))
_LINE_BEGINNINGS = ("Word here", "word", "字符", "12 x", "A. one", "é", "Ωmega")


@dataclass(slots=True)
class LineTokenizer:
    """A tokenizer that never joins two lines; see `tokens.Tokenizer`."""

    inner: Tokenizer
    name: str
    bos_ids: tuple[int, ...]
    empty_context_id: int | None
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added; common beginnings are encoded once."""
        found = _encode_shared(self.inner, set(texts))
        return [list(found[text]) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        return self.inner.decode(ids)

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return self.inner.spell(ids)

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation up to where the model's turn begins."""
        return self.inner.render(messages)


def with_line_splitting(tokenizer: Tokenizer, spelled: Iterable[str]) -> Tokenizer:
    """The tokenizer, made faster if it never joins the end of a line with a following word.

    `spelled` are the texts of all its tokens. If none goes on after a line break, neither merges
    nor a segmentation can reach across it; that its splitting into words does not either is tried
    on ends and beginnings of all kinds, and on all tokens that end with a line break.
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
    # U+FFFD stands for a part of a letter.
    after = token.partition("\n")[2]
    return any(each.isalnum() or each == "\ufffd" for each in after)


def _splits_at_breaks(
    tokenizer: Tokenizer, lines: Sequence[str], beginnings: Sequence[str]
) -> bool:
    pairs = list(product(lines, beginnings))
    whole = tokenizer.encode([left + right for left, right in pairs])
    left = dict(zip(lines, tokenizer.encode(lines), strict=True))
    right = dict(zip(beginnings, tokenizer.encode(beginnings), strict=True))
    return all(
        ids == left[line] + right[begun] for ids, (line, begun) in zip(whole, pairs, strict=True)
    )


def _encode_shared(tokenizer: Tokenizer, texts: set[str]) -> dict[str, list[int]]:
    """The ids of each text: those of its beginning, which is encoded likewise, and of the rest."""
    ordered = sorted(texts)
    shared = [0, *map(common_prefix_length, ordered, ordered[1:]), 0]
    cuts = [_line_start(text, max(shared[at], shared[at + 1])) for at, text in enumerate(ordered)]
    heads = {text[:cut] for text, cut in zip(ordered, cuts, strict=True) if cut}
    tails = {text[cut:] for text, cut in zip(ordered, cuts, strict=True)}
    above = _encode_shared(tokenizer, heads) if heads else {}
    below = dict(zip(tails, tokenizer.encode(list(tails)), strict=True))
    return {
        text: above[text[:cut]] + below[text[cut:]] if cut else below[text]
        for text, cut in zip(ordered, cuts, strict=True)
    }


def _line_start(text: str, shared: int) -> int:
    """The last place among the first `shared` characters to cut at, 0 if there is none."""
    cut = text.rfind("\n", 0, shared - 1) + 1
    while cut >= _MIN_SHARED_CHARACTERS and not text[cut].isalnum():
        cut = text.rfind("\n", 0, cut - 1) + 1
    return cut if cut >= _MIN_SHARED_CHARACTERS else 0
