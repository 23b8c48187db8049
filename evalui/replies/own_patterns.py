"""A user's own regular expression for the verdict of a judge, checked before it reads anything.

It is searched in what the judge wrote after its thoughts, in Unicode form NFKC (so full-width
letters and punctuation are plain ones, in the expression too), with `^` and `$` at the ends of
lines. A match inside a quotation counts for nothing, and all others must agree.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from evalui.replies.judgements import CUT_REASONS, mask_reply, plain_judgement
from evalui.replies.marks import (
    HIGHEST_RATING,
    LOWEST_RATING,
    ParsedRating,
    Scale,
)
from evalui.replies.text import FILLER
from evalui.replies.verdicts import PAIRWISE_FORMATS, ParsedVerdict
from evalui.types import OUTCOMES, Outcome

LONGEST_PATTERN = 1000
LARGEST_PATTERN = 10_000  # parts with its repeats written out, of some 300 bytes each
SEARCH_SECONDS = 0.5  # of the processor, for one reply
_PROBE_LENGTH = 3000  # a pattern that is fast on replies is fast on these
_PROBES = (
    " ",
    "a",
    "A",
    "1",
    "[",
    "选",
    "\n",
    "a b, ",
    "[[A]] ",
    "A: 1. ",
    '"a": ',
    "回答 A 更好。",
)


class PatternError(ValueError):
    """What is wrong with a pattern: a `key`, and the `values` of its sentence."""

    def __init__(self, key: str, **values: str | int) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values


@dataclass(frozen=True, slots=True)
class ReplyPattern:
    """A checked pattern. `labels` say what the text of its one group means; else groups are named.

    The names are `a`, `b`, `tie` and `neither` for two answers, `correct` and `incorrect`, or
    `mark` for a number.
    """

    form: str
    expression: str
    labels: tuple[tuple[str, str], ...] = ()


def compile_pattern(
    form: str, expression: str, labels: Mapping[str, str] | None = None
) -> ReplyPattern:
    """The checked pattern of a rubric whose verdicts have this form.

    Either each outcome has a group of its name, `(?P<a>first)|(?P<b>second)`, or there is one group
    and `labels` say what it means, `Winner: (\\w+)` with {"first": "a", "second": "b"}. A rating
    needs one group, which holds the number.

    Raises:
        PatternError: what is wrong with the pattern, or that it takes too long on some replies.
    """
    pattern = ReplyPattern(
        form, expression, tuple((_label_key(text), name) for text, name in (labels or {}).items())
    )
    if len(expression) > LONGEST_PATTERN:
        raise PatternError("pattern-long", length=len(expression), limit=LONGEST_PATTERN)
    compiled = _compiled(expression)
    _check_groups(pattern, set(compiled.groupindex), compiled.groups)
    for probe in _PROBES:
        try:
            _matches(pattern, probe * (_PROBE_LENGTH // len(probe)) + "!")
        except TimeoutError:
            raise PatternError("pattern-slow", pattern=expression, probe=probe) from None
    return pattern


def read_by_pattern(
    pattern: ReplyPattern,
    reply: str,
    *,
    finish_reason: str = "stop",
    prompt_forms: Sequence[str] = (),
) -> ParsedVerdict:
    """The verdict on two answers that the pattern finds; arguments as those of `read_verdict`."""
    names = _names_in(pattern, reply, finish_reason, prompt_forms)
    if isinstance(names, str):
        return ParsedVerdict(None, names)
    (name,) = names
    return ParsedVerdict(cast("Outcome", name), "pattern")


def read_mark_by_pattern(
    pattern: ReplyPattern,
    reply: str,
    *,
    scale: Scale = (LOWEST_RATING, HIGHEST_RATING),
    finish_reason: str = "stop",
    prompt_forms: Sequence[str] = (),
) -> ParsedRating:
    """The mark that the pattern finds, or 1 for correct and 0 for incorrect."""
    names = _names_in(pattern, reply, finish_reason, prompt_forms)
    if isinstance(names, str):
        return ParsedRating(None, names)
    (name,) = names
    if pattern.form == "correctness":
        return ParsedRating(float(name == "correct"), "pattern")
    number = re.fullmatch(r"\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*", name)
    value = float(number[1]) if number else None
    if value is None or not scale[0] <= value <= scale[1]:
        return ParsedRating(None, "out-of-range")
    return ParsedRating(value, "pattern")


def outcome_names(form: str) -> tuple[str, ...]:
    """The names of groups that a pattern of this form may have."""
    if form in PAIRWISE_FORMATS:
        return OUTCOMES
    return ("correct", "incorrect") if form == "correctness" else ("mark",)


# ---------------------------------------------------------------- checks


def _check_groups(pattern: ReplyPattern, named: set[str], groups: int) -> None:
    known = outcome_names(pattern.form)
    needed = set(known[:2])
    if pattern.labels:
        meant = {name for _, name in pattern.labels}
        if unknown := sorted(meant - set(known)):
            raise PatternError("pattern-label", label=unknown[0], known=", ".join(known))
        if groups != 1 or needed - meant:
            raise PatternError("pattern-one-group", groups=groups, needed=", ".join(sorted(needed)))
        return
    if known == ("mark",):
        if groups != 1:
            raise PatternError("pattern-mark", groups=groups)
        return
    if named - set(known) or needed - named:
        raise PatternError(
            "pattern-groups", needed=", ".join(sorted(needed)), known=", ".join(known)
        )


@lru_cache(16)  # a compiled pattern has up to some megabytes
def _compiled(expression: str) -> Any:
    import regex  # re has no limit of time

    compiler = cast("Any", regex)  # its types are not declared
    plain = _plain_expression(expression)
    try:
        if _expanded_size(plain, compiler.MULTILINE) <= LARGEST_PATTERN:
            return compiler.compile(plain, compiler.MULTILINE, cache_pattern=False)
    except compiler.error as problem:
        raise PatternError("pattern-syntax", pattern=expression, problem=str(problem)) from None
    except RecursionError:  # hundreds of groups inside each other
        pass
    raise PatternError("pattern-large", pattern=expression, limit=LARGEST_PATTERN)


def _expanded_size(expression: str, flags: int) -> int:
    """How many parts `regex` builds of an expression: what repeats is there as often as it must
    match, and once more.
    """
    from regex import _regex_core

    core = cast("Any", _regex_core)  # only its own parser knows all of its syntax

    def size(part: Any) -> int:
        if isinstance(part, core.RegexBase):
            inner = sum(map(size, part.__dict__.values()))
            return max(1, inner) * (getattr(part, "min_count", 0) + 1)
        return sum(map(size, cast("list[Any]", part))) if isinstance(part, list) else 0

    while True:
        source = core.Source(expression)
        info = core.Info(flags, source.char_type, {})
        source.ignore_space = bool(info.flags & core.VERBOSE)
        try:
            return size(core._parse_pattern(source, info))
        except core._UnscopedFlagSet:  # which counts from the beginning
            flags = info.global_flags


def _plain_expression(expression: str) -> str:
    """The expression in the form of replies; what becomes a sign of expressions is escaped."""
    parts: list[str] = []
    for character in expression:
        plain = plain_judgement(character)
        parts.append(character if plain == character else re.escape(plain))
    return "".join(parts)


# ---------------------------------------------------------------- matches


def _names_in(
    pattern: ReplyPattern, reply: str, finish_reason: str, prompt_forms: Sequence[str]
) -> set[str] | str:
    """The one outcome that all matches name, or the rule by which nothing can be read."""
    masked = mask_reply(reply, prompt_forms)
    if isinstance(masked, str):
        return masked
    cut = finish_reason in CUT_REASONS
    try:
        matches = list(_matches(pattern, masked.text))
    except TimeoutError:
        return "slow-pattern"
    names = {
        name
        for start, end, name in matches
        if _is_own(masked.own[start:end]) and not (cut and not masked.text[end:].strip())
    }
    if not names:
        return "cut" if cut else "unparsed"
    if "" in names:
        return "malformed"
    return names if len(names) == 1 else "ambiguous"


def _matches(pattern: ReplyPattern, text: str) -> list[tuple[int, int, str]]:
    """Where the pattern matches and the outcome it names, "" for a text that has no label."""
    labels = dict(pattern.labels)
    named: list[tuple[int, int, str]] = []
    for match in _compiled(pattern.expression).finditer(text, timeout=SEARCH_SECONDS):
        caught = {name: part for name, part in match.groupdict().items() if part is not None}
        if labels:
            name = labels.get(_label_key(match[1] or ""), "")
        elif pattern.form == "rating":
            name = match[1] or ""
        else:
            name = next(iter(caught), "") if len(caught) == 1 else ""
        named.append((match.start(), match.end(), name))
    return named


def _is_own(matched: str) -> bool:
    """Whether some of a match stands outside of quotations, if only their marks."""
    return bool(matched.strip(FILLER + " \n"))


def _label_key(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()
