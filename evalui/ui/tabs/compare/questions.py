"""Compare, the questions on which two part: a list to filter, and one of them side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.analyses.comparison.figures import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
    split_questions,
)
from evalui.report.analyses.comparison.findings import measure_words
from evalui.report.html import Html, div, el, join, span
from evalui.runs.database.question_pages import MAX_MARKS, CellMarks, read_marks
from evalui.types import Sample
from evalui.ui.components.format import short_id
from evalui.ui.components.widgets import card, field, note, pager, segments, select
from evalui.ui.tabs.compare.query import CompareQuery
from evalui.ui.tabs.compare.question import PairView, contender_name, question_detail

PAGE_SIZE = 20
_DOTS = {"right": "●", "wrong": "○", "unreadable": "–", "tied": "◐"}


@dataclass(frozen=True, slots=True)
class _QuestionLine:
    """One question, who is better on it, and by how much."""

    sample: Sample
    ahead: Contender
    gap: float


def question_list_card(view: PairView) -> Html:
    """The card with the list; the opened question unfolds below its line."""
    t, query = view.t, view.query
    every = _lines(view.compared, view.pair)
    filtered = [line for line in every if query.only in ("", line.ahead.id)]
    page = _page(filtered, query)
    rows = filtered[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    paged = replace(view, query=query.with_page(page).with_question(query.question))
    listed = any(line.sample.id == query.question for line in rows)
    cells = [view.models[each.id].row.id for each in view.both]
    marks = read_marks(view.database, cells, [line.sample.id for line in rows])
    return card(
        div(
            el("h2", t.count("compare.list.title", len(every))),
            span(t(f"compare.list.{_legend(view, marks)}"), cls="meta"),
            _filters(view, every),
            cls="card-h",
        ),
        _pair_picker(view),
        None if listed else _question_outside_list(view),
        _listing(paged, rows, marks) if rows else _nothing(t, every),
        pager(t, page, PAGE_SIZE, len(filtered), lambda at: f"?{query.with_page(at).address}"),
        cls="compare-card",
    )


def _lines(compared: Comparison, pair: PairComparison) -> list[_QuestionLine]:
    split = split_questions(compared, pair)
    winners = dict.fromkeys(split.ahead, pair.first) | dict.fromkeys(split.behind, pair.second)
    mine, other = compared.values[pair.first.id], compared.values[pair.second.id]
    lines = [
        _QuestionLine(sample, winners[name], abs(mine[name] - other[name]))
        for name, sample in compared.samples.items()
        if name in winners
    ]
    # Right and wrong have one difference; of others the widest matter most.
    return sorted(lines, key=lambda line: -line.gap) if compared.scored else lines


def _page(lines: Sequence[_QuestionLine], query: CompareQuery) -> int:
    """The page with the question that is open, else the requested one if there is so much."""
    ids = [line.sample.id for line in lines]
    if query.question in ids:
        return ids.index(query.question) // PAGE_SIZE
    return min(query.page, max(len(lines) - 1, 0) // PAGE_SIZE)


def _filters(view: PairView, every: Sequence[_QuestionLine]) -> Html:
    t = view.t
    of_references = view.compared.measure in FIGURES
    word = "compare.list.closer" if of_references else "compare.list.only"
    if view.compared.measure == "mean_over_orders" or (view.compared.scored and not of_references):
        word = "compare.list.higher"
    parts = {"": t("compare.list.all", n=f"{len(every):,}")}
    for each in view.both:
        n = sum(line.ahead == each for line in every)
        parts[each.id] = t(word, name=each.name, n=f"{n:,}")
    return segments(
        (text, f"?{view.query.with_only(id_).address}", id_ == view.query.only)
        for id_, text in parts.items()
    )


def _pair_picker(view: PairView) -> Html | None:
    t, compared = view.t, view.compared
    if len(compared.pairs) < 2:
        return None
    words = {
        each.key: t("compare.versus", first=each.first.name, second=each.second.name)
        for each in compared.pairs
    }
    picker = field(t("compare.pair"), select("pair", words, view.pair.key))
    return div(picker, cls="fields compare-pair")


def _question_outside_list(view: PairView) -> Html | None:
    """A question that an address names and the list does not hold: they agree on it."""
    t, id_ = view.t, view.query.question
    if not id_:
        return None
    sample = view.compared.samples.get(id_)
    if sample is None:
        return note("warn", t("compare.question.unknown", id=id_))
    return div(
        el("h3", t("question.title", id=short_id(id_))),
        note("na", t("compare.question.equal")),
        question_detail(view, sample),
        cls="compare-beside",
    )


def _legend(view: PairView, marks: Mapping[str, CellMarks]) -> str:
    if view.compared.written:
        return "legend_rouge"
    orders = max((len(each) for own in marks.values() for each in own.values()), default=0)
    return "legend_counts" if orders > MAX_MARKS else "legend"


def _listing(view: PairView, rows: Sequence[_QuestionLine], marks: Mapping[str, CellMarks]) -> Html:
    t = view.t
    several = len({sample.subject for sample in view.compared.samples.values()}) > 1
    heads = [
        t("compare.list.id"),
        t("compare.list.question"),
        *([t("compare.list.subject")] if several else []),
        *(each.name for each in view.both),
        measure_words(t, f"compare.list.{view.compared.measure}", view.compared.measure),
    ]
    head = div(*(span(each) for each in heads), cls="compare-heads", aria_hidden="true")
    items = [_item(view, line, marks[line.sample.id], subject=several) for line in rows]
    whole = (head, el("ul", *items, cls="list compare-list"))
    return div(*whole, cls="compare-rows" if several else "compare-rows one-subject")


def _item(view: PairView, line: _QuestionLine, marks: CellMarks, *, subject: bool) -> Html:
    sample = line.sample
    opened = sample.id == view.query.question
    # Both names are read out with their marks, because the heads above are for the eye.
    outcomes = [
        span(_outcome_marks(view, each, sample, marks), cls="dots", title=each.name)
        for each in view.both
    ]
    link = el(
        "a",
        span(short_id(sample.id), cls="mono id"),
        span(sample.question, cls="q"),
        span(sample.subject, cls="meta") if subject else None,
        *outcomes,
        contender_name(line.ahead),
        href=f"?{view.query.with_question('' if opened else sample.id).address}",
        aria_expanded="true" if opened else "false",
    )
    return el("li", link, question_detail(view, sample) if opened else None)


def _outcome_marks(view: PairView, contender: Contender, sample: Sample, every: CellMarks) -> Html:
    if view.compared.written:
        return join(format_fraction(view.compared.values[contender.id][sample.id]))
    outcomes = [mark.outcome for mark in every.get(view.models[contender.id].row.id, ())]
    if len(outcomes) > MAX_MARKS:
        right = f"{outcomes.count('right')}/{len(outcomes)}"
        return join(span(f"{contender.name}: ", cls="hidden"), span(right, cls="count"))
    words = view.t("list.comma").join(view.t(f"outcome.{each}") for each in outcomes)
    marks = "".join(_DOTS[each] for each in outcomes)
    return join(span(marks, aria_hidden="true"), span(f"{contender.name}: {words}", cls="hidden"))


def _nothing(t: Messages, every: Sequence[_QuestionLine]) -> Html:
    key = "compare.list.nothing_here" if every else "compare.list.nothing"
    return el("p", t(key), cls="dim gap-s")
