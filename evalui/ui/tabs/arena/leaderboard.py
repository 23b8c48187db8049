"""The leaderboard: the models of all judged runs and votes together, and the runs behind it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from evalui.app.leaderboard import Leaderboard, judged_runs, leaderboard
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.arena.document import pooled_blocks
from evalui.report.analyses.arena.narrative import judge_name
from evalui.report.analyses.open_answers.context import OpenContext
from evalui.report.html import Child, Html, div, el
from evalui.report.render.page import render_blocks
from evalui.runs.database.records import RunRow
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.pooled import PoolFilter
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import (
    alert,
    empty,
    labelled,
    page_head,
    run_state,
    select,
    table,
    titled,
)

_LISTED = 20  # runs
_DAYS = (7, 30, 90, 365)  # back from today


def leaderboard_page(
    service: AppService, t: Messages, form: Form, problem: str = "", *, run: RunRow | None = None
) -> Html:
    """All judged runs together; `run` is one without duels that was asked for."""
    runs = judged_runs(service)
    listed = titled(t("arena.recent"), _listing(t, runs[:_LISTED])) if runs else None
    if run is not None:
        results = el("a", t("arena.results"), href=f"?run={run.id}&tab=results", cls="btn")
        none = _empty(t, "arena.none_here", results if run.done else None)
        return _page(t, run.name, alert("warn", problem), none, listed)
    none = None if runs else _empty(t, "arena.none")
    board = _board(service, t, form) if runs else ()
    return _page(t, t("arena.plain"), alert("warn", problem), none, *board, listed)


def _page(t: Messages, title: str, *below: Child) -> Html:
    return div(page_head(title, t("arena.promise")), *below, cls="stack")


def _board(service: AppService, t: Messages, form: Form) -> Iterable[Html]:
    """The filters, and the standings of what passes them."""
    chosen = PoolFilter(*(field_value(form, f"board_{name}") for name in _FIELDS))
    days = parse_whole_number(field_value(form, "board_days"))
    since = datetime.now(UTC).date() - timedelta(days=days) if days in _DAYS else None
    every = leaderboard(service, since=since)
    board = leaderboard(service, chosen, since=since)
    context = OpenContext(
        t.language,
        [one.name for one in every.arena.contestants],  # a filter changes no model's colour
        service.baselines(),
        rules=service.scripted(),
    )
    yield _filters(t, board, chosen, days if since else None, context)
    if not board.arena.standings:
        yield titled(t("arena.board.nothing"), el("p", t("arena.board.nothing_about"), cls="dim"))
        return
    counted = t.count("arena.board.runs", len(board.runs))
    yield div(
        div(render_blocks(pooled_blocks(board.arena, context)), cls="blocks"),
        el("p", f"{counted} {t('arena.board.about')}", cls="meta"),
        cls="stack",
    )


_FIELDS = ("judge", "language", "capability")


def _filters(
    t: Messages, board: Leaderboard, chosen: PoolFilter, days: int | None, context: OpenContext
) -> Html:
    words: Mapping[str, Mapping[str, str]] = {
        "judge": {
            name: t("arena.board.people")
            if name == PEOPLE
            else judge_name(name, t.language, rule_based=context.rules)
            for name in board.choices.judges
        },
        "language": {name: _language(t, name) for name in board.choices.languages},
        "capability": {name: name for name in board.choices.capabilities},
    }
    every = {"": t("arena.duel.any")}
    pickers = [
        labelled(
            t(f"arena.board.{name}"),
            select(f"board_{name}", every | dict(words[name]), getattr(chosen, name)),
        )
        for name in _FIELDS
        if len(words[name]) > 1
    ]
    back = {str(each): t("arena.board.days", n=each) for each in _DAYS}
    since = labelled(
        t("arena.board.since"),
        select("board_days", {"": t("arena.board.always")} | back, str(days or "")),
    )
    address = {f"board_{name}": getattr(chosen, name) for name in _FIELDS}
    address["board_days"] = str(days or "")
    kept = {name: value for name, value in address.items() if value}
    return div(*pickers, since, cls="filters", data_address=urlencode({"tab": "arena", **kept}))


def _language(t: Messages, code: str) -> str:
    key = f"arena.board.{code}"
    return t(key) if key in t else code


def _listing(t: Messages, rows: Sequence[RunRow]) -> Html:
    heads = [t("arena.run"), t("arena.state"), t("arena.when")]
    lines: list[list[Child]] = [
        [
            el("a", row.name, href=f"?run={row.id}&tab=arena"),
            run_state(t, row.state),
            format_time(t, row.created),
        ]
        for row in rows
    ]
    return table(heads, lines)


def _empty(t: Messages, key: str, other: Html | None = None) -> Html:
    start = el("a", t("arena.go"), href="?tab=evaluate", cls="btn pri")
    return titled(t(key), empty(t(f"{key}_about"), div(start, other, cls="ways")))
