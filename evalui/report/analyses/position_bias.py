"""Position bias: does a model prefer a position, whatever is shown there?

From top to bottom: whose bias it is, the verdict, every test in words, the blocks of one cell, the
maps over all models, then the page of a cell and the part of a report. "No bias" is never stated,
and no p-value, for few questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.messages import Messages, add_messages, messages
from evalui.report.analyses.base import Analysis
from evalui.report.analyses.metrics import bias_state, moved_by_key
from evalui.report.analyses.verdict import with_question
from evalui.report.axes import share_axis, share_limit
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    ChartBlock,
    Column,
    Details,
    Heading,
    Headline,
    Link,
    Links,
    Markers,
    Paragraph,
    Places,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.figures import bias as charts
from evalui.report.figures.base import Draw, said
from evalui.report.figures.theme import NEUTRAL, series_style
from evalui.report.frames import choices
from evalui.report.frames.base import Row
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_column,
    p_value,
    percent,
)
from evalui.report.words import (
    group_name,
    in_words,
    join_names,
    join_sentences,
    names,
    of_real_models,
    too_few,
)
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import Consistency, PositionTable, RecallSpread, most_frequent
from evalui.scoring.bias.significance import StatisticalTest
from evalui.scoring.cautions import HIDDEN_BELOW, MIN_DRAWN
from evalui.scoring.cell_summary import GroupKind, Summary, labels_of
from evalui.scoring.choice.decisions import names_of_keys
from evalui.scoring.choice.options import variant_label, variants
from evalui.scoring.choice.trial_grid import strata
from evalui.scoring.statistics.tests import holm
from evalui.types import LETTERS, Cell, CellResult, Interval, Language, Sample

if TYPE_CHECKING:
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
ALL_SUBJECTS = "*"  # in place of a category: the subjects of all
_LEVEL = 0.05
_LISTED = 50  # questions; the rest is counted
_GRID, _BY_SUBJECT = "content-or-position", "by-subject"  # sections of the page


# ---------------------------------------------------------------- whose bias, and what is open


@dataclass(frozen=True, slots=True)
class BiasSubject:
    """Whose bias is shown: one cell of a run, and its questions with one number of options.

    `place` is that of its model in the run, from 0. `suffix` tells its files and sections from
    those of other cells in one document, "" if there are none.
    """

    summary: Summary
    bias: StratumBias
    place: int = 0
    baseline: bool = False
    suffix: str = ""

    @property
    def colour(self) -> str:
        """The colour of the model in charts."""
        return NEUTRAL if self.baseline else series_style(self.place).colour

    def rows(self, made: Iterable[Row]) -> list[Row]:
        """Those of a frame that are of its number of options."""
        return [row for row in made if row["options"] == self.bias.n_options]


@dataclass(frozen=True, slots=True)
class BiasLinks:
    """Where figures of the page lead; `chosen` are the parameters that name its cell."""

    places: Places
    chosen: Mapping[str, str]

    def samples(self, cell: Cell, **filters: str | int) -> str:
        """The address of questions of a cell."""
        return self.places.samples(cell, **{name: str(each) for name, each in filters.items()})

    def here(self, section: str, **more: str | int) -> str:
        """The address of this page with further parameters, opened at a section."""
        opened = {name: str(each) for name, each in more.items()}
        return f"{self.places.view('bias', **self.chosen, **opened)}#{section}"


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of the grid: how often the most frequent position and option came."""

    slots: int
    options: int


@dataclass(frozen=True, slots=True)
class BiasChoice:
    """What a reader opened on the page.

    `questions` are those of `grid_cell`; `group` is the category whose subjects are shown.
    """

    grid_cell: GridCell | None = None
    questions: tuple[Sample, ...] = ()
    group: str = ""


def grid_places(result: CellResult, n_options: int) -> Mapping[str, GridCell]:
    """The cell of the grid of each question with so many options; of none in one order only.

    As in the grid, a question counts if it was presented in every order, and no option names
    another or has its text.
    """
    made = strata(result.trials, result.cell.pattern)
    stratum = next(one for one in made if one.n_options == n_options)
    if stratum.n_orders < 2:
        return {}
    counts: Iterator[list[int]] = (each.tolist() for each in most_frequent(stratum))
    return dict(zip(stratum.ids.tolist(), map(cache(GridCell), *counts), strict=True))


def questions_in(
    samples: Mapping[str, Sample], places: Mapping[str, GridCell], grid_cell: GridCell
) -> tuple[Sample, ...]:
    """The questions of one cell of the grid, in file order."""
    return tuple(sample for sample in samples.values() if places.get(sample.id) == grid_cell)


# ---------------------------------------------------------------- the verdict


