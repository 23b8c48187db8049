"""Compare, its address: what is compared by what, and which of the questions are in view."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlencode

from evalui.report.analyses.comparison import Comparison, PairComparison
from evalui.ui.components.form import Form, field_value, parse_whole_number


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """The state of the page; "" or 0 of what the address leaves open.

    `run` is a run to begin with, `runs` and `group` are what is chosen where no cell is: runs, and
    a cell of the group. `only` is the cell whose questions alone are listed, `page` counts from 0,
    `question` is open.
    """

    run: str = ""
    runs: str = ""
    group: str = ""
    cells: str = ""
    measure: str = ""
    pair: str = ""
    only: str = ""
    page: int = 0
    question: str = ""

    @property
    def address(self) -> str:
        """The state as the query of an address."""
        named = {
            "run": self.run,
            "runs": self.runs,
            "group": self.group,
            "cells": self.cells,
            "measure": self.measure,
            "pair": self.pair,
            "only": self.only,
            "page": str(self.page or ""),
            "q": self.question,
        }
        return urlencode({name: value for name, value in named.items() if value}, safe=",")

    def of(self, compared: Comparison, pair: PairComparison | None) -> Self:
        """The same state without what cannot be understood, nor what goes without saying."""
        ids = (pair.first.id, pair.second.id) if pair else ()
        usual = len(compared.pairs) < 2 or pair == compared.pairs[0]
        return replace(
            self,
            run="",
            cells=",".join(each.id for each in compared.contenders),
            measure="" if compared.measure == compared.measures[0] else compared.measure,
            pair="" if usual or pair is None else pair.key,
            only=self.only if self.only in ids else "",
        )

    def with_cells(self, cells: Iterable[int], runs: Iterable[str], group: int | None) -> Self:
        """Other cells by the same measure; `runs` and `group` are chosen beside them."""
        return type(self)(
            runs=",".join(runs),
            group="" if group is None else str(group),
            cells=",".join(map(str, cells)),
            measure=self.measure,
        )

    def with_measure(self, measure: str) -> Self:
        """The same by another measure, its questions from their beginning."""
        return replace(self, measure=measure, only="", page=0, question="")

    def with_pair(self, key: str) -> Self:
        """The questions of another pair, from their beginning."""
        return replace(self, pair=key, only="", page=0, question="")

    def with_only(self, cell: str) -> Self:
        """The questions of one side alone, from their beginning."""
        return replace(self, only=cell, page=0, question="")

    def with_page(self, page: int) -> Self:
        """Another page of the list."""
        return replace(self, page=page, question="")

    def with_question(self, sample_id: str) -> Self:
        """The same page with another question open, "" for none."""
        return replace(self, question=sample_id)


def read_query(form: Form) -> CompareQuery:
    """The state of an address."""
    return CompareQuery(
        run=field_value(form, "run"),
        runs=field_value(form, "runs"),
        group=field_value(form, "group"),
        cells=field_value(form, "cells"),
        measure=field_value(form, "measure"),
        pair=field_value(form, "pair"),
        only=field_value(form, "only"),
        page=parse_whole_number(field_value(form, "page")) or 0,
        question=field_value(form, "q"),
    )
