"""The list of questions: two lines each, with a mark for every order of every model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import marker
from evalui.runs.database.question_pages import MAX_MARKS
from evalui.runs.database.records import ListedQuestion, TrialMark, TrialOutcome
from evalui.ui.components.format import short_id
from evalui.ui.tabs.results.samples.address import MAX_ROWS, PAGE_ROWS, SamplesAddress
from evalui.ui.tabs.results.samples.answering import AnsweringModel

_MAX_MODELS = 4  # that have marks in the list
_SHAPES: dict[TrialOutcome, str] = {
    "right": '<circle cx="{x}" cy="5" r="3.5" fill="var(--ink)" stroke="var(--ink)"/>',
    "wrong": '<circle cx="{x}" cy="5" r="3.5" fill="none" stroke="var(--line-strong)"/>',
    "unreadable": '<path d="M{left} 5h7" stroke="var(--line-strong)" stroke-width="1.6"/>',
    "tied": '<path d="M{x} 1.5a3.5 3.5 0 0 0 0 7z" fill="var(--ink)"/>'
    '<circle cx="{x}" cy="5" r="3.5" fill="none" stroke="var(--ink)"/>',
}


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What is listed: rows from `start` on, of the `n` questions that match among `total`.

    `opened` is the place in the file of the opened question, `position` its place among those that
    match, None if it is none of them. `previous`, `following` and `beyond` are the ids of the
    questions before and after it, and of the first one after the rows; "" where there is none.
    """

    rows: tuple[ListedQuestion, ...]
    n: int
    total: int
    start: int
    position: int | None
    opened: int | None
    previous: str = ""
    following: str = ""
    beyond: str = ""

    @property
    def first(self) -> str:
        """The id of the first row, "" without rows."""
        return self.rows[0].sample.id if self.rows else ""


def question_list(
    t: Messages,
    address: SamplesAddress,
    listed: QuestionList,
    models: Sequence[AnsweringModel],
    *,
    subjects: bool,
) -> Html:
    """The count, the questions, what else there is, and what the marks mean.

    `subjects` are named if there are several.
    """
    hrefs = address.hrefs(row.sample.id for row in listed.rows)
    drawn = cache(partial(_marks, t))  # a thousand questions have few different marks
    items = [
        _item(
            row,
            href,
            [
                drawn(each, row.marks.get(each.row.id, ()), bool(row.sample.references))
                for each in models
            ],
            current=row.place == listed.opened,
            subject=subjects,
        )
        for row, href in zip(listed.rows, hrefs, strict=True)
    ]
    return div(
        div(
            el("h2", t("samples.count", n=f"{listed.n:,}", total=f"{listed.total:,}")),
            div(
                _step(t, address, listed.following, "next", "j"),
                _step(t, address, listed.previous, "previous", "k"),
                cls="meta beside",
            ),
            cls="list-h",
        ),
        _before(t, address, listed),
        el("ul", *items, cls="questions") if items else None,
        _more(t, address, listed),
        _legend(t, models) if items else None,
        cls="col-l",
    )


def marks_svg(t: Messages, outcomes: Sequence[TrialOutcome]) -> Html:
    """A mark for each order, or how many are right where there are too many to draw."""
    if len(outcomes) > MAX_MARKS:
        return span(f"{outcomes.count('right')}/{len(outcomes)}", cls="meta")
    shapes = (
        _SHAPES[outcome].format(x=5 + 11 * place, left=1.5 + 11 * place)
        for place, outcome in enumerate(outcomes)
    )
    words = t("list.comma").join(t(f"outcome.{outcome}") for outcome in outcomes)
    return el(
        "svg",
        Html("".join(shapes)),
        cls="marks",
        width=11 * len(outcomes),
        height=10,
        viewBox=f"0 0 {11 * len(outcomes)} 10",
        role="img",
        aria_label=words,
    )


def listed_models(models: Sequence[AnsweringModel], chosen: int) -> tuple[AnsweringModel, ...]:
    """The models that have marks in the list: real ones before scripts, the chosen one always."""
    own = [model for model in models if not model.baseline] or list(models)
    shown = own[:_MAX_MODELS]
    if all(model.row.id != chosen for model in shown):
        last = [model for model in models if model.row.id == chosen]
        shown = [*shown[: _MAX_MODELS - 1], *last]
    return tuple(shown)


def _step(t: Messages, address: SamplesAddress, question: str, name: str, key: str) -> Html | None:
    if not question:
        return None
    link = address.to(question=question).href
    return el("a", el("kbd", key), " ", t(f"samples.{name}"), href=link, data_hotkey=key)


def _item(
    row: ListedQuestion,
    href: str,
    marks: Sequence[Html],
    *,
    current: bool,
    subject: bool,
) -> Html:
    sample = row.sample
    words = (sample.subject if subject else "", sample.metadata.get("capability", ""))
    about = " · ".join(word for word in words if word)
    link = el(
        "a",
        span(sample.question, cls="q"),
        span(
            span(
                span(short_id(sample.id), cls="mono"), f" · {about}" if about else None, cls="meta"
            ),
            *marks,
            cls="f",
        ),
        href=href,
        aria_current="true" if current else None,
    )
    return el("li", link)


def _marks(
    t: Messages, model: AnsweringModel, marks: tuple[TrialMark, ...], has_reference: bool
) -> Html:
    drawn = marker(model.place, baseline=model.baseline)
    signs = (
        [_figure(t, mark, has_reference) for mark in marks]
        if model.is_written
        else [marks_svg(t, [mark.outcome for mark in marks])]
    )
    return span(drawn, span(model.name, cls="hidden"), *signs, cls="mks")


def _figure(t: Messages, mark: TrialMark, has_reference: bool) -> Html:
    """Of a written answer: what became of it if that is not as usual, else its figure."""
    if mark.rule in ("empty", "cut"):
        return span(t(f"outcome.{mark.rule}"), cls="meta bad" if mark.rule == "empty" else "meta")
    return span(format_fraction(mark.credit) if has_reference else "–", cls="meta")


def _before(t: Messages, address: SamplesAddress, listed: QuestionList) -> Html | None:
    """A link to the rows above, where the list does not begin with the first question."""
    if not listed.start:
        return None
    return _grow(t("samples.before"), address.to(rows=_rows(listed.start + PAGE_ROWS)))


def _more(t: Messages, address: SamplesAddress, listed: QuestionList) -> Html | None:
    shown = listed.start + len(listed.rows)
    rest = listed.n - shown
    if rest <= 0:
        return None
    more = (
        address.to(rows=shown + PAGE_ROWS)
        if shown + PAGE_ROWS <= MAX_ROWS
        else address.to(question=listed.beyond, rows=PAGE_ROWS)
    )
    return _grow(t("samples.more", n=min(rest, PAGE_ROWS)), more)


def _grow(words: str, address: SamplesAddress) -> Html:
    return el("p", el("a", el("b", words), href=address.href), cls="grow-list")


def _rows(wanted: int) -> int:
    return min(wanted, MAX_ROWS)


def _legend(t: Messages, models: Sequence[AnsweringModel]) -> Html:
    names = [span(model.name_with_marker, cls="nw") for model in models]
    signs = t("samples.open_legend") if models[0].is_written else _signs(t)
    return div(div(signs), div(join(*names, separator=" ")), cls="meta legend-l")


def _signs(t: Messages) -> Html:
    shown: tuple[TrialOutcome, ...] = ("right", "wrong", "unreadable", "tied")
    return join(
        *(span(marks_svg(t, [each]), " ", t(f"samples.sign_{each}"), cls="nw") for each in shown),
        separator=" ",
    )
