"""Compare, the figures: the sentence of each pair, where two part, and the paired table."""

from collections.abc import Collection, Sequence

import plotly.graph_objects as go

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction, text_subtitle
from evalui.report.analyses.open_answers.figures import AnswerPair, ranking_metric, recall_reason
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
    mcnemar_sentence,
)
from evalui.report.charts.answers import text_figures_chart
from evalui.report.charts.calibration import difference_chart, difference_subtitle
from evalui.report.charts.theme import COLOURS, NEUTRAL
from evalui.report.html import Child, Html, div, el, join
from evalui.report.numbers import count, p_value
from evalui.ui.components.widgets import link_button, note, table, titled
from evalui.ui.tabs.compare.comparison import (
    Comparison,
    Incompatibility,
    PairComparison,
    pair_comparison_sentence,
    split_by_winner,
)
from evalui.ui.tabs.compare.selection import ComparedCell, describe_differences

_MAX_SENTENCES = 5  # pairs shown as sentences, before the table has to do


def sentences(t: Messages, compared: Comparison) -> Html:
    """Who is ahead of whom, as a heading, and how that was tested."""
    lines = [pair_comparison_sentence(t, versus) for versus in compared.pairs[:_MAX_SENTENCES]]
    if not lines:
        return el("h2", t("compare.strangers"))
    about = _about(t, compared)
    more = [el("li", each) for each in lines[1:]]
    return join(
        el("h2", lines[0], cls="compare-title"),
        el("ul", *more, cls="compare-sentences") if more else None,
        el("p", about, cls="meta gap-s") if about else None,
    )


def chart(t: Messages, compared: Comparison, baselines: Collection[str]) -> go.Figure:
    """The difference of each pair with its range; of two alone, under each measure.

    Of written answers the figures of each model, because they are compared in more than one.
    """
    if compared.written:
        grey = [each.name for each in compared.cells if each.row.cell.model in baselines]
        return text_figures_chart(compared.answers, t.language, baselines=grey)
    rows = compared.rows
    names = [
        t(f"compare.measure_short.{each.measure}")
        if len(compared.pairs) == 1
        else t("compare.minus", first=each.first.model, second=each.second.model)
        for each in rows
    ]
    of = {each.name: each for each in compared.cells}
    colours = [_colour(of[each.first.model]) for each in rows]
    return difference_chart(rows, names, t.language, colours=colours)


def chart_about(t: Messages, compared: Comparison) -> Html:
    """How to read the chart."""
    if compared.written:
        reason = recall_reason(ranking_metric(compared.answers), t.language)
        about = el("p", text_subtitle(compared.answers, t.language), cls="meta")
        return join(el("p", reason, cls="dim") if reason else None, about)
    rows = compared.rows
    if len(compared.pairs) > 1:
        return el("p", difference_subtitle(rows, t.language), cls="meta")
    names = {"first": rows[0].first.model, "second": rows[0].second.model}
    lines = [t("compare.axis", **names), difference_subtitle(rows[:1], t.language)]
    return el(
        "p", ("" if t.language == "zh" else " ").join(each for each in lines if each), cls="meta"
    )


def outcome_counts_card(t: Messages, compared: Comparison, versus: PairComparison) -> Html:
    """On how many questions two agree, and on how many only one is right."""
    first, second = versus.first, versus.second
    head = div(
        el("h2", t("compare.parts.title")),
        el("p", t(f"compare.parts.{compared.measure}"), cls="meta"),
    )
    ahead, behind, alike = split_by_winner(compared, versus)
    if compared.measure not in ("robust", "accuracy"):
        rows: list[list[Child]] = [
            [el("b", t("compare.parts.ahead", name=first.name)), el("b", count(len(ahead)))],
            [el("b", t("compare.parts.ahead", name=second.name)), el("b", count(len(behind)))],
            [t("compare.parts.level"), count(len(alike))],
        ]
        return join(head, table(["", t("compare.table.n")], rows, right=(1,), cls="parts narrow"))
    mine = compared.values[first.id]
    both = sum(mine[name] == 1 for name in alike)
    return join(
        head, _contingency_table(t, versus, len(ahead), len(behind), both, len(alike) - both)
    )


