"""Sentences on option bias: every test in words. No p-value is stated for few questions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalui.messages import localized
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_column,
    p_value,
    percent,
)
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import Consistency, PositionTable, RecallSpread
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Summary
from evalui.types import LETTERS, Interval, Language

_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """One test in words: its question, its finding, its method, and its p-value ("" if none)."""

    rule: str
    question: str
    finding: str
    how: str
    p: str = ""


def picks_text(bias: StratumBias, language: Language) -> str:
    """Which position is picked most, or why nothing follows from what the letters hold."""
    if bias.level == "mass":
        return localized("mass-little", language, value=percent(bias.mass or 0.0))
    return picks_title(bias.position, language)


def recall_text(bias: StratumBias, language: Language) -> str:
    """In which position recall is highest, or why nothing follows from it."""
    if bias.level == "mass":
        return localized("recall-mass", language, value=percent(bias.mass or 0.0))
    return recall_title(bias.position, language)


def counted_picks(bias: StratumBias, language: Language) -> str:
    """Which position is picked most, as a count: what few questions allow."""
    picks = bias.position.slot_counts
    letter = LETTERS[picks.index(max(picks))]
    k, n = count(max(picks)), count(sum(picks))
    return localized("picks-count", language, letter=letter, k=k, n=n)


def findings(summary: Summary, bias: StratumBias, language: Language) -> tuple[Finding, ...]:
    """All tests of the questions with one number of options, in the order of interest."""
    tests = [
        *_picks(bias, language),
        *_recalls(bias, language),
        *_spread(bias, language),
        *_order_consistency(bias, language),
        *_permutation_average(bias, language),
        *_pride(bias, language),
        *_clustered_error(summary, language),
        _left_out(bias, language),
    ]
    return tuple(tests)


def tests_sentence(bias: StratumBias, language: Language) -> str:
    """What the test of picks finds, in one short sentence."""
    p = bias.adjusted_p
    if p is None or bias.level == "mass":
        return localized("tests-not", language)
    if bias.level == "few":
        return localized("tell-few", language)
    key = "tests-yes" if p < _LEVEL else "tests-no"
    return localized(key, language, p=p_value(p))


def locked_questions(consistency: Consistency) -> int:
    """How many questions kept a position in more orders than an option."""
    return sum(
        number
        for slots, row in enumerate(consistency.grid)
        for options, number in enumerate(row)
        if slots > options
    )


def ckld_text(spread: RecallSpread, language: Language) -> str:
    """CKLD, stated to be infinite where a slot is never chosen, with its smoothed value."""
    if spread.ckld is None:
        return "–"
    if math.isfinite(spread.ckld):
        return fixed(spread.ckld, 3)
    never = [LETTERS[slot] for slot in spread.never_chosen]
    smoothed = "–" if spread.ckld_smoothed is None else fixed(spread.ckld_smoothed, 3)
    letters = "、".join(never) if language == "zh" else ", ".join(never)
    return localized("ckld-infinite", language, letters=letters, smoothed=smoothed)


def _picks(bias: StratumBias, language: Language) -> Iterator[Finding]:
    permuted, adjusted = bias.tests.permutation, bias.adjusted_p
    if permuted is None or adjusted is None:
        return
    how = localized("how-permuted", language, draws=count(permuted.draws))
    ask = localized("ask-picks", language)
    if bias.level == "mass":
        text = localized("sentence", language, said=picks_text(bias, language))
        yield Finding("picks", ask, text, how)
        return
    if bias.level == "few":
        p = "" if bias.n < HIDDEN_BELOW else p_column(adjusted)
        yield Finding("picks", ask, localized("tell-few", language), how, p)
        return
    text = localized("picks-no", language) if adjusted >= _LEVEL else _most_picked(bias, language)
    yield Finding("picks", ask, text, how, p_column(adjusted))


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
        text = localized("sentence", language, said=picks_text(bias, language))
        yield Finding("recalls", ask, text, how)
        return
    if bias.n < HIDDEN_BELOW:
        yield Finding("recalls", ask, localized("tell-few", language), how)
        return
    if extremes["best"] == extremes["worst"]:
        text = localized("recalls-same", language, value=extremes["high"])
    else:
        key = "recalls-no" if tested.p < _LEVEL else "recalls-unseen"
        text = localized(key, language, **extremes)
    yield Finding("recalls", ask, text, how, p_column(tested.p))


def _span(bias: StratumBias) -> str:
    ranged = bias.spread_range
    return "–".join(fixed(end, 1) for end in ranged.rstd) if ranged else "–"


def _spread(bias: StratumBias, language: Language) -> Iterator[Finding]:
    rstd, permuted = bias.spread.rstd, bias.tests.permutation
    if rstd is None:
        return
    ckld, ask = ckld_text(bias.spread, language), localized("ask-spread", language)
    if permuted is None or permuted.mean_rstd is None or permuted.rstd_95 is None:
        text = localized("spread-alone", language, rstd=fixed(rstd, 1))
        yield Finding("spread", ask, text, localized("how-spread-alone", language, ckld=ckld))
        return
    text = localized(
        "spread-floor",
        language,
        rstd=fixed(rstd, 1),
        floor=fixed(permuted.mean_rstd, 1),
        floor95=fixed(permuted.rstd_95, 1),
    )
    how = localized(
        "how-spread", language, span=_span(bias), draws=count(permuted.draws), ckld=ckld
    )
    yield Finding("spread", ask, text, how)


def _order_consistency(bias: StratumBias, language: Language) -> Iterator[Finding]:
    agreement = bias.consistency
    if agreement is None:
        return
    locked = locked_questions(agreement)
    yield Finding(
        "follow",
        localized("ask-follow", language),
        localized("follow", language, k=count(locked), n=count(agreement.n)),
        localized(
            "how-agreement",
            language,
            content=percent(agreement.content.pairs),
            content_kappa=kappa(agreement.content.kappa),
            position=percent(agreement.position.pairs),
            position_kappa=kappa(agreement.position.kappa),
            chance=percent(1 / bias.n_options),
        ),
    )
    value, chance = percent(agreement.content.plurality), percent(agreement.chance)
    yield Finding(
        "plurality",
        localized("ask-plurality", language),
        localized("plurality", language, value=value, chance=chance),
        localized(
            "how-plurality", language, n=count(agreement.n), orders=count(agreement.n_orders)
        ),
    )


def _permutation_average(bias: StratumBias, language: Language) -> Iterator[Finding]:
    prior, steady = bias.prior, bias.consistency
    if steady is None:
        return
    if prior is not None:
        text = localized(
            "averaged",
            language,
            value=format_value(prior.averaged_accuracy),
            span=format_range(prior.averaged_accuracy),
            plain=format_value(prior.plain_accuracy),
        )
        how = localized("how-averaged", language, orders=count(steady.n_orders))
        yield Finding("averaged", localized("ask-averaged", language), text, how)
    plain = percent(steady.original_order.value) if steady.original_order else "–"
    text = localized("voted", language, value=percent(steady.majority_accuracy), plain=plain)
    how = localized("how-voted", language, orders=count(steady.n_orders))
    yield Finding("voted", localized("ask-majority", language), text, how)


def _pride(bias: StratumBias, language: Language) -> Iterator[Finding]:
    prior = bias.prior
    if prior is None:
        return
    fields = {
        "after": format_value(prior.debiased_accuracy),
        "before": format_value(prior.plain_accuracy),
    }
    before, after = prior.rstd_plain, prior.rstd_debiased
    if before is None or after is None:
        text = localized("pride-alone", language, **fields)
    else:
        spreads = {"spread_before": fixed(before, 1), "spread_after": fixed(after, 1)}
        text = localized("pride", language, **fields, **spreads)
    shares = " ".join(
        f"{letter} {percent(share)}" for letter, share in zip(LETTERS, prior.prior, strict=False)
    )
    how = localized("how-pride", language, prior=shares)
    yield Finding("pride", localized("ask-pride", language), text, how)


def _clustered_error(summary: Summary, language: Language) -> Iterator[Finding]:
    clustered = summary.mean_over_orders
    if clustered is None or clustered.se is None or clustered.design_effect is None:
        return
    effective = count(round(clustered.n_effective))
    yield Finding(
        "clusters",
        localized("ask-clusters", language),
        localized("clusters", language, trials=count(clustered.n_trials), effective=effective),
        localized(
            "how-clusters",
            language,
            deff=fixed(clustered.design_effect, 2),
            se=fixed(100 * clustered.se, 1),
        ),
    )


def _left_out(bias: StratumBias, language: Language) -> Finding:
    table = bias.position
    k, ties = sum(table.unreadable), sum(table.tied)
    reasons = (
        localized("left-out", language, k=count(k), ties=count(ties), n=count(table.n_trials))
        if k or ties
        else localized("left-out-none", language, n=count(table.n_trials))
    )
    return Finding(
        "left-out",
        localized("ask-left-out", language),
        reasons,
        localized("how-left-out", language),
    )


def kappa(value: float) -> str:
    """A kappa with two decimals and a true minus sign: ".42", "−.05"."""
    return fixed(value, 2).replace("-", "−").replace("0.", ".")


# ---------------------------------------------------------------- what was picked and found


def picks_title(table: PositionTable, language: Language) -> str:
    """Which position the model picks most, beside what would be fair."""
    total = sum(table.slot_counts)
    if total == 0:
        return localized("picks-none", language)
    best = max(table.slot_counts)
    if table.slot_counts.count(best) > 1:
        return localized("picks-tied", language)
    slot = table.slot_counts.index(best)
    share = table.shares[slot]
    assert share is not None, "what was picked has a share"
    if best == total:
        return localized("picks-only", language, letter=LETTERS[slot], n=count(total))
    fields = {"letter": LETTERS[slot], "value": format_value(share)}
    golds = [table.answers_at(gold) for gold in range(table.n_options)]
    if len(set(golds)) == 1:
        return localized("picks", language, **fields, fair=percent(table.chance))
    # In one order alone the right answers are not spread evenly: a knowing model picks unevenly.
    return localized("picks-uneven", language, **fields, gold=percent(golds[slot] / sum(golds)))


def picks_subtitle(table: PositionTable, language: Language) -> str:
    """How to read the heat map."""
    rows = {table.answers_at(gold) for gold in range(table.n_options)}
    fair = percent(table.chance)
    if len(rows) == 1:
        return localized("confusion-about", language, n=count(rows.pop()), fair=fair)
    return localized("confusion-about-uneven", language, fair=fair)


def recall_title(table: PositionTable, language: Language) -> str:
    """In which positions recall is highest and lowest."""
    fields = recall_extremes(table, language)
    if fields is None:
        return localized("recall-none", language)
    values = [recall.value for recall in table.recalls if recall]
    if max(values) == min(values):
        return localized("recall-equal", language, value=fields["high"])
    return localized("recall", language, **fields)


def recall_extremes(table: PositionTable, language: Language) -> dict[str, str] | None:
    """Letters of the `best` and the `worst` recall, and these as `high` and `low`, in per cent."""
    recalls = [(recall, slot) for slot, recall in enumerate(table.recalls) if recall]
    if not recalls:
        return None
    high = max((recall for recall, _ in recalls), key=lambda recall: recall.value)
    low = min((recall for recall, _ in recalls), key=lambda recall: recall.value)
    return {
        "best": _letters(recalls, high.value, language),
        "high": format_value(high),
        "worst": _letters(recalls, low.value, language),
        "low": format_value(low),
    }


def _letters(recalls: Sequence[tuple[Interval, int]], value: float, language: Language) -> str:
    letters = [LETTERS[slot] for recall, slot in recalls if recall.value == value]
    if language == "zh":
        return "、".join(letters)
    return " and ".join(filter(None, [", ".join(letters[:-1]), letters[-1]]))
