"""Where a reply mentions options: by letter, by place, or by their own words.

A line is *marked*: every mention becomes one character of Unicode's private area that says how
an option is mentioned and which. What reads a sentence (`statements`) then needs one pattern
for "the answer is B", "the answer is the second option" and "the answer is Rome". Letters beyond
the options of a question are words.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from evalui.replies.grammar import COPULA_END, REASON_OTHERS
from evalui.replies.mentions import (
    MAX_SHORT,
    MENTIONS,
    NUMBER,
    NUMBERED,
    NUMBERED_WORDS,
    PLACE_EN,
    PLACE_WORDS_EN,
    PLACE_WORDS_ZH,
    PLACE_ZH,
    SMALL_LETTER_WORDS,
    STEMS,
    Kind,
    characters,
    either,
    kind_of,
    mark_letters,
    mention,
    slot_of,
    slot_of_place,
)
from evalui.replies.text import fold_width, without_emphasis
from evalui.types import LETTERS

# ---------------------------------------------------------------- the words of an option

_EDGE_CHARACTERS = " \t\r\n*_`$\"'“”‘’「」『』《》〈〉"
_BLANKS = re.compile(r"\s+")
_NUMERIC = re.compile(
    r"[\d(+\-.]|(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"\w+teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)[ -]?)+$|"
    "[零〇一二两三四五六七八九十百千万亿]+(?:[个年月日次元天人岁米种条本只位名分倍]|公里|千克)?$"
)
_SEPARATE_CAPITAL = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
# Sentences about options are made of these words: in them they are no evidence.
_COMMON = frozenset(
    re.findall(
        "[^|\n]+",
        """true|false|yes|no|right|wrong|correct|incorrect|not correct|not right|both|neither|none
