"""What a judge of single answers says of the models: whose marks are higher, by a test."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import join_names_shortened, judge_name
from evalui.report.analyses.open_answers.figures import JudgeRating, judge_rating, rating_cells
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.scoring.statistics.paired_tests import holm, paired_bootstrap
from evalui.types import CellResult, Language

_LEVEL = 0.05  # of the test of two models' marks, corrected for the number of pairs
_HIGHEST = 10.0  # mark on the scale of ratings; a test wants shares


def rating_titles(
    results: Sequence[CellResult], language: Language, *, rule_based: frozenset[str]
) -> tuple[str, ...]:
    """A sentence for each judge that marked single answers of one dataset; none without marks."""
    told = (rating_title(one, language, rule_based=rule_based) for one in rating_cells(results))
    return tuple(sentence for sentence in told if sentence)


def rating_title(result: CellResult, language: Language, *, rule_based: frozenset[str]) -> str:
    """Whose marks are highest in one judge's cell, or who cannot be told apart; "" without marks.

    Two models are compared on the questions on which both have marks, by the sign-flip test.
    """
    judge = judge_name(result.cell.model, language, rule_based=rule_based)
    found = {
        one.name: marks
        for one in result.contestants
        if (marks := judge_rating(one.name, result)) and marks.mean
    }
    means = {name: marks.mean.value for name, marks in found.items() if marks.mean}
    if not means:
        return ""
    best = max(means, key=lambda name: means[name])
    behind = _significantly_worse(best, _shares(result))
    level = sorted((n for n in means if n not in behind), key=lambda name: -means[name])
    if len(means) > 1 and len(level) > 1:
        ends = {
            "low": _format_rating(found[level[-1]], language),
            "high": _format_rating(found[best], language),
        }
        return localized(
            "rated-level",
            language,
            judge=judge,
            names=join_names_shortened(level, language),
            **ends,
        )
    key = "rated-best" if len(means) > 1 else "rated-one"
    ends = {"value": _format_rating(found[best], language), "span": _range_text(found[best])}
    return localized(key, language, judge=judge, model=best, **ends)


def _shares(result: CellResult) -> Mapping[str, Mapping[str, float]]:
    """Each contestant's marks by question, as shares of the highest."""
    names = [one.name for one in result.contestants]
    shares: dict[str, dict[str, float]] = {name: {} for name in names}
    for trial in result.trials:
        own = shares[names[trial.variant.permutation[0]]]
        if "rating" in trial.scores:
            own[trial.sample_id] = trial.scores["rating"][0] / _HIGHEST
        elif "correct" in trial.scores:
            own[trial.sample_id] = trial.scores["correct"][0]
    return shares


def _significantly_worse(best: str, shares: Mapping[str, Mapping[str, float]]) -> frozenset[str]:
    """The models that the test says are behind the best."""
    tested = {
        pair: difference.p
        for pair in combinations(shares, 2)
        if (difference := paired_bootstrap(shares[pair[0]], shares[pair[1]]))
    }
    adjusted = zip(tested, holm(list(tested.values())), strict=True)
    return frozenset(
        second if first == best else first
        for (first, second), p in adjusted
        if best in (first, second) and p < _LEVEL
    )


def _format_rating(marks: JudgeRating, language: Language) -> str:
    assert marks.mean is not None, "a mark that was given"
    value = format_value(marks.mean) if marks.scale == "correct" else fixed(marks.mean.value, 1)
    return localized(f"mark-{marks.scale}", language, value=value)


def _range_text(marks: JudgeRating) -> str:
    mean = marks.mean
    assert mean is not None, "a mark that was given"
    if marks.scale == "correct":
        return f"{format_range(mean)}, n = {count(mean.n)}"
    return f"{fixed(mean.low, 1)}–{fixed(mean.high, 1)}, n = {count(mean.n)}"
