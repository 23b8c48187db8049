"""A model at servers that are killed, overloaded or choosy, in the middle of a run."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from endpoint_flow_examples import ASKED, TRIALS, Branch, Shift
from endpoint_server import REFUSALS
from flow_examples import wait_until

from evalui.models import read_catalog
from evalui.runs.worker import waiting
from evalui.store import queue, usage
from evalui.store.runs import read_cells, read_run
from evalui.store.usage import TokenCost
from evalui.types import Trial

pytestmark = pytest.mark.slow


@pytest.fixture
def branch(tmp_path: Path) -> Iterator[Branch]:
    with closing(Branch(tmp_path)) as opened:
        yield opened


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Branch]:
    """The same with three servers."""
    with closing(Branch(tmp_path, servers=3)) as opened:
        yield opened


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Trial, ...]]:
    """The trials of the same run when nothing happens to it."""
    with closing(Branch(tmp_path_factory.mktemp("undisturbed"))) as opened:
        run_id = opened.queue_questions()
        opened.work_here()
        trials = opened.trials(run_id)
    assert [len(cell) for cell in trials] == [TRIALS]
    return trials


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.2)
    monkeypatch.setattr(waiting, "MAX_DELAY_S", 0.5)


def test_one_of_three_servers_is_killed_and_nothing_is_lost_or_doubled(
    chain: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = chain.queue_questions()
    chain.places[0].be(most=10)
    with Shift(chain):
        wait_until(lambda: len(chain.places[0].answered()) == 10)
        chain.places[0].kill()
    assert read_run(chain.database, run_id).state == "done"
    assert chain.trials(run_id) == expected
    assert set(chain.answered_by_all().values()) == {1}
    assert min(len(place.answered()) for place in chain.places) >= 10
    chain.places[0].start()


def test_a_run_waits_for_servers_that_are_down_and_goes_on_where_it_was(
    branch: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        place.kill()
        wait_until(lambda: branch.waiting(run_id) is not None)
        told = branch.waiting(run_id)
        kept = read_run(branch.database, run_id).done
        place.be()
        place.start()
    assert told
    assert told.reason.startswith("remote cannot be asked now: ")
    assert kept == 50
    assert branch.waiting(run_id) is None
    assert read_run(branch.database, run_id).state == "done"
    assert branch.trials(run_id) == expected
    assert set(branch.answered_by_all().values()) == {1}


def test_an_overloaded_server_costs_time_and_no_answers(
    branch: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        place.be(status=503)
        wait_until(lambda: branch.waiting(run_id) is not None)
        place.be()
    assert branch.trials(run_id) == expected
    assert set(branch.answered_by_all().values()) == {1}


def test_a_waiting_run_is_cancelled_at_once_and_can_be_resumed(
    branch: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        place.be(status=503)
        wait_until(lambda: branch.waiting(run_id) is not None)
        queue.cancel(branch.database, run_id)
        wait_until(lambda: read_run(branch.database, run_id).state == "cancelled", 100)
    kept = read_run(branch.database, run_id).done
    assert kept == 50
    place.be()
    queue.resume(branch.database, run_id)
    assert branch.work_here()
    assert branch.trials(run_id) == expected
    assert set(branch.answered_by_all().values()) == {1}


def test_a_run_whose_server_hangs_is_cancelled_long_before_the_server_times_out(
    branch: Branch,
) -> None:
    text = branch.models.read_text()
    branch.models.write_text(text.replace("timeout_s = 5", "timeout_s = 200"))
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        queue.cancel(branch.database, run_id)
        wait_until(lambda: read_run(branch.database, run_id).state == "cancelled", 100)
        place.kill()


def test_a_server_that_turns_requests_down_fails_the_cell_and_keeps_the_rest(
    branch: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(refuse="What is 7 plus 7?", delay=0)
    assert branch.work_here()
    (cell,) = read_cells(branch.database, run_id)
    assert cell.state == "failed"
    assert cell.error.startswith(f"remote rejected 4 of {TRIALS} requests: ")
    assert "the prompt is too long" in cell.error
    assert cell.done == TRIALS - 4
    wait_until(lambda: len(place.answered()) == cell.done)  # it notes a moment after it answers
    place.be(delay=0)
    queue.resume(branch.database, run_id)
    before = len(place.answered())
    assert branch.work_here()
    assert branch.trials(run_id) == expected
    assert all("What is 7 plus 7?" in prompt for prompt in place.answered()[before:])
    assert set(branch.answered_by_all().values()) == {1}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_reply_that_is_no_answer_fails_the_cell_and_the_run_ends(
    branch: Branch, refusal: str
) -> None:
    run_id = branch.queue_questions(12)
    (place,) = branch.places
    place.be(refuse="What is 7 plus 7?", refusal=refusal, delay=0)
    with Shift(branch):
        pass
    (cell,) = read_cells(branch.database, run_id)
    assert cell.state == "failed"
    assert cell.error.startswith("remote rejected 4 of 48 requests: ")
    assert cell.done == 44


def test_a_worker_asked_to_end_while_it_waits_gives_the_run_back(branch: Branch) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=20)
    worker = branch.start_worker()
    wait_until(lambda: len(place.answered()) == 20)
    place.be(status=503)
    wait_until(lambda: branch.waiting(run_id) is not None)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(100) == 0
    run = read_run(branch.database, run_id)
    assert run.state == "queued"
    assert run.done == 20
    assert branch.waiting(run_id) is None
    place.be()
    assert branch.work_here()
    assert read_run(branch.database, run_id).done == TRIALS
    assert set(branch.answered_by_all().values()) == {1}


def test_every_token_is_counted_once_over_all_lives_of_a_run(branch: Branch) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(refuse="What is 7 plus 7?", delay=0)
    assert branch.work_here()
    place.be(delay=0)
    queue.resume(branch.database, run_id)
    assert branch.work_here()
    catalog = read_catalog(branch.models)
    charge = usage.run_cost(branch.database, run_id, catalog)
    assert charge
    # 40 and 6 tokens for each answer, at $10 and $20 for a million. What the worker asked to find
    # out about the server is paid, too.
    answers = charge.read // 40
    paid = pytest.approx(answers * (400 + 120) / 1e6)
    assert charge == TokenCost(answers * 40, answers * 6, paid)  # pyright: ignore[reportArgumentType] # stands for a float
    assert answers >= TRIALS
    wait_until(lambda: len(place.noted()) >= answers)  # it notes a moment after it answers


@pytest.mark.parametrize(
    ("manner", "told"),
    [
        ("endless", "sends more than 1."),
        ("bomb", "sends more than 1."),
        ("redirect", "points to http://elsewhere.invalid, which is not followed"),
    ],
)
def test_a_server_that_sends_too_much_or_elsewhere_fails_the_cell(
    branch: Branch, manner: str, told: str
) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        place.be(manner=manner)
    (cell,) = read_cells(branch.database, run_id)
    assert cell.state == "failed"
    assert told in cell.error
    assert cell.done == 50


def test_a_run_waits_for_a_server_that_drips(
    branch: Branch, expected: list[tuple[Trial, ...]]
) -> None:
    text = branch.models.read_text()
    branch.models.write_text(text.replace("timeout_s = 5", "timeout_s = 5\ntotal_timeout_s = 2"))
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.be(most=50)
    with Shift(branch):
        wait_until(lambda: len(place.answered()) == 50)
        place.be(manner="drip")
        wait_until(lambda: branch.waiting(run_id) is not None)
        waits = branch.waiting(run_id)
        place.be()
    assert waits
    assert "did not end its answer within 2 seconds" in waits.reason
    assert branch.trials(run_id) == expected


def test_four_replies_to_each_question_are_asked_of_a_server_and_eight_ask_four_more(
    branch: Branch,
) -> None:
    drawn = {"temperature": 0.7, "pattern": "origin"}
    first = branch.queue_questions(repeats=4, **drawn)
    branch.work_here()
    asked = branch.answered_by_all()
    assert len(asked) == ASKED
    assert set(asked.values()) == {4}
    (trials,) = branch.trials(first)
    assert [trial.variant.repeat for trial in trials] == [0, 1, 2, 3] * ASKED
    branch.queue_questions(repeats=8, **drawn)
    branch.work_here()
    assert set(branch.answered_by_all().values()) == {8}
