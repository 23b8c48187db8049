"""A judge's verdict out of a JSON object, or out of what was meant to be one.

Only the values of verdict keys count: a verdict inside another string is a quotation.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from evalui.types import Outcome

TIE_DELTA = 0.1  # scores no further apart are a tie, as in FastChat


@dataclass(frozen=True, slots=True)
class GradedOutcome:
    """An outcome, and how clear the judge found it where the format says so (3 or 1)."""

    outcome: Outcome
    strength: int | None = None


def outcome_by_scores(score_a: float, score_b: float) -> GradedOutcome:
    """The better score wins; scores within 0.1 of each other tie."""
    if abs(score_a - score_b) <= TIE_DELTA + 1e-9:
        return GradedOutcome("tie")
    return GradedOutcome("a" if score_a > score_b else "b")


def read_json(reply: str) -> tuple[GradedOutcome | None, str]:
    """The verdict of the last JSON value that holds one, and the rule that read it."""
    verdicts = [
        outcomes for value in _json_values(reply) if (outcomes := _outcomes_in_value(value))
    ]
    if verdicts:
        return _agreed_outcome(verdicts[-1], "json")
    if pairs := list(_BROKEN_PAIR.finditer(_straighten_quotes(reply))):
        judged = [
            None if pair[4] else _outcome_of_label(pair[1] or pair[2] or pair[3]) for pair in pairs
        ]
        return _agreed_outcome(judged, "broken-json")
    return None, "unparsed"


def _straighten_quotes(text: str) -> str:
    return text.translate(_STRAIGHT_QUOTES)


def _agreed_outcome(
    judged: Sequence[GradedOutcome | None], rule: str
) -> tuple[GradedOutcome | None, str]:
    if len(set(judged)) > 1:
        return None, "ambiguous"
    return (judged[0], rule) if judged[0] else (None, "no-verdict")


def _json_values(text: str) -> Iterator[Any]:
    """The outermost JSON values in the text; Python's way of writing them is read as well."""
    decoder, position, has_value = json.JSONDecoder(object_pairs_hook=_RepeatedKeys), 0, False
    while match := _JSON_OPENING.search(text, position):
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
        else:
            has_value = True
            yield value
    if not has_value and text[:1] in ("[", "{"):
        try:
            yield ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return


class _RepeatedKeys(dict[str, Any]):
    """An object whose verdict keys remember all of their values: JSON would keep the last."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


def _outcomes_in_value(value: Any) -> list[GradedOutcome | None]:
    """The verdicts in a JSON value, [] if it holds none."""
    if isinstance(value, dict):
        return _outcomes_in_object(cast("dict[Any, Any]", value))
    ranks = _ranks_by_side(cast("list[Any]", value)) if isinstance(value, list) else {}
    if ranks.keys() == {"a", "b"}:
        return [outcome_by_scores(-ranks["a"], -ranks["b"])]
    return []


def _outcomes_in_object(value: Mapping[Any, Any]) -> list[GradedOutcome | None]:
    pairs = value.pairs if isinstance(value, _RepeatedKeys) else tuple(value.items())
    plain = [
        (re.sub(r"[\s_-]+", "_", str(key).strip().casefold()), value_of_key)
        for key, value_of_key in pairs
    ]
    if outcomes := [
        _outcome_of_label(value_of_key) for key, value_of_key in plain if key in _VERDICT_KEYS
    ]:
        return outcomes
    scores = dict(plain)
    for key_a, key_b in _SCORE_KEYS:
        score_a, score_b = scores.get(key_a), scores.get(key_b)
        if _is_number(score_a) and _is_number(score_b):
            return [outcome_by_scores(score_a, score_b)]
    return []


def _outcome_of_label(value: Any) -> GradedOutcome | None:
    """The verdict that a value names; None for null and for whatever else names none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = re.sub(r"[\s_-]+", " ", str(value).strip().casefold())
    if match := _SIDE_LABEL.fullmatch(text):
        side: Outcome = "a" if match[1] in ("a", "1") else "b"
        return GradedOutcome(side, _STRENGTH[match[2] or ""])
    if match := _COMPARISON.fullmatch(text):
        return _outcome_of_comparison(match[1], match[2])
    return _VERDICT_WORDS.get(text)


def _outcome_of_comparison(first: str, sign: str) -> GradedOutcome:
    if sign[0] == "=":
        return GradedOutcome("tie", 1)
    first_wins = sign[0] == ">"
    return GradedOutcome("a" if (first == "a") == first_wins else "b", 3 if len(sign) > 1 else 1)


def _ranks_by_side(rows: Sequence[Any]) -> dict[str, float]:
    """AlpacaEval's ranking: `[{"model": "model_1", "rank": 2}, ...]`."""
    ranks: dict[str, float] = {}
    for row in rows:
        if isinstance(row, dict):
            named = cast("dict[str, Any]", row)
            judged, rank = _outcome_of_label(named.get("model")), named.get("rank")
            if judged and _is_number(rank):
                ranks[judged.outcome] = rank
    return ranks


def _is_number(value: Any) -> TypeGuard[float]:
    # The comparison also refuses NaN, which JSON may hold in Python's reading.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


_STRAIGHT_QUOTES = str.maketrans("“”‘’", "\"\"''")
_JSON_OPENING = re.compile(r"[\[{]")
_VERDICT_KEY = (
    "winner|choice|verdict|final_verdict|final_choice|preference|preferred|decision|better|"
    "judgment|judgement|选择|结论|胜者|最终选择"
)
_VERDICT_KEYS = frozenset(_VERDICT_KEY.split("|"))
_SCORE_KEYS = (
    ("score_a", "score_b"),
    ("a_score", "b_score"),
    ("score_1", "score_2"),
    ("score1", "score2"),
    ("assistant_a", "assistant_b"),
    ("a", "b"),
)
# A key with an escaped quotation mark after it stands inside another string and does not match.
# "A" or "B" offers both: it repeats the instruction and decides nothing.
_ALTERNATIVE = r"\||/|或者?|还是|or\b|and\b|和|与"
_BROKEN_PAIR = re.compile(
    rf"[\"']?\b(?:{_VERDICT_KEY})[\"']?\s*:\s*"
    r"(?:\"([^\"\n\\]{1,20})\"|'([^'\n\\]{1,20})'|([\w+=<>]{1,20}))"
    rf"(\s*,?\s*(?:{_ALTERNATIVE})\s*[\"']?\w)?",
    re.IGNORECASE,
)
_SIDE_LABEL = re.compile(
    r"(?:(?:assistant|model|response|answer|option|回答|助手) ?)?([ab12])(\+{0,2})"
)
_COMPARISON = re.compile(r"([ab]) ?(>{1,2}|<{1,2}|=+) ?(?!\1)[ab]")
_STRENGTH = {"": None, "+": 1, "++": 3}
_VERDICT_WORDS: Mapping[str, GradedOutcome] = {
    **dict.fromkeys(
        ("c", "tie", "draw", "equal", "both", "both good", "平局", "平手", "都好"),
        GradedOutcome("tie"),
    ),
    **dict.fromkeys(
        ("d", "neither", "both bad", "tie (bothbad)", "bothbad", "都不好"), GradedOutcome("neither")
    ),
}