all|either|same|different|option|other|others|answer|the|a|an|it|this|that|is|not|or|and|first
second|third|fourth|last|正确|错误|对|错|是|否|不是|不对|不正确|能|不能|有|没有|会|不会|可以|不可以|真|假
选项|答案|不|无|一|二|三|四|五|六|七|八|九|十|两|个|上|下|中|大|小|多|少""",
    )
)


def plain_text(text: str) -> str:
    """The text without case, markup and quotes at its edges, or punctuation at its end."""
    bare = fold_width(text).lstrip(_EDGE_CHARACTERS).rstrip(_EDGE_CHARACTERS + ".。!;,")
    return _BLANKS.sub(" ", bare).casefold()


@dataclass(frozen=True, slots=True)
class _OptionText:
    """One option: as shown, as `fold_width` and `plain_text` write it, and as it is searched for.

    `searched` is empty where the text is no evidence in a sentence.
    """

    shown: str
    folded: str
    plain: str
    searched: str
    keeps_case: bool  # "US" is not "us"
    is_numeric: bool
    capitals: str  # those that stand alone in it, as in "vitamin C" and A型


@lru_cache(maxsize=4096)  # by option, since its question is shown in many orders
def _option_text(option: str) -> _OptionText:
    folded, plain = fold_width(option).strip(), plain_text(option)
    is_letter = len(plain) == 1 and plain.isascii() and plain.isalpha()
    searched = " ".join(without_emphasis(folded).split())
    searched = searched.strip(_EDGE_CHARACTERS).rstrip(".。!;,")
    if is_letter or plain in _COMMON or not any(map(str.isalnum, plain)):
        searched = ""
    keeps_case = len(searched) <= 3 and searched.lower() != searched
    return _OptionText(
        shown=option,
        folded=folded,
        plain=plain,
        searched=searched if keeps_case else searched.lower(),
        keeps_case=keeps_case,
        is_numeric=bool(_NUMERIC.match(plain)),
        capitals="".join(_SEPARATE_CAPITAL.findall(folded)),
    )


# ---------------------------------------------------------------- the options of a question


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question by slot, and what marks them in lines."""

    texts: tuple[_OptionText, ...]
    are_numeric: bool
    longest: int  # characters

    def __len__(self) -> int:
        return len(self.texts)

    def slots_with_text(self, text: str) -> tuple[int, ...]:
        """All slots whose option is this text; "CO" means "CO" even where "Co" is another."""
        exact, plain = fold_width(text).strip(), plain_text(text)
        same = tuple(slot for slot, each in enumerate(self.texts) if each.folded == exact)
        if same or not plain:
            return same
        return tuple(slot for slot, each in enumerate(self.texts) if each.plain == plain)

    def slots_like(self, slot: int) -> tuple[int, ...]:
        """All slots whose option has the words of this one."""
        plain = self.texts[slot].plain
        return tuple(other for other, each in enumerate(self.texts) if each.plain == plain)

    def is_text_of_another(self, slot: int) -> bool:
        """Whether the letter of a slot is what another option says, as of B where A reads "B"."""
        letter = LETTERS[slot].lower()
        return any(each.plain == letter for other, each in enumerate(self.texts) if other != slot)

    def is_in_text_of_another(self, slot: int) -> bool:
        """Whether another option has the letter of a slot, as "group A" has, its own has not."""
        letter = LETTERS[slot]
        return letter not in self.texts[slot].capitals and any(
            letter in each.capitals for each in self.texts
        )

    def is_name_of_another(self, slot: int) -> bool:
        """Whether only the letter tells another option, such as "group A", from its like."""
        if not self.is_in_text_of_another(slot):
            return False
        frames = [
            each.folded.replace(each.capitals, "") if len(each.capitals) == 1 else ""
            for each in self.texts
        ]
        letter = LETTERS[slot]
        return any(
            frame and each.capitals == letter and frames.count(frame) > 1
            for each, frame in zip(self.texts, frames, strict=True)
        )

    def named_by_common_words(self) -> "Options | None":
        """The same options where "true" and 错误 are mentions too; None without such options."""
        if all(each.searched for each in self.texts):
            return None
        texts = (
            each if each.searched else replace(each, searched=each.plain) for each in self.texts
        )
        return replace(self, texts=tuple(texts))

    # ------------------------------------------------------------ marking

    def marked(self, text_lines: Sequence[str]) -> list[str]:
        """Lines with their mentions as characters."""
        whole = "\n".join(text_lines).lower()
        words = [each for each in _WORD_LISTS if _has_word(whole, each)]
        return [self._marked(line, words) for line in text_lines]

    def _marked(self, line: str, words: Sequence[tuple[str, ...]]) -> str:
        """The line marked; `words` are the lists of which the reply holds a word."""
        found = words and [each for each in words if _has_word(line.lower(), each)]
        text = line
        if NUMBERED_WORDS in found:
            text = NUMBERED.sub(self._place, line)
        text = self._mark_texts(text)
        if PLACE_WORDS_EN in found:
            text = self._mark_places(text)
        if PLACE_WORDS_ZH in found:
            text = PLACE_ZH.sub(self._place, text)
        may_be_small = SMALL_LETTER_WORDS in found
        text = mark_letters(text, line, len(self), may_be_small=may_be_small)
        if len(line) < MAX_SHORT and not self.are_numeric and not _LABEL_SIGN.search(text):
            text = NUMBER.sub(self._number, text)
        mentions = len(MENTIONS.findall(text))
        if mentions == 1:
            return _LABEL_AND_REST.sub(self._join_rest, text)
        return self._join(_ANSWER_HEAD.sub("answer: ", text)) if mentions else text

    def _mark_texts(self, line: str) -> str:
        """The longest texts first, so that "one or two" is not read as "one"."""
        lower = line.lower()
        hits = [
            (each.searched, slot, each.keeps_case)
            for slot, each in enumerate(self.texts)
            if each.searched and each.searched in (line if each.keeps_case else lower)
        ]
        hits.sort(key=lambda hit: -len(hit[0]))
        for searched, slot, keeps_case in hits:
            line = _with_text_marked(line, searched, slot, keeps_case=keeps_case)
        return line

    def _mark_places(self, text: str) -> str:
        begin, pieces = 0, list[str]()
        for match in PLACE_EN.finditer(text.lower()):
            marked = self._place(match)
            if marked != match[0]:
                pieces += [text[begin : match.start()], marked]
                begin = match.end()
        return "".join([*pieces, text[begin:]])

    def _place(self, match: re.Match[str]) -> str:
        """An ordinal or a numbered option as a mention; what counts something else stays."""
        word = match[match.lastgroup or ""].casefold()
        if word in STEMS:
            slot = STEMS.index(word)
            is_name = any(other in each.folded for each in self.texts for other in STEMS)
            return match[0] if is_name or slot >= len(self) else mention(Kind.STEM, slot)
        slot = slot_of_place(match, len(self))
        if slot is None:
            return match[0]
        as_text = self.slots_with_text(word)
        return mention(Kind.CONFLICT if as_text and slot not in as_text else Kind.PLACE, slot)

    def _number(self, match: re.Match[str]) -> str:
        slot = int(match[match.lastgroup or ""]) - 1
        begins = not _WORD.search(match.string, 0, match.start())
        if begins and _BULLET.match(match.string, match.end()):
            return match[0]
        return mention(Kind.NUMBER, slot) if 0 <= slot < len(self) else match[0]

    # ------------------------------------------------------------ a letter and a text

    def _join(self, text: str) -> str:
        """A letter and its own option's words are one mention, with another's words a conflict."""
        if any(len(each.plain) == 1 for each in self.texts):
            text = _LETTER_LETTER.sub(self._join_letters, text)
        return _TEXT_LABEL.sub(self._join_label_behind, _LABEL_TEXT.sub(self._join_label, text))

    def _join_letters(self, match: re.Match[str]) -> str:
        """A letter and an option's text that is a letter itself: "(C) D"."""
        slot, letter = slot_of(match[1]), LETTERS[slot_of(match[2])]
        is_own = self.texts[slot].folded == letter
        return mention(Kind.LETTER_AND_TEXT, slot) if is_own else match[0]

    def _join_label(self, match: re.Match[str]) -> str:
        label, between, text = match.groups()
        slot = slot_of(label)
        is_number = kind_of(label) is Kind.NUMBER
        if slot in self.slots_like(slot_of(text)):
            return mention(Kind.NUMBER_AND_TEXT if is_number else Kind.LETTER_AND_TEXT, slot)
        begins = not _WORD.search(match.string, 0, match.start())
        is_label = is_number or bool(_LABEL_END.search(between))
        # "C. The violin is held so" may say why, "C. Violin is it" cannot.
        if is_label and begins and not between.endswith((" the ", " The ")):
            return mention(Kind.CONFLICT, slot)
        ends = _TEXT_ENDS.match(match.string, match.end())
        return mention(Kind.CONFLICT, slot) if ends else match[0]

    def _join_label_behind(self, match: re.Match[str]) -> str:
        text, between, label = match.groups()
        slot = slot_of(label)
        if slot in self.slots_like(slot_of(text)):
            return mention(Kind.LETTER_AND_TEXT, slot)
        goes_on = match.string[match.end() : match.end() + 1] not in (")", "]")
        if between.strip() in ("", "=", ":", "→") or not goes_on:
            return mention(Kind.CONFLICT, slot)
        return match[0]

    def _join_rest(self, match: re.Match[str]) -> str:
        """A label and, to the end of the line, a text that is too common to be marked."""
        slots = self.slots_with_text(match["text"])
        slot = slot_of(match["label"])
        if not slots:
            if not match["sign"] and match["text"] < "\u2e80":
                return match[0]
            others = (each.plain for each in self.texts)
            is_other = _is_other_answer(match["text"], self.texts[slot].plain, others)
            return mention(Kind.CONFLICT, slot) + match["rest"] if is_other else match[0]
        kind = Kind.LETTER_AND_TEXT if slot in slots else Kind.CONFLICT
        return mention(kind, slot) + match["rest"]


