"""What evalui makes of each server of profiles.toml: the true figure, or a sentence that cures."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer, city_of, is_right

from evalui.errors import EvaluiError
from evalui.local_runs import wait_for_endpoints
from evalui.models.base import BACKENDS, ModelEntry
from evalui.models.endpoint.backend import EndpointStatus, OpenAIBackend
from evalui.models.endpoint.driver import RetryPolicy
from evalui.models.endpoint.probe import probe
from evalui.runs.plan import plan_run
from evalui.runs.results import read_results
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker import waiting
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.types import CellResult, Dataset, Sample, Trial

pytestmark = pytest.mark.slow

PROFILES: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8")
)
CURES = [
    pytest.param(name, cure, id=f"{name}-{place}")
    for name, profile in PROFILES.items()
    for place, cure in enumerate(profile.get("cures", []))
]
ITEMS, LANDS = 20, 10
RIGHT = "right"
# Each use: its dataset, and what the specification of a run says of it.
USES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "letters": ("items", {"mode": "multiple_choice"}),
    "replies": ("items", {"mode": "generation"}),
    "cloze": ("items", {"mode": "cloze"}),
    "cloze_chat": ("items", {"mode": "cloze", "chat": True}),
    "open": ("lands", {"mode": "question_answer"}),
}


def items() -> Dataset:
    """Questions of four options, of which the right one moves."""
    samples = list[Sample]()
    for number in range(1, ITEMS + 1):
        wrong = [f"odd {number}{letter}" for letter in "abc"]
        place = number % 4
        choices = (*wrong[:place], f"fits {number}", *wrong[place:])
        samples.append(Sample(f"items/{number}", f"Item {number}: what fits?", choices, place))
    return Dataset("items", "multiple_choice", tuple(samples), sha256="1" * 64)


def lands() -> Dataset:
    """Open questions with their answers."""
    samples = [
        Sample(
            f"lands/{number}", f"What is the city of land {number}?", target=(f"Townburg {number}",)
        )
        for number in range(1, LANDS + 1)
    ]
    return Dataset("lands", "general_qa", tuple(samples), sha256="2" * 64)


@dataclass(frozen=True)
class Outcome:
    """What came of one use: its answers by question, and the sentence if there is one."""

    trials: tuple[Trial, ...]
    state: str
    error: str


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No pause is longer than it must be; and each test probes its server anew."""
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.05)
    monkeypatch.setattr(waiting, "MAX_DELAY_S", 0.1)
    monkeypatch.setenv("EVALUI_PATIENCE_S", "20")
    monkeypatch.setenv("FAKE_API_KEY", "sk-test-123")
    hurried = OpenAIBackend(
        EndpointStatus(partial(probe, sleep=lambda _: None)),
        RetryPolicy(initial_delay=0.02, max_delay=0.05, initial_open_time=0.05, max_open_time=0.1),
    )
    before = BACKENDS["openai"]
    monkeypatch.setitem(BACKENDS._entries, "openai", hurried)
    yield
    assert BACKENDS["openai"] is hurried
    del before


@contextmanager
def serving(profile: Mapping[str, Any], cure: Mapping[str, Any]) -> Iterator[ModelEntry]:
    """A server of a profile, and the entry of its model."""
    with FakeServer(dict(profile)) as server:
        options: dict[str, Any] = {"base_url": server.url, "concurrency": 4}
        if "base" in cure:
            options["base_url"] = server.root + cure["base"]
        if profile.get("key"):
            options["api_key_env"] = "FAKE_API_KEY"
        yield ModelEntry(
            "m",
            "openai",
            path=cure.get("path", profile["model"]),
            chat=cure.get("chat", True),
            options=options | profile.get("options", {}) | cure.get("options", {}),
        )


def run(
    entry: ModelEntry, folder: Path, stated: Mapping[str, Any], *uses: str
) -> dict[str, Outcome]:
    """One run of some uses of the model, which is its own judge where answers are written.

    What writes has the `settings` and `max_tokens` that are stated.
    """
    datasets = {"items": items(), "lands": lands()}
    outcomes: dict[str, Outcome] = {}
    database = Database(folder / "store.sqlite")
    for use in uses:
        if use == "judge":
            continue
        source, mode = USES[use]
        judged = use == "open" and "judge" in uses
        if use in ("replies", "open"):
            mode = mode | stated.get("settings", {})
            mode |= {key: stated[key] for key in ("max_tokens",) if key in stated}
        judging = {"judging": {"judges": ["m"], "template": "correct-en.1"}} if judged else {}
        spec = RunSpec.model_validate(
            {"datasets": [source], "models": ["m"], "modes": [mode], **judging}
        )
        try:
            wait_for_endpoints(spec, {"m": entry}, Settings(), warn=lambda _: None)
            plans = plan_run(spec, {source: datasets[source]}, {"m": entry})
            add_dataset(database, datasets[source])
            run_id = create_run(database, spec, plans)
        except EvaluiError as error:
            outcomes |= dict.fromkeys(
                [use, *["judge"] * judged], Outcome((), "refused", str(error))
            )
            continue
        Worker(database, lambda: {"m": entry}, name="here").run_once()
        results = read_results(database, run_id)
        outcomes |= {
            name: outcome_of(result) for name, result in zip([use, "judge"], results, strict=False)
        }
    database.close()
    return outcomes


def outcome_of(result: CellResult) -> Outcome:
    return Outcome(tuple(result.trials), result.state, result.error)


def wrong_trials(use: str, outcome: Outcome) -> list[str]:
    """The answers that are not what the model knows, each shown; there must never be one."""
    return [
        f"{trial.sample_id}: {trial.reply!r}" for trial in outcome.trials if not is_true(use, trial)
    ]


def is_true(use: str, trial: Trial) -> bool:
    number = int(trial.sample_id.rpartition("/")[2])
    if use == "open":
        return trial.reply == city_of(number) and not any("<" in each for each in trial.answers)
    if use == "judge":
        return trial.reply == ("[[correct]]" if is_right(number) else "[[incorrect]]")
    return trial.correct is is_right(number)


def check(use: str, outcome: Outcome, expected: str) -> None:
    assert wrong_trials(use, outcome) == []
    if expected != RIGHT:
        assert expected in outcome.error
        return
    assert (outcome.state, outcome.error) == ("done", "")
    assert len(outcome.trials) == (ITEMS if USES.get(use, ("lands",))[0] == "items" else LANDS)


@pytest.mark.parametrize("name", PROFILES)
def test_a_server_gives_the_true_figure_or_a_sentence(name: str, tmp_path: Path):
    profile = PROFILES[name]
    expected = profile["expect"]
    with serving(profile, {}) as entry:
        outcomes = run(entry, tmp_path, {"settings": profile.get("settings", {})}, *expected)
    for use, wanted in expected.items():
        check(use, outcomes[use], wanted)


@pytest.mark.parametrize(("name", "cure"), CURES)
def test_the_cure_that_a_sentence_names_gives_the_true_figure(
    name: str, cure: Mapping[str, Any], tmp_path: Path
):
    with serving(PROFILES[name], cure) as entry:
        stated = {"settings": PROFILES[name].get("settings", {}), **cure}
        outcomes = run(entry, tmp_path, stated, *cure["uses"])
    for use in cure["uses"]:
        check(use, outcomes[use], RIGHT)
