"""A server with accounts, and what administrators see and do on the Admin page."""

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from typing import Any

from drawn_page import DrawnPage

from evalui.access import Person
from evalui.accounts.audit import AuditEntry, read_audit
from evalui.app.service import AppService
from evalui.runs.fair_queue.limits import Spending, add_spending
from evalui.types import Language
from evalui.ui.components.form import read_query

ROOT = Person("root", "admin")


class Administrator:
    """The Admin page in the browser of the administrator `root`, unless of another person."""

    def __init__(
        self, service: AppService, language: Language = "en", person: Person = ROOT
    ) -> None:
        self.service, self.language, self.person = service, language, person
        self.query: Mapping[str, Any] = {}

    def sees(self, **query: str) -> str:
        """The page after a link."""
        self.query = query
        return self.drawn().text

    def drawn(self, **query: str) -> DrawnPage:
        """The page at an address, that of before unless stated."""
        service = self.service.acting_for(self.person)
        return DrawnPage("admin", service, query or self.query, self.language)

    def presses(self, do: str, **data: str) -> str:
        """The page after a button of its lists, with what is told for a moment."""
        page = self.drawn()
        return self._after(page, partial(page.act, do, **data))

    def sends(self, word: str, query: Mapping[str, Any], **fields: object) -> str:
        """The page after the form of an address has been filled in, by labels, and sent."""
        self.query = query
        page = self.drawn()
        return self._after(page, partial(page.press, word, **fields))

    def log(self, n: int = 1) -> list[AuditEntry]:
        return list(read_audit(self.service.database, n))

    def _after(self, page: DrawnPage, event: Callable[[], Mapping[Any, Any]]) -> str:
        with redirect_stdout(StringIO()) as told:
            answer = event()
        if page.place in answer:
            self.query = read_query(answer[page.place].partition("?")[2])
            return told.getvalue() + self.drawn().text
        return "".join(
            str(each.get("value") if isinstance(each, dict) else each) for each in answer.values()
        )


def spend(service: AppService, run_id: str, at: float, **spent: float) -> None:
    with service.database.writing() as connection:
        add_spending(connection, run_id, Spending(**spent), at)  # type: ignore[arg-type]
