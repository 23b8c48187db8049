"""What the address of a view of questions holds: the filters, the question, and how it is shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args
from urllib.parse import quote, quote_plus, urlencode

from evalui.store.question_pages import SORTS, OutcomeFilter, QuestionFilter, QuestionSort
from evalui.types import LETTERS
from evalui.ui.components.form import MAX_FIND, Form, field_value, parse_whole_number

MAX_ORDERS = 24  # columns of a table that stand beside each other

Columns = Literal["orders", "models"]
_OUTCOMES: Mapping[str, OutcomeFilter] = {name: name for name in get_args(OutcomeFilter)}
_SORTS: Mapping[str, QuestionSort] = {name: name for name in SORTS}
_FILTERS = tuple(f.name for f in fields(QuestionFilter))
# Of one model and mode only: they mean nothing for another dataset.
OF_A_CELL = ("order", "subject", "capability", "rule", "gold", "picked", "outcome", "sort")


@dataclass(frozen=True, slots=True)
class SamplesAddress:
    """One address. `cell` and `question` are ids, "" for the first one.

    `order` is the place of an order of the options among those of the question, `page` that of a
    part of the list, None for the one with the question.
    """

    run: str
    cell: str = ""
    question: str = ""
    by: Columns = "orders"
    order: int = 0
    page: int | None = None
    wanted: QuestionFilter = field(default_factory=QuestionFilter)

    def to(self, **changes: Any) -> Self:
        """The address with these changes."""
        return replace(self, **changes)

    @property
    def query(self) -> str:
        """The address as the query of a page; what is as usual is left out."""
        values = {
            "run": self.run,
            "sub": "samples",
            "cell": self.cell,
            "q": self.question,
            **self._view,
            "page": "" if self.page is None else self.page,
        }
        return urlencode({name: value for name, value in values.items() if value != ""})

    @property
    def href(self) -> str:
        """The address as a link, relative to that of a language."""
        return f"results?{self.query}"

    def href_of(self, question: str) -> str:
        """The same as a link to another question, "" if there is none."""
        return self.to(question=question, page=None).href if question else ""

    def hrefs(self, questions: Iterable[str]) -> list[str]:
        """The same as links to each of the questions, whose ids alone differ."""
        before, _, after = self.href_of("\0").partition(quote_plus("\0"))
        return [f"{before}{quote_plus(each)}{after}" for each in questions]

    @property
    def permalink(self) -> str:
        """The address of the question, from the server's root on, with what decides its view."""
        values = {"cell": self.cell, **self._view}
        view = urlencode({name: value for name, value in values.items() if value != ""})
        path = f"r/{quote(self.run)}/q/{quote(self.question)}"
        return f"{path}?{view}" if view else path

    @property
    def _view(self) -> dict[str, object]:
        filters = {name: getattr(self.wanted, name) for name in _FILTERS}
        usual = QuestionFilter()
        return {
            "by": "" if self.by == "orders" else self.by,
            "order": self.order or "",
            **{
                name: "" if value == getattr(usual, name) else value
                for name, value in filters.items()
            },
        }


def read_address(run_id: str, form: Form) -> SamplesAddress:
    """The address in a form or a query; what cannot be understood is as usual."""
    by = field_value(form, "by")
    return SamplesAddress(
        run=run_id,
        cell=field_value(form, "cell"),
        # Addresses of earlier versions call it `sample`.
        question=field_value(form, "q") or field_value(form, "sample"),
        by=next((name for name in get_args(Columns) if name == by), "orders"),
        order=parse_whole_number(field_value(form, "order")) or 0,
        page=parse_whole_number(field_value(form, "page")),
        wanted=_read_filter(form),
    )


def _read_filter(form: Form) -> QuestionFilter:
    return QuestionFilter(
        outcome=_OUTCOMES.get(field_value(form, "outcome"), ""),
        subject=field_value(form, "subject"),
        capability=field_value(form, "capability"),
        rule=field_value(form, "rule"),
        gold=_slot(field_value(form, "gold")),
        picked=_slot(field_value(form, "picked")),
        find=field_value(form, "find").strip()[:MAX_FIND],
        sort=_SORTS.get(field_value(form, "sort"), "file"),
    )


def _slot(text: str) -> int | None:
    slot = parse_whole_number(text)
    return None if slot is None or slot >= len(LETTERS) else slot
