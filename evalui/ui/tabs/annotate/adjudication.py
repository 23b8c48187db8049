"""Pairs on which people differ, decided one after another without the names of models or voters."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args
from urllib.parse import urlencode

from evalui.app.ballots import decide_pair
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.runs.database.records import RunRow
from evalui.runs.database.voting import ballots
from evalui.runs.database.voting.adjudications import ContestedPair, outcome_from
from evalui.runs.database.voting.votes import MAX_COMMENT
from evalui.types import Outcome
from evalui.ui.components.form import ClientStateError
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import button, card, hidden, page_head, table, titled
from evalui.ui.tabs.annotate.ballot import CHOICES, Voter, shown_pair

_OUTCOMES: dict[str, Outcome] = {name: name for name in get_args(Outcome)}
_LISTED = 50  # decided pairs on the page; the files have all


def decide(service: AppService, run: RunRow, voter: Voter, act: Action) -> None:
    """Keep what is decided on a pair; raises as `decide_pair` does."""
    outcome = _OUTCOMES.get(act.value("choice"))
    comment = act.value("comment")
    if outcome is None or len(comment) > MAX_COMMENT:  # our own page sends known ones
        raise ClientStateError
    decide_pair(service, run.id, act.value("pair"), outcome, comment, voter.name)


def decision_page(
    service: AppService,
    t: Messages,
    run: RunRow,
    voter: Voter,
    contested: Sequence[ContestedPair],
    requested: str,
    back: Html,
) -> Html | None:
    """One pair with its votes: the requested one, else the first undecided; None if all are."""
    undecided = [one for one in contested if one.decision is None]
    chosen = [one for one in contested if one.pair_key == requested] or undecided
    pairs = service.voting_pairs.of_run(run.id)
    if not chosen or chosen[0].pair_key not in pairs:
        return None
    one, pair = chosen[0], pairs[chosen[0].pair_key]
    sides = ballots.sides_for(one.pair_key, pair, voter.name)
    shown = ballots.ballot(service.database, run.id, one.pair_key, pair=pair, sides=sides)
    place = t.count("annotate.undecided", len(undecided))
    buttons = [
        button(t(f"annotate.vote_{choice}"), "decide", cls="lg", data_choice=choice)
        for choice in CHOICES.values()
    ]
    reason = el("textarea", name="comment", rows=3, maxlength=MAX_COMMENT, data_pair=one.pair_key)
    return join(
        page_head(t("annotate.which_counts"), f"{shown.dataset_name} · {place}"),
        shown_pair(t, shown, "now"),
        _votes_cast(t, one, sides.left),
        el("label", span(t("annotate.reason")), reason, cls="field"),
        div(*buttons, cls="choices"),
        hidden("pair", one.pair_key),
        div(back, cls="acts"),
    )


def _votes_cast(t: Messages, one: ContestedPair, left: str) -> Html:
    """What people voted, as the sides stand here, without saying who."""
    counted = Counter(outcome_from(left, vote) for vote in one.votes)
    lines = [f"{t(f'annotate.vote_{outcome}')}: {n}" for outcome, n in counted.items() if outcome]
    notes = [el("p", f"“{vote.comment}”", cls="dim") for vote in one.votes if vote.comment]
    about = el("p", t("annotate.notes_sides"), cls="meta") if notes else None
    return card(el("h3", t("annotate.votes_cast")), el("p", " · ".join(lines)), *notes, about)


def decided_card(
    service: AppService,
    t: Messages,
    run: RunRow,
    contested: Sequence[ContestedPair],
    voter: Voter,
) -> Html | None:
    """What was decided, with who voted how."""
    pairs = service.voting_pairs.of_run(run.id)
    rows = [
        _decided_row(t, run, one, ballots.sides_for(one.pair_key, pairs[one.pair_key], voter.name))
        for one in contested
        if one.decision is not None and one.pair_key in pairs
    ]
    if not rows:
        return None
    heads = [t("annotate.question"), t("annotate.votes_cast"), t("annotate.decision"), ""]
    return titled(t("annotate.decided"), table(heads, rows[-_LISTED:]))


def _decided_row(
    t: Messages, run: RunRow, one: ContestedPair, sides: ballots.BallotSides
) -> list[Html | str]:
    assert one.decision, "only decided pairs are listed"
    votes = [
        f"{vote.by}: {t(f'annotate.vote_{outcome_from(sides.left, vote)}')}" for vote in one.votes
    ]
    outcome = outcome_from(sides.left, one.decision)
    query = {"run": run.id, "tab": "annotate", "sub": "decide", "pair": one.pair_key}
    reason = el("div", one.decision.comment, cls="meta") if one.decision.comment else None
    return [
        one.votes[0].sample_id if one.votes else "–",
        " · ".join(votes),
        join(f"{t(f'annotate.vote_{outcome}')} ({one.decision.by})", reason),
        el("a", t("annotate.decide_again"), href=f"?{urlencode(query)}"),
    ]