def verdict(model: str, bias: StratumBias, language: Language) -> Headline:
    """The verdict on one cell, and how it is known; a warning if most answers were unreadable."""
    t, table = messages(language), bias.position
    text = _verdict_text(model, bias, t)
    if sum(table.unreadable) > table.n_trials / 2:
        share = percent(round(1 - sum(table.unreadable) / table.n_trials, 2))
        return Headline(text, t("bias.support-unreadable", value=share), kind="warn")
    kind, word = bias_state(bias, language)
    # Of the other levels the verdict itself says that nothing is known.
    lead = t("sentence", said=word) if bias.level in ("red", "amber", "green") else ""
    support = _verdict_support(bias, t)
    if not moved_by_key(bias):
        return Headline(text, support, lead, kind)
    assert bias.keys, "what moves choices was tested"
    assert bias.consistency, "keys are tested in several orders"
    found = t(f"bias.keys-mover-{bias.keys.mover}")
    if bias.level in ("red", "amber"):
        return Headline(text, join_sentences(found, support), lead, kind)
    place, key = map(p_value, holm([bias.keys.place.test.p, bias.keys.key.test.p]))
    orders = bias.consistency.n_orders
    support = t("bias.support-keys", key=key, place=place, n=bias.n, orders=orders)
    return Headline(text, support, found, "warn")


def _verdict_text(model: str, bias: StratumBias, t: Messages) -> str:
    table = bias.position
    picks = table.slot_counts
    if not sum(picks):
        return t("bias.verdict-none", model=model)
    if bias.consistency is None:
        return t("bias.verdict-origin", model=model)
    if bias.level in ("green", "na"):
        return t(f"bias.verdict-{bias.level}", model=model)
    if bias.level == "mass":
        return t("bias.verdict-mass", model=model, value=percent(bias.mass or 0.0))
    if bias.level == "few":
        return t("bias.verdict-few", model=model, n=bias.n)
    best = max(picks)
    share = table.shares[picks.index(best)]
    if picks.count(best) > 1 or share is None:
        return t("bias.verdict-level", model=model)
    letter, fair = LETTERS[picks.index(best)], percent(table.chance)
    if best == sum(picks):
        return t("bias.verdict-one", model=model, letter=letter)
    value = format_value(share)
    return t("bias.verdict-picks", model=model, letter=letter, value=value, fair=fair)


def _verdict_support(bias: StratumBias, t: Messages) -> str:
    picks = bias.position.slot_counts
    if bias.consistency is None:
        return t("bias.support-origin", n=bias.n)
    if bias.level == "few" and picks.count(max(picks)) == 1:
        letter = LETTERS[picks.index(max(picks))]
        counted = t("bias.picks-count", letter=letter, k=max(picks), n=sum(picks))
        return t("sentence", said=counted)
    if bias.adjusted_p is None or bias.level in ("mass", "few"):
        return ""
    p, orders = p_value(bias.adjusted_p), bias.consistency.n_orders
    return t("bias.support-orders", p=p, n=bias.n, orders=orders)


# ---------------------------------------------------------------- what was picked and found


def picks_title(table: PositionTable, language: Language) -> str:
    """Which position the model picks most, beside what would be fair."""
    t, total = messages(language), sum(table.slot_counts)
    if total == 0:
        return t("bias.picks-none")
    best = max(table.slot_counts)
    if table.slot_counts.count(best) > 1:
        return t("bias.picks-tied")
    slot = table.slot_counts.index(best)
    share = table.shares[slot]
    assert share is not None, "what was picked has a share"
    if best == total:
        return t("bias.picks-only", letter=LETTERS[slot], n=total)
    fields = {"letter": LETTERS[slot], "value": format_value(share)}
    golds = [table.answers_at(gold) for gold in range(table.n_options)]
    if len(set(golds)) == 1:
        return t("bias.picks-most", **fields, fair=percent(table.chance))
    # In one order alone the right answers are not spread evenly: a knowing model picks unevenly.
    return t("bias.picks-uneven", **fields, gold=percent(golds[slot] / sum(golds)))


def picks_subtitle(table: PositionTable, language: Language) -> str:
    """How to read the heat map."""
    t, rows = messages(language), {table.answers_at(gold) for gold in range(table.n_options)}
    fair = percent(table.chance)
    if len(rows) == 1:
        return t("bias.confusion-about", n=rows.pop(), fair=fair)
    return t("bias.confusion-about-uneven", fair=fair)


def recall_title(table: PositionTable, language: Language) -> str:
    """In which positions recall is highest and lowest."""
    t, fields = messages(language), _recall_extremes(table, language)
    if fields is None:
        return t("bias.recall-none")
    values = [recall.value for recall in table.recalls if recall]
    if max(values) == min(values):
        return t("bias.recall-equal", value=fields["high"])
    return t("bias.recall-most", **fields)


def _recall_extremes(table: PositionTable, language: Language) -> dict[str, str] | None:
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


# ---------------------------------------------------------------- every test in words


@dataclass(frozen=True, slots=True)
class Finding:
    """One test in words: its question, its finding, its method, and its p-value ("" if none)."""

    rule: str
    question: str
    finding: str
    how: str
    p: str = ""


def findings(summary: Summary, bias: StratumBias, language: Language) -> tuple[Finding, ...]:
    """All tests of the questions with one number of options, in the order of interest."""
    t = messages(language)
    told: Mapping[str, _Told | None] = {
        "picks": _picks_tested(bias, t),
        "recalls": _recalls_tested(bias, t),
        "spread": _spread(bias, t),
        "follow": _follow(bias, t),
        "plurality": _plurality(bias, t),
        "averaged": _averaged(bias, t),
        "voted": _voted(bias, t),
        "pride": _pride(bias, t),
        "clusters": _clusters(summary, t),
        "left-out": _left_out(bias, t),
    }
    return tuple(Finding(rule, t(f"bias.ask-{rule}"), *each) for rule, each in told.items() if each)


