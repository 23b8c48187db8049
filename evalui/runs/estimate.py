"""What a run will cost, told before it starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.modes import MODES
from evalui.runs.plan import CellPlan
from evalui.types import Dataset, Generate, Message, Prompt, Request, Variant

_LOOKED_AT = 25  # questions per cell whose prompts are measured

# Requests per second that a model reached in a mode with a number of shots.
Rates = Mapping[tuple[str, str, int], float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests in all, prompt tokens in all (roughly), requests already answered, and seconds.

    `seconds` is None while a model has not been timed in one of its modes, and its catalog entry
    does not tell its speed.
    """

    requests: int
    tokens: int
    cached: int
    seconds: float | None


def estimate(
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    rates: Rates,
    cached: Sequence[int] = (),
) -> Estimate:
    """The cost of the cells that can run.

    `datasets` are by `CellPlan.source`; `cached` counts, for each plan, the requests whose
    response is already kept.
    """
    known = tuple(cached) or (0,) * len(plans)
    able = [
        (plan, min(hits, plan.requests))
        for plan, hits in zip(plans, known, strict=True)
        if not plan.impossible
    ]
    tokens = [_tokens_each(plan, datasets[plan.source]) for plan, _ in able]
    spent = [
        _seconds(plan, plan.requests - hits, each, rates)
        for (plan, hits), each in zip(able, tokens, strict=True)
    ]
    timed = [seconds for seconds in spent if seconds is not None]
    return Estimate(
        requests=sum(plan.requests for plan, _ in able),
        tokens=sum(
            round(plan.requests * each) for (plan, _), each in zip(able, tokens, strict=True)
        ),
        cached=sum(hits for _, hits in able),
        seconds=sum(timed) if len(timed) == len(spent) else None,
    )


def count_tokens(text: str) -> int:
    """A rough number of tokens: one per Chinese character, one per four others."""
    chinese = sum("\u3400" <= character <= "\u9fff" for character in text)
    return chinese + -(-(len(text) - chinese) // 4)


def _seconds(plan: CellPlan, requests: int, tokens: float, rates: Rates) -> float | None:
    if not requests:
        return 0.0
    timed = {
        shots: rate
        for (model, mode, shots), rate in rates.items()
        if model == plan.entry.name and mode == plan.mode_name
    }
    if not timed:
        return requests * tokens / plan.entry.speed if plan.entry.speed else None
    return requests / timed[min(timed, key=lambda shots: abs(shots - plan.mode.shots))]


def _tokens_each(plan: CellPlan, dataset: Dataset) -> float:
    samples = dataset.samples[: plan.questions]
    looked_at = samples[:: max(1, len(samples) // _LOOKED_AT)]
    requests = [
        request
        for sample in looked_at
        for request in MODES[plan.mode_name].plan(
            sample, Variant(tuple(range(len(sample.choices)))), plan.setting
        )
    ]
    return sum(map(_length, requests)) / max(1, len(requests))


def _length(request: Request) -> int:
    prompt: Prompt = request.prompt if isinstance(request, Generate) else request.context
    turns = prompt if isinstance(prompt, tuple) else (Message("user", prompt),)
    return sum(count_tokens(turn.content) for turn in turns)
