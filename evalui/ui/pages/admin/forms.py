"""The forms of the Admin page, each opened by an address: of people, and of runs that wait."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from evalui.access import ROLES
from evalui.app.administration import PRIORITIES, list_live_runs, read_queue_decisions
from evalui.app.people import DELETE, PersonUse, list_people
from evalui.messages import Messages
from evalui.runs.fair_queue.limits import UserLimits, usual_limits
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import link
from evalui.ui.pages.admin.changes import GIGABYTE
from evalui.ui.screen import Screen

Choices = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class OpenForm:
    """What is drawn: the card, its fields by name, and buttons by the change that each makes.

    `sent` goes with the fields: what the form is about.
    """

    card: gr.Column
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    buttons: dict[str, gr.Button] = field(default_factory=dict[str, gr.Button])
    sent: dict[str, str] = field(default_factory=dict[str, str])


def draw_form(screen: Screen, sub: str) -> OpenForm | None:
    """The form that the address opens in a view, None if it opens none."""
    name = screen.value("person")
    if sub == "users" and screen.value("add") == "person":
        return _invitation(screen)
    if sub == "users" and name:
        people = list_people(screen.service)
        use = next((each for each in people if each.account.name == name), None)
        return _person(screen, use, sorted(each.account.name for each in people)) if use else None
    return _priority(screen) if sub == "queue" and screen.value("run") else None


def _invitation(screen: Screen) -> OpenForm:
    """Who is to have an account, by `?add=person`."""
    t = screen.t
    form = OpenForm(gr.Column(elem_classes="card admin-form"))
    with form.card:
        _heading(t("admin.invite"))
        with gr.Row(elem_classes="fields"):
            _text(form, "name", t("admin.column.name"))
            _choice(form, "role", t("admin.column.role"), _roles(t), "annotator")
        has_passwords = screen.service.settings.auth == "password"
        about = t("admin.invite_about" if has_passwords else "admin.invite_proxy")
        markup(fill("admin/about.html", text=about))
        _acts(form, t, "invite", t("admin.invite_go"), "admin")
    return form


def _person(screen: Screen, use: PersonUse, names: Sequence[str]) -> OpenForm:
    """What one person is and may have, by `?person=NAME`, and the end of their account."""
    t, service, name = screen.t, screen.service, use.account.name
    form = OpenForm(gr.Column(elem_classes="card admin-form"), sent={"person": name})
    usual = usual_limits(service.settings)
    priority = read_queue_decisions(service).priorities.get(name, 0)
    with form.card:
        _heading(t("admin.limits_of", name=name), t("admin.limits_about"))
        with gr.Row(elem_classes="fields"):
            _choice(form, "role", t("admin.column.role"), _roles(t), use.account.role)
            _choice(form, "priority", t("admin.priority"), _priorities(t, priority), str(priority))
            for limit in UserLimits.__slots__:
                held, shown = _shown(use.limits, limit), _shown(usual, limit)
                info = t("admin.usual", value=shown) if shown else None
                _text(form, limit, t(f"admin.limit.{limit}"), held, info, t("admin.no_limit"))
        _acts(form, t, "person", t("add.save"), "admin")
        if name != service.person.name:  # nobody ends their own account by mistake
            _ending(form, t, use, [each for each in names if each != name])
    return form


def _ending(form: OpenForm, t: Messages, use: PersonUse, others: Sequence[str]) -> None:
    do = "enable" if use.account.disabled else "disable"
    heirs = [(t("admin.heir_to", name=each), each) for each in others]
    heirs = [(t("admin.choose"), ""), *heirs, (t("admin.heir_none"), DELETE)]
    with gr.Column(elem_classes="ending"):
        with gr.Row(elem_classes="acts"):
            form.buttons[do] = gr.Button(t(f"admin.{do}"), scale=0, min_width=120)
            markup(fill("admin/about.html", text=t(f"admin.{do}_about")))
        with gr.Row(elem_classes="acts removal"):
            _choice(form, "heir", t("admin.heir"), heirs, "")
            form.buttons["remove"] = gr.Button(t("admin.remove"), scale=0, min_width=120)


def _priority(screen: Screen) -> OpenForm | None:
    """When a run that waits is taken, by `?sub=queue&run=ID`."""
    t, live = screen.t, list_live_runs(screen.service)
    run_id = screen.value("run")
    waiting = [each for each in live if each.row.id == run_id and each.row.state == "queued"]
    if not waiting:
        return None
    (run,) = waiting
    form = OpenForm(gr.Column(elem_classes="card admin-form"), sent={"target": run_id})
    with form.card:
        _heading(t("admin.priority_of", name=run.row.name), t("admin.queue_about"))
        label, choices = t("admin.queue_column.priority"), _priorities(t, run.priority)
        with gr.Row(elem_classes="fields"):
            _choice(form, "priority", label, choices, str(run.priority))
        _acts(form, t, "priority", t("add.save"), "admin?sub=queue")
    return form


def _heading(text: str, about: str = "") -> None:
    markup(fill("admin/heading.html", text=text, about=about))


def _text(
    form: OpenForm, name: str, label: str, value: str = "", info: str | None = None, empty: str = ""
) -> None:
    with gr.Column(min_width=200, elem_classes="field"):
        form.fields[name] = gr.Textbox(
            value,
            label=label,
            info=info,
            placeholder=empty,
            max_lines=1,
            interactive=True,
            html_attributes=gr.InputHTMLAttributes(spellcheck=False, autocomplete="off"),
        )


def _choice(form: OpenForm, name: str, label: str, choices: Choices, value: str) -> None:
    with gr.Column(min_width=200, elem_classes="field"):
        form.fields[name] = gr.Dropdown(
            choices, value=value, label=label, filterable=False, interactive=True
        )


def _acts(form: OpenForm, t: Messages, do: str, word: str, back: str) -> None:
    """The button that makes a change, beside the link that leads back."""
    with gr.Row(elem_classes="acts"):
        form.buttons[do] = gr.Button(word, variant="primary", scale=0, min_width=120)
        markup(link(t("add.cancel"), back, cls="btn quiet"))


def _roles(t: Messages) -> Choices:
    return [(t(f"admin.role.{role}"), role) for role in ROLES]


def _priorities(t: Messages, held: int) -> Choices:
    """The priorities; one that was set elsewhere stands as its number."""
    choices = [(t(f"admin.priorities.{each}"), str(each)) for each in PRIORITIES]
    return choices if held in PRIORITIES else [(str(held), str(held)), *choices]


def _shown(limits: UserLimits, name: str) -> str:
    """A limit as it is typed, "" without one."""
    value = getattr(limits, name)
    if value is None:
        return ""
    return f"{value / GIGABYTE if name == 'stored_bytes' else value:.12g}"
