"""Ballots: pairs of answers without names, votes of people on them, guests, disputes, decisions."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.accounts import guests
from evalui.accounts.guests import GUEST, GuestLink
from evalui.accounts.people import read_accounts
from evalui.app.permissions import checks, requires
from evalui.app.service import AppService
from evalui.errors import NotAllowed
from evalui.store.runs import RunRow, read_cells, read_runs
from evalui.store.voting import votes
from evalui.store.voting.adjudications import adjudicate
from evalui.store.voting.ballots import Ballot
from evalui.store.voting.plans import is_voting_open
from evalui.store.voting.votes import VoteInput, VotingProgress, add_imported_votes
from evalui.types import Outcome, Verdict

_RECENT = 10  # runs that are offered


@dataclass(frozen=True, slots=True)
class NextBallot:
    """The next pair of somebody, None when none is left, and how far they are."""

    ballot: Ballot | None
    progress: VotingProgress


@dataclass(frozen=True, slots=True)
class VoterState:
    """Where somebody is with a run: how far, their next two pairs, and whether others still vote.

    `has_pairs`: there is something to vote on, be it for others.
    """

    progress: VotingProgress
    ballots: tuple[Ballot, ...]
    is_open: bool
    has_pairs: bool


@requires("annotate", "run_id")
def voter_state(
    service: AppService, run_id: str, voter: str = "", preferred: str = ""
) -> VoterState:
    """Where somebody is with a run, the pair `preferred` first if it is still open to them.

    Who was assigned nothing has no pair. Raises as `next_ballot`.
    """
    database, name = service.database, _voter(service, voter)
    pairs = service.voter_pairs.of_voter(run_id, name)
    return VoterState(
        votes.read_voting_progress(database, run_id, name, pairs=pairs),
        votes.next_ballots(database, run_id, name, pairs=pairs, preferred=preferred),
        is_voting_open(database, run_id, service.voter_pairs),
        bool(service.voting_pairs.of_run(run_id)),
    )


@requires("annotate", "run_id")
def own_verdicts(service: AppService, run_id: str, voter: str = "") -> tuple[Verdict, ...]:
    """What somebody voted themselves, without the pairs they skipped. Raises as `next_ballot`."""
    name = _voter(service, voter)
    cast = votes.read_votes(service.database, run_id)
    return tuple(vote.verdict for vote in cast if vote.by == name and vote.verdict)


@checks("that the person may see each run")
def list_votable_runs(
    service: AppService, voter: str = ""
) -> tuple[tuple[RunRow, VotingProgress], ...]:
    """The newest runs on which somebody may vote, and how far they are. Raises as `next_ballot`."""
    database, name = service.database, _voter(service, voter)
    votable: list[tuple[RunRow, VotingProgress]] = []
    for run in read_runs(database, service.person):
        if len(votable) == _RECENT:
            break
        if not any(cell.cell.gives == "answers" for cell in read_cells(database, run.id)):
            continue
        pairs = service.voter_pairs.of_voter(run.id, name)
        if pairs:
            votable.append((run, votes.read_voting_progress(database, run.id, name, pairs=pairs)))
    return tuple(votable)


@requires("annotate", "run_id")
def next_ballot(service: AppService, run_id: str, voter: str = "") -> NextBallot:
    """The next pair of answers to vote on, without the names of models.

    `voter` is somebody else at the machine of a server that one person uses.

    Raises:
        NotAllowed: the person votes as somebody else where people have accounts.
    """
    database, name = service.database, _voter(service, voter)
    pairs = service.voter_pairs.to_vote_on(run_id, name)
    progress = votes.read_voting_progress(database, run_id, name, pairs=pairs)
    shown = votes.next_ballots(database, run_id, name, pairs=pairs, count=1)
    return NextBallot(next(iter(shown), None), progress)


@requires("annotate", "run_id")
def cast_vote(service: AppService, run_id: str, mark: VoteInput, voter: str = "") -> None:
    """Vote on a pair; a second vote of a person on it replaces the first. As `next_ballot`."""
    name = _voter(service, voter)
    pairs = service.voter_pairs.to_vote_on(run_id, name)
    votes.cast_vote(service.database, run_id, name, mark, pairs=pairs)


@requires("annotate", "run_id")
def undo_vote(service: AppService, run_id: str, voter: str = "") -> str:
    """Take back the last vote of a person, and return its pair; "" without one."""
    return votes.undo_vote(service.database, run_id, _voter(service, voter))


@requires("annotate", "run_id")
def finish_voting(service: AppService, run_id: str, voter: str = "") -> None:
    """End the voting of a person, who votes no more on this run, and sees the names."""
    votes.finish_voting(service.database, run_id, _voter(service, voter))


@requires("change", "run_id")
def import_votes(service: AppService, run_id: str, upload: str) -> int:
    """Keep the votes of an uploaded file, which names their voters; how many are new.

    Raises:
        DataError: the file is no file of votes on this run.
    """
    by_dataset = service.files.votes(upload)
    pairs = service.voting_pairs.of_run(run_id)
    accounts = {account.name for account in read_accounts(service.database)}
    return add_imported_votes(
        service.database,
        run_id,
        by_dataset,
        pairs=pairs,
        reserved=lambda name: name.startswith(GUEST) or name.casefold() in accounts,
    )


@requires("change", "run_id")
def decide_pair(
    service: AppService,
    run_id: str,
    pair: str,
    outcome: Outcome,
    reason: str = "",
    voter: str = "",
) -> None:
    """Decide a pair on which people differ; a second decision replaces the first.

    The outcome is that of the sides as they stand for who decides. Raises as `adjudicate`.
    """
    pairs = service.voting_pairs.of_run(run_id)
    name = _voter(service, voter)
    adjudicate(service.database, run_id, name, pair, outcome, comment=reason, pairs=pairs)


@requires("change", "run_id")
def list_guest_links(service: AppService, run_id: str) -> Sequence[GuestLink]:
    """The open links by which guests vote on a run."""
    return guests.read_guest_links(service.database, run_id)


@requires("change", "run_id")
def add_guest_link(service: AppService, run_id: str, days: int) -> str:
    """Let whoever has the link vote on a run; its secret, which nothing states again."""
    return guests.make_guest_link(service.database, run_id, by=service.person, days=days)


@requires("change", "run_id")
def end_guest_link(service: AppService, run_id: str, link: str) -> None:
    """Close a link; those who came by it vote no more, and the votes they cast stay."""
    guests.revoke_guest_link(service.database, run_id, link, by=service.person)


@requires("change", "run_id")
def free_guest_seats(service: AppService, run_id: str, link: str) -> int:
    """Send away the guests of a link who cast no vote; how many there were."""
    return guests.free_guest_seats(service.database, run_id, link, by=service.person)


def _voter(service: AppService, stated: str) -> str:
    own = service.owner
    is_alone = service.settings.auth == "token" and not service.person.is_guest
    if stated and stated != own and not is_alone:
        raise NotAllowed("not-allowed-annotate")
    return stated or own
