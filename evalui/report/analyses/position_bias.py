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
from evalui.report.analyses.statistics.narrative import p_column, p_value
from evalui.report.numbers import count, figure, fixed, percent, span
from evalui.scoring.cautions import HIDDEN_BELOW, Light
from evalui.scoring.position_bias.recall_spread import Spread
from evalui.scoring.position_bias.summary import Bias
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


def light_words(bias: Bias, language: Language) -> tuple[Light, str]:
    """The light of the position bias and the words beside it."""
    picks = bias.position.slot_counts
    if bias.light == "red" and sum(map(bool, picks)) == 1:
        return "red", localized("light-one", language)
    return bias.light, localized(f"light-{bias.light}", language)


def light_sentence(bias: Bias, language: Language) -> str:
    """Which position is picked most and what may be said of it, in one sentence."""
    said = picks_words(bias, language)
    if bias.light == "mass":
        return said
    picks = bias.position.slot_counts
    if bias.n < HIDDEN_BELOW and picks.count(max(picks)) == 1 and max(picks) < sum(picks):
        letter = LETTERS[picks.index(max(picks))]
        k, n = count(max(picks)), count(sum(picks))
        said = localized("picks-count", language, letter=letter, k=k, n=n)
    return localized(f"said-{bias.light}", language, said=said)


def picks_words(bias: Bias, language: Language) -> str:
    """Which position is picked most, or why nothing follows from what the letters hold."""
    if bias.light == "mass":
        return localized("mass-little", language, value=percent(bias.mass or 0.0))
    return picks_title(bias.position, language)


def recall_words(bias: Bias, language: Language) -> str:
    """Where right answers are found most often, or why nothing follows from it."""
    if bias.light == "mass":
        return localized("recall-mass", language, value=percent(bias.mass or 0.0))
    return recall_title(bias.position, language)


def light_small(bias: Bias, language: Language) -> str:
    """The small line below: p and n; "" where there is no test to tell of."""
    permuted = bias.tests.permuted
    if permuted is None or bias.light in ("mass", "few", "na"):
        return ""
    return localized("light-small", language, p=p_value(permuted.p), n=count(bias.n))


def front_page(summary: Summary, language: Language) -> str:
    """One cell in five sentences: accuracy, robust accuracy, order, position bias, readability."""
    if summary.accuracy is None:
        return takeaway(summary, language)
    strata = summary.bias.strata if summary.bias else ()
    said = [takeaway(summary, language)]
    for bias in strata:
        one = light_sentence(bias, language)
        if len(strata) > 1:
            one = localized("with-options", language, k=bias.n_options, said=one)
        said.append(localized("sentence", language, said=one))
    if summary.readable:
        value = figure(summary.readable)
        said.append(localized("readable-said", language, value=value, n=count(summary.done)))
    return ("" if language == "zh" else " ").join(said)


def findings(summary: Summary, bias: Bias, language: Language) -> tuple[Finding, ...]:
    """All tests of the questions with one number of options, in the order of interest."""
    found = [
        *_picks(bias, language),
        *_recalls(bias, language),
        *_spread(bias, language),
        *_steadiness(bias, language),
        *_averaged(bias, language),
        *_pride(bias, language),
        *_clusters(summary, language),
        _left_out(bias, language),
    ]
    return tuple(found)


def recall_subtitle_tested(bias: Bias, language: Language) -> str:
    """How to read the bars of recall, with the spread, its noise floor and Cochran's p."""
    permuted, tested = bias.tests.permuted, bias.tests.recalls
    if bias.n < HIDDEN_BELOW:
        return localized("recall-few", language, n=count(bias.n))
    told = {
        "rstd": _points(bias.spread.rstd),
        "floor95": _points(permuted.floor95 if permuted else None),
    }
    if tested is None or bias.light == "mass":
        return localized("recall-floored", language, **told)
    return localized("recall-tested", language, **told, p=p_value(tested.p))


