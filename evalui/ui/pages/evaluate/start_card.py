"""Before the start: what the run will send and cost, where it goes, and the button."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from evalui.app.evaluations import (
    hindrance_of,
    kept_words,
    plan_run,
    runs_ahead,
    start_run,
    warnings_of,
)
from evalui.app.files.views import PlannedRun
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.proportions import smallest_visible_gap
from evalui.report.numbers import dollars
from evalui.runs.estimate import Estimate
from evalui.runs.fair_queue.turns import QueueAhead
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import format_large_count
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.fields import Fields, show_fields
from evalui.ui.pages.evaluate.judging import is_single
from evalui.ui.pages.evaluate.model_list import remote_destinations
from evalui.ui.pages.evaluate.spec import form_to_spec, read_answers
from evalui.ui.screen import Screen, read_typed

_LARGE_SAMPLE = 10_000  # questions from which on the smallest visible gap is no news


@dataclass(frozen=True, slots=True)
class StartNotes:
    """What is to be known before the start.

    `hindrance` is why it cannot start, "" if it can, `rows` are those of `cost_rows`, () while the
    cost is not known. `away` names where questions go; `kept` are words of the replies that are
    kept of models at other addresses, by value.
    """

    hindrance: str = ""
    rows: Sequence[tuple[str, str]] = ()
    gap: str = ""
    warnings: Sequence[str] = ()
    away: Sequence[str] = ()
    kept: Sequence[tuple[str, str]] = ()


def start_notes(service: AppService, t: Messages, form: Form) -> StartNotes:
    """The notes of a form whose files can be read."""
    away = remote_destinations(t, service.models.catalog(), form, service.settings)
    try:
        if missing := _missing(form):
            return StartNotes(t(missing), away=away)
        planned = plan_run(service, service.files.matched(form_to_spec(form)))
    except EvaluiError as error:
        return StartNotes(t.translate(error.sentence), away=away)
    ahead = runs_ahead(service, planned)
    return StartNotes(
        hindrance_of(service, t, planned),
        cost_rows(t, planned.cost, ahead, _priced(planned)),
        gap_words(t, _questions(planned)),
        [*warnings_of(t, planned), *filter(None, [t.translate(ahead.held)])],
        away,
        [
            (f"{each.model}={each.addresses}", kept_words(t, each))
            for each in planned.cost.kept_elsewhere
        ],
    )


def show_start(
    screen: Screen, kept: gr.HTML, form: Form, notes: StartNotes, files: Sequence[str]
) -> None:
    """The card at the right; without a name the run is called like its `files`.

    `kept` is the component of the form of the tab, which is sent with the button.
    """
    t = screen.t
    unknown = [(t(f"cost.{name}"), "–") for name in ("requests", "tokens")]
    remarks = [("na", notes.gap)] if notes.gap else []
    remarks += [("warn", text) for text in (*notes.warnings, *notes.away)]
    if not notes.away:
        remarks.append(("ok", t("away.stays")))
    fields = Fields(t, form)

    def start(service: AppService, typed: str) -> str:
        spec = service.files.matched(form_to_spec(read_typed(typed)))
        return screen.address("runs", run=start_run(service, spec))

    with gr.Column(elem_classes="card cost", key="cost"):
        markup(
            fill("evaluate/start.html", t=t, rows=notes.rows or unknown),
            elem_classes="ev",
            key="cost-rows",
        )
        show_fields([fields.text("name", placeholder=" + ".join(files), quiet=True)])
        told = fill("evaluate/remarks.html", remarks=remarks)
        markup(told, elem_classes="ev", key="cost-notes")
        if notes.kept:
            ticks = fields.ticks("replies_of", dict(notes.kept), t("kept.title"))
            show_fields([ticks])
        button = gr.Button(
            t("cost.start"),
            variant="primary",
            interactive=not notes.hindrance,
            key="start",
            preserved_by_key=[],
        )
        screen.on(button.click, start, kept, screen.place, js="() => evalui.form.text()")
        if notes.hindrance:
            why = fill("evaluate/remarks.html", remarks=[("na", notes.hindrance)])
            markup(why, elem_classes="ev")


def cost_rows(
    t: Messages, cost: Estimate, ahead: QueueAhead, priced: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """What the run will send and cost, in words and figures."""
    judged = ((t("cost.judged"), f"{cost.judged:,}"),) if cost.judged else ()
    cached = ((t("cost.cached"), f"{cost.cached:,}"),) if cost.cached else ()
    price = t("cost.about_dollars", n=dollars(cost.dollars)) if cost.dollars is not None else ""
    names = priced[0] if len(priced) == 1 else t("cost.models", n=len(priced))
    return (
        (t("cost.requests"), f"{cost.requests:,}"),
        *judged,
        *cached,
        (t("cost.tokens"), format_large_count(cost.tokens)),
        (t("cost.queue"), t.count("cost.runs", ahead.runs) if ahead.runs else t("cost.none")),
        *(((t("cost.dollars", names=names), price),) if price else ()),
    )


def gap_words(t: Messages, questions: int) -> str:
    """How large a difference must be to be seen with so many questions, "" where no news."""
    if not questions or questions > _LARGE_SAMPLE:
        return ""
    points = f"{100 * smallest_visible_gap(questions):.0f}"
    return t("cost.gap", n=f"{questions:,}", points=points)


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
