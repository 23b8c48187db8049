"""One run as a matrix: a cell per model, dataset and mode, each with its own progress."""

from collections.abc import Collection, Sequence

from evalui.messages import Messages
from evalui.proportions import wilson_interval
from evalui.report.numbers import percent
from evalui.runs.contest import JudgingSpec
from evalui.runs.database.records import CellRow
from evalui.runs.spec import JUDGE, OPEN, ModeSpec
from evalui.types import CellState
from evalui.ui.components.format import duration, share
from evalui.ui.components.html import Html, div, el, join, span
from evalui.ui.components.icons import marker
from evalui.ui.components.widgets import bar, note, status

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
    found = {(cell.cell.model, cell.cell.dataset, cell.cell.label): cell for cell in cells}
    headings = [
        _heading(t, next(c for c in cells if (c.cell.dataset, c.cell.label) == column))
        for column in columns
    ]
    rows = [
        el(
            "tr",
            el("th", _name(model, own), scope="row"),
            *(
                el("td", _place(t, found.get((model, *column)), opening, unreached))
                for column in columns
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
    still = any(cell.state in ("waiting", "running") for cell in cells)
    return join(
        div(table, cls="scroll"),
        div(note("na", t("runs.moving")), cls="gap-s") if still else None,
    )


def model_name(name: str, place: int, baseline: bool) -> Html:
    """A model with its marker, the same everywhere in a run."""
    return span(marker(place, baseline=baseline), name, cls="mk")


def mode_label(t: Messages, cell: CellRow) -> str:
    """The mode of a cell as people call it: "letters, every order, 5 examples"."""
    mode = ModeSpec.model_validate_json(cell.plan)
    if mode.judging:
        return _judging_label(t, mode.judging)
    words = [t(f"mode.{cell.cell.mode}_{'recorded' if mode.recorded else 'short'}")]
    if cell.cell.pattern != "origin":
        words.append(t(f"orders.{cell.cell.pattern}_short"))
    if mode.shots:
        words.append(t.count("runs.shots", mode.shots))
    return t("list.comma").join(words)


def _judging_label(t: Messages, judging: JudgingSpec) -> str:
    """ "judge, all pairs, both orders"."""
    words = [t("mode.judge_short")]
    if judging.rates_single:
        words.append(t("judge.single"))
    else:
        words.append(t(f"judge.pairs_{judging.pairs}_short"))
        words.append(t(f"judge.orders_{judging.orders}_short"))
    return t("list.comma").join(words)


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


def _name(model: str, own: Sequence[str]) -> Html:
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
            label=f"{cell.cell.model}, {cell.cell.label}",
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
    if cell.cell.mode in (OPEN, JUDGE):
        if not cell.done:
            return span(t(f"runs.no_{cell.cell.mode}"), cls="meta")
        judged = cell.done - cell.unreferenced
        if not judged:
            return span(t.count("runs.unreferenced", cell.unreferenced), cls="meta")
        told = percent((judged - cell.unreadable) / judged)
        return span(t(f"runs.good_{cell.cell.mode}", share=told))
    if not cell.origin_n:
        return span(t("runs.no_answers"), cls="meta")
    return share(wilson_interval(cell.origin_credit, cell.origin_n))


def _unreadable(t: Messages, cell: CellRow) -> str:
    key = "runs.empty" if cell.cell.mode == OPEN else "runs.unreadable"
    return t.count(key, cell.unreadable)


def _throughput(t: Messages, cell: CellRow) -> str:
    if cell.state == "running" and cell.rate:
        left = (
            t("runs.left", time=duration(t, cell.remaining_seconds))
            if cell.remaining_seconds is not None
            else ""
        )
        return " · ".join(part for part in (t("runs.rate", n=f"{cell.rate:,.0f}"), left) if part)
    if cell.state == "running":
        return t("runs.first")
    return duration(t, cell.seconds) if cell.state == "done" and cell.seconds else ""


def _failure(t: Messages, cell: CellRow) -> Html:
    trace = (
        el("details", el("summary", t("runs.trace")), el("pre", cell.traceback))
        if cell.traceback
        else None
    )
    return join(div(t.translate(cell.error), cls="bad"), trace)
