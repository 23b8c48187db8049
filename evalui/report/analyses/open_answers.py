"""Written answers: against their references, by their judges, and what to know of them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from evalui.messages import add_messages, localized
from evalui.report.analyses.arena import (
    arena_verdict,
    awaits_verdicts,
    figure_blocks,
    standing_details,
    standings_card,
)
from evalui.report.analyses.base import Analysis, OpenContext, Report
from evalui.report.analyses.judge import (
    judge_name,
    judge_notes,
    judged_by,
    judged_headline,
    trust_details,
)
from evalui.report.analyses.marks import rated_blocks, rating_cell
from evalui.report.analyses.metrics import has_figure, hidden_notes, metric_notes
from evalui.report.analyses.verdict import other_settings
from evalui.report.analyses.warnings import (
    LEVELS,
    NOTE_KINDS,
    ReportNote,
    cluster_notes,
    first_sentence,
    state_notes,
)
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    Column,
    Details,
    Heading,
    Headline,
    Kind,
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
from evalui.report.figures.theme import drawing_problem
from evalui.report.numbers import (
    count,
    fixed,
    format_figure,
    format_fraction,
    format_interval,
    format_range,
    format_value,
    signed,
    signed_range,
)
from evalui.report.words import join_names_shortened, join_sentences, rank_bands
from evalui.scoring.answer_summary import AnswerSummary, RankingMetric, ranking_metric
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME, rating_cells
from evalui.scoring.metrics import (
    Figure,
    Metric,
    is_added,
    metric_named,
    metrics_in,
    metrics_of_texts,
)
from evalui.scoring.pairs import AnswerPair, pairs_of_answers
from evalui.scoring.scorers import PASSED
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import (
    Cell,
    CellResult,
    Interval,
    Language,
    differ_in_pictures,
    is_unfinished,
    leaves_out_pictures,
)

add_messages(Path(__file__).with_suffix(".toml"))

_PLACES = 4  # as SWIFT prints them
_CONTAINMENT = "containment"  # the share of answers that hold their reference; no metric of SWIFT
# What stands beside the figure that leads, and which of it is not to be read then.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    RECALL: (RECALL, _CONTAINMENT, MAIN, "bleu-1"),
    MAIN: (MAIN, "bleu-1", "token_f1", "exact_match"),
}
_FAINT: Mapping[str, Collection[str]] = {RECALL: {MAIN, "bleu-1"}, MAIN: ()}
# Others go by their own name.
_HEADED = {PASSED, *(name for names in _COLUMNS.values() for name in names)}
_MAX_OWN = 4  # scores of a mode in the table that leads; all of them stand below
_SHARES = {_CONTAINMENT, PASSED, "exact_match"}  # of answers, so printed in per cent
# The filter of the list of duels that shows what a note is about.
_DUEL_FILTERS: Mapping[str, str] = {
    "fair": "changed",
    "swayed": "unreadable",
    "unsteady": "changed",
    "judge-unreadable": "unreadable",
    "no-majority": "unreadable",
    "no-reference": "unreferenced",
    "injected": "injected",
}
# What the headline says already is not stated again on the folded section.
_STATED_ABOVE = frozenset({"fair", "unsteady", "rule-judge"})
_ORDER: Sequence[Kind] = [NOTE_KINDS[level] for level in LEVELS]
_BEFORE_COLON = re.compile(r"[^:：]+")
_MAX_WORDS = 13  # of a sentence beside a folded section, beyond which its figures are left out

# ---------------------------------------------------------------- the parts of a run


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A dataset as one judge compared its answers, or marked them, or without either."""

    dataset: str
    arena: Arena | None = None
    rated: CellResult | None = None

    @property
    def judge(self) -> str:
        """The judge, "panel" or "people"; "" where there is none."""
        if self.arena:
            return self.arena.by
        return self.rated.cell.model if self.rated else ""

    def label(self, context: OpenContext) -> str:
        """Who judged, as a heading and a switch name it."""
        if self.judge in (PANEL_NAME, PEOPLE):
            return localized(f"trust.name-{self.judge}", context.language)
        return judge_name(self.judge, context)


