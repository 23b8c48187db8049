"""Compare, the questions on which two part: a list to filter, and one of them side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.html import Html, div, el, join, span
from evalui.types import Sample
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import short_id
from evalui.ui.components.widgets import card, field, note, page_buttons, select
from evalui.ui.tabs.compare.comparison import Comparison, PairComparison, split_by_winner
from evalui.ui.tabs.compare.question import outcome, side_by_side
from evalui.ui.tabs.compare.selection import ComparedCell

PAGE_SIZE = 100
_DOTS = {"right": "●", "wrong": "○", "unreadable": "–", "tied": "◐"}


@dataclass(frozen=True, slots=True)
class QuestionListQuery:
    """What the list shows: a pair, only the questions of one of them, a page (from 0).

    `question` is open. `linked`: an address named it.
    """

    pair: str = ""
    only: str = ""
    page: int = 0
    question: str = ""
    linked: bool = False


@dataclass(frozen=True, slots=True)
class _QuestionLine:
    """One question and who is better on it; None if neither is."""

    sample: Sample
    ahead: ComparedCell | None
    gap: float


def read_list_query(form: Form) -> QuestionListQuery:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    page = field_value(form, "page")
    return QuestionListQuery(
        pair=field_value(form, "pair"),
        only=field_value(form, "only"),
        page=parse_whole_number(page) or 0,
        question=field_value(form, "question"),
    )


def question_list_card(
    t: Messages, compared: Comparison, versus: PairComparison, query: QuestionListQuery
) -> Html:
    """The card with the list; the opened question unfolds below its line."""
    every = _lines(compared, versus)
    only = query.only if query.only in (versus.first.id, versus.second.id) else ""
    filtered = [line for line in every if only in ("", line.ahead.id if line.ahead else "")]
    page = _page(filtered, query)
    first = page * PAGE_SIZE
    rows = filtered[first : first + PAGE_SIZE]
    listed = any(line.sample.id == query.question for line in rows)
    legend = "legend_rouge" if compared.written else "legend"
    return card(
        div(
            el("h2", t.count("compare.list.title", len(every))),
            span(t(f"compare.list.{legend}"), cls="meta"),
            _filters(t, compared, versus, every, only),
            cls="card-h",
        ),
        _pair_picker(t, compared, versus),
        el("input", type="hidden", name="page", value=page),
        el("input", type="hidden", name="only", value=only),
        el("input", type="hidden", name="question", value=query.question),
        None if listed else _question_outside_list(t, compared, versus, query),
        _listing(t, compared, versus, rows, query) if rows else _nothing(t, every),
        _pager(t, page, first, len(rows), len(filtered)),
        cls="compare-card",
    )


def _lines(compared: Comparison, versus: PairComparison) -> list[_QuestionLine]:
    ahead, behind, _ = split_by_winner(compared, versus)
    winners = dict.fromkeys(ahead, versus.first) | dict.fromkeys(behind, versus.second)
    mine, other = compared.values[versus.first.id], compared.values[versus.second.id]
    lines = [
        _QuestionLine(sample, winners[name], abs(mine[name] - other[name]))
        for name, sample in compared.samples.items()
        if name in winners
    ]
    # Right and wrong have one difference; of others the widest matter most.
    return sorted(lines, key=lambda line: -line.gap) if compared.written else lines


def _page(lines: Sequence[_QuestionLine], query: QuestionListQuery) -> int:
    """The requested page, or the one with the question that an address names."""
    if query.linked:
        for place, line in enumerate(lines):
            if line.sample.id == query.question:
                return place // PAGE_SIZE
    return query.page


def _filters(
    t: Messages,
    compared: Comparison,
    versus: PairComparison,
    every: Sequence[_QuestionLine],
    only: str,
) -> Html:
    word = "compare.list.closer" if compared.written else "compare.list.only"
    if compared.measure == "mean_over_orders":
        word = "compare.list.higher"
    parts = [("", t("compare.list.all", n=f"{len(every):,}"))]
    for each in (versus.first, versus.second):
        n = sum(line.ahead == each for line in every)
        parts.append((each.id, t(word, name=each.name, n=f"{n:,}")))
    return div(
        *(
            el(
                "button",
                text,
                type="button",
                data_do="only",
                data_only=id_,
                aria_pressed="true" if id_ == only else "false",
            )
            for id_, text in parts
        ),
        cls="segments",
        role="group",
    )


def _pair_picker(t: Messages, compared: Comparison, versus: PairComparison) -> Html:
    if len(compared.pairs) < 2:
        return el("input", type="hidden", name="pair", value=versus.key)
    words = {
        each.key: t("compare.versus", first=each.first.name, second=each.second.name)
        for each in compared.pairs
    }
    return div(
        field(t("compare.pair"), select("pair", words, versus.key)), cls="fields compare-pair"
    )


def _question_outside_list(
    t: Messages, compared: Comparison, versus: PairComparison, query: QuestionListQuery
) -> Html | None:
    """A question that an address names and the list does not hold: they agree on it."""
    sample = compared.samples.get(query.question)
    if sample is None or not query.linked:
        return None
    return div(
        el("h3", t("question.title", id=short_id(sample.id))),
        note("na", t("compare.question.equal")),
        side_by_side(t, compared, versus, sample),
        cls="compare-beside",
    )


def _listing(
    t: Messages,
    compared: Comparison,
    versus: PairComparison,
    rows: Sequence[_QuestionLine],
    query: QuestionListQuery,
) -> Html:
    subjects = any(line.sample.subject for line in rows)
    heads = [
        t("compare.list.id"),
        t("compare.list.question"),
        t("compare.list.subject") if subjects else "",
        versus.first.name,
        versus.second.name,
        t(f"compare.list.{compared.measure}"),
    ]
    head = div(*(span(each) for each in heads), cls="compare-heads", aria_hidden="true")
    items = [_item(t, compared, versus, line, query) for line in rows]
    return div(head, el("ul", *items, cls="list compare-list"), cls="compare-rows")


def _item(
    t: Messages,
    compared: Comparison,
    versus: PairComparison,
    line: _QuestionLine,
    query: QuestionListQuery,
) -> Html:
    sample = line.sample
    opened = sample.id == query.question
    # Both names are read out with their marks, because the heads above are for the eye.
    outcomes = [
        span(
            _outcome_marks(t, compared, each, sample),
            cls="dots",
            title=each.name,
        )
        for each in (versus.first, versus.second)
    ]
    press = el(
        "button",
        span(short_id(sample.id), cls="mono id"),
        span(sample.question, cls="q"),
        span(sample.subject, cls="meta"),
        *outcomes,
        line.ahead.name_with_marker if line.ahead else span(),
        type="button",
        data_do="question",
        data_question="" if opened else sample.id,
        aria_expanded="true" if opened else "false",
        autofocus=opened and query.linked,
    )
    return el("li", press, side_by_side(t, compared, versus, sample) if opened else None)


def _outcome_marks(
    t: Messages, compared: Comparison, contender: ComparedCell, sample: Sample
) -> Html:
    if compared.written:
        return join(format_fraction(compared.values[contender.id][sample.id]))
    outcomes = [outcome(trial) for trial in compared.trials[contender.id].get(sample.id, ())]
    words = t("list.comma").join(t(f"outcome.{each}") for each in outcomes)
    marks = "".join(_DOTS[each] for each in outcomes)
    return join(span(marks, aria_hidden="true"), span(f"{contender.name}: {words}", cls="hidden"))


def _pager(t: Messages, page: int, first: int, shown: int, total: int) -> Html | None:
    if total <= PAGE_SIZE and not page:
        return None
    range_label = t("compare.list.shown", first=first + 1, last=first + shown, total=f"{total:,}")
    return div(
        span(range_label if shown else "", cls="meta"),
        *page_buttons(t, "compare.list", page, more=first + shown < total),
        cls="links pad",
    )


def _nothing(t: Messages, every: Sequence[_QuestionLine]) -> Html:
    key = "compare.list.nothing_here" if every else "compare.list.nothing"
    return el("p", t(key), cls="dim gap-s")
