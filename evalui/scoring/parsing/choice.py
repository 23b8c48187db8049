"""Which option did a written reply choose? An ordered rule table, and the rule that fired.

A rule either names one option, or says that the reply is unreadable, or passes the reply on.
Nothing is guessed: a reply that names two options, denies one, refuses, or was cut off while
thinking has no answer. Nothing here knows the right answer; `Found.against` compares.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.scoring.choice.ties import tie_among
from evalui.scoring.parsing import phrases
from evalui.types import LETTERS, Reading

VERSION = "tolerant.2"


@dataclass(frozen=True, slots=True)
class Found:
    """The slot a reply chose, None if it cannot be read, and the rule that decided.

    `among` are the slots of a text that several options share: then the reply chose them equally.
    """

    choice: int | None
    rule: str
    among: tuple[int, ...] = ()

    def against(self, target: int) -> Reading:
        """The reading, graded: an unreadable reply earns nothing, one of t equal texts 1/t."""
        if self.among:
            return tie_among(self.among, target)
        return Reading(self.choice, float(self.choice == target), self.rule)


def read_strict(reply: str, options: Sequence[str]) -> Found:
    """The reply is one capital letter, blanks around it and one closing `.` `)` `。` allowed."""
    match = _STRICT.fullmatch(reply)
    slot = LETTERS.find(match[1]) if match else -1
    return Found(slot, "strict") if 0 <= slot < len(options) else Found(None, "not-a-letter")


def read_tolerant(reply: str, options: Sequence[str]) -> Found:
    """What the first rule of the table that applies reads; see `RULES` for their names."""
    found = read_strict(reply, options)
    if found.choice is not None:
        return found
    if not _OPEN_THOUGHT.search(spoken := _CLOSED_THOUGHT.split(reply)[-1]):
        return _first_rule(_fold(spoken).strip(), _known(tuple(options)))
    return Found(None, "unfinished")


# ---------------------------------------------------------------- the rules, in their order


@dataclass(frozen=True, slots=True)
class _Options:
    """The option texts by slot: as shown, as `_fold` and as `_plain` write them."""

    shown: tuple[str, ...]
    exact: tuple[str, ...]
    texts: tuple[str, ...]

    def slot(self, letter: str) -> int | None:
        """The slot with this label, in either case."""
        slot = LETTERS.find(letter.upper())
        return slot if 0 <= slot < len(self.texts) else None

    def equal(self, text: str) -> tuple[int, ...]:
        """All slots whose option is this text; "CO" means "CO" even where "Co" is another."""
        exact, plain = _fold(text).strip(), _plain(text)
        same = tuple(slot for slot, option in enumerate(self.exact) if option == exact)
        if same or not plain:
            return same
        return tuple(slot for slot, option in enumerate(self.texts) if option == plain)

    def one_of(self, slots: tuple[int, ...], rule: str) -> Found:
        """The only slot, or a tie of slots that show the same text to the letter."""
        if len(slots) == 1:
            return Found(slots[0], rule)
        same = len({self.shown[slot] for slot in slots}) == 1
        return Found(None, "tie", among=slots) if same else Found(None, "ambiguous")


def _empty(reply: str, options: _Options) -> Found | None:
    """Nothing was said."""
    del options
    return None if reply else Found(None, "empty")


def _marker(reply: str, options: _Options) -> Found | None:
    """A letter after "the answer is", "答案", "故选"; the last one wins, so people may correct."""
    for match in reversed(list(phrases.MARKER.finditer(reply))):
        if phrases.denied_before(reply, match.start()) or phrases.denied_after(reply, match.end()):
            continue
        if phrases.asked(reply, match.end()):
            continue
        start = match.start("group")
        if reply[start - 1] == "\n" and phrases.lists_others(reply[start:], match["group"]):
            continue  # "Choose:" and then the options again
        if found := _marked(match["group"], phrases.rest_of_line(reply, start), options):
            return found
    return None


def _marked(group: str, said: str, options: _Options) -> Found | None:
    letters = phrases.letters(group)
    # An option may read "A or B" or "A mammal"; one that reads "B" is not meant by "Answer: B".
    if len(_plain(said)) > 1 and (slots := options.equal(said)):
        return options.one_of(slots, "marker+text")
    if len(letters) > 1:
        return Found(None, "ambiguous")
    slot = options.slot(group[0])
    if slot is None or (
        phrases.is_article(group, said[len(group) :])
        and slot not in options.equal(said[len(group) :])
    ):
        return None
    return Found(slot, "marker")


def _marker_text(reply: str, options: _Options) -> Found | None:
    """An option's whole text after "the answer is" or "答案是"."""
    for match in reversed(list(phrases.MARKER_TEXT.finditer(reply))):
        if slots := options.equal(match["text"]):
            return options.one_of(slots, "marker+text")
        if (slot := _numbered(match["text"], options)) is not None:
            return Found(slot, "marker+text")
    return None


