"""Which option do the sentences of a reply choose together? Order, doubt and contradiction.

What is announced last holds, unless it is taken back, doubted or set beside another option. Only
where nothing is announced or concluded do weaker statements count: the one option called right,
the one that is left, the one whose words the reply says. Contradictions have no answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.replies.grammar import (
    COPULA_TO_MENTION,
    holds_negation,
    is_provisional,
    is_supposed,
    refuses,
)
from evalui.replies.mentions import MENTION, MENTIONS, Kind, characters, kind_of, slot_of
from evalui.replies.options import Options
from evalui.replies.statements import Stance, Statement, statements
from evalui.replies.text import lines
from evalui.types import Reading


@dataclass(frozen=True, slots=True)
class ParsedChoice:
    """The slot a reply chose, None if it cannot be read, and the rule that decided.

    `tied_slots` are the slots of a text that several options share: then the reply chose them
    equally.
    """

    choice: int | None
    rule: str
    tied_slots: tuple[int, ...] = ()

    def grade(self, target: int) -> Reading:
        """The reading, graded: an unreadable reply earns nothing, one of t equal texts 1/t."""
        if self.tied_slots:
            return Reading.of_tie(self.tied_slots, target)
        return _reading(self.choice, float(self.choice == target), self.rule)


# A run has few different readings and many trials, which then share them.
_reading = lru_cache(maxsize=1024)(Reading)
AMBIGUOUS = ParsedChoice(None, "ambiguous")
CONFLICT = ParsedChoice(None, "label-text-conflict")
UNPARSED = ParsedChoice(None, "unparsed")


def only_slot(slots: Sequence[int], rule: str, options: Options) -> ParsedChoice:
    """The only slot, or a tie of slots that show the same text to the letter."""
    if len(slots) == 1:
        return ParsedChoice(slots[0], rule)
    same = len({options.texts[slot].shown for slot in slots}) == 1
    return ParsedChoice(None, "tie", tied_slots=tuple(slots)) if same else AMBIGUOUS


def read_statements(text: str, options: Options, *, is_cut: bool) -> ParsedChoice:
    """What a text without markup chooses; `is_cut` says that its end is missing."""
    sentences = _sentences(text, options)
    if is_cut and len(sentences) > 1 and _is_torn(sentences[-1]):
        del sentences[-1]
    listed = _listed(sentences, len(options))
    course = _course(sentences, listed, len(options))
    chosen = course.chosen
    if not chosen or chosen.stance in (Stance.LEADS, Stance.POSSIBLE):
        weighted = _heaviest(sentences)
        if weighted:
            return weighted
    if course.is_open or course.is_contradicted:
        return AMBIGUOUS
    if chosen:
        return _read_chosen(chosen, course.place, sentences, options)
    weak = UNPARSED if is_cut else _read_weak(sentences, options)
    return AMBIGUOUS if weak is UNPARSED and (listed or _names_several(sentences)) else weak


def _course(sentences: "Sequence[_Sentence]", listed: frozenset[int], size: int) -> "_Course":
    course = _Course()
    for index, sentence in enumerate(sentences):
        for statement in sentence.statements:
            if not _is_list(statement, size, in_list=index in listed):
                course.add(statement, index, sentence.text)
    return course


# ---------------------------------------------------------------- sentences


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A marked sentence in lower case and as written, and what it says."""

    text: str
    written: str
    statements: tuple[Statement, ...]


_LONGEST_SENTENCE = 2000  # characters
_END = re.compile(r"[。!?;….]+[\"'”’)\]」』]*")
_CLOSED = re.compile(r"[.。!?)\]】}]\W*$")
_SENTENCE_BEGINS = re.compile(rf"\s+(?![A-Z]\.)(?:[A-Z\u4e00-\u9fff]|{MENTION})")
_THE_NEXT = re.compile(r"\s+(?:The|This|That|Therefore|Thus|Hence|So|It|We|However|But|Answer)\b")
# What may stand behind "A." and is said of it: "A. Wrong".
_VERDICT_BEGINS = re.compile(
    r"\s*(?:(?i:wrong|incorrect|false|not\b|no\b|true\b|correct|right|untrue|yes\b)|"
    "[错不正对非误✓✗✘✔❌✅×√])"
)


