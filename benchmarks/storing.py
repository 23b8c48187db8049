"""Runs on disk: planning what is asked and keeping what is answered."""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.contest import Session, alone
from benchmarks.questions import questions
from benchmarks.queueing import queue_run
from benchmarks.rows import Goal, Row
from evalui.modes import MODES, Mode, ModeSettings
from evalui.runs.worker.in_flight import InFlightBatch
from evalui.scoring.choice.options import variants
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.response_cache import KeptResponse
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.types import LabelProbs, Pattern, Sample, Trial, Variant

GROUP = "storing"
_FULL = 100_000  # trials
_BATCH = 4096
Pairs = Sequence[tuple[Sample, Variant]]
Kept = tuple[list[Trial], list[KeptResponse]]


def rows(session: Session) -> Iterator[Row]:
    """MCP in four orders: planned and stored."""
    for trials in session.scaled(_FULL):
        samples = questions(trials // 4)
        pairs = [(sample, order) for sample in samples for order in variants(4, "circular")]
        batches = [pairs[start : start + _BATCH] for start in range(0, len(pairs), _BATCH)]
        kept = answered(batches)
        yield alone(
            GROUP,
            "plan and store",
            len(pairs),
            "trials",
            _in_a_store(
                samples, "circular", lambda database, b=batches, a=kept: _keep(database, b, a)
            ),
            session,
            goal=Goal("rate", 20_000) if trials == _FULL else None,
            found="submitting, planning every request, writing trials and responses",
        )


def _in_a_store(
    samples: Sequence[Sample], pattern: Pattern, action: Callable[[Database], None]
) -> Callable[[], None]:
    """The action on a new store in which a run of these questions is queued; all of it timed."""

    def act() -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = Database(Path(folder) / "store.sqlite")
            queue_run(database, samples, ["noisy"], mode="multiple_choice", pattern=pattern)
            action(database)
            database.close()

    return act


def _mode() -> tuple[Mode, ModeSettings]:
    return MODES["multiple_choice"], ModeSettings(shots={})


def _keep(database: Database, batches: Sequence[Pairs], answered: Sequence[Kept]) -> None:
    run = queue.claim(database, "bench")
    assert run, "it was queued just now"
    (cell,) = read_cells(database, run.id)
    queue.start_cell(database, run.lease, cell.id, "bench")
    mode, setting = _mode()
    for pairs, (trials, responses) in zip(batches, answered, strict=True):
        InFlightBatch(pairs, mode, setting, "bench")
        write_trials(database, run.lease, cell.id, trials, responses)
    assert read_cells(database, run.id)[0].done == sum(len(pairs) for pairs in batches)


def answered(batches: Sequence[Pairs]) -> list[Kept]:
    """The trials and responses that a model would have brought about."""
    rng = random.Random(0)
    mode, setting = _mode()
    kept: list[Kept] = []
    for pairs in batches:
        window = InFlightBatch(pairs, mode, setting, "bench")
        trials: list[Trial] = []
        responses: list[KeptResponse] = []
        for ask in window.unanswered():
            logprobs = tuple(-3 * rng.random() for _ in range(4))
            response = LabelProbs(logprobs, mass=0.9, top_token="A")
            trials += window.add_response(ask, response)
            if key := window.keys[ask]:
                responses.append(KeptResponse(key, response, None))
        kept.append((trials, responses))
    return kept