_Told = tuple[str, str] | tuple[str, str, str]  # a finding, how it was made, its p-value


def _picks_tested(bias: StratumBias, t: Messages) -> _Told | None:
    permuted, adjusted = bias.tests.permutation, bias.adjusted_p
    if permuted is None or adjusted is None:
        return None
    how, p = t("bias.how-permuted", draws=permuted.draws), p_column(adjusted)
    if bias.level == "mass":
        return _too_little_mass(bias, t), how
    if bias.level == "few":
        return t("bias.tell-few"), how, "" if bias.n < HIDDEN_BELOW else p
    if adjusted >= _LEVEL:
        return t("bias.picks-no"), how, p
    picks = bias.position.slot_counts
    if picks.count(max(picks)) > 1:
        return t("bias.picks-yes-level"), how, p
    more = fixed(100 * (max(picks) / sum(picks) - bias.position.chance), 0)
    return t("bias.picks-yes", letter=LETTERS[picks.index(max(picks))], more=more), how, p


def _too_little_mass(bias: StratumBias, t: Messages) -> str:
    return t("sentence", said=t("bias.mass-little", value=percent(bias.mass or 0.0)))


def _recalls_tested(bias: StratumBias, t: Messages) -> _Told | None:
    tested, extremes = bias.tests.cochran_q, _recall_extremes(bias.position, t.language)
    if tested is None or extremes is None:
        return None
    how = t("bias.how-cochran", q=fixed(tested.statistic, 1), df=bias.n_options - 1)
    if bias.level == "mass":
        return _too_little_mass(bias, t), how
    if bias.n < HIDDEN_BELOW:
        return t("bias.tell-few"), how
    if extremes["best"] == extremes["worst"]:
        return t("bias.recalls-same", value=extremes["high"]), how, p_column(tested.p)
    key = "bias.recalls-no" if tested.p < _LEVEL else "bias.recalls-unseen"
    return t(key, **extremes), how, p_column(tested.p)


def _spread(bias: StratumBias, t: Messages) -> _Told | None:
    rstd, permuted, ranged = bias.spread.rstd, bias.tests.permutation, bias.spread_range
    if rstd is None:
        return None
    ckld = ckld_text(bias.spread, t)
    if permuted is None or permuted.mean_rstd is None or permuted.rstd_95 is None:
        alone = t("bias.spread-alone", rstd=fixed(rstd, 1))
        return alone, t("bias.how-spread-alone", ckld=ckld)
    text = t(
        "bias.spread-floor",
        rstd=fixed(rstd, 1),
        floor=fixed(permuted.mean_rstd, 1),
        floor95=fixed(permuted.rstd_95, 1),
    )
    span = "–".join(fixed(end, 1) for end in ranged.rstd) if ranged else NONE
    return text, t("bias.how-spread", span=span, draws=permuted.draws, ckld=ckld)


def ckld_text(spread: RecallSpread, t: Messages) -> str:
    """CKLD, stated to be infinite where a slot is never chosen, with its smoothed value."""
    if spread.ckld is None:
        return NONE
    if math.isfinite(spread.ckld):
        return fixed(spread.ckld, 3)
    never = [LETTERS[slot] for slot in spread.never_chosen]
    smoothed = NONE if spread.ckld_smoothed is None else fixed(spread.ckld_smoothed, 3)
    letters = "、".join(never) if t.language == "zh" else ", ".join(never)
    return t("bias.ckld-infinite", letters=letters, smoothed=smoothed)


def _follow(bias: StratumBias, t: Messages) -> _Told | None:
    steady = bias.consistency
    if steady is None:
        return None
    how = t(
        "bias.how-follow",
        content=percent(steady.content.pairs),
        content_kappa=_kappa(steady.content.kappa),
        position=percent(steady.position.pairs),
        position_kappa=_kappa(steady.position.kappa),
        chance=percent(1 / bias.n_options),
    )
    return t("bias.follow", k=locked_questions(steady), n=steady.n), how


def _kappa(value: float) -> str:
    """A kappa with two decimals and a true minus sign: ".42", "−.05"."""
    return fixed(value, 2).replace("-", "−").replace("0.", ".")


def locked_questions(consistency: Consistency) -> int:
    """How many questions kept a position in more orders than an option."""
    return sum(
        number
        for slots, row in enumerate(consistency.grid)
        for options, number in enumerate(row)
        if slots > options
    )


def _plurality(bias: StratumBias, t: Messages) -> _Told | None:
    steady = bias.consistency
    if steady is None:
        return None
    value, chance = percent(steady.content.plurality), percent(steady.chance)
    how = t("bias.how-plurality", n=steady.n, orders=steady.n_orders)
    return t("bias.plurality", value=value, chance=chance), how