def ckld_words(found: Spread, language: Language) -> str:
    """CKLD, said to be infinite where a slot is never chosen, with its smoothed value."""
    if found.ckld is None:
        return "–"
    if math.isfinite(found.ckld):
        return fixed(found.ckld, 3)
    never = [LETTERS[slot] for slot in found.never]
    smoothed = "–" if found.ckld_smoothed is None else fixed(found.ckld_smoothed, 3)
    letters = "、".join(never) if language == "zh" else ", ".join(never)
    return localized("ckld-infinite", language, letters=letters, smoothed=smoothed)


def _picks(bias: Bias, language: Language) -> Iterator[Finding]:
    permuted = bias.tests.permuted
    if permuted is None:
        return
    how = localized("how-permuted", language, draws=count(permuted.draws))
    ask = localized("ask-picks", language)
    if bias.light == "mass":
        told = localized("sentence", language, said=picks_words(bias, language))
        yield Finding("picks", ask, told, how)
        return
    if bias.light == "few":
        p = "" if bias.n < HIDDEN_BELOW else p_column(permuted.p)
        yield Finding("picks", ask, localized("tell-few", language), how, p)
        return
    told = localized("picks-no", language) if permuted.p >= _LEVEL else _most(bias, language)
    yield Finding("picks", ask, told, how, p_column(permuted.p))


def _most(bias: Bias, language: Language) -> str:
    picks = bias.position.slot_counts
    best = max(picks)
    if picks.count(best) > 1:
        return localized("picks-yes-level", language)
    more = fixed(100 * (best / sum(picks) - bias.position.chance), 0)
    return localized("picks-yes", language, letter=LETTERS[picks.index(best)], more=more)


def _recalls(bias: Bias, language: Language) -> Iterator[Finding]:
    tested, extremes = bias.tests.recalls, recall_extremes(bias.position, language)
    if tested is None or extremes is None:
        return
    how = localized("how-cochran", language, q=fixed(tested.statistic, 1), df=bias.n_options - 1)
    ask = localized("ask-recalls", language)
    if bias.light == "mass":
        told = localized("sentence", language, said=picks_words(bias, language))
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


def _span(bias: Bias) -> str:
    ranged = bias.spread_range
    return "–".join(fixed(end, 1) for end in ranged.rstd) if ranged else "–"


def _spread(bias: Bias, language: Language) -> Iterator[Finding]:
    rstd, permuted = bias.spread.rstd, bias.tests.permuted
    if rstd is None:
        return
    ckld, ask = ckld_words(bias.spread, language), localized("ask-spread", language)
    if permuted is None or permuted.floor is None or permuted.floor95 is None:
        told = localized("spread-alone", language, rstd=fixed(rstd, 1))
        yield Finding("spread", ask, told, localized("how-spread-alone", language, ckld=ckld))
        return
    told = localized(
        "spread-floor",
        language,
        rstd=fixed(rstd, 1),
        floor=fixed(permuted.floor, 1),
        floor95=fixed(permuted.floor95, 1),
    )
    how = localized(
        "how-spread", language, span=_span(bias), draws=count(permuted.draws), ckld=ckld
    )
    yield Finding("spread", ask, told, how)


def _steadiness(bias: Bias, language: Language) -> Iterator[Finding]:
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


def _averaged(bias: Bias, language: Language) -> Iterator[Finding]:
    found, steady = bias.prior, bias.consistency
    if steady is None:
        return
    if found is not None:
        told = localized(
            "averaged",
            language,
            value=figure(found.averaged),
            span=span(found.averaged),
            plain=figure(found.plain),
        )
        how = localized("how-averaged", language, orders=count(steady.n_orders))
        yield Finding("averaged", localized("ask-averaged", language), told, how)
    plain = percent(steady.first.value) if steady.first else "–"
    told = localized("voted", language, value=percent(steady.votes), plain=plain)
    how = localized("how-voted", language, orders=count(steady.n_orders))
    yield Finding("voted", localized("ask-majority", language), told, how)


def _pride(bias: Bias, language: Language) -> Iterator[Finding]:
    found = bias.prior
    if found is None:
        return
    told = {"after": figure(found.debiased), "before": figure(found.plain)}
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


def _clusters(summary: Summary, language: Language) -> Iterator[Finding]:
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


def _left_out(bias: Bias, language: Language) -> Finding:
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
