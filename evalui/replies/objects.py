"""A judge's verdict out of a JSON object, or out of what was meant to be one.

Only the values of verdict keys count: a verdict inside another string is a quotation, and so is an
object that the judge reports of an answer.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from evalui.replies.judge_statements import ChosenVerdict, is_revision
from evalui.replies.judgements import (
    is_attribution,
    is_instruction,
    is_own,
    lead_of,
    without_quotations,
)
from evalui.replies.verdict_labels import (
    GradedOutcome,
    Letters,
    Side,
    only_label,
    outcome_by_scores,
    sides_in,
)


def read_json(text: str) -> ChosenVerdict[GradedOutcome]:
    """The verdict of the JSON values in the text, and the rule that read it.

    Values that differ are ambiguous unless the judge says that it corrects itself.
    """
    verdicts = [
        (value, outcomes)
        for value in json_values(text)
        if (outcomes := _outcomes_in_value(value.content))
    ]
    if verdicts:
        stated = [one for one in verdicts if any(one[1])] or verdicts
        last, outcomes = stated[-1]
        before = [outcome for _, others in stated[:-1] for outcome in others]
        since = stated[-2][0].end if len(stated) > 1 else 0
        revised = is_revision(text[since : last.start])
        return _agreed_outcome(outcomes if revised else [*before, *outcomes], "json")
    pairs = [
        pair for pair in _BROKEN_PAIR.finditer(_straighten_quotes(text)) if _counts(text, pair)
    ]
    if pairs:
        judged = [
            None if pair[4] else _outcome_of_label(pair[1] or pair[2] or pair[3]) for pair in pairs
        ]
        return _agreed_outcome(judged, "broken-json")
    return ChosenVerdict(None, "unparsed")


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A JSON value of a reply and where it stands; its objects are `RepeatedKeys`."""

    content: Any
    start: int
    end: int


class RepeatedKeys(dict[str, Any]):
    """An object that remembers all values of a key: JSON would keep the last."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


def json_values(text: str) -> Iterator[JsonValue]:
    """The outermost JSON values that are the judge's own, also as Python writes them."""
    decoder = json.JSONDecoder(object_pairs_hook=RepeatedKeys, strict=False)
    position, effort = 0, 0
    while (match := _JSON_OPENING.search(text, position)) and effort < _MOST_EFFORT + 4 * len(text):
        start = match.start()
        effort += _LONGEST_LEAD
        try:
            content, position = decoder.raw_decode(text, start)
        except ValueError as problem:
            line = text[start : start + _LONGEST_PYTHON].partition("\n")[0]
            effort += getattr(problem, "pos", start) - start + len(line)
            position = match.end()
            content = _python_value(line)
            if content is not None and _is_own_value(text, start):
                position = start + len(line)
                yield JsonValue(content, start, position)
        except RecursionError:
            effort += _MOST_EFFORT
            position = match.end()
        else:
            if _is_own_value(text, start):
                yield JsonValue(content, start, position)


def _python_value(line: str) -> Any:
    """The value that a line holds as Python prints it, {'winner': 'A'}; None if it holds none."""
    if line[1:2] not in "'{" or line.rstrip()[-1:] not in "}]":
        return None
    try:
        return ast.literal_eval(line)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _is_own_value(text: str, start: int) -> bool:
    """Whether the judge wrote the value at `start` itself, and neither quotes nor explains it."""
    begin = text.rfind("\n", 0, start) + 1
    lead = text[max(begin, start - _LONGEST_LEAD) : start]
    if lead.strip(" *_`>-"):
        if lead[-1] in "'\"“‘「『" and lead.strip("'\"“‘「『 "):
            return False
        others = is_instruction(lead) or is_attribution(lead)
        return not others and is_own(lead_of(lead, len(lead)))
    above = text[:begin].rstrip("` \n").rpartition("\n")[2]
    return not is_attribution(above.strip())


def _counts(text: str, pair: re.Match[str]) -> bool:
    """Whether a broken pair stands in what was meant to be an object of the judge's own."""
    brace = text.rfind("{", 0, pair.start())
    if brace < 0:
        return pair[0][0] in "\"'" and _is_own_value(text, pair.start())
    return _is_own_value(text, brace)


def _straighten_quotes(text: str) -> str:
    return text.translate(_STRAIGHT_QUOTES)


def _agreed_outcome(
    judged: Sequence[GradedOutcome | None], rule: str
) -> ChosenVerdict[GradedOutcome]:
    if len(set(judged)) > 1:
        return ChosenVerdict(None, "ambiguous")
    return ChosenVerdict(judged[0], rule) if judged[0] else ChosenVerdict(None, "no-verdict")


# ---------------------------------------------------------------- objects


def strings_of(text: str) -> Iterator[str]:
    """The strings of the JSON values in a text, without quotations: a judge's reasons."""
    for value in json_values(text):
        if isinstance(value.content, dict):
            pairs = key_value_pairs(cast("dict[Any, Any]", value.content))
            yield from (
                without_quotations(content) for _, content in pairs if isinstance(content, str)
            )


