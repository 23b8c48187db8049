"""Can the questions be answered without reading them? What a run without the question says."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import CHOICES_ONLY, CHOICES_ONLY_RULE, notes
from evalui.report.analyses.statistics import format_points, format_points_range
from evalui.report.numbers import percent
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.statistics.paired_tests import PairedTTest, paired_t_test
from evalui.ui.components.format import value_with_range
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import model_name, note, status, table, titled
from evalui.ui.tabs.results.overview.figures import model_places
from evalui.ui.tabs.results.run_view import RunView


def choices_card(t: Messages, view: RunView, dataset: str) -> Html:
    """Each model with and without the question; how to find out if nobody was asked without."""
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
    told = [(s.cell.model, each) for s in blind for each in notes(s, t.language)]
    found = [(model, each.text) for model, each in told if each.rule == CHOICES_ONLY_RULE]
    return titled(
        t("dataset.only"),
        about,
        table(heads, rows),
        *(div(note("warn", el("b", model), " ", text), cls="gap-s") for model, text in found),
    )


def _with_question(blind: Summary, everything: Sequence[Summary]) -> Summary | None:
    """The cell that asked the same model the same with the question; None if there is none."""
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
    found = _question_benefit(blind, whole) if whole else None
    guess = t("dataset.guess", chance=percent(blind.chance))
    worth = (
        join(el("b", format_points(found)), " ", span(format_points_range(found), cls="meta nw"))
        if found
        else "–"
    )
    return [
        join(value_with_range(blind.accuracy), div(guess, cls="meta")),
        value_with_range(whole.accuracy) if whole and whole.accuracy else "–",
        worth,
        _verdict(t, blind),
    ]


def _question_benefit(blind: Summary, whole: Summary) -> PairedTTest | None:
    """What reading the question adds, over the questions that were asked both ways."""
    return paired_t_test(whole.outcomes.get("accuracy", {}), blind.outcomes.get("accuracy", {}))


def _verdict(t: Messages, blind: Summary) -> Html:
    if blind.n < HIDDEN_BELOW:
        return status("na", t("dataset.few"))
    if any(each.rule == CHOICES_ONLY_RULE for each in notes(blind, t.language)):
        return status("warn", t("dataset.yes"))
    return status("ok", t("dataset.no"))
