"""The start card of a form, worked out: its cost, what hinders it, and what is to be known."""

from evalui.app.evaluations import hindrance_of, kept_words, plan_run, runs_ahead, warnings_of
from evalui.app.files.views import PlannedRun
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.pages.evaluate.judging import is_single
from evalui.ui.pages.evaluate.model_list import remote_destinations
from evalui.ui.pages.evaluate.spec import form_to_spec, read_answers
from evalui.ui.pages.evaluate.start_card import (
    StartCard,
    StartNotes,
    cost_rows,
    gap_words,
    start_card,
)


def start_plan(service: AppService, t: Messages, form: Form) -> StartCard:
    """The card of a form whose files can be read."""
    away = remote_destinations(t, service.models.catalog(), form, service.settings)
    try:
        if missing := _missing(form):
            return start_card(t, StartNotes(away, hindrance=t(missing)))
        planned = plan_run(service, service.files.matched(form_to_spec(form)))
    except EvaluiError as error:
        hindrance = t.translate(error.sentence)
        return start_card(t, StartNotes(away, hindrance=hindrance))
    ahead = runs_ahead(service, planned)
    return start_card(
        t,
        StartNotes(
            away,
            [*warnings_of(t, planned), *filter(None, [t.translate(ahead.held)])],
            hindrance_of(service, t, planned),
        ),
        rows=cost_rows(t, planned.cost, ahead, _priced(planned)),
        gap=gap_words(t, _questions(planned)),
        kept=[
            (kept_words(t, each), f"{each.model}={each.addresses}")
            for each in planned.cost.kept_elsewhere
        ],
    )


def _missing(form: Form) -> str:
    """What the user has still to choose: the key of its sentence."""
    models, answers = (
        field_values(form, "models"),
        (*read_answers(form), *field_values(form, "earlier")),
    )
    if not models and not answers:
        return "cost.no_model"
    if not field_values(form, "modes"):
        return "cost.no_mode"
    if "yes" in field_values(form, "judging"):
        if not field_values(form, "judging.judges"):
            return "cost.no_judge"
        contestants = len(models) + len(answers)
        if contestants < 2 and not is_single(field_value(form, "judging.template"), form):
            return "cost.one_contestant"
    return ""


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
