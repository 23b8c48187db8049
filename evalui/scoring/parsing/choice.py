"""Which option did a written reply choose? An ordered rule table, and the rule that fired.

A rule either names one option, or says that the reply is unreadable, or passes the reply on.
Nothing is guessed: a reply that names two options, denies one, refuses, or was cut off while
thinking has no answer. Nothing here knows the right answer; `ParsedChoice.grade` compares.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.scoring.choice.option_scores import reading_of_tied_slots
from evalui.scoring.parsing import phrases
from evalui.types import LETTERS, Reading

VERSION = "tolerant.2"


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
            return reading_of_tied_slots(self.tied_slots, target)
        return _reading(self.choice, float(self.choice == target), self.rule)


def grade_reply(reply: str, options: Sequence[str], target: int) -> dict[str, Reading]:
    """The tolerant and the strict reading of a reply, graded, by their names."""
    strict = read_strict(reply, options)
    tolerant = strict if strict.choice is not None else _read_by_rules(reply, options)
    return {"tolerant": tolerant.grade(target), "strict": strict.grade(target)}


def read_strict(reply: str, options: Sequence[str]) -> ParsedChoice:
    """The reply is one capital letter, blanks around it and one closing `.` `)` `。` allowed."""
    match = _STRICT.fullmatch(reply)
    slot = LETTERS.find(match[1]) if match else -1
    return _STRICT_CHOICES[slot] if 0 <= slot < len(options) else _NOT_A_LETTER


def read_tolerant(reply: str, options: Sequence[str]) -> ParsedChoice:
    """What the first rule of the table that applies reads; see `RULES` for their names."""
    strict = read_strict(reply, options)
    return strict if strict.choice is not None else _read_by_rules(reply, options)


def _read_by_rules(reply: str, options: Sequence[str]) -> ParsedChoice:
    """What the table reads in a reply that is not a letter alone."""
    spoken = phrases.after_thoughts(reply)
    if spoken is None:
        return ParsedChoice(None, "unfinished")
    return _first_rule(_fold_width(spoken).strip(), _option_texts(options))


# A run has few different readings and many trials, which then share them.
_reading = lru_cache(maxsize=1024)(Reading)
_STRICT_CHOICES = tuple(ParsedChoice(slot, "strict") for slot in range(len(LETTERS)))
_NOT_A_LETTER = ParsedChoice(None, "not-a-letter")


# ---------------------------------------------------------------- the rules, in their order


@dataclass(frozen=True, slots=True)
class _OptionTexts:
    """The option texts by slot: as shown, as `_fold_width` and as `_plain_text` write them."""

    shown: tuple[str, ...]
    folded: tuple[str, ...]
    plain: tuple[str, ...]

    def slot(self, letter: str) -> int | None:
        """The slot with this label, in either case."""
        slot = LETTERS.find(letter.upper())
        return slot if 0 <= slot < len(self.plain) else None

    def slots_with_text(self, text: str) -> tuple[int, ...]:
        """All slots whose option is this text; "CO" means "CO" even where "Co" is another."""
        exact, plain = _fold_width(text).strip(), _plain_text(text)
        same = tuple(slot for slot, option in enumerate(self.folded) if option == exact)
        if same or not plain:
            return same
        return tuple(slot for slot, option in enumerate(self.plain) if option == plain)

    def only_slot(self, slots: tuple[int, ...], rule: str) -> ParsedChoice:
        """The only slot, or a tie of slots that show the same text to the letter."""
        if len(slots) == 1:
            return ParsedChoice(slots[0], rule)
        same = len({self.shown[slot] for slot in slots}) == 1
        return (
            ParsedChoice(None, "tie", tied_slots=slots) if same else ParsedChoice(None, "ambiguous")
        )


def _rule_empty(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The reply is empty."""
    del options
    return None if reply else ParsedChoice(None, "empty")


