"""A model whose chat template opens thoughts, behind vLLM, in its process, and in transformers.

Forced, by weights set by hand: the words of the thought, that it is closed, and the probabilities
of the letters after it. Everything between a question and its figure is real.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from conftest import serving
from thinking_model import LETTERS, QUESTION, REPLY, THINKING_OFF, THOUGHT, save_thinking_model
from vllm_questions import answer

from evalui.errors import EvaluiError, MissingAbility, RequestRejected
from evalui.models import Model, ModelEntry, describe, open_model
from evalui.replies import without_thoughts
from evalui.runs.plan import plan_run
from evalui.runs.results import read_results
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.trials import read_trials_of
from evalui.types import (
    Dataset,
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Sample,
    Trial,
)

ITEMS = 8
OFF: dict[str, Any] = {"extra_body": {"chat_template_kwargs": THINKING_OFF}}
ASKED = NextToken(QUESTION, tuple(LETTERS))
CURE = r"turn(ed|) (thinking )?off \(options.extra_body, as in chat_template_kwargs = "
SCHEMA = (
    '{"type": "object", "properties": {"letter": {"enum": ["B"]}}, "required": ["letter"],'
    ' "additionalProperties": false}'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("thinking")
    save_thinking_model(place)
    return place


@pytest.fixture(scope="module", params=[(), ("--reasoning-parser", "qwen3")], ids=["raw", "parser"])
def served(
    request: pytest.FixtureRequest,
    python: str,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ModelEntry]:
    """The entry of the model at a server, without and with vLLM's own parser of thoughts."""
    with serving(python, folder, tmp_path_factory.mktemp("server"), *request.param) as url:
        options = {"base_url": url}
        yield ModelEntry("thinker", "openai", "demo", chat=True, max_length=510, options=options)


@pytest.fixture(scope="module", params=["transformers", "vllm"])
def local(request: pytest.FixtureRequest, folder: Path) -> ModelEntry:
    """The entry of the model on this machine."""
    entry = ModelEntry("thinker", request.param, str(folder), dtype="float32", device="cpu")
    entry = replace(entry, chat=True, max_length=510)
    if request.param == "transformers":
        return entry
    return replace(entry, options={"python": request.getfixturevalue("python"), "eager": True})


@pytest.fixture(scope="module")
def opened(local: ModelEntry) -> Iterator[Model]:
    model = open_model(local)
    yield model
    model.close()


def with_options(entry: ModelEntry, options: dict[str, Any]) -> ModelEntry:
    return replace(entry, options=entry.options | options)


def dataset() -> Dataset:
    """Questions of which the letter that the model replies is right in one of four."""
    samples = [
        Sample(f"items/{number}", f"Item {number}?", ("one", "two", "three", "four"), number % 4)
        for number in range(ITEMS)
    ]
    return Dataset("items", "multiple_choice", tuple(samples), sha256="1" * 64)


@dataclass(frozen=True)
class Outcome:
    """What a run of one cell leaves in the store."""

    trials: tuple[Trial, ...]
    signature: str
    error: str


def run(entry: ModelEntry, store: Path, **mode: Any) -> Outcome:
    """One run of one cell."""
    spec = RunSpec.model_validate({"datasets": ["items"], "models": [entry.name], "modes": [mode]})
    database = Database(store / "store.sqlite")
    plans = plan_run(spec, {"items": dataset()}, {entry.name: entry})
    add_dataset(database, dataset())
    run_id = create_run(database, spec, plans)
    Worker(database, lambda: {entry.name: entry}, name="here").run_once()
    (result,) = read_results(database, run_id)
    (row,) = database.rows("SELECT id FROM cell WHERE run = ?", (run_id,))
    questions = [read_trials_of(database, row["id"], item.id) for item in dataset().samples]
    outcome = Outcome(sum(questions, ()), result.cell.signature, result.error)
    database.close()
    return outcome


