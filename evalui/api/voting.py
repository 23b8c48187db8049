"""Votes of people on a run: who votes on what, ballots, votes, and pairs on which people differ."""

from collections import Counter
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evalui.accounts.guests import GuestLink
from evalui.accounts.secrets import digest_of
from evalui.api.links import LinkMade, address_of
from evalui.api.problems import CheckedRoute, Service, permits
from evalui.api.runs import AS_LINES
from evalui.api.schemas import Answered, Sent
from evalui.app import ballots as desk
from evalui.app.service import AppService
from evalui.app.voters import VotersProgress, assign_people, end_voting, voters_progress
from evalui.store.voting import ballots, votes
from evalui.store.voting.adjudications import ContestedPair, outcome_from
from evalui.store.voting.plans import MAX_VOTERS
from evalui.types import Outcome
from evalui.web.downloads import votes_of

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


@router.get("/voters", dependencies=[permits(voters_progress)])
def read_voters(run_id: str, service: Service) -> VotersProgress:
    """Who votes on a run and how far they are; for its owner and administrators."""
    progress, _ = voters_progress(service, run_id)
    return progress


@router.put("/voters", status_code=204, dependencies=[permits(assign_people)])
def assign(run_id: str, sent: VotersSent, service: Service) -> None:
    """Assign the pairs of a run to people who vote on it; for its owner and administrators."""
    assign_people(service, run_id, sent.people, sent.overlap)


@router.get("/guest-links", dependencies=[permits(desk.list_guest_links)])
def list_guest_links(run_id: str, service: Service) -> list[GuestLink]:
    """The open links by which guests vote; for the owner of the run and administrators."""
    return list(desk.list_guest_links(service, run_id))


@router.post("/guest-links", status_code=201, dependencies=[permits(desk.add_guest_link)])
def add_guest_link(run_id: str, service: Service, days: int = 14) -> LinkMade:
    """Let whoever has the link vote on a run; its address is stated this once."""
    secret = desk.add_guest_link(service, run_id, days)
    return LinkMade(id=digest_of(secret), address=address_of(service, f"vote/{secret}"))


@router.delete(
    "/guest-links/{link_id}", status_code=204, dependencies=[permits(desk.end_guest_link)]
)
def end_guest_link(run_id: str, link_id: str, service: Service) -> None:
    """Close a link; those who came by it vote no more, and the votes they cast stay."""
    desk.end_guest_link(service, run_id, link_id)


@router.delete("/guest-links/{link_id}/guests", dependencies=[permits(desk.free_guest_seats)])
def free_seats(run_id: str, link_id: str, service: Service) -> int:
    """Send away the guests of a link who cast no vote; how many there were."""
    return desk.free_guest_seats(service, run_id, link_id)


@router.get("/ballot", dependencies=[permits(desk.next_ballot)])
def read_ballot(run_id: str, service: Service) -> BallotShown:
    """The next pair of answers for the sender to vote on, without the names of models.

    Pictures are marks `<picture:...>`, which the route of the run's pictures serves to the sender.
    """
    shown = desk.next_ballot(service, run_id)
    progress = shown.progress
    return BallotShown(**_texts(shown.ballot), voted=progress.own_votes, pairs=progress.pairs)


@router.get("/votes", response_class=Response, responses={200: {"content": AS_LINES}})
def read_votes(run_id: str, service: Service, kind: Literal["jsonl", "csv"] = "jsonl") -> Response:
    """The votes of people with their times, as JSON lines or as a table."""
    return votes_of(service, run_id, kind)


@router.post("/votes", status_code=204, dependencies=[permits(desk.cast_vote)])
def vote(run_id: str, sent: VoteSent, service: Service) -> None:
    """Vote on a pair; a second vote of the sender on it replaces the first."""
    mark = votes.VoteInput(sent.pair, sent.choice, sent.comment, sent.seconds)
    desk.cast_vote(service, run_id, mark)


@router.delete("/votes/last", status_code=204, dependencies=[permits(desk.undo_vote)])
def undo(run_id: str, service: Service) -> None:
    """Take back the last vote of the sender; without one nothing happens."""
    desk.undo_vote(service, run_id)


@router.post("/votes/finish", status_code=204, dependencies=[permits(desk.finish_voting)])
def finish(run_id: str, service: Service) -> None:
    """End the voting of the sender, who votes no more on this run, and sees the names."""
    desk.finish_voting(service, run_id)


@router.post("/votes/close", status_code=204, dependencies=[permits(end_voting)])
def close(run_id: str, service: Service) -> None:
    """End the vote of all on a run for good, which shows what people said."""
    end_voting(service, run_id)


@router.post("/votes/import", dependencies=[permits(desk.import_votes)])
def add_votes(run_id: str, upload: str, service: Service) -> int:
    """Keep the votes of a file that was uploaded; how many are new."""
    return desk.import_votes(service, run_id, upload)


@router.get("/disagreements", dependencies=[permits(voters_progress)])
def list_disagreements(
    run_id: str, service: Service, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> list[DisputedPair]:
    """The pairs on which people differ, those first that wait to be decided; for the owner of the
    run and administrators.
    """
    _, pairs_in_doubt = voters_progress(service, run_id)
    contested = sorted(pairs_in_doubt, key=lambda one: one.decision is not None)
    pairs = service.voting_pairs.of_run(run_id)
    shown = (one for one in contested if one.pair_key in pairs)
    return [_disputed(service, run_id, one, pairs) for one in islice(shown, limit)]


@router.put("/disagreements/{pair}", status_code=204, dependencies=[permits(desk.decide_pair)])
def decide(run_id: str, pair: str, sent: DecisionSent, service: Service) -> None:
    """Decide a pair on which people differ; a second decision replaces the first."""
    desk.decide_pair(service, run_id, pair, sent.outcome, sent.reason)


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
