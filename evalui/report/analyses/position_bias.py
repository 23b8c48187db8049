"""Sentences on option bias: the light of a cell, and every test in words.

"No bias" is never said of few questions, and no p-value is said of fewer than 30.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evalui.messages import localized
from evalui.report.analyses.overview.narrative import (
    picks_title,
    recall_extremes,
    recall_title,
    takeaway,
)
from evalui.report.analyses.overview.summary import Summary
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_column,
    p_value,
    percent,
)
from evalui.scoring.cautions import HIDDEN_BELOW, BiasLevel
from evalui.scoring.position_bias.counts import RecallSpread
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import LETTERS, Language

_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """One test in words: what is asked, what was found, how, and its p-value ("" if none)."""

    rule: str
    question: str
    finding: str
    how: str
    p: str = ""


def bias_level_text(bias: StratumBias, language: Language) -> tuple[BiasLevel, str]:
    """The light of the position bias and the words beside it."""
    picks = bias.position.slot_counts
    if bias.level == "red" and sum(map(bool, picks)) == 1:
        return "red", localized("light-one", language)
    return bias.level, localized(f"light-{bias.level}", language)


def bias_level_sentence(bias: StratumBias, language: Language) -> str:
    """Which position is picked most and what may be said of it, in one sentence."""
    said = picks_text(bias, language)
    if bias.level == "mass":
        return said
    picks = bias.position.slot_counts
    if bias.n < HIDDEN_BELOW and picks.count(max(picks)) == 1 and max(picks) < sum(picks):
        letter = LETTERS[picks.index(max(picks))]
        k, n = count(max(picks)), count(sum(picks))
        said = localized("picks-count", language, letter=letter, k=k, n=n)
    return localized(f"said-{bias.level}", language, said=said)


def picks_text(bias: StratumBias, language: Language) -> str:
    """Which position is picked most, or why nothing follows from what the letters hold."""
    if bias.level == "mass":
        return localized("mass-little", language, value=percent(bias.mass or 0.0))
    return picks_title(bias.position, language)


def recall_text(bias: StratumBias, language: Language) -> str:
    """Where right answers are found most often, or why nothing follows from it."""
    if bias.level == "mass":
        return localized("recall-mass", language, value=percent(bias.mass or 0.0))
    return recall_title(bias.position, language)


def bias_level_details(bias: StratumBias, language: Language) -> str:
    """The small line below: p and n; "" where there is no test to tell of."""
    permuted = bias.tests.permutation
    if permuted is None or bias.level in ("mass", "few", "na"):
        return ""
    return localized("light-small", language, p=p_value(permuted.p), n=count(bias.n))


def cell_summary(summary: Summary, language: Language) -> str:
    """One cell in five sentences: accuracy, robust accuracy, order, position bias, readability."""
    if summary.accuracy is None:
        return takeaway(summary, language)
    strata = summary.bias.strata if summary.bias else ()
    said = [takeaway(summary, language)]
    for bias in strata:
        one = bias_level_sentence(bias, language)
        if len(strata) > 1:
            one = localized("with-options", language, k=bias.n_options, said=one)
        said.append(localized("sentence", language, said=one))
    if summary.readable:
        value = format_value(summary.readable)
        said.append(localized("readable-said", language, value=value, n=count(summary.done)))
    return ("" if language == "zh" else " ").join(said)


def findings(summary: Summary, bias: StratumBias, language: Language) -> tuple[Finding, ...]:
    """All tests of the questions with one number of options, in the order of interest."""
    found = [
        *_picks(bias, language),
        *_recalls(bias, language),
        *_spread(bias, language),
        *_order_consistency(bias, language),
        *_permutation_average(bias, language),
        *_pride(bias, language),
        *_clustered_error(summary, language),
        _left_out(bias, language),
    ]
    return tuple(found)


def recall_subtitle_tested(bias: StratumBias, language: Language) -> str:
    """How to read the bars of recall, with the spread, its noise floor and Cochran's p."""
    permuted, tested = bias.tests.permutation, bias.tests.cochran_q
    if bias.n < HIDDEN_BELOW:
        return localized("recall-few", language, n=count(bias.n))
    told = {
        "rstd": _points(bias.spread.rstd),
        "floor95": _points(permuted.rstd_95 if permuted else None),
    }
    if tested is None or bias.level == "mass":
        return localized("recall-floored", language, **told)
    return localized("recall-tested", language, **told, p=p_value(tested.p))