def _averaged(bias: StratumBias, t: Messages) -> _Told | None:
    prior, steady = bias.prior, bias.consistency
    if steady is None or prior is None:
        return None
    average, plain = prior.averaged_accuracy, format_value(prior.plain_accuracy)
    fields = {"value": format_value(average), "span": format_range(average), "plain": plain}
    return t("bias.averaged", **fields), t("bias.how-averaged", orders=steady.n_orders)


def _voted(bias: StratumBias, t: Messages) -> _Told | None:
    steady = bias.consistency
    if steady is None:
        return None
    plain = percent(steady.original_order.value) if steady.original_order else NONE
    text = t("bias.voted", value=percent(steady.majority_accuracy), plain=plain)
    return text, t("bias.how-voted", orders=steady.n_orders)


def _pride(bias: StratumBias, t: Messages) -> _Told | None:
    prior = bias.prior
    if prior is None:
        return None
    shares = [f"{slot} {percent(share)}" for slot, share in zip(LETTERS, prior.prior, strict=False)]
    how = t("bias.how-pride", prior=" ".join(shares))
    after, before = format_value(prior.debiased_accuracy), format_value(prior.plain_accuracy)
    if prior.rstd_plain is None or prior.rstd_debiased is None:
        return t("bias.pride-alone", after=after, before=before), how
    text = t(
        "bias.pride",
        after=after,
        before=before,
        spread_before=fixed(prior.rstd_plain, 1),
        spread_after=fixed(prior.rstd_debiased, 1),
    )
    return text, how


def _clusters(summary: Summary, t: Messages) -> _Told | None:
    of = summary.mean_over_orders
    if of is None or of.se is None or of.design_effect is None:
        return None
    how = t("bias.how-clusters", deff=fixed(of.design_effect, 2), se=fixed(100 * of.se, 1))
    return t("bias.clusters", trials=of.n_trials, effective=round(of.n_effective)), how


def _left_out(bias: StratumBias, t: Messages) -> _Told:
    table = bias.position
    k, ties = sum(table.unreadable), sum(table.tied)
    key = "bias.left-out" if k or ties else "bias.left-out-none"
    return t(key, k=k, ties=ties, n=table.n_trials), t("bias.how-left-out")


# ---------------------------------------------------------------- blocks of one cell


def _positions(subject: BiasSubject, t: Messages, links: BiasLinks | None) -> Card:
    """How often each position is picked, and the right answer found there: chart and table."""
    bias, table = subject.bias, subject.bias.position
    axis = share_axis(share_limit([share.high for share in table.shares if share]))
    rule = (100 * table.chance, t("bias.fair-mark", value=percent(table.chance)))
    soft = bias.prior.soft_recalls if bias.prior else ()
    columns = [
        Column(t("bias.position"), width=96),
        Column(t("bias.share"), axis=axis, rule=rule),
        Column(t("bias.share"), lead=True, width=160),
        Column(t("bias.recall"), width=176),
    ]
    if soft:
        columns.append(Column(t("bias.soft-head"), width=176))
    rows: list[tuple[TableCell, ...]] = []
    for slot, letter in enumerate(LETTERS[: bias.n_options]):
        share, recall = table.shares[slot], table.recalls[slot]
        href = links.samples(subject.summary.cell, picked=slot) if links else ""
        cells: list[TableCell] = [
            TextCell(letter, strong=True, href=href),
            _plot(subject, share, letter),
            ValueCell(format_value(share), "%", format_range(share), size="lead")
            if share
            else NONE,
            ValueCell(format_value(recall), "%", format_range(recall), size="large")
            if recall
            else NONE,
        ]
        if soft:
            value = soft[slot]
            cells.append(
                NONE if value is None else ValueCell(fixed(100 * value, 1), "%", size="large")
            )
        rows.append(tuple(cells))
    lead = Table(tuple(columns), tuple(rows), lead=True)
    return Card((lead,), _positions_title(bias, t), t("bias.positions-about", n=table.n_trials))


def _positions_title(bias: StratumBias, t: Messages) -> str:
    """Where right answers are found, if that differs by more than chance; else what is shown."""
    tested = bias.tests.cochran_q
    if tested is None or tested.p >= _LEVEL or bias.n < HIDDEN_BELOW or bias.level == "mass":
        return t("bias.positions-title")
    return recall_title(bias.position, t.language)


def _plot(subject: BiasSubject, share: Interval | None, letter: str) -> TableCell:
    if share is None:
        return NONE
    mark = PlotMark(100 * share.value, 100 * share.low, 100 * share.high)
    text = f"{letter}: {format_value(share)} % ({format_range(share)})"
    return PlotCell((mark,), subject.place, subject.baseline, text)