# A reply is not searched for what it cannot hold.
_WORD_LISTS = (NUMBERED_WORDS, PLACE_WORDS_EN, PLACE_WORDS_ZH, SMALL_LETTER_WORDS)


def _has_word(text: str, words: tuple[str, ...]) -> bool:
    """Whether any of the words is in a text in lower case."""
    return any(map(text.__contains__, words))


def make_options(options: Sequence[str]) -> Options:
    """The options as replies mention them."""
    texts = tuple(map(_option_text, options))
    longest = max(len(each.folded) for each in texts)
    return Options(texts, any(each.is_numeric for each in texts), longest)


# ---------------------------------------------------------------- texts


def _with_text_marked(line: str, searched: str, slot: int, *, keeps_case: bool) -> str:
    sign, size, begin = mention(Kind.TEXT, slot), len(searched), 0
    compared = line if keeps_case else line.lower()
    pieces = list[str]()
    start = compared.find(searched)
    while start >= 0:
        end = start + size
        if _begins_word(line, start) and _ends_word(line, end):
            # The article before a word in lower case is one: "a fox"; before the first option's
            # words a capital is its letter.
            article = _ARTICLE.search(line, begin, start) if line[start].islower() else None
            if article and article[0] == "A " and not slot:
                article = None
            pieces += [line[begin : article.start() if article else start], sign]
            begin = end
        start = compared.find(searched, end)
    return "".join([*pieces, line[begin:]]) if pieces else line


_ARTICLE = re.compile(r"\b[Aa]n? $")


