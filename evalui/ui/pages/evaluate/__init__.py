"""The Evaluate page: files are dropped and checked, models and modes are chosen, a run is started.

The files stand in the address. All else is one form of texts, which the tab keeps
(assets/js/form.js) and gives to each drawing, so nothing of it lives on the server.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import gradio as gr

from evalui.app.datasets import remember_columns, remembered_layout, take_benchmark
from evalui.app.evaluations import (
    import_log,
    run_to_repeat,
    start_open_sample,
    start_sample,
)
from evalui.app.files.views import LogView, UploadPart, UploadView
from evalui.app.service import AppService
from evalui.app.uploads import is_whole
from evalui.errors import DataError, EvaluiError
from evalui.messages import Messages
from evalui.report.blocks import Details
from evalui.report.html import Html
from evalui.report.words import join_sentences
from evalui.types import has_options
from evalui.ui.components.action import Action
from evalui.ui.components.fold import fold
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.listing import markup, remark
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, heading
from evalui.ui.pages.evaluate.columns_card import (
    LEFT,
    ColumnChoice,
    choose_columns,
    column_card,
    pinned_form,
    waiting_card,
    without_drafts,
)
from evalui.ui.pages.evaluate.dataset_card import ShownDataset, dataset_card
from evalui.ui.pages.evaluate.defaults import kinds_of, with_defaults
from evalui.ui.pages.evaluate.empty_state import empty_state, promise
from evalui.ui.pages.evaluate.fields import show_fields
from evalui.ui.pages.evaluate.log_card import read_choices, show_log
from evalui.ui.pages.evaluate.model_list import offered_models
from evalui.ui.pages.evaluate.questions import first_question, questions_part
from evalui.ui.pages.evaluate.run_form import Contest, RunForm, run_form
from evalui.ui.pages.evaluate.spec import (
    answer_field,
    read_layout,
    spec_to_form,
    write_layout,
)
from evalui.ui.pages.evaluate.start_card import StartNotes, show_start, start_notes
from evalui.ui.screen import Screen, read_typed

# What only questions with options have, and only open ones: the beginnings of names of fields.
_OF_OPTIONS = ("pattern", "shots", "template", "spellings", "summary_groups")
_OF_OPEN = ("judging", "answers.", "earlier", "rubric_try")


def page(screen: Screen) -> None:
    """What the files of an address and the form of a tab show."""
    service, t = screen.service, screen.t
    form, problem = _form_of(screen)
    files = _Files.read(service, t, form)
    form = form | {"uploads": [each.upload for each in files.shown], "files": files.names}
    run, notes = None, StartNotes()
    if files.is_ready:
        form, run, notes = _chosen(service, t, form, files)
    elif files.shown:
        known = all(each.known for each in files.tables)
        notes = StartNotes(t("cost.no_decision" if known else "cost.no_columns"))
    with gr.Column(elem_classes="page evaluate ev", key="evaluate"):
        # Whoever goes back to the empty page, and on again, has all as it was.
        kept = _kept(screen, without_drafts(form) if files.names else screen.typed, files)
        _show_head(screen, form, files, join_sentences(*filter(None, [problem, *files.problems])))
        if not files.names:
            return
        with gr.Row(elem_classes="row two", key="two"):
            with gr.Column(elem_classes="col-l", key="left", min_width=0):
                _show_logs(t, files, form)
                for upload, card in _file_cards(service, t, files, form):
                    markup(card, elem_classes="ev", key=("file", upload))
                if run:
                    _show_run(t, run)
            if files.shown:
                show_start(screen, kept, form, notes, [_name(each) for each in files.shown])


def _kept(screen: Screen, form: Form, files: "_Files") -> gr.HTML:
    """The form of the tab, and what is done with it by the buttons in markup."""
    kept = gr.HTML(
        fill("evaluate/form.html", form=form, files=files.names),
        js_on_load="evalui.form.attach(element, trigger, 'act')",
        apply_default_css=False,
        elem_classes="nothing",
        key="form",
        preserved_by_key=[],
    )

    def act(service: AppService, action: Action) -> str:
        return acted(screen, service, action)

    # A notice goes by the queue alone.
    screen.on_act(kept, act, None, screen.place, queue=True)
    return kept


def _show_head(screen: Screen, form: Form, files: "_Files", problem: str) -> None:
    """The title beside a place for more files; without files, what can be dropped."""
    service, t = screen.service, screen.t
    head = fill(
        "evaluate/head.html",
        t=t,
        promise="" if files.names else promise(service, t, form),
        has_files=bool(files.names),
        replaces=len(files.names) == 1 and bool(files.tables),
    )
    markup(head, elem_classes="ev", key="head")
    if problem:
        markup(alert("bad", problem) or "", elem_classes="ev")
    if not files.names and service.may_start:
        markup(empty_state(service, t, screen.typed), elem_classes="ev")


def _show_run(t: Messages, run: RunForm) -> None:
    """Which models answer, how they are asked, how they write, and who judges."""
    contest = run.contest
    with gr.Column(elem_classes="card lst models", key="models"):
        _list(run.models, "models-list")
        if contest:
            _show_given(t, contest)
    with gr.Column(elem_classes="card lst modes", key="modes"):
        if run.presets:
            _list(fill("evaluate/presets.html", t=t, presets=run.presets), "presets")
        _list(run.modes, "modes-list")
        with _fold("how", t("set.title"), run.asking_summary):
            show_fields(run.orders)
            show_fields(run.asking)
            if run.own_template:
                remark(t("own.about"))
                show_fields(run.own_template)
            with _fold("writing", t("generation.title"), run.writing_summary):
                show_fields(run.writing)
    if contest:
        with gr.Column(elem_classes="card lst judge", key="judge"):
            _show_judges(t, contest)


def _show_given(t: Messages, contest: Contest) -> None:
    """Answers that are brought along, a line for each file."""
    is_open = bool(contest.given or contest.earlier)
    with _fold("given", t("answers.title"), contest.given_count, is_open=is_open):
        _list(fill("evaluate/given.html", t=t, given=contest.given), "given-files")
        show_fields(contest.earlier_runs)
        if contest.earlier:
            _list(contest.earlier, "earlier")


def _show_judges(t: Messages, contest: Contest) -> None:
    """Whether models judge the answers, and one line that says how."""
    _list(heading(t("judge.title")), "judge-title")
    judged = gr.Checkbox(
        contest.is_judged,
        label=t("judge.on"),
        info=t("judge.on_about"),
        interactive=True,
        key="judged",
        preserved_by_key=[],
    )
    keep = "value => evalui.form.keep('judging', value ? ['yes'] : [])"
    judged.input(None, judged, None, js=keep)
    if not contest.is_judged:
        return
    _list(contest.judges, "judges")
    _list(contest.judge_notes, "judge-notes")
    with _fold("judge-settings", t("judge.how"), contest.judging_summary):
        show_fields(contest.judging)
        if contest.own_rubric:
            remark(t("judge.own_about"))
            show_fields(contest.own_rubric)
            _list(contest.tried, "tried")
        with _fold("judge-writing", t("generation.title"), contest.judge_writing_summary):
            show_fields(contest.judge_writing)


def _list(content: str, key: str) -> None:
    markup(content, elem_classes="ev", key=key)


def _fold(name: str, title: str, finding: str, *, is_open: bool = False) -> gr.Accordion:
    details = Details(name, title, finding, (), open=is_open)
    return fold(details, name, key=("fold", name), preserved_by_key=["open"])


@dataclass(frozen=True, slots=True)
class _Files:
    """The uploads of a form: datasets, tables whose columns are to be chosen, and logs."""

    shown: Sequence[ShownDataset | ColumnChoice]
    logs: Sequence[tuple[str, LogView]]
    problems: Sequence[str]

    @classmethod
    def read(cls, service: AppService, t: Messages, form: Form) -> "_Files":
        """Those that can be read, and why the others cannot."""
        logs: list[tuple[str, LogView]] = []
        shown: list[ShownDataset | ColumnChoice] = []
        problems: list[str] = []
        for upload in field_values(form, "files"):
            try:
                if log := _log(service, upload):
                    logs.append((upload, log))
                    continue
                for part in _parts(service, upload):
                    shown.append(_examine(service, part, form))
            except EvaluiError as error:
                problems.append(t.translate(error.sentence))
        return cls(shown, logs, problems)

    @property
    def names(self) -> list[str]:
        """All uploads."""
        return [*(name for name, _ in self.logs), *(each.upload for each in self.shown)]

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


# The form -----------------------------------------------------------------------------------------


def _form_of(screen: Screen) -> tuple[Form, str]:
    """The form of a tab at an address, and why a run cannot be repeated, "" if all is well.

    What was typed for other files than those of the address is no part of it.
    """
    service, typed = screen.service, screen.typed
    again, files = screen.value("again"), _listed(screen.form)
    if again and not files:
        if field_value(typed, "again") == again:
            return _changed(screen, typed)
        shots = {"shots": screen.value("shots")} if "shots" in screen.form else {}
        try:
            repeated = spec_to_form(run_to_repeat(service, again))
        except EvaluiError as error:
            return {}, screen.t.translate(error.sentence)
        return repeated | shots | {"again": again, "files": repeated["uploads"]}, ""
    before = field_values(typed, "files")
    known = {part for part in before if part in files or part.partition(".")[0] in files}
    form = typed if known else {}
    if "models" not in form and "models" in screen.form:
        form = form | {"models": [*field_values(screen.form, "models")]}
    for upload in files:
        if upload not in known:
            form = form | _remembered(service, upload)
    return _changed(screen, form | {"files": files})


def _log(service: AppService, upload: str) -> LogView | None:
    return service.files.log(upload) if is_whole(upload) else None


def _parts(service: AppService, upload: str) -> tuple[str, ...]:
    """The datasets of an upload; a part is one."""
    return service.files.parts(upload) if is_whole(upload) else (upload,)


def _listed(form: Form) -> list[str]:
    """The uploads of an address, each once."""
    names = (each for field in field_values(form, "uploads") for each in field.split(",") if each)
    return list(dict.fromkeys(names))


def _remembered(service: AppService, upload: str) -> Form:
    """The columns that were chosen for the headers of the parts of an upload, where they fit."""
    form: Form = {}
    try:
        parts = () if _log(service, upload) else _parts(service, upload)
    except EvaluiError:
        return form  # the page says why it cannot be read
    for part in parts:
        try:
            layout = remembered_layout(service, part)
        except DataError:
            continue
        if layout:
            form |= write_layout(layout, part) | {f"kept_{part}": "yes"}
    return form


def _changed(screen: Screen, form: Form) -> tuple[Form, str]:
    """The form after what its buttons ask for: columns to use, a file of answers to take in."""
    files, use, answered = (
        screen.service.files,
        field_value(form, "use"),
        field_value(form, "answered"),
    )
    form = {name: value for name, value in form.items() if name not in ("use", "answered")}
    try:
        if use and (choice := choose_columns(files, use, form)):
            form = pinned_form(choice, form)
        if answered:
            names = enumerate(files.model_names(answered), 1)
            form |= {answer_field(f"{answered}.{place}"): name for place, name in names}
    except DataError as error:
        return form, screen.t.translate(error.sentence)
    return form, ""


def _chosen(
    service: AppService, t: Messages, form: Form, files: _Files
) -> tuple[Form, RunForm, StartNotes]:
    """The form with defaults where nothing is chosen, what it offers, and what a start would do."""
    views, models = [each.view for each in files.datasets], offered_models(service.models)
    form = with_defaults(form, views, models)
    optional = [has_options(kind) for kind in kinds_of(views)]
    gone = (() if any(optional) else _OF_OPTIONS) + (_OF_OPEN if all(optional) else ())
    form = {name: each for name, each in form.items() if not name.startswith(gone)}
    form, run = run_form(service, t, form, files.datasets, models)
    notes = start_notes(service, t, form)
    offered = {value for value, _ in notes.kept}
    replies = [each for each in field_values(form, "replies_of") if each in offered]
    return form | {"replies_of": replies}, run, notes


# What is done -------------------------------------------------------------------------------------


def acted(screen: Screen, service: AppService, action: Action) -> str:
    """Where a pressed button leads."""
    form = read_typed(action.value("form"))
    match action.do:
        case "sample":
            return _overview(start_sample(service))
        case "open_sample":
            return _overview(start_open_sample(service))
        case "import":
            upload = action.value("upload")
            choices = read_choices(form, upload, service.files.log(upload))
            return _overview(import_log(service, upload, choices).run_id)
        case "published":
            taken = take_benchmark(service, action.value("name"))
            if notes := join_sentences(*map(screen.t.translate, taken.notes)):
                gr.Warning(notes)
            return f"?uploads={taken.upload}"
        case _:
            _remember(service, action.value("upload"), form)
            return screen.address()


def _remember(service: AppService, upload: str, form: Form) -> None:
    choice = choose_columns(service.files, upload, form)
    if choice is not None:
        keep = "yes" in field_values(form, f"remember_{upload}")
        remember_columns(service, choice.reading.headers, choice.pinned if keep else None)


def _overview(run_id: str) -> str:
    """The address of a run's figures, which fill while it runs."""
    return f"results?run={run_id}"


