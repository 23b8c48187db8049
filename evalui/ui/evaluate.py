"""The Evaluate tab: a file is dropped, checked, models and modes are chosen, a run is started.

The browser's form is the whole truth: nothing about it is kept on the server between two clicks.
"""

import gradio as gr

from evalui.errors import EvaluiError
from evalui.ui.check import faults_card, file_card, health_card
from evalui.ui.choose import cost_card, cost_rows, models_card, modes_card, settings_card
from evalui.ui.desk import Desk, Intent
from evalui.ui.draft import Draft, form_of, many, read_draft, read_layout
from evalui.ui.html import Html, div, el, join
from evalui.ui.intro import adder, intro
from evalui.ui.pane import Act, Form, on, pane, read_act
from evalui.ui.text import Text
from evalui.ui.widgets import note, page_head

_DEFAULT_MODELS, _DEFAULT_MODES = 2, ("multiple_choice", "cloze")
_MANY_REQUESTS = 20_000


class Evaluate:
    """The tab in one language."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t

    def build(self) -> gr.HTML:
        """Lay out the tab; the empty page is there before any script has run."""
        with gr.Column(elem_classes="page"):
            whole = pane("evaluate-pane", self.show({}))
        on(whole, self.answer, outputs=[whole])
        return whole

    def answer(self, event: gr.EventData) -> Html:
        """What the page shows after a click or a changed field."""
        act = read_act(event)
        try:
            form = self._changed(act)
            if act.do == "start":
                return self._started(self.desk.start(read_draft(form)))
        except EvaluiError as error:
            return self._with_problem(act.form, self.t.told(error.sentence))
        return self.show(form)

    def again(self, run_id: str) -> Html:
        """The form of an earlier run, to repeat it with changes."""
        try:
            spec, uploads = self.desk.uploads_of(run_id)
        except EvaluiError as error:
            return self.show({}, problem=self.t.told(error.sentence))
        return self.show(form_of(spec, uploads))

    def show(self, form: Form, *, problem: str = "") -> Html:
        """The page for a form: the empty one without files, else checks, choices and cost."""
        if not many(form, "uploads"):
            return self._empty(problem)
        try:
            return self._chosen(self._with_defaults(form))
        except EvaluiError as error:
            return self._with_problem(form, self.t.told(error.sentence))

    def _changed(self, act: Act) -> Form:
        uploads = many(act.form, "uploads")
        if act.do == "sample":
            uploads = (self.desk.keep_sample(),)
        elif act.do == "uploaded":
            uploads = tuple(dict.fromkeys((*uploads, act.one("upload"))))
        elif act.do == "remove":
            uploads = tuple(upload for upload in uploads if upload != act.one("upload"))
        return act.form | {"uploads": list(uploads)}

    def _with_defaults(self, form: Form) -> Form:
        if "models" in form:
            return form
        ready = [state for state in self.desk.states() if not state.problem]
        own = [state.entry.name for state in ready if not state.entry.baseline]
        names = own or [state.entry.name for state in ready]
        return form | {
            "models": names[:_DEFAULT_MODELS],
            "modes": list(_DEFAULT_MODES),
            "skip_faulty": "",
        }

    def _empty(self, problem: str) -> Html:
        return intro(
            self.t,
            limit_mb=self.desk.settings.max_upload_mb,
            sample_questions=self.desk.sample_size,
            problem=problem,
        )

    def _with_problem(self, form: Form, problem: str) -> Html:
        uploads = many(form, "uploads")
        readable = [upload for upload in uploads if self._readable(upload, form)]
        if not readable:
            return self._empty(problem)
        return self._chosen(form | {"uploads": readable}, problem)

    def _readable(self, upload: str, form: Form) -> bool:
        try:
            self.desk.load(upload, read_layout(form))
        except EvaluiError:
            return False
        return True

    def _chosen(self, form: Form, problem: str = "") -> Html:
        t, states = self.t, self.desk.states()
        files = [self._file(upload, form) for upload in many(form, "uploads")]
        return el(
            "section",
            page_head(t("evaluate.title"), t("evaluate.step"), adder(t)),
            div(note("bad", problem), role="alert") if problem else div(),
            div(*files, cls="stack"),
            div(
                models_card(t, states, form),
                div(modes_card(t, states, form), settings_card(t, form), cls="stack"),
                self._cost(form),
                cls="row",
            ),
            cls="stack",
        )

    def _file(self, upload: str, form: Form) -> Html:
        t, layout = self.t, read_layout(form)
        loaded, health = self.desk.load(upload, layout), self.desk.health(upload, layout)
        return join(
            file_card(t, loaded, health, upload=upload, n_bytes=self.desk.size(upload), form=form),
            div(
                health_card(t, health), faults_card(t, loaded, upload=upload, form=form), cls="row"
            ),
        )

    def _cost(self, form: Form) -> Html:
        t = self.t
        try:
            draft = read_draft(form)
            if missing := self._missing(draft):
                return cost_card(t, (), problems=[t(missing)])
            intent = self.desk.plan(draft)
        except EvaluiError as error:
            return cost_card(t, (), problems=[self.t.told(error.sentence)])
        questions = max(plan.questions for plan in intent.plans)
        return cost_card(
            t,
            cost_rows(t, intent.cost, ahead=self.desk.ahead(), questions=questions),
            problems=[] if intent.cost.requests else [t("cost.nothing")],
            warnings=self._warnings(intent),
        )

    def _missing(self, draft: Draft) -> str:
        """What a person has still to decide: the key of its sentence."""
        if not draft.models:
            return "cost.no_model"
        if not draft.modes:
            return "cost.no_mode"
        loaded = [self.desk.load(upload, draft.layout) for upload in draft.uploads]
        faulty = any(found.faults for found in loaded)
        return "cost.faulty" if faulty and not draft.skip_faulty else ""

    def _warnings(self, intent: Intent) -> list[str]:
        warnings = [
            self.t(
                "cost.left_out",
                model=plan.cell.model,
                mode=self.t(f"mode.{plan.cell.mode}"),
                why=self.t.told(plan.impossible),
            )
            for plan in intent.plans
            if plan.impossible
        ]
        every_order = any(plan.pattern == "all_possible" for plan in intent.plans)
        if every_order or intent.cost.requests > _MANY_REQUESTS:
            warnings.append(self.t("cost.many", n=f"{intent.cost.requests:,}"))
        return warnings

    def _started(self, run_id: str) -> Html:
        address = f"?run={run_id}&tab=runs"
        return div(note("ok", el("a", self.t("cost.started"), href=address, data_go=True)))
