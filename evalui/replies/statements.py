"""What a sentence says of the options it mentions: this is the answer, is right, or is wrong.

Sentences come marked (`options`) and in lower case. What stands before a mention is its *lead*,
what stands behind it its *tail*; both end at the mentions beside it. How the languages speak of
options, and what turns their words round, is in `grammar`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache

from evalui.replies.grammar import (
    ANSWER_EN,
    ANSWER_OTHERS,
    GROUP,
    HEAD_ZH,
    OPTION_OTHERS,
    Grammar,
    grammar_of_lead,
    grammar_of_tail,
    holds_negation,
    is_negated,
    is_no,
    is_supposed,
    takes_back,
)
from evalui.replies.mentions import MENTION, MENTIONS, Kind, either, kind_of, slot_of


class Stance(IntEnum):
    """What is said of the mentioned options. From `POSSIBLE` on it may be the choice."""

    TAKEN_BACK = -1  # nothing is mentioned, but what was said before no longer holds
    MENTIONED = 0
    QUESTIONED = 1  # a question
    SUPPOSED = 2  # a condition, or what others think
    DENIED = 3
    OPENS = 4  # the reply begins with an option's words: "Rome is in Italy"
    ASSERTED = 5  # an option's words complete a sentence: "its capital is Rome."
    AFFIRMED = 6  # called right
    POSSIBLE = 7  # "it could be B"
    SUGGESTED = 8  # "the organ is E"
    CONCLUDED = 9  # "so B.", "I think it's B"
    STANDS_ALONE = 10  # nothing else is in the sentence
    LEADS = 11  # the reply begins with it
    ANNOUNCED = 12  # called the answer, or chosen


@dataclass(frozen=True, slots=True)
class Statement:
    """One or several options mentioned together, and what is said of them."""

    stance: Stance
    mentions: str

    @property
    def slots(self) -> frozenset[int]:
        """The slots of the mentioned options."""
        return _slots(self.mentions)

    @property
    def kinds(self) -> frozenset[Kind]:
        """How they are mentioned."""
        return _kinds(self.mentions)

    @property
    def is_text(self) -> bool:
        """Whether they are mentioned by their own words alone."""
        return self.kinds == _TEXT_ONLY


@lru_cache(maxsize=4096)
def _slots(mentions: str) -> frozenset[int]:
    return frozenset(map(slot_of, mentions))


@lru_cache(maxsize=4096)
def _kinds(mentions: str) -> frozenset[Kind]:
    return frozenset(map(kind_of, mentions))


_NOTHING = Statement(Stance.TAKEN_BACK, "")
_TEXT_ONLY, _NUMBER_ONLY = frozenset((Kind.TEXT,)), frozenset((Kind.NUMBER,))
_SMALL = frozenset((Kind.SMALL_LETTER, Kind.NUMBER))

# What a lead ends with, and what a tail begins with, besides words.
_EDGE = " \"'“”‘’「」『』《》«»‹›(（[{【<>:=,|~\\-–—─→⇒*$#.。、;·)]】}"
_CLOSERS = re.compile(r"[\s)\]】}>\"'”’」』》*|~$]*")
_MAX_LEAD = 100  # characters that are read


@dataclass(slots=True)
class _Part:
    """Mentions that stand together in a sentence, and what stands around them."""

    mentions: str
    lead: str
    tail: str
    before: Stance  # what is said of the mentions before, in the same sentence
    starts_reply: bool  # in the first sentence, with no other mention before
    starts_sentence: bool
    is_last: bool
    in_question: bool
    kinds: frozenset[Kind] = field(init=False)
    is_text: bool = field(init=False)
    is_small: bool = field(init=False)  # a small letter or a number, which may be no label
    bare_lead: str = field(init=False)
    words_behind: str = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = _kinds(self.mentions)
        self.is_text = self.kinds == _TEXT_ONLY
        self.is_small = not self.kinds.isdisjoint(_SMALL)
        self.bare_lead = self.lead.rstrip(_EDGE)
        closers = _CLOSERS.match(self.tail)
        self.words_behind = self.tail[closers.end() :] if closers else self.tail

    @property
    def is_only(self) -> bool:
        """Whether no other mention is in the sentence."""
        return self.starts_sentence and self.is_last

    @property
    def ends(self) -> bool:
        """Whether nothing behind the mentions belongs to them: "A mammal" is no A."""
        grammar = grammar_of_tail(self.words_behind)
        ends = grammar.text_ends if self.is_text else grammar.ends
        return ends.match(self.words_behind) is not None


def statements(sentence: str, *, is_first: bool, is_question: bool) -> Iterator[Statement]:
    """What a marked sentence in lower case says, in its order."""
    groups = list(GROUP.finditer(sentence))
    if len(groups) > 1 and not _WORD.search(MENTIONS.sub("", sentence)):
        # "B - D": nothing is said of either.
        stance = Stance.LEADS if is_first else Stance.STANDS_ALONE
        yield Statement(stance, "".join(MENTIONS.findall(sentence)))
        return
    before, end = Stance.MENTIONED, 0
    for index, group in enumerate(groups):
        is_last = index + 1 == len(groups)
        part = _Part(
            mentions="".join(MENTIONS.findall(group[0])),
            lead=sentence[end : group.start()][-_MAX_LEAD:],
            tail=sentence[group.end() : None if is_last else groups[index + 1].start()],
            before=before,
            starts_reply=is_first and not index,
            starts_sentence=not index,
            is_last=is_last,
            in_question=is_question,
        )
        end = group.end()
        is_denied = before is Stance.DENIED
        if part.lead and not is_denied and takes_back(part.lead + part.mentions):
            yield _NOTHING
        before = _stance_in_sentence(part, sentence)
        yield from _statements_of(part, before, group[0])
    if before is Stance.DENIED:
        return
    if takes_back(sentence[end:]) or (not groups and is_no(sentence)):
        yield _NOTHING


_WORD = re.compile(r"\w|[✗✘❌☒×✖✓✔✅☑√?]")
_THEN = re.compile(r"\bthen\b[\w\s]*\W*$")
_CONDITION = re.compile(r"\W*(?:(?:if|unless|suppose|assuming)\b|如果|假如|假设|若|倘若|要是)")


def _stance_in_sentence(part: _Part, sentence: str) -> Stance:
    stance = _stance(part)
    follows = not part.starts_sentence or _THEN.search(part.lead)
    is_consequence = follows and stance > Stance.DENIED
    if is_consequence and _CONDITION.match(sentence):
        return Stance.SUPPOSED  # "If A is wrong, B is right."
    return stance


def _statements_of(part: _Part, stance: Stance, group: str) -> Iterator[Statement]:
    """What is said of the mentions; of the first apart, where the predicate is the others'."""
    mentions = part.mentions
    if stance in (Stance.DENIED, Stance.AFFIRMED) and len(mentions) > 1:
        first = _stance_of_first(group, part)
        if first is not None:  # "The answer is D, A and B are out."
            yield Statement(first, mentions[0])
            mentions = mentions[1:]
    yield Statement(stance, mentions)


