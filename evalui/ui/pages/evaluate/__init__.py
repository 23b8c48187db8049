"""The Evaluate page: files are dropped and checked, models and modes are chosen, a run is started.

What the inputs hold is the whole truth: nothing of it is kept on the server between two events.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from markupsafe import escape

from evalui.app.datasets import find_benchmarks, remember_columns, remembered_layout, take_benchmark
from evalui.app.evaluations import (
    import_log,
    run_to_repeat,
    start_open_sample,
    start_run,
    start_sample,
)
from evalui.app.files.views import LogView, UploadPart, UploadView
from evalui.app.samples import open_sample_size, sample_size
from evalui.app.service import AppService
from evalui.benchmarks.groups import published_lists
from evalui.datasets.preview import Preview
from evalui.errors import DataError, EvaluiError
from evalui.generation import declared_settings
from evalui.modes.own_settings import all_settings
from evalui.report.html import Html
from evalui.report.words import join_sentences
from evalui.types import has_options
from evalui.ui.components.action import Action
from evalui.ui.components.address import address, leads_to, leaves_for, read_query
from evalui.ui.components.controls import controls, read_controls, shown_controls
from evalui.ui.components.drop_zone import drop_zone, zone
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.listing import bar, listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, heading, page_head
from evalui.ui.pages.context import EVENTS, PageContext
from evalui.ui.pages.evaluate.columns_card import (
    KIND_FIELD,
    LEFT,
    ColumnChoice,
    choose_columns,
    column_card,
    column_choice_fields,
    waiting_card,
    without_draft,
    without_drafts,
    without_roles,
)
from evalui.ui.pages.evaluate.dataset_card import ShownDataset, dataset_card
from evalui.ui.pages.evaluate.defaults import kinds_of, with_defaults
from evalui.ui.pages.evaluate.empty_state import drop_words, formats, steps
from evalui.ui.pages.evaluate.form import Group, RunFields, Updates, merged
from evalui.ui.pages.evaluate.given_answers import answers_files, earlier_models, picked_run
from evalui.ui.pages.evaluate.judging import (
    ReferenceCounts,
    is_single,
    judge_list,
    judge_notes,
    rubrics,
    tried,
    weights,
)
from evalui.ui.pages.evaluate.log_card import (
    log_card,
    model_field,
    read_choices,
    run_name,
    unnamed_models,
)
from evalui.ui.pages.evaluate.mode_list import (
    generation_summary,
    mode_list,
    offered_settings,
    preset_fields,
    preset_of,
    settings_summary,
)
from evalui.ui.pages.evaluate.model_list import (
    OfferedModel,
    model_list,
    offered_models,
)
from evalui.ui.pages.evaluate.published_sets import MOST, published_sets
from evalui.ui.pages.evaluate.questions import questions_part
from evalui.ui.pages.evaluate.spec import (
    CUSTOM,
    answer_field,
    dataset_field,
    form_to_spec,
    read_answers,
    read_layout,
    spec_to_form,
    write_layout,
)
from evalui.ui.pages.evaluate.start_card import StartCard, StartNotes, start_card
from evalui.ui.pages.evaluate.start_plan import start_plan

_NAME = "evaluate"


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    EvaluatePage(context).wire()


@dataclass(frozen=True, slots=True)
class _Examined:
    """The uploads of a form: datasets, tables whose columns are to be chosen, and logs."""

    shown: Sequence[ShownDataset | ColumnChoice]
    logs: Sequence[tuple[str, LogView]]

    @property
    def datasets(self) -> list[ShownDataset]:
        """What can be scored."""
        return [each for each in self.shown if isinstance(each, ShownDataset)]

    @property
    def tables(self) -> list[ColumnChoice]:
        """What nobody has said of which column is what."""
        return [each for each in self.shown if isinstance(each, ColumnChoice)]

    @property
    def is_ready(self) -> bool:
        """Whether there is something to ask models."""
        return bool(self.shown) and not self.tables


class EvaluatePage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        self.fields = RunFields(t)
        with gr.Column(elem_classes="page ev evaluate stack"):
            with gr.Row(elem_classes="page-h"):
                self.head = markup()
                self.add = drop_zone(Html(""), visible=False)
            self.notice = markup(visible=False)
            self._empty()
            with gr.Row(elem_classes="two"):
                with gr.Column(elem_classes="col-l"):
                    self._files()
                    self._choices()
                    self._judge()
                self._start_card()
            self.steps = markup(steps(t), visible=False)
        with gr.Sidebar(
            open=False, position="right", width=560, elem_classes="drawer"
        ) as self.drawer:
            self.questions = listing()

    # Layout --------------------------------------------------------------------------------------

    def _empty(self) -> None:
        t, settings = self.context.t, self.context.service_of_all.settings
        with gr.Row(elem_classes="intro", visible=False) as self.intro:
            with gr.Column(elem_classes="drop-column"):
                about = drop_words(t, settings.max_upload_mb)
                title, choose = t("drop.title"), t("drop.choose")
                self.drop = drop_zone(
                    zone(t, "uploaded", choose, name="files", title=title, about=about)
                )
                with gr.Row(elem_classes="acts"):
                    self.sample = gr.Button(
                        t("drop.sample"), variant="primary", visible=sample_size() > 0
                    )
                    self.open_sample = gr.Button(
                        t("drop.open_sample"), visible=open_sample_size() > 0
                    )
                markup(t("drop.sample_note", n=sample_size()), elem_classes="meta")
            markup(formats(t))

    def _files(self) -> None:
        t, fields = self.context.t, self.fields
        self.logs = listing()
        with gr.Column(visible=False, elem_classes="card log-fields") as self.log_card:
            self.log_models = fields.choice_list("log_model", "log")
            fields.log()
            self.take_log = gr.Button(t("log.import"), variant="primary")
        self.datasets = listing()
        self.mapping = controls(visible=False)
        with gr.Column(visible=False, elem_classes="card published") as self.published:
            with gr.Row(elem_classes="l1"):
                markup(fill("evaluate/published_head.html", t=t))
                self.find = gr.Textbox(
                    "",
                    label=t("published.find"),
                    placeholder=t("published.find"),
                    container=False,
                    max_lines=1,
                )
            self.sets = listing()

    def _choices(self) -> None:
        t, fields = self.context.t, self.fields
        with gr.Column(visible=False, elem_classes="card lst models") as self.models_card:
            self.models = fields.choice_list("models", "choices")
            with gr.Accordion(
                t("answers.title"), open=False, visible=False, elem_classes="foldrow given-card"
            ) as self.answers:
                markup(t("answers.about"), elem_classes="meta")
                self.given = fields.choice_list("answers.", "open")
                self.answers_drop = drop_zone(
                    zone(
                        t,
                        "answered",
                        t("answers.choose"),
                        name="answer-files",
                        look="small",
                        about=[t("answers.drop"), t("answers.kinds")],
                    )
                )
                fields.earlier_runs()
                self.earlier = fields.choice_list("earlier", "open")
        with gr.Column(visible=False, elem_classes="card lst modes") as self.modes_card:
            fields.presets()
            self.modes = fields.choice_list("modes", "choices")
            with gr.Accordion(
                t("set.title"), open=False, elem_classes="foldrow settings"
            ) as self.settings:
                fields.orders()
                fields.settings()
                fields.own_template()
                fields.generation(judge=False)

    def _judge(self) -> None:
        t, fields = self.context.t, self.fields
        with gr.Column(visible=False, elem_classes="card lst judge") as self.judge_card:
            markup(heading(t("judge.title")))
            fields.judging()
            with gr.Column(visible=False, elem_classes="judges") as self.judges_part:
                self.judges = fields.choice_list("judging.judges", "open")
                self.judge_notes = markup(visible=False)
                fields.judge_settings()
                fields.generation(judge=True)
                fields.own_rubric()

    def _start_card(self) -> None:
        t = self.context.t
        with gr.Column(visible=False, elem_classes="card cost") as self.cost_card:
            markup(heading(t("cost.title")))
            self.cost = markup()
            self.fields.run_name()
            self.remarks = markup()
            self.fields.kept_replies()
            self.start = gr.Button(t("cost.start"), variant="primary", elem_classes="start")
            self.why = markup(visible=False, elem_classes="meta why")

    # Events --------------------------------------------------------------------------------------

    @property
    def shown(self) -> list[Any]:
        """Everything that an event may change."""
        fields = self.fields
        boxes = [field.box for field in fields.fields.values()]
        own = (fields.template, fields.writing, fields.judge_writing, fields.rubric, fields.tried)
        parts = [
            *(self.address, self.bar, self.head, self.add, self.notice, self.intro, self.drop),
            *(self.logs, self.log_card, self.datasets, self.mapping, self.published, self.find),
            *(self.sets, self.models_card, self.answers, self.answers_drop, self.modes_card),
            *(self.settings, fields.preset, self.judge_card, self.judges_part, self.judge_notes),
            *(self.cost_card, self.cost, self.remarks, self.start, self.why, self.steps),
            *(self.drawer, self.questions, self.sample, self.open_sample),
        ]
        return [*dict.fromkeys([*parts, *own, *fields.inputs, *boxes])]

    def wire(self) -> None:
        """Say what happens on which event."""
        fields = self.fields
        form, shown = [self.mapping, *fields.inputs], self.shown
        self.address.open(
            self._open, None, shown, api_name=f"{_NAME}_open", trigger_mode="multiple", **EVENTS
        )
        picks: list[Any] = [*fields.picks]
        picked = [each.input for each in picks]
        picked += [event for each in fields.texts for event in (each.blur, each.submit)]
        last: dict[str, Any] = {"trigger_mode": "always_last", **EVENTS}
        gr.on(picked, self._set, form, shown, api_name=f"{_NAME}_set", **last)
        # Events of components of ours have a listener each: `gr.on` knows Gradio's own alone.
        for name, (component, _) in fields.lists.items():
            event = name.strip(".").rpartition(".")[2]
            component.input(self._set, form, shown, api_name=f"{_NAME}_set_{event}", **last)
        self.mapping.input(self._map, form, shown, api_name=f"{_NAME}_map", **last)
        acts = {
            "add": self.add,
            "drop": self.drop,
            "answers": self.answers_drop,
            "logs": self.logs,
            "datasets": self.datasets,
            "columns": self.mapping,
            "sets": self.sets,
            "given": self.given,
            "questions": self.questions,
        }
        for name, component in acts.items():
            component.act(
                self._act,
                form,
                shown,
                api_name=f"{_NAME}_act_{name}",
                trigger_mode="multiple",
                **EVENTS,
            )
        fields.preset.input(
            self._preset, [fields.preset, *form], shown, api_name=f"{_NAME}_preset", **EVENTS
        )
        # A text that is put there at once is no input to Gradio.
        found = [self.find.input, self.find.submit, self.find.blur]
        gr.on(found, self._find, [self.find], [self.sets], api_name=f"{_NAME}_find", **last)
        self.take_log.click(self._import, form, shown, api_name=f"{_NAME}_import", **EVENTS)
        self.start.click(self._start, form, shown, api_name=f"{_NAME}_start", **EVENTS)
        self.sample.click(self._sample, None, shown, api_name=f"{_NAME}_sample", **EVENTS)
        self.open_sample.click(
            self._open_sample, None, shown, api_name=f"{_NAME}_open_sample", **EVENTS
        )

    def _open(self, event: gr.EventData, request: gr.Request) -> Updates:
        """What an address shows."""
        service = self.context.service(request)
        if service.may_start:
            self.context.warm()
        form = read_query(_sent(event).value("query"))
        top: Updates = {
            self.bar: self.context.bar(service, _NAME, form),
            self.drawer: gr.update(open=False),
        }
        if (again := field_value(form, "again")) and not uploads_of(form):
            try:
                shots = {"shots": form["shots"]} if "shots" in form else {}
                form = spec_to_form(run_to_repeat(service, again)) | shots
            except EvaluiError as error:
                return merged(top, self._page(service, {}, {}, (), self._told(error)))
        has_answers = bool(read_answers(form)) or "earlier" in form
        top[self.answers] = gr.update(open=has_answers)
        return merged(top, self._page(service, {}, form, ()))

    def _set(self, request: gr.Request, *sent: object) -> Updates:
        """The page after a changed input."""
        return self._changed(request, sent, lambda _, form: form)

    def _map(self, event: gr.EventData, request: gr.Request, *sent: object) -> Updates:
        """The page after a changed list of columns."""
        name = _sent(event).value("name")

        def change(service: AppService, form: Form) -> Form:
            del service
            is_kind = name.startswith(KIND_FIELD)
            return without_roles(form, name.removeprefix(KIND_FIELD)) if is_kind else form

        return self._changed(request, sent, change)

    def _preset(self, request: gr.Request, preset: object, *sent: object) -> Updates:
        """The page with the modes, orders and limit of a preset."""
        return self._changed(
            request,
            sent,
            lambda service, form: (
                form | preset_fields(str(preset), form, offered_models(service.models))
            ),
        )

    def _act(self, event: gr.EventData, request: gr.Request, *sent: object) -> Updates:
        """The page after a pressed button, or a dropped file."""
        action = _sent(event)
        if action.do in ("preview", "questions") and not self._maps(sent, action):
            return self._previewed(request, action, sent)
        note: list[str] = []

        def change(service: AppService, form: Form) -> Form:
            return self._acted(service, action, form, note)

        updates = self._changed(request, sent, change)
        if note:
            updates[self.notice] = gr.update(value=alert("warn", note[0]), visible=True)
        if action.do == "answered":
            updates = merged(updates, {self.answers: gr.update(open=True)})
        if action.do == "published":  # the search is done
            updates |= {self.find: "", self.sets: _listed(None)}
        settled = gr.update(settled=str(time.monotonic_ns()))
        zones = (self.add, self.drop, self.answers_drop)
        return merged(updates, dict.fromkeys(zones, settled))

    def _find(self, request: gr.Request, words: object) -> Any:
        """The published sets that fit what is typed."""
        return self._sets(self.context.service(request), words if isinstance(words, str) else "")

    def _start(self, request: gr.Request, *sent: object) -> Updates:
        """The way to the run of the form, or why it cannot start."""

        def start(service: AppService) -> str:
            spec = service.files.matched(form_to_spec(self._form(sent)))
            return f"runs?run={start_run(service, spec)}"

        return self._left(request, sent, start)

    def _import(self, request: gr.Request, *sent: object) -> Updates:
        """The way to the figures of a log, which is a run from here on."""

        def take(service: AppService) -> str:
            form = self._form(sent)
            upload = _opened_log(form)
            choices = read_choices(form, upload, service.files.log(upload))
            return _overview(import_log(service, upload, choices).run_id)

        return self._left(request, sent, take)

    def _sample(self, request: gr.Request) -> Updates:
        """The way to the figures of the sample, which fill while it runs."""
        return self._left(request, (), lambda service: _overview(start_sample(service)))

    def _open_sample(self, request: gr.Request) -> Updates:
        """The same of the sample of open questions."""
        return self._left(request, (), lambda service: _overview(start_open_sample(service)))

    def _left(
        self, request: gr.Request, sent: Sequence[object], use: Callable[[AppService], str]
    ) -> Updates:
        service = self.context.service(request)
        try:
            return {self.address: leaves_for(use(service))}
        except EvaluiError as error:
            form = self._form(sent)
            shown = self.fields.shown(sent[1:])
            return self._page(service, form, form, shown, self._told(error))

    def _changed(
        self,
        request: gr.Request,
        sent: Sequence[object],
        change: Callable[[AppService, Form], Form],
    ) -> Updates:
        service, form = self.context.service(request), self._form(sent)
        shown = self.fields.shown(sent[1:])
        try:
            after = change(service, form)
        except EvaluiError as error:
            return self._page(service, form, form, shown, self._told(error))
        updates = self._page(service, form, after, shown)
        if _address_of(after) != _address_of(form):
            updates[self.address] = leads_to(_address_of(after))
        return updates

    def _form(self, sent: Sequence[object]) -> Form:
        """The form that an event sends: its inputs, and the draft of the columns."""
        return self.fields.read(sent[1:]) | read_controls(sent[0]) if sent else {}

    def _told(self, error: EvaluiError) -> str:
        return self.context.t.translate(error.sentence)

    # What is done --------------------------------------------------------------------------------

    def _acted(self, service: AppService, action: Action, form: Form, note: list[str]) -> Form:
        form, upload = dict(form), action.value("upload")
        match action.do:
            case "uploaded" | "replaced":
                return self._joined(service, form, upload, replaces=action.do == "replaced")
            case "published":
                taken = take_benchmark(service, action.value("name"))
                note += (
                    [join_sentences(*map(self.context.t.translate, taken.notes))]
                    if taken.notes
                    else []
                )
                return self._joined(service, form, taken.upload)
            case "answered":
                return _with_answers(service, form, upload)
            case "forget":
                form.pop(answer_field(upload), None)
            case "remove":
                form["uploads"] = [each for each in uploads_of(form) if each != upload]
                form["logs"] = [each for each in logs_of(form) if each != upload]
            case "open_log":
                form = self.fields.without(form, ["log"]) | {"opened_log": upload}
            case "open":
                form = without_draft(form, upload)
                form[f"open_{upload}"] = action.value("part")
            case "questions":
                form[f"from_{upload}"] = action.value("start")
            case "pick" if action.value("name").startswith("datasets."):
                form[action.value("name")] = action.value("value")
            case "columns":
                return _columns_chosen(service, form, upload)
            case _:
                pass
        return form

    def _joined(
        self, service: AppService, form: Form, upload: str, *, replaces: bool = False
    ) -> Form:
        """The form with one more upload: a log, or its datasets."""
        uploads = () if replaces else uploads_of(form)
        if service.files.log(upload):
            form = self.fields.without(form, ["log"])
            logs = list(dict.fromkeys((*logs_of(form), upload)))
            return form | {"uploads": [*uploads], "logs": logs, "opened_log": upload}
        parts = service.files.parts(upload)
        form = form | {"uploads": list(dict.fromkeys((*uploads, *parts)))}
        for part in parts:
            form |= _remembered(service, part)
        return form

    def _maps(self, sent: Sequence[object], action: Action) -> bool:
        """Whether an action is about the file whose columns are open."""
        return f"heads_{action.value('upload')}" in self._form(sent)

    def _previewed(self, request: gr.Request, action: Action, sent: Sequence[object]) -> Updates:
        """The drawer with questions of a dataset."""
        service, form, upload = (
            self.context.service(request),
            self._form(sent),
            action.value("upload"),
        )
        layout, start = read_layout(form, upload), action.value("start")
        try:
            preview = service.files.preview(upload, layout, int(start) if start.isdecimal() else 0)
            name = service.files.view(upload, layout).name
        except EvaluiError as error:
            told = alert("bad", self._told(error))
            return {self.questions: gr.update(value=told, visible=True)}
        return {
            self.questions: gr.update(value=self._drawn(upload, name, preview), visible=True),
            self.drawer: gr.update(open=True),
        }

    def _drawn(self, upload: str, name: str, preview: Preview) -> Html:
        asked = questions_part(self.context.t, upload, preview)
        return fill("evaluate/drawer.html", name=name, questions=asked or "")

    # What is shown -------------------------------------------------------------------------------

    def _page(
        self,
        service: AppService,
        before: Form,
        form: Form,
        shown: Collection[str],
        problem: str = "",
    ) -> Updates:
        """Everything a form shows; what cannot be read is left out, with the reason."""
        examined, form, problem = self._examined(service, form, problem)
        updates = self._cards(service, examined, form)
        groups: list[Group] = []
        if examined.logs:
            groups.append("log")
        if not examined.shown and not examined.logs:
            updates |= self._nothing()
        else:
            if examined.shown:
                groups.append("start")
            updates |= self._mapped(examined, before, form)
            if examined.is_ready:
                form, more, chosen = self._chosen(service, examined, before, form, shown)
                updates |= chosen
                groups += more
            else:
                updates |= self._unready(examined)
        if examined.logs:
            form, logged = self._logged(examined, before, form, shown)
            updates |= logged
        lasting = without_drafts(form)
        updates = merged(updates, self.fields.updates(before, lasting, groups, shown))
        told = alert("bad", problem)
        updates[self.notice] = gr.update(value=told or Html(""), visible=told is not None)
        return updates

    def _examined(
        self, service: AppService, form: Form, problem: str
    ) -> tuple[_Examined, Form, str]:
        """What the uploads of a form are, and the form without those that cannot be read."""
        logs: list[tuple[str, LogView]] = []
        shown: list[ShownDataset | ColumnChoice] = []
        for upload in logs_of(form):
            try:
                view = service.files.log(upload)
            except EvaluiError as error:
                problem = self._told(error)
                continue
            logs += [(upload, view)] if view else []
        for upload in uploads_of(form):
            try:
                shown.append(_examine(service, upload, form))
            except EvaluiError as error:
                problem = self._told(error)
        read: Form = {
            "uploads": [each.upload for each in shown],
            "logs": [each for each, _ in logs],
        }
        return _Examined(shown, logs), form | read, problem

    def _cards(self, service: AppService, examined: _Examined, form: Form) -> Updates:
        """A card for each upload, the way to more, and which models an address chose."""
        t, is_empty = self.context.t, not (examined.shown or examined.logs)
        opened = _opened_log(form)
        mapped = _mapped_table(examined, form)
        logs = [
            log_card(t, upload, view, opened=upload == opened) for upload, view in examined.logs
        ]
        cards = [
            waiting_card(t, each) if isinstance(each, ColumnChoice) else dataset_card(t, each, form)
            for each in examined.shown
            if each is not mapped
        ]
        replaces = len(examined.shown) == 1 and not examined.is_ready
        word, act = ("drop.replace", "replaced") if replaces else ("drop.add", "uploaded")
        add = zone(t, act, t(word), name="files", look="add")
        title = t("evaluate.title")
        return {
            self.head: page_head(title, self._promise(service, form) if is_empty else ""),
            self.add: gr.update(value=Html("") if is_empty else add, visible=not is_empty),
            self.intro: gr.update(visible=is_empty and service.may_start),
            self.steps: gr.update(visible=is_empty and service.may_start),
            self.published: gr.update(visible=service.may_start),
            self.logs: _cards_update(logs),
            self.datasets: _cards_update(cards),
            self.log_card: gr.update(visible=bool(examined.logs)),
        }

    def _promise(self, service: AppService, form: Form) -> Html:
        t = self.context.t
        if not service.may_start:
            why = "error.read-only" if service.settings.read_only else "error.not-allowed-start"
            return fill("evaluate/promise.html", t=t, why=why, models=[])
        models = _in_catalog(service, field_values(form, "models"))
        return fill("evaluate/promise.html", t=t, why="", models=models)

    def _nothing(self) -> Updates:
        gone = (self.mapping, self.models_card, self.modes_card, self.judge_card, self.cost_card)
        return {each: gr.update(visible=False) for each in gone}

    def _mapped(self, examined: _Examined, before: Form, form: Form) -> Updates:
        """The columns of the first file of which nobody has said which is what."""
        choice = _mapped_table(examined, form)
        if choice is None:
            return {self.mapping: gr.update(markup="", value="{}", visible=False)}
        held = column_choice_fields(choice, form)
        is_held = all(before.get(name) == value for name, value in held.items())
        card = column_card(self.context.t, choice)
        return {self.mapping: shown_controls(card, None if is_held else held)}

    def _unready(self, examined: _Examined) -> Updates:
        """Nothing can start before the columns of every file are chosen; logs need no choice."""
        gone = (self.models_card, self.modes_card, self.judge_card)
        updates: Updates = {each: gr.update(visible=False) for each in gone}
        if not examined.shown:
            return updates | {self.cost_card: gr.update(visible=False)}
        known = all(each.known for each in examined.tables)
        hindrance = self.context.t("cost.no_decision" if known else "cost.no_columns")
        return updates | self._started(
            examined, start_card(self.context.t, StartNotes(hindrance=hindrance))
        )

    def _started(self, examined: _Examined, card: StartCard) -> Updates:
        names = [
            each.view.name if isinstance(each, ShownDataset) else each.reading.file
            for each in examined.shown
        ]
        off, kept = bool(card.hindrance), [*card.kept]
        return {
            self.fields.component("replies_of"): gr.update(choices=kept, visible=bool(kept)),
            self.cost_card: gr.update(visible=True),
            self.cost: card.cost,
            self.remarks: card.remarks,
            self.fields.component("name"): gr.update(placeholder=" + ".join(names)),
            self.start: gr.update(interactive=not off),
            self.why: gr.update(value=escape(card.hindrance), visible=off),
        }

    def _logged(
        self, examined: _Examined, before: Form, form: Form, shown: Collection[str]
    ) -> tuple[Form, Updates]:
        """What is asked of the log that is open."""
        t = self.context.t
        opened = _opened_log(form)
        upload, view = next(
            (pair for pair in examined.logs if pair[0] == opened), examined.logs[-1]
        )
        form = form | {"opened_log": upload}
        for place, model in enumerate(view.unnamed):
            form.setdefault(model_field(upload, place), model.guess)
        held = self.fields.list_value("log_model", before, form, shown)
        words = [(t("log.without", file=name), name) for name in view.apart]
        return form, {
            self.log_models: shown_controls(unnamed_models(t, upload, view), held),
            self.fields.component("log_without"): gr.update(choices=words, visible=bool(words)),
            self.fields.component("log_name"): gr.update(placeholder=run_name(t, view)),
        }

    def _chosen(
        self,
        service: AppService,
        examined: _Examined,
        before: Form,
        form: Form,
        shown: Collection[str],
    ) -> tuple[Form, list[Group], Updates]:
        """What can be chosen for these files, with defaults where nothing is."""
        t, models = self.context.t, offered_models(service.models)
        views = [each.view for each in examined.datasets]
        kinds = kinds_of(views)
        form = with_defaults(form, views, models)
        groups: list[Group] = ["choices"]
        absent: list[Group] = []
        has_choices = any(map(has_options, kinds))
        is_open = not all(map(has_options, kinds))
        for group, is_shown in (("options", has_choices), ("open", is_open)):
            (groups if is_shown else absent).append(cast("Group", group))
        form = self.fields.without(form, absent)
        updates: Updates = {}
        if is_open:
            form, updates = self._contest(service, examined, models, before, form, shown)
        card = start_plan(service, t, form)
        offered = {value for _, value in card.kept}
        form = form | {"replies_of": [v for v in field_values(form, "replies_of") if v in offered]}
        may_add = service.models.may_edit
        list_value = self.fields.list_value
        updates |= {
            self.models_card: gr.update(visible=True),
            self.modes_card: gr.update(visible=True),
            self.judge_card: gr.update(visible=is_open),
            self.answers: gr.update(visible=is_open) | updates.get(self.answers, {}),
            self.models: shown_controls(
                model_list(t, models, form, may_add=may_add),
                list_value("models", before, form, shown),
            ),
            self.modes: shown_controls(
                mode_list(t, models, form, kinds), list_value("modes", before, form, shown)
            ),
            **self._settings(form, models, choice=has_choices),
            **self._started(examined, card),
        }
        return form, groups, updates

    def _settings(
        self,
        form: Form,
        models: Sequence[OfferedModel],
        *,
        choice: bool,
    ) -> Updates:
        """What the files leave to decide: orders, worked examples and prompt need options."""
        t, fields = self.context.t, self.fields
        per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
        own = field_value(form, "summary_groups")
        published = {name: each.title for name, each in published_lists().items()}
        groups = {"": t("set.groups_none")} | published
        if own and own not in published:
            groups[own] = t("set.groups_own")
        offered = offered_settings(form)
        summary = settings_summary(t, form, choice=choice)
        writing = generation_summary(t, form, offered, judge=False)
        optional = ("pattern", "shots", "template", "spellings", "summary_groups")
        return {
            **{fields.fields[name].box: gr.update(visible=choice) for name in optional},
            **{
                fields.fields[name].box: gr.update(visible=name in offered)
                for name in declared_settings(all_settings())
            },
            fields.preset: gr.update(value=preset_of(form, models), visible=choice),
            fields.fields["metrics"].box: gr.update(visible=bool(field_value(form, "metrics"))),
            fields.component("limit"): gr.update(info=t(f"set.limit_hint_{per}")),
            fields.component("summary_groups"): gr.update(
                choices=[(word, name) for name, word in groups.items()]
            ),
            fields.template: gr.update(visible=choice and field_value(form, "template") == CUSTOM),
            self.settings: gr.update(label=f"{t('set.title')} · {summary}"),
            fields.writing: gr.update(label=f"{t('generation.title')} · {writing}"),
        }

    def _contest(
        self,
        service: AppService,
        examined: _Examined,
        models: Sequence[OfferedModel],
        before: Form,
        form: Form,
        shown: Collection[str],
    ) -> tuple[Form, Updates]:
        """The answers brought along and the judges, which only open questions have."""
        t, fields = self.context.t, self.fields
        open_ = [each for each in examined.datasets if not has_options(each.view.kind)]
        parts = [each.part for each in open_]
        brought, earlier = read_answers(form), field_values(form, "earlier")
        files = [service.files.answers_file(part, model, parts) for part, model in brought.items()]
        runs = service.files.earlier_runs(parts)
        answered = [*brought.values(), *(each.partition("/")[2] for each in earlier)]
        names = [*field_values(form, "models"), *answered]
        contestants = list(dict.fromkeys(filter(None, names)))
        offered = rubrics(t, len(contestants), field_value(form, "judging.template"))
        form = fields.choose(form, "judging.template", offered)
        single = is_single(field_value(form, "judging.template"), form)
        is_own = field_value(form, "judging.template") == CUSTOM
        judging = "yes" in field_values(form, "judging")
        questions = sum(each.view.n_questions for each in open_)
        counts = ReferenceCounts(questions, questions - sum(v.view.n_references for v in open_))
        states = [model.state for model in models]
        about = judge_notes(t, states, contestants, form, counts)
        read = tried(t, form) if is_own else None
        picked = picked_run(form)
        n = len(files) + len(earlier)
        count = t.count("answers.chosen", n) if n else t("answers.summary")
        form = form | {"earlier_run": picked}
        writing = generation_summary(t, form, offered_settings({}), judge=True)
        return form, {
            self.answers: gr.update(label=f"{t('answers.title')} · {count}"),
            self.given: shown_controls(
                answers_files(t, files), fields.list_value("answers.", before, form, shown)
            ),
            fields.component("earlier_run"): gr.update(
                choices=[(t("answers.no_run"), ""), *((run.name, run.id) for run in runs)],
            ),
            fields.fields["earlier_run"].box: gr.update(visible=bool(runs)),
            self.earlier: shown_controls(
                earlier_models(t, runs, form), fields.list_value("earlier", before, form, shown)
            ),
            self.judges_part: gr.update(visible=judging),
            self.judges: shown_controls(
                judge_list(t, states), fields.list_value("judging.judges", before, form, shown)
            ),
            self.judge_notes: gr.update(value=about, visible=bool(about)),
            **fields.judge_choices(
                form,
                rubrics=offered,
                weights=weights(t, field_value(form, "judging.strong")),
                contestants=contestants,
                single=single,
            ),
            fields.judge_writing: gr.update(label=f"{t('generation.title')} · {writing}"),
            fields.rubric: gr.update(visible=is_own),
            fields.tried: gr.update(value=read or Html(""), visible=read is not None),
        }

    def _sets(self, service: AppService, words: str) -> Any:
        offered = find_benchmarks(service, words, most=MOST) if words.strip() else ()
        return _listed(published_sets(self.context.t, words.strip(), offered) or None)


def uploads_of(form: Form) -> tuple[str, ...]:
    """The datasets of a form: those of its fields, or of the address, with commas."""
    return _named(form, "uploads")


def logs_of(form: Form) -> tuple[str, ...]:
    """The uploads of a form that are finished runs, likewise."""
    return _named(form, "logs")


def _named(form: Form, name: str) -> tuple[str, ...]:
    return tuple(
        upload for field in field_values(form, name) for upload in field.split(",") if upload
    )


def _opened_log(form: Form) -> str:
    """The log whose fields are shown: the last, unless another one was chosen."""
    logs = logs_of(form)
    opened = field_value(form, "opened_log")
    return opened if opened in logs else next(reversed(logs), "")


def _mapped_table(examined: _Examined, form: Form) -> ColumnChoice | None:
    """The file whose columns are shown: the first whose card was not left."""
    tables = examined.tables
    return next((one for one in tables if field_value(form, f"open_{one.upload}") != LEFT), None)


def _examine(service: AppService, upload: str, form: Form) -> ShownDataset | ColumnChoice:
    """The dataset of an upload, or its columns while nobody knows which is what.

    Raises:
        DataError: there is neither.
    """
    layout, state = read_layout(form, upload), field_value(form, f"open_{upload}")
    view, problem = None, None
    try:
        view = service.files.view(upload, layout)
    except DataError as error:
        problem = error
    if state == "columns" or view is None or not view.n_questions:
        choice = _column_choice(service, upload, form)
        if choice is not None:
            return choice
    if view is None or not view.health:
        raise problem or _no_dataset(view)
    return ShownDataset(UploadPart(upload, layout), view, view.health)


def _column_choice(service: AppService, upload: str, form: Form) -> ColumnChoice | None:
    """The columns of an upload; None if it is no table, or no text of one."""
    try:
        return choose_columns(service.files, upload, form)
    except DataError:
        return None  # reading it as a dataset fails for the same reason


def _no_dataset(view: UploadView | None) -> DataError:
    """Why nothing of a file can be read."""
    assert view is not None, "what cannot be read at all has a reason of its own"
    name = ", ".join(view.files[:3])
    if not view.faults or view.faults[0].rule == "missing-column":
        return DataError("not-a-dataset", file=name)
    return DataError("no-readable-row", file=name, fault=str(view.faults[0]))


def _remembered(service: AppService, upload: str) -> Form:
    """The columns that were chosen for the headers of an upload, if they fit it."""
    try:
        layout = remembered_layout(service, upload)
    except DataError:
        return {}  # the page says why it cannot be read
    return write_layout(layout, upload) | {f"kept_{upload}": "yes"} if layout else {}


def _columns_chosen(service: AppService, form: Form, upload: str) -> Form:
    choice = choose_columns(service.files, upload, form)
    if choice is None:
        return form
    keep = "yes" in field_values(form, f"remember_{upload}")
    remember_columns(service, choice.reading.headers, choice.pinned if keep else None)
    before = (f"kept_{upload}", f"open_{upload}", f"from_{upload}")
    rest = without_draft(form, upload)
    kept = {
        name: value
        for name, value in rest.items()
        if name not in before and not name.startswith(dataset_field(upload))
    }
    # No list of the card has it.
    pinned = replace(choice.pinned, cluster=read_layout(form, upload).cluster)
    return kept | write_layout(pinned, upload)


def _with_answers(service: AppService, form: Form, upload: str) -> Form:
    names = enumerate(service.files.model_names(upload), 1)
    return form | {answer_field(f"{upload}.{place}"): name for place, name in names}


def _in_catalog(service: AppService, models: Sequence[str]) -> list[str]:
    try:
        catalog = service.models.catalog() if models else {}
    except EvaluiError:
        return []  # the Models page states what is wrong with it
    return [name for name in models if name in catalog]


def _address_of(form: Form) -> str:
    """The query that shows the files of a form; without any, the models that an address chose."""
    listed = {"uploads": uploads_of(form), "logs": logs_of(form)}
    named = {name: ",".join(ids) for name, ids in listed.items() if ids}
    models = [] if named else [("models", name) for name in field_values(form, "models")]
    return urlencode([*named.items(), *models], safe=",")


def _overview(run_id: str) -> str:
    """The address of a run's figures, which fill while it runs."""
    return f"./?run={run_id}&tab=results"


def _sent(event: gr.EventData) -> Action:
    """What a button or a dropped file says."""
    return Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name


def _cards_update(cards: Sequence[Html]) -> Any:
    return _listed(fill("evaluate/files.html", cards=cards) if cards else None)


def _listed(content: Html | None) -> Any:
    """The update of a listing, which is hidden while it has nothing."""
    return gr.update(value=content or Html(""), visible=bool(content))
