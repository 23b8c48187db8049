"""What a run costs, and which of its cells wait for a model, as the Runs tab tells it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from evalui.messages import Messages
from evalui.report.numbers import dollars
from evalui.runs.database.records import CellRow
from evalui.runs.database.usage import ModelWait, TokenCost, total_cost
from evalui.ui.components.format import format_large_count, format_time
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import note, table
from evalui.ui.services.run_labels import mode_label


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
        "warn", el("b", _name(t, cell)), div(t.translate(wait.reason)), div(when, cls="meta")
    )


def _table(t: Messages, cells: Sequence[CellRow], charges: Mapping[int, TokenCost]) -> Html:
    heads = [t("runs.model"), *(t(f"charges.{name}") for name in ("read", "written", "dollars"))]
    lines = [(cell, charges[cell.id]) for cell in cells if cell.id in charges]
    rows = [
        [
            _name(t, cell),
            format_large_count(charge.read),
            format_large_count(charge.written),
            "–" if charge.dollars is None else dollars(charge.dollars),
        ]
        for cell, charge in lines
    ]
    return table(heads, rows, right=(1, 2, 3))


def _name(t: Messages, cell: CellRow) -> str:
    return f"{cell.cell.model} · {cell.cell.dataset} · {mode_label(t, cell)}"
