"""The Evaluate tab: a file is dropped, checked, models and modes are chosen, a run is started.

The browser's form is the whole truth: nothing about it is kept on the server between two clicks.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.app.benchmarks import find_benchmarks, take_benchmark
from evalui.app.column_memory import fitting_layout
from evalui.app.files.views import UploadPart, UploadView
from evalui.app.run_form import write_kept_columns
from evalui.app.samples import open_sample_size, sample_size
from evalui.app.service import AppService
from evalui.errors import DataError, EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join
from evalui.types import has_options
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.fragment import Action, go
from evalui.ui.components.widgets import alert, hidden, page_head
from evalui.ui.run_form import (
    answer_name_field,
    form_from_spec,
    layout_form,
    read_answer_sources,
    read_layout,
    read_run_form,
)
from evalui.ui.sharing.datasets import (
    RIGHTS,
    TAKE,
    change_dataset,
    dataset_rights,
    team_datasets,
)
from evalui.ui.tabs.evaluate.columns_card import (
    KIND_FIELD,
    LEFT,
    ColumnChoice,
    choose_columns,
    columns_card,
    waiting_card,
    without_draft,
    without_roles,
)
from evalui.ui.tabs.evaluate.dataset_card import FOLDED, PREVIEW, ShownDataset, dataset_card
from evalui.ui.tabs.evaluate.defaults import kinds_of, with_defaults
from evalui.ui.tabs.evaluate.empty_state import add_dataset_button, empty_state
from evalui.ui.tabs.evaluate.given_answers import answers_fold
from evalui.ui.tabs.evaluate.judge_choice import ReferenceCounts, judge_card
from evalui.ui.tabs.evaluate.log_card import LOG_FIELD, log_card, read_choices
from evalui.ui.tabs.evaluate.mode_choice import modes_card, preset_fields
from evalui.ui.tabs.evaluate.model_choice import (
    OfferedModel,
    models_card,
    offered_models,
    preselected,
)
from evalui.ui.tabs.evaluate.published_sets import MOST, PUBLISHED, published_sets
from evalui.ui.tabs.evaluate.questions import first_question
from evalui.ui.tabs.evaluate.start_card import StartNotes, start_card
from evalui.ui.tabs.evaluate.start_plan import start_plan

# Beginnings of the fields that the page of columns shows itself, and of what names no choice.
_SHOWN_FIELDS = (
    *("uploads", "role_", "key_", "remember_", "heads_", "drawn_", "read_"),
    *("open_", "col_", "kept_", "from_", "name", "tab", "again", "find", "logs", LOG_FIELD),
    PUBLISHED,
)


class EvaluateTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The page of a form: the empty one without files, else checks, choices and cost."""
        again = field_value(form, "again")
        if again and not uploads_of(form):
            try:
                form = form_from_spec(*self.service.uploads_of(again))
            except EvaluiError as error:
                return self._empty(form, self.t.translate(error.sentence))
        return self._page(form)

    def act(self, action: Action) -> Html:
        """The tab after a click or a changed field."""
        try:
            if action.do == "sample":
                return _overview(self.service.start_sample())
            if action.do == "open_sample":
                return _overview(self.service.start_open_sample())
            if action.do == "start":
                run_id = self.service.start(read_run_form(action.form))
                return go(f"runs?run={run_id}")
            if action.do == "import":
                return self._imported(action)
            if action.do == "published":
                return self._taken(action)
            form = self._changed(action)
        except EvaluiError as error:
            return self._page(action.form, self.t.translate(error.sentence))
        return self._page(form)

    def _imported(self, action: Action) -> Html:
        """The way to the figures of a log, which is a run from here on."""
        upload = action.value("upload")
        choices = read_choices(action.form, upload, self.service.files.log(upload))
        return _overview(self.service.import_log(upload, choices).run_id)

    def _taken(self, action: Action) -> Html:
        """The page with one more dataset: a published set, and how it differs from what it is."""
        taken = take_benchmark(self.service, action.value("name"))
        joined = Action("uploaded", {"upload": taken.upload}, action.form)
        page = self._page(self._changed(joined) | {PUBLISHED: ""})
        if taken.note is None:
            return page
        return div(alert("warn", self.t.translate(taken.note)), page, cls="stack")

    def _changed(self, action: Action) -> Form:
        form, upload = dict(action.form), action.value("upload")
        uploads = uploads_of(form)
        if action.do in (TAKE, *RIGHTS):
            change_dataset(self.service, action)
        match action.do:
            case "answered" | "forget":
                return self._answers_changed(action)
            case "uploaded" | "replaced" | "take":
                if self.service.files.log(upload):
                    form["uploads"] = [] if action.do == "replaced" else [*uploads]
                    form["logs"] = list(dict.fromkeys((*logs_of(form), upload)))
                    return form
                parts = self.service.files.parts(upload)
                uploads = () if action.do == "replaced" else uploads
                form |= {"uploads": list(dict.fromkeys((*uploads, *parts)))}
                for part in parts:
                    form |= self._remembered(part)
            case "remove":
                form["uploads"] = [each for each in uploads if each != upload]
                form["logs"] = [each for each in logs_of(form) if each != upload]
            case "open":
                form = without_draft(form, upload)
                form[f"open_{upload}"] = action.value("part")
            case "questions":
                form[f"from_{upload}"] = action.value("start")
            case "set" if action.value("name").startswith(KIND_FIELD):
                form = without_roles(form, action.value("name").removeprefix(KIND_FIELD))
            case "columns":
                return self._columns_chosen(form, upload)
            case "preset":
                form |= preset_fields(action.value("preset"), form, self._models())
            case _:
                pass
        return form

    def _remembered(self, upload: str) -> Form:
        """The columns that were chosen for the headers of an upload, if they fit it."""
        try:
            layout = fitting_layout(self.service.column_memory, self.service.files, upload)
        except DataError:
            return {}  # the page says why it cannot be read
        return layout_form(layout, upload) | {f"kept_{upload}": "yes"} if layout else {}

    def _columns_chosen(self, form: Form, upload: str) -> Form:
        choice = choose_columns(self.service.files, upload, form)
        if choice is None:
            return form
        columns = write_kept_columns(choice.pinned)
        keep = field_value(form, f"remember_{upload}") == "yes"
        self.service.column_memory.remember(choice.reading.headers, columns if keep else "")
        before = (f"col_columns_{upload}", f"col_sheet_{upload}", f"col_kind_{upload}")
        before += (f"col_head_row_{upload}", f"kept_{upload}", f"open_{upload}", f"from_{upload}")
        rest = without_draft(form, upload)
        kept = {name: value for name, value in rest.items() if name not in before}
        return kept | layout_form(choice.pinned, upload)

    def _answers_changed(self, action: Action) -> Form:
        """The form with one more file of answers, or with one less."""
        form, upload = dict(action.form), action.value("upload")
        if action.do == "forget":
            prefix = answer_name_field(upload, 0).removesuffix("0")
            form.pop(prefix + action.value("place"), None)
            left = any(name.startswith(prefix) for name in form)
            answers = [each for each in field_values(form, "answers") if each != upload or left]
            return form | {"answers": answers}
        names = {
            answer_name_field(upload, place): name
            for place, name in enumerate(self.service.files.model_names(upload))
        }
        answers = list(dict.fromkeys((*field_values(form, "answers"), upload)))
        return form | names | {"answers": answers}

    def _page(self, form: Form, problem: str = "") -> Html:
        """The page; what cannot be read is left out, with the reason."""
        form, problem = self._with_readable_logs(form, problem)
        shown: list[ShownDataset | ColumnChoice] = []
        uploads = uploads_of(form)
        for upload in uploads:
            try:
                shown.append(self._examined(upload, form, alone=len(uploads) == 1))
            except EvaluiError as error:
                problem = self.t.translate(error.sentence)
        form = form | {"uploads": [each.upload for each in shown]}
        if not shown:
            logs = logs_of(form)
            if not logs:
                return self._empty(form, problem)
            return self._laid_out(form, [div(self._published(form), cls="files")], None, problem)
        ready = [each for each in shown if isinstance(each, ShownDataset)]
        if len(ready) < len(shown):
            return self._with_columns(form, shown, problem)
        return self._chosen(form, ready, problem)

    def _with_readable_logs(self, form: Form, problem: str) -> tuple[Form, str]:
        """The form with the logs that can be shown; why another cannot, or the problem so far."""
        readable: list[str] = []
        for upload in logs_of(form):
            try:
                if self.service.files.log(upload):
                    readable.append(upload)
            except EvaluiError as error:
                problem = self.t.translate(error.sentence)
        return form | {"logs": readable}, problem

    def _log_cards(self, form: Form) -> Html | None:
        views = ((upload, self.service.files.log(upload)) for upload in logs_of(form))
        cards = [log_card(self.t, upload, view, form) for upload, view in views if view]
        return div(*cards, cls="files") if cards else None

    def _examined(self, upload: str, form: Form, *, alone: bool) -> ShownDataset | ColumnChoice:
        """The dataset of an upload, or its columns while nobody knows which is what.

        A dataset that stands alone shows its first questions. Raises `DataError` where there is
        neither.
        """
        layout, state = read_layout(form, upload), field_value(form, f"open_{upload}")
        files, view, problem = self.service.files, None, None
        try:
            view = files.view(upload, layout)
        except DataError as error:
            problem = error
        if state == "columns" or view is None or not view.n_questions:
            choice = self._column_choice(upload, form)
            if choice is not None:
                return choice
        if view is None or not view.health:
            raise problem or _no_dataset(view)
        shows = state == PREVIEW or (alone and state != FOLDED)
        first = first_question(form, upload)
        preview = files.preview(upload, layout, first) if shows else None
        return ShownDataset(UploadPart(upload, layout), view, view.health, preview)

    def _column_choice(self, upload: str, form: Form) -> ColumnChoice | None:
        """The columns of an upload; None if it is no table, or no text of one."""
        try:
            return choose_columns(self.service.files, upload, form)
        except DataError:
            return None  # reading it as a dataset fails for the same reason

    def _with_columns(
        self, form: Form, shown: Sequence[ShownDataset | ColumnChoice], problem: str
    ) -> Html:
        """The page while the columns of a file are to be chosen: nothing can start before."""
        t = self.t
        cards = [
            dataset_card(t, each, form)
            if isinstance(each, ShownDataset)
            else self._columns_card(each, form)
            for each in shown
        ]
        names = [
            each.view.name if isinstance(each, ShownDataset) else each.reading.file
            for each in shown
        ]
        known = all(isinstance(each, ShownDataset) or each.known for each in shown)
        hindrance = t("cost.no_decision" if known else "cost.no_columns")
        start = start_card(t, form, names, StartNotes(hindrance=hindrance))
        parts = [div(*cards, self._published(form), cls="files"), _kept(form)]
        return self._laid_out(form, parts, start, problem, replaces=len(shown) == 1)

    def _columns_card(self, choice: ColumnChoice, form: Form) -> Html:
        left = field_value(form, f"open_{choice.upload}") == LEFT
        return (waiting_card if left else columns_card)(self.t, choice, form)

    def _chosen(self, form: Form, shown: Sequence[ShownDataset], problem: str) -> Html:
        t, models = self.t, self._models()
        views = [each.view for each in shown]
        form = with_defaults(form, views, models)
        kinds = kinds_of(views)
        answers, judge = self._contest(form, models, shown)
        parts = [
            *(hidden("kinds", kind, many=True) for kind in kinds),
            div(*(self._card(each, form) for each in shown), self._published(form), cls="files"),
            models_card(t, models, form, answers, may_add=self.service.models.may_edit),
            modes_card(t, models, form, kinds=kinds),
            judge,
        ]
        return self._laid_out(form, parts, start_plan(self.service, t, form, views), problem)

    def _card(self, shown: ShownDataset, form: Form) -> Html:
        rights = dataset_rights(self.service, self.t, shown.upload)
        return join(dataset_card(self.t, shown, form), rights)

    def _contest(
        self, form: Form, models: Sequence[OfferedModel], shown: Sequence[ShownDataset]
    ) -> tuple[Html | None, Html | None]:
        """The answers brought along and the judges, which only open questions have."""
        open_ = [each for each in shown if not has_options(each.view.kind)]
        if not open_:
            return None, None
        answers = read_answer_sources(form)
        parts, service = [each.part for each in open_], self.service.files
        files = [service.answers_file(source, parts) for source in answers if source.upload]
        names = [
            *field_values(form, "models"),
            *(source.model for source in answers if source.model),
        ]
        questions = sum(each.view.n_questions for each in open_)
        referenced = sum(each.view.n_references for each in open_)
        return (
            answers_fold(self.t, files, service.earlier_runs(parts), form),
            judge_card(
                self.t,
                [model.state for model in models],
                list(dict.fromkeys(names)),
                form,
                referenced=ReferenceCounts(questions, questions - referenced),
            ),
        )

    def _laid_out(
        self,
        form: Form,
        parts: Sequence[Html | None],
        start: Html | None,
        problem: str,
        *,
        replaces: bool = False,
    ) -> Html:
        """The page with its parts below the logs; `start` is None where nothing can start."""
        t = self.t
        left = div(self._log_cards(form), *parts, cls="col-l")
        listed = {"uploads": uploads_of(form), "logs": logs_of(form)}
        named = "".join(f"&{name}={','.join(ids)}" for name, ids in listed.items() if ids)
        return el(
            "section",
            page_head(t("evaluate.title"), None, add_dataset_button(t, replaces=replaces)),
            alert("bad", problem),
            div(left, start, cls="two") if start else left,
            cls="stack evaluate",
            data_address=f"tab=evaluate{named}",
        )

    def _empty(self, form: Form, problem: str) -> Html:
        if not self.service.may_start:
            return self._for_readers()
        models = self._in_catalog(field_values(form, "models"))
        page = empty_state(
            self.t,
            limit_mb=self.service.settings.max_upload_mb,
            questions=sample_size(),
            open_questions=open_sample_size(),
            problem=problem,
            published=self._published(form),
            chosen=preselected(self.t, models) if models else Html(""),
            address=urlencode({"tab": "evaluate", "models": models}, doseq=True),
        )
        return div(page, team_datasets(self.service, self.t))

    def _published(self, form: Form) -> Html | None:
        if not self.service.may_start:
            return None
        words = field_value(form, PUBLISHED).strip()
        offered = find_benchmarks(self.service, words, most=MOST) if words else ()
        return published_sets(self.t, words, offered)

    def _for_readers(self) -> Html:
        t = self.t
        why = "error.read-only" if self.service.settings.read_only else "error.not-allowed-start"
        runs = el("a", t("tab.runs"), href="runs", cls="btn pri")
        return div(page_head(t("evaluate.title"), t(why), runs), cls="stack")

    def _in_catalog(self, models: Sequence[str]) -> list[str]:
        try:
            catalog = self.service.catalog() if models else {}
        except EvaluiError:
            return []  # the Models page states what is wrong with it
        return [name for name in models if name in catalog]

    def _models(self) -> list[OfferedModel]:
        return offered_models(self.service.models)


