"""The forms of the Admin page, each opened by an address: of people, runs in the queue."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from evalui.access import ROLES
from evalui.app.administration import PRIORITIES, list_live_runs, read_queue_decisions
from evalui.app.people import DELETE, PersonUse, list_people
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.runs.fair_queue.limits import UserLimits, usual_limits
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import link
from evalui.ui.pages.admin.changes import GIGABYTE

Updates = dict[Block, Any]  # of components, what each shows from now on


class AdminForm:
    """A card with fields; made where Gradio is to draw it. `inputs` are sent by their names."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.inputs: dict[str, Component] = {}
        self.more: list[Block] = []  # what else is changed when the form is opened
        with gr.Column(visible=False, elem_classes="card admin-form") as self.column:
            self.title = markup()
            self.draw()

    @property
    def outputs(self) -> list[Block]:
        """Everything that the form changes."""
        return [self.column, self.title, *self.inputs.values(), *self.more]

    def draw(self) -> None:
        """Make the fields and buttons."""
        raise NotImplementedError

    def opened(self, service: AppService, form: Form) -> Updates | None:
        """The form with what is known now, None where the address does not open it."""
        raise NotImplementedError

    def shown(self, service: AppService, form: Form) -> Updates:
        """The form as the address has it, open or closed."""
        opened = self.opened(service, form)
        if opened is None:
            return {self.column: gr.update(visible=False)}
        return {self.column: gr.update(visible=True), **opened}

    def sent(self, values: Sequence[Any]) -> Mapping[str, Any]:
        """What stands in the fields, by name."""
        return dict(zip(self.inputs, values, strict=True))

    def heading(self, text: str, about: str = "") -> str:
        """The name of the form, and what is good to know."""
        return fill("admin/heading.html", text=text, about=about)

    def hidden(self, name: str) -> None:
        """What the form is about, which no control shows."""
        box = gr.Textbox(visible="hidden", elem_classes="hidden-field")
        self.inputs[name] = box

    def choice(self, name: str, label: str, choices: Sequence[tuple[str, str]]) -> gr.Dropdown:
        """A field to choose one of a list."""
        with gr.Column(min_width=200, elem_classes="field"):
            made = gr.Dropdown(choices, label=label, filterable=False)
        self.inputs[name] = made
        return made

    def text(self, name: str, label: str) -> None:
        """A field for a name."""
        with gr.Column(min_width=200, elem_classes="field"):
            self.inputs[name] = gr.Textbox(
                label=label,
                max_lines=1,
                elem_id=f"admin-{name}",
                html_attributes=gr.InputHTMLAttributes(spellcheck=False, autocomplete="off"),
            )

    def acts(self, word: str, back: str) -> gr.Button:
        """The button that sends the form, beside the link that leads back."""
        with gr.Row(elem_classes="acts"):
            button = gr.Button(word, variant="primary", scale=0, min_width=120)
            markup(link(self.t("add.cancel"), back, cls="btn quiet"))
        return button


class InvitationForm(AdminForm):
    """Who is to have an account, opened by `?add=person`."""

    def draw(self) -> None:
        """Make the fields and buttons."""
        t = self.t
        with gr.Row(elem_classes="fields"):
            self.text("name", t("admin.column.name"))
            self.choice("role", t("admin.column.role"), _roles(t))
        self.about = markup()
        self.more.append(self.about)
        self.invite = self.acts(t("admin.invite_go"), "admin")

    def opened(self, service: AppService, form: Form) -> Updates | None:
        """An empty form."""
        if field_value(form, "add") != "person":
            return None
        has_passwords = service.settings.auth == "password"
        about = self.t("admin.invite_about" if has_passwords else "admin.invite_proxy")
        return {
            self.title: self.heading(self.t("admin.invite")),
            self.inputs["name"]: "",
            self.inputs["role"]: "annotator",
            self.about: fill("admin/about.html", text=about),
        }


