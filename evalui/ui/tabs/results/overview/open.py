"""Results, Overview, of written answers: what they came to, model by model and pair by pair."""

from collections.abc import Collection, Mapping, Sequence

from evalui.messages import Messages
from evalui.proportions import wilson_interval
from evalui.report.analyses.arena.narrative import (
    answer_notes,
    format_fraction,
    format_interval,
    is_significant,
    metric_name,
    text_subtitle,
    text_title,
)
from evalui.report.analyses.open_answers.figures import (
    MAIN,
    RECALL,
    AnswerPair,
    AnswerSummary,
    JudgeRating,
    compare_answers,
    ranking_metric,
    recall_reason,
)
from evalui.report.analyses.overview.warnings import ReportNote
from evalui.report.html import Child, Html, div, el, join
from evalui.report.html import span as inline
from evalui.report.icons import model_name
from evalui.report.numbers import count, fixed, format_figure, format_range, format_value
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.types import Cell, CellResult, Interval
from evalui.ui.components.format import tile
from evalui.ui.components.widgets import card, signature_line, table, titled
from evalui.ui.tabs.results.overview.figures import note_line

# The columns of the strip by the figure that leads: what readers need first, then those that
# every reader understands.
STRIPS = {
    MAIN: (MAIN, "bleu-1", "token_f1", "exact_match"),
    RECALL: (RECALL, MAIN, "bleu-1", "exact_match"),
}
_SHARES = frozenset({"exact_match"})  # of answers, so printed in per cent
_LEVELS = ("bad", "warn", "info")


def open_top(
    t: Messages,
    answers: Sequence[AnswerSummary],
    results: Sequence[CellResult],
    *,
    baselines: Collection[str],
    alone: bool = True,
) -> Html:
    """For each dataset the sentence, the strip of figures, and the pairs of `results`.

    A dataset is named where the run has others: of written answers or, if not `alone`, of choices.
    """
    named = not alone or len(by_dataset(answers)) > 1
    return div(
        *(
            _dataset(
                t,
                group,
                [result for result in results if result.cell.dataset == dataset],
                _names(answers, baselines),
                baselines=baselines,
                heading=dataset if named else "",
            )
            for dataset, group in by_dataset(answers).items()
        ),
        cls="stack",
    )


def open_chart_title(t: Messages, answers: Sequence[AnswerSummary]) -> Html:
    """What the chart of text figures shows, and how to read it."""
    return join(el("h2", t("open.chart")), el("p", text_subtitle(answers, t.language), cls="meta"))


def open_below(
    t: Messages,
    answers: Sequence[AnswerSummary],
    *,
    baselines: Collection[str],
    rule_based: frozenset[str] = frozenset(),
) -> Html:
    """Marks of judges, all figures, notes and signatures."""
    names = _names(answers, baselines)
    return div(
        _ratings_card(t, answers, names),
        *(
            _all_card(t, group, names, heading=dataset if len(by_dataset(answers)) > 1 else "")
            for dataset, group in by_dataset(answers).items()
            if any(summary.means for summary in group)
        ),
        _notes_card(t, answers, rule_based),
        div(*(signature_line(summary.cell.signature) for summary in answers)),
        cls="stack",
    )


def by_dataset(answers: Sequence[AnswerSummary]) -> dict[str, list[AnswerSummary]]:
    """The cells that could run, by dataset."""
    groups: dict[str, list[AnswerSummary]] = {}
    for summary in answers:
        if summary.state != "impossible":
            groups.setdefault(summary.cell.dataset, []).append(summary)
    return groups


def pair_sentence(t: Messages, pair: AnswerPair) -> str:
    """Who is ahead and by how much, if the test shows it; else that no difference is shown."""
    if not is_significant(pair):
        return t("open.level", first=pair.first, second=pair.second, n=count(pair.n))
    first, second = (pair.first, pair.second) if pair.value > 0 else (pair.second, pair.first)
    low, high = (pair.low, pair.high) if pair.value > 0 else (-pair.high, -pair.low)
    return t(
        "open.beats",
        first=first,
        second=second,
        points=format_fraction(abs(pair.value)),
        figure=metric_name(pair.figure, t.language),
        span=f"{format_fraction(low)}–{format_fraction(high)}",
    )