def open_parts(report: Report, arenas: Sequence[Arena] | None = None) -> tuple[OpenPart, ...]:
    """The parts in the order of the run, a panel before its judges; `arenas` if not the run's."""
    shown = report.arenas if arenas is None else arenas
    written = (one.cell.dataset for one in report.results if one.cell.gives != "choices")
    datasets = dict.fromkeys((*written, *(one.dataset for one in shown)))
    rated = rating_cells(report.results)
    parts: list[OpenPart] = []
    for dataset in datasets:
        judged = [OpenPart(dataset, arena=one) for one in shown if one.dataset == dataset]
        judged += [OpenPart(dataset, rated=one) for one in rated if one.cell.dataset == dataset]
        parts += judged or [OpenPart(dataset)]
    return tuple(parts)


def open_blocks(report: Report, context: OpenContext) -> Iterator[Block]:
    """All parts for a file, each under a heading that names dataset and judge."""
    language = context.language
    problem = _picture_problem(report.arenas, language)
    if problem:
        context = context.without_pictures()
    for place, part in enumerate(open_parts(report), start=1):
        key = "texts.part-judged" if part.judge else "texts.part"
        judge = judged_by(part.arena, context) if part.arena else part.label(context)
        yield Heading(2, localized(key, language, dataset=part.dataset, judge=judge))
        yield from part_blocks(report, part, context, suffix=picture_suffix(place))
    if problem:
        yield Notes((NoteLine("na", localized(problem, language)),))


def _picture_problem(arenas: Sequence[Arena], language: Language) -> str:
    """The key of the sentence on why no picture can be drawn, "" if all can."""
    texts = [localized("matrix", language)]
    for arena in arenas:
        texts += [arena.by, *arena.judges]
        texts += [standing.model for standing in arena.standings]
        texts += [dimension.name for dimension in arena.dimensions]
    return drawing_problem(texts)


def picture_suffix(place: int) -> str:
    """What ends the names of the pictures of a part, the first of which has the place 1."""
    return "" if place == 1 else f"-{place}"


def part_blocks(
    report: Report, part: OpenPart, context: OpenContext, *, suffix: str = ""
) -> Iterator[Block]:
    """The blocks of one part; `suffix` tells the names of its pictures from those of others."""
    own = [one for one in report.answers if one.cell.dataset == part.dataset]
    # Those that leave out the pictures are a baseline, and stand below.
    answers = [one for one in own if not leaves_out_pictures(one.cell.signature)] or own
    measured = any(summary.means for summary in answers)
    figure = ranking_metric(answers).figure
    compared = report.figures.pairs(figure, part.dataset) if measured else ()
    pairs = [pair for pair in compared if not leaves_out_pictures(pair.signature)]
    if part.arena:
        people = next(
            (p.agreement for p in report.people if p.judged.signature == part.arena.signature), None
        )
        yield from judged_blocks(
            part.arena, context, answers=answers, pairs=pairs, people=people, suffix=suffix
        )
    elif part.rated:
        yield from _rated(part.rated, answers, pairs, context, suffix)
    elif answers:
        yield from _text_blocks(answers, pairs, context, suffix)
    yield from _baseline_details(report, part.dataset, figure, context.language)


def judged_blocks(
    arena: Arena,
    context: OpenContext,
    *,
    answers: Sequence[AnswerSummary] = (),
    pairs: Sequence[AnswerPair] = (),
    people: RaterAgreement | None = None,
    suffix: str = "",
) -> Iterator[Block]:
    """One judge of one dataset: verdict, standings, text figures second, and folded sections.

    `answers` and `pairs` are those of the dataset, `people` is how far the judge and most people
    agree. `suffix` tells the pictures of several arenas apart.
    """
    language = context.language
    verdict, ended = arena_verdict(arena, language), not awaits_verdicts(arena)
    yield judged_headline(arena, verdict, context) if ended else Headline(verdict)
    if arena.standings:
        yield standings_card(arena, context, suffix)
    measured = any(summary.means for summary in answers)
    if measured:
        yield _text_card(answers, pairs, context, ended=ended)
    if not ended:
        return
    yield trust_details(arena, people, context)
    if arena.standings:
        yield from standing_details(arena, context, suffix)
        said = localized("texts.figures-scores", language)
        if measured:
            said = localized(
                "texts.figures-arena", language, said=_figures_finding(answers, language)
            )
        texts = _text_figures(answers, pairs, context) if answers else ()
        yield _every_figure(said, (*figure_blocks(arena, context), *texts), language)
    yield from _know_details(judge_notes(arena, context), answers, context)


