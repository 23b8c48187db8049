"""The selected cell of the Bias view, and its charts as tables.

Their figures lead to their questions; the lesser figures stand below.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.position_bias import ckld_text
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import count, fixed, format_value, p_value, percent
from evalui.report.numbers import format_range as spread
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.position_bias.significance import StatisticalTest
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import LETTERS, CellResult, Interval, Sample, Trial
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.widgets import button, definitions, link_button, table

_LISTED = 50  # questions; the rest is counted


def counts_table(t: Messages, bias: StratumBias, run_id: str, cell_id: int) -> Html:
    """Answers by right and picked position; each count is a link to its questions."""
    positions = bias.position
    letters = LETTERS[: bias.n_options]
    address = {"run": run_id, "sub": "samples", "cell": cell_id}
    rows: list[list[Child]] = []
    for gold, counts in enumerate(positions.counts):
        here = address | {"gold": gold}
        links: list[Child] = [
            _count(number, here | {"picked": picked}, f"{gold},{picked}")
            for picked, number in enumerate(counts)
        ]
        others = {"unreadable": positions.unreadable[gold], "tied": positions.tied[gold]}
        links += [
            _count(number, here | {"outcome": outcome}, f"{gold},{outcome}")
            for outcome, number in others.items()
        ]
        rows.append([el("b", letters[gold]), *links])
    heads = [t("bias.gold"), *letters, t("bias.unreadable"), t("bias.tied")]
    return collapsible_table(t, table(heads, rows, right=range(1, len(heads)), cls="grid-table"))


def positions_table(t: Messages, bias: StratumBias) -> Html:
    """How often each position is picked, and how often the right answer there is recalled."""
    heads = [t(f"bias.{name}") for name in ("position", "share", "fair", "recall")]
    rows: list[list[Child]] = [
        [
            el("b", LETTERS[slot]),
            _share(share, n=False),
            f"{percent(bias.position.chance)} %",
            _share(recall, n=True),
        ]
        for slot, (share, recall) in enumerate(
            zip(bias.position.shares, bias.position.recalls, strict=True)
        )
    ]
    return el(
        "details", el("summary", t("bias.tables")), table(heads, rows, cls="slim"), cls="gap-s"
    )


def figures_table(t: Messages, bias: StratumBias) -> Html:
    """The figures that no sentence states, for readers who know them by name."""
    steady, plain = bias.consistency, bias.original_floor
    rows: list[tuple[Child, Child]] = [
        (t("spread.rstd"), _points(t, bias.spread.rstd)),
        (t("spread.floor"), _floor(t, bias)),
        (t("spread.rsd"), _number(bias.spread.rsd)),
        (t("spread.ckld"), ckld_text(bias.spread, t.language)),
        (t("spread.original"), _points(t, plain.rstd if plain else None)),
        (
            t("spread.original_floor"),
            t("spread.floor_of", mean=fixed(plain.mean, 1), upper=fixed(plain.percentile_95, 1))
            if plain
            else "–",
        ),
        (t("spread.sensitivity"), _share(steady.sensitivity_gap if steady else None, n=False)),
        (t("spread.soft_ece"), _number(bias.ece)),
        (t("spread.cochran"), _tested(t, bias, bias.tests.cochran_q)),
        (t("spread.wald"), _tested(t, bias, bias.tests.wald)),
    ]
    return join(el("p", t("maps.figures_about"), cls="meta"), definitions(rows))


def questions_link(label: Child, address: dict[str, str | int], cell: str) -> Html:
    """A figure that leads to its questions; `cell` is what a click on the picture requests."""
    return el("a", label, href="?" + urlencode(address), data_cell=cell)


def collapsible_table(t: Messages, content: Html) -> Html:
    """A table below its picture, for those who read or use the keyboard."""
    return el("details", el("summary", t("maps.as_table")), content, cls="gap-s")


def _count(number: int, address: dict[str, str | int], cell: str) -> Child:
    return questions_link(count(number), address, cell) if number else "0"


def _share(share: Interval | None, *, n: bool) -> Child:
    if share is None:
        return "–"
    words = f"{spread(share)} · n {count(share.n)}" if n else spread(share)
    return join(f"{format_value(share)} % ", span(words, cls="meta"))


def _points(t: Messages, value: float | None) -> str:
    return "–" if value is None else t("spread.points", value=fixed(value, 1))


def _number(value: float | None) -> str:
    return "–" if value is None else fixed(value, 3)


def _floor(t: Messages, bias: StratumBias) -> str:
    permuted = bias.tests.permutation
    if permuted is None or permuted.mean_rstd is None or permuted.rstd_95 is None:
        return "–"
    return t("spread.floor_of", mean=fixed(permuted.mean_rstd, 1), upper=fixed(permuted.rstd_95, 1))


def _tested(t: Messages, bias: StratumBias, tested: StatisticalTest | None) -> str:
    if bias.n < HIDDEN_BELOW:
        return t("statistics.few")
    if tested is None:
        return t("spread.missing")
    return f"{fixed(tested.statistic, 1)} · {t('spread.p', p=p_value(tested.p))}"


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
    """The cell and the number of options that a form selects, else the first with any."""
    able = {id_: s for id_, s in summaries.items() if s.bias and s.bias.strata}
    if not able:
        return None
    requested = parse_whole_number(field_value(form, "bias_cell"))
    cell_id = requested if requested is not None and requested in able else next(iter(able))
    summary = able[cell_id]
    strata = summary.bias.strata if summary.bias else ()
    size = field_value(form, "bias_k")
    stratum = next((each for each in strata if str(each.n_options) == size), summary.main_bias)
    assert stratum is not None, "a cell with strata has a largest one"
    return BiasSelection(cell_id, summary, stratum)


def read_grid_cell(form: Form) -> GridCell | None:
    """The cell that a form or an address selects, None if it selects none."""
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

    As in the grid, a question counts if it has the number of options, was presented in every order,
    and no option names another or has its text.
    """
    steady = bias.consistency
    assert steady is not None, "the grid needs several orders"
    by_question: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in result.trials:
        if len(trial.variant.permutation) == bias.n_options and not trial.fixed_reason:
            by_question[trial.sample_id].append(trial)
    return [
        sample
        for sample in result.samples.values()
        if len(by_question[sample.id]) == steady.n_orders
        and _grid_cell(by_question[sample.id]) == grid_cell
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


def _list(
    t: Messages, samples: list[Sample], grid_cell: GridCell, *, run_id: str, cell: int
) -> Html:
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
            el("h3", t("maps.listed", slots=grid_cell.slots, options=grid_cell.options)),
            button(t("maps.close"), "close", cls="quiet"),
            cls="card-h",
        ),
        el("ul", *lines, cls="links-list") if lines else el("p", t("maps.listed_none"), cls="dim"),
        el("p", t("maps.listed_more", n=count(more)), cls="meta") if more > 0 else None,
        cls="listed",
    )
