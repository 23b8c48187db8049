"""Where the words of a text begin and end: jieba for Chinese, nltk for English, both sped up.

Both work from shipped data: nothing is downloaded, logged or kept in a temporary folder. Neither
package is imported before the first text of its language.

Chinese words are those of `jieba.lcut`. jieba's dictionary and its hidden Markov model are used as
they are. What is written anew is the search for the most probable path through the dictionary:
jieba takes a logarithm and builds two lists for each character of each text, and that was nine
tenths of the time of ROUGE and BLEU. The sums and the ties are jieba's, so that the words are the
same. Of the dictionary only the words are read that begin with a character of the texts: reading
all of it takes a second. jieba keeps what it has read in the folder for temporary files, where any
user of the machine may have put something else under that name; nothing is kept here.

English words are those of `nltk.word_tokenize`. nltk makes some 35 replacements in each sentence of
a text. They see the word they change, whether it is the last of its sentence, and little else, so
each word is cut once, by nltk itself, and remembered. Where a quote or a full stop stands so that
more counts, nltk gets the whole sentence.
"""

import math
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from functools import cache, lru_cache
from typing import Any, cast

from evalui.shipped_files import ASSETS

_MAX_CACHED_CHARS = 64  # of a text that is remembered; a longer one hardly comes again
_DICTIONARY_RUN = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
_COUNT = re.compile(r" (\d+) ")
_SAME_BEGINNING = re.compile(r"^(.).*(?:\n\1.*)*", re.MULTILINE)
_OTHER_CHARACTER = re.compile(r"\r\n|.", re.DOTALL)
_CACHED_RUNS = 1 << 15  # short texts: some megabytes
_QUOTES = ('"', "'")
# An opening quote has a blank before it, a closing one a blank after it. nltk looks
# for spaces there, and for blanks among which it does not count the last four here.
_CONTEXT_DEPENDENT = re.compile(r"""(?<!\S)"|(?<!\w)'|'(?!\w)|''|[\x1c-\x1f]""")
_CLOSING = """])}>"'»”’"""
# What nltk makes of words without quotes. A mark stands alone, except that a comma or a colon
# belongs to the digit after it, and a full stop to its word.
_TOKEN = re.compile(
    r"(?:[^\s\"'`.,:;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015-]|\.(?!\.)|-(?!-)|[:,](?=\d))+"
    r"|[;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015]|``?(?!`)|[:,](?![:,\d])"
)
_CONTRACTION = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
_WORD_AND_MARK = re.compile(r"([A-Za-z]{2,})([.?!])(?:\s+\S+|[^\w\s.])")
_CACHED_WORDS = 1 << 16  # words; some megabytes


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


# ---------------------------------------------------------------- Chinese


class ChineseTokenizer:
    """Cuts texts with jieba's dictionary: a line for each word, with its count and its kind.

    `guess` finds the words of a run of characters that the dictionary does not join.
    """

    def __init__(self, dictionary: str, *, guess: Callable[[str], Iterable[str]]) -> None:
        self._log_total = math.log(sum(map(int, _COUNT.findall(dictionary))))
        # The lines that are not read yet, by their first character.
        self._unread: dict[str, str] = {}
        for lines in _SAME_BEGINNING.finditer(dictionary):
            self._unread[lines[1]] = f"{self._unread.get(lines[1], '')}{lines[0]}\n"
        # A logarithm of a share is below 0, which leaves 0 for what only begins a word.
        self._logs: dict[str, float] = {}
        self._unknown_log_prob = -self._log_total  # counts as seen once
        self._hmm_cut = guess
        # Most of the short pieces between two marks, and of the runs in them, come again.
        self._cached_words = lru_cache(_CACHED_RUNS)(self._cut_on_best_path)
        self._cached_unknown_words = lru_cache(_CACHED_RUNS)(self._cut_unknown)

    def tokenize(self, text: str) -> list[str]:
        """The words and what stands between them, as jieba's default mode; joined the text."""
        words: list[str] = []
        for place, piece in enumerate(_DICTIONARY_RUN.split(text)):
            # Every second piece is one that the pattern has found.
            words += self._dictionary_words(piece) if place % 2 else _OTHER_CHARACTER.findall(piece)
        return words

    def _dictionary_words(self, piece: str) -> tuple[str, ...]:
        return (
            self._cached_words(piece)
            if len(piece) <= _MAX_CACHED_CHARS
            else self._cut_on_best_path(piece)
        )

    def _unknown_words(self, run: str) -> tuple[str, ...]:
        return (
            self._cached_unknown_words(run)
            if len(run) <= _MAX_CACHED_CHARS
            else self._cut_unknown(run)
        )

    def _cut_on_best_path(self, piece: str) -> tuple[str, ...]:
        """The words on the most probable path, characters that stand alone given to the guess."""
        for character in self._unread.keys() & piece:
            self._read_words(character)
        ends = self._best_path(piece)
        words: list[str] = []
        start = loose = 0  # piece[loose:start] are the characters alone that end here
        while start < len(piece):
            end = ends[start]
            if end > start + 1:
                words += self._unknown_words(piece[loose:start])
                words.append(piece[start:end])
                loose = end
            start = end
        return (*words, *self._unknown_words(piece[loose:]))

    def _read_words(self, character: str) -> None:
        """Take the words that begin with a character into the search."""
        for line in self._unread.get(character, "").splitlines():
            word, count, _ = line.split(" ")
            self._logs[word] = math.log(int(count)) - self._log_total
            for end in range(1, len(word)):
                self._logs.setdefault(word[:end], 0.0)
        # Last: until then another thread reads them, too, instead of taking them for read.
        self._unread.pop(character, None)

    def _best_path(self, piece: str) -> list[int]:
        """For each place the end of the word that begins there on the best path to the end."""
        log_of, size = self._logs.get, len(piece)
        ends = [0] * size
        sums = [0.0] * (size + 1)  # of the best path from each place on
        for start in range(size - 1, -1, -1):
            best, best_end = -math.inf, 0
            end, log = start + 1, log_of(piece[start])
            while log is not None:
                if log and log + sums[end] >= best:  # among equals the longest, as in jieba
                    best, best_end = log + sums[end], end
                if end == size:
                    break
                end += 1
                log = log_of(piece[start:end])
            if not best_end:
                best, best_end = self._unknown_log_prob + sums[start + 1], start + 1
            sums[start], ends[start] = best, best_end
        return ends

    def _cut_unknown(self, run: str) -> tuple[str, ...]:
        if len(run) < 2 or self._logs.get(run):
            return tuple(run)
        return tuple(self._hmm_cut(run))