def _rated(
    rated: CellResult,
    answers: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    suffix: str,
) -> Iterator[Block]:
    """One judge of single answers of one dataset: its marks, then the text figures."""
    language, ended = context.language, not is_unfinished(rated)
    yield from rated_blocks(rated, context, suffix)
    if any(summary.means for summary in answers):
        yield _text_card(answers, pairs, context, ended=ended)
    if not ended:
        return
    if answers:
        figures = _text_figures(answers, pairs, context)
        yield _every_figure(_figures_finding(answers, language), figures, language)
    yield from _know_details((), answers, context)


def _text_blocks(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    suffix: str,
) -> Iterator[Block]:
    """One dataset without a judge: the text figures lead.

    `pairs` are those of its models in the figure that leads.
    """
    language, leading = context.language, ranking_metric(summaries)
    reason = recall_reason(leading, language)
    title = text_title(summaries, context, pairs)
    verdict = localized("sentence", language, said=title)
    done = sum(summary.replies for summary in summaries)
    total = sum(summary.questions * summary.n_repeats for summary in summaries)
    if any(map(is_unfinished, summaries)) and done < total:
        yield Headline(localized("texts.open", language, done=count(done), total=count(total)))
        yield _lead_card(summaries, (), context, suffix)
        return
    yield Headline(verdict, reason, kind="na" if reason else None)
    yield _lead_card(summaries, pairs, context, suffix)
    if pairs:
        yield Details(
            "how-sure",
            localized("how-sure", language),
            answer_pair_sentence(_top_pair(pairs, summaries, leading.figure), language),
            tuple(_pair_blocks(pairs, leading.figure, language)),
        )
    figures = _text_figures(summaries, (), context)
    yield _every_figure(_figures_finding(summaries, language), figures, language)
    yield from _know_details((), summaries, context)


def _top_pair(
    pairs: Sequence[AnswerPair], summaries: Sequence[AnswerSummary], figure: str
) -> AnswerPair:
    """The pair of the two highest means, else the first."""
    means = {s.cell.model: s.means[figure].value for s in summaries if figure in s.means}
    best = set(sorted(means, key=lambda model: -means[model])[:2])
    return next((pair for pair in pairs if {pair.first, pair.second} == best), pairs[0])


def _every_figure(finding: str, blocks: Iterable[Block], language: Language) -> Details:
    return Details("every-figure", localized("every.name", language), finding, tuple(blocks))


# ---------------------------------------------------------------- whose answers are closest