def _letter(reply: str, options: _Options) -> Found | None:
    """The reply begins with a letter that stands alone: "B.", "(C)", "**D**", "a"."""
    match = phrases.LEADING_LETTER.match(reply)
    if not match or len(phrases.letters(match["group"])) > 1:
        return None
    slot, line = options.slot(match["group"]), phrases.rest_of_line(reply, 0)
    after = phrases.rest_of_line(reply, match.end("group"))
    if slot is None or phrases.denied_after(reply, match.end()):
        return None
    if options.equal(line) and (match["group"].islower() or _plain(after)):
        return None  # it is an option's text: the variable "b", "C. elegans"
    listed = phrases.lists_others(reply, match["group"]) or _lists_options(after, slot, options)
    if _plain(after) and listed:
        return Found(None, "ambiguous")  # the options were only repeated
    others = options.equal(after.lstrip(" )]】.:、,*_`"))
    return Found(slot, "label-text-conflict" if others and slot not in others else "letter")


def _lists_options(line: str, slot: int, options: _Options) -> bool:
    """Whether a line goes on with another label and that label's own text."""
    return any(
        other != slot and phrases.begins_with(_plain(text), options.texts[other])
        for label, text in phrases.labelled(line)
        if (other := options.slot(label)) is not None and options.texts[other]
    )


def _letter_text(reply: str, options: _Options) -> Found | None:
    """A letter and its own option's text with nothing between: "A Paris", never "A mammal"."""
    line = phrases.rest_of_line(reply, 0)
    match = phrases.LETTER_BLANK.match(line)
    if not match:
        return None
    slot, text = options.slot(match[1]), line[match.end() :]
    own = options.equal(text) + options.equal(text.strip(" ()"))
    return Found(slot, "letter+text") if slot in own else None


def _text(reply: str, options: _Options) -> Found | None:
    """The first line, or the whole reply, is exactly one option's text."""
    slots = options.equal(phrases.rest_of_line(reply, 0)) or options.equal(reply)
    return options.one_of(slots, "text") if slots else None


def _index_text(reply: str, options: _Options) -> Found | None:
    """The place of an option and its whole text: "2. Rome" where Rome is the second option."""
    slot = _numbered(phrases.rest_of_line(reply, 0), options)
    return None if slot is None else Found(slot, "index+text")


def _numbered(said: str, options: _Options) -> int | None:
    match = phrases.NUMBERED.fullmatch(said.strip())
    if not match or options.equal(match["number"]):
        return None  # where a number is an option's text it may be meant as one
    slot = int(match["number"]) - 1
    return slot if slot in options.equal(match["text"]) else None