def ckld_text(spread: RecallSpread, language: Language) -> str:
    """CKLD, said to be infinite where a slot is never chosen, with its smoothed value."""
    if spread.ckld is None:
        return "–"
    if math.isfinite(spread.ckld):
        return fixed(spread.ckld, 3)
    never = [LETTERS[slot] for slot in spread.never_chosen]
    smoothed = "–" if spread.ckld_smoothed is None else fixed(spread.ckld_smoothed, 3)
    letters = "、".join(never) if language == "zh" else ", ".join(never)
    return localized("ckld-infinite", language, letters=letters, smoothed=smoothed)


def _picks(bias: StratumBias, language: Language) -> Iterator[Finding]:
    permuted = bias.tests.permutation
    if permuted is None:
        return
    how = localized("how-permuted", language, draws=count(permuted.draws))
    ask = localized("ask-picks", language)
    if bias.level == "mass":
        told = localized("sentence", language, said=picks_text(bias, language))
        yield Finding("picks", ask, told, how)
        return
    if bias.level == "few":
        p = "" if bias.n < HIDDEN_BELOW else p_column(permuted.p)
        yield Finding("picks", ask, localized("tell-few", language), how, p)
        return
    told = localized("picks-no", language) if permuted.p >= _LEVEL else _most_picked(bias, language)
    yield Finding("picks", ask, told, how, p_column(permuted.p))


def _most_picked(bias: StratumBias, language: Language) -> str:
    picks = bias.position.slot_counts
    best = max(picks)
    if picks.count(best) > 1:
        return localized("picks-yes-level", language)
    more = fixed(100 * (best / sum(picks) - bias.position.chance), 0)
    return localized("picks-yes", language, letter=LETTERS[picks.index(best)], more=more)


def _recalls(bias: StratumBias, language: Language) -> Iterator[Finding]:
    tested, extremes = bias.tests.cochran_q, recall_extremes(bias.position, language)
    if tested is None or extremes is None:
        return
    how = localized("how-cochran", language, q=fixed(tested.statistic, 1), df=bias.n_options - 1)
    ask = localized("ask-recalls", language)
    if bias.level == "mass":
        told = localized("sentence", language, said=picks_text(bias, language))
        yield Finding("recalls", ask, told, how)
        return
    if bias.n < HIDDEN_BELOW:
        yield Finding("recalls", ask, localized("tell-few", language), how)
        return
    if extremes["best"] == extremes["worst"]:
        told = localized("recalls-same", language, value=extremes["high"])
    else:
        key = "recalls-no" if tested.p < _LEVEL else "recalls-unseen"
        told = localized(key, language, **extremes)
    yield Finding("recalls", ask, told, how, p_column(tested.p))


def _span(bias: StratumBias) -> str:
    ranged = bias.spread_range
    return "–".join(fixed(end, 1) for end in ranged.rstd) if ranged else "–"


def _spread(bias: StratumBias, language: Language) -> Iterator[Finding]:
    rstd, permuted = bias.spread.rstd, bias.tests.permutation
    if rstd is None:
        return
    ckld, ask = ckld_text(bias.spread, language), localized("ask-spread", language)
    if permuted is None or permuted.mean_rstd is None or permuted.rstd_95 is None:
        told = localized("spread-alone", language, rstd=fixed(rstd, 1))
        yield Finding("spread", ask, told, localized("how-spread-alone", language, ckld=ckld))
        return
    told = localized(
        "spread-floor",
        language,
        rstd=fixed(rstd, 1),
        floor=fixed(permuted.mean_rstd, 1),
        floor95=fixed(permuted.rstd_95, 1),
    )
    how = localized(
        "how-spread", language, span=_span(bias), draws=count(permuted.draws), ckld=ckld
    )
    yield Finding("spread", ask, told, how)


