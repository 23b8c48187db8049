from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from runs_examples import CATALOG, add_run

from evalui.errors import ModelError, Unreachable
from evalui.messages import Sentence
from evalui.models import Model, ModelEntry, open_model
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.runs.worker.in_flight import InFlightBatch
from evalui.runs.worker.model_tests import (
    MAX_LOSSES,
    claim_model_test,
    finish_model_test,
    model_test_of_worker,
    model_tests,
    queue_model_test,
    release_model_test,
    requeue_model_tests,
    run_model_test,
)
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.runs.worker.worker import Worker, worker_name
from evalui.store.connection import Database
from evalui.store.runs import read_runs, read_workers
from evalui.types import Decide, Decision, Generate, GeneratedText, Request, Response, Usage

ME = "local"


def scripted(rule: str, **options: object) -> ModelEntry:
    return ModelEntry(rule, "scripted", options={"rule": rule} | options)


def tried(database: Database, entry: ModelEntry, opener=open_model):
    queue_model_test(database, entry, ME)
    assert Worker(database, dict, name="w:1", opener=opener).run_test_once()
    return model_tests(database, ME)[entry.name]


class Far:
    """An endpoint that writes, and has gone when it is asked for probabilities."""

    name, fingerprint = "far", "far"
    abilities = frozenset({"next_token", "generate"})
    closed = False

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, request in enumerate(requests):
            if not isinstance(request, Generate):
                raise Unreachable(Sentence("Nobody answers."))
            yield index, GeneratedText("Rome", Usage(9, 12))

    def close(self) -> None:
        self.closed = True


class Decider:
    """An endpoint that only decides: for Paris, wherever it stands."""

    name, fingerprint = "decider", "decider"
    abilities = frozenset({"decide"})

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, request in enumerate(requests):
            assert isinstance(request, Decide)
            texts = [text for _, text in request.options]
            shares = tuple(0.7 if text == "Paris" else 0.1 for text in texts)
            yield index, Decision(shares, texts.index("Paris"))

    def close(self) -> None:
        pass


def test_a_model_that_only_decides_is_tried_by_a_decision(database: Database):
    (decided,) = tried(database, scripted("decider"), lambda _: Decider()).ability_tests
    assert (decided.ability, decided.mode, decided.problem) == ("decide", "multiple_choice", "")
    assert (decided.answer, decided.correct, decided.requests) == ("Paris", True, 3)
    assert decided.probability == pytest.approx(0.7)


def test_each_ability_is_tried_for_real(database: Database):
    trial = tried(database, scripted("perfect"))
    assert trial.state == "done"
    assert trial.load_s is not None
    letters, texts, replies = trial.ability_tests
    assert (letters.ability, letters.answer, letters.correct) == ("next_token", "Paris", True)
    assert letters.probability == pytest.approx(1, abs=0.01)
    assert letters.requests == 3  # the other orders; the first warmed it up
    assert (texts.ability, texts.answer, texts.correct) == ("loglik", "Paris", True)
    assert replies.answer == "The capital of Italy is Rome."
    assert replies.tokens == 7


def test_a_wrong_answer_is_reported_as_wrong(database: Database):
    letters, _ = tried(database, scripted("always-A")).ability_tests
    assert (letters.answer, letters.correct) == ("Oslo", False)


def test_a_judge_is_prompted_for_a_verdict(database: Database):
    (verdict,) = tried(database, scripted("reference-judge", role="judge")).ability_tests
    assert verdict.mode == "judge"
    assert "Choice: A" in verdict.answer


def test_a_model_that_cannot_be_opened_says_why(database: Database):
    trial = tried(database, scripted("nobody"))
    assert (trial.state, trial.load_s, trial.ability_tests) == ("failed", None, ())
    assert "'nobody' is unknown" in trial.error


def test_one_ability_may_fail_and_the_others_stand(database: Database):
    far = Far()
    trial = tried(database, ModelEntry("far", "openai"), opener=lambda _: far)
    letters, replies = trial.ability_tests
    assert trial.state == "done"
    assert (letters.problem, letters.answer) == ("Nobody answers.", "")
    assert (replies.answer, replies.tokens) == ("Rome", 12)
    assert far.closed


