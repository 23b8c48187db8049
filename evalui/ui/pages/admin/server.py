"""The server itself: devices and workers, failures, who changed what, sessions and settings."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import gradio as gr

from evalui.accounts.audit import AuditEntry
from evalui.app.administration import count_sessions, list_failures, list_settings
from evalui.app.people import list_audit
from evalui.app.service import AppService
from evalui.ui.components.listing import listing, markup
from evalui.ui.pages.admin.view import Act, Markup, View
from evalui.ui.server_card import server_card
from evalui.version import __version__

_ENTRIES = 200  # of the log that are shown
_COLUMNS = ("when", "who", "deed", "thing", "detail")


class ServerView(View):
    """Everything about the program, and the log of changes, of all or of one person."""

    name = "server"

    def draw(self) -> None:
        """Make the components in their order."""
        t = self.t
        for name in ("card", "failures"):
            self.made[name] = listing()
        with gr.Column(elem_classes="card audit"):
            with gr.Row():
                markup(self.fill("heading", text=t("admin.audit"), about=""))
                with gr.Column(min_width=200, elem_classes="field"):
                    self.who = gr.Dropdown(
                        [(t("admin.everybody"), "")],
                        value="",
                        label=t("admin.audit_who"),
                        filterable=False,
                    )
            self.log = gr.Dataframe(
                headers=[t(f"admin.audit_column.{name}") for name in _COLUMNS],
                column_count=len(_COLUMNS),
                interactive=False,
                buttons=["copy", "fullscreen"],
                show_search="search",
                label=t("admin.audit"),
                show_label=False,
                wrap=True,
            )
        with gr.Column(elem_classes="folds"):
            for name in ("sessions", "settings"):
                self.made[name] = listing()

    def read(self, service: AppService) -> Markup:
        """What each component but the log shows now."""
        t, failures = self.t, list_failures(service)
        workers = service.models.workers(service.person)
        hardware, cluster = service.models.hardware(), service.models.cluster
        browsers, people = count_sessions(service)
        settings = list_settings(service)
        busy = sum(worker.row.is_busy for worker in workers)
        words = t("admin.workers_none")
        if workers:
            many = t.count("admin.workers", len(workers))
            words = t("admin.server_verdict", workers=many, busy=busy)
        finding = t("admin.settings_finding", version=__version__, n=len(settings))
        return {
            self.verdict: self.answer(words, Act(t("admin.sign_out"), "sign_out")),
            self.made["card"]: server_card(t, hardware, workers, cluster),
            self.made["failures"]: self.fill("failures", failures=failures),
            self.made["sessions"]: self.fill(
                "sessions", finding=t("admin.sessions_finding", n=browsers, people=people)
            ),
            self.made["settings"]: self.fill("settings", settings=settings, finding=finding),
        }

    def read_log(self, service: AppService, who: str) -> list[list[str]]:
        """The rows of the log, those of one person if `who` names one."""
        entries = list_audit(service, _ENTRIES)
        return [self._entry(each) for each in entries if who in ("", each.person)]

    def names(self, service: AppService) -> Sequence[tuple[str, str]]:
        """Those whom the log names, by whom it can be filtered."""
        people = sorted({each.person for each in list_audit(service, _ENTRIES)})
        return [(self.t("admin.everybody"), ""), *((name, name) for name in people)]

    def _entry(self, entry: AuditEntry) -> list[str]:
        t, deed = self.t, f"deed.{entry.deed}"
        detail = "; ".join(f"{name}: {value}" for name, value in entry.detail.items())
        return [
            f"{datetime.fromtimestamp(entry.at).astimezone():%Y-%m-%d %H:%M}",
            entry.person,
            t(deed) if deed in t else entry.deed,
            entry.thing,
            detail,
        ]

    def logged(self, service: AppService, who: str) -> dict[Any, Any]:
        """The log and the choice of its person, as they are to be shown."""
        names = self.names(service)
        chosen = who if who in dict(names).values() else ""
        return {
            self.who: gr.update(choices=names, value=chosen),
            self.log: gr.update(value=self.read_log(service, chosen)),
        }
