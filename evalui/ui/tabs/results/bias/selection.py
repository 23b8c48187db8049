"""What the Bias view is about: one cell of a run, and one cell of its grid with the questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.numbers import count
from evalui.scoring.position_bias.summary import Bias
from evalui.types import CellResult, Sample, Trial
from evalui.ui.components.fragment import Form
from evalui.ui.components.html import Child, Html, div, el, span
from evalui.ui.components.widgets import button, link_button, table
from evalui.ui.tabs.evaluate.run_form import one, whole

_LISTED = 50  # questions; the rest is counted


@dataclass(frozen=True, slots=True)
class Picked:
    """One cell of a run and its questions with one number of options."""

    cell_id: int
    summary: Summary
    bias: Bias


@dataclass(frozen=True, slots=True)
class Chosen:
    """A cell of the grid: how often the most frequent position and option came."""

    slots: int
    options: int


def choose(summaries: Mapping[int, Summary], form: Form) -> Picked | None:
    """The cell and the number of options that a form asks for, else the first with any."""
    able = {id_: s for id_, s in summaries.items() if s.bias and s.bias.strata}
    if not able:
        return None
    wish = whole(one(form, "bias_cell"))
    cell_id = wish if wish is not None and wish in able else next(iter(able))
    summary = able[cell_id]
    strata = summary.bias.strata if summary.bias else ()
    size = one(form, "bias_k")
    found = next((each for each in strata if str(each.n_options) == size), summary.main_bias)
    assert found is not None, "a cell with strata has a largest one"
    return Picked(cell_id, summary, found)


def read_chosen(form: Form) -> Chosen | None:
    """The cell that a form or an address asks for, None if it asks for none."""
    slots, options = whole(one(form, "slots")), whole(one(form, "options"))
    return None if slots is None or options is None else Chosen(slots, options)


def agreement_table(
    t: Messages,
    found: Bias,
    result: CellResult | None,
    wish: Chosen | None,
    *,
    run_id: str,
    cell: int,
) -> Html:
    """Every cell that holds questions as a button; the questions of `wish` below them."""
    steady = found.consistency
    assert steady is not None, "the grid needs several orders"
    rows: list[list[Child]] = [
        [str(slots), str(options), _button(slots, options, number)]
        for slots, row in enumerate(steady.grid, start=1)
        for options, number in enumerate(row, start=1)
        if number
    ]
    heads = [t("maps.same_position"), t("maps.same_option"), t("maps.questions")]
    listed = result is not None and wish is not None
    return div(
        _list(t, questions_in(result, found, wish), wish, run_id=run_id, cell=cell)
        if result is not None and wish is not None
        else None,
        el("input", type="hidden", name="slots", value=wish.slots if listed and wish else ""),
        el("input", type="hidden", name="options", value=wish.options if listed and wish else ""),
        el(
            "details",
            el("summary", t("maps.as_table")),
            table(heads, rows, right=(0, 1, 2), cls="slim"),
        ),
    )


def questions_in(result: CellResult, found: Bias, wish: Chosen) -> list[Sample]:
    """The questions of one cell of the grid, in file order.

    As in the grid, a question counts if it has the number of options, was asked in every order,
    and no option names another or has its text.
    """
    steady = found.consistency
    assert steady is not None, "the grid needs several orders"
    asked: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in result.trials:
        if len(trial.variant.permutation) == found.n_options and not trial.fixed:
            asked[trial.sample_id].append(trial)
    return [
        sample
        for sample in result.samples.values()
        if len(asked[sample.id]) == steady.n_orders and _cell(asked[sample.id]) == wish
    ]


def _cell(trials: Iterable[Trial]) -> Chosen | None:
    chosen = [(trial.variant.permutation, trial.choice) for trial in trials]
    slots = Counter(slot for _, slot in chosen if slot is not None)
    options = Counter(order[slot] for order, slot in chosen if slot is not None)
    return Chosen(max(slots.values()), max(options.values())) if slots else None


def _button(slots: int, options: int, number: int) -> Html:
    return link_button(
        count(number),
        "cell",
        data_cell=f"{slots},{options}",
        data_slots=slots,
        data_options=options,
    )


def _list(t: Messages, samples: list[Sample], wish: Chosen, *, run_id: str, cell: int) -> Html:
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