def _rule_marker(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """A letter after "the answer is", "答案", "故选"; the last one wins, as a correction."""
    for match in reversed(list(phrases.MARKER.finditer(reply))):
        if phrases.is_negated_before(reply, match.start()) or phrases.is_negated_after(
            reply, match.end()
        ):
            continue
        if phrases.is_question(reply, match.end()):
            continue
        start = match.start("group")
        if reply[start - 1] == "\n" and phrases.lists_others(reply[start:], match["group"]):
            continue  # "Choose:" and then the options again
        if parsed := _read_marked(match["group"], phrases.rest_of_line(reply, start), options):
            return parsed
    return None


def _read_marked(group: str, line: str, options: _OptionTexts) -> ParsedChoice | None:
    letters = phrases.letters_of_group(group)
    # An option may read "A or B" or "A mammal"; one that reads "B" is not meant by "Answer: B".
    if len(_plain_text(line)) > 1 and (slots := options.slots_with_text(line)):
        return options.only_slot(slots, "marker+text")
    if len(letters) > 1:
        return ParsedChoice(None, "ambiguous")
    slot = options.slot(group[0])
    if slot is None or (
        phrases.is_article(group, line[len(group) :])
        and slot not in options.slots_with_text(line[len(group) :])
    ):
        return None
    return ParsedChoice(slot, "marker")


def _rule_marker_text(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """An option's whole text after "the answer is" or "答案是"."""
    for match in reversed(list(phrases.MARKER_TEXT.finditer(reply))):
        if slots := options.slots_with_text(match["text"]):
            return options.only_slot(slots, "marker+text")
        if (slot := _numbered_option(match["text"], options)) is not None:
            return ParsedChoice(slot, "marker+text")
    return None


def _rule_letter(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The reply begins with a letter that stands alone: "B.", "(C)", "**D**", "a"."""
    match = phrases.LEADING_LETTER.match(reply)
    if not match or len(phrases.letters_of_group(match["group"])) > 1:
        return None
    slot, line = options.slot(match["group"]), phrases.rest_of_line(reply, 0)
    after = phrases.rest_of_line(reply, match.end("group"))
    if slot is None or phrases.is_negated_after(reply, match.end()):
        return None
    if options.slots_with_text(line) and (match["group"].islower() or _plain_text(after)):
        return None  # it is an option's text: the variable "b", "C. elegans"
    listed = phrases.lists_others(reply, match["group"]) or _lists_options(after, slot, options)
    if _plain_text(after) and listed:
        return ParsedChoice(None, "ambiguous")  # the options were only repeated
    others = options.slots_with_text(after.lstrip(" )]】.:、,*_`"))
    return ParsedChoice(slot, "label-text-conflict" if others and slot not in others else "letter")


def _lists_options(line: str, slot: int, options: _OptionTexts) -> bool:
    """Whether a line goes on with another label and that label's own text."""
    return any(
        other != slot and phrases.starts_with_words(_plain_text(text), options.plain[other])
        for label, text in phrases.labelled_texts(line)
        if (other := options.slot(label)) is not None and options.plain[other]
    )


def _rule_letter_text(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """A letter and its own option's text with nothing between: "A Paris", never "A mammal"."""
    line = phrases.rest_of_line(reply, 0)
    match = phrases.LETTER_BLANK.match(line)
    if not match:
        return None
    slot, text = options.slot(match[1]), line[match.end() :]
    own = options.slots_with_text(text) + options.slots_with_text(text.strip(" ()"))
    return ParsedChoice(slot, "letter+text") if slot in own else None


def _rule_text(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The first line, or the whole reply, is exactly one option's text."""
    slots = options.slots_with_text(phrases.rest_of_line(reply, 0)) or options.slots_with_text(
        reply
    )
    return options.only_slot(slots, "text") if slots else None


def _rule_index_text(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The place of an option and its whole text: "2. Rome" where Rome is the second option."""
    slot = _numbered_option(phrases.rest_of_line(reply, 0), options)
    return None if slot is None else ParsedChoice(slot, "index+text")


def _numbered_option(line: str, options: _OptionTexts) -> int | None:
    match = phrases.NUMBERED.fullmatch(line.strip())
    if not match or options.slots_with_text(match["number"]):
        return None  # where a number is an option's text it may be meant as one
    slot = int(match["number"]) - 1
    return slot if slot in options.slots_with_text(match["text"]) else None


def _rule_conclusion(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """A capital letter that ends a conclusion: "so B.", "I would choose D", "因此C"; the last."""
    conclusion = None
    for match in phrases.CONCLUSION.finditer(reply):
        if phrases.is_negated_before(reply, match.start()):
            continue
        letters = phrases.letters_of_group(match["group"])
        slot = options.slot(match["group"][0])
        if len(letters) > 1:
            conclusion = ParsedChoice(None, "ambiguous")
        elif slot is not None:
            conclusion = ParsedChoice(slot, "conclusion")
    return conclusion


def _rule_verdict(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """One option, and only one, is called right: "选项B正确", "C is correct"."""
    groups = [
        match["group"]
        for match in phrases.VERDICT.finditer(reply)
        if not phrases.is_negated_before(reply, match.start())
    ]
    named = frozenset[str]().union(*map(phrases.letters_of_group, groups))
    slots = {options.slot(letter) for letter in named} - {None}
    if len(named) > 1:
        return ParsedChoice(None, "ambiguous")
    return ParsedChoice(slots.pop(), "verdict") if slots else None


def _rule_leading_text(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The first line begins with an option's text; of several such options the longest counts."""
    line = _plain_text(phrases.rest_of_line(reply, 0))
    if line[:1].isdecimal():
        return None  # "4 of them", "4.5": a number at the start is not that number alone
    begun = [text for text in options.plain if text and phrases.starts_with_words(line, text)]
    if not begun:
        return None
    text = max(begun, key=len)
    rest = line[len(text) :]
    if phrases.is_negated_after(rest, 0):
        return None
    if any(
        phrases.continues_with_option(rest, other)
        for other in options.plain
        if other and other != text
    ):
        return ParsedChoice(None, "ambiguous")
    return options.only_slot(options.slots_with_text(text), "leading-text")


def _rule_several_letters(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The reply begins with more letters than one: "AB", "A or B", "A、C"."""
    del options
    match = phrases.LEADING_GROUP.match(reply)
    several = match is not None and len(phrases.letters_of_group(match["group"])) > 1
    return ParsedChoice(None, "ambiguous") if several else None


def _rule_index(reply: str, options: _OptionTexts) -> ParsedChoice | None:
    """The first line is a number from 1 to 9: the option at that place."""
    match = phrases.INDEX.fullmatch(phrases.rest_of_line(reply, 0))
    if not match:
        return None
    if any(phrases.NUMERIC.match(text) for text in options.plain):
        return ParsedChoice(None, "index-guard")  # here a number is a value, not a place
    slot = int(match[1]) - 1
    return ParsedChoice(slot, "index") if slot < len(options.plain) else None


_RULE_TABLE: tuple[Callable[[str, _OptionTexts], ParsedChoice | None], ...] = (
    _rule_empty,
    _rule_marker,
    _rule_marker_text,
    _rule_letter,
    _rule_letter_text,
    _rule_text,
    _rule_index_text,
    _rule_conclusion,
    _rule_verdict,
    _rule_leading_text,
    _rule_several_letters,
    _rule_index,
)

# Every rule a tolerant reading can name: first those that read an answer, in the order in which
# they are tried, then those that say why there is none, or why there are several.
RULES = (
    "strict",
    "marker",
    "marker+text",
    "letter",
    "label-text-conflict",
    "letter+text",
    "text",
    "index+text",
    "conclusion",
    "verdict",
    "leading-text",
    "index",
    "tie",
    "ambiguous",
    "index-guard",
    "unfinished",
    "empty",
    "unparsed",
)


def _first_rule(reply: str, options: _OptionTexts) -> ParsedChoice:
    decided = (parsed for rule in _RULE_TABLE if (parsed := rule(reply, options)))
    return next(decided, ParsedChoice(None, "unparsed"))


# ---------------------------------------------------------------- the reply, made comparable

# U+2581 and U+0120 are how tokenizers write the blank before a word.
_STRICT = re.compile(r"[\s\u2581\u0120]*([A-J])[.)。]?\s*")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")
_EDGE_CHARACTERS = " \t\r\n*_`$\"'“”‘’"
_BLANKS = re.compile(r"\s+")


def _fold_width(text: str) -> str:
    """Full-width to half-width, circled to plain digits; nothing invisible, one kind of blank."""
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return folded.replace("\u2581", " ").replace("\u0120", " ")


def _plain_text(text: str) -> str:
    """The text without case, markup and quotes at its edges, or punctuation at its end."""
    bare = _fold_width(text).lstrip(_EDGE_CHARACTERS).rstrip(_EDGE_CHARACTERS + ".。!;,")
    return _BLANKS.sub(" ", bare).casefold()


def _option_texts(options: Sequence[str]) -> _OptionTexts:
    comparable = [_comparable(option) for option in options]
    return _OptionTexts(
        shown=tuple(options),
        folded=tuple(folded for folded, _ in comparable),
        plain=tuple(plain for _, plain in comparable),
    )


@lru_cache(maxsize=4096)  # by option, since its question is shown in many orders
def _comparable(option: str) -> tuple[str, str]:
    return _fold_width(option).strip(), _plain_text(option)
