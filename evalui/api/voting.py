"""Votes of people on a run: who votes on what, ballots, votes, and pairs on which people differ."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evalui.accounts.guests import GuestLink, make_guest_link, read_guest_links, revoke_guest_link
from evalui.accounts.secrets import digest_of
from evalui.api.links import LinkMade, address_of
from evalui.api.problems import Service
from evalui.api.schemas import Answered, Sent
from evalui.errors import SpecError
from evalui.runs.database.voting import ballots, votes
from evalui.runs.database.voting.adjudications import (
    ContestedPair,
    adjudicate,
    contested_pairs,
    outcome_from,
)
from evalui.runs.database.voting.plans import MAX_VOTERS
from evalui.runs.database.voting.progress import VoterProgress
from evalui.types import Outcome
from evalui.ui.services.service import AppService
from evalui.ui.services.team_votes import assign_people, team_progress
from evalui.ui.tabs.annotate.result import import_votes
from evalui.ui.web.downloads import votes_of

_AS_LINES = {"application/jsonl": {"schema": {"type": "string"}}}
_AS_TABLE = {"text/csv": {"schema": {"type": "string"}}}
router = APIRouter(prefix="/runs/{run_id}", tags=["votes"])


class VotersSent(Sent):
    """Who votes on the pairs of a run, `overlap` of them on each; nobody named: everybody."""

    people: list[str] = Field(max_length=MAX_VOTERS)
    overlap: int = Field(default=1, ge=1, le=MAX_VOTERS)


class VotersShown(Answered):
    """The people of a plan, none without one, and how far they are with the `pairs` of a run.

    On `differing` pairs people differ, and nothing is decided yet.
    """

    people: list[str]
    overlap: int
    pairs: int
    differing: int
    progress: list[VoterProgress]


class GuestLinkSent(Sent):
    """How many days a link is open."""

    days: int = 14


class VoteSent(Sent):
    """A vote on the pair of a ballot: `a` is what stood left, `b` right; `seconds` were spent."""

    pair: str = Field(max_length=200)
    choice: votes.VoteChoice
    comment: str = Field(default="", max_length=10_000)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


class VotesImported(Answered):
    """How many votes of a file are new."""

    added: int


class VotesSent(Sent):
    """An upload that is a file of votes."""

    upload: str


class BallotShown(Answered):
    """Two answers without their models' names; `pair` "" when none is left."""

    pair: str
    dataset: str
    question: str
    left: list[str]
    right: list[str]
    voted: int
    pairs: int


class Disagreement(Answered):
    """A pair on which people differ, without the names of its models.

    `votes` counts them by outcome as the sides stand here. `decision` is the outcome that
    `decided_by` decided for `reason`; "" as long as nobody did.
    """

    pair: str
    dataset: str
    question: str
    left: list[str]
    right: list[str]
    votes: dict[str, int]
    comments: list[str]
    decision: Outcome | None
    decided_by: str
    reason: str


class DisagreementPage(Answered):
    """Those that nobody decided come first; `next` is the cursor of the next page, or ""."""

    pairs: list[Disagreement]
    next: str


class DecisionSent(Sent):
    """What counts on a pair: `a` is what stands left, `b` right."""

    outcome: Outcome
    reason: str = Field(default="", max_length=10_000)


@router.get("/voters")
def read_voters(run_id: str, service: Service) -> VotersShown:
    """Who votes on a run and how far they are; for its owner and administrators."""
    service.require("change", run_id)
    team = team_progress(service, run_id)
    return VotersShown(
        people=list(team.plan.people) if team.plan else [],
        overlap=team.plan.overlap if team.plan else 0,
        pairs=team.pairs,
        differing=team.differing,
        progress=list(team.people),
    )


@router.put("/voters", status_code=204)
def assign(run_id: str, sent: VotersSent, service: Service) -> None:
    """Assign the pairs of a run to people who vote on it; for its owner and administrators."""
    assign_people(service, run_id, sent.people, sent.overlap)


@router.get("/guest-links")
def list_guest_links(run_id: str, service: Service) -> list[GuestLink]:
    """The open links by which guests vote; for the owner of the run and administrators."""
    service.require("change", run_id)
    return list(read_guest_links(service.database, run_id))


@router.post("/guest-links", status_code=201)
def add_guest_link(run_id: str, sent: GuestLinkSent, service: Service) -> LinkMade:
    """Let whoever has the link vote on a run; its address is stated this once."""
    service.require("change", run_id)
    secret = make_guest_link(service.database, run_id, by=service.person, days=sent.days)
    return LinkMade(id=digest_of(secret), address=address_of(service, f"vote/{secret}"))


@router.delete("/guest-links/{link_id}", status_code=204)
def end_guest_link(run_id: str, link_id: str, service: Service) -> None:
    """Close a link; those who came by it vote no more, and the votes they cast stay."""
    service.require("change", run_id)
    revoke_guest_link(service.database, run_id, link_id, by=service.person)


