"""A comparison as blocks: the sentence, a table of differences with marks, and what folds."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from evalui.messages import Messages
from evalui.report.analyses.comparison.figures import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
    QuestionSplit,
    split_questions,
)
from evalui.report.analyses.comparison.findings import (
    difference_text,
    differing_questions,
    marks_title,
    measure_words,
    range_text,
    support,
    sureness,
    verdict,
)
from evalui.report.analyses.open_answers import recall_reason
from evalui.report.analyses.statistics import (
    format_least_difference,
    mcnemar_sentence,
    other_settings,
)
from evalui.report.analyses.statistics.blocks import finding_text, mcnemar_cell, pair_plot
from evalui.report.axes import Axis, points_axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Details,
    Headline,
    ModelCell,
    NoteLine,
    Notes,
    Paragraph,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import count, fixed, format_fraction, format_value, p_column
from evalui.scoring.answer_summary import ranking_metric
from evalui.scoring.comparisons import CellComparison
from evalui.scoring.pairs import MetricPair

_DRAWN = 8  # rows of marks, before the others fold
_NAME_WIDTH = 248
_FIGURE_WIDTH = 128

PairAddress = Callable[[PairComparison], str]


def comparison_blocks(
    t: Messages,
    compared: Comparison,
    chosen: PairComparison | None = None,
    *,
    notes: Sequence[str] = (),
    address: PairAddress | None = None,
    more: Block | None = None,
) -> tuple[Block, ...]:
    """Who is ahead, drawn and tested; `chosen` is the pair whose questions are looked at.

    `notes` are what else must be known, `address` gives the page of the questions of a pair, `more`
    stands below the tests.
    """
    head = Headline(verdict(t, compared), support(t, compared))
    asked = other_settings([each.cell for each in compared.results], t.language)
    said = (t("of-model", model=", ".join(who), said=text) for text, who in asked.items())
    notes = [*notes, *said]
    if chosen is None:
        return (head, *_known(t, notes))
    return (
        head,
        Card(
            (_marks(t, compared, compared.rows[:_DRAWN], address),),
            marks_title(t, compared),
            _caption(t, compared),
        ),
        *_more_rows(t, compared, address),
        Details("sure", t("compare.sure.title"), sureness(t, compared), _tests(t, compared, more)),
        _differing_section(t, compared, chosen),
        *_each_alone(t, compared),
        *_known(t, notes),
    )


# ---------------------------------------------------------------- the marks


def _caption(t: Messages, compared: Comparison) -> str:
    if compared.measure in FIGURES:
        reason = recall_reason(ranking_metric(compared.answers), t.language)
        return reason or t("compare.caption")
    grey = any(_undetected(each) is not None for each in compared.rows)
    return t("compare.caption_grey") if grey else t("compare.caption")


def _more_rows(t: Messages, compared: Comparison, address: PairAddress | None) -> Iterator[Details]:
    rest = compared.rows[_DRAWN:]
    if rest:
        finding = t("compare.all_pairs_finding", n=count(len(rest)))
        blocks = (_marks(t, compared, rest, address),)
        yield Details("pairs", t("compare.all_pairs"), finding, blocks)


def _marks(
    t: Messages,
    compared: Comparison,
    rows: Sequence[PairComparison],
    address: PairAddress | None,
) -> Table:
    """A row for each pair, or for each measure of the only pair."""
    axis = _axis(compared)
    marks = Column("", axis=axis, rule=(0.0, t("compare.equal")))
    difference = Column(t("compare.head.difference"), right=True, lead=True, width=_FIGURE_WIDTH)
    if len(compared.pairs) == 1:
        (pair,) = compared.pairs
        names = (Column(each.name, right=True, width=112) for each in (pair.first, pair.second))
        head = Column(t("compare.measure"), width=_NAME_WIDTH)
        return Table(
            (head, marks, difference, *names, _only_column(t)),
            tuple(_measure_row(t, compared, each) for each in rows),
            lead=True,
        )
    last = (
        Column(t("compare.table.holm"), right=True, width=104),
        Column(t("compare.head.questions"), width=104),
    )
    return Table(
        (Column(t("compare.pair"), width=_NAME_WIDTH), marks, difference, *last),
        tuple(_pair_row(t, compared, each, address) for each in rows),
        lead=True,
    )


def _only_column(t: Messages) -> Column:
    return Column(t("compare.table.only"), right=True, width=128)


def _measure_row(t: Messages, compared: Comparison, pair: PairComparison) -> tuple[TableCell, ...]:
    result = pair.result
    measure = result.measure if isinstance(result, CellComparison) else compared.measure
    name = TextCell(
        measure_words(t, f"compare.measure_short.{measure}", measure),
        strong=measure == compared.measure,
    )
    figures = result.figures if isinstance(result, CellComparison) else None
    values = (
        [ValueCell(format_value(figure), "%", size="large") for figure in figures]
        if figures
        else [ValueCell(format_fraction(mean), size="large") for mean in pair.means]
    )
    return (
        name,
        _mark(pair),
        _difference(t, pair, lead=measure == compared.measure),
        *values,
        _only(result),
    )


def _pair_row(
    t: Messages, compared: Comparison, pair: PairComparison, address: PairAddress | None
) -> tuple[TableCell, ...]:
    n = _differing(compared, pair)
    questions = TextCell(t("compare.differ", n=count(n)), href=address(pair) if address else "")
    name = ModelCell(
        pair.first.name,
        pair.first.place,
        pair.first.baseline,
        below=t("compare.over", name=pair.second.name),
    )
    return (name, _mark(pair), _difference(t, pair, lead=True), _adjusted(pair.result), questions)


def _differing(compared: Comparison, pair: PairComparison) -> int:
    """On how many questions the two differ, without a look at each where the test counted them."""
    if isinstance(pair.result, CellComparison) and (counts := pair.result.mcnemar):
        return counts.first_only + counts.second_only
    split = split_questions(compared, pair)
    return len(split.ahead) + len(split.behind)


def _mark(pair: PairComparison) -> PlotCell:
    first, result = pair.first, pair.result
    if isinstance(result, CellComparison):
        return pair_plot(result, _model(first))
    mark = PlotMark(100 * pair.difference, 100 * result.low, 100 * result.high)
    text = f"{difference_text(pair)} ({range_text(pair)})"
    return PlotCell((mark,), first.place, first.baseline, text)


def _difference(t: Messages, pair: PairComparison, *, lead: bool) -> ValueCell:
    sign = "+" if pair.difference > 0 else ""
    unit = "" if isinstance(pair.result, MetricPair) else t("compare.points")
    return ValueCell(
        f"{sign}{difference_text(pair)}", unit, range_text(pair), size="lead" if lead else "large"
    )


def _undetected(pair: PairComparison) -> float | None:
    return None if isinstance(pair.result, MetricPair) else pair.result.undetected_difference


def _axis(compared: Comparison) -> Axis:
    """In hundredths, as fractions for written answers."""
    ends = (100 * end for each in compared.rows for end in _ends(each))
    return (
        points_axis(ends, lambda tick: f"{tick / 100:+.2f}")
        if compared.scored
        else points_axis(ends)
    )


def _ends(pair: PairComparison) -> tuple[float, ...]:
    if isinstance(pair.result, MetricPair):
        return (pair.result.low, pair.result.high)
    return pair.result.ends


# ---------------------------------------------------------------- what folds


def _tests(t: Messages, compared: Comparison, more: Block | None) -> tuple[Block, ...]:
    """The tests of each pair; their differences and ranges stand beside the marks."""
    keys = ["ahead", "behind"]
    keys += ["holm", "n"] if compared.scored else ["only", "mid", "holm", "n", "least", "finding"]
    sentences = [
        mcnemar_sentence(each.result, t.language)
        for each in compared.pairs[:1]
        if isinstance(each.result, CellComparison)
    ]
    legend = t("compare.table.legend")
    if compared.scored:
        of_references = compared.measure in FIGURES
        legend = t(f"compare.table.{'legend_rouge' if of_references else 'legend_metric'}")
    return (
        *(Paragraph(each) for each in sentences if each),
        text_table(
            [t(f"compare.table.{key}") for key in keys],
            [_test_row(t, each) for each in compared.pairs],
        ),
        Paragraph(legend, small=True),
        *([more] if more else ()),
    )


def _test_row(t: Messages, pair: PairComparison) -> tuple[TableCell, ...]:
    names = tuple(map(_model, (pair.first, pair.second)))
    result = pair.result
    if isinstance(result, MetricPair):
        return (*names, _adjusted(result), count(result.n))
    missed = result.undetected_difference
    return (
        *names,
        _only(result),
        mcnemar_cell(result, t.language),
        _adjusted(result),
        count(result.n),
        format_least_difference(missed) if missed is not None else NONE,
        finding_text(result, t.language),
    )


def _differing_section(t: Messages, compared: Comparison, pair: PairComparison) -> Details:
    split = split_questions(compared, pair)
    heads = ["", t("compare.table.n")]
    words = [t("compare.parts.ahead", name=each.name) for each in (pair.first, pair.second)]
    rows = [*zip(words, (count(len(split.ahead)), count(len(split.behind))), strict=True)]
    rows.append((t("compare.parts.level"), count(len(split.alike))))
    whole = compared.measure in ("robust", "accuracy")
    table = _contingency(t, compared, pair, split) if whole else text_table(heads, rows)
    about = Paragraph(
        measure_words(t, f"compare.parts.{compared.measure}", compared.measure), small=True
    )
    return Details(
        "parts",
        t("compare.parts.title"),
        differing_questions(t, compared, pair, split),
        (about, table),
    )


def _contingency(
    t: Messages, compared: Comparison, pair: PairComparison, split: QuestionSplit
) -> Table:
    mine = compared.values[pair.first.id]
    both = sum(mine[name] == 1 for name in split.alike)
    first, second = pair.first.name, pair.second.name
    heads = ["", t("compare.parts.right", name=second), t("compare.parts.wrong", name=second)]
    rows = [
        (t("compare.parts.right", name=first), count(both), count(len(split.ahead))),
        (
            t("compare.parts.wrong", name=first),
            count(len(split.behind)),
            count(len(split.alike) - both),
        ),
    ]
    return text_table(heads, rows)


def _each_alone(t: Messages, compared: Comparison) -> Iterator[Details]:
    """The figure of each model by itself; of two it stands beside their difference."""
    if len(compared.pairs) < 2:
        return
    means = {each: fmean(compared.values[each.id].values()) for each in compared.contenders}
    ranked = sorted(means, key=lambda each: -means[each])
    figures = {
        each: format_fraction(mean) if compared.scored else f"{fixed(100 * mean, 0)} %"
        for each, mean in means.items()
    }
    finding = t(
        "compare.alone_finding",
        best=ranked[0].name,
        high=figures[ranked[0]],
        last=ranked[-1].name,
        low=figures[ranked[-1]],
    )
    heads = [
        t("compare.head.model"),
        t("compare.head.run"),
        measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure),
        t("compare.table.n"),
    ]
    rows = [
        (_model(each), each.run_name, figures[each], count(len(compared.values[each.id])))
        for each in ranked
    ]
    yield Details("alone", t("compare.alone"), finding, (text_table(heads, rows),))


def _known(t: Messages, notes: Sequence[str]) -> Iterator[Details]:
    if notes:
        lines = Notes(tuple(NoteLine("warn", text) for text in notes))
        name = t("compare.know", n=count(len(notes)))
        yield Details("know", name, notes[0], (lines,), kind="warn")


def _model(contender: Contender) -> ModelCell:
    return ModelCell(contender.name, contender.place, contender.baseline)


def _only(result: CellComparison | MetricPair) -> str:
    counts = None if isinstance(result, MetricPair) else result.mcnemar
    return f"{count(counts.first_only)} : {count(counts.second_only)}" if counts else NONE


def _adjusted(result: CellComparison | MetricPair) -> str:
    if isinstance(result, MetricPair):
        return p_column(result.p)
    return NONE if result.finding == "guessing" else p_column(result.adjusted)
