"""The people of a server: who they are, what they use, and what they may have."""

import time
from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.access import ROLES
from evalui.accounts.secrets import SEEN_EVERY_S
from evalui.accounts.teams import read_teams
from evalui.app.readings import PersonUse, count_week
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import status_icon
from evalui.runs.upkeep.disk import disk_use
from evalui.ui.components.format import amount, format_time
from evalui.ui.components.widgets import (
    button,
    field,
    link_button,
    select,
    table,
    text_input,
    titled,
)
from evalui.ui.tabs.admin.changes import GIGABYTE
from evalui.ui.tabs.admin.context import (
    AdminPage,
    disclosures,
    figure_card,
    heads,
    of_limit,
    verdict,
)
from evalui.ui.tabs.admin.person_form import person_form
from evalui.ui.tabs.admin.share_links import share_links

_COLUMNS = ("name", "role", "running", "waiting", "gpu_week", "disk", "seen")


def people_view(page: AdminPage) -> Html:
    """The sentence of the moment, three figures, everybody, and what is looked at rarely."""
    t = page.t
    chosen = next((each for each in page.people if each.account.name == page.value("person")), None)
    way = el("a", t("admin.invite"), href="?tab=admin&add=person", cls="btn pri")
    inviting = page.value("add") == "person"
    return join(
        verdict(_headline(page), None if inviting else way),
        _invite_card(page) if inviting else None,
        person_form(page, chosen) if chosen else None,
        div(_device_card(page), _disk_card(page), _week_card(page), cls="row"),
        titled(
            t("admin.people"),
            _people_table(page) if len(page.people) > 1 else el("p", t("admin.only_you")),
            aside=t("admin.people_about", n=len(page.people)),
        ),
        disclosures(
            ("roles", t("admin.roles"), t("admin.roles_finding"), [_roles(page)]),
            _teams(page),
            share_links(page),
        ),
    )


def _headline(page: AdminPage) -> str:
    t = page.t
    spent = [each for each in page.people if each.used_up]
    if not spent:
        return page.busy_sentence
    first, others = spent[0], len(spent) - 1
    gone = t(f"admin.gone.{first.used_up}", name=first.account.name)
    more = t.count("admin.gone_more", others) if others else ""
    return t("admin.headline", jobs=page.busy_sentence, gone=gone, more=more)


def _device_card(page: AdminPage) -> Html:
    t, hardware = page.t, page.service.models.hardware()
    devices = hardware.gpus or (hardware.machine,)
    used, total = sum(each.used for each in devices), sum(each.total for each in devices)
    running = sum(each.row.state == "running" for each in page.live)
    about = [t.count("admin.running_jobs", running)]
    if hardware.gpus:
        about.append(t.count("device.gpus", len(hardware.gpus)))
    name = t("admin.gpu") if hardware.gpus else t("admin.memory")
    words = t("device.used", used=amount(used), total=amount(total))
    return figure_card(name, words, t("list.comma").join(about), used / total if total else 0.0)


def _disk_card(page: AdminPage) -> Html:
    t, use = page.t, disk_use(page.service.settings.data_dir)
    stored = sum(each.stored for each in page.people)
    words = t("device.used", used=amount(use.used), total=amount(use.used + use.free))
    return figure_card(t("admin.disk"), words, t("admin.stored", n=amount(stored)), use.share)


def _week_card(page: AdminPage) -> Html:
    t, (runs, people) = page.t, count_week(page.service.database)
    used = sum(each.week.device_s for each in page.people) / 3600
    limits = [
        each.limits.gpu_hours_week
        for each in page.people
        if each.account.role != "reader" and not each.is_new
    ]
    total = sum(limit for limit in limits if limit is not None)
    about = t("admin.week_about", runs=runs, people=people)
    if None in limits or not total:
        return figure_card(t("admin.week"), t("admin.hours", used=f"{used:.1f}"), about, None)
    words = t("admin.hours_of_all", used=f"{used:.1f}", limit=f"{total:g}")
    return figure_card(t("admin.week"), words, about, used / total)


def _people_table(page: AdminPage) -> Html:
    people = sorted(page.people, key=lambda each: each.is_new)  # who was never here comes last
    rows = [_person(page, each) for each in people]
    return table(heads(page, "column", _COLUMNS), rows, cls="people", repeats=True)


