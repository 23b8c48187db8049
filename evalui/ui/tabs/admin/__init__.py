"""The Admin tab: people, queue, models, storage and server, for administrators alone."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlencode

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import alert, copy_button, note, segments
from evalui.ui.tabs.admin import people_view, queue_view, stock_views
from evalui.ui.tabs.admin.changes import CHANGES, ChangeNotice
from evalui.ui.tabs.admin.context import AdminPage
from evalui.ui.tabs.admin.server_view import server_view

VIEWS: Mapping[str, Callable[[AdminPage], Html]] = {
    "users": people_view.people_view,
    "queue": queue_view.queue_view,
    "models": stock_views.models_view,
    "storage": stock_views.storage_view,
    "server": server_view,
}
# Drop-down lists that are a change of their own, named "role:ann", and what they are chosen for.
_LISTS: Mapping[str, str] = {"role": "person", "priority": "target"}
_FILTERS = ("who",)
_CLOSING = ("invite", "limits", "remove")  # changes after which their form is closed
_WATCH_MS = 5000


class AdminTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The view of the address; raises `NotAllowed` to all but administrators."""
        return self._page(form)

    def act(self, action: Action) -> Html | None:
        """The view after a change; None for a field of a form that is not sent yet."""
        action = _chosen(action)
        if action.do == "set" and action.value("name") not in _FILTERS:
            return None
        self.service.require("administer")
        notice, problem, form = None, "", action.form
        try:
            if change := CHANGES.get(action.do):
                notice = change(self.service, action)
                if action.do in _CLOSING:
                    form = {key: form[key] for key in form if key not in ("add", "person")}
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
        confirming = action.value("team") if action.do == "ask" else ""
        return self._page(form, notice, problem, confirming)

    def _page(
        self,
        form: Form,
        notice: ChangeNotice | None = None,
        problem: str = "",
        confirming: str = "",
    ) -> Html:
        self.service.require("administer")
        sub = field_value(form, "sub")
        sub = sub if sub in VIEWS else next(iter(VIEWS))
        t, page = self.t, AdminPage(self.service, self.t, form, confirming)
        kept = {name: value for name in ("add", "person", *_FILTERS) if (value := page.value(name))}
        links = ((t(f"admin.{name}"), f"?tab=admin&sub={name}", name == sub) for name in VIEWS)
        damage = self.service.database.damage
        changes_by_itself = not (kept or problem or notice or confirming)
        return div(
            div(el("b", t("admin.title")), segments(links, t("admin.views")), cls="runline"),
            alert("bad", problem),
            alert("bad", t("admin.store_damaged", reason=damage) if damage else ""),
            self._done(notice) if notice else None,
            VIEWS[sub](page),
            cls="stack admin",
            data_address=urlencode({"tab": "admin", "sub": sub} | kept),
            data_watch=_WATCH_MS if changes_by_itself else None,
        )

    def _done(self, notice: ChangeNotice) -> Html:
        t = self.t
        about = t(f"admin.done.{notice.key}", **notice.values)
        if not notice.secret:
            return div(note("ok", about), role="status")
        # Nothing but its digest is kept: this is the only time that it can be copied.
        server = self.service.settings.public_url.rstrip("/") or ".."
        address = f"{server}/invitation/{notice.secret}"
        link = span(address.removeprefix(".."), cls="mono")
        return div(note("ok", about, div(link, copy_button(t, address), cls="once")), role="status")


def _chosen(action: Action) -> Action:
    kind, colon, thing = action.value("name").partition(":")
    if action.do != "set" or not colon or kind not in _LISTS:
        return action
    chosen = field_value(action.form, f"{kind}:{thing}")
    return replace(action, do=kind, data={_LISTS[kind]: thing, kind: chosen})
