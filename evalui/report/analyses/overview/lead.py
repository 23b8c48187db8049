"""The lead table: one row per model with its rank, its marks on an axis and its first figures."""

from collections.abc import Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.overview.standing import MOST_MODES, DatasetStanding
from evalui.report.analyses.overview.verdict import verdict
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Kind,
    ModelCell,
    Paragraph,
    PlotCell,
    PlotMark,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.numbers import count, decimal_places, fixed, format_range, format_value, percent
from evalui.report.words import band_text, join_sentences, mode_name
from evalui.scoring.bias import BiasLevel, StratumBias
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Measure, Summary
from evalui.types import LETTERS, Interval, Language, is_unfinished

_AXIS = Axis(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), ("0", "20", "40", "60", "80", "100 %"))
_WIDTHS = {"rank": 56, "model": 176, "lead": 168, "figure": 112, "bias": 176}  # pixels
_COUNT_TOLERANCE = 1e-6  # a count this near to a whole number is one
BIAS_KINDS: Mapping[BiasLevel, Kind] = {
    "green": "ok",
    "amber": "warn",
    "red": "bad",
    "mass": "na",
    "few": "na",
    "na": "na",
}
_SMALL_LOSS = 1 / 20
_CHINESE_TENTHS = "零一两三四五六七八九"


def lead_card(
    standing: DatasetStanding,
    language: Language,
    *,
    named: str = "",
    file: str = "",
) -> Card:
    """The table under its finding.

    Of several datasets each is `named`, with its own verdict.
    """
    table = lead_table(standing, language, file=file)
    verdict_block: list[Block] = (
        [Paragraph(verdict(standing, language).text, strong=True)] if named else []
    )
    return Card(
        (*verdict_block, table),
        title=named or _title(standing, language),
        caption=_caption(standing, language),
    )


def lead_table(standing: DatasetStanding, language: Language, *, file: str = "") -> Table:
    """The table itself; `file` names the picture of its marks."""
    ranked = standing.comparison is not None
    columns = _columns(standing, language)
    rows = [_row(standing, model, language)[0 if ranked else 1 :] for model in standing.shown]
    return Table(
        tuple(columns if ranked else columns[1:]),
        tuple(map(tuple, rows)),
        lead=True,
        file=file,
    )


def other_modes(standing: DatasetStanding) -> tuple[str, ...]:
    """The modes that stand beside the one that ranks; of more than three none does."""
    others = tuple(label for label in standing.modes if label != standing.lead)
    return others if len(standing.modes) <= MOST_MODES else ()


# ---------------------------------------------------------------- words around it


def _title(standing: DatasetStanding, language: Language) -> str:
    """What the marks show: how much is lost with the order, else the neutral fact."""
    answered = [s for s in standing.leading if s.accuracy]
    own = [s for s in answered if s.cell.model not in standing.baselines]
    if standing.guessing and not any(s.above_chance for s in answered):
        return localized("lead.guessing", language)
    known = bool(own) and not standing.unfinished and not standing.guessing
    lost = order_loss_title(own, language) if known else ""
    return lost or localized("lead.neutral", language)


def _caption(standing: DatasetStanding, language: Language) -> str:
    sizes = [s.n for s in standing.leading if s.accuracy]
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    n = (
        localized("lead.n-same", language, n=count(low))
        if low == high
        else localized("lead.n-range", language, low=count(low), high=count(high))
    )
    caption = localized(f"lead.caption-{_measures(standing)[0]}", language, n=n)
    in_one_order = all(s.cell.pattern == "origin" and s.main_bias for s in standing.leading)
    return join_sentences(
        caption, localized("lead.caption-blind", language) if in_one_order else ""
    )


def order_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """How much of what models know they lose with the order of options; "" if that is unknown."""
    if any(s.sampled for s in summaries):
        return _sampled_loss_title(summaries, language)
    moved = [s for s in summaries if _order_loss(s) is not None]
    knowing = [s for s in moved if s.above_chance]  # a guesser has nothing to lose
    if not knowing:
        return ""
    if len(moved) > 1 and all((_order_loss(s) or 0) <= _SMALL_LOSS for s in moved):
        return localized("loses-few", language)
    most = max(knowing, key=lambda s: _order_loss(s) or 0)
    return _loss_sentence(_order_loss(most) or 0, most.cell.model, language)


def _sampled_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """What moving options costs beyond what asking again does; "" where nobody was asked again."""
    known = [
        (s, loss) for s in summaries if isinstance(loss := s.figures.get("order_loss"), Interval)
    ]
    if not known:
        return ""
    most, loss = max(known, key=lambda each: each[1].value)
    if loss.low <= 0:
        return localized("order-loss-none", language)
    points = fixed(100 * loss.value, decimal_places(loss))
    return localized("order-loss", language, model=most.cell.model, points=points)


