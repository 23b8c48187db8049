"""Replies with thoughts, and letters of a model that was not answering with one, in a cell."""

from collections.abc import Iterator, Sequence

import pytest
from runs_examples import add_run, dataset, spec

from evalui.errors import ModelError
from evalui.models import ModelEntry
from evalui.runs.worker.cell import CellRun
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.trials import read_trials, read_trials_of
from evalui.types import GeneratedText, LabelProbs, Request, Response

REMOTE = ModelEntry("perfect", "openai", path="m")
LOCAL = ModelEntry("perfect", "transformers", path="m")


class Replying:
    """A model that gives its responses in turn, again and again."""

    name = "perfect"
    fingerprint = "f"
    abilities = frozenset({"next_token", "generate"})

    def __init__(self, *responses: Response) -> None:
        self.responses = responses
        self.requests = 0

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index in range(len(requests)):
            self.requests += 1
            yield index, self.responses[(self.requests - 1) % len(self.responses)]

    def close(self) -> None:
        pass


def work(
    database: Database,
    model: Replying,
    mode: str,
    *,
    questions: int = 6,
    worker: str = "worker-1",
    entry: ModelEntry = REMOTE,
) -> None:
    add_run(database, spec(mode=mode), dataset(questions))
    run = queue.claim(database, worker)
    assert run
    cell = read_cells(database, run.id)[0]
    CellRun(database, run.lease, cell, entry, interrupted=lambda: False, on_batch=lambda: None).run(
        model, dataset(questions)
    )  # pyright: ignore[reportArgumentType]


def test_thoughts_are_no_part_of_what_is_read_and_are_kept_apart(database: Database):
    work(
        database,
        Replying(GeneratedText("<think>Is it A? It is A.</think>\n\nB", thoughts="Let me see.")),
        "generation",
    )
    trials = list(read_trials(database, 1))
    assert {trial.reply for trial in trials} == {"B"}
    assert {trial.choice for trial in trials} == {1}
    (trial,) = read_trials_of(database, 1, "sums/3")
    assert (trial.reply, trial.thoughts) == ("B", "Let me see.\n\nIs it A? It is A.")


def test_a_reply_cut_off_within_thoughts_is_refused_and_told_with_the_cure(database: Database):
    cut = GeneratedText("[THINK]The answer is A", finish_reason="length")
    with pytest.raises(ModelError, match="rejected 3 of 6 requests: it used up its tokens"):
        work(database, Replying(cut, GeneratedText("B")), "generation")
    assert [trial.reply for trial in read_trials(database, 1)] == ["B"] * 3


def test_a_reply_that_is_kept_is_refused_again(database: Database):
    model = Replying(GeneratedText("<think>The answer is A", finish_reason="length"))
    for worker in ("worker-1", "worker-2"):
        with pytest.raises(ModelError, match="rejected 6 of 6 requests: it used up its tokens"):
            work(database, model, "generation", worker=worker)
    assert model.requests == 6  # the second run took them from the cache


OPENED = LabelProbs((-3.9, -6.9, -6.9, -6.9), 0.024, "Okay")
LETTER = LabelProbs((-0.1, -3.0, -3.0, -3.0), 0.95, "A")


@pytest.mark.parametrize("questions", [6, 50])
def test_letters_that_hold_next_to_nothing_give_no_figure(database: Database, questions: int):
    model = Replying(OPENED)
    told = "2.4 % of the probability of its first token, which is mostly 'Okay'"
    with pytest.raises(ModelError, match=told):
        work(database, model, "multiple_choice", questions=questions)
    assert list(read_trials(database, 1)) == []
    assert model.requests <= 40


def test_one_such_question_among_others_is_an_answer_like_any(database: Database):
    work(database, Replying(LETTER, OPENED), "multiple_choice")
    assert len(list(read_trials(database, 1))) == 6


def test_a_model_on_this_machine_is_stopped_where_a_thought_stands_first(database: Database):
    thinks = LabelProbs(OPENED.logprobs, OPENED.mass, "<think>")
    with pytest.raises(ModelError, match="which is mostly '<think>'"):
        work(database, Replying(thinks), "multiple_choice", entry=LOCAL)
    assert list(read_trials(database, 1)) == []


def test_a_model_on_this_machine_that_begins_with_a_word_keeps_its_figure(database: Database):
    work(database, Replying(OPENED), "multiple_choice", entry=LOCAL)
    assert len(list(read_trials(database, 1))) == 6
