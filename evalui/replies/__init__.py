"""What language models write, read by ordered rules; what decides for nothing has no reading.

Of a model: which option it chose (`read_tolerant`, `read_strict`), and its thoughts apart from
what it says (`split_thoughts`). Of a judge: which of two answers it prefers (`read_verdict`), the
mark it gives (`read_rating`), whether an answer is correct (`read_correctness`), or all of these by
a user's own expression (`compile_pattern`). Of an answer: its Markdown, and words to the judge.
README.md shows each, and in which order the rules decide.

A module is imported when a name of it is used for the first time: to compile all patterns takes a
tenth of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalui.replies.choices import TOLERANT_VERSION as TOLERANT_VERSION
    from evalui.replies.choices import ParsedChoice as ParsedChoice
    from evalui.replies.choices import grade_reply as grade_reply
    from evalui.replies.choices import read_strict as read_strict
    from evalui.replies.choices import read_tolerant as read_tolerant
    from evalui.replies.han import HAN as HAN
    from evalui.replies.han import HAN_CHARACTER as HAN_CHARACTER
    from evalui.replies.han import contains_han as contains_han
    from evalui.replies.han import is_chinese as is_chinese
    from evalui.replies.injections import MarkdownCounts as MarkdownCounts
    from evalui.replies.injections import contains_injection as contains_injection
    from evalui.replies.injections import count_markdown as count_markdown
    from evalui.replies.judgements import CUT_REASONS as CUT_REASONS
    from evalui.replies.marks import HIGHEST_RATING as HIGHEST_RATING
    from evalui.replies.marks import LOWEST_RATING as LOWEST_RATING
    from evalui.replies.marks import RATING_VERSION as RATING_VERSION
    from evalui.replies.marks import ParsedRating as ParsedRating
    from evalui.replies.marks import read_correctness as read_correctness
    from evalui.replies.marks import read_rating as read_rating
    from evalui.replies.own_patterns import PatternError as PatternError
    from evalui.replies.own_patterns import ReplyPattern as ReplyPattern
    from evalui.replies.own_patterns import compile_pattern as compile_pattern
    from evalui.replies.own_patterns import read_by_pattern as read_by_pattern
    from evalui.replies.own_patterns import read_mark_by_pattern as read_mark_by_pattern
    from evalui.replies.thoughts import begins_with_mark as begins_with_mark
    from evalui.replies.thoughts import closes_thought as closes_thought
    from evalui.replies.thoughts import mentions_thoughts as mentions_thoughts
    from evalui.replies.thoughts import opened_thought as opened_thought
    from evalui.replies.thoughts import split_thoughts as split_thoughts
    from evalui.replies.thoughts import with_thoughts as with_thoughts
    from evalui.replies.thoughts import without_thoughts as without_thoughts
    from evalui.replies.verdicts import NUMBERED_FORMATS as NUMBERED_FORMATS
    from evalui.replies.verdicts import PAIRWISE_FORMATS as PAIRWISE_FORMATS
    from evalui.replies.verdicts import VERDICT_VERSION as VERDICT_VERSION
    from evalui.replies.verdicts import ParsedVerdict as ParsedVerdict
    from evalui.replies.verdicts import read_verdict as read_verdict
    from evalui.replies.verdicts import without_options as without_options

_NAMES_BY_MODULE = {
    "choices": "TOLERANT_VERSION ParsedChoice grade_reply read_strict read_tolerant",
    "han": "HAN HAN_CHARACTER contains_han is_chinese",
    "injections": "MarkdownCounts contains_injection count_markdown",
    "judgements": "CUT_REASONS",
    "marks": (
        "HIGHEST_RATING LOWEST_RATING RATING_VERSION ParsedRating read_correctness read_rating"
    ),
    "own_patterns": (
        "PatternError ReplyPattern compile_pattern read_by_pattern read_mark_by_pattern"
    ),
    "thoughts": (
        "begins_with_mark closes_thought mentions_thoughts opened_thought split_thoughts"
        " with_thoughts without_thoughts"
    ),
    "verdicts": (
        "NUMBERED_FORMATS PAIRWISE_FORMATS VERDICT_VERSION ParsedVerdict read_verdict"
        " without_options"
    ),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A name of a module, which is imported now; kept, so that this is called once for each."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
