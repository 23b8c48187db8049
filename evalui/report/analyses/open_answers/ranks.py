"""Bands of places from tests of pairs."""

from collections.abc import Collection, Sequence

from evalui.report.words import band_text


def rank_bands(models: Sequence[str], decided: Collection[tuple[str, str]]) -> dict[str, str]:
    """The places that `decided` pairs (better, worse) leave each model: "1", "2–3"."""
    better = {model: sum(worse == model for _, worse in decided) for model in models}
    worse = {model: sum(first == model for first, _ in decided) for model in models}
    return {model: band_text(1 + better[model], len(models) - worse[model]) for model in models}