def _conclusion(reply: str, options: _Options) -> Found | None:
    """A capital letter that ends a conclusion: "so B.", "I would choose D", "因此C"; the last."""
    found = None
    for match in phrases.CONCLUSION.finditer(reply):
        if phrases.denied_before(reply, match.start()):
            continue
        letters = phrases.letters(match["group"])
        slot = options.slot(match["group"][0])
        if len(letters) > 1:
            found = Found(None, "ambiguous")
        elif slot is not None:
            found = Found(slot, "conclusion")
    return found


def _verdict(reply: str, options: _Options) -> Found | None:
    """One option, and only one, is called right: "选项B正确", "C is correct"."""
    groups = [
        match["group"]
        for match in phrases.VERDICT.finditer(reply)
        if not phrases.denied_before(reply, match.start())
    ]
    named = frozenset[str]().union(*map(phrases.letters, groups))
    slots = {options.slot(letter) for letter in named} - {None}
    if len(named) > 1:
        return Found(None, "ambiguous")
    return Found(slots.pop(), "verdict") if slots else None


def _leading_text(reply: str, options: _Options) -> Found | None:
    """The first line begins with an option's text; of several such options the longest counts."""
    line = _plain(phrases.rest_of_line(reply, 0))
    if line[:1].isdecimal():
        return None  # "4 of them", "4.5": a number at the start is not that number alone
    begun = [text for text in options.texts if text and phrases.begins_with(line, text)]
    if not begun:
        return None
    text = max(begun, key=len)
    rest = line[len(text) :]
    if phrases.denied_after(rest, 0):
        return None
    if any(phrases.joins(rest, other) for other in options.texts if other and other != text):
        return Found(None, "ambiguous")
    return options.one_of(options.equal(text), "leading-text")


def _several(reply: str, options: _Options) -> Found | None:
    """The reply begins with more letters than one: "AB", "A or B", "A、C"."""
    del options
    match = phrases.LEADING_GROUP.match(reply)
    several = match is not None and len(phrases.letters(match["group"])) > 1
    return Found(None, "ambiguous") if several else None


def _index(reply: str, options: _Options) -> Found | None:
    """The first line is a number from 1 to 9: the option at that place."""
    match = phrases.INDEX.fullmatch(phrases.rest_of_line(reply, 0))
    if not match:
        return None
    if any(phrases.NUMERIC.match(text) for text in options.texts):
        return Found(None, "index-guard")  # here a number is a value, not a place
    slot = int(match[1]) - 1
    return Found(slot, "index") if slot < len(options.texts) else None


_TABLE: tuple[Callable[[str, _Options], Found | None], ...] = (
    _empty,
    _marker,
    _marker_text,
    _letter,
    _letter_text,
    _text,
    _index_text,
    _conclusion,
    _verdict,
    _leading_text,
    _several,
    _index,
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


def _first_rule(reply: str, options: _Options) -> Found:
    decided = (found for rule in _TABLE if (found := rule(reply, options)))
    return next(decided, Found(None, "unparsed"))


# ---------------------------------------------------------------- the reply, made comparable

# U+2581 and U+0120 are how tokenizers write the blank before a word.
_STRICT = re.compile(r"[\s\u2581\u0120]*([A-J])[.)。]?\s*")
_CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")
_EDGE = " \t\r\n*_`$\"'“”‘’"
_BLANKS = re.compile(r"\s+")


def _fold(text: str) -> str:
    """Full-width to half-width, circled to plain digits; nothing invisible, one kind of blank."""
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return folded.replace("\u2581", " ").replace("\u0120", " ")


def _plain(text: str) -> str:
    """The text without case, markup and quotes at its edges, or punctuation at its end."""
    bare = _fold(text).lstrip(_EDGE).rstrip(_EDGE + ".。!;,")
    return _BLANKS.sub(" ", bare).casefold()


@lru_cache(maxsize=4096)
def _known(options: tuple[str, ...]) -> _Options:
    return _Options(
        shown=options,
        exact=tuple(_fold(option).strip() for option in options),
        texts=tuple(map(_plain, options)),
    )
