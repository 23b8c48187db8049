"""The top of an overview: what one must know first, and the figures of each cell."""

from collections.abc import Collection, Sequence

from evalui.report.narrative import (
    above_chance,
    accuracy_bounds,
    names,
    only_as_written,
    overview_subtitle,
    overview_title,
    picks_title,
    plausible,
    unreadable,
)
from evalui.report.notes import Note, notes
from evalui.report.numbers import figure
from evalui.report.summary import Summary
from evalui.types import Cell
from evalui.ui.figures import tile
from evalui.ui.html import Html, div, el, join, span
from evalui.ui.matrix import model_name
from evalui.ui.text import Text
from evalui.ui.widgets import card, note

_KPIS = ("model", "accuracy", "robust", "sensitivity", "position", "readable")
_AT_TOP = 2  # notes above the figures; the others follow below
_KINDS = {"bad": "bad", "warn": "warn", "info": "na"}


def top(t: Text, summaries: Sequence[Summary], baselines: Collection[str]) -> Html:
    """The most serious notes and the figures of each cell; notes on baselines stay below."""
    own = [summary for summary in summaries if summary.cell.model not in baselines]
    serious = [told for told in all_notes(t, summaries, only=own) if told[1].level != "info"]
    answered = any(summary.accuracy for summary in summaries)
    return div(
        *(note_line(cell, found) for cell, found in serious[:_AT_TOP]),
        _kpis(t, summaries, baselines) if answered else _nothing(t),
        cls="stack",
    )


def chart_title(t: Text, summaries: Sequence[Summary], baselines: Collection[str]) -> Html:
    """What the chart below shows, as a sentence, and how to read it."""
    return join(
        el("h2", overview_title(summaries, t.language, baselines=baselines)),
        el("p", overview_subtitle(summaries, t.language), cls="meta"),
    )


def all_notes(
    t: Text, summaries: Sequence[Summary], *, only: Sequence[Summary] | None = None
) -> list[tuple[str, Note]]:
    """Every note (on some cells `only`) with the name of its cell, most serious first."""
    cells = cell_names(t, summaries)
    chosen = summaries if only is None else only
    found = [(cells[s.cell], one) for s in chosen for one in notes(s, t.language)]
    return sorted(found, key=lambda pair: list(_KINDS).index(pair[1].level))


def note_line(cell: str, found: Note) -> Html:
    """One note on the screen."""
    return note(_KINDS[found.level], el("b", cell), " ", found.text)


def cell_names(t: Text, summaries: Sequence[Summary]) -> dict[Cell, str]:
    """Each cell by what tells it from the others, on one line."""
    return {
        cell: " · ".join(part for part in parts if part)
        for cell, parts in names(summaries, t.language).items()
    }


def model_places(summaries: Sequence[Summary], baselines: Collection[str]) -> dict[str, int]:
    """The place of each model in the run, which decides its marker; baselines take none."""
    models = dict.fromkeys(s.cell.model for s in summaries if s.cell.model not in baselines)
    return {model: place for place, model in enumerate(models)} | dict.fromkeys(baselines, 0)


def _nothing(t: Text) -> Html:
    return card(div(t("results.no_answers"), cls="empty"))


def _kpis(t: Text, summaries: Sequence[Summary], baselines: Collection[str]) -> Html:
    places = model_places(summaries, baselines)
    parts = names(summaries, t.language)
    heads = div(*(div(t(f"kpi.{name}")) for name in _KPIS), cls="kpi h")
    rows = [
        _kpi(
            t,
            summary,
            parts[summary.cell],
            places[summary.cell.model],
            summary.cell.model in baselines,
        )
        for summary in summaries
        if summary.state != "impossible"
    ]
    return card(heads, *rows, cls="kpis")


def _kpi(t: Text, s: Summary, name: tuple[str, str], place: int, baseline: bool) -> Html:
    model, rest = name
    who = div(
        model_name(model, place, baseline),
        div(rest, cls="meta gap-s") if rest else None,
        div(span(t(f"state.{s.state}"), cls="tag")) if s.state != "done" else None,
        div(t("kpi.guessing"), cls="meta") if s.accuracy and not above_chance(s) else None,
    )
    if s.accuracy is None or s.readable is None:
        return div(who, div(s.error or t("results.no_answers"), cls="meta wide"), cls="kpi")
    picks = [div(picks_title(table, t.language), cls="dim") for table in s.positions]
    bounds = accuracy_bounds(s, t.language) if s.unreadable_origin else ""
    cells = [
        tile(figure(s.accuracy), "%", plausible(s.accuracy, t.language), t("kpi.n", n=f"{s.n:,}")),
        _or_one_order(t, s.robust and tile(figure(s.robust), "%", plausible(s.robust, t.language))),
        _or_one_order(
            t,
            s.order_sensitivity
            and tile(figure(s.order_sensitivity), t("kpi.points"), only_as_written(s, t.language)),
        ),
        join(*picks) if picks else _or_one_order(t, None),
        tile(figure(s.readable), "%", _unreadable(t, s), bounds),
    ]
    labelled = [
        div(div(t(f"kpi.{key}"), cls="lab meta"), shown, cls="wide" if key == "position" else None)
        for key, shown in zip(_KPIS[1:], cells, strict=True)
    ]
    return div(who, *labelled, cls="kpi")


def _unreadable(t: Text, s: Summary) -> str:
    if s.unreadable:
        return unreadable(s, t.language)
    return t("kpi.all_readable", n=f"{s.done:,}")


def _or_one_order(t: Text, shown: Html | None) -> Html:
    return shown or span(t("kpi.one_order"), cls="meta")