def plain_key(key: object) -> str:
    """A key without case, blanks, underscores and hyphens between its words."""
    return re.sub(r"[\s_-]+", "_", str(key).strip().casefold())


def key_value_pairs(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """The pairs of an object in order, keys plain; a repeated key has one pair for each value."""
    pairs = value.pairs if isinstance(value, RepeatedKeys) else tuple(value.items())
    return [(plain_key(key), content) for key, content in pairs]


def _outcomes_in_value(value: Any, depth: int = 0) -> list[GradedOutcome | None]:
    """The verdicts in a JSON value, [] if it holds none."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, dict):
        pairs = key_value_pairs(cast("dict[Any, Any]", value))
        if outcomes := _outcomes_in_pairs(pairs):
            return outcomes
        nested = [content for _, content in pairs]
    elif isinstance(value, list):
        nested = cast("list[Any]", value)
        ranks = _ranks_by_side(nested)
        if ranks.keys() == {"a", "b"}:
            return [outcome_by_scores(-ranks["a"], -ranks["b"])]
    else:
        return []
    return [outcome for content in nested for outcome in _outcomes_in_value(content, depth + 1)]


def _outcomes_in_pairs(pairs: Sequence[tuple[str, Any]]) -> list[GradedOutcome | None]:
    if outcomes := [
        _outcome_of_label(content)
        for key, content in pairs
        if key in _VERDICT_KEYS and not isinstance(content, dict | list)
    ]:
        return outcomes
    scores: dict[Side, float] = {}
    for key, content in pairs:
        named = only_label(_SCORE_WORDS.sub(" ", key).replace("_", " ").strip(), {})
        if named and is_number(content) and named.outcome in ("a", "b"):
            scores["a" if named.outcome == "a" else "b"] = content
    return [outcome_by_scores(scores["a"], scores["b"])] if len(scores) == 2 else []


def _outcome_of_label(value: Any) -> GradedOutcome | None:
    """The verdict that a value names; None for null and for whatever else names none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).replace("_", " ").strip()
    if text in ("1", "2"):
        return GradedOutcome("a" if text == "1" else "b")
    if text.casefold() == "none":
        return GradedOutcome("neither")
    explained = re.fullmatch(r"([^()]{1,60}?)\s*\(([^()]*)\)", text)
    for read in (text, text.upper(), text.casefold(), explained[1] if explained else ""):
        if outcome := only_label(read, _LETTERS):
            disputed = explained and sides_in(explained[2]) - {outcome.outcome}
            return None if disputed else outcome
    return None


def _ranks_by_side(rows: Sequence[Any]) -> dict[str, float]:
    """AlpacaEval's ranking: `[{"model": "model_1", "rank": 2}, ...]`."""
    ranks: dict[str, float] = {}
    for row in rows:
        if isinstance(row, dict):
            named = cast("dict[str, Any]", row)
            judged, rank = _outcome_of_label(named.get("model")), named.get("rank")
            if judged and is_number(rank):
                ranks[judged.outcome] = rank
    return ranks


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a JSON value is a finite number; true and NaN are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


_MOST_EFFORT = 100_000  # characters that are read again behind braces that open no object
_LONGEST_PYTHON = 4_000
_LONGEST_LEAD = 300
_DEEPEST = 4
_LETTERS: Letters = {"C": GradedOutcome("tie"), "D": GradedOutcome("neither")}
_STRAIGHT_QUOTES = str.maketrans("“”‘’", "\"\"''")
_JSON_OPENING = re.compile(r"[\[{]")
_VERDICT_KEY = (
    "winner|choice|verdict|final_verdict|final_choice|final_decision|preference|preferred|preferred_answer|"
    "decision|better|better_answer|better_response|best_answer|best|judgment|judgement|selection|selected|"
    "选择|结论|胜者|最终选择|最终结论|优胜者|获胜者|更好的回答|判定|裁决"
)
_VERDICT_KEYS = frozenset(_VERDICT_KEY.split("|"))
_SCORE_WORDS = re.compile(
    r"(?:overall_|final_|total_)?(?:score|rating|mark|评分|得分|分数)s?(?:_of|_for)?"
)
# A key with an escaped quotation mark after it stands inside another string and does not match.
# "A" or "B" offers both: it repeats the instruction and decides nothing.
_ALTERNATIVE = r"\||/|或者?|还是|or\b|and\b|和|与"
_BROKEN_PAIR = re.compile(
    rf"[\"']?\b(?:{_VERDICT_KEY})[\"']?\s{{0,9}}:\s{{0,9}}"
    r"(?:\"([^\"\n\\]{1,20})\"|'([^'\n\\]{1,20})'|([\w+=<>]{1,20})(?=\s{0,9}[,}\n]))"
    rf"(\s{{0,9}},?\s{{0,9}}(?:{_ALTERNATIVE})\s{{0,9}}[\"']?\w)?",
    re.IGNORECASE,
)