def _dataset(
    t: Messages,
    answers: Sequence[AnswerSummary],
    results: Sequence[CellResult],
    names: Mapping[Cell, Html],
    *,
    baselines: Collection[str],
    heading: str,
) -> Html:
    compared = any(summary.means for summary in answers)
    leading = ranking_metric(answers)
    pairs = compare_answers(results, leading.figure)
    title = t("open.no_references")
    if compared:
        title = text_title(answers, t.language, pairs=pairs, rule_based=baselines)
    reason = recall_reason(leading, t.language)
    head = card(el("h2", title), el("p", reason, cls="dim gap-s") if reason else None)
    return div(
        el("h2", heading) if heading else None,
        head if any(summary.n for summary in answers) else None,
        _strip(t, answers, names, STRIPS[leading.figure] if compared else ()),
        _pairs_card(t, pairs) if pairs else None,
        cls="stack",
    )


def _strip(
    t: Messages,
    answers: Sequence[AnswerSummary],
    names: Mapping[Cell, Html],
    columns: Sequence[str],
) -> Html:
    """The figures `columns` of each model, the one that leads first; its length without any."""
    heads = [t("kpi.model"), *(t(f"figure.{name}") for name in columns), t("open.answered")]
    heads += [] if columns else [t("open.length")]
    rows = [_kpi(t, summary, names[summary.cell], columns, heads) for summary in answers]
    head = div(*(div(word) for word in heads), cls="kpi h")
    kind = "" if columns else "bare"
    if RECALL in columns:  # then the two columns after it are not the ones to read
        kind = "recall"
    return card(head, *rows, cls=f"kpis open {kind}".strip())


def _kpi(
    t: Messages, s: AnswerSummary, name: Html, columns: Sequence[str], heads: Sequence[str]
) -> Html:
    label = s.cell.label.removeprefix(s.cell.mode).strip()
    who = div(
        name,
        div(label, cls="meta gap-s") if label else None,
        div(inline(t(f"state.{s.state}"), cls="tag")) if s.state != "done" else None,
    )
    if not s.n:
        return div(who, div(s.error or t("results.no_answers"), cls="meta wide"), cls="kpi")
    figures = [
        _figure(t, name, s.means.get(name), s.compared if name == columns[0] else None)
        for name in columns
    ]
    figures.append(_answered(t, s))
    if not columns:
        figures.append(tile(f"{s.length:,.0f}", t("open.characters"), t("open.median")))
    labelled = [
        div(div(head, cls="lab meta"), cell) for head, cell in zip(heads[1:], figures, strict=True)
    ]
    return div(who, *labelled, cls="kpi")


def _figure(t: Messages, name: str, mean: Interval | None, n: int | None) -> Html:
    """A figure with its range; `n` stands below the one that leads, None below the others."""
    if mean is None:
        return inline("–", cls="meta")
    below = t("kpi.n", n=count(n)) if n is not None else ""
    if name in _SHARES:
        return tile(format_value(mean), "%", t("open.range", span=format_range(mean)), below)
    return tile(format_fraction(mean.value), "", t("open.range", span=format_interval(mean)), below)


def _answered(t: Messages, s: AnswerSummary) -> Html:
    share = wilson_interval(s.n - s.empty, s.n)
    lines = [t("open.of", done=count(s.n - s.empty), n=count(s.questions))]
    if s.truncated:
        lines.append(t.count("open.cut", s.truncated))
    return tile(format_value(share), "%", *lines)


def _pairs_card(t: Messages, pairs: Sequence[AnswerPair]) -> Html:
    lines = [div(el("b", pair_sentence(t, pair)), cls="pair-line") for pair in pairs]
    fewest = min(pair.n for pair in pairs)
    return titled(
        t("open.pairs"),
        *lines,
        el("p", t.count("open.pairs_about", len(pairs), fewest=count(fewest)), cls="meta gap-s"),
        aside=t(f"figure.{pairs[0].figure}"),
    )


def _ratings_card(
    t: Messages, answers: Sequence[AnswerSummary], names: Mapping[Cell, Html]
) -> Html | None:
    bare = any(rated.unreferenced for s in answers for rated in s.ratings)
    counts = ("rated", "unscored", "unreferenced") if bare else ("rated", "unscored")
    rows: list[list[Child]] = [
        [names[s.cell], rated.judge, _rating(t, rated), *_rating_counts(rated)[: len(counts)]]
        for s in answers
        for rated in s.ratings
    ]
    if not rows:
        return None
    heads = [t(f"open.{name}") for name in ("model", "judge", "rating", *counts)]
    return titled(t("open.ratings"), table(heads, rows, right=(3, 4, 5)[: len(counts)]))


