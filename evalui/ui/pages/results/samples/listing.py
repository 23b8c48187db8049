"""The list of questions: two lines each, with a mark for every order of every model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from evalui.app.questions import AnsweringModel, QuestionList
from evalui.messages import Messages
from evalui.modes import traits_of
from evalui.report.html import Html
from evalui.report.numbers import format_fraction
from evalui.scoring.texts.metrics import MAIN
from evalui.store.question_pages import ListedQuestion, TrialMark, TrialOutcome
from evalui.ui.components.format import short_id
from evalui.ui.components.option_table import marks
from evalui.ui.components.pictures import list_line, run_address
from evalui.ui.components.templates import fill, macro
from evalui.ui.pages.results.list_and_reader import pager
from evalui.ui.pages.results.samples.address import SamplesAddress

_SIGNS: tuple[TrialOutcome, ...] = ("right", "wrong", "unreadable", "tied")


@dataclass(frozen=True, slots=True)
class _Line:
    """A question with the marks of the models, and its address."""

    id: str
    href: str
    question: Html
    short_id: str
    about: str
    marks: Sequence[Html]


def listed_lines(
    t: Messages,
    address: SamplesAddress,
    listed: QuestionList,
    models: Sequence[AnsweringModel],
    *,
    opened: str,
    subjects: bool,
) -> Html:
    """The list, in which one is `opened`; `subjects` are named if there are several."""
    hrefs = address.hrefs(row.sample.id for row in listed.rows)
    drawn = cache(partial(_marks, t))  # a thousand questions have few different marks
    rows = [
        _Line(
            row.sample.id,
            href,
            list_line(t, run_address(address.run), row.sample.question),
            short_id(row.sample.id),
            _about(row, subject=subjects),
            [
                drawn(each, row.marks.get(each.row.id, ()), bool(row.sample.references))
                for each in models
            ],
        )
        for row, href in zip(listed.rows, hrefs, strict=True)
    ]
    written, credit = models[0].is_written, traits_of(models[0].row.cell.mode).credit
    names_another = credit and credit != MAIN
    return fill(
        "questions/list.html",
        t=t,
        count=t("samples.count", n=f"{listed.n:,}", total=f"{listed.total:,}"),
        previous=address.href_of(listed.previous),
        following=address.href_of(listed.following),
        rows=rows,
        opened=opened,
        pager=pager(t, listed.page, listed.n, lambda page: address.to(page=page).href),
        legend=t("samples.own_legend", name=credit) if names_another else t("samples.open_legend"),
        signs=() if written else [(marks(t, [each]), t(f"samples.sign_{each}")) for each in _SIGNS],
        models=models,
    )


def _about(row: ListedQuestion, *, subject: bool) -> str:
    sample = row.sample
    words = (sample.subject if subject else "", sample.metadata.get("capability", ""))
    about = " · ".join(word for word in words if word)
    return f" · {about}" if about else ""


def _marks(
    t: Messages, model: AnsweringModel, own: tuple[TrialMark, ...], has_reference: bool
) -> Html:
    figures = [_figure(t, mark, has_reference) for mark in own] if model.is_written else []
    drawn = "" if model.is_written else marks(t, [mark.outcome for mark in own])
    return macro("questions/cells.html", "model_marks", model, drawn, figures)


def _figure(t: Messages, mark: TrialMark, has_reference: bool) -> tuple[str, str]:
    """Of a written answer: what became of it if that is not as usual, else its figure."""
    if mark.rule in ("empty", "cut"):
        return t(f"outcome.{mark.rule}"), "bad" if mark.rule == "empty" else ""
    return format_fraction(mark.credit) if has_reference else "–", ""
