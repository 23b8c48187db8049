"""Testing a model: one small question for each ability, through the queue as runs are.

A test is taken by a worker between two runs. One whose worker died is queued again, and fails
when that has happened too often.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from sqlite3 import Connection, Row
from typing import Any, Literal, cast

from evalui.errors import EvaluiError, ModelError, RequestRejected
from evalui.messages import sentence
from evalui.models.base import Model, ModelEntry, NeedsAnswerKey, load_notes
from evalui.modes import MODES, ModeSettings, spellings_for, usual_mode
from evalui.replies import without_thoughts
from evalui.runs.worker.in_flight import InFlightBatch
from evalui.scoring.choice.options import variants
from evalui.store.codec import decode_sentence, encode_sentence
from evalui.store.connection import Database
from evalui.store.runs import WORKER_TIMEOUT_S
from evalui.types import Ability, Contestant, GeneratedText, Gives, Sample, Trial, Variant

ModelTestState = Literal["queued", "running", "done", "failed"]

MAX_LOSSES = 3  # a test that loses its worker so often is what ends it
REPLY_TOKENS = 48

CHOICE_SAMPLE = Sample(
    "trial/choice", "Which city is the capital of France?", ("Oslo", "Paris", "Rome", "Bern"), 1
)
OPEN_SAMPLE = Sample(
    "trial/open", "Name the capital of Italy.", target=("The capital of Italy is Rome.",)
)
_CONTESTANTS = (
    Contestant("first", {OPEN_SAMPLE.id: ("The capital of Italy is Rome.",)}),
    Contestant("second", {OPEN_SAMPLE.id: ("It might be Paris, or it might be Oslo.",)}),
)
_ORDERS = variants(len(CHOICE_SAMPLE.choices), "circular")
# How each ability is tested: by the usual mode that needs it and gives this.
_TESTED: Mapping[Ability, Gives] = {
    "next_token": "choices",
    "loglik": "choices",
    "generate": "answers",
    "decide": "choices",
}


@dataclass(frozen=True, slots=True)
class AbilityTest:
    """The test of one ability: what was answered, or the `problem` why nothing was.

    `answer` is the option chosen ("" if none was), or the text written. `probability` is that
    of the option among all. `correct` is None where nothing is right or wrong, and of answers
    that cannot be read. In `seconds` so many `requests` were answered, and `tokens` written.
    """

    ability: Ability
    mode: str
    answer: str = ""
    probability: float | None = None
    correct: bool | None = None
    seconds: float = 0.0
    requests: int = 0
    tokens: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ModelTestRow:
    """One test of a model. `load_s` is None until it is loaded, `error` why it failed as a whole,
    `notes` are the notes of the loaded model.

    `entry` is the model as it was when the test was requested.
    """

    id: int
    model: str
    owner: str
    entry: ModelEntry
    state: ModelTestState
    worker: str
    created: float
    finished: float | None
    load_s: float | None
    ability_tests: tuple[AbilityTest, ...]
    error: str
    notes: tuple[str, ...] = ()

    @property
    def is_pending(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")


def queue_model_test(database: Database, entry: ModelEntry, owner: str) -> int:
    """Request a test of the model; its number. One that is queued or running is not doubled."""
    with database.writing() as connection:
        live = connection.execute(
            "SELECT id FROM trial_of_model WHERE model = ? AND owner = ?"
            " AND state IN ('queued', 'running')",
            (entry.name, owner),
        ).fetchone()
        if live:
            return live["id"]
        connection.execute(
            "DELETE FROM trial_of_model WHERE model = ? AND owner = ?", (entry.name, owner)
        )
        added = connection.execute(
            "INSERT INTO trial_of_model (model, owner, entry, state, created)"
            " VALUES (?, ?, ?, 'queued', ?)",
            (entry.name, owner, json.dumps(asdict(entry), default=str), time.time()),
        )
    assert added.lastrowid is not None, "a new row has a number"
    return added.lastrowid


def model_tests(database: Database, owner: str) -> dict[str, ModelTestRow]:
    """The last requested test of each model, by the model's name."""
    rows = database.rows("SELECT * FROM trial_of_model WHERE owner = ? ORDER BY id", (owner,))
    return {row["model"]: trial for row in rows if (trial := _model_test_row(row))}