@router.get("/ballot")
def read_ballot(run_id: str, service: Service) -> BallotShown:
    """The next pair of answers for the sender to vote on, without the names of models."""
    service.require("annotate", run_id)
    database, voter = service.database, service.owner
    pairs = service.voter_pairs.to_vote_on(run_id, voter)
    progress = votes.read_voting_progress(database, run_id, voter, pairs=pairs)
    shown = next(iter(votes.next_ballots(database, run_id, voter, pairs=pairs, count=1)), None)
    return BallotShown(
        pair=shown.pair_key if shown else "",
        dataset=shown.dataset_name if shown else "",
        question=shown.sample.question if shown else "",
        left=list(shown.left) if shown else [],
        right=list(shown.right) if shown else [],
        voted=progress.own_votes,
        pairs=progress.pairs,
    )


@router.get("/votes", response_class=Response, responses={200: {"content": _AS_LINES}})
def read_votes(run_id: str, service: Service) -> Response:
    """The votes of people as JSON lines, each with its time."""
    return votes_of(service, run_id, "jsonl")


@router.get("/votes.csv", response_class=Response, responses={200: {"content": _AS_TABLE}})
def read_vote_table(run_id: str, service: Service) -> Response:
    """The same as a table."""
    return votes_of(service, run_id, "csv")


@router.post("/votes", status_code=204)
def vote(run_id: str, sent: VoteSent, service: Service) -> None:
    """Vote on a pair; a second vote of the sender on it replaces the first."""
    service.require("annotate", run_id)
    mark = votes.VoteInput(sent.pair, sent.choice, sent.comment, sent.seconds)
    pairs = service.voter_pairs.to_vote_on(run_id, service.owner)
    votes.cast_vote(service.database, run_id, service.owner, mark, pairs=pairs)


@router.delete("/votes/last", status_code=204)
def undo(run_id: str, service: Service) -> None:
    """Take back the last vote of the sender; without one nothing happens."""
    service.require("annotate", run_id)
    votes.undo_vote(service.database, run_id, service.owner)


@router.post("/votes/finish", status_code=204)
def finish(run_id: str, service: Service) -> None:
    """End the voting of the sender, who votes no more on this run, and sees the names."""
    service.require("annotate", run_id)
    votes.finish_voting(service.database, run_id, service.owner)


@router.post("/votes/import")
def add_votes(run_id: str, sent: VotesSent, service: Service) -> VotesImported:
    """Keep the votes of a file that was uploaded; for the owner of the run and administrators."""
    service.require("change", run_id)
    return VotesImported(added=import_votes(service, service.run(run_id), sent.upload))


@router.get("/disagreements")
def list_disagreements(
    run_id: str,
    service: Service,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DisagreementPage:
    """The pairs on which people differ; for the owner of the run and administrators."""
    service.require("change", run_id)
    pairs = service.voting_pairs.of_run(run_id)
    contested = [one for one in contested_pairs(service.database, run_id) if one.pair_key in pairs]
    contested.sort(key=lambda one: one.decision is not None)
    places = {one.pair_key: place for place, one in enumerate(contested, start=1)}
    if cursor and cursor not in places:
        raise SpecError("no-cursor", text=cursor)
    start = places.get(cursor, 0)
    shown, more = contested[start : start + limit], len(contested) > start + limit
    return DisagreementPage(
        pairs=[_disagreement(service, run_id, one, pairs) for one in shown],
        next=shown[-1].pair_key if more else "",
    )


@router.put("/disagreements/{pair}", status_code=204)
def decide(run_id: str, pair: str, sent: DecisionSent, service: Service) -> None:
    """Decide a pair on which people differ; a second decision replaces the first."""
    service.require("change", run_id)
    pairs = service.voting_pairs.of_run(run_id)
    adjudicate(
        service.database,
        run_id,
        service.owner,
        pair,
        sent.outcome,
        comment=sent.reason,
        pairs=pairs,
    )


def _disagreement(
    service: AppService, run_id: str, one: ContestedPair, pairs: ballots.VotingPairs
) -> Disagreement:
    pair, made = pairs[one.pair_key], one.decision
    sides = ballots.sides_for(one.pair_key, pair, service.owner)
    shown = ballots.ballot(service.database, run_id, one.pair_key, pair=pair, sides=sides)
    return Disagreement(
        pair=one.pair_key,
        dataset=shown.dataset_name,
        question=shown.sample.question,
        left=list(shown.left),
        right=list(shown.right),
        votes=Counter(filter(None, (outcome_from(sides.left, each) for each in one.votes))),
        comments=[each.comment for each in one.votes if each.comment],
        decision=outcome_from(sides.left, made) if made else None,
        decided_by=made.by if made else "",
        reason=made.comment if made else "",
    )