def text_title(
    summaries: Sequence[AnswerSummary], context: OpenContext, pairs: Sequence[AnswerPair] = ()
) -> str:
    """Whose answers are closest to the references, if all were compared on the same questions.

    `pairs` compare the models of the dataset in the figure that leads: who is not behind the best
    by its test is named beside it. Scripted models are named only where there is nothing else.
    """
    language, figure = context.language, ranking_metric(summaries).figure
    own = [s for s in summaries if s.cell.model not in context.baselines] or summaries
    measured = [(s.means[figure], s) for s in own if figure in s.means]
    if not measured:
        return localized("texts.closest-none", language)
    if len({summary.question_ids for _, summary in measured}) > 1:
        return localized("texts.closest-apart", language)
    own_score = "" if is_of_references(figure) else "-own"
    mean, summary = max(measured, key=lambda one: one[0].value)
    best, model = mean.value, summary.cell.model
    metric = {"metric": metric_name(figure, language)} if own_score else {}
    fields = {"metric": metric_name(figure, language), "value": format_fraction(best)}
    if len(measured) == 1:
        n, ends = count(summary.compared), format_interval(mean)
        return localized("texts.reaches", language, model=model, n=n, span=ends, **fields)
    means = {s.cell.model: m.value for m, s in measured}
    equal = [name for name in means if means[name] == best]
    worse = _significantly_worse(model, figure, pairs)
    level = [name for name in means if name not in worse] if pairs else []
    if len(equal) > 1 and len(level) <= len(equal):
        names = join_names_shortened(equal, language)
        return localized(f"texts.closest-equal{own_score}", language, names=names, **fields)
    if len(level) > 1:
        names = join_names_shortened(sorted(level, key=lambda name: -means[name]), language)
        return localized(f"texts.closest-level{own_score}", language, names=names, **metric)
    key = "texts.closest-recall" if figure == RECALL else f"texts.closest{own_score}"
    return localized(key, language, model=model, span=format_interval(mean), **fields)


def _significantly_worse(best: str, figure: str, pairs: Sequence[AnswerPair]) -> frozenset[str]:
    """The models that the test says are behind the best."""
    assert all(pair.metric == figure for pair in pairs), "pairs compare the figure that leads"
    return frozenset(
        pair.second if pair.first == best else pair.first
        for pair in pairs
        if best in (pair.first, pair.second) and pair.is_significant
    )


def answer_pair_sentence(pair: AnswerPair, language: Language) -> str:
    """Who is ahead and by how much, if the test shows it; else that no difference is shown."""
    if not pair.is_significant:
        fields = {"first": pair.first, "second": pair.second, "n": count(pair.n)}
        return localized("texts.level", language, **fields)
    first, second = (pair.first, pair.second) if pair.value > 0 else (pair.second, pair.first)
    low, high = (pair.low, pair.high) if pair.value > 0 else (-pair.high, -pair.low)
    return localized(
        "texts.beats",
        language,
        first=first,
        second=second,
        points=format_fraction(abs(pair.value)),
        figure=metric_name(pair.metric, language),
        span=f"{signed(low, 2)}–{signed(high, 2)}",
    )


def metric_name(figure: str, language: Language) -> str:
    """A figure that leads, as people read it; tables keep the name under which SWIFT prints it."""
    return localized(f"texts.metric-{figure}", language) if is_of_references(figure) else figure


def is_of_references(figure: str) -> bool:
    """Whether a figure that leads compares with references; else it is a mode's own score."""
    return figure in (MAIN, RECALL)


def recall_reason(metric: RankingMetric, language: Language) -> str:
    """Why recall leads; "" where it does not."""
    if metric.figure != RECALL:
        return ""
    reference, answer = (round(each) for each in (metric.reference_length, metric.answer_length))
    return localized("texts.brief", language, reference=count(reference), answer=count(answer))


# ---------------------------------------------------------------- the table that is read


def _lead_card(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    suffix: str,
) -> Card:
    """The text figures of each model, with ranks and marks on an axis."""
    language, first = context.language, ranking_metric(summaries).figure
    shown = [summary for summary in summaries if summary.state != "impossible"]
    return Card(
        (_lead_table(shown, pairs, first, context, context.file(f"answers{suffix}.png")),),
        title=localized("texts.by-model", language, metric=_head(first, language)),
        caption=_caption(shown, language),
    )


def _text_card(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    *,
    ended: bool,
) -> Card:
    """The text figures of each model below what judges say.

    Of a run that has `ended` it says who is closest, and why recall leads.
    """
    language, leading = context.language, ranking_metric(summaries)
    shown = [summary for summary in summaries if summary.state != "impossible"]
    reason = recall_reason(leading, language) if ended else ""
    neutral = localized("texts.by-model", language, metric=_head(leading.figure, language))
    return Card(
        (
            *((Notes((NoteLine("na", reason),)),) if reason else ()),
            _plain_table(shown, leading.figure, context),
        ),
        title=text_title(shown, context, pairs) if ended else neutral,
        aside=_referenced(shown, language),
    )


