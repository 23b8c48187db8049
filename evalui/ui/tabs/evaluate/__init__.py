"""The Evaluate tab: a file is dropped, checked, models and modes are chosen, a run is started.

The browser's form is the whole truth: nothing about it is kept on the server between two clicks.
"""

from collections.abc import Sequence
from typing import Any, cast

import gradio as gr
from starlette.datastructures import QueryParams

from evalui.datasets.base import LoadResult
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.catalog import ModelState
from evalui.models.endpoint.http.addresses import external_hosts
from evalui.modes import MODES
from evalui.modes.prompts.rubrics import language_of
from evalui.report.html import Html, div, el, join
from evalui.runs.cells import CellPlan
from evalui.types import Dataset, DatasetKind
from evalui.ui.components.component_tabs import SKIP, html_fragment, on_action
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import note, page_head
from evalui.ui.services.run_form import (
    RunForm,
    answer_name_field,
    form_from_spec,
    read_answer_sources,
    read_layout,
    read_run_form,
)
from evalui.ui.services.service import AppService, PlannedRun
from evalui.ui.tabs.evaluate.empty_state import add_dataset_button, empty_state
from evalui.ui.tabs.evaluate.file_card import choice_facts, faults_card, file_card, health_card
from evalui.ui.tabs.evaluate.judge_choice import ReferenceCounts, can_judge, is_single, judge_card
from evalui.ui.tabs.evaluate.model_choice import (
    CHOICE,
    cost_card,
    cost_rows,
    destination_sentences,
    fitting_modes,
    models_card,
    modes_card,
    preselected,
    remote_destinations,
    settings_card,
)
from evalui.ui.tabs.evaluate.open_questions import answers_card, open_facts, open_health_card

_DEFAULT_MODELS = 2
_DEFAULT_MODES = ("multiple_choice", "cloze", "question_answer")
_SAMPLE_JUDGE = "reference-judge"  # shipped: it follows a rule, so it costs nothing
_MANY_REQUESTS = 20_000


class EvaluateTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self) -> gr.HTML:
        """Lay out the tab; the empty page is there before any script has run."""
        with gr.Column(elem_classes="page"):
            preselection = html_fragment("evaluate-preselected")
            whole = html_fragment("evaluate-pane", self.show({}))
        self.outputs = [preselection, whole]
        on_action(whole, self.clicked, outputs=self.outputs)
        return whole

    def enter(self, again: str, models: Sequence[str]) -> tuple[Any, Any]:
        """The outputs for an address: a run to repeat, or models chosen; else as they are.

        Models stand in a pane of their own: a quick click is answered before the address is,
        and what came of it must stay.
        """
        if again:
            return SKIP, self.again(again)
        known = self._in_catalog(models)
        return (preselected(self.t, known) if known else SKIP), SKIP

    def clicked(self, act: Action, request: gr.Request) -> tuple[Html, Html]:
        """The outputs after a click or a changed field."""
        query = cast(QueryParams, request.query_params)
        return Html(""), self.answer(act, self._in_catalog(query.getlist("models")))

    def answer(self, act: Action, requested_models: Sequence[str] = ()) -> Html:
        """What the page shows after a click or a changed field.

        `requested_models` are the models of the page's address, chosen until the form names some.
        """
        if requested_models and "models" not in act.form:
            # No kinds: those of the first file are new, so its usual modes are chosen.
            act = act.with_form(act.form | {"models": list(requested_models), "kinds": []})
        try:
            form = self._changed(act)
            if act.do == "start":
                return self._started(self.service.start(read_run_form(form)))
        except EvaluiError as error:
            return self._with_problem(act.form, self.t.translate(error.sentence))
        return self.show(form)

    def again(self, run_id: str) -> Html:
        """The form of an earlier run, to repeat it with changes."""
        try:
            spec, uploads, answers = self.service.uploads_of(run_id)
        except EvaluiError as error:
            return self.show({}, problem=self.t.translate(error.sentence))
        return self.show(form_from_spec(spec, uploads, answers))

    def show(self, form: Form, *, problem: str = "") -> Html:
        """The page for a form: the empty one without files, else checks, choices and cost."""
        if not field_values(form, "uploads"):
            return self._empty(problem)
        try:
            return self._chosen(self._with_defaults(form, self._datasets(form)))
        except EvaluiError as error:
            return self._with_problem(form, self.t.translate(error.sentence))

    def _in_catalog(self, models: Sequence[str]) -> list[str]:
        try:
            catalog = self.service.catalog() if models else {}
        except EvaluiError:
            return []  # the Models page tells what is wrong with it
        return [name for name in models if name in catalog]

    def _changed(self, act: Action) -> Form:
        uploads = field_values(act.form, "uploads")
        if act.do in ("answered", "forget"):
            return self._answers_changed(act)
        if act.do == "sample":
            uploads = (self.service.store_sample(),)
        elif act.do == "open_sample":
            uploads = (self.service.store_open_sample(),)
        elif act.do == "uploaded":
            uploads = tuple(dict.fromkeys((*uploads, *self.service.parts(act.value("upload")))))
        elif act.do == "remove":
            uploads = tuple(upload for upload in uploads if upload != act.value("upload"))
        return act.form | {"uploads": list(uploads)}

    def _answers_changed(self, act: Action) -> Form:
        """The form with one more file of answers, or with one less."""
        form, upload = dict(act.form), act.value("upload")
        if act.do == "forget":
            prefix = answer_name_field(upload, 0).removesuffix("0")
            form.pop(prefix + act.value("place"), None)
            left = any(name.startswith(prefix) for name in form)
            answers = [each for each in field_values(form, "answers") if each != upload or left]
            return form | {"answers": answers}
        names = {
            answer_name_field(upload, place): name
            for place, name in enumerate(self.service.answers.names(upload))
        }
        return (
            form
            | names
            | {"answers": list(dict.fromkeys((*field_values(form, "answers"), upload)))}
        )

    def _datasets(self, form: Form) -> list[Dataset]:
        return [
            self.service.load(upload, read_layout(form, upload)).dataset
            for upload in field_values(form, "uploads")
        ]

    def _with_defaults(self, form: Form, datasets: Sequence[Dataset]) -> Form:
        """The form with defaults for what is not chosen yet, and without modes that fit no file."""
        kinds = _kinds(datasets)
        fitting = fitting_modes(kinds)
        form = {"skip_faulty": ""} | form
        if "models" not in form:
            form |= {"models": self._default_models(), "modes": [], "kinds": []}
        modes = [mode for mode in field_values(form, "modes") if mode in fitting]
        for kind in kinds if self._is_new(form, kinds) else ():
            if not any(kind in MODES[mode].kinds for mode in modes):
                modes += [m for m in _DEFAULT_MODES if kind in MODES[m].kinds and m not in modes]
        form |= {"modes": modes, "kinds": list(kinds)}
        if "judging" not in form and set(kinds) - {CHOICE}:
            form |= self._default_judging(form, datasets)
        return form

    def _is_new(self, form: Form, kinds: Sequence[DatasetKind]) -> bool:
        """Whether a kind of question has come that the form was not shown with."""
        return "kinds" in form and bool(set(kinds) - set(field_values(form, "kinds")))

    def _default_models(self) -> list[str]:
        """The first models that run here, own ones before baselines; others wait to be chosen."""
        ready = [
            state
            for state in self.service.states()
            if not state.problem and not state.entry.judges_only
        ]
        own = [state.entry.name for state in ready if not state.entry.baseline]
        here = [state.entry.name for state in ready if not external_hosts(state.entry)]
        names = [name for name in own if name in here] if own else here
        return names[:_DEFAULT_MODELS]

    def _default_judging(self, form: Form, datasets: Sequence[Dataset]) -> Form:
        """Judges compare answers to open questions that have references; else none does."""
        able = [state.entry for state in self.service.states() if can_judge(state)]
        judges = [entry.name for entry in able if not external_hosts(entry)]
        judge = _SAMPLE_JUDGE if _SAMPLE_JUDGE in judges else next(iter(judges), "")
        chosen: Form = {"judges": [judge] if judge else [], "judging": []}
        open_ = [each for each in datasets if each.kind == "subjective"]
        referenced = any(sample.references for each in open_ for sample in each.samples)
        if len(field_values(form, "models")) > 1 and referenced and judge == _SAMPLE_JUDGE:
            return chosen | {"judging": ["yes"]}
        return chosen if open_ else chosen | {"rubric": f"score10-{_language(datasets)}.1"}

    def _empty(self, problem: str) -> Html:
        return empty_state(
            self.t,
            limit_mb=self.service.settings.max_upload_mb,
            sample_questions=self.service.sample_size,
            open_questions=self.service.open_sample_size,
            problem=problem,
        )

    def _with_problem(self, form: Form, problem: str) -> Html:
        uploads = field_values(form, "uploads")
        readable = [upload for upload in uploads if self._readable(upload, form)]
        if not readable:
            return self._empty(problem)
        return self._chosen(form | {"uploads": readable}, problem)

    def _readable(self, upload: str, form: Form) -> bool:
        try:
            self.service.load(upload, read_layout(form, upload))
        except EvaluiError:
            return False
        return True

    def _chosen(self, form: Form, problem: str = "") -> Html:
        t, states = self.t, self.service.states()
        datasets = self._datasets(form)
        kinds = _kinds(datasets)
        files = [self._file(upload, form) for upload in field_values(form, "uploads")]
        answers, judge = self._contest_cards(form, states, datasets)
        return el(
            "section",
            page_head(
                t("evaluate.title"),
                join(t("evaluate.step"), destination_sentences(t, self._remote_destinations(form))),
                add_dataset_button(t),
            ),
            div(note("bad", problem), role="alert") if problem else div(),
            *(el("input", type="hidden", name="kinds", value=k, data_many=True) for k in kinds),
            div(*files, cls="stack"),
            div(
                div(models_card(t, states, form), answers, cls="stack"),
                div(
                    modes_card(t, states, form, kinds=kinds),
                    settings_card(t, form, kinds=kinds),
                    judge,
                    cls="stack",
                ),
                self._cost(form),
                cls="row",
            ),
            cls="stack",
        )

    def _contest_cards(
        self, form: Form, states: Sequence[ModelState], datasets: Sequence[Dataset]
    ) -> tuple[Html | None, Html | None]:
        """The cards of answers and of judges, which only open questions have."""
        open_ = [each for each in datasets if each.kind != CHOICE]
        if not open_:
            return None, None
        answers = read_answer_sources(form)
        files = [self.service.answers.file(source, open_) for source in answers if source.upload]
        names = [
            *field_values(form, "models"),
            *(source.model for source in answers if source.model),
        ]
        return (
            answers_card(self.t, files, self.service.answers.earlier_runs(open_), form),
            judge_card(
                self.t, states, list(dict.fromkeys(names)), form, referenced=_referenced(open_)
            ),
        )

    def _file(self, upload: str, form: Form) -> Html:
        t, layout = self.t, read_layout(form, upload)
        loaded = self.service.load(upload, layout)
        facts, healthy = self._examined(loaded, upload, form)
        return join(
            file_card(
                t, loaded, facts, upload=upload, n_bytes=self.service.size(upload), form=form
            ),
            div(healthy, faults_card(t, loaded, upload=upload, form=form), cls="row"),
        )

    def _examined(self, loaded: LoadResult, upload: str, form: Form) -> tuple[list[str], Html]:
        t, layout = self.t, read_layout(form, upload)
        if loaded.dataset.kind == CHOICE:
            health = self.service.health(upload, layout)
            return choice_facts(t, loaded, health), health_card(t, health)
        checked = self.service.open_health(upload, layout)
        return open_facts(t, checked), open_health_card(t, checked)

    def _cost(self, form: Form) -> Html:
        t, away = self.t, self._remote_destinations(form)
        try:
            run_form = read_run_form(form)
            if missing := self._missing(run_form, form):
                return cost_card(t, (), problems=[t(missing)], warnings=away)
            planned = self.service.plan(run_form)
        except EvaluiError as error:
            return cost_card(t, (), problems=[self.t.translate(error.sentence)], warnings=away)
        return cost_card(
            t,
            cost_rows(
                t, planned.cost, ahead=self.service.queued_runs(), questions=_questions(planned)
            ),
            problems=[] if _has_work(planned) else [t("cost.nothing")],
            warnings=[*away, *self._warnings(planned)],
        )

    def _remote_destinations(self, form: Form) -> list[str]:
        return remote_destinations(self.t, self.service.catalog(), form, self.service.settings)

    def _missing(self, run_form: RunForm, form: Form) -> str:
        """What the user has still to choose: the key of its sentence."""
        if not run_form.models and not run_form.answers:
            return "cost.no_model"
        if not run_form.modes:
            return "cost.no_mode"
        if "yes" in field_values(form, "judging"):
            if not field_values(form, "judges"):
                return "cost.no_judge"
            if len(run_form.models) + len(run_form.answers) < 2 and not is_single(
                field_value(form, "rubric"), form
            ):
                return "cost.one_contestant"
        loaded = [
            self.service.load(upload, run_form.layout_of(upload)) for upload in run_form.uploads
        ]
        faulty = any(result.faults for result in loaded)
        return "cost.faulty" if faulty and not run_form.skip_faulty else ""

    def _warnings(self, planned: PlannedRun) -> list[str]:
        warnings = [
            self.t(
                "cost.left_out",
                model=plan.cell.model,
                mode=self.t(f"mode.{plan.cell.mode}"),
                why=self.t.translate(plan.impossible),
            )
            for plan in planned.plans
            if plan.impossible and _fits(plan, planned)
        ]
        every_order = any(plan.pattern == "all_possible" for plan in planned.plans)
        if every_order or planned.cost.requests > _MANY_REQUESTS:
            warnings.append(self.t("cost.many", n=f"{planned.cost.requests:,}"))
        return warnings

    def _started(self, run_id: str) -> Html:
        address = f"?run={run_id}&tab=runs"
        return div(note("ok", el("a", self.t("cost.started"), href=address, data_go=True)))


