"""Charts of answers: accuracy before and after reordering, picks, recall, ROUGE and BLEU."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import format_fraction, format_interval
from evalui.report.analyses.open_answers.figures import RECALL, AnswerSummary, ranking_metric
from evalui.report.analyses.overview.narrative import (
    answers_at,
)
from evalui.report.charts.kinds import (
    Axis,
    Bar,
    Bars,
    Cells,
    Grid,
    HeatMap,
    Intervals,
    Label,
    Level,
    Mark,
    Series,
    coloured_and_grey,
    name_labels,
)
from evalui.report.charts.plotly import draw_plotly
from evalui.report.charts.theme import (
    COLOURS,
    MIN_QUESTIONS,
    NEUTRAL,
    series_styles,
)
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.position_bias.counts import PositionTable
from evalui.scoring.statistics.intervals import wilson_interval
from evalui.scoring.text_metrics import BLEUS, ROUGES
from evalui.types import LETTERS, Interval, Language

_FULL_COLOUR_SHARE = 0.75  # the share of picks with the full colour, so that charts compare
_OUTCOME_GAP = 0.25  # columns between the letters and what is no letter
_MIN_LEVEL_DISTANCE = 0.06  # between two lines whose words would touch
_MIN_LABEL_DISTANCE = 5  # points: nearer marks would print their numbers over each other
TEXT_FIGURES = (*(f"{rouge}-f" for rouge in ROUGES), *BLEUS)
_RECALLS = (RECALL, *(f"{rouge}-r" for rouge in ROUGES if f"{rouge}-r" != RECALL))
_TEXT_ROW = 18  # pixels of a model within a text figure
_SPREAD = 0.7  # of a text figure's row, over which its models are spread
_SMALL_MARK = 9  # pixels
_PICKS_ROW = 48  # pixels


def text_figures_chart(
    summaries: Sequence[AnswerSummary], language: Language, *, baselines: Collection[str] = ()
) -> go.Figure:
    """ROUGE and BLEU of each model's answers with ranges, from 0 to 1.

    Where recall leads, its rows come first, and the names of the others are not bold.
    """
    known = [summary for summary in summaries if summary.means]
    bold = _RECALLS if ranking_metric(summaries).figure == RECALL else TEXT_FIGURES
    names = tuple(dict.fromkeys((*bold, *TEXT_FIGURES)))
    # As in the arena, what could not run takes no colour.
    able = [summary.cell.model for summary in summaries if summary.state != "impossible"]
    styles = series_styles(able, baselines)
    tenths = range(0, 11, 2)
    chart = Intervals(
        rows=[Label(name) if name in bold else Label(plain=name) for name in names],
        series=[
            Series(
                styles[summary.cell.model],
                _text_marks(summary, names, _SPREAD * ((place + 0.5) / len(known) - 0.5)),
                summary.cell.model,
            )
            for place, summary in enumerate(known)
        ],
        axis=Axis(
            0,
            1,
            [tenth / 10 for tenth in tenths],
            [fixed(tenth / 10, 1) for tenth in tenths],
            localized("text-axis", language),
        ),
        row_height=max(44, 14 + _TEXT_ROW * len(known)),
        mark_size=_SMALL_MARK,
        legend=True,
    )
    return draw_plotly(chart)


# ---------------------------------------------------------------- accuracy


# ---------------------------------------------------------------- picks


def _slot_share(slot: int, share: Interval) -> str:
    return f"{LETTERS[slot]}: {format_value(share)} % ({format_range(share)})"


def picks_heat_map(
    table: PositionTable, language: Language, *, colour: str = COLOURS[0]
) -> HeatMap:
    """Gold position by picked position, each row as shares, and all picks against chance below.

    `colour` is the model's, for the picks above chance. Rows of few questions are grey. The
    keys of a cell are [gold slot, picked slot], or "unreadable" or "tied" for the latter.
    """
    size = table.n_options
    outcomes = {"unreadable": table.unreadable}
    if any(table.tied):
        outcomes["tied"] = table.tied
    heads = [localized(f"{name}-column", language) for name in outcomes]
    few = {gold for gold in range(size) if _questions(table, gold) < MIN_QUESTIONS}
    slots = range(size)
    left = size + _OUTCOME_GAP
    rest = list(zip(*outcomes.values(), strict=True))
    letters = _pick_cells(table, LETTERS[:size], slots, table.counts, language)
    beside = _pick_cells(table, heads, list(outcomes), rest, language)
    layers = [
        replace(letters, scale=scale, values=values, text=text)
        for scale, values, text in coloured_and_grey(letters.values, letters.text, few, "share")
    ]
    return HeatMap(
        rows=name_labels(LETTERS[:size]),
        columns=[*name_labels(LETTERS[:size]), *(Label(plain=head) for head in heads)],
        layers=[*layers, replace(beside, left=left)],
        row_height=_PICKS_ROW,
        row_title=localized("gold", language),
        column_title=localized("picked", language),
        places=[*slots, *(left + place for place in range(len(heads)))],
        diagonal=True,
        below=_pick_bars(table, language, colour),
    )


def _pick_cells(
    table: PositionTable,
    heads: Sequence[str],
    picked: Sequence[int | str],
    counts: Grid[int],
    language: Language,
) -> Cells:
    """Columns of picks under their heads, in grey: each row as shares of its answers."""
    sums = [max(1, answers_at(table, gold)) for gold in range(table.n_options)]
    shares = [[k / total for k in row] for row, total in zip(counts, sums, strict=True)]
    return Cells(
        values=shares,
        scale="grey",
        high=_FULL_COLOUR_SHARE,
        text=[[Label(plain=f"{100 * share:.0f} %") for share in row] for row in shares],
        hover=[
            [
                _pick_hover(table, gold, head, k, language)
                for head, k in zip(heads, row, strict=True)
            ]
            for gold, row in enumerate(counts)
        ],
        keys=[[(gold, pick) for pick in picked] for gold in range(table.n_options)],
    )


def _pick_bars(table: PositionTable, language: Language, colour: str) -> Bars:
    """How often each slot is picked, against chance."""
    bars = [
        Bar(
            x=slot,
            value=share.value,
            label=Label(f"{format_value(share)} %"),
            hover=_slot_share(slot, share),
            colour=colour if share.value > table.chance else NEUTRAL,
        )
        for slot, share in enumerate(table.shares)
        if share
    ]
    chance = localized("chance-line", language, value=percent(table.chance))
    text = f"{localized('all-picks', language)}\n{chance}"
    return Bars(
        bars,
        Axis(0, max([table.chance, *(bar.value for bar in bars)]), (), ()),
        levels=[Level(table.chance, text, x=table.n_options + _OUTCOME_GAP - 0.5)],
        width=0.6,
        opacity=1.0,
        foot=True,
    )


def _questions(table: PositionTable, gold: int) -> int:
    """How many questions a row rests on: with many orders each stands in it several times."""
    return min(answers_at(table, gold), table.n_questions)


def _pick_hover(table: PositionTable, gold: int, picked: str, k: int, language: Language) -> str:
    """A cell in words; its range takes the orders of a question for one."""
    n = answers_at(table, gold)
    if not n:
        return ""
    questions = _questions(table, gold)
    share = wilson_interval(k / n * questions, questions)
    return localized(
        "cell-told",
        language,
        gold=LETTERS[gold],
        picked=picked,
        k=count(k),
        n=count(n),
        value=format_value(share),
        span=format_range(share),
    )


# ---------------------------------------------------------------- written answers


def _text_marks(summary: AnswerSummary, names: Sequence[str], offset: float) -> list[Mark]:
    return [
        Mark(
            y=y + offset,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            hover=f"{summary.cell.model}, {name}: {format_fraction(mean.value)} "
            f"({format_interval(mean)}), n = {mean.n}",
        )
        for y, name in enumerate(names)
        for mean in (summary.means[name],)
    ]
