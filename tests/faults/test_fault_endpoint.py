"""An endpoint fails in each way in the middle of a run, and is mended again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from endpoint_flow_examples import TRIALS, Branch, Shift
from flow_examples import wait_until

from evalui.runs.worker import waiting
from evalui.store import queue
from evalui.store.runs import read_run
from evalui.types import Trial

ANSWERED = 50  # before it fails
_MEMORY = 150 * 2**20  # bytes that the worker may take more meanwhile
MANNERS = ("endless", "drip", "bomb", "redirect", "drop", "reset", "half")
FAULTS = {
    **{name: {"manner": name} for name in MANNERS},
    "malformed JSON": {"manner": "malformed"},
    "stall": {"manner": "stall"},
    "429": {"status": 429},
    "500": {"status": 500},
    "503": {"status": 503},
}


@pytest.fixture
def branch(tmp_path: Path) -> Iterator[Branch]:
    with closing(Branch(tmp_path)) as opened:
        opened.set_options(timeout_s=1, total_timeout_s=1.0)
        yield opened


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Trial, ...]]:
    with closing(Branch(tmp_path_factory.mktemp("undisturbed"))) as opened:
        run_id = opened.queue_questions()
        opened.work_here()
        return opened.trials(run_id)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.2)
    monkeypatch.setattr(waiting, "MAX_DELAY_S", 0.5)


@pytest.mark.parametrize("fault", FAULTS)
def test_no_answer_is_invented_and_the_run_goes_on_when_it_is_mended(
    branch: Branch, undisturbed: list[tuple[Trial, ...]], fault: str
):
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=ANSWERED)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == ANSWERED)
        memory = psutil.Process().memory_info().rss
        place.be(**FAULTS[fault])
        wait_until(
            lambda: (
                branch.waiting(run_id) is not None
                or read_run(branch.database, run_id).state == "failed"
            )
        )
        assert psutil.Process().memory_info().rss - memory < _MEMORY
        kept = branch.trials(run_id)[0]
        assert {trial.reply for trial in kept} <= {trial.reply for trial in undisturbed[0]}
        assert len(kept) <= ANSWERED
        place.be()
    run = read_run(branch.database, run_id)
    if run.state == "failed":  # not what passes by itself: its owner has to look
        assert run.error.endswith(".")
        queue.resume(branch.database, run_id)
        assert branch.work_here()
    assert read_run(branch.database, run_id).state == "done"
    assert branch.trials(run_id) == undisturbed
    assert len(set(place.answered())) == TRIALS
