from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from open_run_examples import CATALOG, RIGHT, WRONG, add_open_run, collected, do_run, open_spec

from evalui.runs.results import read_results
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.store.trials import read_contestants
from evalui.types import Contestant, GeneratedText, Request, Response


def test_answers_that_are_brought_along_are_graded_without_a_model(database: Database):
    run_id = add_open_run(database)
    do_run(database, run_id)
    right, wrong, _ = read_results(database, run_id)
    assert [trial.reading.credit > 0.99 for trial in right.trials] == [True] * 4
    assert [trial.reading.credit for trial in wrong.trials] == [0.0] * 4
    assert [trial.reply for trial in wrong.trials] == ["Lyon", "Milan", "Sevilla", "Bergen"]


def test_the_judge_sees_every_contestant_and_prefers_the_right_one_in_both_orders(
    database: Database,
):
    run_id = add_open_run(database)
    do_run(database, run_id)
    judged = read_results(database, run_id)[-1]
    assert [contestant.name for contestant in judged.contestants] == ["right", "wrong"]
    assert (judged.orders, judged.conflict) == ("double", "tie")
    chosen = {(t.variant.permutation, t.choice) for t in judged.trials}
    assert chosen == {((0, 1), 0), ((1, 0), 1)}
    assert len(judged.trials) == 8


def test_models_and_brought_answers_meet(database: Database):
    run_id = add_open_run(database, open_spec(models=["perfect"]))
    do_run(database, run_id)
    assert read_run(database, run_id).state == "done"
    names = [contestant.name for contestant in read_results(database, run_id)[-1].contestants]
    assert names == ["perfect", "right", "wrong"]


def test_a_conversation_is_as_long_as_its_questions(database: Database):
    run_id = add_open_run(database, brought=(RIGHT, WRONG))
    (contestant, _) = read_contestants(database, read_cells(database, run_id)[-1])
    assert contestant == Contestant("right", {})  # nothing is graded before a worker comes
    do_run(database, run_id)
    (contestant, _) = read_contestants(database, read_cells(database, run_id)[-1])
    assert contestant.answers["capitals/Italy"] == ("Rome",)


def test_a_contestant_that_fails_leaves_a_judgement_that_says_so(database: Database):
    run_id = add_open_run(database, open_spec(models=["perfect"]))
    # The catalog has changed since the run was planned.
    do_run(database, run_id, {name: entry for name, entry in CATALOG.items() if name != "perfect"})
    failed, _, _, judged = read_cells(database, run_id)
    assert (failed.state, judged.state) == ("failed", "failed")
    assert "16 of 24 comparisons are missing" in judged.error
    assert judged.done == 8
    queue.resume(database, run_id)
    do_run(database, run_id)
    assert [cell.state for cell in read_cells(database, run_id)] == ["done"] * 4
    assert read_cells(database, run_id)[-1].done == 24


def test_a_stopped_worker_goes_on_with_what_is_left_of_the_answers(database: Database):
    run_id = add_open_run(database)
    Worker(database, lambda: CATALOG, stopping=lambda: True).run_once(run_id)
    assert read_run(database, run_id).state == "queued"
    do_run(database, run_id)
    assert [cell.done for cell in read_cells(database, run_id)] == [4, 4, 8]


def test_deleting_a_run_deletes_its_answers(database: Database):
    run_id = add_open_run(database)
    queue.delete(database, run_id)
    assert database.rows("SELECT 1 FROM answer") == []


class Mumbling:
    """A judge whose first reply is never readable; the second is."""

    name = "mumbling"
    fingerprint = "m"
    abilities = frozenset({"generate"})

    def __init__(self, second: str) -> None:
        self.second = second
        self.asked = 0

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, _ in enumerate(requests):
            self.asked += 1
            again = self.asked > len(requests) or self.asked > 2
            yield index, GeneratedText(self.second if again else "Hmm.")

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("second", "choice"), [("Choice: A", 0), ("Both have their merits, hmm.", None)]
)
def test_an_unreadable_verdict_is_requested_once_more(
    database: Database, monkeypatch: pytest.MonkeyPatch, second: str, choice: int | None
):
    judge = Mumbling(second)
    monkeypatch.setattr("evalui.runs.worker.worker.open_model", lambda _: judge)
    one = collected("right", France="Paris"), collected("wrong", France="Lyon")
    run_id = add_open_run(database, brought=one)
    do_run(database, run_id)
    trials = read_results(database, run_id)[-1].trials
    assert judge.asked == 4
    assert [(trial.choice, trial.turns) for trial in trials] == [(choice, ("Hmm.", second))] * 2
    assert read_cells(database, run_id)[-1].unreadable == (2 if choice is None else 0)


def test_a_judge_may_have_the_name_of_a_contestant_with_supplied_answers(database: Database):
    named = (RIGHT, replace(WRONG, model="reference-judge"))
    run_id = add_open_run(database, brought=named)
    do_run(database, run_id)
    assert [cell.done for cell in read_cells(database, run_id)] == [4, 4, 8]