_COMMA = re.compile(rf"{MENTION}\s?,")


def _stance_of_first(group: str, part: _Part) -> Stance | None:
    if not _COMMA.match(group):
        return None
    stance = _stance(replace(part, mentions=part.mentions[0], tail="."))
    return stance if stance is Stance.ANNOUNCED else None


# ---------------------------------------------------------------- the stance of a part

_INTERROGATIVE = re.compile(
    r"(?:^|[,;:] ?)\W*(?:is|isn't|are|was|do|does|did|don't|can|could|couldn't|would|wouldn't|"
    r"should|shall|will|which|what|who|how|why|may|or|and)\b|"
    "是不是|是否|会不会|吗|还是|哪|怎么|为什么|为何|要不要|呢"
)


def _stance(part: _Part) -> Stance:
    alone = _stance_alone(part)
    if alone is not None:
        return alone
    stance = _stance_of_tail(part)
    if stance is None:
        stance = _stance_of_lead(part)
    if part.in_question:
        asks = stance < Stance.POSSIBLE or _INTERROGATIVE.search(part.lead + part.tail)
        stance = Stance.QUESTIONED if asks else Stance.POSSIBLE
    return stance if stance is Stance.DENIED else _turned(stance, part)


def _turned(stance: Stance, part: _Part) -> Stance:
    """The stance after doubt, condition and negation."""
    if stance is Stance.MENTIONED:
        return stance
    if is_supposed(part.lead):
        return Stance.SUPPOSED
    return Stance.DENIED if is_negated(part.lead) else stance