# ---------------------------------------------------------------- English


class EnglishTokenizer:
    """Cuts texts: `sentences` into sentences, and `words` each of these into words."""

    def __init__(
        self, sentences: Callable[[str], list[str]], words: Callable[[str], list[str]]
    ) -> None:
        self._split_sentences = sentences
        self._tokenize_words = words
        self._cached_inner = lru_cache(_CACHED_WORDS)(self._tokenize_inner)
        self._cached_last = lru_cache(_CACHED_WORDS)(self._tokenize_last)

    def tokenize(self, text: str) -> list[str]:
        """The words and marks of a text."""
        return [
            word
            for sentence in self._split_sentences(text)
            for word in self._tokenize_sentence(sentence)
        ]

    def _tokenize_sentence(self, sentence: str) -> list[str]:
        if sentence.startswith(_QUOTES) or (
            not sentence.isprintable() and _CONTEXT_DEPENDENT.search(sentence)
        ):
            return self._tokenize_words(sentence)
        *inside, last = sentence.split()
        if not last.strip(_CLOSING + "."):
            return self._tokenize_words(sentence)
        words = [word for each in inside for word in self._inner_tokens(each)]
        words += self._last_tokens(last)
        return words

    def _inner_tokens(self, word: str) -> tuple[str, ...]:
        return (
            self._cached_inner(word)
            if len(word) <= _MAX_CACHED_CHARS
            else self._tokenize_inner(word)
        )

    def _last_tokens(self, word: str) -> tuple[str, ...]:
        return (
            self._cached_last(word) if len(word) <= _MAX_CACHED_CHARS else self._tokenize_last(word)
        )

    def _tokenize_inner(self, word: str) -> tuple[str, ...]:
        """What a word becomes between two others."""
        return _simple_tokens(word) or tuple(self._tokenize_words(f"x {word} x")[1:-1])

    def _tokenize_last(self, word: str) -> tuple[str, ...]:
        """What the last word of a sentence becomes: its full stop stands alone."""
        alone = word.endswith(".") and not word.endswith("..")  # several stay together
        if alone and (pieces := _simple_tokens(word[:-1])):
            return (*pieces, ".")
        if not word.rstrip(_CLOSING).endswith(".") and (pieces := _simple_tokens(word)):
            return pieces
        return tuple(self._tokenize_words(f"x {word}")[1:])


def sentence_end_detector(
    abbreviations: Container[str], collocated: Container[str], *, fallback: Callable[[str], bool]
) -> Callable[[str], bool]:
    """nltk's `text_contains_sentbreak`: whether a sentence ends in a word, a mark and what follows.

    A word of letters before a mark decides it, unless it is an abbreviation or begins a pair of
    words that belong together, both in lower case; then `fallback` decides.
    """

    def contains(text: str) -> bool:
        match = _WORD_AND_MARK.fullmatch(text)
        if not match:
            return fallback(text)
        word, mark = match[1].lower(), match[2]
        return (
            mark != "." or (word not in abbreviations and word not in collocated) or fallback(text)
        )

    return contains


def _simple_tokens(word: str) -> tuple[str, ...]:
    """The pieces of a word that has no quotes nor doubled marks, else ()."""
    pieces = tuple(_TOKEN.findall(word))
    return pieces if "".join(pieces) == word and not _CONTRACTION.search(word) else ()
