"""The questions that models are asked: worked out from the ones kept for parity tests.

Their numbers are changed, so that any number of different questions of the same shape can be had:
about 75 tokens of question and 7 of each option for the tokenizer beside them.
"""

import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

from evalui.modes import MODES, ModeSettings
from evalui.scoring.choice.options import variants
from evalui.types import Loglik, NextToken, Pattern, Request, Sample

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "lmeval"
MODEL = GOLDEN / "qwen2-small-4l256"
_OPTIONS = "ABCD"


def questions(count: int) -> list[Sample]:
    """So many questions, no two alike."""
    rng = random.Random(0)
    models = _kept()["questions"]
    english = [each for each in models if each["question"].isascii()]
    options = sorted({each[letter] for each in english for letter in _OPTIONS})
    return [
        Sample(
            f"q/{number}",
            _renumbered(rng, english[number % len(english)]["question"]),
            tuple(rng.sample(options, 4)),
            rng.randrange(4),
        )
        for number in range(count)
    ]


def shots(count: int) -> tuple[Sample, ...]:
    """So many of the five worked examples."""
    return tuple(
        Sample(
            f"dev/{each['id']}",
            each["question"],
            tuple(each[letter] for letter in _OPTIONS),
            _OPTIONS.index(each["answer"]),
        )
        for each in _kept()["dev"][:count]
    )


def cloze(samples: list[Sample], n_shots: int) -> list[Request]:
    """CP: four requests a question, one per option (those without the question left out)."""
    mode, setting = MODES["cloze"], ModeSettings(shots={"": shots(n_shots)})
    (order,) = variants(4, "origin")
    return [request for sample in samples for request in mode.plan(sample, order, setting)[:4]]


def letters(samples: list[Sample], n_shots: int, pattern: Pattern) -> list[Request]:
    """MCP: one request for each order of a question."""
    mode, setting = MODES["multiple_choice"], ModeSettings(shots={"": shots(n_shots)})
    return [
        request
        for sample in samples
        for order in variants(4, pattern)
        for request in mode.plan(sample, order, setting)
    ]


def pairs(requests: list[Request]) -> list[tuple[str, str]]:
    """The same requests as lm-eval wants them: a context and a continuation, four a question."""
    found: list[tuple[str, str]] = []
    for request in requests:
        match request:
            case Loglik(str(context), continuation):
                found.append((context, continuation))
            case NextToken(str(context), labels):
                found += [(context, label) for label in labels]
            case _:
                raise AssertionError("only plain prompts are compared")
    return found


def _renumbered(rng: random.Random, question: str) -> str:
    """The question with other years and other numbers."""
    return re.sub(
        r"\d+",
        lambda found: str(rng.randint(1900, 2020) if len(found[0]) == 4 else rng.randint(2, 99)),
        question,
    )


@cache
def _kept() -> dict[str, Any]:
    return json.loads((GOLDEN / "cp_mcp.json").read_text(encoding="utf-8"))["meta"]
