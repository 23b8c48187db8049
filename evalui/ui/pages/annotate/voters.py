"""The voters of a run, for who leads it: pairs are assigned, guests invited, disputes decided."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from evalui.accounts.guests import LONGEST_DAYS
from evalui.app import ballots
from evalui.app.voters import (
    VOTE_FILES,
    VotersProgress,
    assign_people,
    decided_pairs,
    disputed_pair,
    possible_voters,
    voters_progress,
)
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.words import join_sentences
from evalui.store.runs import RunRow
from evalui.store.voting.votes import MAX_COMMENT, VoterProgress
from evalui.types import Outcome
from evalui.ui.components.ballot import CHOICES, pair_alone
from evalui.ui.components.form import ClientStateError, field_value
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.pages.annotate.visit import Visit, Way, page_address, ways

SUBS = ("voters", "decide")
_DAYS = (1, 7, 14, 30, LONGEST_DAYS)
_OVERLAP = 2  # votes on each pair, unless another number is stated
_LISTED = 50  # decided pairs on the page; the files have all
_OUTCOMES: Mapping[str, Outcome] = {name: name for name in get_args(Outcome)}


class VotersPart:
    """The components of the voters' page, and of the page of one pair that is decided."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        with gr.Column(visible=False, elem_classes="voters") as self.column:
            self.progress = markup(visible=False)
            with gr.Column(elem_classes="card"):
                markup(_title(t("annotate.people")))
                self.people = gr.CheckboxGroup(
                    [], label=t("annotate.people_known"), elem_classes="people"
                )
                with gr.Row(elem_classes="who-votes"):
                    with gr.Column(scale=3, min_width=240, elem_classes="field"):
                        self.others = gr.Textbox(label=t("annotate.people_names"), max_lines=1)
                    with gr.Column(scale=0, min_width=140, elem_classes="field"):
                        self.overlap = gr.Number(
                            _OVERLAP, label=t("annotate.overlap"), precision=0, minimum=1
                        )
                    self.assign = gr.Button(t("annotate.assign"), scale=0, min_width=120)
                self.about = markup()
            with gr.Column(elem_classes="card"):
                markup(_title(t("annotate.link_title")))
                self.links = listing()
                with gr.Row(elem_classes="who-votes"):
                    days = [(t.count("annotate.days", each), str(each)) for each in _DAYS]
                    with gr.Column(scale=0, min_width=200, elem_classes="field"):
                        self.days = gr.Dropdown(
                            days, value="14", label=t("annotate.link_for"), filterable=False
                        )
                    self.link = gr.Button(t("annotate.link_make"), scale=0, min_width=120)
                markup(_small(t("annotate.link_about")))
            self.decided = markup(visible=False)
            with gr.Row(elem_classes="acts"):
                self.ways = markup()
                self.close = gr.Button(t("annotate.close"), scale=0, min_width=120)
                self.close_about = markup(_small(t("annotate.close_about")))
        with gr.Column(visible=False, elem_classes="decision") as self.decision:
            self.votes_cast = markup()
            with gr.Column(elem_classes="field"):
                self.reason = gr.Textbox(
                    label=t("annotate.reason"), lines=3, max_lines=8, max_length=MAX_COMMENT
                )
            with gr.Row(elem_classes="outcomes"):
                self.outcomes = {
                    outcome: gr.Button(t(f"annotate.vote_{outcome}"), min_width=120)
                    for outcome in CHOICES.values()
                }
            self.back = markup()
        # The pair that is decided, which an address need not name.
        self.pair = gr.Textbox(visible="hidden", elem_classes="hidden-field")
        self.outputs: list[Block] = [
            *(self.column, self.progress, self.people, self.others, self.overlap, self.assign),
            *(self.about, self.links, self.decided, self.ways, self.close, self.close_about),
            *(self.decision, self.votes_cast, self.reason, self.back, self.pair),
        ]
        self.assigned: list[Component] = [self.people, self.others, self.overlap]

    def shown(
        self, visit: Visit, run: RunRow, head: Block, ballot: Block, *, typed: bool = False
    ) -> dict[Block, Any]:
        """How far people are and where they differ, or one pair to decide.

        What is `typed` into the form stays.
        """
        if field_value(visit.form, "sub") == "decide" and (
            page := self._disputed(visit, run, head, ballot)
        ):
            return page
        t, service = self.t, visit.service
        progress, _ = voters_progress(service, run.id)
        decided = decided_pairs(service, run.id, visit.voter.name)[-_LISTED:]
        differing = t.count("annotate.differ", progress.differing) if progress.differing else ""
        decide = (t("annotate.decide"), page_address(run, sub="decide")) if differing else None
        vote = Way(t("annotate.vote_too"), page_address(run))
        files = () if progress.is_open else self._files(run)
        return {
            head: fill(
                "annotate/head.html",
                t=t,
                title=self._finding(progress),
                below=" · ".join(filter(None, (run.name, differing))),
                voter="",
                rename="",
                far=None,
                link=decide,
            ),
            self.column: gr.update(visible=True),
            self.progress: gr.update(
                value=self._progress(progress.people), visible=bool(progress.people)
            ),
            **({} if typed else self._plan(visit, run, progress)),
            self.assign: gr.update(variant="secondary" if progress.differing else "primary"),
            self.about: _small(self._about(visit)),
            **self._guests(visit, run),
            self.decided: gr.update(
                value=fill("annotate/decided.html", t=t, pairs=decided, run=run.id),
                visible=bool(decided),
            ),
            self.ways: ways(vote, *files),
            self.close: gr.update(visible=progress.is_open),
            self.close_about: gr.update(visible=progress.is_open),
        }

    def assign_to(self, visit: Visit, known: object, others: object, overlap: object) -> None:
        """Assign the pairs of the run to the people who were chosen and named."""
        named = others if isinstance(others, str) else ""
        names = [*_texts(known), *named.replace("，", ",").replace("、", ",").split(",")]
        unique = list(dict.fromkeys(name.strip() for name in names))
        number = int(overlap) if isinstance(overlap, int | float) else 0
        assign_people(visit.service, visit.run_id, unique, number)

    def decide(self, visit: Visit, outcome: str, reason: object, pair: object) -> None:
        """Keep what is decided on a pair; raises as `decide_pair` does."""
        if (
            not isinstance(reason, str)
            or not isinstance(pair, str)
            or len(reason) > MAX_COMMENT
            or outcome not in _OUTCOMES
        ):  # our own page sends known ones
            raise ClientStateError
        service, run_id = visit.service, visit.run_id
        ballots.decide_pair(service, run_id, pair, _OUTCOMES[outcome], reason, visit.voter.name)

    def _disputed(
        self, visit: Visit, run: RunRow, head: Block, ballot: Block
    ) -> dict[Block, Any] | None:
        t = self.t
        one = disputed_pair(
            visit.service, run.id, field_value(visit.form, "pair"), visit.voter.name
        )
        if one is None:
            return None
        place = t.count("annotate.undecided", one.undecided)
        return {
            head: fill(
                "annotate/head.html",
                t=t,
                title=t("annotate.which_counts"),
                below=f"{one.ballot.dataset_name} · {place}",
                voter="",
                rename="",
                far=None,
                link=None,
            ),
            ballot: gr.update(value=pair_alone(t, one.ballot), visible=True),
            self.decision: gr.update(visible=True),
            self.votes_cast: fill(
                "annotate/votes_cast.html", t=t, counted=Counter(one.outcomes), notes=one.notes
            ),
            self.reason: "",
            self.back: ways(Way(t("annotate.back_to_voters"), page_address(run, sub="voters"))),
            self.pair: one.ballot.pair_key,
        }

    def _plan(self, visit: Visit, run: RunRow, progress: VotersProgress) -> dict[Block, Any]:
        known = possible_voters(visit.service, run.id)
        people = progress.plan.people if progress.plan else ()
        return {
            self.people: gr.update(choices=list(known), value=list(people), visible=bool(known)),
            self.others: gr.update(
                value="", label=self.t(f"annotate.people_{'others' if known else 'names'}")
            ),
            self.overlap: progress.plan.overlap if progress.plan else _OVERLAP,
        }

    def _guests(self, visit: Visit, run: RunRow) -> dict[Block, Any]:
        links = [
            {
                "digest": link.digest,
                "until": format_time(self.t, link.expires),
                "guests": ", ".join(link.guests),
            }
            for link in ballots.list_guest_links(visit.service, run.id)
        ]
        table = fill("annotate/guests.html", t=self.t, links=links)
        return {self.links: gr.update(value=table, visible=bool(links))}

    def _files(self, run: RunRow) -> list[Way]:
        return [
            Way(self.t(f"annotate.save_{kind}"), f"../votes/{run.id}.{kind}", saved=True)
            for kind in VOTE_FILES
        ]

    def _finding(self, progress: VotersProgress) -> str:
        t = self.t
        if progress.plan is None:
            return t.count("annotate.plan_free", progress.pairs)
        done = sum(one.done for one in progress.people if one.assigned)
        total = sum(one.assigned or 0 for one in progress.people)
        return t("annotate.plan_done", done=f"{done:,}", total=f"{total:,}")

    def _about(self, visit: Visit) -> str:
        kind = "stated" if visit.service.settings.auth == "token" else "accounts"
        sentences = self.t(f"annotate.people_{kind}"), self.t("annotate.assign_about")
        return join_sentences(*sentences)

    def _progress(self, people: Sequence[VoterProgress]) -> Html:
        rows = [self._progress_row(one) for one in people]
        return fill("annotate/progress.html", t=self.t, people=rows)

    def _progress_row(self, one: VoterProgress) -> dict[str, Any]:
        t, share = self.t, None
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


def _title(title: str) -> Html:
    return fill("title.html", title=title, below="")


def _small(text: str) -> Html:
    return fill("title.html", title="", below=text)


def _texts(sent: object) -> list[str]:
    parts: list[Any] = sent if isinstance(sent, list) else []  # pyright: ignore[reportUnknownVariableType] # of Gradio
    return [part for part in parts if isinstance(part, str)]