class PersonForm(AdminForm):
    """What one person is and may have, and the end of their account, opened by `?person=NAME`."""

    def draw(self) -> None:
        """Make the fields and buttons."""
        t = self.t
        self.hidden("person")
        with gr.Row(elem_classes="fields"):
            self.choice("role", t("admin.column.role"), _roles(t))
            self.choice("priority", t("admin.priority"), _priorities(t))
            for name in UserLimits.__slots__:
                with gr.Column(min_width=200, elem_classes="field"):
                    self.inputs[name] = gr.Number(
                        label=t(f"admin.limit.{name}"), placeholder=t("admin.no_limit"), minimum=0
                    )
        self.save = self.acts(t("add.save"), "admin")
        with gr.Column(elem_classes="ending") as self.ending:
            with gr.Row(elem_classes="acts"):
                self.disable = gr.Button(t("admin.disable"), scale=0, min_width=120)
                self.enable = gr.Button(t("admin.enable"), scale=0, min_width=120)
                self.about = markup()
            with gr.Row(elem_classes="acts removal"):
                self.heir = self.choice("heir", t("admin.heir"), [])
                self.remove = gr.Button(
                    t("admin.remove"), scale=0, min_width=120, variant="secondary"
                )
        self.more += [self.ending, self.disable, self.enable, self.about]

    def opened(self, service: AppService, form: Form) -> Updates | None:
        """The form with what the person has now; nobody ends their own account by mistake."""
        if field_value(form, "sub") not in ("", "users"):
            return None
        people = {each.account.name: each for each in list_people(service)}
        use = people.get(field_value(form, "person"))
        return self._of(service, use, sorted(people)) if use else None

    def _of(self, service: AppService, use: PersonUse, names: Sequence[str]) -> Updates:
        t, name, is_disabled = self.t, use.account.name, use.account.disabled
        usual = usual_limits(service.settings)
        heirs = [(t("admin.heir_to", name=each), each) for each in names if each != name]
        heirs = [(t("admin.choose"), ""), *heirs, (t("admin.heir_none"), DELETE)]
        about = t("admin.enable_about" if is_disabled else "admin.disable_about")
        limits: Updates = {
            self.inputs[each]: gr.update(
                value=_shown(use.limits, each), info=_usual(t, usual, each)
            )
            for each in UserLimits.__slots__
        }
        priority = read_queue_decisions(service).priorities.get(name, 0)
        return {
            self.title: self.heading(t("admin.limits_of", name=name), t("admin.limits_about")),
            self.inputs["person"]: name,
            self.inputs["role"]: use.account.role,
            self.inputs["priority"]: _chosen(t, priority),
            **limits,
            self.ending: gr.update(visible=name != service.person.name),
            self.disable: gr.update(visible=not is_disabled),
            self.enable: gr.update(visible=is_disabled),
            self.about: fill("admin/about.html", text=about),
            self.heir: gr.update(choices=heirs, value=""),
        }


class PriorityForm(AdminForm):
    """When a run that waits is taken, opened by `?sub=queue&run=ID`."""

    def draw(self) -> None:
        """Make the fields and buttons."""
        t = self.t
        self.hidden("target")
        with gr.Row(elem_classes="fields"):
            self.choice("priority", t("admin.queue_column.priority"), _priorities(t))
        self.save = self.acts(t("add.save"), "admin?sub=queue")

    def opened(self, service: AppService, form: Form) -> Updates | None:
        """The form with the priority that the run has now."""
        run_id = field_value(form, "run") if field_value(form, "sub") == "queue" else ""
        live = {each.row.id: each for each in list_live_runs(service) if each.row.state == "queued"}
        if run_id not in live:
            return None
        run = live[run_id]
        title = self.t("admin.priority_of", name=run.row.name)
        return {
            self.title: self.heading(title, self.t("admin.queue_about")),
            self.inputs["target"]: run_id,
            self.inputs["priority"]: _chosen(self.t, run.priority),
        }


def _roles(t: Messages) -> list[tuple[str, str]]:
    return [(t(f"admin.role.{role}"), role) for role in ROLES]


def _priorities(t: Messages) -> list[tuple[str, str]]:
    return [(t(f"admin.priorities.{each}"), str(each)) for each in PRIORITIES]


def _chosen(t: Messages, priority: int) -> Any:
    """The list of priorities with one chosen; one that was set elsewhere stands as its number."""
    choices = _priorities(t)
    if priority not in PRIORITIES:
        choices = [(str(priority), str(priority)), *choices]
    return gr.update(choices=choices, value=str(priority))


def _shown(limits: UserLimits, name: str) -> float | None:
    value = getattr(limits, name)
    return value / GIGABYTE if value is not None and name == "stored_bytes" else value


def _usual(t: Messages, usual: UserLimits, name: str) -> str | None:
    value = _shown(usual, name)
    return None if value is None else t("admin.usual", value=f"{value:.12g}")
