"""The voters of a run, for who leads it: pairs are assigned, guests invited, disputes decided."""

import re
from collections import Counter
from functools import partial
from typing import Any

import gradio as gr

from evalui.accounts.guests import LONGEST_DAYS
from evalui.app import ballots
from evalui.app.service import AppService
from evalui.app.voters import (
    VOTE_FILES,
    PairToDecide,
    VotersProgress,
    assign_people,
    decided_pairs,
    disputed_pair,
    end_voting,
    possible_voters,
    voters_progress,
)
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.words import join_sentences
from evalui.store.runs import RunRow
from evalui.store.voting.votes import MAX_COMMENT, VoterProgress
from evalui.types import Outcome
from evalui.ui.components.action import Action
from evalui.ui.components.form import ClientStateError
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.listing import listing, markup, remark, title
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import link, page_head
from evalui.ui.pages.annotate.ballot import CHOICES, pair_alone
from evalui.ui.pages.annotate.visit import Visit, Way, page_address, ways

SUBS = ("voters", "decide")
_DAYS = (1, 7, 14, 30, LONGEST_DAYS)
_USUAL_DAYS = 14
_OVERLAP = 2  # votes on each pair, unless another number is stated
_LISTED = 50  # decided pairs on the page; the files have all


def show_voters(visit: Visit) -> None:
    """Make what says how far people are and where they differ, or one pair to decide."""
    run, service, t = visit.run, visit.service, visit.t
    assert run, "a run has voters"
    if visit.screen.value("sub") == "decide":
        requested = visit.screen.value("pair")
        if one := disputed_pair(service, run.id, requested, visit.voter):
            _show_decision(visit, run, one)
            return
    progress, _ = voters_progress(service, run.id)
    markup(_head(t, run, progress), elem_classes="ev")
    if progress.people:
        rows = [_progress_row(t, one) for one in progress.people]
        markup(fill("annotate/progress.html", t=t, people=rows), elem_classes="ev")
    _show_plan(visit, run, progress)
    _show_guests(visit, run)
    if decided := decided_pairs(service, run.id, visit.voter)[-_LISTED:]:
        table = fill("annotate/decided.html", t=t, pairs=decided, run=run.id)
        markup(table, elem_classes="ev")
    with gr.Row(elem_classes="acts"):
        files = () if progress.is_open else _files(t, run)
        markup(ways(Way(t("annotate.vote_too"), page_address(run)), *files), elem_classes="ev")
        if progress.is_open:
            _show_close(visit, run)


def _head(t: Messages, run: RunRow, progress: VotersProgress) -> Html:
    differing = t.count("annotate.differ", progress.differing) if progress.differing else ""
    decide = link(t("annotate.decide"), page_address(run, sub="decide"), cls="btn pri")
    return page_head(_finding(t, progress), differing, decide if differing else "")


def _show_plan(visit: Visit, run: RunRow, progress: VotersProgress) -> None:
    """Make the form that assigns pairs to people."""
    t, screen, plan = visit.t, visit.screen, progress.plan
    known = possible_voters(visit.service, run.id)
    with gr.Column(elem_classes="card"):
        title(t("annotate.people"))
        people = gr.CheckboxGroup(
            list(known),
            value=list(plan.people if plan else ()),
            label=t("annotate.people_known"),
            visible=bool(known),
            interactive=True,
            elem_classes="people",
        )
        with gr.Row(elem_classes="who-votes"):
            with gr.Column(scale=3, min_width=240, elem_classes="field"):
                word = t(f"annotate.people_{'others' if known else 'names'}")
                others = gr.Textbox(label=word, max_lines=1, interactive=True)
            with gr.Column(scale=0, min_width=140, elem_classes="field"):
                overlap = gr.Number(
                    plan.overlap if plan else _OVERLAP,
                    label=t("annotate.overlap"),
                    precision=0,
                    interactive=True,
                )
            variant = "secondary" if progress.differing else "primary"
            button = gr.Button(t("annotate.assign"), variant=variant, scale=0, min_width=120)
        kind = "stated" if visit.service.settings.auth == "token" else "accounts"
        about = join_sentences(t(f"annotate.people_{kind}"), t("annotate.assign_about"))
        remark(about)

    def assign(service: AppService, known: list[str], others: str, overlap: int | None) -> str:
        names = [name.strip() for name in (*known, *re.split("[,，、]", others))]
        assign_people(service, run.id, list(dict.fromkeys(names)), overlap or 0)
        return screen.address()

    screen.on(button.click, assign, [people, others, overlap], screen.place)