def pairs_table(t: Messages, compared: Comparison) -> Html:
    """Every pair with its figures; a press on one opens its questions."""
    kind = compared.measure if compared.written else "points"
    names = ["ahead", "behind", kind, "range"]
    names += [] if compared.written else ["only", "mid"]
    names += ["holm", "n"] + ([] if compared.written else ["least"])
    rows = [_row(versus) for versus in compared.pairs]
    right = tuple(range(2, len(names)))
    few = any(
        isinstance(each.result, CellComparison) and each.result.too_few_questions
        for each in compared.pairs
    )
    several = len(compared.pairs)
    legend = t("compare.table.legend_rouge" if compared.written else "compare.table.legend")
    return titled(
        t("compare.table.title"),
        table([t(f"compare.table.{name}") for name in names], rows, right=right, cls="paired"),
        el("p", legend, " ", t("compare.table.few") if few else None, cls="meta gap-s"),
        aside=t("compare.table.about", n=several) if several > 1 else t("compare.table.about_one"),
    )


def warnings(
    t: Messages, contenders: Sequence[ComparedCell], incompatibilities: Sequence[Incompatibility]
) -> list[Html]:
    """What stands against the figures: who could not take part, and who is not finished."""
    notes = [
        note(
            "warn",
            t(
                "compare.refused",
                name=each.cell.name,
                first=each.other.name,
                parts=describe_differences(t, each.differences),
            ),
        )
        for each in incompatibilities
    ]
    for each in contenders:
        row = each.row
        if row.done < row.total:
            done, total = count(row.done), count(row.total)
            notes.append(
                note("warn", t("compare.unfinished", name=each.name, done=done, total=total))
            )
    return notes


def _colour(contender: ComparedCell) -> str:
    return NEUTRAL if contender.baseline else COLOURS[contender.place % len(COLOURS)]


def _about(t: Messages, compared: Comparison) -> str:
    results = [versus.result for versus in compared.pairs]
    tested = tuple(each for each in results if isinstance(each, CellComparison))
    if not tested:
        fewest = count(min((each.n for each in results), default=0))
        return t.count("open.pairs_about", len(results), fewest=fewest)
    first = tested[0]
    whole = ComparisonSet(first.first.dataset, first.first.label, first.measure, tested, (), (), {})
    return comparison_method(whole, t.language)


def _contingency_table(
    t: Messages, versus: PairComparison, ahead: int, behind: int, both: int, neither: int
) -> Html:
    first, second = versus.first.name, versus.second.name
    heads = [
        "",
        t("compare.parts.right", name=second),
        t("compare.parts.wrong", name=second),
    ]
    rows: list[list[Child]] = [
        [el("b", t("compare.parts.right", name=first)), count(both), _discordant_count(ahead)],
        [el("b", t("compare.parts.wrong", name=first)), _discordant_count(behind), count(neither)],
    ]
    return join(
        table(heads, rows, right=(1, 2), cls="parts"),
        el("p", _mcnemar_note(t, versus, ahead + behind), cls="dim gap"),
    )


def _mcnemar_note(t: Messages, versus: PairComparison, n: int) -> str:
    result = versus.result
    if isinstance(result, CellComparison) and result.mcnemar and not result.too_few_questions:
        return mcnemar_sentence(result, t.language)
    return t.count("compare.parts.decide", n) if n else t("compare.parts.same")


def _discordant_count(n: int) -> Html:
    return el("b", count(n), cls="decides")


def _row(versus: PairComparison) -> list[Child]:
    result = versus.result
    names = [
        versus.first.name_with_marker,
        link_button(versus.second.name_with_marker, "pair", data_pair=versus.key),
    ]
    if isinstance(result, AnswerPair):
        figures = [
            el("b", format_fraction(result.value)),
            f"{format_fraction(result.low)}–{format_fraction(result.high)}",
            _p(result.p),
            count(result.n),
        ]
        return [*names, *figures]
    return [*names, *_figures(result)]


def _figures(pair: CellComparison) -> list[Child]:
    counts = pair.mcnemar
    mid = counts.mid if counts else None
    only = f"{count(counts.first_only)} : {count(counts.second_only)}" if counts else "–"
    return [
        el("b", format_points(pair.paired)),
        "–" if pair.paired.all_equal else format_points_range(pair.paired),
        only,
        _p(mid) if mid is not None and not pair.too_few_questions else "–",
        _p(pair.adjusted) if pair.finding not in ("few", "guessing") else "–",
        count(pair.n),
        format_least_difference(pair.undetected_difference)
        if pair.undetected_difference is not None and not pair.too_few_questions
        else "–",
    ]


def _p(value: float) -> str:
    return p_value(value).removeprefix("= ")
