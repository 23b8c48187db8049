"""Whether a few words behind a label are another answer than the option: "B. Badger" for a fox."""

import re
from collections.abc import Iterable

from evalui.scoring.parsing.patterns import either
from evalui.scoring.parsing.sentence_grammar import COPULA_END, REASON_OTHERS

_CHINESE = "\u2e80"  # from here on characters are words
_MAX_WORDS = 3
_MAX_CHARACTERS = 8  # of Chinese
# Words of a comment, which is no answer: "B. I am sure".
_COMMENT = re.compile(
    r"\b"
    + either(r"""
    because | since | it | this | that | is | are | was | i | we | you | my | final | answer
    sure
    certain\w* | definite\w* | probabl\w* | obvious\w* | clear\w* | likely | correct | right
    wrong
    explanation | reason\w* | note | thanks? | hope | see | let | not | no | yes | confiden\w*
    source
    option | choice | please | ok | okay | done | easy | simple | guess | maybe | perhaps | period
    end | full | stop | doubt | question | that's | nothing | rest | others? | high | low | medium
    all | none | both | only | by | due | as | for | so | and | or | if | edit | update | wait
    """)
    + r"\b|[因由理解析是的这我你请希谢对正确错不无没答选定根据说明原考点了吧呢啊很都就也要会可能有"
    "太好行吗嘛哈嗯哦真假项]"
)
_NO_TEXT = re.compile(either(COPULA_END, REASON_OTHERS))  # of other languages: "A です"
_LEADING_ARTICLE = re.compile("^(?:the|an?) ")
_ARTICLES = frozenset(("the", "a", "an"))
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(r"[\u2e80-\uffff]|[^\W\d_\u2e80-\uffff]+")


def is_other_answer(text: str, option: str, others: Iterable[str]) -> bool:
    """Whether the text is another answer than an option, which `plain_text` wrote, as the others.

    A slip of spelling, a shortened text and a comment are none; neither is what stands behind the
    label of a long option, which may be a paraphrase.
    """
    plain = _LEADING_ARTICLE.sub("", text.casefold().strip(" \"'“”*_`$.。!;,)"))
    if (len(plain) < 2 and plain < _CHINESE) or not any(map(str.isalnum, plain)):
        return False
    if _COMMENT.search(plain) or _NO_TEXT.match(plain):
        return False
    numbers, own_numbers = _NUMBERS.findall(plain), _NUMBERS.findall(option)
    if numbers or own_numbers:
        return bool(numbers and own_numbers) and numbers != own_numbers
    words, own_words = _words(plain), _words(option)
    shared = {word for other in others if other != option for word in _words(other)}
    # All options go like it: "the Battle of …". A Chinese character is too little for that.
    common = {word for word in own_words & shared if len(word) > 1} - _ARTICLES
    is_brief = _is_brief(plain) and _is_brief(option)
    if not words & (common or shared) and (common or not is_brief):
        return False
    special, own_special = words - shared, own_words - shared
    if not special or not own_special:
        return False
    return not any(_are_alike(word, own_word) for word in special for own_word in own_special)


def _is_brief(text: str) -> bool:
    if any(character >= _CHINESE for character in text):
        return len(text) <= _MAX_CHARACTERS
    return len(text.split()) <= _MAX_WORDS


def _words(text: str) -> set[str]:
    """Words, and characters of Chinese."""
    return set(_WORDS.findall(text))


def _are_alike(word: str, other: str) -> bool:
    """Whether one word may be a slip of the other: enough of their pairs of letters agree."""
    if word in other or other in word or sorted(word) == sorted(other):
        return True
    least = 1 if min(len(word), len(other)) < 4 else 2
    return len(_pairs(word) & _pairs(other)) >= least


def _pairs(word: str) -> set[str]:
    return {word[at : at + 2] for at in range(len(word) - 1)}