def _order_consistency(bias: StratumBias, language: Language) -> Iterator[Finding]:
    found = bias.consistency
    if found is None:
        return
    locked = sum(
        number
        for slots, row in enumerate(found.grid)
        for options, number in enumerate(row)
        if slots > options
    )
    yield Finding(
        "follow",
        localized("ask-follow", language),
        localized("follow", language, k=count(locked), n=count(found.n)),
        localized(
            "how-agreement",
            language,
            content=percent(found.content.pairs),
            content_kappa=kappa(found.content.kappa),
            position=percent(found.position.pairs),
            position_kappa=kappa(found.position.kappa),
            chance=percent(1 / bias.n_options),
        ),
    )
    value, chance = percent(found.content.plurality), percent(found.chance)
    yield Finding(
        "plurality",
        localized("ask-plurality", language),
        localized("plurality", language, value=value, chance=chance),
        localized("how-plurality", language, n=count(found.n), orders=count(found.n_orders)),
    )


def _permutation_average(bias: StratumBias, language: Language) -> Iterator[Finding]:
    found, steady = bias.prior, bias.consistency
    if steady is None:
        return
    if found is not None:
        told = localized(
            "averaged",
            language,
            value=format_value(found.averaged_accuracy),
            span=format_range(found.averaged_accuracy),
            plain=format_value(found.plain_accuracy),
        )
        how = localized("how-averaged", language, orders=count(steady.n_orders))
        yield Finding("averaged", localized("ask-averaged", language), told, how)
    plain = percent(steady.original_order.value) if steady.original_order else "–"
    told = localized("voted", language, value=percent(steady.majority_accuracy), plain=plain)
    how = localized("how-voted", language, orders=count(steady.n_orders))
    yield Finding("voted", localized("ask-majority", language), told, how)


def _pride(bias: StratumBias, language: Language) -> Iterator[Finding]:
    found = bias.prior
    if found is None:
        return
    told = {
        "after": format_value(found.debiased_accuracy),
        "before": format_value(found.plain_accuracy),
    }
    before, after = found.rstd_plain, found.rstd_debiased
    if before is None or after is None:
        text = localized("pride-alone", language, **told)
    else:
        spreads = {"spread_before": fixed(before, 1), "spread_after": fixed(after, 1)}
        text = localized("pride", language, **told, **spreads)
    shares = " ".join(
        f"{letter} {percent(share)}" for letter, share in zip(LETTERS, found.prior, strict=False)
    )
    how = localized("how-pride", language, prior=shares)
    yield Finding("pride", localized("ask-pride", language), text, how)


def _clustered_error(summary: Summary, language: Language) -> Iterator[Finding]:
    found = summary.clustered
    if found is None or found.se is None or found.design_effect is None:
        return
    effective = count(round(found.n_effective))
    yield Finding(
        "clusters",
        localized("ask-clusters", language),
        localized("clusters", language, trials=count(found.n_trials), effective=effective),
        localized(
            "how-clusters",
            language,
            deff=fixed(found.design_effect, 2),
            se=fixed(100 * found.se, 1),
        ),
    )


def _left_out(bias: StratumBias, language: Language) -> Finding:
    table = bias.position
    k, ties = sum(table.unreadable), sum(table.tied)
    told = (
        localized("left-out", language, k=count(k), ties=count(ties), n=count(table.n_trials))
        if k or ties
        else localized("left-out-none", language, n=count(table.n_trials))
    )
    return Finding(
        "left-out", localized("ask-left-out", language), told, localized("how-left-out", language)
    )


def kappa(value: float) -> str:
    """A kappa with two decimals and a true minus sign: ".42", "−.05"."""
    return fixed(value, 2).replace("-", "−").replace("0.", ".")


def _points(value: float | None) -> str:
    return "–" if value is None else fixed(value, 1)
