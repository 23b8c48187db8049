"""What a run will cost, told before it starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evalui.modes import MODES
from evalui.runs.cells import CellPlan, work
from evalui.types import Dataset, Generate, Loglik, Message, Prompt, Request, Sample, Variant

_LOOKED_AT = 25  # questions per cell whose prompts are measured

# Requests per second that a model reached in a mode with a number of shots.
Rates = Mapping[tuple[str, str, int], float]
# Tokens that a model wrote for each request of a mode, see `charges.written`.
Written = Mapping[tuple[str, str], float]

_UNKNOWN: Written = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests in all, prompt tokens in all (roughly), requests already answered, and seconds.

    `seconds` is None while a model has not been timed in one of its modes, and its catalog entry
    does not tell its speed. `judged` of the requests go to judges. `dollars` is what the
    requests not yet answered cost, roughly: every reply as long as this model's were so far, or as
    it may be, and the answers that a judge will read of middling length. None if no model of the
    run has a price.
    """

    requests: int
    tokens: int
    cached: int
    seconds: float | None
    judged: int = 0
    dollars: float | None = None


def estimate(
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    rates: Rates,
    cached: Sequence[int] = (),
    written: Written = _UNKNOWN,
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
    prices = [
        _dollars(plan, plan.requests - hits, each, written)
        for (plan, hits), each in zip(able, tokens, strict=True)
        if plan.entry.input_price or plan.entry.output_price
    ]
    timed = [seconds for seconds in spent if seconds is not None]
    return Estimate(
        requests=sum(plan.requests for plan, _ in able),
        tokens=sum(
            round(plan.requests * each) for (plan, _), each in zip(able, tokens, strict=True)
        ),
        cached=sum(hits for _, hits in able),
        seconds=sum(timed) if len(timed) == len(spent) else None,
        judged=sum(plan.requests for plan, _ in able if plan.mode.judging),
        dollars=sum(prices) if prices else None,
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


def _dollars(plan: CellPlan, requests: int, tokens: float, written: Written) -> float:
    entry = plan.entry
    # A server writes a token, and charges for it, also where only probabilities are wanted.
    longest = plan.mode.max_tokens if MODES[plan.mode_name].abilities_needed == "generate" else 1
    reply = written.get((entry.name, plan.mode_name), longest)
    return requests * (tokens * entry.input_price + reply * entry.output_price) / 1e6


def _tokens_each(plan: CellPlan, dataset: Dataset) -> float:
    if not plan.requests:
        return 0.0
    samples = dataset.samples[: plan.questions]
    requests = [
        request
        for sample, variant in _looked_at(plan, samples)
        for request in MODES[plan.mode_name].plan(sample, variant, plan.setting)
    ]
    return sum(map(_length, requests)) / max(1, len(requests))


def _looked_at(plan: CellPlan, samples: Sequence[Sample]) -> Sequence[tuple[Sample, Variant]]:
    """Some of the work, one variant of each question standing for all."""
    if plan.mode.judging:
        shown = work(plan.mode, plan.pattern, samples, plan.setting)
        pairs = list({sample.id: (sample, variant) for sample, variant in shown}.values())
    else:
        pairs = [(sample, Variant(tuple(range(len(sample.choices))))) for sample in samples]
    return pairs[:: max(1, len(pairs) // _LOOKED_AT)]


def _length(request: Request) -> int:
    prompt: Prompt = request.prompt if isinstance(request, Generate) else request.context
    turns = prompt if isinstance(prompt, tuple) else (Message("user", prompt),)
    scored = count_tokens(request.continuation) if isinstance(request, Loglik) else 0
    return scored + sum(count_tokens(turn.content) for turn in turns)