def uploads_of(form: Form) -> tuple[str, ...]:
    """The datasets of a form: those of its fields, or of the address, with commas."""
    return _listed(form, "uploads")


def logs_of(form: Form) -> tuple[str, ...]:
    """The uploads of a form that are finished runs, likewise."""
    return _listed(form, "logs")


def _listed(form: Form, name: str) -> tuple[str, ...]:
    return tuple(
        upload for field in field_values(form, name) for upload in field.split(",") if upload
    )


def _no_dataset(view: UploadView | None) -> DataError:
    """Why nothing of a file can be read."""
    assert view is not None, "what cannot be read at all has a reason of its own"
    name = ", ".join(view.files[:3])
    if not view.faults or view.faults[0].rule == "missing-column":
        return DataError("not-a-dataset", file=name)
    return DataError("no-readable-row", file=name, fault=str(view.faults[0]))


def _kept(form: Form) -> Html:
    """Every other choice, kept while the page shows the columns of a file."""
    kept = {
        name: value for name, value in form.items() if name and not name.startswith(_SHOWN_FIELDS)
    }
    fields = [
        hidden(name, each, many=isinstance(value, list))
        for name, value in kept.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return div(*fields, hidden=True)


def _overview(run_id: str) -> Html:
    """The way to a run's figures, which fill while it runs."""
    return go(f"?run={run_id}&tab=results")