def _caption(summaries: Sequence[AnswerSummary], language: Language) -> str:
    counts = _referenced(summaries, language)
    whole = localized("sentence", language, said=counts) if counts else ""
    own = "" if is_of_references(ranking_metric(summaries).figure) else "-own"
    return join_sentences(localized(f"texts.caption{own}", language), whole)


def _referenced(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """ "105 of 120 questions have a reference"; "" where the models differ in it."""
    numbers = {(summary.compared, summary.n) for summary in summaries if summary.n}
    if len(numbers) != 1:
        return ""
    ((k, n),) = numbers
    own = "" if is_of_references(ranking_metric(summaries).figure) else "-own"
    return localized(f"texts.referenced{own}", language, k=count(k), n=count(n))


def _plain_table(summaries: Sequence[AnswerSummary], first: str, context: OpenContext) -> Table:
    names = _columns_of(summaries, first)
    columns = (
        Column(localized("head-model", context.language)),
        *_figure_columns(names, first, context.language),
    )
    ordered = _best_first(summaries, first)
    return Table(
        columns, tuple((context.model(s.cell.model), *_figures(s, names, first)) for s in ordered)
    )


def _best_first(summaries: Sequence[AnswerSummary], figure: str) -> list[AnswerSummary]:
    measured = [summary for summary in summaries if figure in summary.means]
    measured.sort(key=lambda summary: -summary.means[figure].value)
    return [*measured, *(summary for summary in summaries if figure not in summary.means)]


def _lead_table(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    first: str,
    context: OpenContext,
    file: str,
) -> Table:
    names = _columns_of(summaries, first)
    measured = [summary for summary in summaries if first in summary.means]
    if not measured:
        return _plain_table(summaries, first, context)
    bands = _bands(measured, pairs, context)
    name = metric_name(first, context.language)
    columns = (
        Column(localized("head-rank", context.language), rank=True, width=56),
        Column(localized("head-model", context.language), width=176),
        Column(name, axis=_axis(measured, first)),
        *_figure_columns(names, first, context.language, wide=True),
    )
    rows = tuple(
        (
            bands.get(one.cell.model, NONE),
            context.model(one.cell.model),
            _mark(one, first, context),
            *_figures(one, names, first, size="lead"),
        )
        for one in _best_first(summaries, first)
    )
    return Table(columns, rows, lead=True, file=file)


def _bands(
    summaries: Sequence[AnswerSummary], pairs: Sequence[AnswerPair], context: OpenContext
) -> dict[str, str]:
    """The places by the tests of pairs; none where the questions differ, and none of a script."""
    own = [s.cell.model for s in summaries if s.cell.model not in context.baselines]
    if not pairs or len({summary.question_ids for summary in summaries}) > 1:
        return {}
    decided = {
        (pair.first, pair.second) if pair.value > 0 else (pair.second, pair.first)
        for pair in pairs
        if pair.is_significant and {pair.first, pair.second} <= {*own}
    }
    return rank_bands(own, decided)


def _axis(summaries: Sequence[AnswerSummary], figure: str) -> Axis:
    """From 0 to the next fifth above all ranges."""
    highest = max(summary.means[figure].high for summary in summaries)
    fifths = next(k for k in range(2, 6) if k == 5 or highest <= k / 5)
    ticks = [k / 5 for k in range(fifths + 1)]
    return Axis(0, ticks[-1], ticks, [f"{tick:.1f}".removesuffix(".0") for tick in ticks])


def _mark(summary: AnswerSummary, figure: str, context: OpenContext) -> PlotCell:
    mean = summary.means.get(figure)
    model = context.model(summary.cell.model)
    if mean is None:
        return model.marked(text=NONE)
    text = f"{format_fraction(mean.value)} ({format_interval(mean)})"
    return model.marked(PlotMark(mean.value, mean.low, mean.high), text=text)


def _columns_of(summaries: Sequence[AnswerSummary], first: str) -> tuple[str, ...]:
    """The figures of the table, those of the mode where it gives its own; else none."""
    own = dict.fromkeys(name for summary in summaries for name in summary.means)
    if not own:
        return ()
    names = _COLUMNS.get(first, tuple(own)[:_MAX_OWN])
    added = (metric.name for metric in metrics_in("files", "texts") if is_added(metric))
    return tuple(dict.fromkeys((*names, *(name for name in added if name in own))))


def _head(name: str, language: Language) -> str:
    if name == _CONTAINMENT:
        return localized("texts.head-containment", language)
    if name in _HEADED:
        return localized(f"figure.{name}", language)
    metric = metric_named(name)
    return metric.own_label(language) if metric else name


def _figure_columns(
    names: Sequence[str], first: str, language: Language, *, wide: bool = False
) -> Iterator[Column]:
    for name in names:
        head = _head(name, language)
        leads = name == first
        faint = name in _FAINT.get(first, ())
        yield Column(head, right=not wide, lead=leads, faint=faint, width=128 if wide else 0)
    yield Column(localized("texts.head-length", language), right=True, width=96 if wide else 0)


def _figures(
    summary: AnswerSummary, names: Sequence[str], first: str, size: str = "row"
) -> Iterator[TableCell]:
    for name in names:
        mean = summary.containment if name == _CONTAINMENT else summary.means.get(name)
        yield _figure(name, mean, leads=name == first, large=size == "lead") if mean else NONE
    yield count(round(summary.length)) if summary.n else NONE


def _figure(name: str, mean: Interval, *, leads: bool, large: bool) -> ValueCell:
    value, unit, ends = format_fraction(mean.value), "", format_interval(mean)
    if name in _SHARES:
        value, unit, ends = format_value(mean), "%", format_range(mean)
    if not large:
        return ValueCell(value, unit, ends, strong=leads)
    return ValueCell(value, unit, ends, size="lead" if leads else "large")


# ---------------------------------------------------------------- all figures


def _figures_finding(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """What the section of all figures holds."""
    names = {name for summary in summaries for name, one in summary.figures.items() if one}
    return localized("texts.figures", language, k=count(len(names)))


def _text_figures(
    summaries: Sequence[AnswerSummary], pairs: Sequence[AnswerPair], context: OpenContext
) -> Iterator[Block]:
    """Counts, all text figures in SWIFT's order, those of the whole corpus, and `pairs`."""
    language, leading = context.language, ranking_metric(summaries)
    yield _counts(summaries, context)
    if measured := [summary for summary in summaries if summary.means]:
        yield _means_table(measured, leading.figure, language)
        yield Paragraph(localized("texts.figures-are", language), small=True)
        metrics = metrics_in("report", "texts")
        lacking = [one for one in metrics if not has_figure(one, measured)]
        # What needs repeats has no place where questions were asked once, nor has its absence.
        hidden = [one for one in lacking if is_added(one) and one.needs != "repeats"]
        shown = [metric for metric in metrics if metric not in lacking]
        yield Bullets((*metric_notes(shown, language), *hidden_notes(hidden, language)))
        yield from _corpus(measured, language)
    if pairs:
        yield from _pair_blocks(pairs, leading.figure, language)


def _counts(summaries: Sequence[AnswerSummary], context: OpenContext) -> Table:
    language = context.language
    judges = dict.fromkeys(
        (one.judge, one.scale) for summary in summaries for one in summary.ratings
    )
    keys = ("answers", "empty", "cut", "median-length")
    heads = [
        *(localized(key, language) for key in ("head-model", "head-n")),
        *(localized(f"texts.head-{key}", language) for key in keys),
    ]
    for judge, scale in judges:
        name = judge_name(judge, context)
        heads.append(localized(f"texts.head-{scale}-by", language, judge=name))
    rows = tuple(
        (
            context.model(summary.cell.model),
            *map(count, (summary.questions, summary.replies, summary.empty, summary.truncated)),
            count(round(summary.length)) if summary.n else NONE,
            *(rating_cell(summary, *judge) for judge in judges),
        )
        for summary in summaries
    )
    return text_table(tuple(heads), rows)


def _means_table(summaries: Sequence[AnswerSummary], first: str, language: Language) -> Table:
    """All figures in SWIFT's order, but recall on top where it leads."""
    metrics = metrics_of_texts(name for summary in summaries for name in summary.figures)
    if first == RECALL:
        metrics.sort(key=lambda metric: metric.name != RECALL)
    rows = tuple(
        (
            metric.own_label(language),
            *(_format_mean(metric, summary.figures.get(metric.name)) for summary in summaries),
        )
        for metric in metrics
        if any(summary.figures.get(metric.name) is not None for summary in summaries)
    )
    counts = ("n", *(count(summary.compared) for summary in summaries))
    head = (
        localized("texts.head-figure", language),
        *(summary.cell.model for summary in summaries),
    )
    return text_table(head, (counts, *rows))


def _format_mean(metric: Metric, figure: Figure) -> str:
    if not isinstance(figure, Interval):
        return format_figure(metric, figure) or NONE
    value, low, high = (fixed(each, _PLACES) for each in (figure.value, figure.low, figure.high))
    return f"{value} ({low}–{high})"


def _corpus(summaries: Sequence[AnswerSummary], language: Language) -> Iterator[Block]:
    made = [(summary.cell.model, summary.corpus) for summary in summaries if summary.corpus]
    if not made:
        return
    yield Paragraph(localized("texts.corpus-are", language))
    yield text_table(
        (localized("head-model", language), "BLEU", "chrF"),
        tuple((model, fixed(one.bleu, 1), fixed(one.chrf, 1)) for model, one in made),
    )
    signs = dict.fromkeys(
        sign
        for _, one in made
        for sign in (f"BLEU {one.bleu_signature}", f"chrF {one.chrf_signature}")
    )
    yield Bullets(tuple(signs), signatures=True)


def _pair_blocks(pairs: Sequence[AnswerPair], figure: str, language: Language) -> Iterator[Block]:
    yield Paragraph(localized("texts.pairs-are", language, metric=metric_name(figure, language)))
    heads = ("head-pair", "texts.head-finding", "head-difference", "head-range", "head-p", "head-n")
    yield text_table(
        tuple(localized(head, language) for head in heads),
        tuple(
            (
                localized("versus", language, first=pair.first, second=pair.second),
                TextCell(answer_pair_sentence(pair, language), strong=pair.is_significant),
                signed(pair.value, _PLACES),
                signed_range(pair.low, pair.high, _PLACES),
                "< 0.001" if pair.p < 0.001 else fixed(pair.p, 3),
                count(pair.n),
            )
            for pair in pairs
        ),
    )


def _baseline_details(
    report: Report, dataset: str, figure: str, language: Language
) -> Iterator[Details]:
    """What each model gains by seeing the pictures, where it was also asked without them."""
    cells = [
        one
        for one in report.results
        if one.cell.gives == "answers" and one.cell.dataset == dataset and one.trials
    ]
    pairs = [
        replace(
            pair,
            first=localized("texts.seen", language, model=pair.first),
            second=localized("texts.unseen", language, model=pair.second),
        )
        for blind, whole in permutations(cells, 2)
        if differ_in_pictures(blind.cell.signature, whole.cell.signature)
        for pair in pairs_of_answers((whole, blind), figure)
    ]
    if pairs:
        title = localized("texts.unseen-title", language)
        finding = answer_pair_sentence(pairs[0], language)
        yield Details(
            "without-pictures", title, finding, tuple(_pair_blocks(pairs, figure, language))
        )


# ---------------------------------------------------------------- what to know


def _know_details(
    judged: Sequence[ReportNote], answers: Sequence[AnswerSummary], context: OpenContext
) -> Iterator[Details]:
    """Every note on the judge and on the answers, the most serious first; nothing without any."""
    language = context.language
    stated = [_judge_line(note, context) for note in judged if note.rule in _STATED_ABOVE]
    lines = [_judge_line(note, context) for note in judged if note.rule not in _STATED_ABOVE]
    lines += _answer_lines(answers, context)
    if not stated and not lines:
        return
    first = min(lines or stated, key=_seriousness)
    yield Details(
        "what-to-know",
        localized("know", language, n=count(len(stated) + len(lines))),
        _first_sentence(first, language),
        (Notes(tuple(sorted([*stated, *lines], key=_seriousness))),),
        kind=first.kind if first.kind == "bad" else None,
    )


def _seriousness(line: NoteLine) -> int:
    return _ORDER.index(line.kind)


def _judge_line(note: ReportNote, context: OpenContext) -> NoteLine:
    link = None
    if note.rule in _DUEL_FILTERS:
        text = localized("texts.see-duels", context.language)
        link = context.duel_link(text, duel_outcome=_DUEL_FILTERS[note.rule])
    return NoteLine(NOTE_KINDS[note.level], note.text, link=link)


def _answer_lines(answers: Sequence[AnswerSummary], context: OpenContext) -> list[NoteLine]:
    """What holds of several models is told once, what holds of all without their names."""
    models: dict[ReportNote, list[str]] = {}
    for summary in answers:
        for note in answer_notes(summary, context):
            models.setdefault(note, []).append(summary.cell.model)
    by_dataset: dict[tuple[str, str], list[Cell]] = {}
    for summary in answers:
        by_dataset.setdefault((summary.cell.dataset, summary.cell.label), []).append(summary.cell)
    for cells in by_dataset.values():
        for text, who in other_settings(cells, context.language).items():
            models[ReportNote("info", "settings", text)] = who
    return [
        NoteLine(
            NOTE_KINDS[note.level],
            note.text,
            ""
            if len(named) == len(answers) > 1
            else join_names_shortened(list(dict.fromkeys(named)), context.language),
        )
        for note, named in models.items()
    ]


def _first_sentence(line: NoteLine, language: Language) -> str:
    first = first_sentence(line.text)
    if len(first.split()) > _MAX_WORDS and (name := _BEFORE_COLON.match(first)):
        first = name[0]
    if not line.subject:
        return first
    return localized("of-model", language, model=line.subject, said=first)


def answer_notes(summary: AnswerSummary, context: OpenContext) -> tuple[ReportNote, ...]:
    """What a reader must know before believing the text figures, most serious first."""
    s, language = summary, context.language
    if is_unfinished(s):
        done, total = s.replies, s.questions * s.n_repeats
    else:
        done, total = s.n, s.questions
    made = state_notes(s.state, s.error, done, total, language, partial="texts.partial")
    if s.state == "impossible":
        return tuple(made[:1])
    made += cluster_notes(s.clusters, s.cell, s.questions, language)
    missing = summary.n - summary.compared
    counts = {
        "empty": (summary.empty, summary.replies),
        "cut": (summary.truncated, summary.replies),
        "bare": (missing, summary.n),
    }
    for rule, (k, n) in counts.items():
        if k:
            text = localized(f"texts.{rule}", language, k=count(k), n=count(n))
            made.append(ReportNote("info" if rule == "bare" else "warn", rule, text))
    for rated in summary.ratings:
        judge = judge_name(rated.judge, context)
        if rated.unreferenced:
            k = count(rated.unreferenced)
            fields = {"k": k, "n": count(rated.n + rated.unscored + rated.unreferenced)}
            text = localized("texts.unreferenced", language, judge=judge, **fields)
            made.append(ReportNote("info", "unreferenced", text))
        if rated.unscored:
            fields = {"k": count(rated.unscored), "n": count(rated.n + rated.unscored)}
            text = localized("texts.unscored", language, judge=judge, **fields)
            made.append(ReportNote("warn", "unscored", text))
    return tuple(made)


OPEN_ANSWERS = Analysis(
    lambda report: bool(report.answers or report.arenas),
    lambda report, language: open_blocks(report, report.open_context(language)),
)
