"""The server itself: devices and workers, failures, settings, sessions, and who changed what."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr

from evalui.accounts.audit import AuditEntry, read_audit
from evalui.app.readings import Failure, count_sessions, read_failures
from evalui.report.html import Child, Html, el, join, span
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import button, empty, field, select, table, titled
from evalui.ui.server_card import server_card
from evalui.ui.tabs.admin.context import AdminPage, disclosures, verdict
from evalui.version import __version__

_SECRET = ("password", "secret", "key", "webhook")  # in names of settings, whose values may be one


def server_view(page: AdminPage) -> Html:
    """Everything about the program, and the log of changes."""
    t, service = page.t, page.service
    failures, log = read_failures(service.database), read_audit(service.database)
    hardware, workers = service.models.hardware(), service.models.workers(service.person)
    browsers, people = count_sessions(service.database)
    settings = _settings(page)
    busy = sum(worker.row.is_busy for worker in workers)
    return join(
        verdict(
            t("admin.server_verdict", workers=t.count("admin.workers", len(workers)), busy=busy)
            if workers
            else t("admin.workers_none"),
            button(t("admin.sign_out"), "sign_out", data_once=True),
        ),
        server_card(t, hardware, workers, service.models.cluster),
        titled(
            t("admin.failures"),
            _failures(page, failures),
            aside=t.count("admin.failed", len(failures)),
        ),
        titled(t("admin.audit"), _audit(page, log), aside=_filter(page, log)),
        disclosures(
            (
                "sessions",
                t("admin.sessions"),
                t("admin.sessions_finding", n=browsers, people=people),
                [el("p", t("admin.sessions_about"), cls="dim")],
            ),
            (
                "settings",
                t("admin.settings"),
                t("admin.settings_finding", version=__version__, n=len(settings)),
                [table([t("admin.setting"), t("admin.value")], settings)],
            ),
        ),
    )


def _failures(page: AdminPage, failures: Sequence[Failure]) -> Html:
    t = page.t
    rows = [
        [
            span(format_time(t, each.at), cls="dim nw"),
            el("a", each.run_name, href=f"runs?run={each.run}"),
            each.owner,
            each.model or "–",
            t.translate(each.error),
        ]
        for each in failures
    ]
    heads = [t(f"admin.failure.{name}") for name in ("when", "run", "owner", "model", "why")]
    return table(heads, rows) if rows else empty(t("admin.no_failures"))


def _filter(page: AdminPage, log: Sequence[AuditEntry]) -> Html:
    t = page.t
    names = {"": t("admin.everybody")} | {each.person: each.person for each in log}
    return field(t("admin.audit_who"), select("who", names, page.value("who")))


def _audit(page: AdminPage, log: Sequence[AuditEntry]) -> Html:
    t, who = page.t, page.value("who")
    rows = [_entry(page, each) for each in log if who in ("", each.person)]
    heads = [t(f"admin.audit_column.{name}") for name in ("when", "who", "deed", "thing", "detail")]
    return table(heads, rows, cls="audit") if rows else empty(t("admin.audit_none"))


def _entry(page: AdminPage, entry: AuditEntry) -> list[Child]:
    t = page.t
    deed = f"deed.{entry.deed}"
    detail = "; ".join(f"{name}: {value}" for name, value in entry.detail.items())
    return [
        span(format_time(t, entry.at), cls="dim nw"),
        entry.person,
        t(deed) if deed in t else entry.deed,
        entry.thing,
        span(detail, cls="meta"),
    ]


def _settings(page: AdminPage) -> list[list[Child]]:
    """The settings in force: no secret, and no path of the machine."""
    rows: list[list[Child]] = []
    for name in type(page.service.settings).model_fields:
        value = getattr(page.service.settings, name)
        if isinstance(value, Path):
            continue
        hidden = isinstance(value, SecretStr) or any(part in name for part in _SECRET)
        shown = page.t("admin.hidden") if hidden and value else str(value)
        rows.append([span(f"EVALUI_{name.upper()}", cls="mono"), shown])
    return rows
