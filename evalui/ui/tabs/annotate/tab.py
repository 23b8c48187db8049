"""The Annotate tab: people vote blind on pairs of answers, and see the names when they are done."""

from typing import Any, get_args

import gradio as gr

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.runs.access import LOCAL
from evalui.runs.database.records import RunRow
from evalui.runs.database.votes import Choice, Mark, Progress
from evalui.runs.spec import OPEN
from evalui.ui.components.client_state import KeptError
from evalui.ui.components.format import moment
from evalui.ui.components.fragment import Act, Form, on, pane, read_act
from evalui.ui.components.html import Child, Html, div, el, join
from evalui.ui.components.widgets import note, page_head, table, titled
from evalui.ui.services.service import Desk
from evalui.ui.tabs.annotate import result as annotate_result
from evalui.ui.tabs.annotate.ballot import (
    AGREEMENT_AFTER,
    NAME_LENGTH,
    finish_button,
    head,
    name_field,
    pair_page,
    shell,
    undo_button,
)

_RECENT = 10
_LONGEST_S = 3600.0  # nobody thinks about a pair for longer; the page was left open
_CHOICES: dict[str, Choice] = {name: name for part in get_args(Choice) for name in get_args(part)}


class Annotate:
    """The tab in one language; the browser keeps which run is voted on and the person's name."""

    def __init__(self, desk: Desk, t: Messages) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the tab: one pane, whose script asks for its content."""
        run_id = gr.Textbox(visible=False)
        with gr.Column(elem_classes="page"):
            whole = pane("annotate-pane")
        on(whole, self.answer, inputs=[run_id], outputs=[whole])
        self.outputs = [run_id, whole]

    def enter(self, run_id: str, form: Form) -> tuple[Any, ...]:
        """All outputs for an address; the browser then asks for the pair of its own person."""
        del form
        first = page_head(self.t("annotate.title"), self.t("annotate.promise"))
        return run_id, shell("", "ask", first)

    def answer(self, run_id: str, event: gr.EventData) -> Html:
        """What the page shows after a vote, a key, another name or an upload."""
        act = read_act(event)
        voter = act.one("voter").strip()[:NAME_LENGTH] or LOCAL
        try:
            wish, told = self._done(run_id, voter, act)
        except EvaluiError as error:
            wish, told = act.one("pair"), note("bad", self.t.translate(error.sentence))
        return self.show(run_id, voter, wish=wish, told=told, asking=act.do == "ask")

    def show(
        self,
        run_id: str,
        voter: str,
        *,
        wish: str = "",
        told: Html | None = None,
        asking: bool = False,
    ) -> Html:
        """The page of one person: a pair, the end, the result, or the runs to choose from."""
        t, store = self.t, self.desk.store
        problem = div(told, role="alert") if told else None
        try:
            run = self.desk.run(run_id) if run_id else None
        except EvaluiError as error:
            run, problem = None, div(note("warn", t.translate(error.sentence)), role="alert")
        if run is None:
            return shell(voter, "pick", self._pick(voter, problem))
        progress = store.voting(run_id, voter)
        stamp = f"{run_id} {voter} {progress.votes} {progress.mine} {progress.skipped} {wish}"
        if not progress.pairs:
            nothing = note("na", t("annotate.nothing"))
            return shell(voter, stamp, self._pick(voter, problem or nothing))
        if progress.finished:
            result = annotate_result.result_page(self.desk, t, run, voter)
            return shell(voter, stamp, problem, result, name_field(t, voter))
        ballots = store.ballots(run_id, voter, wish)
        if not ballots:
            return shell(voter, stamp, self._end(progress, voter, problem))
        page = pair_page(
            t,
            ballots,
            progress,
            voter=voter,
            agreement=self._agreement(run, voter, progress),
            problem=problem,
            asking=asking,
        )
        return shell(voter, stamp, page)

    def _done(self, run_id: str, voter: str, act: Act) -> tuple[str, Html | None]:
        """The pair to show after an act, and what is to be told about it."""
        store = self.desk.store
        if act.do not in ("vote", "undo", "finish", "uploaded"):
            return act.one("pair"), None
        run = self.desk.run(run_id)
        if act.do == "vote":
            self._vote(run, voter, act)
            return act.one("next"), None
        if act.do == "undo":
            return store.undo(run_id, voter), None
        if act.do == "finish":
            store.finish_votes(run_id, voter)
            return "", None
        added = annotate_result.take_in(self.desk, run, act.one("upload"), voter)
        return "", note("ok", self.t.count("annotate.imported", added))

    def _vote(self, run: RunRow, voter: str, act: Act) -> None:
        choice = _CHOICES.get(act.one("choice"))
        if choice is None:  # our own buttons send known votes
            raise KeptError
        seconds = _seconds(act.one("spent"))
        mark = Mark(act.one("pair"), choice, act.one("comment"), seconds)
        self.desk.store.cast(run.id, voter, mark)

    def _agreement(self, run: RunRow, voter: str, progress: Progress) -> str:
        if progress.mine < AGREEMENT_AFTER:
            return ""
        return annotate_result.agreement_so_far(self.desk, self.t, run, voter)

    def _end(self, progress: Progress, voter: str, problem: Html | None) -> Html:
        t = self.t
        done = titled(
            t("annotate.all_done"),
            el("p", t("annotate.all_done_about"), cls="dim"),
            div(
                finish_button(t, voter, cls="pri", do="finish"),
                undo_button(t, progress, voter),
                cls="acts gap-s",
            ),
        )
        place = t("annotate.all_done")
        return join(head(t, progress, place), problem, done, name_field(t, voter))

    def _pick(self, voter: str, problem: Child) -> Html:
        t, store = self.t, self.desk.store
        rows: list[list[Child]] = []
        for run in store.runs(self.desk.owner):
            if len(rows) == _RECENT or not self._open(run):
                continue
            progress = store.voting(run.id, voter)
            if progress.pairs:
                rows.append(self._line(run, progress))
        heads = [t("annotate.run"), t("annotate.mine"), t("annotate.together"), t("runs.when")]
        listed = table(heads, rows) if rows else self._empty()
        return join(
            page_head(t("annotate.title"), t("annotate.promise")),
            problem,
            titled(t("annotate.pick"), listed),
            name_field(t, voter),
        )

    def _open(self, run: RunRow) -> bool:
        return any(cell.cell.mode == OPEN for cell in self.desk.store.cells(run.id))

    def _line(self, run: RunRow, progress: Progress) -> list[Child]:
        t, total = self.t, f"{progress.pairs:,}"
        return [
            el("a", run.name, href=f"?run={run.id}&tab=annotate"),
            t("annotate.votes_of", n=f"{progress.mine + progress.skipped:,}", total=total),
            t("annotate.votes_of", n=f"{progress.covered:,}", total=total),
            moment(t, run.created),
        ]

    def _empty(self) -> Html:
        t = self.t
        go = el("button", t("annotate.new"), type="button", cls="btn", data_tab="tab-evaluate")
        return div(el("p", t("annotate.none"), cls="dim"), go, cls="empty")


def _seconds(text: str) -> float | None:
    """What the browser measured, None if it did not."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_S else None
