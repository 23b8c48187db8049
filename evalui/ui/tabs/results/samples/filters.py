"""The filters above the questions: one field each, with its name inside."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.report.html import Html, div, el
from evalui.runs.database.question_pages import SORTS
from evalui.runs.database.records import Facets, OutcomeFilter, QuestionFilter
from evalui.types import LETTERS
from evalui.ui.components.widgets import labelled, search_field, select
from evalui.ui.tabs.results.samples.address import PAGE_ROWS, SamplesAddress

_CHOICE_OUTCOMES: tuple[OutcomeFilter, ...] = (
    "wrong",
    "right",
    "order_sensitive",
    "unreadable",
    "tied",
)
_ANSWER_OUTCOMES: tuple[OutcomeFilter, ...] = ("answered", "empty", "cut")


def filter_bar(
    t: Messages,
    address: SamplesAddress,
    facets: Facets,
    *,
    model: str,
    written: bool,
    groups: Mapping[str, str],
    group: str,
) -> Html:
    """The fields that can tell questions apart, the search, and a way to clear them all.

    `groups` are the datasets and modes of the run, by the cell that opens them.
    """
    wanted = address.wanted
    fields = (
        labelled(t("samples.group"), select("group", groups, group)) if len(groups) > 1 else None,
        _outcome(t, wanted, model, written=written),
        _picker(t, "subject", facets.subjects, wanted.subject),
        _picker(t, "capability", facets.capabilities, wanted.capability),
        *(_of_written(t, wanted) if written else _of_choices(t, facets, wanted)),
    )
    search = search_field(
        "find",
        wanted.find,
        t("samples.find"),
        hint=t("samples.find_hint"),
        data_hotkey="/",
        data_typing=True,
    )
    return div(*fields, search, _clear(t, address), cls="filters", id="filters")


def count_filters(wanted: QuestionFilter) -> int:
    """How many filters are set; an order is none."""
    usual = QuestionFilter()
    names = ("outcome", "subject", "capability", "rule", "gold", "picked", "find")
    return sum(getattr(wanted, name) != getattr(usual, name) for name in names)


def _outcome(t: Messages, wanted: QuestionFilter, model: str, *, written: bool) -> Html:
    names = _ANSWER_OUTCOMES if written else _CHOICE_OUTCOMES
    words = {"": t("outcome.all")} | {name: t(f"outcome.{name}") for name in names}
    return labelled(t("samples.outcome_of", model=model), select("outcome", words, wanted.outcome))


def _of_choices(t: Messages, facets: Facets, wanted: QuestionFilter) -> tuple[Html | None, ...]:
    slots = {"": t("samples.any")} | {str(slot): LETTERS[slot] for slot in range(facets.n_options)}
    return (
        labelled(t("samples.gold"), select("gold", slots, _text(wanted.gold))),
        labelled(t("samples.picked"), select("picked", slots, _text(wanted.picked))),
        _picker(t, "rule", facets.rules, wanted.rule),
    )


def _of_written(t: Messages, wanted: QuestionFilter) -> tuple[Html]:
    words = {str(name): t(f"sort.{name}") for name in SORTS}
    return (labelled(t("samples.sort"), select("sort", words, wanted.sort)),)


def _picker(t: Messages, name: str, values: Sequence[str], chosen: str) -> Html | None:
    named = [value for value in values if value]
    if len(named) < 2 and not chosen:
        return None
    every = t("samples.any") if name == "rule" else t("samples.all", n=len(named))
    return labelled(
        t(f"samples.{name}"), select(name, {"": every, **{value: value for value in named}}, chosen)
    )


def _clear(t: Messages, address: SamplesAddress) -> Html | None:
    if not count_filters(address.wanted):
        return None
    href = address.to(
        wanted=QuestionFilter(sort=address.wanted.sort), question="", rows=PAGE_ROWS
    ).href
    return el("a", t("samples.clear"), href=href, cls="btn quiet")


def _text(slot: int | None) -> str:
    return "" if slot is None else str(slot)
