"""The questions of the demo set, put to a model in each way there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalui.datasets import load
from evalui.models import Model
from evalui.modes import MODES, ModeSettings
from evalui.scoring.choice.options import variants
from evalui.types import (
    GeneratedText,
    LabelProbs,
    Logprob,
    Message,
    Pattern,
    Request,
    Response,
    Sample,
)

ASSETS = Path(__file__).parents[2] / "assets"
DEMO = ASSETS / "models" / "demo-late"
TOLERANCE = 1e-3  # of a natural logarithm; both compute in float32, with other kernels
_FILES = ("capitals_en", "capitals_zh", "opposites_zh", "arithmetic_en")
_EACH = 6  # questions of a file


@dataclass(frozen=True)
class Paper:
    """Questions in a mode and the orders in which they are asked."""

    mode: str
    pattern: Pattern
    chat: bool = False
    shots: bool = False

    def __str__(self) -> str:
        return "-".join([self.mode, self.pattern, *["chat"] * self.chat, *["shots"] * self.shots])


PAPERS = (
    Paper("multiple_choice", "circular"),
    Paper("multiple_choice", "circular", shots=True),
    Paper("multiple_choice", "circular", chat=True),
    Paper("cloze", "origin"),
    Paper("cloze", "origin", shots=True),
    Paper("cloze", "origin", chat=True),
    Paper("generation", "origin"),
    Paper("generation", "origin", chat=True),
)


@dataclass(frozen=True)
class Result:
    """What a model said to a paper, and which options that chooses."""

    responses: list[Response]
    choices: list[int | None]


def sit(model: Model, paper: Paper) -> Result:
    """Put all of a paper to a model at once."""
    mode, setting = MODES[paper.mode], _setting(paper)
    asked = [
        (sample, variant)
        for sample in _samples()
        for variant in variants(len(sample.choices), paper.pattern)
    ]
    plans = [mode.plan(sample, variant, setting) for sample, variant in asked]
    responses = answer(model, [request for plan in plans for request in plan])
    rest = iter(responses)
    choices: list[int | None] = []
    for (sample, variant), plan in zip(asked, plans, strict=True):
        given = [next(rest) for _ in plan]
        choices.append(mode.grade(sample, variant, given, setting).choice)
    return Result(responses, choices)


def answer(model: Model, requests: Sequence[Request]) -> list[Response]:
    """All responses in the order of the requests."""
    responses = dict(model.answer(requests))
    assert sorted(responses) == list(range(len(requests)))
    return [responses[index] for index in range(len(requests))]


def apart(one: Response, other: Response) -> float:
    """How far apart two responses are; infinitely, if in anything but a logarithm."""
    match one, other:
        case LabelProbs(), LabelProbs():
            same = (one.top_token, one.truncated) == (other.top_token, other.truncated)
            pairs = zip(one.logprobs, other.logprobs, strict=True)
            found = max(abs(mine - yours) for mine, yours in pairs)
        case Logprob(), Logprob():
            same = (one.n_tokens, one.greedy, one.merged) == (
                other.n_tokens,
                other.greedy,
                other.merged,
            )
            found = abs(one.total - other.total)
        case GeneratedText(), GeneratedText():
            same = (one.text, one.finish_reason) == (other.text, other.finish_reason)
            found = 0.0
        case _:
            same, found = False, 0.0
    return found if same else float("inf")


def conversation(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def _samples() -> list[Sample]:
    folder = ASSETS / "samples" / "demo"
    return [
        sample
        for name in _FILES
        for sample in load([folder / f"{name}_val.csv"]).dataset.samples[:_EACH]
    ]


def _setting(paper: Paper) -> ModeSettings:
    shots: dict[str, tuple[Sample, ...]] = {}
    if paper.shots:
        for shot in load([ASSETS / "samples" / "demo"]).dataset.shots:
            shots[shot.subject] = (*shots.get(shot.subject, ()), shot)
    return ModeSettings(shots=shots, chat=paper.chat, max_tokens=16)
