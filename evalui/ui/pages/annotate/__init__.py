"""The Annotate page: people vote blind on pairs of answers, and see the names when they are done.

The address names the run. Where nobody has an account, the browser keeps the name of who votes.
"""

import gradio as gr

from evalui.app import ballots
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.store.voting.votes import VotingProgress
from evalui.ui.components.form import PANEL
from evalui.ui.components.format import format_time
from evalui.ui.components.listing import markup, remark
from evalui.ui.components.templates import fill, macro
from evalui.ui.components.widgets import note, page_head
from evalui.ui.pages.annotate.ballot import show_ballot
from evalui.ui.pages.annotate.result import show_result
from evalui.ui.pages.annotate.visit import NAME_LENGTH, Visit
from evalui.ui.pages.annotate.voters import SUBS, show_voters
from evalui.ui.run_frame import run_frame
from evalui.ui.screen import Screen


def page(screen: Screen) -> None:
    """A pair to vote on, what was said of all, or how far people are; else the runs to choose."""
    service, run_id = screen.service, screen.value("run")
    run = service.run(run_id, "annotate") if run_id else None
    visit = Visit(screen, run)
    with gr.Column(elem_classes="page document annotate-page"):
        if run:
            service.require("annotate", run.id)
            if "see" in service.deeds(run):
                markup(run_frame(RunView(service, screen.t, run.id), "annotate"), elem_classes="ev")
        if not visit.voter or (visit.states_name and screen.value(PANEL) == "name"):
            _show_name_form(visit)
        elif run is None:
            _show_runs(visit)
        elif screen.value("sub") in SUBS and visit.leads:
            show_voters(visit)
        else:
            _show_voting(visit)


def _show_name_form(visit: Visit) -> None:
    """Who votes: nothing else is shown before that is known."""
    t, screen = visit.t, visit.screen
    markup(page_head(t("annotate.title"), t("annotate.promise")), elem_classes="ev")
    with gr.Column(elem_classes="card"):
        with gr.Row(elem_classes="who-votes"):
            with gr.Column(scale=0, min_width=280, elem_classes="field"):
                name = gr.Textbox(
                    visit.voter,
                    label=t("annotate.name"),
                    max_length=NAME_LENGTH,
                    max_lines=1,
                    autofocus=True,
                    interactive=True,
                    html_attributes=gr.InputHTMLAttributes(autocomplete="nickname"),
                )
            begin = gr.Button(t("annotate.begin"), variant="primary", scale=0, min_width=140)
        remark(t("annotate.name_about"))

    def named(service: AppService, name: str) -> str:
        del service, name  # the browser has kept it, and sends it with the next drawing
        return screen.address(**{PANEL: "", "voter": ""})

    events = [begin.click, name.submit]
    screen.on(events, named, name, screen.place, js="name => evalui.keepVoter(name)")


def _show_runs(visit: Visit, why: str = "") -> None:
    """The runs to vote on; `why` the one of the address is none of them."""
    t = visit.t

    def share(n: int, progress: VotingProgress) -> str:
        return t("annotate.votes_of", n=f"{n:,}", total=f"{progress.pairs:,}")

    runs = [
        {
            "id": run.id,
            "name": run.name,
            "own": share(progress.own_votes + progress.skipped, progress),
            "together": share(progress.covered, progress),
            "when": format_time(t, run.created),
        }
        for run, progress in ballots.list_votable_runs(visit.service, visit.voter)
    ]
    _show_head(visit)
    if why:
        markup(note("na", why), elem_classes="ev")
    markup(fill("annotate/runs.html", t=t, runs=runs), elem_classes="ev")


def _show_voting(visit: Visit) -> None:
    """A pair, the end, or the result; without any pair why there is none."""
    run, t = visit.run, visit.t
    assert run, "there is something to vote on"
    preferred = visit.screen.value("pair")
    state = ballots.voter_state(visit.service, run.id, visit.voter, preferred)
    if state.progress.finished:
        show_result(visit, state)
    elif state.progress.pairs:
        show_ballot(visit, state)
    elif state.has_pairs and visit.leads:
        show_voters(visit)
    else:
        _show_runs(visit, t("error.not-assigned" if state.has_pairs else "annotate.nothing"))


def _show_head(visit: Visit) -> None:
    markup(
        macro("annotate/head.html", "head", visit.t, visit.t("annotate.title"), "", visit),
        elem_classes="ev",
    )
