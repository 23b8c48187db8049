"""Position bias as blocks: the verdict, chart and table of the positions, and what lies behind.

A report has `bias_blocks` of every cell; the page of one cell is `bias_page`, whose figures lead to
their questions, with the grid of steady answers and the lesser figures.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalui.messages import localized
from evalui.report.analyses.position_bias.figures import GridCell, wrong_picks
from evalui.report.analyses.position_bias.findings import (
    ckld_text,
    findings,
    locked_questions,
    picks_subtitle,
    picks_text,
    recall_text,
    tests_sentence,
)
from evalui.report.analyses.position_bias.verdict import verdict
from evalui.report.axes import share_axis, share_limit
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    ChartBlock,
    Column,
    Details,
    Link,
    Links,
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
from evalui.report.charts.answers import picks_heat_map
from evalui.report.charts.bias import agreement_map
from evalui.report.charts.theme import NEUTRAL, series_style
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_value,
    percent,
)
from evalui.report.words import join_sentences
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.significance import StatisticalTest
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Summary
from evalui.types import LETTERS, Cell, Interval, Language, Sample

_LEVEL = 0.05
_LISTED = 50  # questions; the rest is counted


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
class BiasChoice:
    """What a reader opened on the page.

    `questions` are those of `grid_cell`; `group` is the category whose subjects are shown.
    """

    grid_cell: GridCell | None = None
    questions: tuple[Sample, ...] = ()
    group: str = ""


def bias_blocks(subject: BiasSubject, language: Language) -> list[Block]:
    """What a file has of each cell: chart and table of the positions, the picks, the tests."""
    return [
        _positions(subject, language, None),
        _picks(subject, language, None),
        _tests(subject, language),
    ]


def bias_page(
    subject: BiasSubject,
    language: Language,
    links: BiasLinks,
    *,
    choice: BiasChoice,
    maps: Sequence[Details] = (),
) -> list[Block]:
    """The page of one cell: the verdict first, its signature last, `maps` before the tests."""
    signature = subject.summary.cell.signature.replace("|", " · ")
    return [
        verdict(subject.summary.cell.model, subject.bias, language),
        _positions(subject, language, links),
        _picks(subject, language, links),
        *_agreement(subject, language, links, choice),
        *maps,
        _tests(subject, language),
        _figures(subject, language),
        Bullets((signature,), signatures=True),
    ]


# ---------------------------------------------------------------- positions


def _positions(subject: BiasSubject, language: Language, links: BiasLinks | None) -> Card:
    """How often each position is picked, and the right answer found there: chart and table."""
    bias = subject.bias
    table, fair = bias.position, percent(bias.position.chance)
    axis = share_axis(share_limit([share.high for share in table.shares if share]))
    rule = (100 * table.chance, localized("fair-mark", language, value=fair))
    soft = bias.prior.soft_recalls if bias.prior else ()
    columns = [
        Column(localized("bias.position", language), width=96),
        Column(localized("bias.share", language), axis=axis, rule=rule),
        Column(localized("bias.share", language), lead=True, width=160),
        Column(localized("bias.recall", language), width=176),
    ]
    if soft:
        columns.append(Column(localized("soft-head", language), width=176))
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
    caption = localized("positions-about", language, n=count(table.n_trials))
    lead = Table(tuple(columns), tuple(rows), lead=True)
    return Card((lead,), _positions_title(bias, language), caption)


def _positions_title(bias: StratumBias, language: Language) -> str:
    """Where right answers are found, if that differs by more than chance; else what is shown."""
    tested = bias.tests.cochran_q
    if tested is None or tested.p >= _LEVEL or bias.n < HIDDEN_BELOW or bias.level == "mass":
        return localized("positions-title", language)
    return recall_text(bias, language)


def _plot(subject: BiasSubject, share: Interval | None, letter: str) -> TableCell:
    if share is None:
        return NONE
    mark = PlotMark(100 * share.value, 100 * share.low, 100 * share.high)
    text = f"{letter}: {format_value(share)} % ({format_range(share)})"
    return PlotCell((mark,), subject.place, subject.baseline, text)


# ---------------------------------------------------------------- picks by the right answer


def _picks(subject: BiasSubject, language: Language, links: BiasLinks | None) -> Details:
    """The heat map of right and picked positions; each cell leads to its questions."""
    table, cell = subject.bias.position, subject.summary.cell
    leads: dict[str, str] = {}
    picks = picks_heat_map(table, language, colour=subject.colour)
    if links:
        picks = replace(picks, key=localized("picks-key", language))
        for gold, counts in enumerate(table.counts):
            for picked, number in enumerate(counts):
                if number:
                    address = links.samples(cell, gold=gold, picked=picked)
                    leads[f"{gold},{picked}"] = address
            others = {"unreadable": table.unreadable[gold], "tied": table.tied[gold]}
            for outcome, number in others.items():
                if number:
                    address = links.samples(cell, gold=gold, outcome=outcome)
                    leads[f"{gold},{outcome}"] = address
    return Details(
        f"by-answer{subject.suffix}",
        localized("by-answer", language),
        _wrong_picks(subject.bias, language),
        (
            ChartBlock(
                f"positions{subject.suffix}.png",
                picks_text(subject.bias, language),
                picks,
                _caption(picks_subtitle(table, language), language, leads),
                links=leads,
            ),
        ),
        open=links is not None,
    )


def _wrong_picks(bias: StratumBias, language: Language) -> str:
    picks = wrong_picks(bias)
    total, most = sum(picks), max(picks, default=0)
    if not total:
        return localized("wrong-none", language)
    if picks.count(most) > 1:
        return localized("wrong-level", language, n=count(total))
    letter = LETTERS[picks.index(most)]
    return localized("wrong-picks", language, letter=letter, k=count(most), n=count(total))


def _caption(text: str, language: Language, leads: Mapping[str, str]) -> str:
    return join_sentences(text, localized("cells-lead", language)) if leads else text


# ---------------------------------------------------------------- content or position


def _agreement(
    subject: BiasSubject, language: Language, links: BiasLinks, choice: BiasChoice
) -> Iterator[Details]:
    """The grid of steady positions and options, with the questions of the cell that is open."""
    steady, key = subject.bias.consistency, "content-or-position"
    if steady is None:
        return
    leads = {
        f"{slots},{options}": links.here(key, slots=slots, options=options)
        for slots, row in enumerate(steady.grid, start=1)
        for options, number in enumerate(row, start=1)
        if number
    }
    n, orders = count(steady.n), steady.n_orders
    chart = ChartBlock(
        "agreement.png",
        "",
        agreement_map(steady, language),
        _caption(localized("agree-about", language, n=n, orders=orders), language, leads),
        alt=localized("agree-title", language),
        links=leads,
    )
    listed = tuple(_listed(subject, language, links, choice))
    k = count(locked_questions(steady))
    yield Details(
        key,
        localized("agree-title", language),
        localized("follow", language, k=k, n=n),
        (chart, *listed),
        open=bool(listed),
    )


def _listed(
    subject: BiasSubject, language: Language, links: BiasLinks, choice: BiasChoice
) -> Iterator[Block]:
    """The questions of the grid's open cell as links."""
    opened, cell = choice.grid_cell, subject.summary.cell
    if opened is None:
        return
    where = {"slots": opened.slots, "options": opened.options}
    yield Paragraph(localized("maps.listed", language, **where), strong=True)
    if not choice.questions:
        yield Paragraph(localized("maps.listed_none", language))
    rows = [
        (
            TextCell(each.id, href=links.samples(cell, q=each.id)),
            each.question,
        )
        for each in choice.questions[:_LISTED]
    ]
    if rows:
        heads = [localized(f"preview.{name}", language) for name in ("id", "question")]
        yield text_table(heads, rows)
    if (more := len(choice.questions) - len(rows)) > 0:
        yield Paragraph(localized("maps.listed_more", language, n=count(more)), small=True)
    closed = Link(localized("maps.close", language), links.here("content-or-position"))
    yield Links((closed,))


