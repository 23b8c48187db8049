"""What the questions of a cell can be filtered by, and what is chosen."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.report.words import shorten_name
from evalui.store.question_pages import SORTS, Facets, OutcomeFilter, QuestionFilter
from evalui.types import LETTERS
from evalui.ui.pages.results.list_and_reader import Filter

_CHOICE_OUTCOMES: tuple[OutcomeFilter, ...] = (
    "wrong",
    "right",
    "order_sensitive",
    "unreadable",
    "tied",
)
_ANSWER_OUTCOMES: tuple[OutcomeFilter, ...] = ("answered", "empty", "cut")


def offered_filters(
    t: Messages, facets: Facets, wanted: QuestionFilter, *, model: str, written: bool
) -> dict[str, Filter]:
    """The lists that can tell questions apart."""
    return {
        "outcome": _outcome(t, wanted, model, written=written),
        **_named(t, "subject", facets.subjects, wanted.subject),
        **_named(t, "capability", facets.capabilities, wanted.capability),
        **(_of_written(t, wanted) if written else _of_choices(t, facets, wanted)),
    }


def count_filters(wanted: QuestionFilter) -> int:
    """How many filters are set; an order is none."""
    usual = QuestionFilter()
    names = ("outcome", "subject", "capability", "rule", "gold", "picked", "find")
    return sum(getattr(wanted, name) != getattr(usual, name) for name in names)


def _outcome(t: Messages, wanted: QuestionFilter, model: str, *, written: bool) -> Filter:
    names = _ANSWER_OUTCOMES if written else _CHOICE_OUTCOMES
    words = {"": t("outcome.all")} | {str(name): t(f"outcome.{name}") for name in names}
    return Filter(t("samples.outcome_of", model=shorten_name(model)), words, wanted.outcome)


def _of_choices(t: Messages, facets: Facets, wanted: QuestionFilter) -> Mapping[str, Filter]:
    slots = {"": t("samples.any")} | {str(slot): LETTERS[slot] for slot in range(facets.n_options)}
    return {
        "gold": Filter(t("samples.gold"), slots, _text(wanted.gold)),
        "picked": Filter(t("samples.picked"), slots, _text(wanted.picked)),
        **_named(t, "rule", facets.rules, wanted.rule),
    }


def _of_written(t: Messages, wanted: QuestionFilter) -> Mapping[str, Filter]:
    words = {str(name): t(f"sort.{name}") for name in SORTS}
    return {"sort": Filter(t("samples.sort"), words, wanted.sort)}


def _named(t: Messages, name: str, values: Sequence[str], chosen: str) -> Mapping[str, Filter]:
    """A filter by one of these values, if there are several."""
    named = [value for value in values if value]
    if len(named) < 2 and not chosen:
        return {}
    every = t("samples.any") if name == "rule" else t("samples.all", n=len(named))
    # An address may name one that no question has.
    words = {each: each for each in (*named, chosen) if each}
    return {name: Filter(t(f"samples.{name}"), {"": every} | words, chosen)}


def _text(slot: int | None) -> str:
    return "" if slot is None else str(slot)
