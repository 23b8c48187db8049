"""The store: everything a run was, is and will be, in one SQLite file.

This is the whole list of what it can do; the statements are in the modules named after the nouns.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from sqlite3 import Row
from typing import Any

from evalui.errors import UnknownRun
from evalui.runs import ballots as drawn
from evalui.runs.access import LOCAL
from evalui.runs.ballots import Ballot
from evalui.runs.cells import CellPlan
from evalui.runs.database import (
    answers,
    question_pages,
    queue,
    response_cache,
    sent_prompts,
    throughput,
    trials,
    usage,
    votes,
)
from evalui.runs.database import datasets as stored
from evalui.runs.database.codec import decode_left_out, decode_sentence
from evalui.runs.database.connection import Database
from evalui.runs.database.records import (
    CellRow,
    DatasetRow,
    Facets,
    Lease,
    OutcomeFilter,
    QuestionDetail,
    QuestionPage,
    RunRow,
)
from evalui.runs.database.votes import ImportedVotes, Vote, VoteInput, VotingPairs, VotingProgress
from evalui.runs.left_out import with_impossible_cells
from evalui.runs.results_cache import ResultCache
from evalui.runs.signature import with_fingerprint
from evalui.runs.spec import ModeSpec, RunSpec
from evalui.types import (
    Cell,
    CellResult,
    Contestant,
    Dataset,
    LeftOut,
    Response,
    Trial,
    Variant,
    Verdict,
)

_PAIR_CACHE_BYTES = 64 * 2**20  # bytes of pairs that stay in memory
_RUNS_SQL = """
    SELECT r.*, coalesce(sum(c.done), 0) AS done,
        coalesce(sum(c.total) FILTER (WHERE c.state != 'impossible'), 0) AS total
    FROM run r LEFT JOIN cell c ON c.run = r.id