def _order_loss(summary: Summary) -> float | None:
    return summary.lost_with_order if summary.order_sensitivity else None


def _loss_sentence(share: float, model: str, language: Language) -> str:
    if share <= _SMALL_LOSS:
        return localized("keeps", language, model=model)
    tenths = round(10 * share)
    if share == 1:
        return localized("loses-all", language, model=model)
    if tenths == 10:
        return localized("loses-nearly-all", language, model=model)
    tenths = max(tenths, 1)
    return localized("loses", language, model=model, tenths=tenths, chengs=_CHINESE_TENTHS[tenths])


# ---------------------------------------------------------------- columns


def _columns(standing: DatasetStanding, language: Language) -> list[Column]:
    def word(key: str) -> str:
        return localized(f"lead.{key}", language)

    group = _group(standing, language)
    moved = any(s.robust for s in standing.leading)
    first, second = _measures(standing)
    heads: dict[str, str] = {
        "robust": word("robust"),
        "mean_over_orders": word("mean_over_orders"),
        "accuracy": word("origin" if moved else "accuracy"),
    }
    columns = [
        Column(word("rank"), rank=True, width=_WIDTHS["rank"]),
        Column(word("model"), width=_WIDTHS["model"]),
        Column(word("plot"), axis=_AXIS, rule=_rule(standing, language)),
        Column(heads[first], group, lead=True, width=_WIDTHS["lead"]),
    ]
    if second:
        columns.append(Column(heads[second], group, width=_WIDTHS["figure"]))
    if _has_bias(standing):
        columns.append(Column(word("bias"), group, width=_WIDTHS["bias"]))
    for label in other_modes(standing):
        head = word(_measure_of(standing, label))
        columns.append(Column(head, _mode(standing, label, language), width=_WIDTHS["figure"]))
    return columns


def _measures(standing: DatasetStanding) -> tuple[Measure, Measure | None]:
    """What stands in the first column of figures, and in the second (None if there is none)."""
    if not any(s.robust for s in standing.leading):
        return "accuracy", None
    if standing.measure != "accuracy" and not standing.guessing:
        return standing.measure, "accuracy"
    drawn = any(s.sampled for s in standing.leading)
    return "accuracy", "mean_over_orders" if drawn else "robust"


def _measure_of(standing: DatasetStanding, label: str) -> Measure:
    compared = standing.compared.get(label)
    return compared.measure if compared else "accuracy"


def _has_bias(standing: DatasetStanding) -> bool:
    return any(s.main_bias for s in standing.leading)


def _mode(standing: DatasetStanding, label: str, language: Language) -> str:
    cell = next(s.cell for (each, _), s in standing.cells.items() if each == label)
    name = mode_name(cell, language)
    return name[:1].upper() + name[1:]


def _group(standing: DatasetStanding, language: Language) -> str:
    """The mode that ranks, with its orders if there are several."""
    mode = _mode(standing, standing.lead, language)
    biases = [s.main_bias for s in standing.leading if s.main_bias]
    orders = next((b.consistency.n_orders for b in biases if b.consistency), 0)
    return localized("lead.orders", language, mode=mode, n=orders) if orders > 1 else mode


def _rule(standing: DatasetStanding, language: Language) -> tuple[float, str] | None:
    """The line of guessing, where all models have the same."""
    answered = [s for s in standing.leading if s.accuracy]
    chances = {s.chance for s in answered if s.chance is not None}
    if len(chances) != 1:
        return None
    chance = chances.pop()
    value = percent(chance)
    robust = next((s.chance_robust for s in answered if s.chance_robust is not None), None)
    if robust is None or _measures(standing)[0] != "robust":
        return chance, localized("lead.rule", language, value=value)
    return chance, localized("lead.rule-both", language, value=value, robust=percent(robust))


# ---------------------------------------------------------------- rows


def _row(standing: DatasetStanding, model: str, language: Language) -> list[TableCell]:
    summary = standing.cell(model)
    place, baseline = standing.places.get(model, 0), model in standing.baselines
    rank = standing.rank(model)
    first, second = _measures(standing)
    row: list[TableCell] = [
        band_text(rank.low, rank.high) if rank else NONE,
        ModelCell(model, place, baseline, _below(standing, summary, language)),
        _plot(standing, summary, language, place=place, baseline=baseline),
        _figure(summary, first, language, lead=True, several=standing),
    ]
    if second:
        row.append(_figure(summary, second, language))
    if _has_bias(standing):
        row.append(_bias(summary, language))
    for label in other_modes(standing):
        measure = _measure_of(standing, label)
        other = standing.cells.get((label, model))
        # Why the mode that ranks has none stands below the name.
        missing = _missing(other, language)
        row.append(_figure(other, measure, language, missing=missing))
    return row


