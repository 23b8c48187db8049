"""Votes of people on a run: who votes on what, ballots, votes, and pairs on which people differ."""

from collections import Counter
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evalui.accounts.guests import (
    GuestLink,
    free_guest_seats,
    make_guest_link,
    read_guest_links,
    revoke_guest_link,
)
from evalui.accounts.secrets import digest_of
from evalui.api.links import LinkMade, address_of
from evalui.api.problems import CheckedRoute, Service, requires
from evalui.api.runs import AS_LINES
from evalui.api.schemas import Answered, Sent
from evalui.app.service import AppService
from evalui.app.team_votes import TeamProgress, assign_people, end_voting, team_progress
from evalui.runs.database.voting import ballots, votes
from evalui.runs.database.voting.adjudications import (
    ContestedPair,
    adjudicate,
    outcome_from,
)
from evalui.runs.database.voting.plans import MAX_VOTERS
from evalui.types import Outcome
from evalui.ui.tabs.annotate.result import import_votes
from evalui.ui.web.downloads import votes_of

router = APIRouter(route_class=CheckedRoute, prefix="/runs/{run_id}", tags=["votes"])


class VotersSent(Sent):
    """Who votes on the pairs of a run, `overlap` of them on each; nobody named: everybody."""

    people: list[str] = Field(max_length=MAX_VOTERS)
    overlap: int = Field(default=1, ge=1, le=MAX_VOTERS)


class VoteSent(Sent):
    """A vote on the pair of a ballot: `a` is what stood left, `b` right; `seconds` were spent."""

    pair: str = Field(max_length=200)
    choice: votes.VoteChoice
    comment: str = Field(default="", max_length=votes.MAX_COMMENT)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


class _PairShown(Answered):
    pair: str
    dataset: str
    question: str
    left: list[str]
    right: list[str]


class BallotShown(_PairShown):
    """Two answers without their models' names; `pair` "" when none is left."""

    voted: int
    pairs: int


class DisputedPair(_PairShown):
    """A pair on which people differ, without the names of its models.

    `votes` counts them by outcome as the sides stand here. `decision` is the outcome that
    `decided_by` decided for `reason`; None as long as it waits for that.
    """

    votes: dict[str, int]
    comments: list[str]
    decision: Outcome | None
    decided_by: str
    reason: str


class DecisionSent(Sent):
    """What counts on a pair: `a` is what stands left, `b` right."""

    outcome: Outcome
    reason: str = Field(default="", max_length=votes.MAX_COMMENT)


@router.get("/voters", dependencies=[requires("change", "run_id")])
def read_voters(run_id: str, service: Service) -> TeamProgress:
    """Who votes on a run and how far they are; for its owner and administrators."""
    team, _ = team_progress(service, run_id)
    return team


@router.put("/voters", status_code=204, dependencies=[requires("change", "run_id")])
def assign(run_id: str, sent: VotersSent, service: Service) -> None:
    """Assign the pairs of a run to people who vote on it; for its owner and administrators."""
    assign_people(service, run_id, sent.people, sent.overlap)


@router.get("/guest-links", dependencies=[requires("change", "run_id")])
def list_guest_links(run_id: str, service: Service) -> list[GuestLink]:
    """The open links by which guests vote; for the owner of the run and administrators."""
    return list(read_guest_links(service.database, run_id))


@router.post("/guest-links", status_code=201, dependencies=[requires("change", "run_id")])
def add_guest_link(run_id: str, service: Service, days: int = 14) -> LinkMade:
    """Let whoever has the link vote on a run; its address is stated this once."""
    secret = make_guest_link(service.database, run_id, by=service.person, days=days)
    return LinkMade(id=digest_of(secret), address=address_of(service, f"vote/{secret}"))


@router.delete(
    "/guest-links/{link_id}", status_code=204, dependencies=[requires("change", "run_id")]
)
def end_guest_link(run_id: str, link_id: str, service: Service) -> None:
    """Close a link; those who came by it vote no more, and the votes they cast stay."""
    revoke_guest_link(service.database, run_id, link_id, by=service.person)


@router.delete("/guest-links/{link_id}/guests", dependencies=[requires("change", "run_id")])
def free_seats(run_id: str, link_id: str, service: Service) -> int:
    """Send away the guests of a link who cast no vote; how many there were."""
    return free_guest_seats(service.database, run_id, link_id, by=service.person)


