"""What one person may have, and the end of their account."""

from evalui.app.people import DELETE
from evalui.app.queue import PRIORITIES
from evalui.app.readings import PersonUse
from evalui.report.html import Child, Html, div, el
from evalui.runs.fair_queue.decisions import read_decisions
from evalui.runs.fair_queue.limits import UserLimits
from evalui.ui.components.widgets import button, field, hidden, select, text_input, titled
from evalui.ui.tabs.admin.changes import GIGABYTE
from evalui.ui.tabs.admin.context import AdminPage


def person_form(page: AdminPage, use: PersonUse) -> Html:
    """The limits of a person, and the buttons that disable or remove them."""
    t, name = page.t, use.account.name
    priority = read_decisions(page.service.database).priorities.get(name, 0)
    fields = [
        field(
            t(f"admin.limit.{each}"),
            text_input(
                f"limit_{each}",
                _shown(use.limits, each),
                inputmode="decimal",
                placeholder=t("admin.no_limit"),
            ),
            hint=_usual(page, each),
        )
        for each in UserLimits.__slots__
    ]
    fields.append(field(t("admin.priority"), select("priority", priorities(page), str(priority))))
    return titled(
        t("admin.limits_of", name=name),
        hidden("person", name),
        div(*fields, cls="fields"),
        div(
            button(t("add.save"), "limits", cls="pri", data_person=name),
            el("a", t("add.cancel"), href="?tab=admin", cls="btn quiet"),
            cls="acts gap",
        ),
        None if name == page.service.person.name else _ending(page, use),
        aside=t("admin.limits_about"),
        cls="person",
    )


def priorities(page: AdminPage) -> dict[str, str]:
    """The priorities that can be chosen, by their number as text."""
    return {str(each): page.t(f"admin.priorities.{each}") for each in PRIORITIES}


def _shown(limits: UserLimits, name: str) -> str:
    value = getattr(limits, name)
    if value is None:
        return ""
    return f"{value / GIGABYTE if name == 'stored_bytes' else value:.12g}"


def _usual(page: AdminPage, name: str) -> str:
    usual = _shown(page.usual, name)
    return page.t("admin.usual", value=usual) if usual else ""


def _ending(page: AdminPage, use: PersonUse) -> Html:
    """Disabling, which can be taken back, and removal, for which somebody takes over the runs."""
    t, name = page.t, use.account.name
    heirs = {"": t("admin.choose")} | {
        each.account.name: t("admin.heir_to", name=each.account.name)
        for each in page.people
        if each.account.name != name
    }
    heirs[DELETE] = t("admin.heir_none")
    do = "enable" if use.account.disabled else "disable"
    closing: list[Child] = [
        button(t(f"admin.{do}"), do, data_person=name),
        el("span", t(f"admin.{do}_about"), cls="meta"),
    ]
    return div(
        div(*closing, cls="acts"),
        div(
            field(t("admin.heir"), select("heir", heirs, "")),
            button(t("admin.remove"), "remove", data_person=name, data_once=True),
            cls="acts end",
        ),
        cls="ending gap",
    )