# ---------------------------------------------------------------- tests and figures


def _tests(subject: BiasSubject, language: Language) -> Details:
    """Every test in words, with how it was made and its p-value."""
    made = findings(subject.summary, subject.bias, language)
    rows = [(each.question, TextCell(each.finding, each.how), each.p or NONE) for each in made]
    heads = [localized(f"test-head-{name}", language) for name in ("question", "finding", "p")]
    return Details(
        f"tests{subject.suffix}",
        localized("tests-name", language, n=len(made)),
        tests_sentence(subject.bias, language),
        (Table((Column(heads[0]), Column(heads[1]), Column(heads[2], right=True)), tuple(rows)),),
    )


def _figures(subject: BiasSubject, language: Language) -> Details:
    """The figures that no sentence states, for readers who know them by name."""
    bias = subject.bias
    steady, plain, permuted = bias.consistency, bias.original_floor, bias.tests.permutation
    gap = steady.sensitivity_gap if steady else None
    values = {
        "rstd": _points(bias.spread.rstd, language),
        "floor": _floor(permuted.mean_rstd, permuted.rstd_95, language) if permuted else NONE,
        "rsd": _number(bias.spread.rsd),
        "ckld": ckld_text(bias.spread, language),
        "original": _points(plain.rstd if plain else None, language),
        "original_floor": _floor(plain.mean, plain.percentile_95, language) if plain else NONE,
        "sensitivity": f"{format_value(gap)} % ({format_range(gap)})" if gap else NONE,
        "soft_ece": _number(bias.ece),
        "cochran": _tested(bias, bias.tests.cochran_q, language),
        "wald": _tested(bias, bias.tests.wald, language),
    }
    rows = [(localized(f"spread.{name}", language), value) for name, value in values.items()]
    heads = [localized(f"figure-head-{name}", language) for name in ("name", "value")]
    rstd = bias.spread.rstd
    finding = (
        localized("recall-none", language)
        if rstd is None
        else localized("spread-alone", language, rstd=fixed(rstd, 1))
    )
    return Details(
        "figures",
        localized("every.name", language),
        finding,
        (
            Paragraph(localized("maps.figures_about", language), small=True),
            Table((Column(heads[0]), Column(heads[1], right=True)), tuple(rows)),
        ),
    )


def _points(value: float | None, language: Language) -> str:
    if value is None:
        return NONE
    return localized("spread.points", language, value=fixed(value, 1))


def _number(value: float | None) -> str:
    return NONE if value is None else fixed(value, 3)


def _floor(mean: float | None, upper: float | None, language: Language) -> str:
    if mean is None or upper is None:
        return NONE
    return localized("spread.floor_of", language, mean=fixed(mean, 1), upper=fixed(upper, 1))


def _tested(bias: StratumBias, tested: StatisticalTest | None, language: Language) -> str:
    if bias.n < HIDDEN_BELOW:
        return localized("statistics.few", language)
    if tested is None:
        return localized("spread.missing", language)
    p = localized("spread.p", language, p=p_value(tested.p))
    return f"{fixed(tested.statistic, 1)} · {p}"
