"""What the Bias page says first: whether a model prefers a position, and how that is known.

"No bias" is never stated for few questions.
"""

from evalui.messages import localized
from evalui.report.analyses.metrics import bias_state
from evalui.report.analyses.position_bias.findings import counted_picks
from evalui.report.blocks import Headline
from evalui.report.numbers import count, format_value, p_value, percent
from evalui.scoring.bias import StratumBias
from evalui.types import LETTERS, Language


def verdict(model: str, bias: StratumBias, language: Language) -> Headline:
    """The verdict on one cell, and how it is known; a warning if most answers were unreadable."""
    text, table = _verdict_text(model, bias, language), bias.position
    if sum(table.unreadable) > table.n_trials / 2:
        share = percent(round(1 - sum(table.unreadable) / table.n_trials, 2))
        return Headline(text, localized("support-unreadable", language, value=share), kind="warn")
    kind, word = bias_state(bias, language)
    # Of the other levels the verdict itself says that nothing is known.
    is_known = bias.level in ("red", "amber", "green")
    lead = localized("sentence", language, said=word) if is_known else ""
    return Headline(text, _verdict_support(bias, language), lead, kind)


def _verdict_text(model: str, bias: StratumBias, language: Language) -> str:
    table = bias.position
    picks = table.slot_counts
    if not sum(picks):
        return localized("verdict-none", language, model=model)
    if bias.consistency is None:
        return localized("verdict-origin", language, model=model)
    if bias.level in ("green", "na"):
        return localized(f"verdict-{bias.level}", language, model=model)
    if bias.level == "mass":
        return localized("verdict-mass", language, model=model, value=percent(bias.mass or 0.0))
    if bias.level == "few":
        return localized("verdict-few", language, model=model, n=count(bias.n))
    best = max(picks)
    share = table.shares[picks.index(best)]
    if picks.count(best) > 1 or share is None:
        return localized("verdict-level", language, model=model)
    letter = LETTERS[picks.index(best)]
    if best == sum(picks):
        return localized("verdict-one", language, model=model, letter=letter)
    fields = {"model": model, "letter": letter, "value": format_value(share)}
    return localized("verdict-picks", language, **fields, fair=percent(table.chance))


def _verdict_support(bias: StratumBias, language: Language) -> str:
    picks = bias.position.slot_counts
    if bias.consistency is None:
        return localized("support-origin", language, n=count(bias.n))
    if bias.level == "few" and picks.count(max(picks)) == 1:
        return localized("sentence", language, said=counted_picks(bias, language))
    if bias.adjusted_p is None or bias.level in ("mass", "few"):
        return ""
    fields = {"p": p_value(bias.adjusted_p), "n": count(bias.n)}
    return localized("support-orders", language, **fields, orders=bias.consistency.n_orders)
