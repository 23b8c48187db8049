from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.models.tokenization import HFTokenizer, LineTokenizer, with_line_splitting

SMALL = Path(__file__).parents[2] / "golden" / "lmeval" / "qwen2-small-4l256"
FOLDER = HFTokenizer("small", SMALL)
SPELLED = FOLDER.spell(range(FOLDER.size))
LINES = st.lists(
    st.sampled_from(
        ["", "Question: What is it?", "A. ice", "B. fire ", "答案：水", "12", "  x", "<|im_end|>"]
    ),
    max_size=6,
)
SHOTS = "Question: Which of these is hot?\nAnswer: fire\n\nQuestion: Which is cold?\nAnswer:"


class Letters:
    """Each letter is a token; `joins` are pairs of letters that are one."""

    name, bos_ids, empty_context_id = "letters", (), None

    def __init__(self, *joins: str) -> None:
        self._joins = joins
        self.size = 0
        self.requested: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        self.requested += texts
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[int]:
        for join in self._joins:
            text = text.replace(join, chr(0x10000 + ord(join[-1])))
        return [ord(letter) for letter in text]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))

    def spell(self, ids: Sequence[int]) -> list[str]:
        return [chr(token) for token in ids]

    def render(self, messages: object, thinking: str = "") -> str:
        raise NotImplementedError


def test_the_small_tokenizer_never_joins_lines():
    assert isinstance(with_line_splitting(FOLDER, SPELLED), LineTokenizer)


@given(st.lists(LINES.map("\n".join), max_size=8))
def test_ids_are_those_of_whole_texts(tails: list[str]):
    fast = with_line_splitting(FOLDER, SPELLED)
    texts = [SHOTS + tail for tail in tails] + tails
    assert fast.encode(texts) == FOLDER.encode(texts)


def test_words_that_begin_alike_are_not_cut():
    texts = [SHOTS + word for word in (" slowly", " slows", " sample", " samples", " sampling")]
    assert with_line_splitting(FOLDER, SPELLED).encode(texts) == FOLDER.encode(texts)


def test_a_common_beginning_is_encoded_once():
    letters = Letters()
    fast = with_line_splitting(letters, ["a", "\n", "\n\n"])
    letters.requested.clear()
    stems = [SHOTS + f" ice\n\nQuestion: What is {n}?\nAnswer:" for n in "abc"]
    texts = [stem + option for stem in stems for option in ("", " 1", " 2")]
    assert fast.encode(texts) == Letters().encode(texts)
    assert sum(map(len, letters.requested)) < len(SHOTS) + 3 * 30 + 9 * 12


@pytest.mark.parametrize(("shared", "parts"), [(31, 2), (32, 3)])
def test_a_beginning_is_cut_off_where_it_spares_thirty_two_characters(shared: int, parts: int):
    letters = Letters()
    fast = with_line_splitting(letters, ["a", "\n"])
    letters.requested.clear()
    fast.encode(["x" * (shared - 1) + "\n" + word for word in ("one", "oak")])
    assert len(letters.requested) == parts


@pytest.mark.parametrize(
    ("letters", "spelled"),
    [
        (Letters(), ["a", "\nQ"]),  # a token reaches across
        (Letters(), ["\nQ\n"]),
        (Letters(), ["\n\ufffd"]),  # with the first byte of a letter
        (Letters("\nW"), ["a"]),  # it joins nevertheless
        (Letters("d\t\nW"), ["a"]),  # or only after blanks of some kind
        (Letters("d  \n\nW"), ["a"]),
        (Letters("d\n \nW"), ["a"]),
        (Letters("\x0b\nW"), ["a"]),
        (Letters("\x0b  \n\nw"), ["a", "\x0b  \n\n"]),  # or after blanks that are a token
    ],
)
def test_a_tokenizer_that_may_join_lines_is_left_as_it_is(letters: Letters, spelled: list[str]):
    assert with_line_splitting(letters, spelled) is letters


def test_everything_else_is_the_tokenizers_own():
    fast = with_line_splitting(FOLDER, SPELLED)
    assert (fast.name, fast.bos_ids, fast.empty_context_id, fast.size) == (
        FOLDER.name,
        FOLDER.bos_ids,
        FOLDER.empty_context_id,
        FOLDER.size,
    )
    ids = fast.encode(["Which one?"])[0]
    assert fast.decode(ids) == FOLDER.decode(ids)
    assert fast.spell(ids) == FOLDER.spell(ids)