def _answers(subject: BiasSubject, t: Messages, links: BiasLinks | None) -> Iterator[Details]:
    """The heat map of right and picked positions; each cell leads to its questions."""

    import pandas as pd

    bias, table = subject.bias, subject.bias.position
    if bias.n < MIN_DRAWN:
        return

    def leads_to(row: Row) -> str:
        if links is None or not row["trials"]:
            return ""
        picked = row["picked"]
        other = {"picked": LETTERS.index(picked)} if picked in LETTERS else {"outcome": picked}
        return links.samples(subject.summary.cell, gold=LETTERS.index(row["gold"]), **other)

    def drawn() -> go.Figure:
        squares = subject.rows(choices.confusion([subject.summary]))
        if links:
            squares = [row | {"href": leads_to(row)} for row in squares]
        slots = subject.rows(choices.positions([subject.summary]))
        made = {
            "confusion": pd.DataFrame(squares, dtype=object),
            "positions": pd.DataFrame(slots, dtype=object),
        }
        rows = charts.answered(made.__getitem__)
        return charts.answers(rows, t, colour=subject.colour)

    title = picks_title(table, t.language)
    if bias.level == "mass":
        title = t("bias.mass-little", value=percent(bias.mass or 0.0))
    about = picks_subtitle(table, t.language)
    if links and table.n_trials:
        about = join_sentences(about, t("bias.cells-lead"))
    yield Details(
        f"by-answer{subject.suffix}",
        t("bias.by-answer"),
        _wrong_picks(bias, t),
        (ChartBlock(f"positions{subject.suffix}.png", title, drawn, about),),
        open=links is not None,
    )


def _wrong_picks(bias: StratumBias, t: Messages) -> str:
    """Where picks went while the right answer stood elsewhere."""
    picks = [
        sum(row[slot] for gold, row in enumerate(bias.position.counts) if gold != slot)
        for slot in range(bias.n_options)
    ]
    total, most = sum(picks), max(picks, default=0)
    if not total:
        return t("bias.wrong-none")
    if picks.count(most) > 1:
        return t("bias.wrong-level", n=total)
    return t("bias.wrong-picks", letter=LETTERS[picks.index(most)], k=most, n=total)


def _consistency(
    subject: BiasSubject, t: Messages, links: BiasLinks, choice: BiasChoice
) -> Iterator[Details]:
    """The grid of steady positions and options, with the questions of the cell that is open."""

    import pandas as pd

    steady = subject.bias.consistency
    if steady is None or steady.n < MIN_DRAWN:
        return

    def drawn() -> go.Figure:
        rows = subject.rows(choices.consistency([subject.summary]))
        for row in rows:
            where = {"slots": row["same_position"], "options": row["same_option"]}
            row["href"] = links.here(_GRID, **where) if row["questions"] else ""
        return charts.consistency(pd.DataFrame(rows, dtype=object), t)

    about = t("bias.steady-about", n=steady.n, orders=steady.n_orders)
    title = t("bias.steady-title")
    chart = ChartBlock(
        "agreement.png", "", drawn, join_sentences(about, t("bias.cells-lead")), alt=title
    )
    listed = tuple(_listed(subject, t, links, choice))
    finding = t("bias.follow", k=locked_questions(steady), n=steady.n)
    yield Details(_GRID, title, finding, (chart, *listed), open=bool(listed))


def _listed(
    subject: BiasSubject, t: Messages, links: BiasLinks, choice: BiasChoice
) -> Iterator[Block]:
    """The questions of the grid's open cell as links."""
    opened, cell = choice.grid_cell, subject.summary.cell
    if opened is None:
        return
    where = {"slots": opened.slots, "options": opened.options}
    yield Paragraph(t("bias.listed", **where), strong=True)
    if not choice.questions:
        yield Paragraph(t("bias.listed-none"))
    rows = [
        (
            TextCell(each.id, href=links.samples(cell, q=each.id)),
            in_words(each.question, t.language),
        )
        for each in choice.questions[:_LISTED]
    ]
    if rows:
        yield text_table([t("preview.id"), t("preview.question")], rows)
    if (more := len(choice.questions) - len(rows)) > 0:
        yield Paragraph(t("bias.listed-more", n=more), small=True)
    yield Links((Link(t("bias.close"), links.here(_GRID)),))


def _flips(subject: BiasSubject, t: Messages) -> Iterator[Details]:
    """How often another order changes the chosen option, for each pair of orders."""
    steady = subject.bias.consistency
    if steady is None or steady.flips.share is None or steady.n < MIN_DRAWN:
        return
    orders = variants(subject.bias.n_options, subject.summary.cell.pattern)
    rows = [
        (
            variant_label(orders[each.first]),
            variant_label(orders[each.second]),
            ValueCell(format_value(each.share), "%", format_range(each.share)),
            count(each.share.n),
        )
        for each in steady.flips.pairs
        if each.share
    ]
    share = steady.flips.share
    finding = t("bias.flips", value=format_value(share), span=format_range(share))
    heads = [t(f"bias.flips-{head}") for head in ("first", "second", "changed", "n")]
    columns = tuple(Column(head, right=place > 1) for place, head in enumerate(heads))
    about = Paragraph(t("bias.flips-about"), small=True)
    yield Details(
        f"flips{subject.suffix}",
        t("bias.flips-name"),
        finding,
        (Table(columns, tuple(rows)), about),
    )


