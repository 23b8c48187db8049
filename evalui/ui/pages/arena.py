"""The Arena page: the models of all judged runs and votes, rated together, and the runs behind it.

One judged run is read in its results; here runs are pooled, by judge, language, capability and day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

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
from evalui.ui.components.address import address, happening, opens, query_of, read_query
from evalui.ui.components.fold import folds
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.listing import bar, markup
from evalui.ui.components.pickers import Pickers, Words
from evalui.ui.components.recent_runs import recent_runs
from evalui.ui.components.templates import fill
from evalui.ui.pages.context import DRAWING, EVENTS, PageContext

_NAME = "arena"
_LISTED = 20  # runs
_DAYS = (7, 30, 90, 365)  # back from today
_FILTERS = ("judge", "language", "capability")  # the fields of `PoolFilter`


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    ArenaPage(context).wire()


class ArenaPage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        folds()
        labels = {f"board_{name}": t(f"arena.board.{name}") for name in _FILTERS}
        with gr.Column(elem_classes="page document arena-page"):
            markup(fill("arena/head.html", t=t), elem_classes="ev")
            self.pickers = Pickers(labels | {"board_days": t("arena.board.since")})
            # What the page shows by now: the server keeps nothing of a visitor.
            self.query = gr.Textbox(visible="hidden", elem_classes="hidden-field")
            gr.render(
                inputs=[self.query],
                triggers=[happening(self.address, "open")],
                **DRAWING,
            )(self._draw)
            self.runs = markup(elem_classes="ev")

    def wire(self) -> None:
        """Say what happens on which event."""
        self.address.open(
            self._open,
            None,
            [self.bar, self.query, self.runs, *self.pickers.outputs],
            api_name=f"{_NAME}_open",
            trigger_mode="multiple",
            **EVENTS,
        )
        lists: list[Any] = list(self.pickers.lists.values())
        gr.on(
            [each.input for each in lists],
            self._pick,
            [self.query, *lists],
            self.address,
            api_name=f"{_NAME}_pick",
            **EVENTS,
        )

    def _open(self, event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
        """What stands around the standings: the filters, and the runs that are pooled."""
        service, query = self.context.service(request), query_of(event)
        form = read_query(query)
        pool = read_pool(service, self.context.t, form)
        return {
            self.bar: self.context.bar(service, _NAME, form),
            self.query: query,
            self.runs: listed_runs(service, self.context.t),
            **self.pickers.shown(pool.offered if pool else {}),
        }

    def _draw(self, query: object, event: gr.EventData, request: gr.Request) -> None:
        """The standings of what passes the filters of an address."""
        service, t = self.context.service(request), self.context.t
        form = read_query(query_of(event) or query)
        pool = read_pool(service, t, form)
        if pool is None:
            return
        if not pool.board.arena.standings:
            markup(fill("arena/nothing.html", t=t), elem_classes="ev")
            return
        show(t, pooled_blocks(pool.board.arena, pool.context), scope=_NAME, titled=True)
        counted = t.count("arena.board.runs", len(pool.board.runs))
        markup(fill("arena/about.html", t=t, counted=counted), elem_classes="ev")

    def _pick(self, query: object, *values: object) -> str:
        return opens(urlencode(self.pickers.picked(read_query(query), values), doseq=True))


@dataclass(frozen=True, slots=True)
class Pool:
    """The standings of what passes the filters of an address, and what the filters offer."""

    board: Leaderboard
    context: OpenContext
    offered: Mapping[str, Words]


def read_pool(service: AppService, t: Messages, form: Form) -> Pool | None:
    """The pool of an address, None where no run compares answers two by two."""
    if not judged_runs(service):
        return None
    chosen = PoolFilter(*(field_value(form, f"board_{name}") for name in _FILTERS))
    days = parse_whole_number(field_value(form, "board_days"))
    since = datetime.now(UTC).date() - timedelta(days=days) if days in _DAYS else None
    every = leaderboard(service, since=since)
    board = leaderboard(service, chosen, since=since)
    context = OpenContext(
        t.language,
        [one.name for one in every.arena.contestants],  # a filter changes no model's colour
        service.models.baselines(),
        rules=service.models.scripted(),
    )
    return Pool(board, context, _offered(t, board, chosen, days if since else None, context))


def _offered(
    t: Messages, board: Leaderboard, chosen: PoolFilter, days: int | None, context: OpenContext
) -> Mapping[str, Words]:
    words: Mapping[str, Mapping[str, str]] = {
        "judge": {
            name: t("arena.board.people") if name == PEOPLE else judge_name(name, context)
            for name in board.choices.judges
        },
        "language": {name: _language(t, name) for name in board.choices.languages},
        "capability": {name: name for name in board.choices.capabilities},
    }
    every = {"": t("arena.duel.any")}
    offered = {
        f"board_{name}": Words(every | dict(words[name]), getattr(chosen, name))
        for name in _FILTERS
        if len(words[name]) > 1 or getattr(chosen, name)
    }
    back = {str(each): t("arena.board.days", n=each) for each in _DAYS}
    since = Words({"": t("arena.board.always")} | back, str(days or ""))
    return offered | {"board_days": since}


def _language(t: Messages, code: str) -> str:
    key = f"arena.board.{code}"
    return t(key) if key in t else code


def listed_runs(service: AppService, t: Messages) -> Html:
    """The newest judged runs, each leading to its results; without any, what to do next."""
    runs = judged_runs(service)[:_LISTED]
    return fill("arena/runs.html", t=t, runs=recent_runs(t, runs, service.owner))