def _kinds(datasets: Sequence[Dataset]) -> list[DatasetKind]:
    return list(dict.fromkeys(dataset.kind for dataset in datasets))


def _referenced(datasets: Sequence[Dataset]) -> ReferenceCounts:
    samples = [sample for each in datasets for sample in each.samples]
    return ReferenceCounts(len(samples), sum(not sample.references for sample in samples))


def _fits(plan: CellPlan, planned: PlannedRun) -> bool:
    """Whether the mode is meant for the file; open questions have no choices."""
    return planned.loaded[plan.source].dataset.kind in MODES[plan.mode_name].kinds


def _has_work(planned: PlannedRun) -> bool:
    """Whether there is a request to send, or an answer to score."""
    return any(plan.total and not plan.impossible for plan in planned.plans)


def _language(datasets: Sequence[Dataset]) -> str:
    """The language of most questions."""
    spoken = [language_of(sample) for each in datasets for sample in each.samples]
    return "zh" if 2 * spoken.count("zh") >= len(spoken) else "en"


def _questions(planned: PlannedRun) -> int:
    """The questions of all datasets of a run, each counted once however many answer it."""
    counted: dict[str, int] = {}
    for plan in planned.plans:
        counted[plan.dataset_key] = max(plan.questions, counted.get(plan.dataset_key, 0))
    return sum(counted.values())