def _below(standing: DatasetStanding, summary: Summary | None, language: Language) -> str:
    """Why a model has no rank, or how far it is."""
    if summary is None or summary.state == "impossible":
        return localized("lead.not-run", language)
    if is_unfinished(summary):
        done, total = count(summary.done), count(summary.total)
        return localized("lead.progress", language, done=done, total=total)
    if summary.accuracy is None:
        return localized(
            "lead.failed" if summary.state == "failed" else "lead.no-answers", language
        )
    why = standing.comparison.unranked.get(summary.cell) if standing.comparison else None
    if why == "baseline" and not summary.above_chance:
        why = "guessing"
    if standing.guessing and why == "guessing":
        return ""  # the headline says so of all
    return localized(f"rank-none-{why}", language) if why else ""


def _plot(
    standing: DatasetStanding,
    summary: Summary | None,
    language: Language,
    *,
    place: int,
    baseline: bool,
) -> TableCell:
    if summary is None or summary.accuracy is None:
        return PlotCell((), place, baseline)
    measure = _measures(standing)[0]
    origin, share = summary.accuracy, summary.share(measure)
    moved = any(s.robust for s in standing.leading)
    written = PlotMark(origin.value, origin.low, origin.high, hollow=moved)
    fields = {"value": format_value(origin), "span": format_range(origin)}
    if share is None or measure == "accuracy":
        return PlotCell((written,), place, baseline, localized("lead.told", language, **fields))
    marks = (PlotMark(share.value, share.low, share.high), written)
    text = localized(
        f"lead.told-{measure}",
        language,
        value=format_value(share),
        span=format_range(share),
        origin=fields["value"],
        origin_span=fields["span"],
    )
    return PlotCell(marks, place, baseline, text)


def _figure(
    summary: Summary | None,
    measure: Measure,
    language: Language,
    *,
    lead: bool = False,
    several: DatasetStanding | None = None,
    missing: str = "",
) -> TableCell:
    """A share with its range; of few questions the count, which claims no more than there is.

    `missing` is why there is none.
    """
    share = summary.share(measure) if summary else None
    if share is None:
        return TextCell(NONE, missing)
    size = "lead" if lead else "large"
    if share.n < HIDDEN_BELOW:
        of = localized("lead.of", language, n=count(share.n))
        return ValueCell(_right(share), of, format_range(share) + " %", size=size)
    below = ""
    if several and len({s.n for s in several.leading if s.accuracy}) > 1:
        below = localized("lead.n", language, n=count(share.n))
    return ValueCell(format_value(share), "%", format_range(share), below, size)


def _right(share: Interval) -> str:
    right = share.value * share.n
    places = 0 if abs(right - round(right)) < _COUNT_TOLERANCE else 1  # a tie counts in part
    return fixed(right, places)


def _missing(summary: Summary | None, language: Language) -> str:
    if summary is None or summary.state == "impossible":
        return localized("lead.not-run", language)
    return "" if summary.accuracy else localized("lead.no-answers", language)


# ---------------------------------------------------------------- position bias


def _bias(summary: Summary | None, language: Language) -> TableCell:
    bias = summary.main_bias if summary else None
    if bias is None:
        return NONE
    kind, word = bias_state(bias, language)
    return StateCell(kind, word, picks(bias, language))


def bias_state(bias: StratumBias, language: Language) -> tuple[Kind, str]:
    """The level of the position bias as an icon and a word."""
    slots = bias.position.slot_counts
    alone = bias.level == "red" and max(slots) == sum(slots) > 0
    return BIAS_KINDS[bias.level], localized(
        f"lead.bias-{'one' if alone else bias.level}", language
    )


def picks(bias: StratumBias, language: Language) -> str:
    """Which position is picked most, in up to six words."""
    if bias.level == "mass":
        return localized("lead.picks-mass", language, value=percent(bias.mass or 0.0))
    table: PositionTable = bias.position
    total, best = sum(table.slot_counts), max(table.slot_counts)
    if total == 0:
        return ""
    if table.slot_counts.count(best) > 1:
        return localized("lead.picks-tied", language)
    slot = table.slot_counts.index(best)
    letter = LETTERS[slot]
    if best == total:
        return localized("lead.picks-only", language, letter=letter)
    if bias.n < HIDDEN_BELOW:
        return localized("lead.picks-count", language, letter=letter, k=count(best), n=count(total))
    fields = {"letter": letter, "value": fixed(100 * best / total, 0)}
    golds = [table.answers_at(gold) for gold in range(table.n_options)]
    if len(set(golds)) == 1:
        return localized("lead.picks", language, **fields, fair=percent(table.chance))
    gold = fixed(100 * golds[slot] / sum(golds), 0)
    return localized("lead.picks-uneven", language, **fields, gold=gold)