"""


class Store:
    """Runs, their trials, their datasets and the cache; safe to share between threads.

    Every method may raise `StoreError`; those that take a run's id raise `UnknownRun`. Methods
    that take a `Lease` are for the worker that holds the run and raise `RunLeaseLost` to all
    others.
    """

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        # Every vote needs all pairs of its run in order.
        self._pairs = ResultCache(_PAIR_CACHE_BYTES).memoize(self._load_pairs)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    # Datasets

    def add_dataset(
        self,
        dataset: Dataset,
        owner: str = LOCAL,
        paths: Sequence[str] = (),
        faults: int = 0,
    ) -> str:
        """Keep a dataset and return its key."""
        return stored.add_dataset(self.database, dataset, owner, paths, faults)

    def datasets(self, owner: str = LOCAL) -> list[DatasetRow]:
        """What an owner has uploaded, newest first."""
        return stored.datasets(self.database, owner)

    def dataset(self, key: str, owner: str = LOCAL) -> Dataset:
        """A stored dataset."""
        return stored.dataset(self.database, key, owner)

    def dataset_of(self, cell_id: int) -> Dataset:
        """The dataset of a cell."""
        return stored.dataset_of_cell(self.database, cell_id)

    # Runs, as a page sees them

    def create_run(
        self,
        spec: RunSpec,
        plans: Sequence[CellPlan],
        owner: str = LOCAL,
        *,
        left_out: Sequence[LeftOut] = (),
    ) -> str:
        """Queue a run and return its id; its datasets are in the store already.

        Raises:
            SpecError: no cell can run.
        """
        return queue.create_run(
            self.database, spec, plans, owner, left_out=left_out, now=time.time()
        )

    def run(self, run_id: str) -> RunRow:
        """One run."""
        row = self.database.row(_RUNS_SQL + "WHERE r.id = ? GROUP BY r.id", (run_id,))
        if row is None:
            raise UnknownRun("no-run", run=run_id)
        return _run_row(row)

    def runs(self, owner: str = LOCAL) -> list[RunRow]:
        """The runs of an owner, newest first."""
        rows = self.database.rows(
            _RUNS_SQL + "WHERE r.owner = ? GROUP BY r.id ORDER BY r.created DESC, r.rowid DESC",
            (owner,),
        )
        return [_run_row(row) for row in rows]

    def cells(self, run_id: str) -> list[CellRow]:
        """The cells of a run in the order they are done in."""
        self.run(run_id)
        rows = self.database.rows(
            "SELECT c.*, d.key AS dataset_key FROM cell c JOIN dataset d ON d.id = c.dataset"
            " WHERE c.run = ? ORDER BY c.place",
            (run_id,),
        )
        return [_cell_row(row) for row in rows]

    def left_out(self, run_id: str) -> tuple[LeftOut, ...]:
        """What the run was given and does not evaluate, the cells that cannot run among it."""
        cells = self.cells(run_id)
        row = self.database.row("SELECT left_out FROM run WHERE id = ?", (run_id,))
        return with_impossible_cells(decode_left_out(row["left_out"]) if row else (), cells)

    def queue_position(self, run_id: str) -> int | None:
        """How many queued runs come first, of all owners; None if the run does not wait."""
        row = self.database.row(
            "SELECT count(o.id) AS older FROM run r LEFT JOIN run o ON o.state = 'queued'"
            " AND (o.queued, o.rowid) < (r.queued, r.rowid)"
            " WHERE r.id = ? AND r.state = 'queued' GROUP BY r.id",
            (run_id,),
        )
        return None if row is None else row["older"]

    def revision(self, run_id: str = "") -> int:
        """A number that grows with every change of the run, or of any run."""
        if run_id:
            return self.run(run_id).revision
        row = self.database.row("SELECT revision FROM clock")
        return row["revision"] if row else 0

    def remaining_seconds(self, run_id: str) -> float | None:
        """Seconds until the run is done; None while nobody answers, or a cell was never timed."""
        if usage.model_waits(self.database, run_id):
            return None
        return throughput.remaining_seconds(
            self.cells(run_id), throughput.throughputs(self.database)
        )

    def cancel(self, run_id: str) -> None:
        """Stop a run: at once if it waits, after the batch in hand if it runs."""
        queue.cancel(self.database, run_id)

    def resume(self, run_id: str) -> None:
        """Queue a failed or cancelled run again; only unfinished cells are done."""
        queue.resume(self.database, run_id)

    def delete(self, run_id: str) -> None:
        """Delete a run with its trials; its worker stops at its next batch."""
        queue.delete(self.database, run_id)

    # Results

    def results(self, run_id: str) -> tuple[CellResult, ...]:
        """All cells of a run with their trials so far, in order."""
        return tuple(trials.result(self.database, row) for row in self.cells(run_id))

    def result(self, run_id: str, cell_id: int) -> CellResult:
        """One cell of a run with its trials so far; raises `UnknownRun` if it has no such cell."""
        for row in self.cells(run_id):
            if row.id == cell_id:
                return trials.result(self.database, row)
        raise UnknownRun("run-cell", run=run_id, cell=cell_id)

    def trials(self, cell_id: int) -> tuple[Trial, ...]:
        """All trials of a cell, questions in file order and variants in pattern order."""
        return trials.trials(self.database, cell_id)

    def done_keys(self, cell_id: int) -> frozenset[tuple[str, Variant]]:
        """The samples and variants of a cell that are done."""
        return trials.done_keys(self.database, cell_id)

    def page(
        self,
        cell_id: int,
        *,
        outcome: OutcomeFilter = "",
        subject: str = "",
        rule: str = "",
        gold_slot: int | None = None,
        picked_slot: int | None = None,
        find: str = "",
        offset: int = 0,
        limit: int = 100,
    ) -> QuestionPage:
        """The questions of a cell that pass every filter, in file order, from `offset` on.

        `wrong` and `right` speak of the file's own order; `order_sensitive` is right in some
        orders and not in all. `rule`, `gold_slot` and `picked_slot` must meet in one trial.
        """
        return question_pages.page(
            self.database,
            cell_id,
            outcome=outcome,
            subject=subject,
            rule=rule,
            gold_slot=gold_slot,
            picked_slot=picked_slot,
            find=find,
            offset=offset,
            limit=limit,
        )

    def facets(self, cell_id: int) -> Facets:
        """What the questions of a cell can be filtered by."""
        return question_pages.facets(self.database, cell_id)

    def has_question(self, cell_id: int, sample_id: str) -> bool:
        """Whether the cell has this question."""
        return question_pages.has_question(self.database, cell_id, sample_id)

    def question(self, cell_id: int, sample_id: str) -> QuestionDetail:
        """One question with its trials in variant order."""
        return question_pages.question(self.database, cell_id, sample_id)

    def prompts(self, row: CellRow, sample_id: str) -> tuple[sent_prompts.SentPrompt, ...]:
        """What the model was asked about one question, in variant order."""
        dataset = stored.dataset_of_cell(self.database, row.id)
        sample = question_pages.question(self.database, row.id, sample_id).sample
        mode = ModeSpec.model_validate_json(row.plan)
        contestants = self.contestants(row) if mode.judging else ()
        return sent_prompts.prompts(mode, row.cell.pattern, dataset, sample, contestants)

    def contestants(self, row: CellRow) -> tuple[Contestant, ...]:
        """Everybody who answers the dataset of a cell in its run, with the answers so far."""
        return answers.contestants(self.database, row.run_id, row.dataset_key)

    def recorded_answers(self, cell_id: int) -> Mapping[str, tuple[str, ...]]:
        """The answers that a cell has brought along, by sample."""
        return answers.recorded_answers(self.database, cell_id)

    # Votes; `person` is the name of whoever casts them

    def ballots(self, run_id: str, person: str, preferred: str = "") -> tuple[Ballot, ...]:
        """The pair to vote on and the one after it, the wished one first if it is open."""
        known = self._pairs_of(run_id)
        return votes.next_ballots(self.database, run_id, person, pairs=known, preferred=preferred)

    def cast(self, run_id: str, person: str, mark: VoteInput) -> None:
        """Keep a vote on a pair; raises `StoreError` after `finish_votes`."""
        votes.cast(self.database, run_id, person, mark, pairs=self._pairs_of(run_id))

    def undo(self, run_id: str, person: str) -> str:
        """Take back the last vote and return its pair, "" if there is none."""
        return votes.undo(self.database, run_id, person)

    def finish_votes(self, run_id: str, person: str) -> None:
        """Show the person the names from now on, and take no more votes of theirs."""
        votes.finish_voting(self.database, run_id, person)

    def votes(self, run_id: str) -> tuple[Vote, ...]:
        """Everything people said of a run, skipped pairs too, as they said it."""
        return votes.votes(self.database, run_id)

    def verdicts(self, run_id: str, dataset: str) -> tuple[Verdict, ...]:
        """What people said of one dataset of a run, named by its key."""
        return votes.verdicts(self.database, run_id, dataset)

    def voting_progress(self, run_id: str, person: str) -> VotingProgress:
        """How far one person and all together are."""
        return votes.voting_progress(self.database, run_id, person, pairs=self._pairs_of(run_id))

    def add_votes(self, run_id: str, given: ImportedVotes) -> int:
        """Keep votes collected elsewhere, by dataset, and return how many are new."""
        return votes.add_imported(self.database, run_id, given, pairs=self._pairs_of(run_id))

    def _pairs_of(self, run_id: str) -> VotingPairs:
        return self._pairs(run_id, drawn.count_answers(self.database, run_id))

    def _load_pairs(self, run_id: str, answers: int) -> VotingPairs:
        del answers  # part of the key: more answers, more pairs
        return drawn.voting_pairs(self.database, run_id)

    # The worker's side

    def claim(self, worker: str, run_id: str = "") -> RunRow | None:
        """Take the oldest queued run, or the one named; None if there is nothing to do."""
        taken = queue.claim(self.database, worker, run_id)
        return self.run(taken) if taken else None

    def heartbeat(self, lease: Lease) -> bool:
        """Say that the worker lives; False if the run is no longer its own."""
        return queue.heartbeat(self.database, lease)

    def check(self, lease: Lease) -> None:
        """Raise `Cancelled` if the run was stopped, `RunLeaseLost` if it is no longer ours."""
        queue.check_lease(self.database, lease)

    def start_cell(self, lease: Lease, cell_id: int, fingerprint: str) -> None:
        """Mark a cell as running with this model."""
        queue.start_cell(self.database, lease, cell_id, fingerprint)

    def write_trials(
        self,
        lease: Lease,
        cell_id: int,
        trials_: Sequence[Trial],
        responses: Sequence[tuple[bytes, Response]] = (),
    ) -> None:
        """Keep a batch of trials and of responses, all at once; repeating is harmless."""
        trials.write_trials(self.database, lease, cell_id, trials_, responses)

    def finish_cell(self, lease: Lease, cell_id: int, error: str = "", traceback: str = "") -> None:
        """Mark a cell as done, or as failed if there is an error."""
        queue.finish_cell(self.database, lease, cell_id, error, traceback)

    def finish(self, lease: Lease) -> None:
        """End a run: failed if a cell failed, else done."""
        queue.finish(self.database, lease)

    def fail(self, lease: Lease, error: str, traceback: str = "") -> None:
        """End a run that cannot go on."""
        queue.fail(self.database, lease, error, traceback)

    def finish_cancelled(self, lease: Lease) -> None:
        """End a run that its owner has cancelled."""
        queue.finish_cancelled(self.database, lease)

    def release(self, lease: Lease) -> None:
        """Give a run back to the queue, to go on where it is."""
        queue.release(self.database, lease)

    def requeue_stale(self, older_than_s: float) -> int:
        """Give back the runs whose worker has been silent for so long; how many there were."""
        return queue.requeue_lost(self.database, silent_s=older_than_s)

    def requeue_worker(self, worker: str) -> int:
        """Give back the runs of a worker that is known to be dead; how many there were."""
        return queue.requeue_lost(self.database, worker=worker)

    # The cache and the clock

    def responses(self, keys: Sequence[bytes]) -> dict[bytes, Response]:
        """The responses that are kept under these keys."""
        return response_cache.get_responses(self.database, keys)

    def cached(self, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]) -> tuple[int, ...]:
        """For each plan, how many of its requests are already answered, for `estimate`."""
        return throughput.count_cached(self.database, plans, datasets)


def _run_row(row: Row) -> RunRow:
    values: dict[str, Any] = {name: row[name] for name in RunRow.__slots__}
    values["cancelling"] = bool(row["cancelling"])
    values["error"] = decode_sentence(row["error"])
    return RunRow(**values)


def _cell_row(row: Row) -> CellRow:
    signature = with_fingerprint(row["signature"], row["fingerprint"])
    cell = Cell(
        row["dataset_name"], row["model"], row["mode"], row["label"], row["pattern"], signature
    )
    plain = [name for name in CellRow.__slots__ if name not in ("run_id", "cell", "error")]
    values = {name: row[name] for name in plain}
    return CellRow(run_id=row["run"], cell=cell, error=decode_sentence(row["error"]), **values)