def _sentences(text: str, options: Options) -> list[_Sentence]:
    sentences, mentions_any = list[_Sentence](), False
    for line in options.marked(lines(text)):
        for written in _split(line):
            lower = written.lower()
            stated: tuple[Statement, ...] = ()
            mentions_any = mentions_any or MENTIONS.search(lower) is not None
            if mentions_any:
                is_question = written.rstrip("\"'”’)]」』").endswith("?")
                read = _statements_of_short if len(lower) <= _MAX_KEPT else _statements
                stated = read(lower, not sentences, is_question)
            sentences.append(_Sentence(lower, written, stated))
    return sentences


def _statements(sentence: str, is_first: bool, is_question: bool) -> tuple[Statement, ...]:
    return tuple(statements(sentence, is_first=is_first, is_question=is_question))


_MAX_KEPT = 200  # characters of a sentence; models write the short ones again and again
_statements_of_short = lru_cache(maxsize=4096)(_statements)


def _is_torn(sentence: _Sentence) -> bool:
    """Whether a last sentence holds the mention that it would have begun with, and no more."""
    is_closed = _CLOSED.search(sentence.written)
    return not is_closed and all(each.stance is Stance.STANDS_ALONE for each in sentence.statements)


def _split(line: str) -> Iterator[str]:
    """The sentences of a line; "B. Rome" and "e.g." end none, and no person writes longer ones."""
    begin = 0
    for end in _END.finditer(line):
        while end.start() - begin > _LONGEST_SENTENCE:
            yield line[begin : begin + _LONGEST_SENTENCE]
            begin += _LONGEST_SENTENCE
        if end[0][0] == "." and not _is_full_stop(line, end):
            continue
        if sentence := line[begin : end.end()].strip():
            yield sentence
        begin = end.end()
    while len(line) - begin > _LONGEST_SENTENCE:
        yield line[begin : begin + _LONGEST_SENTENCE]
        begin += _LONGEST_SENTENCE
    if sentence := line[begin:].strip():
        yield sentence


def _is_full_stop(line: str, end: re.Match[str]) -> bool:
    start, after = end.start(), end.end()
    if after < len(line) and not line[after].isspace():
        return False
    if end[0].startswith("..") or after == len(line):
        return True
    before = line[max(0, start - 2) : start]
    if MENTIONS.fullmatch(before[-1:]):
        if kind_of(before[-1]) is Kind.NUMBER:
            return False
        return bool(_SENTENCE_BEGINS.match(line, after)) and not _VERDICT_BEGINS.match(line, after)
    if line[max(0, start - 2) : start - 1] == "." and _THE_NEXT.match(line, after):
        return True  # "in the U.S. The answer is"
    # One letter or digit that stands alone: an initial, a number of a list, "e.g.".
    return not (before[-1:].isascii() and before[-1:].isalnum() and not before[:-1].isalnum())


# ---------------------------------------------------------------- lists of options

_LABELS = characters(Kind.LETTER, Kind.LETTER_AND_TEXT, Kind.CONFLICT)
_ITEM = re.compile(
    rf"[\s>#|•\-–—*]*(?:\[[ x]\]\s)?(?:option |选项)?[(\[【]?(?P<label>{_LABELS})"
    rf"(?:(?P<sign>[)\]】\s]*[.):、\]】|])|(?={MENTION}|\s|$))"
)
_BARE = (Stance.LEADS, Stance.STANDS_ALONE)
_INLINE_ITEM = re.compile(rf"({characters(Kind.LETTER, Kind.LETTER_AND_TEXT)})\s?[.):、]")


