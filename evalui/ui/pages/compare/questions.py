"""Compare, the questions on which two differ: a list to filter, and one of them side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalui.messages import Messages
from evalui.report.analyses.comparison import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
    measure_words,
    split_questions,
)
from evalui.report.html import Html
from evalui.report.numbers import format_fraction
from evalui.store.question_pages import MAX_MARKS, CellMarks, read_marks
from evalui.types import Sample
from evalui.ui.components.format import short_id
from evalui.ui.components.listing import markup, remark
from evalui.ui.components.pictures import list_line, run_address
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import note
from evalui.ui.pages.compare.query import CompareQuery
from evalui.ui.pages.compare.question import PairView, contender_name, show_question

PAGE_SIZE = 20
_DOTS = {"right": "●", "wrong": "○", "unreadable": "–", "tied": "◐"}


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One question, who is better on it, and by how much."""

    sample: Sample
    ahead: Contender
    gap: float


@dataclass(frozen=True, slots=True)
class DifferingQuestions:
    """The questions of a pair that the address lists: all on which they differ, and a page."""

    view: PairView
    every: Sequence[QuestionLine]
    filtered: Sequence[QuestionLine]
    page: int

    @property
    def rows(self) -> Sequence[QuestionLine]:
        """The lines of the page."""
        return self.filtered[self.page * PAGE_SIZE : (self.page + 1) * PAGE_SIZE]


def question_list(view: PairView) -> DifferingQuestions:
    """The list of a pair on the page that the address names."""
    every = _lines(view.compared, view.pair)
    filtered = [line for line in every if view.query.only in ("", line.ahead.id)]
    return DifferingQuestions(view, every, filtered, _page(filtered, view.query))


def show_questions(listed: DifferingQuestions) -> None:
    """Make the components of the list; the opened question unfolds below its line."""
    view, t = listed.view, listed.view.t
    open_id, rows = view.query.question, listed.rows
    ids = [line.sample.id for line in rows]
    if open_id and open_id not in ids:
        _show_outside_list(view)
    if not rows:
        key = "compare.list.nothing_here" if listed.every else "compare.list.nothing"
        _markup("nothing", fill("compare/nothing.html", text=t(key)))
    else:
        marks = read_marks(
            view.service.database, [view.models[each.id].row.id for each in view.both], ids
        )
        cut = ids.index(open_id) + 1 if open_id in ids else len(rows)
        several = len({sample.subject for sample in view.compared.samples.values()}) > 1
        paged = replace(view, query=view.query.with_page(listed.page).with_question(open_id))
        remark(t(f"compare.list.{_legend(view, marks)}"), **_kept("legend"))
        _markup("lines", _listing(paged, rows[:cut], marks, several=several, heads=True))
        if open_id in ids:
            show_question(paged, rows[cut - 1].sample)
        if cut < len(rows):
            _markup("more", _listing(paged, rows[cut:], marks, several=several))
    if (total := len(listed.filtered)) > PAGE_SIZE:
        _markup("pager", _pager(view, listed.page, total))


def _pager(view: PairView, page: int, total: int) -> Html:
    """Which of all rows are shown, and the pages beside."""
    first, last = page * PAGE_SIZE + 1, min((page + 1) * PAGE_SIZE, total)
    return fill(
        "compare/pager.html",
        t=view.t,
        shown=view.t("list.shown", first=f"{first:,}", last=f"{last:,}", total=f"{total:,}"),
        pages=[
            (word, f"compare?{view.query.with_page(at).address}")
            for word, at in (("earlier", page - 1), ("later", page + 1))
            if 0 <= at * PAGE_SIZE < total
        ],
    )


def filter_words(listed: DifferingQuestions) -> dict[str, str]:
    """All questions, and those on which one of the two is better, by its id."""
    view, t = listed.view, listed.view.t
    of_references = view.compared.measure in FIGURES
    word = "compare.list.closer" if of_references else "compare.list.only"
    if view.compared.measure == "mean_over_orders" or (view.compared.scored and not of_references):
        word = "compare.list.higher"
    words = {"": t("compare.list.all", n=f"{len(listed.every):,}")}
    for each in view.both:
        n = sum(line.ahead == each for line in listed.every)
        words[each.id] = t(word, name=each.name, n=f"{n:,}")
    return words


