"""An endpoint fails, and a worker is killed, with 256 requests in flight."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from endpoint_flow_examples import Branch, Panel, Place, Shift
from flow_examples import Office, wait_until

from evalui.runs.worker import waiting
from evalui.runs.worker.worker import worker_name
from evalui.store import queue
from evalui.store.runs import read_run
from evalui.types import Trial

WIDTH = 256
ASKED = 200
TRIALS = 4 * ASKED
ANSWERED = 300  # before something happens: more than are in flight
_MEMORY = 400 * 2**20  # bytes that a worker may take
_MORE_MEMORY = 300 * 2**20  # bytes that this process may take more while it works
_SAVED_S = 0.2  # after which an answer is saved
_SLACK_S = 1.0  # on a machine with other work
_SILENCE_S = 10  # after which a request is given up; no machine is so slow
FAULTS = {
    **{name: {"manner": name} for name in ("endless", "drip", "redirect", "drop", "reset", "half")},
    "malformed JSON": {"manner": "malformed"},
    "stall": {"manner": "stall"},
    "429": {"status": 429},
    "500": {"status": 500},
    "503": {"status": 503},
}
CI = ("429", "reset", "malformed JSON")


@pytest.fixture
def branch(tmp_path: Path) -> Iterator[Branch]:
    with closing(opened(tmp_path)) as made:
        yield made


def opened(folder: Path) -> Branch:
    branch = Branch(folder)
    branch.set_options(
        concurrency=WIDTH, retries=0, timeout_s=_SILENCE_S, total_timeout_s=_SILENCE_S
    )
    return branch


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Trial, ...]]:
    with closing(opened(tmp_path_factory.mktemp("undisturbed"))) as branch:
        run_id = branch.queue_questions(ASKED)
        branch.work_here()
        return sorted_trials(branch, run_id)


def sorted_trials(branch: Office, run_id: str) -> list[tuple[Trial, ...]]:
    """The trials of each cell, whatever the order in which they were answered."""
    return [
        tuple(sorted(cell, key=lambda trial: (trial.sample_id, trial.variant.permutation)))
        for cell in branch.trials(run_id)
    ]


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.2)
    monkeypatch.setattr(waiting, "MAX_DELAY_S", 0.5)


@pytest.mark.parametrize(
    "fault",
    [pytest.param(each, marks=pytest.mark.ci if each in CI else ()) for each in FAULTS],
)
def test_nothing_is_lost_and_nothing_that_was_saved_is_asked_again(
    branch: Branch, undisturbed: list[tuple[Trial, ...]], fault: str
):
    run_id = branch.queue_questions(ASKED)
    (place,) = branch.places
    place.be(most=ANSWERED)
    with Shift(branch):
        wait_until(lambda: read_run(branch.database, run_id).done == ANSWERED)
        memory = psutil.Process().memory_info().rss
        place.be(**FAULTS[fault])
        wait_until(
            lambda: (
                branch.waiting(run_id) is not None
                or read_run(branch.database, run_id).state == "failed"
            )
        )
        assert psutil.Process().memory_info().rss - memory < _MORE_MEMORY
        assert read_run(branch.database, run_id).done == ANSWERED
        place.be()
    if read_run(branch.database, run_id).state == "failed":  # its owner has to look
        queue.resume(branch.database, run_id)
        assert branch.work_here()
    assert read_run(branch.database, run_id).state == "done"
    assert sorted_trials(branch, run_id) == undisturbed
    assert noted(place, TRIALS) == Counter(place.answered())


def noted(place: Place, count: int) -> Counter[str]:
    """Each question once, when the server has noted them, a moment after it answered."""
    wait_until(lambda: len(set(place.answered())) == count)
    return Counter(set(place.answered()))


@pytest.mark.ci
@pytest.mark.parametrize("saved", [False, True])
def test_a_killed_worker_has_only_what_was_not_saved_asked_again(
    branch: Branch, undisturbed: list[tuple[Trial, ...]], saved: bool
):
    run_id = branch.queue_questions(ASKED)
    (place,) = branch.places
    place.be(most=ANSWERED)
    worker = branch.start_worker()
    wait_until(lambda: len(place.answered()) == ANSWERED)
    if saved:
        wait_until(lambda: read_run(branch.database, run_id).done == ANSWERED)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    place.kill()  # it holds requests that nobody waits for any more
    done, before = read_run(branch.database, run_id).done, len(place.answered())
    assert (done == ANSWERED) if saved else (done <= ANSWERED)
    place.be()
    place.start()
    assert queue.requeue_lost(branch.database, worker=worker_name(worker.pid)) == 1
    assert branch.work_here()
    assert sorted_trials(branch, run_id) == undisturbed
    wait_until(lambda: len(place.answered()) - before >= TRIALS - done)
    assert len(place.answered()) - before == TRIALS - done


@pytest.mark.parametrize("fault", ["endless", "429", "malformed JSON"])
def test_a_worker_stays_small_while_an_endpoint_fails(branch: Branch, fault: str):
    run_id = branch.queue_questions(ASKED)
    (place,) = branch.places
    place.be(most=ANSWERED)
    worker = psutil.Process(branch.start_worker().pid)
    held: list[int] = []

    def is_over() -> bool:
        held.append(worker.memory_info().rss)
        is_waiting = branch.waiting(run_id) is not None
        return is_waiting or read_run(branch.database, run_id).state == "failed"

    wait_until(lambda: read_run(branch.database, run_id).done == ANSWERED)
    place.be(**FAULTS[fault])
    wait_until(is_over)
    assert max(held) < _MEMORY


@pytest.mark.ci
def test_what_was_answered_a_moment_before_a_kill_is_saved(branch: Branch):
    run_id = branch.queue_questions(1000)
    (place,) = branch.places
    place.be(delay=0.2)
    worker = branch.start_worker()
    wait_until(lambda: len(place.answered()) >= 1500)
    assert psutil.Process(worker.pid).memory_info().rss < _MEMORY
    killed_at = time.time()
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert read_run(branch.database, run_id).done < 4000
    answered = place.answered_before(killed_at - _SAVED_S - _SLACK_S)
    assert 0 < answered <= read_run(branch.database, run_id).done


@pytest.mark.ci
def test_requests_that_are_refused_at_random_wait_and_none_is_lost(
    branch: Branch, undisturbed: list[tuple[Trial, ...]]
):
    run_id = branch.queue_questions(ASKED)
    (place,) = branch.places
    place.be(status=429, share=0.1)
    assert branch.work_here()
    assert read_run(branch.database, run_id).state == "done"
    assert place.refused() > TRIALS / 20
    assert sorted_trials(branch, run_id) == undisturbed
    noted(place, TRIALS)
    assert set(Counter(place.answered()).values()) == {1}


@pytest.mark.ci
def test_a_killed_judge_goes_on_from_the_saved_replies(tmp_path: Path):
    """Contestants and judge are at work when the worker is killed: what is saved is not asked
    again, and verdicts are those of a run that nothing happens to.
    """
    with closing(Panel(tmp_path / "undisturbed", width=WIDTH)) as panel:
        run_id = panel.queue_judged(ASKED)
        panel.work_here()
        expected = sorted_trials(panel, run_id)
        total = sum(map(len, expected))
        wait_until(lambda: panel.answered_in_all() == total)
    with closing(Panel(tmp_path / "killed", width=WIDTH)) as panel:
        run_id = panel.queue_judged(ASKED)
        # A part of the answers is held back, so that both judge and contestants are at work.
        panel.places["other"].be(most=ASKED // 2)
        panel.places["judge"].be(most=ASKED // 4)
        worker = panel.start_worker()
        wait_until(lambda: len(panel.places["judge"].answered()) == ASKED // 4)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        for place in panel.places.values():  # they hold requests that nobody waits for any more
            place.kill()
            place.be()
            place.start()
        done, before = read_run(panel.database, run_id).done, panel.answered_in_all()
        assert 0 < done < total
        assert queue.requeue_lost(panel.database, worker=worker_name(worker.pid)) == 1
        assert panel.work_here()
        assert sorted_trials(panel, run_id) == expected
        wait_until(lambda: panel.answered_in_all() - before >= total - done)
        assert panel.answered_in_all() - before == total - done