def _listed(sentences: Sequence[_Sentence], size: int) -> frozenset[int]:
    """The indices of sentences that begin with labels, as the options of a question do."""
    items = list(_inline_items(sentences)) or list(_items(sentences))
    slots = [slot for _, slot in items]
    if len(set(slots)) < 2 or slots[0] != min(slots):
        return frozenset()
    if slots[:size] == list(range(size)):
        items = items[:size]  # what follows a whole list may be the answer
    return frozenset(index for index, _ in items)


def _inline_items(sentences: Sequence[_Sentence]) -> Iterator[tuple[int, int]]:
    for index, sentence in enumerate(sentences):
        if len(sentence.statements) > 1:
            labels = _INLINE_ITEM.findall(sentence.text)
            if len(set(labels)) > 1:
                yield from ((index, slot_of(label)) for label in labels)


def _items(sentences: Sequence[_Sentence]) -> Iterator[tuple[int, int]]:
    for index, sentence in enumerate(sentences):
        item = _ITEM.match(sentence.text) if sentence.statements else None
        if item and (item["sign"] or kind_of(item["label"]) is not Kind.LETTER):
            yield index, slot_of(item["label"])


def _is_list(statement: Statement, size: int, *, in_list: bool) -> bool:
    """Whether options are only listed: an item of a list, or all of them at once."""
    if in_list and statement.stance in _BARE:
        return True
    return size > 2 and len(statement.slots) == size and statement.stance is not Stance.DENIED


def _names_several(sentences: Sequence[_Sentence]) -> bool:
    """Whether options are named together, and nothing is said of them."""
    stated = (each for sentence in sentences for each in sentence.statements)
    return any(each.stance in _BARE and len(each.slots) > 1 for each in stated)


# ---------------------------------------------------------------- from the beginning to the end

# Words with which a second answer replaces the first.
_SETTLES = re.compile(
    r"\b(?:final|correct|right|best|actually|so|therefore|thus|hence|now(?!\W+let)|but|should|must|instead|"
    r"revised|updated|corrected)\b|最终|最后|正确|所以|因此|故|应|改|实际|其实|而|不如"
)
# Before an option these words prefer it to what is only possible: "probably A, maybe B".
_PREFERS = re.compile(
    r"\b(?:probably|likely|mostly|lean\w*|prefer|favou?r)\b|大概|多半|八成|更|倾向|偏向"
)
_ADDED = re.compile(r"\b(?:also|too|as well|equally)\b|也")
_NAMES_TEXT = frozenset((Kind.TEXT, Kind.LETTER_AND_TEXT))
_LETTERS_AND_PLACES = frozenset((Kind.LETTER, Kind.PLACE))


