"""What the questions of a cell can be filtered by, and what is chosen."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.store.question_pages import SORTS, Facets, OutcomeFilter, QuestionFilter
from evalui.types import LETTERS
from evalui.ui.components.pickers import Words

# Every list beside the search, in the order of the page; which of them stand there the facets say.
NAMES = ("group", "outcome", "subject", "capability", "gold", "picked", "rule", "sort")
_CHOICE_OUTCOMES: tuple[OutcomeFilter, ...] = (
    "wrong",
    "right",
    "order_sensitive",
    "unreadable",
    "tied",
)
_ANSWER_OUTCOMES: tuple[OutcomeFilter, ...] = ("answered", "empty", "cut")


def offered_filters(
    t: Messages,
    facets: Facets,
    wanted: QuestionFilter,
    *,
    model: str,
    written: bool,
    groups: Words,
) -> dict[str, Words]:
    """The lists that can tell questions apart; `groups` are the datasets and modes of the run."""
    offered = {
        "group": groups if len(groups.offered) > 1 else None,
        "outcome": _outcome(t, wanted, model, written=written),
        "subject": _picker(t, "subject", facets.subjects, wanted.subject),
        "capability": _picker(t, "capability", facets.capabilities, wanted.capability),
        **(_of_written(t, wanted) if written else _of_choices(t, facets, wanted)),
    }
    return {name: words for name, words in offered.items() if words}


def count_filters(wanted: QuestionFilter) -> int:
    """How many filters are set; an order is none."""
    usual = QuestionFilter()
    names = ("outcome", "subject", "capability", "rule", "gold", "picked", "find")
    return sum(getattr(wanted, name) != getattr(usual, name) for name in names)


def _outcome(t: Messages, wanted: QuestionFilter, model: str, *, written: bool) -> Words:
    names = _ANSWER_OUTCOMES if written else _CHOICE_OUTCOMES
    words = {"": t("outcome.all")} | {str(name): t(f"outcome.{name}") for name in names}
    return Words(words, wanted.outcome, t("samples.outcome_of", model=model))


def _of_choices(t: Messages, facets: Facets, wanted: QuestionFilter) -> Mapping[str, Words | None]:
    slots = {"": t("samples.any")} | {str(slot): LETTERS[slot] for slot in range(facets.n_options)}
    return {
        "gold": Words(slots, _text(wanted.gold)),
        "picked": Words(slots, _text(wanted.picked)),
        "rule": _picker(t, "rule", facets.rules, wanted.rule),
    }


def _of_written(t: Messages, wanted: QuestionFilter) -> Mapping[str, Words | None]:
    return {"sort": Words({str(name): t(f"sort.{name}") for name in SORTS}, wanted.sort)}


def _picker(t: Messages, name: str, values: Sequence[str], chosen: str) -> Words | None:
    named = [value for value in values if value]
    if len(named) < 2 and not chosen:
        return None
    every = t("samples.any") if name == "rule" else t("samples.all", n=len(named))
    # An address may name one that no question has.
    words = {each: each for each in (*named, chosen) if each}
    return Words({"": every} | words, chosen)


def _text(slot: int | None) -> str:
    return "" if slot is None else str(slot)
