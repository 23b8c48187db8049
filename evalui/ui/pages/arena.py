"""The Arena page: the models of all judged runs and votes, rated together, and the runs behind it.

One judged run is read in its results; here runs are pooled, by judge, language, capability and day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import gradio as gr

from evalui.app.leaderboard import Leaderboard, judged_runs, leaderboard
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.arena import pooled_blocks
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.judge import judge_name
from evalui.report.html import Html
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.pooled import PoolFilter
from evalui.ui.blocks import show
from evalui.ui.components.form import parse_whole_number
from evalui.ui.components.listing import markup
from evalui.ui.components.recent_runs import recent_runs
from evalui.ui.components.templates import fill
from evalui.ui.screen import Screen

_LISTED = 20  # runs
_DAYS = (7, 30, 90, 365)  # back from today
_FILTERS = ("judge", "language", "capability")  # the fields of `PoolFilter`
_LABELS = {f"board_{name}": f"arena.board.{name}" for name in _FILTERS} | {
    "board_days": "arena.board.since"
}


def page(screen: Screen) -> None:
    """The standings of what passes the filters of the address."""
    t = screen.t
    pool = read_pool(screen)
    with gr.Column(elem_classes="page document arena-page"):
        markup(fill("arena/head.html", t=t), elem_classes="ev")
        if pool:
            with gr.Row(elem_classes="fields pickers"):
                for name, offered in pool.offered.items():
                    screen.picker(name, t(_LABELS[name]), offered)
            if pool.board.arena.standings:
                show(t, pooled_blocks(pool.board.arena, pool.context), scope="arena", titled=True)
                counted = t.count("arena.board.runs", len(pool.board.runs))
                markup(fill("arena/about.html", t=t, counted=counted), elem_classes="ev")
            else:
                markup(fill("arena/nothing.html", t=t), elem_classes="ev")
        markup(listed_runs(screen.service, t), elem_classes="ev")


@dataclass(frozen=True, slots=True)
class Pool:
    """The standings of what passes the filters of an address, and what the filters offer."""

    board: Leaderboard
    context: OpenContext
    offered: Mapping[str, Mapping[str, str]]  # the words of what can be chosen, by parameter


def read_pool(screen: Screen) -> Pool | None:
    """The pool of an address, None where no run compares answers two by two."""
    service, t = screen.service, screen.t
    if not judged_runs(service):
        return None
    chosen = PoolFilter(*(screen.value(f"board_{name}") for name in _FILTERS))
    days = parse_whole_number(screen.value("board_days"))
    since = datetime.now(UTC).date() - timedelta(days=days) if days in _DAYS else None
    every = leaderboard(service, since=since)
    context = OpenContext(
        t.language,
        [one.name for one in every.arena.contestants],  # a filter changes no model's colour
        service.models.baselines(),
        rules=service.models.scripted(),
    )
    board = leaderboard(service, chosen, since=since)
    return Pool(board, context, _offered(t, board, chosen, context))


def _offered(
    t: Messages, board: Leaderboard, chosen: PoolFilter, context: OpenContext
) -> Mapping[str, Mapping[str, str]]:
    words: Mapping[str, Mapping[str, str]] = {
        "judge": {
            name: t("arena.board.people") if name == PEOPLE else judge_name(name, context)
            for name in board.choices.judges
        },
        "language": {name: _language(t, name) for name in board.choices.languages},
        "capability": {name: name for name in board.choices.capabilities},
    }
    every = {"": t("arena.duel.any")}
    offered: dict[str, Mapping[str, str]] = {}
    for name in _FILTERS:
        picked = getattr(chosen, name)  # by an address; it may fit nothing
        if len(words[name]) > 1 or picked:
            named = {picked: picked} if picked else {}
            offered[f"board_{name}"] = every | named | dict(words[name])
    back = {str(each): t("arena.board.days", n=each) for each in _DAYS}
    return offered | {"board_days": {"": t("arena.board.always")} | back}


def _language(t: Messages, code: str) -> str:
    key = f"arena.board.{code}"
    return t(key) if key in t else code


def listed_runs(service: AppService, t: Messages) -> Html:
    """The newest judged runs, each leading to its results; without any, what to do next."""
    runs = judged_runs(service)[:_LISTED]
    return fill("arena/runs.html", t=t, runs=recent_runs(t, runs, service.owner))
