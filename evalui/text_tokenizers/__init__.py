"""Where the words of a text begin and end: jieba for Chinese, nltk for English.

Both work from shipped data: nothing is downloaded, logged or kept in a temporary folder. Neither
package is imported before the first text of its language.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from evalui.shipped_files import ASSETS
from evalui.text_tokenizers.chinese import ChineseTokenizer
from evalui.text_tokenizers.english import EnglishTokenizer, sentence_end_detector


def tokenize_zh(text: str) -> list[str]:
    """The words and the blanks between them, as `jieba.lcut`; joined they are the text."""
    return _jieba()(text)


def tokenize_en(text: str) -> list[str]:
    """The words and punctuation marks, as `nltk.word_tokenize` with its English parameters."""
    return _nltk()(text)


def load_tokenizers() -> None:
    """Import both packages and read their data, so that the first text need not wait for it."""
    _jieba()
    _nltk()


@cache
def _jieba() -> Callable[[str], list[str]]:
    with warnings.catch_warnings():
        # Some releases of setuptools warn when jieba looks for their `pkg_resources`.
        warnings.simplefilter("ignore")
        import jieba
        from jieba import finalseg
    with cast("Any", jieba).Tokenizer().get_dict_file() as file:  # jieba has no types
        dictionary = file.read().decode()
    return ChineseTokenizer(dictionary, guess=cast("Any", finalseg).cut).tokenize


@cache
def _nltk() -> Callable[[str], list[str]]:
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    # nltk's own loader refuses folders outside its data path, which is the same for all threads.
    parameters = PunktParameters()
    parameters.abbrev_types = set(_read_lines("abbrev_types.txt"))
    parameters.sent_starters = set(_read_lines("sent_starters.txt"))
    parameters.collocations = {tuple(line.split("\t")) for line in _read_lines("collocations.tab")}
    contexts = (line.split("\t") for line in _read_lines("ortho_context.tab"))
    parameters.ortho_context = defaultdict(int, {word: int(flags) for word, flags in contexts})
    sentences: Any = PunktSentenceTokenizer(parameters)  # one method is replaced
    sentences.text_contains_sentbreak = sentence_end_detector(
        parameters.abbrev_types,
        {first for first, _ in parameters.collocations},
        fallback=sentences.text_contains_sentbreak,
    )
    return EnglishTokenizer(sentences.tokenize, NLTKWordTokenizer().tokenize).tokenize


def _read_lines(name: str) -> list[str]:
    # Not splitlines: words may hold characters that it takes for line ends.
    folder = ASSETS / "nltk" / "punkt_tab_english"
    return (folder / name).read_text(encoding="utf-8").rstrip("\n").split("\n")