def _person(page: AdminPage, use: PersonUse) -> list[Child]:
    t, account, limits = page.t, use.account, use.limits
    named = t("admin.role_of", name=account.name)
    role = select(f"role:{account.name}", _role_words(page), account.role, aria_label=named)
    is_active = account.role != "reader" or use.running or use.waiting or use.stored
    figures: list[Child] = ["–"] * 4
    if is_active and not use.is_new:
        most = limits.running
        running = len(use.running)
        figures = [
            join(
                t("admin.n_of", n=running, limit=most) if most is not None else str(running),
                div(t("list.comma").join(use.running), cls="meta") if use.running else None,
            ),
            use.waiting,
            of_limit(page, "hours", use.week.device_s / 3600, limits.gpu_hours_week),
            of_limit(page, "bytes", use.stored, limits.stored_bytes, GIGABYTE),
        ]
    return [
        div(_name(page, use), cls="who"),
        div(role, cls="field"),
        *figures,
        span(_last_seen(page, use), cls="dim nw"),
        div(*_links(page, use), cls="links"),
    ]


def _name(page: AdminPage, use: PersonUse) -> Html:
    t, account = page.t, use.account
    warning = "disabled" if account.disabled else f"spent.{use.used_up}" if use.used_up else ""
    teams = t("list.comma").join(account.teams)
    return join(
        el("b", account.name, cls="dim" if use.is_new or account.disabled else None),
        div(teams, cls="meta") if teams else None,
        div(status_icon("warn"), t(f"admin.{warning}"), cls="warn meta spent") if warning else None,
    )


def _last_seen(page: AdminPage, use: PersonUse) -> str:
    t, seen = page.t, use.account.seen
    if use.account.invited and use.is_new:
        return t("admin.invited")
    if seen is None:
        return "–"
    is_here = time.time() - seen < 2 * SEEN_EVERY_S
    return t("admin.now") if is_here else format_time(t, seen)


def _links(page: AdminPage, use: PersonUse) -> list[Child]:
    t, name = page.t, use.account.name
    has_passwords = page.service.settings.auth == "password"
    query = urlencode({"tab": "admin", "person": name})
    limits = el("a", t("admin.limits"), href=f"?{query}")
    if use.is_new and has_passwords:
        return [
            link_button(t("admin.copy_invitation"), "link", data_person=name),
            link_button(t("admin.withdraw"), "withdraw", data_person=name),
        ]
    again = link_button(t("admin.new_password"), "link", data_person=name)
    return [limits, again if has_passwords and not use.account.disabled else None]


def _invite_card(page: AdminPage) -> Html:
    t = page.t
    about = "invite_about" if page.service.settings.auth == "password" else "invite_proxy"
    return titled(
        t("admin.invite"),
        div(
            field(t("admin.column.name"), text_input("invite_name", "", spellcheck="false")),
            field(t("admin.column.role"), select("role", _role_words(page), "annotator")),
            cls="fields",
        ),
        el("p", t(f"admin.{about}"), cls="meta gap-s"),
        div(
            button(t("admin.invite_go"), "invite", cls="pri", data_once=True),
            el("a", t("add.cancel"), href="?tab=admin", cls="btn quiet"),
            cls="acts gap",
        ),
    )


def _role_words(page: AdminPage) -> dict[str, str]:
    return {role: page.t(f"admin.role.{role}") for role in ROLES}


def _roles(page: AdminPage) -> Html:
    t, words = page.t, _role_words(page)
    rows = [[el("b", word), t(f"admin.role_about.{role}")] for role, word in words.items()]
    return table([t("admin.column.role"), t("admin.may")], rows)


def _teams(page: AdminPage) -> tuple[str, str, str, Sequence[Child]]:
    t, teams = page.t, read_teams(page.service.database)
    people = sorted(each.account.name for each in page.people)
    rows: list[list[Child]] = []
    for team in teams:
        others = {"": t("admin.choose")} | {n: n for n in people if n not in team.members}
        adding = select(
            f"member:{team.name}", others, "", aria_label=t("admin.join_of", team=team.name)
        )
        sure = page.confirming == team.name
        members = [
            span(
                name,
                " ",
                link_button(
                    "×",
                    "leave",
                    data_team=team.name,
                    data_person=name,
                    aria_label=t("admin.leave", name=name, team=team.name),
                ),
                cls="chip",
            )
            for name in team.members
        ]
        rows.append(
            [
                el("b", team.name),
                div(*members, cls="chips") if members else t("admin.no_members"),
                div(adding, button(t("admin.join"), "join", data_team=team.name), cls="field pair"),
                div(
                    link_button(
                        t("admin.remove_team_sure" if sure else "file.remove"),
                        "remove_team" if sure else "ask",
                        data_team=team.name,
                    ),
                    cls="links",
                ),
            ]
        )
    named = t("admin.team_name")
    new = div(
        text_input("team_name", "", aria_label=named, placeholder=named),
        button(t("admin.add_team"), "add_team"),
        cls="field pair gap-s",
    )
    names = t("list.comma").join(team.name for team in teams) or t("admin.no_teams")
    columns = heads(page, "", ("team", "members", "join"))
    inside = [table(columns, rows, cls="teams") if rows else None, new]
    return "teams", t("admin.teams", n=len(teams)), names, inside
