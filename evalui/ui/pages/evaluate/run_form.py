"""What can be chosen for files that are read: models, modes, settings, answers and judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.service import AppService
from evalui.generation import SETTINGS
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.types import has_options
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.pages.evaluate.dataset_card import ShownDataset
from evalui.ui.pages.evaluate.defaults import kinds_of
from evalui.ui.pages.evaluate.fields import Field, Fields
from evalui.ui.pages.evaluate.given_answers import answers_files, earlier_models, picked_run
from evalui.ui.pages.evaluate.judging import (
    ReferenceCounts,
    is_single,
    judge_list,
    judge_notes,
    judging_summary,
    rubrics,
    tried,
    weights,
)
from evalui.ui.pages.evaluate.mode_list import (
    PRESETS,
    generation_summary,
    mode_list,
    offered_settings,
    preset_fields,
    preset_of,
    settings_summary,
)
from evalui.ui.pages.evaluate.model_list import OfferedModel, model_list
from evalui.ui.pages.evaluate.spec import CUSTOM, JUDGING, read_answers

_NOTHING = Html("")


@dataclass(frozen=True, slots=True)
class Contest:
    """What only open questions have: answers brought along, and who judges, where one does."""

    given: Html
    given_count: str
    earlier_runs: Sequence[Field]
    earlier: Html
    is_judged: bool
    judges: Html
    judge_notes: Html
    judging: Sequence[Field]
    judging_summary: str
    own_rubric: Sequence[Field]
    tried: Html
    judge_writing: Sequence[Field]
    judge_writing_summary: str


@dataclass(frozen=True, slots=True)
class RunForm:
    """The parts of the page; `contest` is None where all questions have options."""

    models: Html
    presets: Sequence[tuple[str, Mapping[str, object], bool]]
    modes: Html
    asking_summary: str
    orders: Sequence[Field]
    asking: Sequence[Field]
    own_template: Sequence[Field]
    writing: Sequence[Field]
    writing_summary: str
    contest: Contest | None


def run_form(
    service: AppService,
    t: Messages,
    form: Form,
    datasets: Sequence[ShownDataset],
    models: Sequence[OfferedModel],
) -> tuple[Form, RunForm]:
    """The form with choices that are offered, and its parts."""
    form, kinds = dict(form), kinds_of([each.view for each in datasets])
    choice = any(map(has_options, kinds))
    contest = None
    if not all(map(has_options, kinds)):
        form, contest = _contest(service, t, form, datasets, models)
    fields, offered = Fields(t, form), offered_settings(form)
    is_own = choice and field_value(form, "template") == CUSTOM
    preset = preset_of(form, models) if choice else None
    return form, RunForm(
        models=model_list(t, models, form, may_add=service.models.may_edit),
        presets=[
            (t(f"preset.{name}"), preset_fields(name, form, models), name == preset)
            for name in (PRESETS if choice else ())
        ],
        modes=mode_list(t, models, form, kinds),
        asking_summary=settings_summary(t, form, choice=choice),
        orders=[fields.orders()] if choice else (),
        asking=fields.asking(choice=choice),
        own_template=fields.own_template() if is_own else (),
        writing=fields.writing(offered),
        writing_summary=generation_summary(t, form, offered, judge=False),
        contest=contest,
    )


def _contest(
    service: AppService,
    t: Messages,
    form: Form,
    datasets: Sequence[ShownDataset],
    models: Sequence[OfferedModel],
) -> tuple[Form, Contest]:
    open_ = [each for each in datasets if not has_options(each.view.kind)]
    parts = [each.part for each in open_]
    brought, earlier = read_answers(form), field_values(form, "earlier")
    files = [service.files.answers_file(name, model, parts) for name, model in brought.items()]
    runs = service.files.earlier_runs(parts)
    form = form | {"earlier_run": picked_run(form)}
    answered = [*brought.values(), *(each.partition("/")[2] for each in earlier)]
    names = [*field_values(form, "models"), *answered]
    contestants = list(dict.fromkeys(filter(None, names)))
    offered = rubrics(t, len(contestants), field_value(form, "judging.template"))
    if field_value(form, "judging.template") not in offered:
        form = form | {"judging.template": next(iter(offered))}
    template = field_value(form, "judging.template")
    questions = sum(each.view.n_questions for each in open_)
    counts = ReferenceCounts(questions, questions - sum(v.view.n_references for v in open_))
    states = [model.state for model in models]
    fields, is_own = Fields(t, form), template == CUSTOM
    writing = generation_summary(t, form, SETTINGS, judge=True)
    run_words = {"": t("answers.no_run")} | {run.id: run.name for run in runs}
    earlier_run = fields.pick("earlier_run", run_words, t("answers.earlier"))
    n = len(files) + len(earlier)
    return form, Contest(
        given=answers_files(t, files, form),
        given_count=t.count("answers.chosen", n) if n else t("answers.summary"),
        earlier_runs=[earlier_run] if runs else (),
        earlier=earlier_models(t, runs, form),
        is_judged="yes" in field_values(form, "judging"),
        judges=judge_list(t, states, form),
        judge_notes=judge_notes(t, states, contestants, form, counts),
        judging=fields.judging(
            offered,
            weights(t, field_value(form, "judging.strong")),
            contestants,
            single=is_single(template, form),
        ),
        judging_summary=judging_summary(t, form, offered, writing),
        own_rubric=fields.own_rubric() if is_own else (),
        tried=(tried(t, form) or _NOTHING) if is_own else _NOTHING,
        judge_writing=fields.writing(SETTINGS, beginning=JUDGING),
        judge_writing_summary=writing,
    )