def _show_guests(visit: Visit, run: RunRow) -> None:
    """Make the list of links for guests, and the button for a further one, which is shown once."""
    t, screen = visit.t, visit.screen
    with gr.Column(elem_classes="card"):
        title(t("annotate.link_title"))
        once = markup(visible=False, elem_classes="ev")
        links = listing(_links(t, visit.service, run), elem_classes="ev")
        with gr.Row(elem_classes="who-votes"):
            with gr.Column(scale=0, min_width=200, elem_classes="field"):
                days = gr.Dropdown(
                    [(t.count("annotate.days", each), each) for each in _DAYS],
                    value=_USUAL_DAYS,
                    label=t("annotate.link_for"),
                    filterable=False,
                    interactive=True,
                )
            button = gr.Button(t("annotate.link_make"), scale=0, min_width=120)
        remark(t("annotate.link_about"))

    def now(service: AppService) -> Any:
        table = _links(t, service, run)
        return gr.update(value=table, visible=bool(table))

    def make(service: AppService, days: int) -> tuple[Any, Any]:
        secret = ballots.add_guest_link(service, run.id, days)
        shown = fill("annotate/link_once.html", t=t, href=f"../vote/{secret}")
        return gr.update(value=shown, visible=True), now(service)

    def change(service: AppService, action: Action) -> Any:
        end = ballots.end_guest_link if action.do == "revoke" else ballots.free_guest_seats
        end(service, run.id, action.value("link"))
        return now(service)

    screen.on(button.click, make, days, [once, links])
    screen.on_act(links, change, None, links)


def _links(t: Messages, service: AppService, run: RunRow) -> Html:
    links = [
        {
            "digest": each.digest,
            "until": format_time(t, each.expires),
            "guests": ", ".join(each.guests),
        }
        for each in ballots.list_guest_links(service, run.id)
    ]
    return fill("annotate/guests.html", t=t, links=links) if links else Html("")


def _show_close(visit: Visit, run: RunRow) -> None:
    t, screen = visit.t, visit.screen
    button = gr.Button(t("annotate.close"), scale=0, min_width=120)
    remark(t("annotate.close_about"))

    def close(service: AppService) -> str:
        end_voting(service, run.id)
        return screen.address()

    screen.on(button.click, close, None, screen.place)


def _show_decision(visit: Visit, run: RunRow, one: PairToDecide) -> None:
    """Make the components of a pair on which people differ, and of what can be decided."""
    t, screen = visit.t, visit.screen
    below = f"{one.ballot.dataset_name} · {t.count('annotate.undecided', one.undecided)}"
    markup(page_head(t("annotate.which_counts"), below), elem_classes="ev")
    markup(pair_alone(visit, one.ballot), elem_classes="ev")
    counted = Counter(one.outcomes)
    cast = fill("annotate/votes_cast.html", t=t, counted=counted, notes=one.notes)
    markup(cast, elem_classes="ev")
    with gr.Column(elem_classes="field"):
        reason = gr.Textbox(
            label=t("annotate.reason"),
            lines=3,
            max_lines=8,
            max_length=MAX_COMMENT,
            interactive=True,
        )

    def decide(outcome: Outcome, service: AppService, reason: str) -> str:
        if len(reason) > MAX_COMMENT:
            raise ClientStateError  # our own field takes no more
        pair, voter = one.ballot.pair_key, visit.voter
        ballots.decide_pair(service, run.id, pair, outcome, reason, voter)
        return screen.address(pair="")  # the next one

    with gr.Row(elem_classes="outcomes"):
        for outcome in CHOICES.values():
            button = gr.Button(t(f"annotate.vote_{outcome}"), min_width=120)
            screen.on(button.click, partial(decide, outcome), reason, screen.place)
    back = Way(t("annotate.back_to_voters"), page_address(run, sub="voters"))
    markup(ways(back), elem_classes="ev")


def _files(t: Messages, run: RunRow) -> list[Way]:
    return [
        Way(t(f"annotate.save_{kind}"), f"../votes/{run.id}.{kind}", saved=True)
        for kind in VOTE_FILES
    ]


def _finding(t: Messages, progress: VotersProgress) -> str:
    if progress.plan is None:
        return t.count("annotate.plan_free", progress.pairs)
    done = sum(one.done for one in progress.people if one.assigned)
    total = sum(one.assigned or 0 for one in progress.people)
    return t("annotate.plan_done", done=f"{done:,}", total=f"{total:,}")


def _progress_row(t: Messages, one: VoterProgress) -> dict[str, Any]:
    share = None
    far = t.count("annotate.votes", one.done)
    if one.assigned is not None:
        far = t("annotate.votes_of", n=f"{one.done:,}", total=f"{one.assigned:,}")
        share = one.done / one.assigned if one.assigned else 1.0
    return {
        "person": one.person,
        "far": far,
        "share": share,
        "skipped": one.skipped,
        "median": "–" if one.seconds is None else duration(t, one.seconds),
        "last": "–" if one.last is None else format_time(t, one.last),
    }
