"""The start card of a form, worked out: its cost, what hinders it, and what is to be known."""

from collections.abc import Sequence

from evalui.errors import EvaluiError, SpecError
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.runs.fair_queue.limits import check_may_queue, usual_limits
from evalui.runs.fair_queue.place import queue_ahead
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.services.files.views import PlannedCell, PlannedRun, UploadView
from evalui.ui.services.run_form import RunForm, read_run_form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate.judge_choice import is_single
from evalui.ui.tabs.evaluate.model_choice import remote_destinations
from evalui.ui.tabs.evaluate.start_card import StartNotes, cost_rows, gap_remark, start_card

_MANY_REQUESTS = 20_000


def start_plan(service: AppService, t: Messages, form: Form, views: Sequence[UploadView]) -> Html:
    """The card at the right of a form whose files can be read."""
    away = remote_destinations(t, service.catalog(), form, service.settings)
    names = [each.name for each in views]
    try:
        run_form = read_run_form(form)
        if missing := _missing(run_form, form):
            return start_card(t, form, names, StartNotes(away, hindrance=t(missing)))
        planned = service.plan(run_form)
    except EvaluiError as error:
        hindrance = t.translate(error.sentence)
        return start_card(t, form, names, StartNotes(away, hindrance=hindrance))
    ahead = queue_ahead(
        service.database,
        service.owner,
        usual_limits(service.settings),
        computes_here=planned.computes_here,
    )
    return start_card(
        t,
        form,
        names,
        StartNotes(
            away,
            [*warnings_of(t, planned), *filter(None, [t.translate(ahead.held)])],
            hindrance_of(service, t, planned),
        ),
        rows=cost_rows(t, planned.cost, ahead, _priced(planned)),
        gap=gap_remark(t, _questions(planned)),
    )


def hindrance_of(service: AppService, t: Messages, planned: PlannedRun) -> str:
    """Why a run cannot be started, before somebody tries; "" if it can."""
    if not _has_work(planned):
        return t("cost.nothing")
    try:
        with service.database.reading() as connection:
            check_may_queue(connection, service.owner, usual_limits(service.settings))
    except SpecError as error:
        return t.translate(error.sentence)
    return ""


def _missing(run_form: RunForm, form: Form) -> str:
    """What the user has still to choose: the key of its sentence."""
    if not run_form.models and not run_form.answers:
        return "cost.no_model"
    if not run_form.modes:
        return "cost.no_mode"
    if "yes" in field_values(form, "judging"):
        if not field_values(form, "judges"):
            return "cost.no_judge"
        contestants = len(run_form.models) + len(run_form.answers)
        if contestants < 2 and not is_single(field_value(form, "rubric"), form):
            return "cost.one_contestant"
    return ""


def warnings_of(t: Messages, planned: PlannedRun) -> list[str]:
    """What is to be known before a run is started."""
    unable: dict[str, list[PlannedCell]] = {}
    for cell in planned.cells:
        if cell.impossible and cell.fits:
            unable.setdefault(cell.mode, []).append(cell)
    warnings = [_skipped(t, mode, cells) for mode, cells in unable.items()]
    every_order = any(cell.pattern == "all_possible" for cell in planned.cells)
    if every_order or planned.cost.requests > _MANY_REQUESTS:
        warnings.append(t("cost.many", n=f"{planned.cost.requests:,}"))
    return warnings


def _skipped(t: Messages, mode: str, cells: Sequence[PlannedCell]) -> str:
    """Which models leave a mode out; why, where it is one."""
    models = list(dict.fromkeys(cell.model for cell in cells))
    label = t(key) if (key := f"modes.{mode}") in t else t(f"mode.{mode}")
    if len(models) == 1:
        why = t.translate(cells[0].impossible)
        return t("cost.left_out", model=models[0], mode=label, why=why)
    return t("cost.left_out_by", models=t("list.comma").join(models), mode=label)


def _has_work(planned: PlannedRun) -> bool:
    """Whether there is a request to send, or an answer to score."""
    return any(cell.total and not cell.impossible for cell in planned.cells)


def _priced(planned: PlannedRun) -> list[str]:
    """The models that cost money."""
    able = [cell for cell in planned.cells if cell.has_price and not cell.impossible]
    return list(dict.fromkeys(cell.model for cell in able))


def _questions(planned: PlannedRun) -> int:
    """The questions of all datasets of a run, each counted once however many answer it."""
    counted: dict[str, int] = {}
    for cell in planned.cells:
        counted[cell.dataset_key] = max(cell.questions, counted.get(cell.dataset_key, 0))
    return sum(counted.values())
