"""A server with accounts, and what administrators do there."""

from collections.abc import Iterator
from contextlib import contextmanager

from evalui.access import Person
from evalui.accounts.audit import AuditEntry, read_audit
from evalui.app.service import AppService
from evalui.messages import Messages, messages
from evalui.runs.fair_queue.spending import Spending, add_spending
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.tabs.admin import AdminTab

ROOT = Person("root", "admin")


class Administrator:
    """Acts on the Admin tab as the administrator `root`, in English unless stated otherwise."""

    def __init__(self, service: AppService, t: Messages | None = None) -> None:
        self.service = service
        self.tab = AdminTab(service, t or messages("en"))

    def sees(self, **form: str) -> str:
        with acting_as(ROOT):
            return self.tab.render({"tab": "admin", **form})

    def does(self, do: str, fields: Form | None = None, **data: str) -> str:
        with acting_as(ROOT):
            return self.tab.act(Action(do, data, fields or {})) or ""

    def chooses(self, name: str, value: str) -> str:
        """Change a drop-down list."""
        return self.does("set", {name: value}, name=name)

    def log(self, n: int = 1) -> list[AuditEntry]:
        return list(read_audit(self.service.database, n))


def spend(service: AppService, run_id: str, at: float, **spent: float) -> None:
    with service.database.writing() as connection:
        add_spending(connection, run_id, Spending(**spent), at)  # type: ignore[arg-type]


@contextmanager
def seen_as(person: Person) -> Iterator[None]:
    with acting_as(person):
        yield
