"""Votes of several people: who votes on what, where they differ, and files of votes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalui.access import may
from evalui.accounts.audit import record
from evalui.accounts.guests import GUEST, read_guest_links
from evalui.accounts.people import find_person, read_accounts
from evalui.app.permissions import checks, requires
from evalui.app.results import run_votes
from evalui.app.service import AppService
from evalui.errors import NotAllowed, SpecError
from evalui.store.voting import ballots
from evalui.store.voting.adjudications import (
    ContestedPair,
    contested_pairs,
    outcome_from,
)
from evalui.store.voting.ballots import Ballot
from evalui.store.voting.plans import VotingPlan, close_voting, is_voting_open, keep_plan, read_plan
from evalui.store.voting.votes import VoterProgress, read_votes, voter_progress
from evalui.types import Outcome

VOTE_FILES = {"jsonl": "application/jsonl", "csv": "text/csv"}  # by extension


@dataclass(frozen=True, slots=True)
class VotersProgress:
    """How far the people are who vote on the `pairs` of a run.

    `plan` is None where everybody votes on everything. While the vote `is_open` nothing is shown of
    what people said; then, on `differing` pairs they differ, and nothing is decided yet.
    """

    plan: VotingPlan | None
    is_open: bool
    people: tuple[VoterProgress, ...]
    pairs: int
    differing: int


@dataclass(frozen=True, slots=True)
class PairToDecide:
    """A pair on which people differ, as one who decides sees it: without who voted what.

    `outcomes` are the votes from the sides of the `ballot`; `undecided` pairs there are in all.
    """

    ballot: Ballot
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    undecided: int


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """What `by` decided on a pair, and who voted what on it, all from the sides of one person."""

    pair_key: str
    sample_id: str
    votes: tuple[tuple[str, Outcome | None], ...]
    outcome: Outcome | None
    by: str
    reason: str


@requires("change", "run_id")
def voters_progress(
    service: AppService, run_id: str
) -> tuple[VotersProgress, tuple[ContestedPair, ...]]:
    """How far those are who vote on a run, and all pairs on which they differ."""
    database, assigned = service.database, service.voter_pairs.assignment(run_id)
    votes, plan = read_votes(database, run_id), read_plan(database, run_id)
    is_open = is_voting_open(database, run_id, service.voter_pairs)
    contested = () if is_open else contested_pairs(database, run_id, votes)
    people = voter_progress(votes, plan.people if plan else (), assigned)
    waiting = sum(one.decision is None for one in contested)
    pairs = len(service.voting_pairs.of_run(run_id))
    return VotersProgress(plan, is_open, people, pairs, waiting), contested


@requires("change", "run_id")
def disputed_pair(
    service: AppService, run_id: str, requested: str = "", voter: str = ""
) -> PairToDecide | None:
    """The requested pair on which people differ, else the first that is not decided.

    None while people vote, and when all is decided. `voter` is who decides, see `decide_pair`.
    """
    _, contested = voters_progress(service, run_id)
    undecided = [one for one in contested if one.decision is None]
    chosen = [one for one in contested if one.pair_key == requested] or undecided
    pairs = service.voting_pairs.of_run(run_id)
    if not chosen or chosen[0].pair_key not in pairs:
        return None
    key, votes = chosen[0].pair_key, chosen[0].votes
    sides = ballots.sides_for(key, pairs[key], voter or service.owner)
    outcomes: list[Outcome] = []
    for vote in votes:
        if outcome := outcome_from(sides.left, vote):
            outcomes.append(outcome)
    return PairToDecide(
        ballots.ballot(service.database, run_id, key, pair=pairs[key], sides=sides),
        tuple(outcomes),
        tuple(vote.comment for vote in votes if vote.comment),
        len(undecided),
    )


@requires("change", "run_id")
def decided_pairs(service: AppService, run_id: str, voter: str = "") -> tuple[DecidedPair, ...]:
    """All pairs that were decided; none while people vote. `voter` as for `disputed_pair`."""
    _, contested = voters_progress(service, run_id)
    pairs = service.voting_pairs.of_run(run_id)
    decided: list[DecidedPair] = []
    for one in contested:
        if one.decision is None or one.pair_key not in pairs:
            continue
        left = ballots.sides_for(one.pair_key, pairs[one.pair_key], voter or service.owner).left
        decided.append(
            DecidedPair(
                one.pair_key,
                one.votes[0].sample_id if one.votes else "",
                tuple((vote.by, outcome_from(left, vote)) for vote in one.votes),
                outcome_from(left, one.decision),
                one.decision.by,
                one.decision.comment,
            )
        )
    return tuple(decided)


@requires("change", "run_id")
def possible_voters(service: AppService, run_id: str) -> tuple[str, ...]:
    """Whom pairs of a run can be assigned to, as far as they are known.

    Those are the accounts whose role lets them vote or, where people have none, who voted; the
    guests of its open links; and whom the plan names.
    """
    database = service.database
    plan = read_plan(database, run_id)
    links = read_guest_links(database, run_id)
    names = [f"{GUEST}{guest}" for link in links for guest in link.guests]
    if service.settings.auth == "token":
        names += [vote.by for vote in read_votes(database, run_id) if not vote.imported]
    else:
        people = (find_person(database, account.name) for account in read_accounts(database))
        names += [one.name for one in people if one and may(one, "annotate")]
    return tuple(dict.fromkeys((*(plan.people if plan else ()), *sorted(names))))


@requires("change", "run_id")
def assign_people(service: AppService, run_id: str, people: Sequence[str], overlap: int) -> None:
    """Assign the pairs of a run to people, who may see and vote on it from now on; nobody named
    ends the plan, and what it let them do.

    Raises:
        NotAllowed: the person may not change the run.
        SpecError: somebody has no account whose role lets them vote, or the overlap does not fit.
        UnknownRun: the person may not see the run.
    """
    named = [name.strip() for name in people if name.strip()]
    if service.settings.auth != "token":
        named = [name if name.startswith(GUEST) else _account(service, name) for name in named]
    keep_plan(service.database, run_id, named, overlap)
    record(
        service.database,
        service.person,
        "name-voters",
        f"run {run_id}",
        people=", ".join(named),
    )


@requires("change", "run_id")
def end_voting(service: AppService, run_id: str) -> None:
    """Close the vote of all on a run, which shows what people said; raises as `assign_people`."""
    close_voting(service.database, run_id, service.owner)
    record(service.database, service.person, "close-vote", f"run {run_id}")


@checks("that the person may see the run, and that its vote has ended")
def vote_file(service: AppService, run_id: str, extension: str) -> Iterable[bytes]:
    """The votes of a run as one of `VOTE_FILES`.

    Raises:
        NotAllowed: people still vote.
        UnknownRun: as `AppService.run`.
    """
    from evalui.report.write.files import vote_sheet  # no page needs it
    from evalui.report.write.lines import encoded, vote_lines

    run = service.run(run_id)
    if is_voting_open(service.database, run.id, service.voter_pairs):
        raise NotAllowed("votes-open")
    cast = run_votes(service, run.id)
    if extension == "csv":
        return vote_sheet(cast)
    return encoded(vote_lines(cast))


def _account(service: AppService, name: str) -> str:
    person = find_person(service.database, name.casefold())
    if person is None or not may(person, "annotate"):
        raise SpecError("plan-person", person=name)
    return person.name