def test_where_every_ability_fails_the_trial_has_failed(database: Database):
    far = Far()
    far.abilities = frozenset({"next_token"})
    trial = tried(database, ModelEntry("far", "openai"), opener=lambda _: far)
    assert (trial.state, trial.error) == ("failed", "Nobody answers.")


def test_an_unforeseen_error_ends_the_trial(database: Database):
    def broken(_: ModelEntry) -> Model:
        raise ZeroDivisionError("half")

    trial = tried(database, scripted("perfect"), opener=broken)
    assert trial.state == "failed"
    assert trial.error.startswith("An unexpected error ended this: ZeroDivisionError: half. ")
    assert read_workers(database)[0].model == ""


def test_a_model_that_leaves_questions_open_is_reported(database: Database):
    class Mute(Far):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            del requests
            yield from ()

    trial = tried(database, ModelEntry("far", "openai"), opener=lambda _: Mute())
    assert "left 1 of 1 requests unanswered" in trial.error


def test_trials_come_in_order_and_runs_wait(database: Database):
    add_run(database)
    queue_model_test(database, scripted("perfect"), ME)
    queue_model_test(database, scripted("noisy"), ME)
    worker = Worker(database, lambda: CATALOG, name="w:1")
    assert worker.run_test_once()
    states = {name: trial.state for name, trial in model_tests(database, ME).items()}
    assert states == {"perfect": "done", "noisy": "queued"}
    assert read_runs(database)[0].state == "queued"
    assert worker.run_test_once()
    assert not worker.run_test_once()
    assert worker.run_once()


def test_a_trial_on_its_way_is_not_doubled_and_a_new_one_takes_the_place_of_the_last(
    database: Database,
):
    first = queue_model_test(database, scripted("perfect"), ME)
    assert queue_model_test(database, scripted("perfect"), ME) == first
    tried(database, scripted("perfect"))
    queue_model_test(database, scripted("perfect"), ME)
    (count,) = database.rows("SELECT count(*) AS n FROM trial_of_model")
    assert count["n"] == 1
    assert model_tests(database, ME)["perfect"].state == "queued"


def test_every_owner_has_tests_of_their_own(database: Database):
    queue_model_test(database, scripted("perfect"), ME)
    assert model_tests(database, "bob") == {}


def test_a_trial_of_a_dead_worker_is_queued_again_until_it_has_killed_too_many(database: Database):
    queue_model_test(database, scripted("perfect"), ME)
    for _ in range(MAX_LOSSES - 1):
        assert claim_model_test(database, "dead")
        assert requeue_model_tests(database) == 1
        assert model_tests(database, ME)["perfect"].state == "queued"
    assert claim_model_test(database, "dead")
    requeue_model_tests(database)
    trial = model_tests(database, ME)["perfect"]
    assert trial.state == "failed"
    assert trial.error.startswith(f"The worker died {MAX_LOSSES} times")


@pytest.mark.parametrize(("over", "state"), [(False, "failed"), (True, "queued")])
def test_a_worker_that_the_servers_own_end_killed_is_no_loss(
    database: Database, over: bool, state: str
):
    ended = WorkerSupervisor(database, Path("models.toml"), devices=())
    if over:
        ended.stop()
    queue_model_test(database, scripted("perfect"), ME)
    for _ in range(MAX_LOSSES):
        assert claim_model_test(database, worker_name(4711))
        ended._requeue(4711, -9)  # pyright: ignore[reportPrivateUsage]
    assert model_tests(database, ME)["perfect"].state == state


def test_a_trial_of_another_version_is_none_and_stops_no_other(database: Database):
    queue_model_test(database, scripted("noisy"), ME)
    with database.writing() as connection:
        connection.execute("UPDATE trial_of_model SET entry = json_set(entry, '$.colour', 'red')")
    queue_model_test(database, scripted("perfect"), ME)
    assert list(model_tests(database, ME)) == ["perfect"]
    assert claim_model_test(database, "w:1") is None
    claimed = claim_model_test(database, "w:1")
    assert claimed
    assert claimed.model == "perfect"
    assert model_test_of_worker(database, "w:1") == claimed