def model_test_of_worker(database: Database, worker: str) -> ModelTestRow | None:
    """The test that a worker runs, None if there is none."""
    row = database.row(
        "SELECT * FROM trial_of_model WHERE worker = ? AND state = 'running'", (worker,)
    )
    return _model_test_row(row) if row else None


def claim_model_test(database: Database, worker: str) -> ModelTestRow | None:
    """Take the oldest queued test; None if there is none."""
    if not database.row("SELECT 1 FROM trial_of_model WHERE state = 'queued' LIMIT 1"):
        return None  # an idle worker reads only, so that it never keeps a writer waiting
    with database.writing() as connection:
        taken = connection.execute(
            "UPDATE trial_of_model SET state = 'running', worker = ? WHERE id ="
            " (SELECT id FROM trial_of_model WHERE state = 'queued' ORDER BY id LIMIT 1)"
            " RETURNING *",
            (worker,),
        ).fetchone()
        trial = _model_test_row(taken) if taken else None
        if taken and trial is None:
            connection.execute("DELETE FROM trial_of_model WHERE id = ?", (taken["id"],))
    return trial


def finish_model_test(database: Database, trial: ModelTestRow) -> None:
    """Write the outcome, unless the test was given to another worker since."""
    outcome = {
        "load_s": trial.load_s,
        "tried": [
            asdict(each) | {"problem": encode_sentence(each.problem)}
            for each in trial.ability_tests
        ],
        "error": encode_sentence(trial.error),
        "notes": [encode_sentence(note) for note in trial.notes],
    }
    with database.writing() as connection:
        connection.execute(
            "UPDATE trial_of_model SET state = ?, finished = ?, outcome = ?"
            " WHERE id = ? AND worker = ? AND state = 'running'",
            (
                "failed" if trial.error else "done",
                time.time(),
                json.dumps(outcome, ensure_ascii=False),
                trial.id,
                trial.worker,
            ),
        )


def release_model_test(database: Database, trial: ModelTestRow) -> None:
    """Queue a test again whose worker is to end."""
    with database.writing() as connection:
        connection.execute(
            "UPDATE trial_of_model SET state = 'queued', worker = ''"
            " WHERE id = ? AND worker = ? AND state = 'running'",
            (trial.id, trial.worker),
        )


def requeue_model_tests(database: Database, *, worker: str = "") -> int:
    """Queue the tests again of a worker known to be dead, or of all that fell silent.

    Returns how many. `outcome` counts the losses of a test that is not over.
    """
    limit = time.time() - WORKER_TIMEOUT_S
    lost = (
        "SELECT id, outcome FROM trial_of_model t WHERE state = 'running'"
        " AND CASE WHEN :worker = '' THEN NOT EXISTS"
        " (SELECT 1 FROM worker w WHERE w.name = t.worker AND w.seen > :limit)"
        " ELSE t.worker = :worker END"
    )
    values = {"worker": worker, "limit": limit}
    if not database.row(lost, values):
        return 0
    with database.writing() as connection:
        gone = connection.execute(lost, values).fetchall()
        for row in gone:
            _record_loss(connection, row["id"], 1 + int(row["outcome"] or 0))
    return len(gone)


def run_model_test(
    trial: ModelTestRow, opener: Callable[[ModelEntry], Model], *, on_loaded: Callable[[], None]
) -> ModelTestRow:
    """Load the model, call `on_loaded`, test each of its abilities, and unload it.

    Raises unforeseen errors; an `EvaluiError` is part of the outcome.
    """
    began = time.monotonic()
    try:
        model = opener(trial.entry)
    except EvaluiError as error:
        return replace(trial, error=error.sentence)
    notes = load_notes(model)
    trial = replace(trial, load_s=time.monotonic() - began, notes=notes)
    try:
        on_loaded()
        if isinstance(model, NeedsAnswerKey):
            model.set_answer_key((CHOICE_SAMPLE, OPEN_SAMPLE))
        tried = tuple(
            _test_ability(model, trial.entry, ability)
            for ability in _TESTED
            if ability in model.abilities
        )
    finally:
        model.close()
    nothing = bool(tried) and all(each.problem for each in tried)
    return replace(trial, ability_tests=tried, error=tried[0].problem if nothing else "")


def _test_ability(model: Model, entry: ModelEntry, ability: Ability) -> AbilityTest:
    judges = entry.judges_only and ability == "generate"
    tried = AbilityTest(ability, usual_mode("verdicts" if judges else _TESTED[ability], ability))
    try:
        return _measure_ability(model, entry, tried)
    except EvaluiError as error:
        return replace(tried, problem=error.sentence)


