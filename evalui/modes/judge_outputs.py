"""What a judge gives its verdict in where that is no text: JSON that fits a schema, labels, or
decisions.

All three leave nothing to read wrongly. A reply that does not fit its schema,
since a server did not keep to it, is read as the text that it is.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from evalui.modes.prompts.rubrics import Rubric
from evalui.replies import HIGHEST_RATING, LOWEST_RATING
from evalui.scoring.choice.decisions import NAMED, NO_SUM, REFUSED, DecisionReading, read_decision
from evalui.types import (
    CRITERION,
    OUTCOMES,
    POINTS,
    Decision,
    LabelProbs,
    Language,
    Outcome,
    Reading,
)

# Below this the judge would more probably have written something that is no label.
_MIN_MASS = 0.5
_REASON, _WINNER, _RATING, _DECISION = "reason", "winner", "rating", "decision"
_MARKS = tuple(str(mark) for mark in range(int(LOWEST_RATING), int(HIGHEST_RATING) + 1))

# The words for each outcome, with how strongly one answer is preferred.
_Words = Mapping[str, tuple[Outcome, int | None]]
_NAMED: Mapping[Language, _Words] = {
    "en": {
        "Answer 1": ("a", None),
        "Answer 2": ("b", None),
        "both good": ("tie", None),
        "both bad": ("neither", None),
    },
    "zh": {
        "回答1": ("a", None),
        "回答2": ("b", None),
        "都好": ("tie", None),
        "都不好": ("neither", None),
    },
}
_GRADED: Mapping[Language, _Words] = {
    "en": {
        "Answer 1 much better": ("a", 3),
        "Answer 1 better": ("a", 1),
        "both good": ("tie", None),
        "both bad": ("neither", None),
        "Answer 2 better": ("b", 1),
        "Answer 2 much better": ("b", 3),
    },
    "zh": {
        "回答1明显更好": ("a", 3),
        "回答1更好": ("a", 1),
        "都好": ("tie", None),
        "都不好": ("neither", None),
        "回答2更好": ("b", 1),
        "回答2明显更好": ("b", 3),
    },
}


@dataclass(frozen=True, slots=True)
class GradedReply:
    """What was read of a judge: the reading, its marks, and how probable each label was."""

    reading: Reading
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    probabilities: tuple[float, ...] = ()
    mass: float | None = None

    @property
    def is_readable(self) -> bool:
        """Whether there is a verdict."""
        return self.reading.choice is not None


def unreadable(rule: str) -> GradedReply:
    """No verdict, and the rule that says why."""
    return GradedReply(Reading(None, 0.0, rule))


def graded_outcome(outcome: Outcome, rule: str, strength: int | None = None) -> GradedReply:
    """A verdict on two answers."""
    reading = Reading(OUTCOMES.index(outcome), POINTS[outcome], rule)
    return GradedReply(reading, {} if strength is None else {"strength": (float(strength),)})


def graded_rating(value: float, rule: str) -> GradedReply:
    """A mark from 1 to 10; the credit is its share of the scale."""
    credit = (value - LOWEST_RATING) / (HIGHEST_RATING - LOWEST_RATING)
    return GradedReply(Reading(0, credit, rule), {_RATING: (value,)})


def graded_criteria(marks: Mapping[str, float], rule: str) -> GradedReply:
    """A mark from 1 to 10 for each criterion; their mean is that of the answer."""
    mean = graded_rating(math.fsum(marks.values()) / len(marks), rule)
    each = {f"{CRITERION}{name}": (value,) for name, value in marks.items()}
    return GradedReply(mean.reading, {**mean.scores, **each})


def graded_correctness(value: float, rule: str) -> GradedReply:
    """1 for correct, 0 for incorrect."""
    return GradedReply(Reading(0, value, rule), {"correct": (value,)})


# ---------------------------------------------------------------- a schema


def json_schema(rubric: Rubric) -> str:
    """The schema of a reply, as JSON: the reasons first, so that they come before the verdict."""
    fields: dict[str, dict[str, str | list[str]]] = {_REASON: {"type": "string"}}
    fields |= {name: {"type": "string", "enum": words} for name, words in _choices(rubric).items()}
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return json.dumps(schema, ensure_ascii=False)


def read_object(rubric: Rubric, reply: str) -> GradedReply | None:
    """The verdict of a reply that is a JSON object of the schema; None if it is not."""
    try:
        value: Any = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    return _graded_object(rubric, value, "schema")


def read_last_object(rubric: Rubric, text: str) -> GradedReply | None:
    """The verdict of the last JSON object of the schema within a text; None without any."""
    graded = [_graded_object(rubric, value, "json") for value in _objects(text)]
    return next((each for each in reversed(graded) if each), None)


def _choices(rubric: Rubric) -> dict[str, list[str]]:
    """The fields of the reply beside its reasons, and what each may be."""
    if rubric.form == "correctness":
        return {_DECISION: ["correct", "incorrect"]}
    if rubric.form == "rating":
        names = [name for name, _ in rubric.criteria] or [_RATING]
        return {name: list(_MARKS) for name in names}
    return {_WINNER: list(_words(rubric))}


def _words(rubric: Rubric) -> _Words:
    return (_GRADED if rubric.form == "graded" else _NAMED)[rubric.language]


def _graded_object(rubric: Rubric, value: Any, rule: str) -> GradedReply | None:
    if not isinstance(value, dict):
        return None
    given, wanted = cast("dict[Any, Any]", value), _choices(rubric)
    if set(given) - {_REASON} != set(wanted):
        return None
    # A server without schemas may write a mark as a number.
    chosen = {name: str(given[name]) for name in wanted}
    if any(chosen[name] not in words for name, words in wanted.items()):
        return None
    if rubric.form == "correctness":
        return graded_correctness(float(chosen[_DECISION] == "correct"), rule)
    if rubric.criteria:
        return graded_criteria({name: float(mark) for name, mark in chosen.items()}, rule)
    if rubric.form == "rating":
        return graded_rating(float(chosen[_RATING]), rule)
    outcome, strength = _words(rubric)[chosen[_WINNER]]
    return graded_outcome(outcome, rule, strength)


def _objects(text: str) -> Iterator[Any]:
    """The outermost JSON objects of a text."""
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


# ---------------------------------------------------------------- labels


def labels(rubric: Rubric) -> tuple[str, ...]:
    """The labels whose probabilities are asked for: digits, which every tokenizer has as tokens.

    1 to 4 stand for the outcomes in the order of `OUTCOMES`, 0 to 9 for the marks 1 to 10.
    """
    if rubric.form == "correctness":
        return ("0", "1")
    if rubric.form == "rating":
        return tuple(str(digit) for digit in range(len(_MARKS)))
    return tuple(str(place + 1) for place in range(len(OUTCOMES)))


def read_labels(rubric: Rubric, responses: Sequence[LabelProbs]) -> GradedReply:
    """The verdict by the probabilities of the labels, one response for each criterion, or one.

    Of two answers the most probable outcome counts. A mark is its expected value over the marks
    1 to 10, sum of p(s) * s, as in Y. Liu et al., "G-Eval: NLG Evaluation using GPT-4 with Better
    Human Alignment" (EMNLP 2023, section 2), where p was estimated from 20 samples; here it is
    the network's own, divided by the probability of all labels together.
    """
    mass = min(response.mass for response in responses)
    if mass < _MIN_MASS:
        return unreadable("thin-mass")
    shares = [_shares(response.logprobs) for response in responses]
    graded = _graded_shares(rubric, shares)
    first = shares[0] if len(shares) == 1 else ()
    return GradedReply(graded.reading, graded.scores, first, mass)


def _graded_shares(
    rubric: Rubric, shares: Sequence[tuple[float, ...]], rule: str = "probabilities"
) -> GradedReply:
    if rubric.form == "rating":
        marks = [math.fsum(p * mark for mark, p in enumerate(each, 1)) for each in shares]
        names = [name for name, _ in rubric.criteria]
        if names:
            return graded_criteria(dict(zip(names, marks, strict=True)), rule)
        return graded_rating(marks[0], rule)
    (own,) = shares
    best = max(own)
    if own.count(best) > 1:  # a server's list of tokens may leave open which one it is
        return unreadable("undecided")
    if rubric.form == "correctness":
        return graded_correctness(float(own.index(best)), rule)
    return graded_outcome(OUTCOMES[own.index(best)], rule)


def _shares(logprobs: Sequence[float]) -> tuple[float, ...]:
    top = max(logprobs)
    weights = [math.exp(each - top) for each in logprobs]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


# ---------------------------------------------------------------- decisions


def decided_options(rubric: Rubric) -> tuple[tuple[str, str], ...]:
    """The options of a decision, the same for each criterion: the words of the schema, and of marks
    what the rubric's scale says of them.
    """
    words, *_ = _choices(rubric).values()
    meanings = {str(mark): meaning for mark, meaning in rubric.scale}
    return tuple((word, meanings.get(word, word)) for word in words)


def read_decisions(rubric: Rubric, decisions: Sequence[Decision]) -> GradedReply:
    """The verdict of one decision, or of one for each criterion.

    Probabilities are read as those of labels are, see `read_labels`. Of the six options of a graded
    form those of one outcome are added, and the more probable of its two says how much better. A
    decision without probabilities counts by the option that it names. One that is declined, names
    none, or whose probabilities are no distribution, is unreadable.
    """
    words = [word for word, _ in decided_options(rubric)]
    read = [read_decision(each, words, 0) for each in decisions]
    if any(each.refused for each in decisions):
        return unreadable(REFUSED)
    if any(each.mass is not None and not each.probabilities for each in read):
        return unreadable(NO_SUM)
    rules = {"" if each.probabilities else each.readings["forced"].rule for each in read}
    if wrong := rules - {"", NAMED}:
        return unreadable(wrong.pop())
    shares = [_options_shares(each, len(words)) for each in read]
    ordered = [_by_label(rubric, each) for each in shares]
    graded = _graded_shares(rubric, ordered, NAMED if NAMED in rules else "probabilities")
    scores = dict(graded.scores)
    if rubric.form == "graded" and graded.is_readable:
        scores |= _strength(rubric, shares[0], OUTCOMES[graded.reading.choice or 0])
    masses = [each.mass for each in read if each.mass is not None]
    first = ordered[0] if len(read) == 1 and read[0].probabilities else ()
    return GradedReply(graded.reading, scores, first, min(masses, default=None))


def named_words(rubric: Rubric, decisions: Sequence[Decision]) -> str:
    """What decisions name, one after the other."""
    words = [word for word, _ in decided_options(rubric)]
    return " ".join(words[each.choice] for each in decisions if each.choice is not None)


def _options_shares(read: DecisionReading, n_options: int) -> tuple[float, ...]:
    """The probability of each option; all of it is that of the one that was merely named."""
    named = read.readings["forced"].choice
    return read.probabilities or tuple(float(place == named) for place in range(n_options))


def _by_label(rubric: Rubric, shares: tuple[float, ...]) -> tuple[float, ...]:
    """The probabilities in the order of `labels`."""
    if rubric.form == "rating":
        return shares
    if rubric.form == "correctness":
        return shares[::-1]  # its words are "correct" and "incorrect", its labels 0 and 1
    outcomes = [outcome for outcome, _ in _words(rubric).values()]
    by_outcome = (
        math.fsum(share for share, own in zip(shares, outcomes, strict=True) if own == each)
        for each in OUTCOMES
    )
    # Two decimals each, their sums are equal where they should be.
    return tuple(round(each, 12) for each in by_outcome)


def _strength(
    rubric: Rubric, shares: Sequence[float], outcome: Outcome
) -> dict[str, tuple[float, ...]]:
    """How strongly an answer is preferred; not strongly, where both are equally probable."""
    by_strength = {
        strength: share
        for share, (own, strength) in zip(shares, _words(rubric).values(), strict=True)
        if own == outcome and strength is not None
    }
    if not by_strength:
        return {}
    return {"strength": (float(max(sorted(by_strength), key=by_strength.__getitem__)),)}
