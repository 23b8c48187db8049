"""The maps over all models of a run: what each position draws, and what moving options costs.

They show the models in the mode of the cell that the view is about.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages, localized
from evalui.report.analyses.overview.summary import GroupKind, Summary
from evalui.report.charts.bias import GapRow, PriorRow, gap_map, gap_rows, prior_map, prior_rows
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import count, format_value, percent
from evalui.report.numbers import format_range as spread
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.types import LETTERS, Interval
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import SKIP, Action, html_fragment, on_action
from evalui.ui.components.widgets import button, field, link_button, note, select, table
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.bias.tables import (
    BiasSelection,
    collapsible_table,
    questions_link,
    select_bias,
)
from evalui.ui.tabs.results.run_view import RunView

_Link = Callable[[GapRow, int, Html], Html]


class BiasHeatMaps:
    """The lower part of the Bias view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out two cards, each a map with its table."""
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as frame:
            with gr.Column(elem_classes="chart-card", scale=2, min_width=320):
                priors = [html_fragment("bias-prior"), _plot(), html_fragment("bias-prior-table")]
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320) as card:
                gap_head, gap_plot, gap_figures = (
                    html_fragment("bias-gap"),
                    _plot(),
                    html_fragment("bias-gap-table"),
                )
        gaps = [gap_head, gap_plot, gap_figures]
        self.outputs = [frame, *priors, card, *gaps]
        for source in (gap_head, gap_figures):
            on_action(source, self.regrouped, inputs=[run_id], outputs=gaps)

    def empty_outputs(self) -> tuple[Any, ...]:
        """The values of a run that has no map."""
        return gr.Row(visible=False), SKIP, None, SKIP, SKIP, SKIP, None, SKIP

    def show(self, view: RunView, chosen: BiasSelection, form: Form) -> tuple[Any, ...]:
        """Both maps; that of priors is of the questions with as many options as the chosen ones."""
        language, cells = self.t.language, comparable_cells(view, chosen)
        rows = prior_rows(list(cells.values()), chosen.bias.n_options, language)
        gaps = self._gaps(view, cells, form)
        return (
            gr.Row(visible=bool(rows)),
            prior_title(
                self.t, rows, chosen.bias.n_options, left_out=low_mass_models(cells, chosen)
            ),
            prior_map(rows, language) if rows else None,
            prior_table(self.t, rows, list(cells), view.run.id),
            gr.Column(visible=gaps is not None),
            *(gaps or (SKIP, None, SKIP)),
        )

    def regrouped(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """Categories or subjects; a press on a category opens its subjects."""
        form = act.form | {"gap_of": act.value("of") if act.do == "into" else ""}
        if act.do in ("into", "back"):
            form |= {"gap_by": "subject" if act.do == "into" else "category"}
        view = RunView(self.service, self.t, run_id)
        chosen = select_bias(view.with_question, form)
        gaps = self._gaps(view, comparable_cells(view, chosen), form) if chosen else None
        return gaps or (SKIP, None, SKIP)

    def _gaps(
        self, view: RunView, cells: Mapping[int, Summary], form: Form
    ) -> tuple[Any, ...] | None:
        """Title, map and table of the gaps; None where nothing was moved or nothing is grouped."""
        t, summaries = self.t, list(cells.values())
        categories = gap_rows(summaries, "category", t.language)[1]
        requested = field_value(form, "gap_by") or "category"
        kind: GroupKind = "category" if categories and requested == "category" else "subject"
        columns, rows = gap_rows(summaries, kind, t.language)
        members = _members(summaries).get(field_value(form, "gap_of"), frozenset())
        inside = [row for row in rows if row.key in members] if kind == "subject" else []
        rows = inside or rows
        if not rows:
            return None
        enough = any(gap and gap.n >= HIDDEN_BELOW for row in rows for gap in row.gaps)
        of = next((row.name for row in categories if row.key == field_value(form, "gap_of")), "")
        return (
            gap_title(t, kind, of=of if inside else "", several=bool(categories)),
            gr.Plot(gap_map(columns, rows, t.language), visible=enough),
            gap_table(t, columns, rows, _linked(view, cells, kind), opened=not enough),
        )


def comparable_cells(view: RunView, chosen: BiasSelection) -> Mapping[int, Summary]:
    """The cells of the same dataset and mode, if they show a preference for positions at all.

    In one order alone an uneven spread of right answers looks the same.
    """
    cell = chosen.summary.cell
    return {
        cell_id: summary
        for cell_id, summary in view.with_question.items()
        if (summary.cell.dataset, summary.cell.label) == (cell.dataset, cell.label)
        and summary.cell.pattern != "origin"
    }


def low_mass_models(cells: Mapping[int, Summary], chosen: BiasSelection) -> list[str]:
    """The models without a stated preference: their letters hold too little probability."""
    biases = {s.cell.model: s.bias_of(chosen.bias.n_options) for s in cells.values()}
    return [model for model, bias in biases.items() if bias and bias.level == "mass"]


def prior_title(
    t: Messages, rows: list[PriorRow], n_options: int, *, left_out: Sequence[str] = ()
) -> Html:
    """What the map of priors shows, how its figures were made, and who has no row."""
    origins = {row.origin for row in rows}
    key = "prior-mixed" if len(origins) > 1 else next(iter(origins), "prior")
    rest = localized("prior-rest", t.language, fair=percent(1 / n_options))
    return join(
        el("h2", localized("prior-title", t.language)),
        el("p", localized(f"{key}-about", t.language, rest=rest), cls="meta"),
        el(
            "p",
            localized("prior-muted", t.language, models=t("list.comma").join(left_out)),
            cls="meta",
        )
        if left_out
        else None,
    )


def prior_table(t: Messages, rows: list[PriorRow], ids: list[int], run_id: str) -> Html:
    """The map as a table; each share leads to the questions in which that position was picked."""
    letters = LETTERS[: max((len(row.shares) for row in rows), default=0)]
    body: list[list[Child]] = [
        [
            el("b", row.name),
            *(
                _share(
                    share,
                    {
                        "run": run_id,
                        "sub": "samples",
                        "cell": ids[int(row.key)],
                        "picked": slot,
                    },
                    f"{row.key},{slot}",
                )
                for slot, share in enumerate(row.shares)
            ),
            count(row.shares[0].n),
        ]
        for row in rows
    ]
    heads = [t("maps.model"), *letters, "n"]
    return collapsible_table(t, table(heads, body, right=range(1, len(heads)), cls="slim"))


def gap_title(t: Messages, kind: GroupKind, *, of: str, several: bool) -> Html:
    """What the map of gaps shows; a picker of its rows where there are categories."""
    picker = select("gap_by", {name: t(f"maps.{name}") for name in ("category", "subject")}, kind)
    return join(
        el("h2", localized("gap-title", t.language)),
        el("p", localized("gap-about", t.language), cls="meta"),
        div(
            div(field(t("maps.by"), picker), cls="bias-pick"),
            div(
                span(t("maps.subjects_of", name=of), cls="dim"),
                button(t("maps.back"), "back", cls="quiet"),
                cls="inside",
            )
            if of
            else None,
            cls="row end gap-s",
        )
        if several
        else None,
    )


def gap_table(
    t: Messages, columns: list[str], rows: list[GapRow], link: _Link, *, opened: bool
) -> Html:
    """The map as a table; a category leads to its subjects, a subject to its questions.

    `opened` if it stands in for the map, of which every cell would be grey.
    """
    body: list[list[Child]] = [
        [
            el("b", row.name),
            *(_gap(row, place, link) for place in range(len(columns))),
            count(max((gap.n for gap in row.gaps if gap), default=0)),
        ]
        for row in rows
    ]
    heads = [t("maps.group"), *columns, "n"]
    element = table(heads, body, right=range(1, len(heads)), cls="slim")
    return join(note("na", t("maps.all_few")), element) if opened else collapsible_table(t, element)


def _gap(row: GapRow, place: int, link: _Link) -> Child:
    gap = row.gaps[place]
    if gap is None:
        return "–"
    star = "*" if row.significant[place] else ""
    return link(row, place, join(format_value(gap), star, " ", span(spread(gap), cls="meta nw")))


def _linked(view: RunView, cells: Mapping[int, Summary], kind: GroupKind) -> _Link:
    """What turns a figure of a row and column into a link or a button."""
    ids = [id_ for id_, s in cells.items() if s.groups and s.order_sensitivity]

    def to_subjects(row: GapRow, place: int, label: Html) -> Html:
        return link_button(label, "into", data_cell=f"{row.key},{place}", data_of=row.key)

    def to_questions(row: GapRow, place: int, label: Html) -> Html:
        address: dict[str, str | int] = {
            "run": view.run.id,
            "sub": "samples",
            "cell": ids[place],
            "subject": row.key,
            "outcome": "order_sensitive",
        }
        return questions_link(label, address, f"{row.key},{place}")

    return to_subjects if kind == "category" else to_questions


def _plot() -> gr.Plot:
    return gr.Plot(show_label=False, container=False)


def _share(share: Interval, address: dict[str, str | int], cell: str) -> Child:
    label = join(f"{format_value(share)} % ", span(spread(share), cls="meta nw"))
    return questions_link(label, address, cell)


def _members(summaries: list[Summary]) -> Mapping[str, frozenset[str]]:
    """The subjects of each category."""
    return {
        group.name: frozenset(group.subjects)
        for summary in summaries
        for group in summary.groups
        if group.kind == "category"
    }