# ---------------------------------------------------------------- no other words

_ALONE_LEAD = re.compile(
    r"[\W_]*(?:\d{1,2}\s?[.)、:|]\s?)?[\W_]*(?:[二三四五六七八九十\d]个选项[中里]?的?)?"
    rf"(?:(?:the |第)?(?:option|choice|statement|选项|{OPTION_OTHERS})?s?[\s:]{{0,2}})?[\W_]*"
)
_ALONE_TAIL = re.compile(
    r"[\W_]*(?:选?项)?[吧啦呗呀哦啊]?[\W_]*"
    r"(?:(?:i (?:guess|think|suppose|believe)|maybe|perhaps|probably|我猜|我觉得|大概|可能)[\W_]*)?"
)
_UNTICKED = re.compile(r"(?:[☐□▢◻○◯]|\[\s?\])[\s*(\[]*$")
_TICKED = re.compile(r"(?:\[[x✓✔√]\]|[✅☑✔✓√👉➜☞●◉]|\([x✓]\))[\s*(\[]*$")
_GOOD_MARK, _BAD_MARK = re.compile("[✓✔✅☑√←⬅👈]"), re.compile("[✗✘❌☒×✖]")


def _stance_alone(part: _Part) -> Stance | None:
    """Mentions without any other word in their sentence."""
    if not (part.is_only and _ALONE_TAIL.fullmatch(part.tail) and _ALONE_LEAD.fullmatch(part.lead)):
        return None
    if _BAD_MARK.search(part.lead + part.tail):
        return None
    if _UNTICKED.search(part.lead):
        return Stance.MENTIONED
    if part.in_question:
        return Stance.POSSIBLE
    if _TICKED.search(part.lead) or _GOOD_MARK.search(part.tail):
        return Stance.AFFIRMED
    if part.kinds == _NUMBER_ONLY and not part.starts_reply:
        return Stance.MENTIONED
    return Stance.LEADS if part.starts_reply else Stance.STANDS_ALONE


# ---------------------------------------------------------------- words behind

_NEAR = 20  # characters before mentions that may name them otherwise
# The end of a tail that denies the next mention: 选A不选B, "B, not A".
_DENIES_NEXT = re.compile(
    r"(?:[,;]?[而也并]?不(?:应该?|会|能|可能)?[是选]|[,;.–—-]?(?: ?[a-z]+){0,3} not)\s?"
)


def _stance_of_tail(part: _Part) -> Stance | None:
    """What is said of mentions behind them: "is the answer", 正确."""
    behind = part.words_behind
    grammar = grammar_of_tail(behind)
    if grammar.denied_tail.match(behind) and (part.is_last or not _DENIES_NEXT.fullmatch(behind)):
        return Stance.DENIED
    stance = _stance_of_predicate(part, grammar)
    if stance is not None:
        return stance
    if part.starts_sentence and part.lead and _TICKED.search(part.lead):
        return Stance.AFFIRMED
    if part.starts_sentence and not part.is_text:
        return _verdict_at_end(part)
    return None


_MAKES = re.compile(r"\b(?:makes|making|leaves)(?: option)?\W*$")
_MADE_RIGHT = re.compile(
    r"[ ](?:the (?:\w+ )?(?:answer|choice|option|one)|(?:the )?correct|right|as the)\b"
)
_YET_WRONG = re.compile(
    r"\b(?:but|yet|however|though)\b.*"
    r"(?:n't\b|\b(?:not|wrong|incorrect|irrelevant|beside|off topic|unrelated)\b)|"
    "(?:但|却|不过|可是|然而).*(?:不|无关|错|未)"
)


