"""Lists of names, sentences one after the other, and bands of places, as every page writes them."""

from collections.abc import Collection, Iterable, Sequence

from evalui.messages import localized
from evalui.types import Language

_MAX_NAMES = 3  # models in a title, before they are counted
_FULL_WIDTH = "。；：！？，、）」”"  # signs of Chinese that bring their own room


def join_sentences(*sentences: str) -> str:
    """Sentences one after the other; those that are "" are left out.

    >>> join_sentences("One.", "", "Two.")
    'One. Two.'
    """
    joined = ""
    for each in filter(None, sentences):
        joined += gap_after(joined) + each
    return joined


def gap_after(text: str) -> str:
    """The blank between a text and what follows it; "" after "" and after a sign of Chinese."""
    return " " if text and text[-1] not in _FULL_WIDTH else ""


def join_names(names: Iterable[str], language: Language) -> str:
    """Names one after the other: "a, b, c"."""
    return localized("list.comma", language).join(names)


def join_clauses(clauses: Iterable[str], language: Language) -> str:
    """Parts of one sentence: "a; b; c"."""
    return localized("list.semicolon", language).join(clauses)


def join_names_shortened(names: Sequence[str], language: Language) -> str:
    """ "a", "a and b", "a, b and c", and from four on "a and 3 others"."""
    if len(names) > _MAX_NAMES:
        # Chinese counts the one that is named among them.
        k = len(names) - (language != "zh")
        return localized("and-others", language, first=names[0], k=k)
    if len(names) < 2:
        return "".join(names)
    first = join_names(names[:-1], language)
    return localized("and", language, first=first, last=names[-1])


def band_text(low: int, high: int) -> str:
    """The places that something may have: "1", "2–3"."""
    return str(low) if low == high else f"{low}–{high}"


def rank_bands(models: Sequence[str], decided: Collection[tuple[str, str]]) -> dict[str, str]:
    """The places that `decided` pairs (better, worse) leave each model: "1", "2–3"."""
    better = {model: sum(worse == model for _, worse in decided) for model in models}
    worse = {model: sum(first == model for first, _ in decided) for model in models}
    return {model: band_text(1 + better[model], len(models) - worse[model]) for model in models}