def _key_or_place(subject: BiasSubject, t: Messages) -> Iterator[Details]:
    """Which of the two moves a choice, where keys were dealt: each with its most picked slot."""
    keys, n = subject.bias.keys, subject.bias.n
    if keys is None:
        return
    finding = "few" if n < HIDDEN_BELOW else f"mover-{keys.mover}"
    labels = labels_of(subject.summary.cell)
    numbers = [str(slot + 1) for slot in range(subject.bias.n_options)]
    sides = {"place": (keys.place, numbers), "key": (keys.key, names_of_keys(labels))}
    adjusted = holm([side.test.p for side, _ in sides.values()])
    rows = [
        (
            TextCell(t(f"bias.keys-{name}"), strong=True),
            _most_picked(side.table, named, t),
            NONE if side.spread.rstd is None else fixed(side.spread.rstd, 1),
            NONE if side.test.rstd_95 is None else fixed(side.test.rstd_95, 1),
            NONE if n < HIDDEN_BELOW else p_column(p),
        )
        for (name, (side, named)), p in zip(sides.items(), adjusted, strict=True)
    ]
    heads = [t(f"bias.keys-{head}") for head in ("by", "most", "rstd", "floor", "p")]
    columns = tuple(Column(head, right=place > 1) for place, head in enumerate(heads))
    about = Paragraph(t("bias.keys-about"), small=True)
    yield Details(
        f"key-or-place{subject.suffix}",
        t("bias.keys-name"),
        t(f"bias.keys-{finding}"),
        (Table(columns, tuple(rows)), about),
    )


def _most_picked(table: PositionTable, named: Sequence[str], t: Messages) -> TableCell:
    """The slot that is picked most, with its share; nothing where several are."""
    best = max(table.slot_counts, default=0)
    slot = table.slot_counts.index(best)
    share = table.shares[slot]
    if share is None or table.slot_counts.count(best) > 1:
        return NONE
    fair = t("bias.fair-mark", value=percent(table.chance))
    return ValueCell(f"{named[slot]}: {format_value(share)}", "%", format_range(share), fair)


def _tests(subject: BiasSubject, t: Messages) -> Details:
    """Every test in words, with how it was made and its p-value."""
    made = findings(subject.summary, subject.bias, t.language)
    rows = [(each.question, TextCell(each.finding, each.how), each.p or NONE) for each in made]
    question, finding, p = (t(f"bias.test-head-{name}") for name in ("question", "finding", "p"))
    columns = (Column(question), Column(finding), Column(p, right=True))
    return Details(
        f"tests{subject.suffix}",
        t("bias.tests-name", n=len(made)),
        _tests_finding(subject.bias, t),
        (Table(columns, tuple(rows)),),
    )


def _tests_finding(bias: StratumBias, t: Messages) -> str:
    """What the test of picks finds, in one short sentence."""
    p = bias.adjusted_p
    if p is None or bias.level == "mass":
        return t("bias.tests-not")
    if bias.level == "few":
        return t("bias.tell-few")
    return t("bias.tests-yes" if p < _LEVEL else "bias.tests-no", p=p_value(p))


def _figures(subject: BiasSubject, t: Messages) -> Details:
    """The figures that no sentence states, for readers who know them by name."""
    bias, rstd = subject.bias, subject.bias.spread.rstd
    steady, plain, permuted = bias.consistency, bias.original_floor, bias.tests.permutation
    gap = steady.sensitivity_gap if steady else None

    def points(value: float | None) -> str:
        return NONE if value is None else t("bias.points", value=fixed(value, 1))

    def number(value: float | None) -> str:
        return NONE if value is None else fixed(value, 3)

    def floor(mean: float | None, upper: float | None) -> str:
        if mean is None or upper is None:
            return NONE
        return t("bias.floor-of", mean=fixed(mean, 1), upper=fixed(upper, 1))

    def tested(of: StatisticalTest | None) -> str:
        if bias.n < HIDDEN_BELOW:
            return t("statistics.few")
        if of is None:
            return t("bias.untested")
        return f"{fixed(of.statistic, 1)} · {t('bias.p', p=p_value(of.p))}"

    values = {
        "rstd": points(rstd),
        "floor": floor(permuted.mean_rstd, permuted.rstd_95) if permuted else NONE,
        "rsd": number(bias.spread.rsd),
        "ckld": ckld_text(bias.spread, t),
        "original": points(plain.rstd if plain else None),
        "original-floor": floor(plain.mean, plain.percentile_95) if plain else NONE,
        "sensitivity": f"{format_value(gap)} % ({format_range(gap)})" if gap else NONE,
        "soft-ece": number(bias.ece),
        "cochran": tested(bias.tests.cochran_q),
        "wald": tested(bias.tests.wald),
    }
    rows = tuple((t(f"bias.figure-{name}"), value) for name, value in values.items())
    name, value = (t(f"figure-head-{head}") for head in ("name", "value"))
    return Details(
        "figures",
        t("every.name"),
        t("bias.recall-none") if rstd is None else t("bias.spread-alone", rstd=fixed(rstd, 1)),
        (
            Paragraph(t("bias.figures-about"), small=True),
            Table((Column(name), Column(value, right=True)), rows),
        ),
    )


# ---------------------------------------------------------------- maps over all models


