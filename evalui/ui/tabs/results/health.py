"""Results, Dataset health: what the questions give away, with and without a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from evalui.datasets.health import check_choices
from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import CHOICES_ONLY, CHOICES_ONLY_RULE, notes
from evalui.report.analyses.statistics import format_points, format_points_range
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.report.numbers import percent
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.statistics.paired_tests import PairedTTest, paired_t_test
from evalui.types import Sample
from evalui.ui.components.format import value_with_range
from evalui.ui.components.fragment import html_fragment
from evalui.ui.components.widgets import card, note, status, table, titled
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate.file_card import health_card
from evalui.ui.tabs.results.run_view import RunView, model_places


class HealthView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the one pane."""
        del run_id  # nothing here is an act
        self.outputs = [html_fragment("health-pane")]

    def show(self, run_id: str) -> Html:
        """The health of each dataset of a run, as this run used it."""
        view, t = RunView(self.service, self.t, run_id), self.t
        by_name = datasets(view)
        if not by_name:
            return card(div(el("h2", t("dataset.none")), cls="empty unavailable"))
        return div(
            *(
                _dataset(t, view, name, samples, heading=name if len(by_name) > 1 else "")
                for name, samples in by_name.items()
            ),
            cls="stack",
        )


def datasets(view: RunView) -> Mapping[str, tuple[Sample, ...]]:
    """The multiple-choice questions of the run, by dataset."""
    cells = {summary.cell for summary in view.summaries.values()}
    by_name: dict[str, tuple[Sample, ...]] = {}
    for result in view.report.results:
        if result.cell in cells:
            by_name.setdefault(result.cell.dataset, tuple(result.samples.values()))
    return by_name


def _dataset(
    t: Messages, view: RunView, name: str, samples: tuple[Sample, ...], *, heading: str
) -> Html:
    return div(
        el("h2", heading) if heading else None,
        el("p", t.count("dataset.asked", len(samples)), cls="dim"),
        div(health_card(t, check_choices(samples)), choices_card(t, view, name), cls="row start"),
        cls="stack",
    )


def choices_card(t: Messages, view: RunView, dataset: str) -> Html:
    """Each model with and without the question; how to find out if no model ran without."""
    everything = list(view.summaries.values())
    blind = [s for s in everything if s.cell.mode == CHOICES_ONLY and s.cell.dataset == dataset]
    about = el("p", t("dataset.only_about"), cls="meta")
    if not blind:
        missing = note("na", t("dataset.only_missing"))
        return titled(t("dataset.only"), about, div(missing, cls="gap-s"))
    places = model_places(everything, view.baselines)
    heads = [t(f"dataset.{key}") for key in ("model", "without", "with", "reading", "test")]
    rows: list[list[Child]] = [
        [
            model_name(s.cell.model, places[s.cell.model], s.cell.model in view.baselines),
            *_result_columns(t, s, _with_question(s, everything)),
        ]
        for s in blind
    ]
    all_notes = [(s.cell.model, each) for s in blind for each in notes(s, t.language)]
    blind_notes = [
        (model, each.text) for model, each in all_notes if each.rule == CHOICES_ONLY_RULE
    ]
    return titled(
        t("dataset.only"),
        about,
        table(heads, rows),
        *(div(note("warn", el("b", model), " ", text), cls="gap-s") for model, text in blind_notes),
    )


def _with_question(blind: Summary, everything: Sequence[Summary]) -> Summary | None:
    """The cell of the same model and mode with the question; None if there is none."""
    suffix = blind.cell.label.removeprefix(CHOICES_ONLY)
    return next(
        (
            s
            for s in everything
            if (s.cell.dataset, s.cell.model) == (blind.cell.dataset, blind.cell.model)
            and s.cell.label == f"multiple_choice{suffix}"
        ),
        None,
    )


def _result_columns(t: Messages, blind: Summary, whole: Summary | None) -> list[Child]:
    if blind.accuracy is None or blind.chance is None:
        reason = t("dataset.failed", reason=blind.error) if blind.error else "–"
        return [span(reason, cls="meta"), "", "", ""]
    benefit = _question_benefit(blind, whole) if whole else None
    guess = t("dataset.guess", chance=percent(blind.chance))
    worth = (
        join(
            el("b", format_points(benefit)), " ", span(format_points_range(benefit), cls="meta nw")
        )
        if benefit
        else "–"
    )
    return [
        join(value_with_range(blind.accuracy), div(guess, cls="meta")),
        value_with_range(whole.accuracy) if whole and whole.accuracy else "–",
        worth,
        _verdict(t, blind),
    ]


def _question_benefit(blind: Summary, whole: Summary) -> PairedTTest | None:
    """What reading the question adds, over the questions that were presented both ways."""
    return paired_t_test(whole.outcomes.get("accuracy", {}), blind.outcomes.get("accuracy", {}))


def _verdict(t: Messages, blind: Summary) -> Html:
    if blind.n < HIDDEN_BELOW:
        return status("na", t("dataset.few"))
    if any(each.rule == CHOICES_ONLY_RULE for each in notes(blind, t.language)):
        return status("warn", t("dataset.yes"))
    return status("ok", t("dataset.no"))
