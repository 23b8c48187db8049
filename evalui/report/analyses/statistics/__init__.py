"""Two models beside each other, in figures and in sentences."""

from collections.abc import Sequence

from evalui.messages import localized
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    p_value,
    points_between,
    signed_points,
)
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.comparisons import CellComparison, ComparisonSet, IncomparablePair
from evalui.scoring.pairs import differing_settings
from evalui.scoring.statistics.tests import PairedTTest
from evalui.types import Cell, Language


def refusal_sentence(refusal: IncomparablePair, language: Language) -> str:
    """Why two cells are not compared."""
    who = {"first": refusal.first.model, "second": refusal.second.model}
    if not refusal.differences:
        return localized("pair-strangers", language, **who)
    parts = [localized(f"part-{part}", language) for part in refusal.differences]
    joined = "、".join(parts) if language == "zh" else ", ".join(parts)
    return localized("pair-refused", language, **who, parts=joined)


def other_settings(cells: Sequence[Cell], language: Language) -> dict[str, list[str]]:
    """A sentence on each way in which models were asked otherwise than the first, and which were.

    The cells are those of one dataset and mode.
    """
    asked: dict[str, list[str]] = {}
    for each in cells[1:]:
        if parts := differing_settings(cells[0], each):
            text = localized("pair-settings", language, first=cells[0].model, parts=parts)
            asked.setdefault(text, []).append(each.model)
    return asked


def comparison_method(comparison: ComparisonSet, language: Language) -> str:
    """The small line below the pairs: how they were tested; "" if no test decides anything."""
    tested = [pair for pair in comparison.pairs if pair.finding in ("apart", "level")]
    if not tested:
        return ""
    values = [pair.adjusted for pair in tested]
    key = "pairs-about" if len(comparison.pairs) > 1 else "pairs-about-one"
    return localized(key, language, k=count(len(comparison.pairs)), p=_p_values(values, language))


def mcnemar_sentence(pair: CellComparison, language: Language) -> str:
    """Which questions decide between two models; "" for a mean over orders."""
    table = pair.mcnemar
    if table is None:
        return ""
    who = {"first": pair.first.model, "second": pair.second.model}
    if table.mid is None:
        return localized("pair-mcnemar-none", language, **who)
    b, c = table.first_only, table.second_only
    fields = {"k": count(b + c), "b": count(b), "c": count(c), "p": p_value(table.mid)}
    return localized("pair-mcnemar", language, **who, **fields)


def format_points(pair: CellComparison) -> str:
    """The difference in points, that of the figures as they are printed; of few questions they are
    counts.
    """
    difference, places = pair.paired.difference, decimal_places(pair.paired)
    if pair.figures is None or pair.n < HIDDEN_BELOW:
        return signed_points(difference, places)
    return points_between(difference, *pair.figures, places=places)


def format_points_range(paired: PairedTTest) -> str:
    """Its range: "24–36", and "−2 to 4" spelled with a true minus sign."""
    places = decimal_places(paired)
    return f"{signed_points(paired.low, places)}–{signed_points(paired.high, places)}"


def format_least_difference(difference: float) -> str:
    """The least visible difference in whole points, rounded up, so that it is never too small."""
    return fixed(max(1, -(-(100 * difference - 0.05) // 1)), 0)


def _p_values(values: Sequence[float], language: Language) -> str:
    if all(p < 0.001 for p in values):
        return localized("pairs-each", language) if len(values) > 1 else "p < .001"
    low, high = p_value(min(values)), p_value(max(values))
    if low == high:
        return localized("pairs-p", language, p=low)
    bare = [text.removeprefix("= ") for text in (low, high)]
    return localized("pairs-up-to", language, low=bare[0], high=bare[1])