def model_maps(
    subject: BiasSubject,
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    links: BiasLinks | None = None,
    group: str = "",
) -> list[Details]:
    """What each position draws from every model, and where the order of options matters.

    Of the cells among `summaries` with the dataset and mode of `subject` that show a preference for
    positions at all: in one order alone an uneven spread of right answers looks the same.
    `baselines` are scripted models, which are spoken of only where there is nothing else. `group`
    is the category whose subjects are shown, or ALL_SUBJECTS.
    """
    own, t = subject.summary.cell, messages(language)
    cells = [
        summary
        for summary in summaries
        if (summary.cell.dataset, summary.cell.label) == (own.dataset, own.label)
        and summary.cell.pattern != "origin"
    ]
    made = (
        _priors(subject, cells, t, baselines, links),
        _gaps(subject, cells, t, baselines, links, group),
    )
    return [section for section in made if section]


def _named(
    rows: Iterable[Row],
    cells: Sequence[Summary],
    t: Messages,
    href: Callable[[Cell, Row], str] | None,
) -> list[Row]:
    """The rows with the `name` of their cells among these, and with where they lead."""
    called = names(cells, t.language)
    by_key = {(cell.dataset, cell.model, cell.label): cell for cell in called}
    named: list[Row] = []
    for row in rows:
        cell = by_key[row["dataset"], row["model"], row["mode"]]
        own = {"name": " · ".join(filter(None, called[cell]))}
        named.append(row | own | ({"href": href(cell, row)} if href else {}))
    return named


def _drawn(draw: Draw, rows: Sequence[Row], t: Messages) -> go.Figure:
    """The figure, made when it is wanted."""

    import pandas as pd

    return draw(pd.DataFrame(rows, dtype=object), t)


def _most(
    rows: Sequence[Row],
    name: str,
    say: Callable[[Row], str],
    baselines: Collection[str],
    t: Messages,
) -> str:
    """What is said of the row with the highest value; of scripted models only without others."""

    def of_highest(rows: Sequence[Row]) -> str:
        return say(max(rows, key=lambda row: row[name]))

    return of_real_models(rows, lambda row: row["model"] in baselines, of_highest, t.language)


def _priors(
    subject: BiasSubject,
    cells: Sequence[Summary],
    t: Messages,
    baselines: Collection[str],
    links: BiasLinks | None,
) -> Details | None:
    """The map of priors; of one model the table of positions says the same."""
    n_options = subject.bias.n_options

    def leads_to(cell: Cell, row: Row) -> str:
        return links.samples(cell, picked=LETTERS.index(row["slot"])) if links else ""

    known = (
        row
        for row in subject.rows(choices.priors(cells))
        if row["light"] != "mass" and row["n"] >= MIN_DRAWN
    )
    rows = _named(known, cells, t, leads_to if links else None)
    if len({row["name"] for row in rows}) < 2:
        return None

    def say(row: Row) -> str:
        value = said(row, "share")["value"]
        return t("bias.prior-most", name=row["name"], letter=row["slot"], value=value)

    origins = [*dict.fromkeys(row["origin"] for row in rows)]
    kind = "prior-mixed" if len(origins) > 1 else origins[0]
    about = t(f"bias.{kind}-about", rest=t("bias.prior-rest", fair=percent(1 / n_options)))
    file = f"priors{subject.suffix}.png"
    chart = partial(_drawn, charts.priors, rows, t)
    blocks: list[Block] = [ChartBlock(file, t("bias.prior-title"), chart, about)]
    # Their letters hold too little probability.
    biases = {summary.cell.model: summary.bias_of(n_options) for summary in cells}
    if muted := [model for model, bias in biases.items() if bias and bias.level == "mass"]:
        models = join_names(muted, t.language)
        blocks.append(Paragraph(t("bias.prior-muted", models=models), small=True))
    finding = _most(rows, "share", say, baselines, t)
    return Details(f"all-models{subject.suffix}", t("bias.all-models"), finding, tuple(blocks))


