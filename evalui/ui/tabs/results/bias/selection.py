"""What the Bias view is about: one cell of a run, and one cell of its grid with the questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.numbers import count
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import CellResult, Sample, Trial
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.html import Child, Html, div, el, span
from evalui.ui.components.widgets import button, link_button, table

_LISTED = 50  # questions; the rest is counted


@dataclass(frozen=True, slots=True)
class BiasSelection:
    """One cell of a run and its questions with one number of options."""

    cell_id: int
    summary: Summary
    bias: StratumBias


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of the grid: how often the most frequent position and option came."""

    slots: int
    options: int


def select_bias(summaries: Mapping[int, Summary], form: Form) -> BiasSelection | None:
    """The cell and the number of options that a form asks for, else the first with any."""
    able = {id_: s for id_, s in summaries.items() if s.bias and s.bias.strata}
    if not able:
        return None
    wish = parse_whole_number(field_value(form, "bias_cell"))
    cell_id = wish if wish is not None and wish in able else next(iter(able))
    summary = able[cell_id]
    strata = summary.bias.strata if summary.bias else ()
    size = field_value(form, "bias_k")
    found = next((each for each in strata if str(each.n_options) == size), summary.main_bias)
    assert found is not None, "a cell with strata has a largest one"
    return BiasSelection(cell_id, summary, found)


def read_grid_cell(form: Form) -> GridCell | None:
    """The cell that a form or an address asks for, None if it asks for none."""
    slots, options = (
        parse_whole_number(field_value(form, "slots")),
        parse_whole_number(field_value(form, "options")),
    )
    return None if slots is None or options is None else GridCell(slots, options)


def agreement_table(
    t: Messages,
    bias: StratumBias,
    result: CellResult | None,
    selected: GridCell | None,
    *,
    run_id: str,
    cell: int,
) -> Html:
    """Every cell that holds questions as a button; the questions of `selected` below them."""
    steady = bias.consistency
    assert steady is not None, "the grid needs several orders"
    rows: list[list[Child]] = [
        [str(slots), str(options), _button(slots, options, number)]
        for slots, row in enumerate(steady.grid, start=1)
        for options, number in enumerate(row, start=1)
        if number
    ]
    heads = [t("maps.same_position"), t("maps.same_option"), t("maps.questions")]
    listed = result is not None and selected is not None
    return div(
        _list(t, questions_in(result, bias, selected), selected, run_id=run_id, cell=cell)
        if result is not None and selected is not None
        else None,
        el(
            "input",
            type="hidden",
            name="slots",
            value=selected.slots if listed and selected else "",
        ),
        el(
            "input",
            type="hidden",
            name="options",
            value=selected.options if listed and selected else "",
        ),
        el(
            "details",
            el("summary", t("maps.as_table")),
            table(heads, rows, right=(0, 1, 2), cls="slim"),
        ),
    )


def questions_in(result: CellResult, bias: StratumBias, grid_cell: GridCell) -> list[Sample]:
    """The questions of one cell of the grid, in file order.

    As in the grid, a question counts if it has the number of options, was asked in every order,
    and no option names another or has its text.
    """
    steady = bias.consistency
    assert steady is not None, "the grid needs several orders"
    asked: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in result.trials:
        if len(trial.variant.permutation) == bias.n_options and not trial.fixed_reason:
            asked[trial.sample_id].append(trial)
    return [
        sample
        for sample in result.samples.values()
        if len(asked[sample.id]) == steady.n_orders and _grid_cell(asked[sample.id]) == grid_cell
    ]


def _grid_cell(trials: Iterable[Trial]) -> GridCell | None:
    chosen = [(trial.variant.permutation, trial.choice) for trial in trials]
    slots = Counter(slot for _, slot in chosen if slot is not None)
    options = Counter(order[slot] for order, slot in chosen if slot is not None)
    return GridCell(max(slots.values()), max(options.values())) if slots else None


def _button(slots: int, options: int, number: int) -> Html:
    return link_button(
        count(number),
        "cell",
        data_cell=f"{slots},{options}",
        data_slots=slots,
        data_options=options,
    )


def _list(t: Messages, samples: list[Sample], wish: GridCell, *, run_id: str, cell: int) -> Html:
    address = {"run": run_id, "sub": "samples", "cell": cell}
    lines = [
        el(
            "li",
            el(
                "a",
                span(sample.id, cls="mono"),
                " ",
                sample.question,
                href="?" + urlencode(address | {"sample": sample.id}),
            ),
        )
        for sample in samples[:_LISTED]
    ]
    more = len(samples) - len(lines)
    return div(
        div(
            el("h3", t("maps.listed", slots=wish.slots, options=wish.options)),
            button(t("maps.close"), "close", cls="quiet"),
            cls="card-h",
        ),
        el("ul", *lines, cls="links-list") if lines else el("p", t("maps.listed_none"), cls="dim"),
        el("p", t("maps.listed_more", n=count(more)), cls="meta") if more > 0 else None,
        cls="listed",
    )