def _measure_ability(model: Model, entry: ModelEntry, tried: AbilityTest) -> AbilityTest:
    mode = MODES[tried.mode]
    setting = ModeSettings(
        shots={},
        chat=entry.chat,
        max_tokens=REPLY_TOKENS,
        spellings=spellings_for(tried.mode, "common", (tried.ability,)),
        contestants=_CONTESTANTS,
    )
    sample = OPEN_SAMPLE if tried.ability == "generate" else CHOICE_SAMPLE
    shown = (
        Variant((0, 1)) if mode.gives == "verdicts" else Variant(tuple(range(len(sample.choices))))
    )
    window = InFlightBatch([(sample, shown)], mode, setting, model.fingerprint)
    seconds, (trial,) = _request_all(model, window)
    if mode.shows_options:
        # The first question warms the model up. The other orders measure its speed.
        window = InFlightBatch(
            [(sample, each) for each in _ORDERS[1:]], mode, setting, model.fingerprint
        )
        seconds, _ = _request_all(model, window)
    texts = [each for each in window.responses.values() if isinstance(each, GeneratedText)]
    measured = replace(
        tried,
        seconds=seconds,
        requests=len(window.requests),
        tokens=sum(text.usage.completion_tokens for text in texts if text.usage),
    )
    if tried.ability == "generate":
        return replace(measured, answer=trial.reply or "")
    return _with_choice(measured, trial)


def _request_all(model: Model, window: InFlightBatch) -> tuple[float, list[Trial]]:
    """Seconds until all is answered, and the trials; what grading takes does not count."""
    trials: list[Trial] = []
    seconds = 0.0
    while asks := window.unanswered():
        began = time.monotonic()
        responses = list(model.answer([window.requests[ask] for ask in asks]))
        seconds += time.monotonic() - began
        for index, response in responses:
            spoken = without_thoughts(response)
            if spoken is None:
                why = sentence("error.endpoint-only-thoughts")
                raise RequestRejected("endpoint-refused", model=model.name, n=1, reason=why)
            trials += window.add_response(asks[index], spoken)
        if not responses:
            raise ModelError("unanswered", model=model.name, n=len(asks), total=len(asks))
    return seconds, trials


def _with_choice(tried: AbilityTest, trial: Trial) -> AbilityTest:
    slot = trial.choice
    if slot is None:
        return tried
    return replace(
        tried,
        answer=CHOICE_SAMPLE.choices[trial.variant.permutation[slot]],
        probability=trial.probabilities[slot] if trial.probabilities else None,
        correct=trial.correct,
    )


def _record_loss(connection: Connection, number: int, losses: int) -> None:
    if losses < MAX_LOSSES:
        connection.execute(
            "UPDATE trial_of_model SET state = 'queued', worker = '', outcome = ? WHERE id = ?",
            (str(losses), number),
        )
        return
    error = sentence("error.trial-killed", n=losses)
    outcome: dict[str, Any] = {"load_s": None, "tried": (), "error": encode_sentence(error)}
    connection.execute(
        "UPDATE trial_of_model SET state = 'failed', finished = ?, outcome = ? WHERE id = ?",
        (time.time(), json.dumps(outcome, ensure_ascii=False), number),
    )


def _model_test_row(row: Row) -> ModelTestRow | None:
    """The test, None if another version of evalui wrote it with other fields."""
    try:
        return _read_row(row)
    except TypeError:
        return None


def _read_row(row: Row) -> ModelTestRow:
    over = row["state"] in ("done", "failed")
    outcome = cast("dict[str, Any]", json.loads(row["outcome"]) if over else {})
    tried = (
        AbilityTest(**(each | {"problem": decode_sentence(each["problem"])}))
        for each in outcome.get("tried", ())
    )
    return ModelTestRow(
        id=row["id"],
        model=row["model"],
        owner=row["owner"],
        entry=ModelEntry(**json.loads(row["entry"])),
        state=row["state"],
        worker=row["worker"],
        created=row["created"],
        finished=row["finished"],
        load_s=outcome.get("load_s"),
        ability_tests=tuple(tried),
        error=decode_sentence(outcome.get("error", "")),
        notes=tuple(decode_sentence(note) for note in outcome.get("notes", ())),
    )
