"""The Annotate page: people vote blind on pairs of answers, and see the names when they are done.

The address names the run. Where nobody has an account, the browser keeps the name of who votes.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

import gradio as gr
from gradio.blocks import Block

from evalui.app import ballots
from evalui.app.ballots import VoterState
from evalui.app.voters import end_voting
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.store.voting.votes import MAX_COMMENT, VoteChoice, VoteInput, VotingProgress
from evalui.ui.components.address import address, leads_to, read_query
from evalui.ui.components.ballot import all_voted_on, ballot, pair_to_vote_on
from evalui.ui.components.copied_link import copied_link, link_to_copy
from evalui.ui.components.form import PANEL, ClientStateError, field_value, parse_whole_number
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.listing import bar, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, note
from evalui.ui.pages.annotate.result import ResultPart
from evalui.ui.pages.annotate.visit import (
    NAME_LENGTH,
    Visit,
    Way,
    leads,
    page_address,
    rename_address,
    voter_of,
    ways,
)
from evalui.ui.pages.annotate.voters import SUBS, VotersPart
from evalui.ui.pages.context import DRAWING, EVENTS, PageContext

_NAME = "annotate"
_MAX_VOTE_S = 3600.0  # a longer time means that the page was left open
_CHOICES: Mapping[str, VoteChoice] = {
    name: name for part in get_args(VoteChoice) for name in get_args(part)
}
# The name that was stated once, as the browser keeps it.
_KEPT_NAME = "() => localStorage.getItem('evalui.voter') ?? ''"
_KEEP_NAME = "name => { if (name) localStorage.setItem('evalui.voter', name); }"

Updates = dict[Block, Any]  # of components, what each shows from now on


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    AnnotatePage(context).wire()


class AnnotatePage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        with gr.Column(elem_classes="page ev stack annotate-page"):
            self.head = markup()
            self.notice = markup(visible=False)
            self.guest_link = copied_link()
            with gr.Column(visible=False, elem_classes="card") as self.name_form:
                with gr.Row(elem_classes="who-votes"):
                    with gr.Column(scale=0, min_width=280, elem_classes="field"):
                        self.name = gr.Textbox(
                            label=t("annotate.name"),
                            max_length=NAME_LENGTH,
                            max_lines=1,
                            autofocus=True,
                            html_attributes=gr.InputHTMLAttributes(autocomplete="nickname"),
                        )
                    self.begin = gr.Button(
                        t("annotate.begin"), variant="primary", scale=0, min_width=140
                    )
                markup(fill("title.html", title="", below=t("annotate.name_about")))
            self.runs = markup(visible=False)
            self.ballot = ballot()
            self._make_voting(t)
            self.voters = VotersPart(t)
            self.result = ResultPart(t)
            self.drawn = gr.Column(elem_classes="result")
        # What an event has to know of the page: the server keeps nothing of a visitor.
        self.query = gr.Textbox(visible="hidden", elem_classes="hidden-field")
        self.voter = gr.Textbox(visible="hidden", elem_classes="hidden-field")
        # Changes whenever another result is to be drawn; empty where none is.
        self.result_number = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    def _make_voting(self, t: Messages) -> None:
        """What stands below the ballot."""
        with gr.Column(visible=False, elem_classes="voting") as self.voting:
            with gr.Accordion(t("annotate.note"), open=False, elem_classes="note-field") as (
                self.note
            ):
                self.comment = gr.Textbox(
                    show_label=False,
                    label=t("annotate.note"),
                    lines=3,
                    max_lines=8,
                    max_length=MAX_COMMENT,
                    container=False,
                )
            with gr.Column(visible=False, elem_classes="confirm") as self.confirm:
                self.warning = markup(_framed(note("warn", t("annotate.finish_about"))))
                with gr.Row(elem_classes="acts"):
                    self.finish = gr.Button(
                        t("annotate.finish"), variant="primary", scale=0, min_width=140
                    )
                    self.stay = gr.Button(t("annotate.stay"), scale=0, min_width=140)
            self.how = markup(fill("annotate/how.html", t=t))
            with gr.Row(elem_classes="foot"):
                self.others = markup()
                self.ask = gr.Button(t("annotate.finish"), scale=0, elem_classes="quiet")

    def wire(self) -> None:
        """Say what happens on which event."""
        voters, here = self.voters, [self.query, self.voter]
        shown = [
            *(self.address, self.bar, self.head, self.notice, self.guest_link, self.name_form),
            *(self.name, self.runs, self.ballot, self.voting, self.note, self.comment),
            *(self.confirm, self.warning, self.finish, self.stay, self.how, self.others, self.ask),
            *(self.query, self.voter, self.result_number, *self.result.outputs),
            *voters.outputs,
        ]
        self.address.open(
            self._open,
            [self.voter],
            shown,
            js=_KEPT_NAME,
            api_name=f"{_NAME}_open",
            trigger_mode="multiple",
            **EVENTS,
        )
        self.voter.change(None, [self.voter], None, js=_KEEP_NAME, queue=False)
        either = partial(gr.on, [self.begin.click, self.name.submit])
        on: list[tuple[str, Any, Any, list[Any]]] = [
            ("begin", either, self._begin, [self.query, self.name]),
            ("vote", self.ballot.vote, self._vote, [*here, self.comment]),
            ("undo", self.ballot.undo, self._undo, here),
            ("ask", self.ask.click, self._ask, here),
            ("stay", self.stay.click, self._stay, here),
            ("finish", self.finish.click, self._finish, here),
            ("import", self.result.votes.sent, self._import, here),
            ("assign", voters.assign.click, self._assign, [*here, *voters.assigned]),
            ("link", voters.link.click, self._make_link, [*here, voters.days]),
            ("guests", voters.links.act, self._change_link, here),
            ("close", voters.close.click, self._close, here),
            *(
                (f"decide_{outcome}", button.click, self._decide(outcome), decided)
                for decided in ([*here, voters.reason, voters.pair],)
                for outcome, button in voters.outcomes.items()
            ),
        ]
        for name, listen, listener, inputs in on:
            # The ballot waits for answers itself, and may send again while one is being drawn.
            mode = "multiple" if name in ("vote", "undo") else "once"
            named = {"api_name": f"{_NAME}_{name}", "trigger_mode": mode}
            listen(listener, inputs, shown, **named, **EVENTS)
        with self.drawn:
            gr.render(
                [*here, self.result_number],
                triggers=[self.result_number.change],
                **DRAWING,
            )(self._draw_result)

    # ------------------------------------------------------------ what an address shows

    def _open(self, event: gr.EventData, request: gr.Request, kept: object) -> Updates:
        sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
        query = sent.get("query") if sent else ""
        form = read_query(query)
        visit = self._visit(request, query, field_value(form, "voter") or kept)
        return {
            **self._page(visit),
            self.bar: self.context.bar(visit.service, _NAME, form),
            self.query: query if isinstance(query, str) else "",
            self.voter: visit.voter.name if visit.voter.stated else "",
        }

    def _visit(self, request: gr.Request, query: object, voter: object) -> Visit:
        """Who looks at what; raises `NotAllowed` where a visitor may not look at anything."""
        form = read_query(query)
        service = self.context.service(request, ballot_of=field_value(form, "run"))
        return Visit(service, form, voter_of(service, voter))

    def _page(
        self,
        visit: Visit,
        notice: Html | None = None,
        *,
        preferred: str = "",
        answer: str = "",
        typed: bool = False,
    ) -> Updates:
        """The page of one annotator: a pair, the end, the result, or the runs to choose from."""
        service = visit.service
        try:
            run = service.run(visit.run_id, "annotate") if visit.run_id else None
            if run:
                service.require("annotate", run.id)
        except EvaluiError as error:
            run, notice = None, alert("warn", self.context.t.translate(error.sentence))
        if not visit.voter.name or visit.renames:
            shown = self._name_page(visit)
        elif run is None:
            shown = self._run_list(visit)
        elif field_value(visit.form, "sub") in SUBS and leads(visit, run):
            shown = self.voters.shown(visit, run, self.head, self.ballot, typed=typed)
        else:
            shown = self._voting(visit, run, preferred or field_value(visit.form, "pair"), answer)
        head = shown.get(self.head, "")
        shown_head = gr.update(value=head, visible=bool(head))
        updates = {**self._nothing(), **shown, self.head: shown_head}
        if notice:
            updates[self.notice] = gr.update(value=_framed(notice), visible=True)
        return updates

    def _nothing(self) -> Updates:
        """Every part hidden."""
        parts = [
            *(self.notice, self.guest_link, self.name_form, self.runs, self.ballot, self.voting),
            *(self.confirm, self.result.row, self.result.headline),
            *(self.voters.column, self.voters.decision),
        ]
        hidden: Updates = {part: gr.update(visible=False) for part in parts}
        return {**hidden, self.result_number: ""}

    def _name_page(self, visit: Visit) -> Updates:
        """Who votes: nothing else is shown before that is known."""
        t = self.context.t
        return {
            self.head: self._head(t("annotate.title"), t("annotate.promise")),
            self.name_form: gr.update(visible=True),
            self.name: visit.voter.name,
        }

    def _run_list(self, visit: Visit, nothing: Html | None = None) -> Updates:
        t = self.context.t
        runs = [
            {
                "id": run.id,
                "name": run.name,
                "own": self._share(progress.own_votes + progress.skipped, progress),
                "together": self._share(progress.covered, progress),
                "when": format_time(t, run.created),
            }
            for run, progress in ballots.list_votable_runs(visit.service, visit.voter.name)
        ]
        listed: Updates = {
            self.head: self._head(t("annotate.title"), "", visit),
            self.runs: gr.update(value=fill("annotate/runs.html", t=t, runs=runs), visible=True),
        }
        if nothing:
            listed[self.notice] = gr.update(value=_framed(nothing), visible=True)
        return listed

    def _share(self, n: int, progress: VotingProgress) -> str:
        return self.context.t("annotate.votes_of", n=f"{n:,}", total=f"{progress.pairs:,}")

    def _voting(self, visit: Visit, run: RunRow, preferred: str, answer: str) -> Updates:
        t, name = self.context.t, visit.voter.name
        state = ballots.voter_state(visit.service, run.id, name, preferred)
        progress = state.progress
        if progress.finished:
            return {
                self.result_number: str(time.monotonic_ns()),
                **self.result.shown(visit, run, state),
            }
        if not progress.pairs:
            if leads(visit, run) and state.has_pairs:
                return self.voters.shown(visit, run, self.head, self.ballot)
            if not state.has_pairs:
                return self._run_list(visit, note("na", t("annotate.nothing")))
            return {
                self.head: self._head(t("annotate.title"), "", visit),
                self.notice: gr.update(
                    value=_framed(note("na", t("error.not-assigned"))), visible=True
                ),
            }
        return self._ballot(visit, run, state, answer)

    def _ballot(self, visit: Visit, run: RunRow, state: VoterState, answer: str) -> Updates:
        """A pair with its buttons, or that all pairs are done."""
        t, progress, pairs = self.context.t, state.progress, state.ballots
        place = t("annotate.all_done")
        if pairs:
            number = f"{progress.own_votes + progress.skipped + 1:,}"
            place = t("annotate.pair", n=number, total=f"{progress.pairs:,}")
            place = f"{pairs[0].dataset_name} · {place}"
        shown = (
            pair_to_vote_on(t, pairs, progress, answer)
            if pairs
            else all_voted_on(t, progress, answer)
        )
        pair = pairs[0].pair_key if pairs else ""
        below = t("annotate.below", place=place)
        return {
            self.head: self._head(t("annotate.title"), below, visit, run, pair, progress),
            self.ballot: gr.update(value=shown, visible=True),
            self.voting: gr.update(visible=True),
            self.note: gr.update(visible=bool(pairs)),
            self.how: gr.update(visible=bool(pairs)),
            # Without another pair there is nothing to go on with, and so nothing to ask.
            self.confirm: gr.update(visible=not pairs),
            self.warning: gr.update(visible=bool(pairs)),
            self.stay: gr.update(visible=bool(pairs)),
            self.others: self._ways(visit, run),
            self.ask: gr.update(visible=bool(pairs) and progress.last is not None),
        }

    def _head(
        self,
        title: str,
        below: str,
        visit: Visit | None = None,
        run: RunRow | None = None,
        pair: str = "",
        progress: VotingProgress | None = None,
    ) -> Html:
        """The question of the page, how far the annotator is, and the name they vote under."""
        return fill(
            "annotate/head.html",
            t=self.context.t,
            title=title,
            below=below,
            voter=visit.voter.shown_name if visit else "",
            rename=rename_address(visit, run, pair) if visit else "",
            far=self._far(progress) if progress else None,
            link=None,
        )

    def _far(self, progress: VotingProgress) -> dict[str, Any]:
        t, done = self.context.t, progress.own_votes + progress.skipped
        left = t("annotate.left", n=f"{progress.remaining:,}")
        if progress.remaining and progress.seconds:
            spent = duration(t, progress.remaining * progress.seconds)
            left = t("annotate.left_time", n=f"{progress.remaining:,}", time=spent)
        covered, pairs = f"{progress.covered:,}", f"{progress.pairs:,}"
        return {
            "done": t("annotate.done", n=f"{done:,}"),
            "left": left,
            "share": done / progress.pairs,
            "all": t.count("annotate.far_all", progress.people, covered=covered, pairs=pairs),
        }

    def _ways(self, visit: Visit, run: RunRow) -> Html:
        """The ways to other runs, and for who leads this one to its voters."""
        t = self.context.t
        others = Way(t("annotate.other_runs"), page_address(None))
        lead = Way(t("annotate.voters_title"), page_address(run, sub="voters"))
        return ways(None if visit.voter.guest else others, lead if leads(visit, run) else None)

    def _draw_result(
        self, request: gr.Request, query: object, voter: object, number: object
    ) -> None:
        visit = self._visit(request, query, voter)
        if not number or not visit.run_id:
            return
        run = visit.service.run(visit.run_id, "annotate")
        state = ballots.voter_state(visit.service, run.id, visit.voter.name)
        if state.progress.finished:
            self.result.draw(visit, run, state)

    # ------------------------------------------------------------ what somebody does

    def _begin(self, request: gr.Request, query: object, name: object) -> Updates:
        """Vote under the name that was stated."""
        visit = self._visit(request, query, name)
        if not visit.voter.name:
            return self._page(visit)
        form = {name: value for name, value in visit.form.items() if name not in (PANEL, "voter")}
        named = Visit(visit.service, form, visit.voter)
        kept = "&".join(
            part
            for part in (query if isinstance(query, str) else "").split("&")
            if part.partition("=")[0] not in (PANEL, "voter", "pair")
        )
        return {
            **self._page(named),
            self.address: leads_to(kept),
            self.query: kept,
            self.voter: visit.voter.name if visit.voter.stated else "",
        }

    def _vote(
        self,
        event: gr.EventData,
        request: gr.Request,
        query: object,
        voter: object,
        comment: object,
    ) -> Updates:
        visit, sent = self._visit(request, query, voter), _sent(event)
        answer, pair = _text(sent, "sequence"), _text(sent, "pair")
        if not visit.voter.name:
            return self._page(visit, answer=answer)
        try:
            visit.require_run()
            choice = _CHOICES.get(_text(sent, "choice"))
            if choice is None or not isinstance(comment, str) or len(comment) > MAX_COMMENT:
                raise ClientStateError  # our own page sends known votes
            mark = VoteInput(pair, choice, comment, _seconds(_text(sent, "spent")))
            ballots.cast_vote(visit.service, visit.run_id, mark, visit.voter.name)
        except EvaluiError as error:
            return self._page(visit, self._problem(error), preferred=pair, answer=answer)
        return {
            **self._page(visit, preferred=_text(sent, "next"), answer=answer),
            self.comment: "",
            self.note: gr.update(open=False, visible=True),
        }

    def _undo(
        self, event: gr.EventData, request: gr.Request, query: object, voter: object
    ) -> Updates:
        visit, answer = self._visit(request, query, voter), _text(_sent(event), "sequence")
        if not visit.voter.name:
            return self._page(visit, answer=answer)
        try:
            visit.require_run()
            pair = ballots.undo_vote(visit.service, visit.run_id, visit.voter.name)
        except EvaluiError as error:
            return self._page(visit, self._problem(error), answer=answer)
        return self._page(visit, preferred=pair, answer=answer)

    def _ask(self, request: gr.Request, query: object, voter: object) -> Updates:
        """Ask before the voting is ended."""
        visit = self._visit(request, query, voter)
        visit.require_run()
        visit.service.require("annotate", visit.run_id)
        return {self.confirm: gr.update(visible=True)}

    def _stay(self, request: gr.Request, query: object, voter: object) -> Updates:
        visit = self._visit(request, query, voter)
        visit.require_run()
        visit.service.require("annotate", visit.run_id)
        return {self.confirm: gr.update(visible=False)}

    def _finish(self, request: gr.Request, query: object, voter: object) -> Updates:
        visit = self._visit(request, query, voter)
        if not visit.voter.name:
            return self._page(visit)
        return self._done(
            visit, lambda: ballots.finish_voting(visit.service, visit.run_id, visit.voter.name)
        )

    def _import(
        self, event: gr.EventData, request: gr.Request, query: object, voter: object
    ) -> Updates:
        visit, t = self._visit(request, query, voter), self.context.t
        upload = _text(_sent(event), "upload")

        def add() -> Html:
            added = ballots.import_votes(visit.service, visit.run_id, upload)
            return _status(t.count("annotate.imported", added))

        return self._done(visit, add)

    def _assign(
        self,
        request: gr.Request,
        query: object,
        voter: object,
        *sent: object,
    ) -> Updates:
        visit, t = self._visit(request, query, voter), self.context.t

        def assign() -> Html:
            self.voters.assign_to(visit, *sent)
            return _status(t("annotate.assigned"))

        return self._done(visit, assign)

    def _make_link(
        self, request: gr.Request, query: object, voter: object, days: object
    ) -> Updates:
        visit, t = self._visit(request, query, voter), self.context.t
        number = parse_whole_number(days) if isinstance(days, str) else None
        try:
            visit.require_run()
            secret = ballots.add_guest_link(visit.service, visit.run_id, number or 0)
        except EvaluiError as error:
            return self._page(visit, self._problem(error), typed=True)
        link = link_to_copy(
            t, f"../vote/{secret}", t("annotate.link_open"), t("annotate.link_once")
        )
        return {
            **self._page(visit, typed=True),
            self.guest_link: gr.update(value=link, visible=True),
        }

    def _change_link(
        self, event: gr.EventData, request: gr.Request, query: object, voter: object
    ) -> Updates:
        """Withdraw a link, or send away its guests who cast no vote."""
        visit, t, sent = self._visit(request, query, voter), self.context.t, _sent(event)
        service, run_id, link = visit.service, visit.run_id, _text(sent, "link")

        def change() -> Html:
            if _text(sent, "do") == "revoke":
                ballots.end_guest_link(service, run_id, link)
                return _status(t("annotate.link_closed"))
            freed = ballots.free_guest_seats(service, run_id, link)
            return _status(t.count("annotate.link_freed", freed))

        return self._done(visit, change, typed=True)

    def _close(self, request: gr.Request, query: object, voter: object) -> Updates:
        visit, t = self._visit(request, query, voter), self.context.t

        def close() -> Html:
            end_voting(visit.service, visit.run_id)
            return _status(t("annotate.vote_closed"))

        return self._done(visit, close)

    def _decide(self, outcome: str) -> Callable[..., Updates]:
        """Keeps an outcome as what is decided on a pair, and goes on to the next one."""

        def decide(
            request: gr.Request, query: object, voter: object, reason: object, pair: object
        ) -> Updates:
            visit = self._visit(request, query, voter)
            try:
                visit.require_run()
                self.voters.decide(visit, outcome, reason, pair)
            except EvaluiError as error:
                return {**self._page(visit, self._problem(error)), self.voters.reason: reason}
            return self._page(Visit(visit.service, visit.form | {"pair": ""}, visit.voter))

        return decide

    def _done(self, visit: Visit, do: Any, *, typed: bool = False) -> Updates:
        """The page after something was done, with the sentence about it."""
        try:
            visit.require_run()
            notice: Html | None = do()
        except EvaluiError as error:
            return self._page(visit, self._problem(error), typed=True)
        return self._page(visit, notice, typed=typed)

    def _problem(self, error: EvaluiError) -> Html | None:
        return alert("bad", self.context.t.translate(error.sentence))


def _framed(content: Html, role: str = "") -> Html:
    """In the frame to which the style sheets of the other pages belong."""
    return fill("framed.html", content=content, role=role)


def _status(text: str) -> Html:
    """That something was done, which is read out at once."""
    return _framed(note("ok", text), role="status")


def _sent(event: gr.EventData) -> Mapping[str, Any]:
    """What a component of ours sends with its event."""
    sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
    return sent if isinstance(sent, dict) else {}  # pyright: ignore[reportUnknownVariableType] # of the browser's own types


def _text(sent: Mapping[str, Any], name: str) -> str:
    value = sent.get(name, "")
    return str(value) if isinstance(value, str | int | float) else ""


def _seconds(text: str) -> float | None:
    """What the browser measured, None if it did not."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _MAX_VOTE_S else None