def _rating_counts(rated: JudgeRating) -> list[str]:
    return [count(n) for n in (rated.n, rated.unscored, rated.unreferenced)]


def _rating(t: Messages, rated: JudgeRating) -> Html:
    if rated.mean is None:
        return join("–")
    if rated.scale == "correct":
        value, ends = f"{format_value(rated.mean)} %", format_range(rated.mean)
        word = t("open.correct")
    else:
        value = fixed(rated.mean.value, 1)
        ends = f"{fixed(rated.mean.low, 1)}–{fixed(rated.mean.high, 1)}"
        word = t("open.of_ten")
    return join(el("b", value), " ", word, " ", inline(ends, cls="meta"))


def _all_card(
    t: Messages, answers: Sequence[AnswerSummary], names: Mapping[Cell, Html], *, heading: str
) -> Html:
    """Every figure under the name that SWIFT and EvalScope print, then our own."""
    shown = [s for s in answers if s.means]
    rows: list[list[Child]] = [
        [
            inline(one.own_label(t.language), cls="mono", title=one.own_docs(t.language) or None),
            *(_mean(one, s.figures.get(one.name)) for s in shown),
        ]
        for one in metrics_in("screen", "texts")
    ]
    corpora = [s.corpus for s in shown]
    if any(corpora):
        rows.append(
            [
                "BLEU",
                *(
                    f"{signature_list.bleu:.2f}" if signature_list else "–"
                    for signature_list in corpora
                ),
            ]
        )
        rows.append(
            [
                "chrF",
                *(
                    f"{signature_list.chrf:.2f}" if signature_list else "–"
                    for signature_list in corpora
                ),
            ]
        )
    signatures = dict.fromkeys(
        line
        for signature_list in corpora
        if signature_list
        for line in (
            f"BLEU|{signature_list.bleu_signature}",
            f"chrF|{signature_list.chrf_signature}",
        )
    )
    heads: list[Child] = [t("open.figure"), *(names[s.cell] for s in shown)]
    signature_list = el("details", el("summary", t("open.made")), *map(signature_line, signatures))
    return titled(
        " · ".join(filter(None, (t("overview.figures"), heading))),
        table(heads, rows, right=range(1, len(heads)), cls="all-figures"),
        div(signature_list, cls="gap-s") if signatures else None,
        aside=t("open.figures_about"),
    )


def _mean(metric: Metric, figure: Figure) -> Child:
    if not isinstance(figure, Interval):
        return format_figure(metric, figure) or "–"
    ends = f"{figure.low:.3f}–{figure.high:.3f}"
    return join(el("b", f"{figure.value:.4f}"), " ", inline(ends, cls="meta nw"))


def _notes_card(
    t: Messages, answers: Sequence[AnswerSummary], rule_based: frozenset[str]
) -> Html | None:
    """Every note, most serious first; what is true of several models stands once."""
    cells_by_note: dict[ReportNote, list[str]] = {}
    for summary in answers:
        for report_note in answer_notes(summary, t.language, rule_based=rule_based):
            cells_by_note.setdefault(report_note, []).append(_cell_label(summary.cell, answers))
    if not cells_by_note:
        return None
    serious = sorted(cells_by_note, key=lambda report_note: _LEVELS.index(report_note.level))
    lines = (
        note_line(t("list.comma").join(cells_by_note[report_note]), report_note)
        for report_note in serious
    )
    return titled(t("overview.notes"), *(div(line, cls="gap-s") for line in lines))


def _names(answers: Sequence[AnswerSummary], baselines: Collection[str]) -> dict[Cell, Html]:
    """Each cell by its model, with the marker that the model has in the whole run."""
    able = (s.cell.model for s in answers if s.state != "impossible")
    own = list(dict.fromkeys(model for model in able if model not in baselines))
    return {
        s.cell: model_name(
            s.cell.model,
            own.index(s.cell.model) if s.cell.model in own else 0,
            s.cell.model in baselines,
        )
        for s in answers
    }


def _cell_label(cell: Cell, answers: Sequence[AnswerSummary]) -> str:
    several = len({other.cell.dataset for other in answers}) > 1
    label = cell.label.removeprefix(cell.mode).strip()
    return " · ".join(filter(None, (cell.model, cell.dataset if several else "", label)))