def _is_of_word(character: str) -> bool:
    """Whether a character is of a word that blanks end, unlike Chinese characters."""
    return character.isalnum() and character < "\u2e80"


def _begins_word(text: str, start: int) -> bool:
    if not start or not _is_of_word(text[start]):
        return True
    before, earlier = text[start - 1], text[max(0, start - 3) : start - 1]
    if _is_of_word(before):
        return False
    if text[start].isdigit() and before in ".,/-+$^_":
        return not earlier[-1:].isdigit() and before not in "-+^_"
    return not (before in "-'’" and len(earlier) == 2 and all(map(_is_of_word, earlier)))


def _ends_word(text: str, end: int) -> bool:
    if end == len(text) or not _is_of_word(text[end - 1]):
        return True
    after, later = text[end], text[end + 1 : end + 2]
    if _is_of_word(after):
        return False
    if text[end - 1].isdigit() and (after in "%°‰" or (after in ".,/" and later.isdigit())):
        return False
    return not (after in "-'’" and bool(later) and _is_of_word(later))


# ---------------------------------------------------------------- a letter and a text

_TEXT = characters(Kind.TEXT)
_LABELS = characters(Kind.LETTER, Kind.SMALL_LETTER, Kind.PLACE, Kind.STEM, Kind.NUMBER)
_LABEL_SIGN = re.compile(characters(Kind.LETTER, Kind.PLACE))
_LABEL_TEXT = re.compile(
    rf"({_LABELS})((?:选?项)?[\s.:,、;()\[\]\-–—─=|\"'“”「」『』【】《》<>→]{{0,6}}"
    r"(?:(?:也?就是|即|namely|i\.e\.|that is|which is)[\s:,]{0,2}[\"'“「]?)?(?:the |an? )?)"
    rf"({_TEXT})",
    re.IGNORECASE,
)
_TEXT_LABEL = re.compile(
    rf"({_TEXT})([\"'”」]?\s?[,(\[（–—=:→-]?\s?"
    rf"(?:[Oo]ption |[Cc]hoice |选项)?)({characters(Kind.LETTER, Kind.PLACE)})"
)
_LETTER_LETTER = re.compile(
    rf"({characters(Kind.LETTER)})[\s.:)、]{{1,3}}({characters(Kind.LETTER, Kind.SMALL_LETTER)})"
)
_LABEL_AND_REST = re.compile(
    rf"(?P<label>{_LABELS})(?:(?P<sign>\s?[.:)、=\]】\-–—─|]+\s?|\s?[(]|, (?=(?:the|an?) ))|,\s?|"
    rf"\s?[\"“]|\s)"
    r"(?P<text>[^\s.:,、()\"“][^()\n]{0,80}?)(?P<rest>[)\"”.。!;\s]*)$"
)
_BULLET = re.compile(rf"[.)、:](?!\s?{_TEXT})\s?[^\W\d]")
# A head "A:" before a letter is short for "answer".
_ANSWER_HEAD = re.compile(
    rf"^\W*{mention(Kind.LETTER, 0)}\s?:\s*(?=[(\[*]*{characters(Kind.LETTER)}[)\].*]*$)"
)
_TEXT_ENDS = re.compile(r"[\s)\]}】」』”\"'》.。,;!]*$|[)\]},。;】」”》|]|\s[-–—(]")
_LABEL_END = re.compile(r"[.:)、\]】]")
_WORD = re.compile(r"\w")


# ---------------------------------------------------------------- another answer behind a label

_CHINESE = "\u2e80"  # from here on characters are words
_MAX_WORDS_OF_ANSWER = 3
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
_WORDS_OF_ANSWER = re.compile(r"[\u2e80-\uffff]|[^\W\d_\u2e80-\uffff]+")


def _is_other_answer(text: str, option: str, others: Iterable[str]) -> bool:
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
    words, own_words = _words_of(plain), _words_of(option)
    shared = {word for other in others if other != option for word in _words_of(other)}
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
    return len(text.split()) <= _MAX_WORDS_OF_ANSWER


def _words_of(text: str) -> set[str]:
    """Words, and characters of Chinese."""
    return set(_WORDS_OF_ANSWER.findall(text))


def _are_alike(word: str, other: str) -> bool:
    """Whether one word may be a slip of the other: enough of their pairs of letters agree."""
    if word in other or other in word or sorted(word) == sorted(other):
        return True
    pairs = ({each[at : at + 2] for at in range(len(each) - 1)} for each in (word, other))
    least = 1 if min(len(word), len(other)) < 4 else 2
    return len(set[str].intersection(*pairs)) >= least
