"""One run as a table: a cell per model, dataset and mode with its progress, waits and cost."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from evalui.app.run_labels import mode_label
from evalui.messages import Messages
from evalui.proportions import wilson_interval
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.report.numbers import dollars, percent
from evalui.runs.database.records import CellRow
from evalui.runs.database.usage import ModelWait, TokenCost, total_cost
from evalui.types import CellState
from evalui.ui.components.format import duration, format_large_count, format_time, share
from evalui.ui.components.widgets import bar, note, status, table

_KINDS: dict[CellState, str] = {
    "waiting": "na",
    "running": "go",
    "done": "ok",
    "failed": "bad",
    "cancelled": "warn",
    "impossible": "na",
}


def progress_table(
    t: Messages,
    cells: Sequence[CellRow],
    baselines: Collection[str],
    *,
    at_work: bool = False,
    unreached: Collection[int] = (),
) -> Html:
    """The cells of a run, models down and datasets with modes across.

    If the run is `at_work` and none of its cells is, the model of the first that waits is loading.
    `unreached` are the ids of cells whose model does not answer now.
    """
    opening = _loading_cell(cells) if at_work else None
    columns = list(dict.fromkeys((cell.cell.dataset, cell.cell.label) for cell in cells))
    models = list(dict.fromkeys(cell.cell.model for cell in cells))
    own = [model for model in models if model not in baselines]
    by_place = {(cell.cell.model, cell.cell.dataset, cell.cell.label): cell for cell in cells}
    headings = [
        _heading(t, next(c for c in cells if (c.cell.dataset, c.cell.label) == column))
        for column in columns
    ]
    rows = [
        el(
            "tr",
            el("th", _model_label(model, own), scope="row"),
            *(
                el(
                    "td",
                    # Its column, for a phone, where it stands below the model.
                    div(heading, cls="meta column"),
                    _place(t, by_place.get((model, *column)), opening, unreached),
                )
                for column, heading in zip(columns, headings, strict=True)
            ),
        )
        for model in models
    ]
    head = el(
        "tr",
        el("th", t("runs.model"), scope="col"),
        *(el("th", words, scope="col") for words in headings),
    )
    table = el(
        "table",
        el("thead", head),
        el("tbody", *rows),
        cls="matrix",
        style=f"min-width:{160 + 220 * len(columns)}px",
    )
    # Written answers and verdicts have no accuracy.
    still = any(
        cell.state in ("waiting", "running") and cell.cell.gives == "choices" for cell in cells
    )
    moving = still and any(cell.done for cell in cells)
    return join(
        div(table, cls="scroll"),
        div(note("na", t("runs.moving")), cls="gap-s") if moving else None,
    )


def _loading_cell(cells: Sequence[CellRow]) -> CellRow | None:
    if any(cell.state == "running" for cell in cells):
        return None
    return next((cell for cell in cells if cell.state == "waiting"), None)


def _place(
    t: Messages, cell: CellRow | None, opening: CellRow | None, unreached: Collection[int]
) -> Html:
    if cell is None:  # a judge has no cell in the column of those it judges, nor they in its own
        return span("–", cls="meta")
    word = status(_KINDS[cell.state], t(f"state.{cell.state}"))
    if cell.id in unreached:
        word = status("warn", t("charges.waiting"))
    return _cell(t, cell, word, opening=cell is opening)


def _model_label(model: str, own: Sequence[str]) -> Html:
    return model_name(model, own.index(model) if model in own else 0, model not in own)


def _heading(t: Messages, cell: CellRow) -> str:
    return f"{cell.cell.dataset} · {mode_label(t, cell)}"


def _cell(t: Messages, cell: CellRow, word: Html, *, opening: bool) -> Html:
    if cell.state == "impossible":
        return join(word, div(t.translate(cell.error), cls="meta"))
    return join(
        div(word, span(f"{cell.done:,} / {cell.total:,}", cls="dim"), cls="two"),
        bar(
            cell.done / cell.total if cell.total else 0,
            label=f"{cell.cell.model}, {mode_label(t, cell)}",
        ),
        div(
            span(_partial_result(t, cell)),
            span(t("runs.loading") if opening else _throughput(t, cell), cls="meta r"),
            cls="two",
        ),
        _failure(t, cell) if cell.state == "failed" else None,
        div(_unreadable(t, cell), cls="meta") if cell.unreadable else None,
        div(t.count("runs.unreferenced", cell.unreferenced), cls="meta")
        if 0 < cell.unreferenced < cell.done
        else None,
    )


def _partial_result(t: Messages, cell: CellRow) -> Html:
    """Accuracy; of written answers and verdicts, which are not right or wrong, how many are any."""
    if cell.cell.gives != "choices":
        if not cell.done:
            return span(t(f"runs.no_{cell.cell.gives}_given"), cls="meta")
        judged = cell.done - cell.unreferenced
        if not judged:
            return span(t.count("runs.unreferenced", cell.unreferenced), cls="meta")
        readable = percent((judged - cell.unreadable) / judged)
        return span(t(f"runs.good_{cell.cell.gives}", share=readable))
    if not cell.origin_n:
        return span(t("runs.no_answers"), cls="meta")
    return share(wilson_interval(cell.origin_credit, cell.origin_n))


def _unreadable(t: Messages, cell: CellRow) -> str:
    key = "runs.empty" if cell.cell.gives == "answers" else "runs.unreadable"
    return t.count(key, cell.unreadable)


def _throughput(t: Messages, cell: CellRow) -> str:
    if cell.state == "running" and cell.rate:
        left = (
            t("runs.left", time=duration(t, cell.remaining_seconds))
            if cell.remaining_seconds is not None
            else ""
        )
        rate = t("runs.rate", n=f"{cell.rate:,.0f}")
        return " · ".join(part for part in (rate, _width(t, cell), left) if part)
    if cell.state == "running":
        return t("runs.first")
    return duration(t, cell.seconds) if cell.state == "done" and cell.seconds else ""


def _width(t: Messages, cell: CellRow) -> str:
    if not cell.max_width:
        return ""
    return t("runs.width", now=f"{cell.width:,}", most=f"{cell.max_width:,}")


def _failure(t: Messages, cell: CellRow) -> Html:
    trace = (
        el("details", el("summary", t("runs.trace")), el("pre", cell.traceback))
        if cell.traceback
        else None
    )
    return join(div(t.translate(cell.error), cls="bad"), trace)


def charge_text(t: Messages, charge: TokenCost) -> str:
    """ "1.20 M tokens read, 0.30 M written, $0.42 at today's prices"."""
    tokens = t(
        "charges.tokens",
        read=format_large_count(charge.read),
        written=format_large_count(charge.written),
    )
    if charge.dollars is None:
        return tokens
    key = "charges.partly_priced" if charge.is_partial else "charges.priced"
    return t(key, tokens=tokens, dollars=dollars(charge.dollars))


def run_charges_card(
    t: Messages, cells: Sequence[CellRow], charges: Mapping[int, TokenCost]
) -> Html | None:
    """What all cells cost together and, where there are several, each."""
    whole = total_cost(charges.values())
    if whole is None:
        return None
    line = div(charge_text(t, whole), cls="meta gap-s")
    if len(charges) == 1:
        return line
    each = el("details", el("summary", t("charges.by_cell")), _table(t, cells, charges))
    return join(line, each)


def waiting_cells(
    t: Messages, cells: Sequence[CellRow], waits: Mapping[int, ModelWait]
) -> Html | None:
    """Why cells wait, since when, and when they go on."""
    notes = [_waiting(t, cell, waits[cell.id]) for cell in cells if cell.id in waits]
    return div(*notes, cls="whole stack") if notes else None


def _waiting(t: Messages, cell: CellRow, wait: ModelWait) -> Html:
    again = f"{datetime.fromtimestamp(wait.retry_at).astimezone():%H:%M:%S}"
    when = t("charges.since", since=format_time(t, wait.since), again=again)
    return note(
        "warn", el("b", _cell_label(t, cell)), div(t.translate(wait.reason)), div(when, cls="meta")
    )


def _table(t: Messages, cells: Sequence[CellRow], charges: Mapping[int, TokenCost]) -> Html:
    heads = [t("runs.model"), *(t(f"charges.{name}") for name in ("read", "written", "dollars"))]
    lines = [(cell, charges[cell.id]) for cell in cells if cell.id in charges]
    rows = [
        [
            _cell_label(t, cell),
            format_large_count(charge.read),
            format_large_count(charge.written),
            "–" if charge.dollars is None else dollars(charge.dollars),
        ]
        for cell, charge in lines
    ]
    return table(heads, rows, right=(1, 2, 3))


def _cell_label(t: Messages, cell: CellRow) -> str:
    return f"{cell.cell.model} · {cell.cell.dataset} · {mode_label(t, cell)}"