# What is shown ------------------------------------------------------------------------------------


def _show_logs(t: Messages, files: _Files, form: Form) -> None:
    """A card for each log; the last is open, unless another one was chosen."""
    names = [upload for upload, _ in files.logs]
    opened = field_value(form, "opened_log")
    for upload, view in files.logs:
        is_opened = upload == (opened if opened in names else names[-1])
        show_log(t, upload, view, form, opened=is_opened)


def _file_cards(
    service: AppService, t: Messages, files: _Files, form: Form
) -> Iterable[tuple[str, Html]]:
    """A card for each dataset or table; of the tables the first one's columns are mapped."""
    waiting = (each for each in files.tables if field_value(form, f"open_{each.upload}") != LEFT)
    mapped = next(waiting, None)
    for each in files.shown:
        if isinstance(each, ColumnChoice):
            card = column_card(service, t, each, form) if each is mapped else waiting_card(t, each)
        else:
            card = dataset_card(t, each, form, _questions(service, t, each, form))
        yield each.upload, card


def _questions(service: AppService, t: Messages, shown: ShownDataset, form: Form) -> Html | None:
    upload = shown.upload
    if not field_value(form, f"shown_{upload}"):
        return None
    preview = service.files.preview(upload, shown.part.layout, first_question(form, upload))
    return questions_part(service, t, upload, preview)


def _name(shown: ShownDataset | ColumnChoice) -> str:
    return shown.view.name if isinstance(shown, ShownDataset) else shown.reading.file


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
