"""How far a run is, in the words of a page."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evalui.app.run_labels import mode_label
from evalui.app.run_progress import WatchedRun
from evalui.messages import Messages
from evalui.proportions import wilson_interval
from evalui.report.numbers import dollars, format_range, format_value, percent
from evalui.store.runs import CellRow, RunRow
from evalui.store.usage import TokenCost, total_cost
from evalui.types import CellState, is_unfinished
from evalui.ui.components.format import duration, format_large_count, format_time

_KINDS: dict[CellState, str] = {
    "waiting": "na",
    "running": "go",
    "done": "ok",
    "failed": "bad",
    "cancelled": "warn",
    "impossible": "na",
}


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A model in a mode on a dataset: its state with the `kind` of its icon, and its figures.

    `share` of its answers is there, None where it cannot run; `label` names its bar.
    """

    id: int
    kind: str
    word: str
    count: str = ""
    share: float | None = None
    label: str = ""
    value: str = ""
    detail: str = ""
    speed: str = ""
    error: str = ""
    trace: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A row: the model with the place of its marker, and a cell a column.

    A judge has none in the column of those it judges, nor they in its own.
    """

    model: str
    place: int
    is_baseline: bool
    cells: tuple[ShownCell | None, ...]


@dataclass(frozen=True, slots=True)
class ShownWait:
    """Why a cell waits for its model, since when, and until when."""

    cell: str
    reason: str
    when: str


@dataclass(frozen=True, slots=True)
class ProgressDocument:
    """A run as "live.html" draws it; `left` is "" while it is not known.

    `moves`: figures of models are there that cannot be compared yet.
    """

    name: str
    share: float
    work: str
    left: str
    error: str
    waits: tuple[ShownWait, ...]
    heads: tuple[str, ...]
    models: tuple[ShownModel, ...]
    moves: bool
    charges: str
    charge_rows: tuple[tuple[str, ...], ...]


def progress_document(t: Messages, progress: WatchedRun) -> ProgressDocument:
    """A run in the words of a language."""
    run, cells = progress.run, progress.cells
    columns: dict[tuple[str, str], str] = {}
    for cell in cells:
        columns.setdefault(_column(cell), _head(t, cell))
    by_place = {(cell.cell.model, *_column(cell)): cell for cell in cells}
    models = list(dict.fromkeys(cell.cell.model for cell in cells))
    own = [model for model in models if model not in progress.baselines]
    charge = total_cost(progress.charges.values())
    return ProgressDocument(
        name=run.name,
        share=run.done / run.total if run.total else 0.0,
        work=work_text(t, run),
        left=left_text(t, progress.seconds_left)
        if run.state == "running" and progress.seconds_left is not None
        else "",
        error=t.translate(run.error) if run.error and run.state == "failed" else "",
        waits=tuple(_wait(t, progress, cell) for cell in cells if cell.id in progress.waits),
        heads=tuple(columns.values()),
        models=tuple(
            ShownModel(
                model,
                own.index(model) if model in own else 0,
                model not in own,
                tuple(_cell(t, progress, by_place.get((model, *column))) for column in columns),
            )
            for model in models
        ),
        # Written answers and verdicts have no accuracy.
        moves=any(cell.done for cell in cells)
        and any(is_unfinished(cell) and cell.cell.gives == "choices" for cell in cells),
        charges=charge_text(t, charge) if charge else "",
        charge_rows=_charge_rows(t, progress),
    )


def run_title(t: Messages, run: RunRow) -> str:
    """What a browser calls a page of the run first: how far it is, and its name."""
    is_moving = run.total and run.state == "running"
    far = f"{100 * run.done // run.total} %" if is_moving else t(f"title.{run.state}")
    return f"{far} · {run.name}"


def work_text(t: Messages, run: RunRow) -> str:
    """ "1,812 of 3,360"."""
    return t("runs.of", done=f"{run.done:,}", total=f"{run.total:,}")


def left_text(t: Messages, seconds: float | None) -> str:
    """ "43 s left", or that it is not known."""
    if seconds is None:
        return t("cost.unknown")
    return t("runs.left", time=duration(t, seconds))


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


def _column(cell: CellRow) -> tuple[str, str]:
    return cell.cell.dataset, cell.cell.label


def _head(t: Messages, cell: CellRow) -> str:
    return f"{cell.cell.dataset} · {mode_label(t, cell)}"


def _cell_name(t: Messages, cell: CellRow) -> str:
    return f"{cell.cell.model} · {_head(t, cell)}"


def _wait(t: Messages, progress: WatchedRun, cell: CellRow) -> ShownWait:
    wait = progress.waits[cell.id]
    again = f"{datetime.fromtimestamp(wait.retry_at).astimezone():%H:%M:%S}"
    when = t("charges.since", since=format_time(t, wait.since), again=again)
    return ShownWait(_cell_name(t, cell), t.translate(wait.reason), when)


def _cell(t: Messages, progress: WatchedRun, cell: CellRow | None) -> ShownCell | None:
    if cell is None:
        return None
    kind, word = _KINDS[cell.state], t(f"state.{cell.state}")
    if cell.id in progress.waits:
        kind, word = "warn", t("charges.waiting")
    if cell.state == "impossible":
        return ShownCell(cell.id, kind, word, notes=(t.translate(cell.error),))
    value, detail = _partial_result(t, cell)
    failed = cell.state == "failed"
    return ShownCell(
        cell.id,
        kind,
        word,
        count=f"{cell.done:,} / {cell.total:,}",
        share=cell.done / cell.total if cell.total else 0.0,
        label=f"{cell.cell.model}, {mode_label(t, cell)}",
        value=value,
        detail=detail,
        speed=t("runs.loading") if cell is progress.loading else _speed(t, cell),
        error=t.translate(cell.error) if failed else "",
        trace=cell.traceback if failed else "",
        notes=tuple(_unusable(t, cell)),
    )


def _partial_result(t: Messages, cell: CellRow) -> tuple[str, str]:
    """Accuracy; of written answers and verdicts, which are not right or wrong, how many are any."""
    if cell.cell.gives != "choices":
        if not cell.done:
            return "", t(f"runs.no_{cell.cell.gives}_given")
        judged = cell.done - cell.unreferenced
        if not judged:
            return "", t.count("runs.unreferenced", cell.unreferenced)
        readable = percent((judged - cell.unreadable) / judged)
        return t(f"runs.good_{cell.cell.gives}", share=readable), ""
    if not cell.origin_n:
        return "", t("runs.no_answers")
    # Replies to one question are no independent evidence: as many questions as they can be of.
    n = math.ceil(cell.origin_n / int(json.loads(cell.plan).get("repeats") or 1))
    interval = wilson_interval(cell.origin_credit / cell.origin_n * n, n)
    return f"{format_value(interval)} %", f"{format_range(interval)} · n {interval.n:,}"


def _speed(t: Messages, cell: CellRow) -> str:
    if cell.state == "running" and cell.rate:
        limits = {"now": f"{cell.width:,}", "most": f"{cell.max_width:,}"}
        width = t("runs.width", **limits) if cell.max_width else ""
        left = cell.remaining_seconds
        parts = (
            t("runs.rate", n=f"{cell.rate:,.0f}"),
            width,
            left_text(t, left) if left is not None else "",
        )
        return " · ".join(part for part in parts if part)
    if cell.state == "running":
        return t("runs.first")
    return duration(t, cell.seconds) if cell.state == "done" and cell.seconds else ""


def _unusable(t: Messages, cell: CellRow) -> Sequence[str]:
    """How many answers could not be used."""
    notes: list[str] = []
    if cell.unreadable:
        key = "runs.empty" if cell.cell.gives == "answers" else "runs.unreadable"
        notes.append(t.count(key, cell.unreadable))
    if 0 < cell.unreferenced < cell.done:
        notes.append(t.count("runs.unreferenced", cell.unreferenced))
    return notes


def _charge_rows(t: Messages, progress: WatchedRun) -> tuple[tuple[str, ...], ...]:
    """What each cell cost, where there are several."""
    charges = [
        (cell, progress.charges[cell.id]) for cell in progress.cells if cell.id in progress.charges
    ]
    if len(charges) < 2:
        return ()
    return tuple(
        (
            _cell_name(t, cell),
            format_large_count(charge.read),
            format_large_count(charge.written),
            "–" if charge.dollars is None else dollars(charge.dollars),
        )
        for cell, charge in charges
    )
