"""Votes that were collected elsewhere, added to those of a run."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from evalui.errors import DataError
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.runs import read_cells
from evalui.store.voting.ballots import VotingPairs
from evalui.store.voting.votes import VOTE_VALUES, Vote, read_votes, vote_columns
from evalui.types import Verdict

MAX_PEOPLE = 300  # who voted on one run; everybody is compared with everybody
# Votes by the name of their dataset, "" if they state none.
ImportedVotes = Mapping[str, Sequence[Verdict]]


def add_imported_votes(
    database: Database,
    run_id: str,
    imported: ImportedVotes,
    *,
    pairs: VotingPairs,
    reserved: Callable[[str], bool] = lambda _: False,
) -> int:
    """Keep votes collected elsewhere and return how many are new; what is known stays as it is.

    `reserved` states whether a name is of somebody who votes on this server only.

    Raises:
        DataError: a vote is on a pair that the run does not have, or has in several datasets and
            names none, or is a new one under a reserved name, or more than `MAX_PEOPLE` voted;
            nothing is kept.
    """
    names = {row.dataset_key: row.cell.dataset for row in read_cells(database, run_id)}
    tokens: dict[tuple[str, frozenset[str]], dict[str, str]] = defaultdict(dict)
    for name, pair in pairs.items():
        tokens[pair.sample_id, pair.models][names[pair.dataset]] = name
    now = time.time()
    cast = {(vote.by, vote.pair_key) for vote in read_votes(database, run_id)}
    raters = {verdict.rater for verdicts in imported.values() for verdict in verdicts}
    if raters - {by for by, _ in cast} and len(raters | {by for by, _ in cast}) > MAX_PEOPLE:
        raise DataError("vote-many-people", most=MAX_PEOPLE)
    rows: list[tuple[object, ...]] = []
    for dataset, verdicts in imported.items():
        for verdict in verdicts:
            models = frozenset((verdict.duel.model_a, verdict.duel.model_b))
            token = _imported_pair_key(verdict, dataset, tokens[verdict.duel.sample_id, models])
            if reserved(verdict.rater) and (verdict.rater, token) not in cast:
                raise DataError("vote-reserved", person=verdict.rater)
            if verdict.outcome is not None:
                rows.append(
                    vote_columns(run_id, token, _imported_vote(verdict, pairs[token].dataset, now))
                )
    with database.writing(durable=True) as connection:
        added = connection.executemany("INSERT OR IGNORE " + VOTE_VALUES, rows).rowcount
        if added > 0:
            bump_revision(connection, run_id)
    return max(added, 0)


def _imported_pair_key(verdict: Verdict, dataset: str, candidates: Mapping[str, str]) -> str:
    """The pair of a vote; `candidates` are those of its models and question, by dataset."""
    if dataset in candidates:
        return candidates[dataset]
    if dataset or not candidates:
        raise DataError(
            "vote-elsewhere",
            left=verdict.duel.model_a,
            right=verdict.duel.model_b,
            question=verdict.duel.sample_id,
        )
    if len(candidates) > 1:
        raise DataError(
            "vote-dataset", question=verdict.duel.sample_id, datasets=", ".join(candidates)
        )
    return next(iter(candidates.values()))


def _imported_vote(verdict: Verdict, dataset: str, now: float) -> Vote:
    assert verdict.outcome is not None, "an unreadable vote is none"
    return Vote(
        by=verdict.rater,
        dataset=dataset,
        sample_id=verdict.duel.sample_id,
        left=verdict.duel.model_a,
        right=verdict.duel.model_b,
        choice=verdict.outcome,
        comment=verdict.reply,
        created=now,
        imported=True,
    )
