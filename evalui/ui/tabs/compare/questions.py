"""Compare, the questions on which two part: a list to filter, and one of them side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.analyses.comparison.figures import (
    Comparison,
    Contender,
    PairComparison,
    split_questions,
)
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.types import Sample
from evalui.ui.components.format import short_id
from evalui.ui.components.widgets import card, field, note, select
from evalui.ui.tabs.compare.query import CompareQuery
from evalui.ui.tabs.compare.question import outcome, side_by_side

PAGE_SIZE = 20
_DOTS = {"right": "●", "wrong": "○", "unreadable": "–", "tied": "◐"}


@dataclass(frozen=True, slots=True)
class _QuestionLine:
    """One question, who is better on it, and by how much."""

    sample: Sample
    ahead: Contender
    gap: float


def question_list_card(
    t: Messages, compared: Comparison, pair: PairComparison, query: CompareQuery
) -> Html:
    """The card with the list; the opened question unfolds below its line."""
    every = _lines(compared, pair)
    filtered = [line for line in every if query.only in ("", line.ahead.id)]
    page = _page(filtered, query)
    rows = filtered[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    listed = any(line.sample.id == query.question for line in rows)
    legend = "legend_rouge" if compared.written else "legend"
    return card(
        div(
            el("h2", t.count("compare.list.title", len(every))),
            span(t(f"compare.list.{legend}"), cls="meta"),
            _filters(t, compared, pair, every, query),
            cls="card-h",
        ),
        _pair_picker(t, compared, pair),
        None if listed else _question_outside_list(t, compared, pair, query),
        _listing(t, compared, pair, rows, query.with_page(page).with_question(query.question))
        if rows
        else _nothing(t, every),
        _pager(t, query.with_page(page), len(filtered)),
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
    return sorted(lines, key=lambda line: -line.gap) if compared.written else lines


def _page(lines: Sequence[_QuestionLine], query: CompareQuery) -> int:
    """The page with the question that is open, else the requested one if there is so much."""
    ids = [line.sample.id for line in lines]
    if query.question in ids:
        return ids.index(query.question) // PAGE_SIZE
    return min(query.page, max(len(lines) - 1, 0) // PAGE_SIZE)


def _filters(
    t: Messages,
    compared: Comparison,
    pair: PairComparison,
    every: Sequence[_QuestionLine],
    query: CompareQuery,
) -> Html:
    word = "compare.list.closer" if compared.written else "compare.list.only"
    if compared.measure == "mean_over_orders":
        word = "compare.list.higher"
    parts = [("", t("compare.list.all", n=f"{len(every):,}"))]
    for each in (pair.first, pair.second):
        n = sum(line.ahead == each for line in every)
        parts.append((each.id, t(word, name=each.name, n=f"{n:,}")))
    links = (
        el(
            "a",
            text,
            href=f"?{query.with_only(id_).address}",
            aria_current="true" if id_ == query.only else None,
        )
        for id_, text in parts
    )
    return el("nav", *links, cls="segments")


def _pair_picker(t: Messages, compared: Comparison, pair: PairComparison) -> Html | None:
    if len(compared.pairs) < 2:
        return None
    words = {
        each.key: t("compare.versus", first=each.first.name, second=each.second.name)
        for each in compared.pairs
    }
    picker = field(t("compare.pair"), select("pair", words, pair.key))
    return div(picker, cls="fields compare-pair")


def _question_outside_list(
    t: Messages, compared: Comparison, pair: PairComparison, query: CompareQuery
) -> Html | None:
    """A question that an address names and the list does not hold: they agree on it."""
    if not query.question:
        return None
    sample = compared.samples.get(query.question)
    if sample is None:
        return note("warn", t("compare.question.unknown", id=query.question))
    return div(
        el("h3", t("question.title", id=short_id(sample.id))),
        note("na", t("compare.question.equal")),
        side_by_side(t, compared, pair, sample, query),
        cls="compare-beside",
    )


def _listing(
    t: Messages,
    compared: Comparison,
    pair: PairComparison,
    rows: Sequence[_QuestionLine],
    query: CompareQuery,
) -> Html:
    subjects = any(line.sample.subject for line in rows)
    heads = [
        t("compare.list.id"),
        t("compare.list.question"),
        t("compare.list.subject") if subjects else "",
        pair.first.name,
        pair.second.name,
        t(f"compare.list.{compared.measure}"),
    ]
    head = div(*(span(each) for each in heads), cls="compare-heads", aria_hidden="true")
    items = [_item(t, compared, pair, line, query) for line in rows]
    return div(head, el("ul", *items, cls="list compare-list"), cls="compare-rows")


def _item(
    t: Messages,
    compared: Comparison,
    pair: PairComparison,
    line: _QuestionLine,
    query: CompareQuery,
) -> Html:
    sample, ahead = line.sample, line.ahead
    opened = sample.id == query.question
    # Both names are read out with their marks, because the heads above are for the eye.
    outcomes = [
        span(_outcome_marks(t, compared, each, sample), cls="dots", title=each.name)
        for each in (pair.first, pair.second)
    ]
    link = el(
        "a",
        span(short_id(sample.id), cls="mono id"),
        span(sample.question, cls="q"),
        span(sample.subject, cls="meta"),
        *outcomes,
        model_name(ahead.name, ahead.place, ahead.baseline),
        href=f"?{query.with_question('' if opened else sample.id).address}",
        aria_expanded="true" if opened else "false",
        autofocus=opened,
    )
    detail = side_by_side(t, compared, pair, sample, query) if opened else None
    return el("li", link, detail)


def _outcome_marks(t: Messages, compared: Comparison, contender: Contender, sample: Sample) -> Html:
    if compared.written:
        return join(format_fraction(compared.values[contender.id][sample.id]))
    outcomes = [outcome(trial) for trial in compared.trials[contender.id].get(sample.id, ())]
    words = t("list.comma").join(t(f"outcome.{each}") for each in outcomes)
    marks = "".join(_DOTS[each] for each in outcomes)
    return join(span(marks, aria_hidden="true"), span(f"{contender.name}: {words}", cls="hidden"))


def _pager(t: Messages, query: CompareQuery, total: int) -> Html | None:
    if total <= PAGE_SIZE:
        return None
    first, last = query.page * PAGE_SIZE, min((query.page + 1) * PAGE_SIZE, total)
    shown = t("compare.list.shown", first=first + 1, last=last, total=f"{total:,}")
    links = (
        el("a", t(f"compare.list.{word}"), href=f"?{query.with_page(page).address}", cls="btn")
        for word, page in (("earlier", query.page - 1), ("later", query.page + 1))
        if 0 <= page * PAGE_SIZE < total
    )
    return div(span(shown, cls="meta"), *links, cls="links pager")


def _nothing(t: Messages, every: Sequence[_QuestionLine]) -> Html:
    key = "compare.list.nothing_here" if every else "compare.list.nothing"
    return el("p", t(key), cls="dim gap-s")