def assert_letters(model: Model) -> None:
    """The letters, and the texts of options, have the probabilities that the weights state."""
    option = Loglik(QUESTION, "B")
    letters, scored = answer(model, [ASKED, option])
    assert isinstance(letters, LabelProbs)
    assert isinstance(scored, Logprob)
    expected = [math.log(probability) for probability in LETTERS.values()]
    assert letters.logprobs == pytest.approx(expected, abs=1e-4)
    assert scored.total == pytest.approx(expected[REPLY], abs=1e-4)


def assert_replies(result: Outcome) -> None:
    """Each reply is read without its thoughts, which name other letters and are kept apart."""
    assert len(result.trials) == ITEMS
    assert {trial.choice for trial in result.trials} == {REPLY}
    assert {trial.thoughts for trial in result.trials} == {THOUGHT}
    assert sum(bool(trial.correct) for trial in result.trials) == ITEMS // len(LETTERS)


def test_a_server_refuses_letters_and_options_with_the_cure(served: ModelEntry):
    assert describe(served).problem == ""
    model = open_model(served)
    for request in (ASKED, Loglik(QUESTION, "B")):
        with pytest.raises(MissingAbility, match=CURE):
            list(model.answer([request]))
    model.close()


@pytest.mark.parametrize("options", [{}, {"api": "chat"}], ids=["all", "chat-alone"])
def test_a_run_of_letters_is_refused_with_the_cure(
    served: ModelEntry, options: dict[str, Any], tmp_path: Path
):
    describe(with_options(served, options))
    with pytest.raises(EvaluiError, match=CURE):
        run(with_options(served, options), tmp_path, mode="multiple_choice")


@pytest.mark.parametrize("tokenizer", [False, True], ids=["its-tokenizer", "our-tokenizer"])
def test_a_server_gives_letters_and_options_with_thinking_off(
    served: ModelEntry, folder: Path, tokenizer: bool
):
    options = OFF | ({"tokenizer": str(folder)} if tokenizer else {})
    model = open_model(with_options(served, options))
    assert_letters(model)
    model.close()


def test_a_run_of_letters_is_right_with_thinking_off(served: ModelEntry, tmp_path: Path):
    result = run(with_options(served, OFF), tmp_path, mode="multiple_choice")
    assert {trial.choice for trial in result.trials} == {REPLY}
    assert not any(trial.thoughts for trial in result.trials)
    assert 'body:{"chat_template_kwargs"' in result.signature


def test_a_run_of_replies_keeps_thoughts_apart(served: ModelEntry, tmp_path: Path):
    assert_replies(run(served, tmp_path, mode="generation", max_tokens=32))


def test_replies_that_end_within_thoughts_are_refused(served: ModelEntry, tmp_path: Path):
    result = run(served, tmp_path, mode="generation", max_tokens=4)
    assert not result.trials
    assert "used up its tokens before the reply began" in result.error


def test_a_schema_holds_the_reply_and_not_the_thoughts(served: ModelEntry):
    model = open_model(served)
    (reply,) = answer(model, [Generate(QUESTION, 48, json_schema=SCHEMA)])
    assert isinstance(reply, GeneratedText)
    assert (reply.text, reply.constrained) == ('{"letter":"B"}', True)
    model.close()


def test_a_model_on_this_machine_refuses_letters_and_options_with_the_cure(opened: Model):
    for request in (ASKED, Loglik(QUESTION, "B")):
        with pytest.raises(MissingAbility, match=CURE):
            list(opened.answer([request]))


def test_a_model_on_this_machine_gives_them_with_thinking_off(local: ModelEntry):
    model = open_model(with_options(local, OFF))
    assert_letters(model)
    model.close()


def test_a_model_on_this_machine_keeps_thoughts_apart(local: ModelEntry, tmp_path: Path):
    assert_replies(run(local, tmp_path, mode="generation", max_tokens=32))


def test_a_reply_cut_within_thoughts_is_none(opened: Model):
    (cut,) = answer(opened, [Generate(QUESTION, 4)])
    assert without_thoughts(cut) is None


def test_a_server_that_cuts_within_thoughts_refuses(served: ModelEntry):
    model = open_model(served)
    with pytest.raises(RequestRejected, match="used up its tokens"):
        list(model.answer([Generate(QUESTION, 4)]))
    model.close()