@dataclass(slots=True)
class _Course:
    """What a reply has chosen so far, as it is read from its beginning to its end."""

    chosen: Statement | None = None
    place: int = -1  # the sentence that chose
    sentence: str = ""  # its text
    is_open: bool = False  # taken back or doubted, and not settled since
    is_contradicted: bool = False  # by another answer, with no word that says which one holds
    is_announced: bool = False  # by any statement so far

    def add(self, statement: Statement, place: int, sentence: str) -> None:
        """Take account of the next statement."""
        stance, others = statement.stance, self._names_another(statement)
        if stance is Stance.TAKEN_BACK:
            self.is_open = bool(self.chosen)
        elif stance is Stance.ANNOUNCED:
            self._announce(statement, place, sentence, others=others)
        elif others and self._stands_beside(statement, place, sentence):
            self.is_open = True
        elif stance >= Stance.POSSIBLE:
            self._conclude(statement, place, sentence, others=others)
        elif stance is Stance.QUESTIONED and others:
            self.is_open = True

    def _names_another(self, statement: Statement) -> bool:
        return bool(self.chosen) and self.chosen.slots != statement.slots

    def _choose(self, statement: Statement, place: int, sentence: str) -> None:
        self.chosen, self.place, self.sentence = statement, place, sentence
        self.is_open = False

    def _announce(self, statement: Statement, place: int, sentence: str, *, others: bool) -> None:
        lead = MENTIONS.split(sentence.partition(statement.mentions[0])[0])[-1]
        if self._is_described(statement, place, others=others):
            self.is_contradicted = True  # "A, because the answer is Rome"
        elif _SETTLES.search(lead) or not self.is_announced:
            self.is_contradicted = False
        elif others and self.chosen and not self.is_open:
            is_near = place - self.place < _MANY_SENTENCES and not is_provisional(self.sentence)
            is_beside = self.chosen.stance is Stance.ANNOUNCED and is_near
            is_second = self.chosen.stance is Stance.LEADS and place != self.place
            self.is_contradicted |= is_beside or is_second
        self.is_announced = True
        self._choose(statement, place, sentence)

    def _stands_beside(self, statement: Statement, place: int, sentence: str) -> bool:
        """Whether another option is named beside the chosen one: "A, but also C"."""
        assert self.chosen, "only another one than the chosen stands beside it"
        is_affirmed, is_same = statement.stance is Stance.AFFIRMED, place == self.place
        is_mentioned = statement.stance is Stance.MENTIONED
        if statement.stance is Stance.POSSIBLE:
            return not _PREFERS.search(self.sentence.partition(self.chosen.mentions[0])[0])
        if is_affirmed and _ADDED.search(sentence):
            return True  # "C is also correct"
        if not is_same or self.chosen.stance is Stance.ANNOUNCED:
            return False
        return (is_affirmed or is_mentioned) and bool(statement.kinds & _LETTERS_AND_PLACES)

    def _conclude(self, statement: Statement, place: int, sentence: str, *, others: bool) -> None:
        if not self.chosen or not others or self.is_open:
            self._choose(statement, place, sentence)
            return
        before, stance = self.chosen.stance, statement.stance
        if before is stance is Stance.CONCLUDED and place != self.place:
            self.is_contradicted = True  # "It's A. It's B."
            return
        if stance is Stance.STANDS_ALONE and place - self.place <= 1:
            self.is_contradicted = True  # "It could be A. C."
            return
        if before <= Stance.SUGGESTED < stance or before is stance is Stance.CONCLUDED:
            self._choose(statement, place, sentence)
        elif not stance <= Stance.SUGGESTED < before:
            self.is_contradicted = True

    def _is_described(self, statement: Statement, place: int, *, others: bool) -> bool:
        """Whether a letter and another option's words are called the answer in one sentence."""
        if not self.chosen or not others or place != self.place:
            return False
        is_letter = self.chosen.kinds.isdisjoint(_NAMES_TEXT)
        return is_letter and statement.is_text and not self.is_open


# ---------------------------------------------------------------- the chosen option

_RULES = {
    Stance.ANNOUNCED: "marker",
    Stance.CONCLUDED: "conclusion",
    Stance.SUGGESTED: "conclusion",
    Stance.POSSIBLE: "conclusion",
    Stance.LEADS: "letter",
    Stance.STANDS_ALONE: "letter",
}
_TEXT = characters(Kind.TEXT)
_POINTS_TO_TEXT = re.compile(rf"{COPULA_TO_MENTION}({_TEXT})(?!的|'s)")
_OPENS_WITH_TEXT = re.compile(rf"^\W*({_TEXT})\s?[,:=(—–-]")
_BECAUSE_OF_TEXT = re.compile(
    rf"(?:\b(?:because|since|as)\b|因为|由于) ?(?:the |an? )?({_TEXT}) ?(?:is|was|has|are|是)"
)
_FOLLOWS_FROM_TEXT = re.compile(
    rf"\b(?<!\bso )(?:is|was|were|are|be|by)(?: \w+)?(?: by| in| to| from)? ({_TEXT}),? "
    rf"(?:so|therefore|thus|hence)\b|(?<![不非])(?:是|为)({_TEXT}),?(?:所以|因此|故|选)"
)
_TEXT_IS_LETTER = re.compile(
    rf"({_TEXT})\s?(?:is|=|是|为|对应)\s?(?:option |选项)?{characters(Kind.LETTER, Kind.PLACE)}"
)
_MANY_SENTENCES = 3  # a longer reply weighs other options before it chooses