def test_a_trial_of_a_worker_that_lives_stays_with_it(database: Database):
    WorkerStatus(database, "w:1").update()
    queue_model_test(database, scripted("perfect"), ME)
    claimed = claim_model_test(database, "w:1")
    assert requeue_model_tests(database) == 0
    assert model_test_of_worker(database, "w:1") == claimed
    assert requeue_model_tests(database, worker="w:1") == 1


def test_a_trial_of_a_worker_that_fell_silent_is_queued_again(database: Database):
    WorkerStatus(database, "w:1").update()
    queue_model_test(database, scripted("perfect"), ME)
    claim_model_test(database, "w:1")
    with database.writing() as connection:
        connection.execute("UPDATE worker SET seen = seen - 21")
    assert requeue_model_tests(database) == 1


def test_who_has_lost_a_trial_writes_nothing(database: Database):
    queue_model_test(database, scripted("perfect"), ME)
    lost = claim_model_test(database, "slow")
    assert lost
    requeue_model_tests(database, worker="slow")
    claim_model_test(database, "quick")
    finish_model_test(database, replace(lost, error="Too late."))
    release_model_test(database, lost)
    trial = model_tests(database, ME)["perfect"]
    assert (trial.state, trial.worker, trial.error) == ("running", "quick", "")


def test_ctrl_c_gives_the_trial_back(database: Database):
    def interrupt(_: ModelEntry) -> Model:
        raise KeyboardInterrupt

    queue_model_test(database, scripted("perfect"), ME)
    with pytest.raises(KeyboardInterrupt):
        Worker(database, dict, name="w:1", opener=interrupt).run_test_once()
    assert model_tests(database, ME)["perfect"].state == "queued"


def test_the_worker_shows_what_it_tries(database: Database):
    seen: list[tuple[str, str]] = []

    def look(entry: ModelEntry) -> Model:
        seen.extend((row.model, row.device) for row in read_workers(database))
        return open_model(entry)

    tried(database, scripted("perfect"), opener=look)
    assert seen == [("perfect", "")]
    assert read_workers(database)[0].is_busy is False


def test_a_refusal_to_load_is_an_outcome(database: Database):
    queue_model_test(database, scripted("perfect"), ME)
    trial = claim_model_test(database, "w:1")
    assert trial

    def refuse(_: ModelEntry) -> Model:
        raise ModelError(Sentence("No room."))

    assert run_model_test(trial, refuse, on_loaded=lambda: None).error == "No room."


def test_what_grading_takes_is_no_part_of_the_speed(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    accept = InFlightBatch.add_response

    def slowly(window: InFlightBatch, ask: int, response: Response) -> object:
        spent.append(100.0)
        return accept(window, ask, response)

    spent: list[float] = []
    monkeypatch.setattr(InFlightBatch, "add_response", slowly)
    monkeypatch.setattr("evalui.runs.worker.model_tests.time.monotonic", lambda: sum(spent))
    ability_tests = tried(database, scripted("always-A")).ability_tests
    assert spent
    assert [each.seconds for each in ability_tests] == [0.0] * len(ability_tests)


def test_the_notes_of_a_model_are_kept_and_can_be_translated(database: Database):
    class Slow(Far):
        notes = (Sentence("Scored prompt by prompt: bloom.", "error.no-tree", {"kind": "bloom"}),)

    (note,) = tried(database, ModelEntry("slow", "openai"), lambda _: Slow()).notes
    assert note == "Scored prompt by prompt: bloom."
    assert isinstance(note, Sentence)
    assert note.values == {"kind": "bloom"}


@pytest.mark.parametrize(
    ("written", "answer", "problem"),
    [
        ("<think>Paris? No.</think>\n\nRome", "Rome", ""),
        ("<think>Paris? No", "", "used up its tokens before the reply began"),
    ],
)
def test_what_a_model_thinks_first_is_no_answer(
    database: Database, written: str, answer: str, problem: str
):
    class Thinking(Far):
        abilities = frozenset({"generate"})

        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            for index in range(len(requests)):
                yield index, GeneratedText(written, finish_reason="length")

    trial = tried(database, ModelEntry("far", "openai"), opener=lambda _: Thinking())
    (replies,) = trial.ability_tests
    assert replies.answer == answer
    assert problem in replies.problem