def _stance_of_predicate(part: _Part, grammar: Grammar) -> Stance | None:
    if _MAKES.search(part.lead[-_NEAR:]) and _MADE_RIGHT.match(part.tail):
        return Stance.ANNOUNCED
    if grammar.announced_tail.match(part.words_behind):
        return Stance.ANNOUNCED
    if not part.is_small and grammar.affirmed_tail.match(part.words_behind):
        return Stance.DENIED if _YET_WRONG.search(part.words_behind) else Stance.AFFIRMED
    return None


_MAX_VERDICT = 24  # characters
_VERDICT_AT_END = re.compile(
    r"(?:^|[\s,;:(|\-–—])(?:(?P<denied>(?:(?:is|so) )?(?:incorrect|wrong|false|"
    r"not (?:correct|right|true)|no)|错误?|不正确|不对|不符合(?:题意)?|排除|✗|❌|×)|"
    r"(?P<affirmed>(?:(?:is|so) )?(?:correct|right|true|yes)|正确|对|符合(?:题意)?|✓|✔|✅|√))"
    r"[\s.。!)|;]*$"
)


def _verdict_at_end(part: _Part) -> Stance | None:
    """What an item of a list of options ends with: "B: in the north, wrong."."""
    if Kind.LETTER_AND_TEXT not in part.kinds:
        return None
    match = _VERDICT_AT_END.search(part.tail, max(0, len(part.tail) - _MAX_VERDICT))
    return match and (Stance.DENIED if match["denied"] else Stance.AFFIRMED)


# ---------------------------------------------------------------- words before

_SO_IS = re.compile(r"\b(?:so|as) (?:is|are|does|do|might|may|could|can|would)$")
# What "so is B" says of B too.
_SHARED_STANCES = frozenset((Stance.OPENS, Stance.ASSERTED, Stance.AFFIRMED, Stance.POSSIBLE))
_PREPOSITION = re.compile(
    r"\b(?:in|by|at|of|from|with|to|on|for|as)(?: (?:the|an?))?$|"
    "(?:用|由|在|(?<![大小多少高低])于|有|得|成|到|往|把|靠|以)了?$"
)
_SUBJECT_TAIL = re.compile("才[是能会有]")
# "Rome is not; Paris is."
_IS_ALONE = re.compile(r"\s?(?:is|was|are|were|does|did|has)\s?[.!]?$|才?是[.。]?$")


def _stance_of_lead(part: _Part) -> Stance:
    """What is said of mentions before them: "the answer is", 故选."""
    lead, bare_lead, ends = part.lead, part.bare_lead, part.ends
    if heading := _stance_of_heading(part, ends=ends):
        return heading
    if _SO_IS.search(bare_lead[-12:]) and part.before in _SHARED_STANCES:
        return part.before
    if bare_lead and (stance := _led(part, grammar_of_lead(bare_lead), ends=ends)):
        return stance
    if _IS_ALONE.match(part.tail):
        if part.before is Stance.DENIED:
            return Stance.CONCLUDED
        if part.is_only and not lead:
            return Stance.AFFIRMED
    if part.starts_reply and _leads(part):
        return Stance.OPENS if part.is_text else Stance.LEADS
    if not part.is_text:
        return Stance.MENTIONED
    if ends and part.is_only and _PREPOSITION.search(bare_lead) and not holds_negation(lead):
        return Stance.ASSERTED
    return Stance.ASSERTED if _SUBJECT_TAIL.match(part.tail) else Stance.MENTIONED


_SEPARATOR = re.compile(r"[:=>→⇒–—|~─-]")
_HEADING = re.compile(
    rf"(?<![a-z]){ANSWER_EN}$|{HEAD_ZH}$|{ANSWER_OTHERS}$|"
    r"^\W*(?:final )?(?:choice|option|selection|pick|conclusion|result|a)$|"
    r"[\"'](?:\w{0,20}_)?(?:choice|option|selection|letter|label|prediction|output|result|final|"
    r"选择|选项|答案)(?:_(?:letter|option|choice|key|label))?$"
)