def _gaps(
    subject: BiasSubject,
    cells: Sequence[Summary],
    t: Messages,
    baselines: Collection[str],
    links: BiasLinks | None,
    group: str,
) -> Details | None:
    """The map of gaps: categories where there are any, else or on demand subjects."""
    cells = [summary for summary in cells if summary.groups and summary.order_sensitivity]
    groups = {(one.kind, one.name): one for summary in cells for one in summary.groups}
    known = [row for row in choices.groups(cells) if row["order_sensitivity"] is not None]
    categories = {row["group"] for row in known if row["kind"] == "category"}
    kind: GroupKind = "category" if categories and not group else "subject"

    def title(name: str, kind: GroupKind) -> str:
        return group_name(groups[kind, name], t.language)

    def leads_to(cell: Cell, row: Row) -> str:
        if links is None:
            return ""
        if kind == "category":
            return links.here(_BY_SUBJECT, gap_of=row["group"])
        return links.samples(cell, subject=row["group"], outcome="order_sensitive")

    of_kind = ({**row, "title": title(row["group"], kind)} for row in known if row["kind"] == kind)
    rows = _named(of_kind, cells, t, leads_to if links else None)
    if group in categories:
        members = {
            subject
            for summary in cells
            for one in summary.groups
            if (one.kind, one.name) == ("category", group)
            for subject in one.subjects
        }
        rows = [row for row in rows if row["group"] in members] or rows
    largest: dict[str, int] = {}
    for row in rows:
        n = row["order_sensitivity_n"]
        largest[row["group"]] = max(n, largest.get(row["group"], 0))
    small = {name for name, n in largest.items() if n < MIN_DRAWN}
    rows = [row for row in rows if row["group"] not in small]
    if not rows:
        return None
    columns, lines = charts.gap_lines(rows)
    ordered = [row for line in lines.values() for row in line if row]
    enough = [row for row in ordered if charts.has_enough(row)]
    blocks: list[Block] = []
    if group in categories:
        blocks.append(Paragraph(t("bias.subjects-of", name=title(group, "category")), strong=True))
    if enough:
        chart = partial(_drawn, charts.gaps, rows, t)
        file = f"gaps{subject.suffix}.png"
        blocks.append(ChartBlock(file, t("bias.gap-title"), chart, t("bias.gap-about")))
    else:
        blocks += [Paragraph(t("bias.all-few")), _gap_table(columns, lines, t)]
    if small:
        blocks.append(Paragraph(too_few(len(small), t.language), small=True))
    if links and categories:
        other, word = ("", "back") if group else (ALL_SUBJECTS, "all-subjects")
        blocks.append(Links((Link(t(f"bias.{word}"), links.here(_BY_SUBJECT, gap_of=other)),)))

    def say(row: Row) -> str:
        if not row["order_sensitivity"]:
            return t("bias.gap-nothing")
        value = said(row, "order_sensitivity")["value"]
        return t("bias.gap-most", name=row["title"], model=row["name"], value=value)

    return Details(
        _BY_SUBJECT + subject.suffix,
        t(f"bias.gap-by-{kind}"),
        _most(enough, "order_sensitivity", say, baselines, t) if enough else t("bias.gap-few"),
        tuple(blocks),
        open=bool(group),
    )


def _gap_table(
    columns: Sequence[str], lines: Mapping[str, Sequence[Row | None]], t: Messages
) -> Table:
    """The gaps of groups that would all be grey, as figures."""

    def cell(row: Row | None) -> TableCell:
        if row is None:
            return NONE
        text = "{value} ({span})".format(**said(row, "order_sensitivity"))
        return TextCell(text, href=row.get("href", ""))

    body = [
        (
            title,
            *map(cell, line),
            count(max(row["order_sensitivity_n"] for row in line if row)),
        )
        for title, line in lines.items()
    ]
    return text_table([t("bias.group"), *columns, "n"], body)


# ---------------------------------------------------------------- the page, and a report's part


def bias_page(
    subject: BiasSubject,
    language: Language,
    links: BiasLinks,
    *,
    choice: BiasChoice,
    maps: Sequence[Details] = (),
) -> list[Block]:
    """The page of one cell: the verdict first, its signature last, `maps` before the tests."""
    t = messages(language)
    signature = subject.summary.cell.signature.replace("|", " · ")
    return [
        verdict(subject.summary.cell.model, subject.bias, language),
        _positions(subject, t, links),
        *_answers(subject, t, links),
        *_consistency(subject, t, links, choice),
        *_flips(subject, t),
        *_key_or_place(subject, t),
        *maps,
        _tests(subject, t),
        _figures(subject, t),
        Bullets((signature,), signatures=True),
    ]


def bias_document(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str] = ()
) -> Iterator[Block]:
    """A heading, each cell that showed its options, then the maps over all models.

    The maps stand once for each dataset, mode and number of options. Nothing without any cell.
    """
    t, shown = messages(language), with_question(summaries)
    subjects = list(_subjects(summaries, baselines))
    called = names(summaries, language)
    if subjects:
        yield Heading(2, t("bias.head"))
    for subject in subjects:
        cell = subject.summary.cell
        several = len(subject.summary.bias.strata) > 1 if subject.summary.bias else False
        options = t("file.options", n=subject.bias.n_options) if several else ""
        yield Heading(3, " · ".join(filter(None, (*called[cell], options))))
        headline = verdict(cell.model, subject.bias, language)
        yield Paragraph(headline.text, strong=True)
        yield Paragraph(join_sentences(headline.lead, headline.support))
        yield _positions(subject, t, None)
        yield from _answers(subject, t, None)
        yield from _flips(subject, t)
        yield from _key_or_place(subject, t)
        yield _tests(subject, t)
    firsts: dict[tuple[str, str, int], BiasSubject] = {}
    for subject in subjects:
        cell = subject.summary.cell
        firsts.setdefault((cell.dataset, cell.label, subject.bias.n_options), subject)
    for subject in firsts.values():
        yield from model_maps(subject, shown, language, baselines=baselines)


def _subjects(summaries: Sequence[Summary], baselines: Collection[str]) -> Iterator[BiasSubject]:
    markers = Markers(tuple(dict.fromkeys(s.cell.model for s in summaries)), baselines)
    for number, summary in enumerate(with_question(summaries), start=1):
        model, sizes = summary.cell.model, summary.bias.strata if summary.bias else ()
        for bias in sizes:
            suffix = f"-{number}" + (f"-{bias.n_options}" if len(sizes) > 1 else "")
            yield BiasSubject(summary, bias, markers.place(model), model in baselines, suffix)


POSITION_BIAS = Analysis(
    lambda report: bool(report.summaries),
    lambda report, language: bias_document(report.summaries, language, baselines=report.baselines),
)
