from collections.abc import Sequence

import pytest

from evalui.errors import ModelError
from evalui.models.scoring_requests import label_ids
from evalui.models.tokenization import encode_contexts, encode_pairs, spellings, strip_before_label
from evalui.types import Message

BOS = "<s>"
WORDS = (BOS, "答案", "：", "：在", "在", "家", " A", "A", " cat", "cat", "\n", " ", "a", "Q")


class Words:
    """The longest known word at each place: a tokenizer that merges across a seam."""

    name = "words"
    size = len(WORDS)

    def __init__(self, lead: tuple[int, ...] = (), start: int | None = 0) -> None:
        self.bos_ids = lead
        self.empty_context_id = start

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._ids(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.spell(ids))

    def spell(self, ids: Sequence[int]) -> list[str]:
        return [WORDS[token] for token in ids]

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        return thinking + "".join(f"{BOS}{message.content}\n" for message in messages)

    def _ids(self, text: str) -> list[int]:
        found: list[int] = []
        while text:
            word = max((word for word in WORDS if text.startswith(word)), key=len)
            found.append(WORDS.index(word))
            text = text[len(word) :]
        return found


def ids(*words: str) -> tuple[int, ...]:
    return tuple(WORDS.index(word) for word in words)


def test_blanks_at_the_end_of_a_context_move_to_the_continuation():
    (pair,) = encode_pairs(Words(), [("Q ", "cat")], limit=9)
    assert (pair.context, pair.continuation) == (ids("Q"), ids(" cat"))
    assert not pair.merged


def test_a_conversation_keeps_the_blanks_at_its_end():
    (pair,) = encode_pairs(Words(), [((Message("user", "Q"),), "cat")], limit=9)
    assert (pair.context, pair.continuation) == (ids(BOS, "Q", "\n"), ids("cat"))


def test_a_merged_seam_is_scored_from_the_common_prefix_and_marked():
    (pair,) = encode_pairs(Words(), [("答案：", "在家")], limit=9)
    assert (pair.context, pair.continuation) == (ids("答案"), ids("：在", "家"))
    assert pair.merged


def test_a_seam_merged_at_the_very_beginning_follows_the_start_token():
    (pair,) = encode_pairs(Words(), [("：", "在")], limit=9)
    assert (pair.context, pair.continuation) == (ids(BOS), ids("：在"))
    assert pair.merged


@pytest.mark.parametrize("context", ["", "\n", "  "])
def test_an_empty_context_is_the_start_token(context: str):
    (pair,) = encode_pairs(Words(), [(context, "cat")], limit=9)
    assert pair.context == ids(BOS)
    assert WORDS[pair.continuation[-1]].strip() == "cat"


def test_the_start_token_is_not_doubled_by_a_continuation_that_has_it():
    (pair,) = encode_pairs(Words(), [("", BOS + "cat")], limit=9)
    assert (pair.context, pair.continuation) == (ids(BOS), ids("cat"))


def test_an_empty_context_needs_a_start_token():
    with pytest.raises(ModelError, match="neither a begin- nor an end-of-text token"):
        encode_pairs(Words(start=None), [("", "cat")], limit=9)


def test_the_lead_stands_before_plain_texts_only_and_once():
    tokenizer = Words(lead=(0,))
    prompts = ["Q", BOS + "Q", (Message("user", "Q"),)]
    contexts = [context.ids for context in encode_contexts(tokenizer, prompts, limit=9)]
    assert contexts == [ids(BOS, "Q"), ids(BOS, "Q"), ids(BOS, "Q", "\n")]


def test_a_chat_template_without_a_begin_token_gets_none():
    class Bare(Words):
        def render(self, messages: Sequence[Message], thinking: str = "") -> str:
            return messages[0].content + thinking

    (context,) = encode_contexts(Bare(lead=(0,)), [(Message("user", "Q"),)], limit=9)
    assert context.ids == ids("Q")


def test_the_lead_is_part_of_the_context_of_a_pair():
    (pair,) = encode_pairs(Words(lead=(0,)), [("Q", " cat")], limit=9)
    assert pair.context == ids(BOS, "Q")


