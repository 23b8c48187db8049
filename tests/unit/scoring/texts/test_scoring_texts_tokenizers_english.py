from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer

from evalui.scoring.texts.tokenizers import EnglishTokenizer, sentence_end_detector, tokenize_en

NLTK = NLTKWordTokenizer().tokenize
PIECES = (
    *" \n\t'\"`.,:;?!()[]<>-–“”’*@#$%&/_0159",
    *("\x1c", "\xa0", "é", "ı", "''", "``", "...", "--", ",,", " a ", " Bar. ", "it's ", "users' "),
    *("n't ", "'ll ", "cannot ", "wanna ", "wanna", "'tis ", "d'ye ", "more'n ", "Mr. ", "U.S. "),
    *("etc. ", "No. 5 ", "x. The", "word ", "word, ", "word. ", ' "word" ', " 'word' ", "(word). "),
)


@cache
def _by_sentence() -> EnglishTokenizer:
    return EnglishTokenizer(lambda text: [text] if text.strip() else [], NLTK)


@pytest.mark.parametrize(
    "sentence",
    [
        "Good muffins cost $3.88 (roughly 3,36 euros).",
        "The U.S. is here, and etc. too.",
        "They'll say it's 'fine', but we cannot.",
        '"Start," he said, "and end."',
        'He said "yes"\n"no"\n"yes".',
        "See a: b:5 c,6 d,, e--f g... h",
        "A closing mark (far away.) ]",
        "A bracket after the stop (word.)",
        "You're gonna, wanna\nand gimme",
        "``code`` and `more` of ```it```",
        "the dogs' \x1cdog's\x1cend",
        "“Curly,” they said—‘quotes’ are marks.",
        "I saw Mr..",
        "Three of them...",
        "In brackets..)",
        "one",
        ".",
        "'",
    ],
)
def test_the_words_of_a_sentence_are_nltks(sentence: str):
    assert _by_sentence().tokenize(sentence) == NLTK(sentence)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=20).map("".join))
def test_the_words_of_a_sentence_are_nltks_whatever_it_is(sentence: str):
    sentence = sentence.strip()
    assert _by_sentence().tokenize(sentence) == (NLTK(sentence) if sentence else [])


def test_a_word_is_cut_once():
    asked: list[str] = []

    def cut(text: str) -> list[str]:
        asked.append(text)
        return NLTK(text)

    english = EnglishTokenizer(lambda text: [text], cut)
    for _ in range(3):
        assert english.tokenize("it's what it's.") == ["it", "'s", "what", "it", "'s", "."]
    assert asked == ["x it's x", "x it's."]


def test_a_long_word_is_cut_as_nltk_does_and_not_remembered():
    asked: list[str] = []

    def cut(text: str) -> list[str]:
        asked.append(text)
        return NLTK(text)

    english = EnglishTokenizer(lambda text: [text], cut)
    long = "it's-" * 20
    for _ in range(2):
        assert english.tokenize(f"{long} {long}.") == NLTK(f"{long} {long}.")
    assert asked == [f"x {long} x", f"x {long}."] * 2


@pytest.mark.parametrize(
    ("text", "ends", "asked"),
    [
        ("word. The", True, False),
        ("word! the", True, False),
        ("word?)", True, False),
        ("Sept. The", False, True),  # an abbreviation
        ("Sept! The", True, False),
        ("dr. Strange", False, True),  # begins a pair
        ("x. The", False, True),  # may be an initial
        ("30. The", False, True),
        ("a-word. The", False, True),
        ("oh!word. The", False, True),  # the first mark is not the one in question
    ],
)
def test_most_ends_of_sentences_are_told_without_asking(text: str, ends: bool, asked: bool):
    questions: list[str] = []

    def ask(text: str) -> bool:
        questions.append(text)
        return False

    assert sentence_end_detector({"sept"}, {"dr"}, fallback=ask)(text) is ends
    assert questions == [text] * asked


@cache
def _plain_nltk():
    """nltk without anything of ours: its sentences by the shipped parameters, and its words."""
    from collections import defaultdict

    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    from evalui.shipped_files import ASSETS

    def lines(name: str) -> list[str]:
        file = ASSETS / "nltk" / "punkt_tab_english" / name
        return file.read_text(encoding="utf-8").rstrip("\n").split("\n")

    parameters = PunktParameters()
    parameters.abbrev_types = set(lines("abbrev_types.txt"))
    parameters.sent_starters = set(lines("sent_starters.txt"))
    parameters.collocations = {tuple(line.split("\t")) for line in lines("collocations.tab")}
    contexts = (line.split("\t") for line in lines("ortho_context.tab"))
    parameters.ortho_context = defaultdict(int, {word: int(flags) for word, flags in contexts})
    return PunktSentenceTokenizer(parameters).tokenize


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_the_words_of_a_text_are_nltks_whatever_it_is(text: str):
    expected = [word for sentence in _plain_nltk()(text) for word in NLTK(sentence)]
    assert tokenize_en(text) == expected