def _read_chosen(
    chosen: Statement, place: int, sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice:
    if Kind.CONFLICT in chosen.kinds:
        return CONFLICT
    if len(chosen.slots) > 1:
        return AMBIGUOUS
    (slot,) = chosen.slots
    if chosen.is_text:
        rule = "marker+text" if chosen.stance is Stance.ANNOUNCED else "text"
        return only_slot(options.slots_like(slot), rule, options)
    # A letter that is announced stands for itself, whatever the sentences before speak of.
    is_weighed = chosen.stance is not Stance.ANNOUNCED and len(sentences) <= _MANY_SENTENCES
    if _says_another_text(slot, sentences[0 if is_weighed else place : place + 1]):
        return CONFLICT
    lead = sentences[place].text.partition(chosen.mentions[0])[0]
    if Kind.LETTER in chosen.kinds and _may_name_another(chosen, slot, options, lead):
        return AMBIGUOUS
    return ParsedChoice(slot, _rule_of(chosen))


# Behind these a letter is a label: "Answer: A", "the answer is (A)", 故选A.
_LABEL_FOLLOWS = re.compile(r"(?:[:(\[【】选]|选项|\boption)[\s\"'“*]*$")


def _may_name_another(chosen: Statement, slot: int, options: Options, lead: str) -> bool:
    """Whether a letter may be what another option says: "it is A" is option A, or group A."""
    if options.is_text_of_another(slot):
        return True
    if chosen.stance is Stance.ANNOUNCED and _LABEL_FOLLOWS.search(lead):
        return False
    if options.is_name_of_another(slot):
        return True
    return chosen.stance <= Stance.SUGGESTED and options.is_in_text_of_another(slot)


def _rule_of(chosen: Statement) -> str:
    kinds = chosen.kinds
    if kinds & {Kind.PLACE, Kind.STEM}:
        return "ordinal"
    if kinds & {Kind.NUMBER, Kind.NUMBER_AND_TEXT}:
        return "index+text" if Kind.NUMBER_AND_TEXT in kinds else "index"
    if chosen.stance is Stance.LEADS and Kind.LETTER_AND_TEXT in kinds:
        return "letter+text"
    return _RULES[chosen.stance]


def _says_another_text(slot: int, near: Sequence[_Sentence]) -> bool:
    """Whether the words around a letter are another option's: "It is Rome, so A."."""
    here = near[-1]
    texts = [
        *(match[1] for each in near for match in _POINTS_TO_TEXT.finditer(each.text)),
        *(match[1] for match in _BECAUSE_OF_TEXT.finditer(here.text)),
        *(match[1] for match in _OPENS_WITH_TEXT.finditer(here.text)),
        *(match[1] for match in _TEXT_IS_LETTER.finditer(here.text)),
        *(match[1] or match[2] for match in _FOLLOWS_FROM_TEXT.finditer(here.text)),
    ]
    named = set(map(slot_of, texts))
    for each in here.statements:
        if each.is_text and each.stance >= Stance.ASSERTED:
            named |= each.slots
    if len(named) != 1 or slot in named:
        return False
    return not any(
        slot in each.slots and each.kinds & _NAMES_TEXT
        for other in near
        for each in other.statements
    )


# ---------------------------------------------------------------- where nothing is chosen


def _read_weak(sentences: Sequence[_Sentence], options: Options) -> ParsedChoice:
    stated = [each for sentence in sentences for each in sentence.statements if each.mentions]
    rules = (_affirmed, _asserted, _left_over, _sole_letter, _sole_text)
    if options.are_numeric and len(sentences) > _MANY_SENTENCES:
        rules = (_affirmed, _left_over)  # a calculation passes many numbers
    for rule in rules:
        if parsed := rule(stated, sentences, options):
            return parsed
    return UNPARSED


def _slots(stated: Sequence[Statement], stance: Stance) -> set[int]:
    return {slot for each in stated if each.stance is stance for slot in each.slots}


def _affirmed(
    stated: Sequence[Statement], sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice | None:
    """One option, and only one, is called right."""
    del sentences
    calls = [each for each in stated if each.stance is Stance.AFFIRMED]
    slots = _slots(stated, Stance.AFFIRMED)
    if len(slots) > 1:
        return AMBIGUOUS
    if not slots:
        return None
    by_text = any(each.is_text for each in calls)
    others = [
        each for each in stated if each.stance is Stance.MENTIONED and not each.slots <= slots
    ]
    if slots <= _slots(stated, Stance.DENIED) or (
        by_text and any(Kind.LETTER in each.kinds for each in others)
    ):
        return AMBIGUOUS
    if any(Kind.CONFLICT in each.kinds for each in calls):
        return CONFLICT
    (slot,) = slots
    if not by_text and options.is_text_of_another(slot):
        return AMBIGUOUS
    return ParsedChoice(slot, "ordinal" if Kind.PLACE in calls[0].kinds else "verdict")


def _asserted(
    stated: Sequence[Statement], sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice | None:
    """An option's words complete a sentence, or begin the reply."""
    asserted, opened = _slots(stated, Stance.ASSERTED), _slots(stated, Stance.OPENS)
    denied = _slots(stated, Stance.DENIED)
    is_sole = len(asserted) == 1 and not asserted & denied
    if is_sole and not any(map(_labels_another, sentences)):
        return only_slot(options.slots_like(*asserted), "named-text", options)
    if asserted or len(opened) > 1:
        return AMBIGUOUS
    if not opened:
        return None
    beside = any(
        each.stance is Stance.MENTIONED and each.is_text and not each.slots <= opened
        for each in sentences[0].statements
    )
    if beside or opened & denied:
        return AMBIGUOUS
    return only_slot(options.slots_like(*opened), "leading-text", options)


def _labels_another(sentence: _Sentence) -> bool:
    """Whether a letter stands in a sentence that asserts an option's words: "A is the cello"."""
    stated = sentence.statements
    return any(each.stance is Stance.ASSERTED for each in stated) and any(
        each.stance is Stance.MENTIONED and each.kinds & {Kind.LETTER, Kind.CONFLICT, Kind.PLACE}
        for each in stated
    )


def _left_over(
    stated: Sequence[Statement], sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice | None:
    """All others are called wrong, and of the one that is left nothing is said."""
    del sentences
    left = set(range(len(options))) - _slots(stated, Stance.DENIED)
    if len(left) != 1 or len(options) < 3:
        return None
    (slot,) = left
    is_named = any(slot in each.slots for each in stated)
    return AMBIGUOUS if is_named else ParsedChoice(slot, "elimination")


_LABEL_KINDS = frozenset((Kind.LETTER, Kind.PLACE, Kind.LETTER_AND_TEXT))
# A single mention that ends a sentence; a name or an article before it would make it another.
_ENDS_WITH_MENTION = re.compile(
    r"(?:^|[,:;] ?|^\W*[A-Za-z]+ |\b(?!(?:an?|the|in|of|with|about|for|against|on|to|at|from|by|"
    r"than|"
    r"into|over|under|between|note|got|gets|key|minor|major|blood|symphony|besides|de|del|des|du|da|do|di|von|bei|para|"
    r"pour|für|con|avec|com|sobre|über)\b)[a-z'’]+ |"
    r"[\u4e00-\u9fff](?<![型级类点组班队线面图表式量值罐管瓶杯物素市区在]) ?)"
    rf"[\"'(“]*(?:[Oo]ption |选项)?{MENTION}(?:选?项)?[\s)\"'”.。!?吧]*$"
)


def _sole_letter(
    stated: Sequence[Statement], sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice | None:
    """One short sentence that ends with a letter: "My gut says C."."""
    if len(sentences) != 1 or len(stated) != 1:
        return None
    (only,), (sentence,) = stated, sentences
    if only.stance is not Stance.MENTIONED or len(only.slots) > 1 or not only.kinds <= _LABEL_KINDS:
        return None
    lead = sentence.text.partition(only.mentions[0])[0]
    if not _ENDS_WITH_MENTION.search(sentence.written):
        return None
    if holds_negation(lead) or is_supposed(lead) or refuses(lead):
        return None
    (slot,) = only.slots
    if Kind.LETTER in only.kinds and options.is_text_of_another(slot):
        return AMBIGUOUS
    return ParsedChoice(slot, "ordinal" if Kind.PLACE in only.kinds else "conclusion")


_MEASURES = re.compile(
    r"\b(?:than|least|most|about|over|under|above|below|between|up to|nearly|almost|times)\b|"
    r"[大小多少高低]于|比|至[少多]|超过|不足|不到|约|近|[-+×÷*/<>=±]\s?$"
)
_OPERATOR = re.compile(
    r"\s?(?:[-+×÷*/<>±倍十百千万亿多余]|(?:times|dozen|hundred|thousand|million|billion|percent|more|"
    r"less|plus|minus|of \d|out of)\b)"
)
_LONGER_WORD = re.compile(r"(?![的是为了吧呢啊])[\u3400-\u9fff]{1,4}\W*")


def _sole_text(
    stated: Sequence[Statement], sentences: Sequence[_Sentence], options: Options
) -> ParsedChoice | None:
    """A short reply that says one option's words, with its letter or without, and no other's."""
    slots = {slot for each in stated for slot in each.slots}
    if len(slots) != 1 or len(sentences) > 2:
        return None
    if any(each.stance is not Stance.MENTIONED or each.kinds - _NAMES_TEXT for each in stated):
        return None
    if any(refuses(sentence.text) for sentence in sentences):
        return None
    text = next(each.text for each in sentences if each.statements)
    lead, _, tail = text.partition(stated[0].mentions[0])
    if holds_negation(lead) or (not lead and _LONGER_WORD.fullmatch(tail)):
        return None
    if options.are_numeric and (_MEASURES.search(lead) or _OPERATOR.match(tail)):
        return None
    return only_slot(options.slots_like(*slots), "named-text", options)


# ---------------------------------------------------------------- shares

_SHARE = re.compile(
    rf"({MENTION})[)\]]?\s?(?:[:=(-]|的?(?:概率|可能性)?(?:大约|大概|约)?是?为?|at|with|is|about|\s)*\s?"
    rf"(\d{{1,3}}(?:\.\d+)?) ?%|({MENTION})\s?[:=(]\s?(0?\.\d+)"
)


def _heaviest(sentences: Sequence[_Sentence]) -> ParsedChoice | None:
    """The option with the largest of several shares: "B (70 %), D (30 %)"."""
    texts = [each.text for each in sentences if "%" in each.text or "." in each.text]
    shares = {
        slot_of(match[1] or match[3]): float(match[2] or match[4])
        for text in texts
        for match in _SHARE.finditer(text)
    }
    if len(shares) < 2:
        return None
    most = [slot for slot, share in shares.items() if share == max(shares.values())]
    return ParsedChoice(most[0], "conclusion") if len(most) == 1 else AMBIGUOUS