def _stance_of_heading(part: _Part, *, ends: bool) -> Stance | None:
    """Mentions behind "Answer:"."""
    is_label = ends or not (part.is_text or part.is_small)
    is_headed = is_label and _SEPARATOR.search(part.lead, len(part.bare_lead))
    if is_headed and _HEADING.search(part.bare_lead):
        return Stance.ANNOUNCED
    return None


def _led(part: _Part, grammar: Grammar, *, ends: bool) -> Stance | None:
    closes = ends or not (part.is_text or part.is_small)
    stance = _stance_of_words(part, grammar, ends=ends, closes=closes)
    if stance is Stance.SUGGESTED and part.is_text:
        return Stance.ASSERTED
    is_weak = stance not in (None, Stance.DENIED) and stance < Stance.ANNOUNCED
    return None if part.is_small and is_weak else stance


_ELSE = re.compile(r"[\s,]*就是\s*")  # 不是A就是B


def _stance_of_words(part: _Part, grammar: Grammar, *, ends: bool, closes: bool) -> Stance | None:
    lead, before = part.bare_lead, part.before
    if grammar.denied_lead.search(lead):
        return Stance.DENIED
    if before is Stance.DENIED and _ELSE.fullmatch(lead):
        return Stance.SUPPOSED
    if ends and before is Stance.DENIED and grammar.contrast_lead.search(lead):
        return Stance.ANNOUNCED
    if closes and grammar.announced_lead.search(lead):
        return Stance.ANNOUNCED
    return _weaker_stance(lead, grammar) if ends else None


def _weaker_stance(lead: str, grammar: Grammar) -> Stance | None:
    if grammar.corrected_lead.search(lead):
        return Stance.ANNOUNCED
    if grammar.possible_lead.search(lead):
        return Stance.POSSIBLE
    if grammar.concluded_lead.search(lead):
        return Stance.CONCLUDED
    return Stance.SUGGESTED if grammar.copula_lead.search(lead) else None


# ---------------------------------------------------------------- the beginning of a reply

_LEADING_LEAD = re.compile(
    r"[\s>#|•\-–—─*✅☑✔→⇒\"'“‘(\[【「<。.,、:]*"
    r"(?:(?:sure|ok(?:ay)?|well|hmm+|easy|simple|yes|certainly|of course|got it|alright|right|"
    r"好的?|嗯|当然|可以|没问题|a)[\s,.!:]+){0,2}"
    r"(?:(?:no\.|nr\.|item|question|q) ?)?(?:\d{1,2}[.)、:]\s?)?[\s*(\[【\"'“]*"
    r"(?:(?:the )?(?:option|choice|letter) |选项 ?)?[\s*(\[\"'“]*"
)
_LEADING_TAIL = re.compile(
    r"$|[.。:、,;!…)\]】}]|[-–—─→|(\[]|[吧啦呗呀]|选?项(?=$|[\s,.。;:!)、])|"
    + either(r"""
    because | since | as(?! well) | for | due | obviously | definitely | probably | of course
    slightly | narrowly | marginally | by a | at a guess | more | it is | rather than | instead of
    ,? ?i (?:think|guess|believe|suppose|'d say) | over | not | as opposed | but | maybe | perhaps
    possibly | most likely | likely | in my (?:opinion|view) | to me | imo | imho | for sure
    with \d+ | without (?:a )?doubt
    """)
    + r"\b"
)
_LABEL_TAIL = re.compile(r"\s?[.):、\]】}]")
_LEADING_TEXT_TAIL = re.compile(
    r"$|[.,:;!。…]|[-–—─]|\(|(?:is|was|are|were|because|since)\b|是|为|因为"
)
_WITH_TEXT = frozenset((Kind.LETTER_AND_TEXT, Kind.NUMBER_AND_TEXT))


def _leads(part: _Part) -> bool:
    """Whether a reply begins with mentions: "B. Rome, because …"."""
    if not _LEADING_LEAD.fullmatch(part.lead) or Kind.NUMBER in part.kinds:
        return False
    if part.is_text:
        return bool(_LEADING_TEXT_TAIL.match(part.words_behind))
    return bool(
        part.kinds & _WITH_TEXT
        or _LABEL_TAIL.match(part.tail)
        or _LEADING_TAIL.match(part.words_behind)
    )
