"""SCORERS: what gives a value to one written answer; the values are kept with the trial.

The mean of a value over the answers, its range over questions and its paired comparison are made by
the core, so that a scorer is one function. A value that another package registers is a metric of
its name in every table, file and comparison:

    SCORERS.register("edit_similarity")(
        ReplyScorer(edit_similarity, label={"en": "Edit similarity", "zh": "编辑相似度"})
    )
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from evalui.errors import DataError
from evalui.messages import sentence
from evalui.registry import Registry
from evalui.scoring.texts.metrics import (
    ALL_TEXT_METRICS,
    TEXT_METRICS,
    best_scores,
    exact_match,
    normalised_words,
    score_pair,
    token_f1,
    tokenize,
)
from evalui.scoring.texts.visual import RIGHT_OR_WRONG, VISUAL_DOCS, VISUAL_METRICS
from evalui.types import Language, Sample

PASSED = "passed"  # the value that the mode of programs gives, which no scorer could: it runs them
Score = float | Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class ScoreValue:
    """What one value of a scorer is: a share in 0..1, of which `direction` says what is better.

    One that is `right_or_wrong` is 1 or 0, and has pass@k and majority where questions are asked
    several times; any other has the spread of its repeats.
    """

    direction: Literal["higher", "lower", "none"] = "higher"
    right_or_wrong: bool = False
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])
    docs: Mapping[Language, str] = field(default_factory=dict[Language, str])


@dataclass(frozen=True, slots=True)
class ReplyScorer:
    """`score` gives a value in 0..1 to a reply to a sample, or several by name, or None.

    One value goes by the name under which the scorer is registered, and `direction`,
    `right_or_wrong`, `label` and `docs` are its own; several are declared in `values`. A scorer
    that has `needs_reference` is not called for a question without one. In a conversation whose
    turns each have a reference, `score` is called for each turn with its own, and the mean counts.
    """

    score: Callable[[Sample, str], Score]
    values: Mapping[str, ScoreValue] = field(default_factory=dict[str, ScoreValue])
    needs_reference: bool = True
    direction: Literal["higher", "lower", "none"] = "higher"
    right_or_wrong: bool = False
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])
    docs: Mapping[Language, str] = field(default_factory=dict[Language, str])

    def declared(self, name: str) -> Mapping[str, ScoreValue]:
        """Its values by name, of a scorer that is registered under `name`."""
        return self.values or {
            name: ScoreValue(self.direction, self.right_or_wrong, self.label, self.docs)
        }


SCORERS: Registry[ReplyScorer] = Registry("scorer")


def score_answers(sample: Sample, turns: Sequence[str]) -> dict[str, float]:
    """The values of every scorer for the answer to a sample, of which `turns` are all replies.

    A conversation with a reference for each turn is scored turn by turn, and the mean counts; else
    the last reply is scored.

    Raises:
        DataError: a scorer gives what is no share, or a value that it does not declare, or says
            that a reply is neither right nor wrong where it declares to decide that.
    """
    references, parts = sample.references, [(sample, turns[-1])]
    if len(turns) == len(references) > 1:
        parts = [
            (replace(sample, target=(reference,)), turn)
            for turn, reference in zip(turns, references, strict=True)
        ]
    made: dict[str, float] = {}
    for name, scorer in usable_scorers().items():
        if scorer.needs_reference and not references:
            continue
        each = [_values(name, scorer, *part) for part in parts]
        for value in each[0]:
            if all(value in one for one in each):
                # fsum: a plain sum is rounded otherwise from Python 3.12 on.
                made[value] = math.fsum(one[value] for one in each) / len(each)
    return made


def declared_values() -> dict[str, tuple[ScoreValue, ReplyScorer]]:
    """Every value by name with its scorer, ours first."""
    return {
        value: (declared, scorer)
        for name, scorer in usable_scorers().items()
        for value, declared in scorer.declared(name).items()
    }


def named_metric(sample: Sample) -> str:
    """The figure that the row of a sample names in its column "metric"; "" if none."""
    return sample.metadata.get("metric", "")


def values_without_reference() -> frozenset[str]:
    """The values that need no reference."""
    known = declared_values().items()
    return frozenset(name for name, (_, scorer) in known if not scorer.needs_reference)


def usable_scorers() -> dict[str, ReplyScorer]:
    """Every scorer by name but those with a value that one before gives: the log names them."""
    usable: dict[str, ReplyScorer] = {}
    taken: set[str] = set()
    for name in SCORERS:
        values = SCORERS[name].declared(name).keys()
        if double := sorted(values & taken):
            _report_taken(name, double[0])
            continue
        usable[name] = SCORERS[name]
        taken |= values
    return usable


@cache  # once for each scorer, not for each answer
def _report_taken(scorer: str, value: str) -> None:
    import logging

    logging.getLogger(__name__).warning(
        "%s", sentence("error.scorer-taken", scorer=scorer, value=value)
    )


def _values(name: str, scorer: ReplyScorer, sample: Sample, reply: str) -> dict[str, float]:
    score = scorer.score(sample, reply)
    if score is None:
        return {}
    given = dict(score) if isinstance(score, Mapping) else {name: score}
    declared = scorer.declared(name)
    for value, number in given.items():
        if value not in declared:
            raise DataError("scorer-undeclared", scorer=name, value=value)
        if not 0 <= number <= 1:  # what is no number is not between them
            raise DataError("scorer-value", scorer=name, value=value, number=str(number))
        if declared[value].right_or_wrong and number not in (0, 1):
            raise DataError("scorer-right-or-wrong", scorer=name, value=value, number=str(number))
    return {value: float(number) for value, number in given.items()}


# ---------------------------------------------------------------- ours


def _rouge_and_bleu(sample: Sample, reply: str) -> Mapping[str, float]:
    """The 13 figures of SWIFT and EvalScope; each text is cut once for all of them."""
    words = tokenize(reply)
    references = [tokenize(reference) for reference in sample.references]
    return best_scores([score_pair(words, reference) for reference in references])


def _exact_match(sample: Sample, reply: str) -> float:
    words = normalised_words(reply)
    return max(exact_match(words, normalised_words(each)) for each in sample.references)


def _token_f1(sample: Sample, reply: str) -> float:
    words = normalised_words(reply)
    return max(token_f1(words, normalised_words(each)) for each in sample.references)


def _visual(sample: Sample, reply: str) -> Mapping[str, float] | None:
    """The metric that the row names, if it is one of those of questions on pictures."""
    name = named_metric(sample)
    score = VISUAL_METRICS.get(name)
    value = score(reply, sample.references) if score else None
    return None if value is None else {name: value}


def _docs(name: str) -> Mapping[Language, str]:
    return {"en": f"mean over answers: {ALL_TEXT_METRICS[name]}"}


_BUILT_IN = {
    "rouge_bleu": ReplyScorer(
        _rouge_and_bleu, {name: ScoreValue(docs=_docs(name)) for name in TEXT_METRICS}
    ),
    "exact_match": ReplyScorer(_exact_match, right_or_wrong=True, docs=_docs("exact_match")),
    "token_f1": ReplyScorer(_token_f1, docs=_docs("token_f1")),
    "visual": ReplyScorer(
        _visual,
        {
            name: ScoreValue(right_or_wrong=name in RIGHT_OR_WRONG, docs={"en": said})
            for name, said in VISUAL_DOCS.items()
        },
    ),
}
for _name, _scorer in _BUILT_IN.items():
    SCORERS.register(_name)(_scorer)
# The values of ours, without a look into the registry, which would load those of other packages.
OUR_VALUES: Mapping[str, ScoreValue] = {
    **{
        value: declared
        for name, scorer in _BUILT_IN.items()
        for value, declared in scorer.declared(name).items()
    },
    PASSED: ScoreValue(right_or_wrong=True, docs={"en": "programs whose tests pass"}),
}