@router.get("/ballot", dependencies=[requires("annotate", "run_id")])
def read_ballot(run_id: str, service: Service) -> BallotShown:
    """The next pair of answers for the sender to vote on, without the names of models."""
    database, voter = service.database, service.owner
    pairs = service.voter_pairs.to_vote_on(run_id, voter)
    progress = votes.read_voting_progress(database, run_id, voter, pairs=pairs)
    shown = next(iter(votes.next_ballots(database, run_id, voter, pairs=pairs, count=1)), None)
    return BallotShown(**_texts(shown), voted=progress.own_votes, pairs=progress.pairs)


@router.get("/votes", response_class=Response, responses={200: {"content": AS_LINES}})
def read_votes(run_id: str, service: Service, kind: Literal["jsonl", "csv"] = "jsonl") -> Response:
    """The votes of people with their times, as JSON lines or as a table."""
    return votes_of(service, run_id, kind)


@router.post("/votes", status_code=204, dependencies=[requires("annotate", "run_id")])
def vote(run_id: str, sent: VoteSent, service: Service) -> None:
    """Vote on a pair; a second vote of the sender on it replaces the first."""
    mark = votes.VoteInput(sent.pair, sent.choice, sent.comment, sent.seconds)
    pairs = service.voter_pairs.to_vote_on(run_id, service.owner)
    votes.cast_vote(service.database, run_id, service.owner, mark, pairs=pairs)


@router.delete("/votes/last", status_code=204, dependencies=[requires("annotate", "run_id")])
def undo(run_id: str, service: Service) -> None:
    """Take back the last vote of the sender; without one nothing happens."""
    votes.undo_vote(service.database, run_id, service.owner)


@router.post("/votes/finish", status_code=204, dependencies=[requires("annotate", "run_id")])
def finish(run_id: str, service: Service) -> None:
    """End the voting of the sender, who votes no more on this run, and sees the names."""
    votes.finish_voting(service.database, run_id, service.owner)


@router.post("/votes/close", status_code=204, dependencies=[requires("change", "run_id")])
def close(run_id: str, service: Service) -> None:
    """End the vote of all on a run for good, which shows what people said."""
    end_voting(service, run_id)


@router.post("/votes/import", dependencies=[requires("change", "run_id")])
def add_votes(run_id: str, upload: str, service: Service) -> int:
    """Keep the votes of a file that was uploaded; how many are new."""
    return import_votes(service, service.run(run_id), upload)


@router.get("/disagreements", dependencies=[requires("change", "run_id")])
def list_disagreements(
    run_id: str, service: Service, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> list[DisputedPair]:
    """The pairs on which people differ, those first that wait to be decided; for the owner of the
    run and administrators.
    """
    _, pairs_in_doubt = team_progress(service, run_id)
    contested = sorted(pairs_in_doubt, key=lambda one: one.decision is not None)
    pairs = service.voting_pairs.of_run(run_id)
    shown = (one for one in contested if one.pair_key in pairs)
    return [_disputed(service, run_id, one, pairs) for one in islice(shown, limit)]


@router.put("/disagreements/{pair}", status_code=204, dependencies=[requires("change", "run_id")])
def decide(run_id: str, pair: str, sent: DecisionSent, service: Service) -> None:
    """Decide a pair on which people differ; a second decision replaces the first."""
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


def _disputed(
    service: AppService, run_id: str, one: ContestedPair, pairs: ballots.VotingPairs
) -> DisputedPair:
    pair, made = pairs[one.pair_key], one.decision
    sides = ballots.sides_for(one.pair_key, pair, service.owner)
    shown = ballots.ballot(service.database, run_id, one.pair_key, pair=pair, sides=sides)
    return DisputedPair(
        **_texts(shown),
        votes=Counter(filter(None, (outcome_from(sides.left, each) for each in one.votes))),
        comments=[each.comment for each in one.votes if each.comment],
        decision=outcome_from(sides.left, made) if made else None,
        decided_by=made.by if made else "",
        reason=made.comment if made else "",
    )


def _texts(shown: ballots.Ballot | None) -> dict[str, Any]:
    """The fields of a pair; of none they are empty."""
    return {
        "pair": shown.pair_key if shown else "",
        "dataset": shown.dataset_name if shown else "",
        "question": shown.sample.question if shown else "",
        "left": shown.left if shown else [],
        "right": shown.right if shown else [],
    }