def pair_words(t: Messages, compared: Comparison) -> dict[str, str]:
    """The pairs of a comparison, by their keys."""
    return {
        each.key: t("compare.versus", first=each.first.name, second=each.second.name)
        for each in compared.pairs
    }


def _lines(compared: Comparison, pair: PairComparison) -> list[QuestionLine]:
    split = split_questions(compared, pair)
    winners = dict.fromkeys(split.ahead, pair.first) | dict.fromkeys(split.behind, pair.second)
    mine, other = compared.values[pair.first.id], compared.values[pair.second.id]
    lines = [
        QuestionLine(sample, winners[name], abs(mine[name] - other[name]))
        for name, sample in compared.samples.items()
        if name in winners
    ]
    # Right and wrong have one difference; of others the widest matter most.
    return sorted(lines, key=lambda line: -line.gap) if compared.scored else lines


def _page(lines: Sequence[QuestionLine], query: CompareQuery) -> int:
    """The page with the question that is open, else the requested one if there is so much."""
    ids = [line.sample.id for line in lines]
    if query.question in ids:
        return ids.index(query.question) // PAGE_SIZE
    return min(query.page, max(len(lines) - 1, 0) // PAGE_SIZE)


def _markup(name: str, content: Html) -> None:
    markup(content, elem_classes="ev", **_kept(name))


def _kept(name: str) -> dict[str, Any]:
    """The key of a component, whose place the next one of its name takes."""
    return {"key": ("questions", name), "preserved_by_key": []}


def _show_outside_list(view: PairView) -> None:
    """A question that an address names and the list does not hold: they agree on it."""
    t, id_ = view.t, view.query.question
    sample = view.compared.samples.get(id_)
    if sample is None:
        _markup("unknown", note("warn", t("compare.question.unknown", id=id_)))
        return
    title = t("question.title", id=short_id(id_))
    text = t("compare.question.equal")
    _markup("beside", fill("compare/beside.html", title=title, text=text))
    show_question(view, sample)


def _legend(view: PairView, marks: Mapping[str, CellMarks]) -> str:
    if view.compared.written:
        return "legend_rouge"
    orders = max((len(each) for own in marks.values() for each in own.values()), default=0)
    return "legend_counts" if orders > MAX_MARKS else "legend"


def _listing(
    view: PairView,
    rows: Sequence[QuestionLine],
    marks: Mapping[str, CellMarks],
    *,
    several: bool,
    heads: bool = False,
) -> Html:
    t, measure = view.t, view.compared.measure
    words = [
        t("compare.list.id"),
        t("compare.list.question"),
        *([t("compare.list.subject")] if several else []),
        *(each.name for each in view.both),
        measure_words(t, f"compare.list.{measure}", measure),
    ]
    lines = [_line(view, line, marks[line.sample.id]) for line in rows]
    return fill("compare/list.html", heads=words if heads else (), several=several, lines=lines)


def _line(view: PairView, line: QuestionLine, marks: CellMarks) -> Mapping[str, object]:
    sample = line.sample
    opened = sample.id == view.query.question
    return {
        "id": sample.id,
        "short": short_id(sample.id),
        "question": list_line(view.t, run_address(view.both[0].run), sample.question),
        "subject": sample.subject,
        "opened": opened,
        "href": f"compare?{view.query.with_question('' if opened else sample.id).address}",
        "outcomes": [_outcomes(view, each, sample, marks) for each in view.both],
        "ahead": contender_name(line.ahead),
    }


def _outcomes(
    view: PairView, contender: Contender, sample: Sample, every: CellMarks
) -> Mapping[str, str]:
    """What became of a question, with the name: the heads of the list are for the eye."""
    told = {"name": contender.name, "marks": "", "words": "", "count": "", "value": ""}
    if view.compared.written:
        return told | {"value": format_fraction(view.compared.values[contender.id][sample.id])}
    outcomes = [mark.outcome for mark in every.get(view.models[contender.id].row.id, ())]
    if len(outcomes) > MAX_MARKS:
        return told | {"count": f"{outcomes.count('right')}/{len(outcomes)}"}
    words = view.t("list.comma").join(view.t(f"outcome.{each}") for each in outcomes)
    return told | {"marks": "".join(_DOTS[each] for each in outcomes), "words": words}