def test_a_long_context_loses_its_beginning_and_says_so():
    short, long = encode_contexts(Words(), ["QQ", "在QQ"], limit=2)
    assert (short.ids, short.truncated) == (ids("Q", "Q"), False)
    assert (long.ids, long.truncated) == (ids("Q", "Q"), True)


def test_a_pair_may_be_one_token_longer_than_what_is_read():
    fits, cut = encode_pairs(Words(), [("QQ", "catcat"), ("在QQ", "catcat")], limit=3)
    assert (fits.context, fits.truncated) == (ids("Q", "Q"), False)
    assert (cut.context, cut.truncated) == (ids("Q", "Q"), True)
    assert cut.continuation == ids("cat", "cat")


def test_a_continuation_that_cannot_fit_is_an_error():
    with pytest.raises(ModelError, match="3 tokens does not fit"):
        encode_pairs(Words(), [("Q", "catcatcat")], limit=2)


def test_a_continuation_without_tokens_is_an_error():
    with pytest.raises(ModelError, match="leaves nothing"):
        encode_pairs(Words(), [("Q", "")], limit=9)


@pytest.mark.parametrize(
    ("prompt", "ready"), [("Answer: ", "Answer:"), ("答案: \n", "答案: \n"), ("Q", "Q")]
)
def test_spaces_but_no_line_breaks_are_dropped_before_a_label(prompt: str, ready: str):
    assert strip_before_label(prompt) == ready


def test_spellings_of_a_letter_are_found_with_and_without_a_space_but_not_in_lower_case():
    assert spellings(Words())["A"] == ids(" A", "A")


@pytest.mark.parametrize(
    "text", [" A", "\nA", "A.", "(A", "[A]", "Ａ", "▁A", "ĠA", "（A）", "【A】"]
)
def test_each_of_these_spells_the_letter(text: str):
    class One(Words):
        size = 1

        def spell(self, ids: Sequence[int]) -> list[str]:
            return [text for _ in ids]

    assert spellings(One()) == {"A": (0,)}


@pytest.mark.parametrize("text", ["a", "AB", "A:", "*A*", "1"])
def test_none_of_these_spells_the_letter(text: str):
    class One(Words):
        size = 1

        def spell(self, ids: Sequence[int]) -> list[str]:
            return [text for _ in ids]

    assert "A" not in spellings(One())


def test_a_label_without_a_token_of_its_own_is_an_error_that_names_it():
    with pytest.raises(ModelError, match="no single token for 'B'"):
        label_ids(spellings(Words()), ("A", "B"), Words())


class Vocabulary(Words):
    """A vocabulary of these texts, one token each."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.size = len(texts)

    def spell(self, ids: Sequence[int]) -> list[str]:
        return [self.texts[token] for token in ids]


@pytest.mark.parametrize(
    ("texts", "shared"),
    [
        (("A", "B", " A", " B"), ((0, 2), (1, 3))),
        (("A", "B", " A", " B", "(A"), ((0, 2), (1, 3))),
        (("A", "B", "(B", "[B]"), ((0,), (1,))),
        (("A", "B", "Ａ", "Ｂ"), ((0, 2), (1, 3))),
        (("A", "B", "Ａ", "Ⓑ"), ((0,), (1,))),
        (("A", "B", "A.", ".B"), ((0,), (1,))),
        (("A", "A", "B"), ((0,), (2,))),
        (("A", "A", "B", "B"), ((0, 1), (2, 3))),
    ],
)
def test_labels_share_their_spellings(texts: tuple[str, ...], shared: tuple[tuple[int, ...], ...]):
    tokenizer = Vocabulary(*texts)
    assert label_ids(spellings(tokenizer), ("A", "B"), tokenizer) == shared


def test_labels_without_a_spelling_in_common_are_an_error_that_names_them():
    tokenizer = Vocabulary("A", "(B")
    with pytest.raises(ModelError, match="the labels A, B share"):
        label_ids(spellings(tokenizer), ("A", "B"), tokenizer)
