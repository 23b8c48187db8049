"""A server with accounts, and what administrators see and do on the Admin page."""

from collections.abc import Mapping
from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from ui_layout import laid_out, request_of

from evalui.access import Person
from evalui.accounts.audit import AuditEntry, read_audit
from evalui.app.service import AppService
from evalui.messages import Messages, messages
from evalui.runs.fair_queue.limits import Spending, add_spending
from evalui.ui.pages.admin import AdminPage
from evalui.ui.pages.admin.forms import AdminForm
from evalui.ui.pages.context import PageContext

ROOT = Person("root", "admin")


class Administrator:
    """The Admin page in the browser of the administrator `root`, unless of another person."""

    def __init__(
        self, service: AppService, t: Messages | None = None, person: Person = ROOT
    ) -> None:
        self.service = service
        self.person = person
        t = t or messages("en")
        self.page, _ = laid_out(lambda: AdminPage(PageContext(service, t)))
        self.shown: dict[Any, dict[str, Any]] = {}
        self.query = ""

    def sees(self, **query: str) -> str:
        """The page after a link."""
        self.query = urlencode(query)
        event = SimpleNamespace(_data={"query": self.query})
        return self._answered(self.page._open(cast("gr.EventData", event), self._request()))  # pyright: ignore[reportPrivateUsage]

    def presses(self, do: str, **data: str) -> str:
        """The page after a button of a list."""
        event = cast("gr.EventData", SimpleNamespace(_data={"do": do, **data}))
        seen = self.value(self.page.seen), self.value(self.page.server.who)
        return self._answered(self.page._act(event, self._request(), *seen))  # pyright: ignore[reportPrivateUsage]

    def sends(self, do: str, query: Mapping[str, str], **fields: Any) -> str:
        """The page after the form of an address has been filled in and sent."""
        self.sees(**query)
        form = self.open_form()
        assert form, "the address opens a form"
        return self.forges(do, form, **fields)

    def forges(self, do: str, form: AdminForm, **fields: Any) -> str:
        """The page after the event of a form, whether it is open or not."""
        values = [fields.get(name, self.value(each)) for name, each in form.inputs.items()]
        save = self.page._saver(form, do)  # pyright: ignore[reportPrivateUsage]
        return self._answered(save(self._request(), *values))

    def looks(self) -> bool:
        """Whether the page finds something new when it looks by itself."""
        seen = self.value(self.page.seen), self.value(self.page.server.who)
        changed = self.page._look(self._request(), *seen)  # pyright: ignore[reportPrivateUsage]
        is_new = "__type__" not in changed
        if is_new:
            self._answered(changed)
        return is_new

    def filters(self, who: str) -> str:
        """The page after a person was chosen above the log."""
        return self._answered(self.page._filter(self._request(), who))  # pyright: ignore[reportPrivateUsage]

    def open_form(self) -> AdminForm | None:
        """The form that is open."""
        is_open = [each for each in self.page.forms if self._sees(each.column)]
        assert len(is_open) < 2
        return is_open[0] if is_open else None

    def fields(self) -> dict[str, Any]:
        """What stands in the fields of the open form."""
        form = self.open_form()
        return {name: self.value(each) for name, each in form.inputs.items()} if form else {}

    def log(self, n: int = 1) -> list[AuditEntry]:
        return list(read_audit(self.service.database, n))

    def value(self, component: Any) -> Any:
        return self.shown.get(component, {}).get("value")

    def _request(self) -> gr.Request:
        return request_of(self.person)

    def _answered(self, updates: dict[Any, Any]) -> str:
        for component, update in updates.items():
            if component is self.page.address:
                self.query = update.partition("?")[2]
                continue
            is_update = isinstance(update, dict) and "__type__" in update
            change: dict[str, Any] = {"value": update}
            if is_update:
                change = cast("dict[str, Any]", update)
            self.shown.setdefault(component, {}).update(change)
        return self.html()

    def html(self) -> str:
        """Everything that is visible."""
        page = self.page
        shown = [page.bar, page.head, page.notice, page.verdict]
        if form := self.open_form():
            shown += [form.title, *form.more]
        for view in page.views.values():
            if self._sees(view.column):
                shown += view.made.values()
        parts = [f'<p data-address="{escape(self.query)}">', *(self._text(each) for each in shown)]
        if self._sees(page.server.column):
            parts += [escape(" | ".join(row)) for row in self.value(page.server.log)]
        return "\n".join(parts)

    def sees_button(self, button: gr.Button) -> bool:
        """Whether a button of the open form can be seen."""
        return self.shown.get(button, {}).get("visible", True)

    def _sees(self, block: Any) -> bool:
        return bool(self.shown.get(block, {}).get("visible"))

    def _text(self, component: Any) -> str:
        state = self.shown.get(component, {})
        return str(state.get("value") or "") if state.get("visible", True) else ""


def spend(service: AppService, run_id: str, at: float, **spent: float) -> None:
    with service.database.writing() as connection:
        add_spending(connection, run_id, Spending(**spent), at)  # type: ignore[arg-type]
