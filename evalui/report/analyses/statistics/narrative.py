"""Sentences on pairs of models and on ranks: none says more than the corrected test does."""

from collections.abc import Sequence

from evalui.messages import localized
from evalui.report.analyses.statistics.pairs import (
    CellComparison,
    ComparisonSet,
    IncomparablePair,
    Unranked,
)
from evalui.report.blocks import NONE
from evalui.report.numbers import count, fixed
from evalui.scoring.statistics.paired_tests import PairedTTest
from evalui.types import Cell, Language

_FINE = 5.0  # points of half-width, under which a decimal says something


def pair_sentence(pair: CellComparison, language: Language) -> str:
    """What can be said of two models: who is ahead and by how much, or that nothing can be told.

    Without a final stop, so that it serves as a title too.
    """
    who = {"first": pair.first.model, "second": pair.second.model}
    found = pair.paired
    told = who | {
        "n": count(pair.n),
        "gap": format_points(found),
        "span": format_points_range(found),
    }
    if pair.detectable is not None:
        told["least"] = format_least_difference(pair.detectable)
    return localized(f"pair-{_sentence_key(pair)}", language, **told)


def refusal_sentence(refusal: IncomparablePair, language: Language) -> str:
    """Why two cells are not compared."""
    who = {"first": _cell_name(refusal.first), "second": _cell_name(refusal.second)}
    if not refusal.differences:
        return localized("pair-strangers", language, **who)
    parts = [localized(f"part-{part}", language) for part in refusal.differences]
    joined = "、".join(parts) if language == "zh" else ", ".join(parts)
    return localized("pair-refused", language, **who, parts=joined)


def comparison_sentences(comparison: ComparisonSet, language: Language) -> tuple[str, ...]:
    """A sentence per pair, the widest differences first, then the pairs that are not compared."""
    widest = sorted(comparison.pairs, key=lambda pair: -pair.paired.difference)
    return (
        *(pair_sentence(pair, language) for pair in widest),
        *(refusal_sentence(refusal, language) for refusal in comparison.incomparable),
    )


def comparison_method(comparison: ComparisonSet, language: Language) -> str:
    """The small line below the pairs: how they were tested; "" if no test decides anything."""
    tested = [pair for pair in comparison.pairs if pair.finding in ("apart", "level")]
    if not tested:
        return ""
    values = [pair.adjusted for pair in tested]
    key = "pairs-about" if len(comparison.pairs) > 1 else "pairs-about-one"
    return localized(key, language, k=len(comparison.pairs), p=_p_values(values, language))


def mcnemar_sentence(pair: CellComparison, language: Language) -> str:
    """Which questions decide between two models; "" for a mean over orders."""
    table = pair.mcnemar
    if table is None:
        return ""
    who = {"first": pair.first.model, "second": pair.second.model}
    if table.mid is None:
        return localized("pair-mcnemar-none", language, **who)
    b, c = table.first_only, table.second_only
    told = {"k": count(b + c), "b": count(b), "c": count(c), "p": p_value(table.mid)}
    return localized("pair-mcnemar", language, **who, **told)


def rank_text(comparison: ComparisonSet, cell: Cell, language: Language) -> tuple[str, str]:
    """The rank of a cell, and why it has none; "–" and "" if nothing can be ranked.

    Models of one band share their rank: the questions do not tell them from its best.
    """
    why: Unranked | None = comparison.unranked.get(cell)
    if why:
        return NONE, localized(f"rank-none-{why}", language)
    place = comparison.rank_of(cell.model)
    if place is None:
        return NONE, ""
    shared = sum(other.band == place.band for other in comparison.ranks) > 1
    return localized("rank-shared" if shared else "rank", language, band=place.band), ""


def format_points(paired: PairedTTest) -> str:
    """A difference in points: one decimal if its half-width is under 5 points, else none."""
    return signed_points(paired.difference, _places(paired))


def format_points_range(paired: PairedTTest) -> str:
    """Its range: "24–36", and "−2 to 4" spelled with a true minus sign."""
    places = _places(paired)
    return f"{signed_points(paired.low, places)}–{signed_points(paired.high, places)}"


def format_least_difference(difference: float) -> str:
    """The least visible difference in whole points, rounded up, so that it is never too small."""
    return fixed(max(1, -(-(100 * difference - 0.05) // 1)), 0)


def signed_points(share: float, places: int) -> str:
    """A difference of shares in points with a true minus sign."""
    return fixed(100 * share, places).replace("-", "−")


def p_value(p: float) -> str:
    """A p-value as it stands behind "p": "= .012", "< .001"."""
    return "< .001" if p < 0.001 else "= " + f"{p:.3f}".removeprefix("0")


def p_column(p: float) -> str:
    """A p-value in a column of its own: ".012", "< .001"."""
    return p_value(p).removeprefix("= ")


def _sentence_key(pair: CellComparison) -> str:
    """What is said of the pair: its finding, and who of the two is no better than guessing."""
    match pair.finding:
        case "guessing":
            both = pair.first_at_chance and pair.second_at_chance
            return "guessing" if both else "guessing-first"
        case "apart":
            return "beats-guessing" if pair.second_at_chance else "beats"
        case finding:
            return finding


def _places(found: PairedTTest) -> int:
    return 1 if 50 * (found.high - found.low) < _FINE else 0


def _p_values(values: Sequence[float], language: Language) -> str:
    if all(p < 0.001 for p in values):
        return localized("pairs-each", language) if len(values) > 1 else "p < .001"
    low, high = p_value(min(values)), p_value(max(values))
    if low == high:
        return localized("pairs-p", language, p=low)
    bare = [text.removeprefix("= ") for text in (low, high)]
    return localized("pairs-up-to", language, low=bare[0], high=bare[1])


def _cell_name(cell: Cell) -> str:
    return cell.model
