"""What a run will cost, estimated before it starts.

The unit of work is the prompt token: one token read at the beginning of a text. Some questions are
enough for the size of requests: the same ones count when a speed is measured and when a time is
estimated.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from statistics import median
from types import MappingProxyType
from typing import Literal

from evalui.models.base import ModelEntry, loads_weights, traits_of
from evalui.models.memory_estimate import hidden_size
from evalui.models.tokenization import common_prefix_length
from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.runs.cells import CellPlan, trials_to_run
from evalui.runs.database.throughput import (
    KeptElsewhere,
    LoadingTimes,
    RequestSize,
    Throughput,
    Throughputs,
)
from evalui.runs.spec import ModeSpec
from evalui.text_tokenizers.han import HAN_CHARACTER
from evalui.types import (
    Dataset,
    Generate,
    Loglik,
    Message,
    Pattern,
    Prompt,
    Request,
    Sample,
    Variant,
)

# Until this server has loaded a model: the libraries, an empty model, weights read from the disk.
_IMPORT_S, _OPEN_S, _PARAMETERS_PER_S = 6.0, 0.5, 5e8
# Tokens of a reply that names an option, and of any other, until the model has written one here.
_LETTER_TOKENS, _REPLY_TOKENS = 4, 128
# A guess is off by up to so much: the speed a catalog states is another machine's, and of replies
# nobody knows the length before the first one. First uses were off by 4, and by 12 with replies.
_GUESSED_SPEED_FACTOR, _GUESSED_REPLY_FACTOR = 5.0, 4.0
# One speed that was measured does not tell how far the next one lies from it; several do.
_SINGLE_SPEED_FACTOR = 2.0
_SAME_SIZE_FACTOR = 1.5  # requests whose work differs by less than this are measured alike

# Tokens that a model wrote for each request of a mode, see `usage.mean_reply_tokens`.
ReplyTokens = Mapping[tuple[str, str], float]

_NO_REPLY_TOKENS: ReplyTokens = MappingProxyType({})
_SAMPLED_QUESTIONS = 24  # of a cell
_SAMPLED_VARIANTS = 24  # of each question
_TOKENS_PER_REQUEST = (
    200  # prompt tokens that would take as long as one request to an endpoint by itself
)
_TOKENS_PER_WRITTEN = 10  # prompt tokens that would take as long as one token written
_DEFAULT_HIDDEN_SIZE = 2048  # hidden size of a model that does not state its own


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Seconds from `low` to `high`.

    `source` is "measured" if this server has timed every model in its mode, else "guessed".
    """

    low: float
    high: float
    source: Literal["measured", "guessed"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests in all, prompt tokens in all (roughly), requests already answered, and seconds.

    `seconds` includes loading the models, `range` is how far from them the time may be. Both are
    None while a model has not been timed in one of its modes, and its catalog entry does not state
    its speed. `judged` requests go to judges.
    `dollars` is what the requests not yet answered cost, roughly: every reply as long as this
    model's were so far, or as it may be, and the answers that a judge will read of middling length.
    None if no model of the run has a price. `kept_elsewhere` are replies of which somebody has to
    say whether they are the model's.
    """

    requests: int
    tokens: int
    cached: int
    seconds: float | None
    judged: int = 0
    dollars: float | None = None
    range: TimeRange | None = None
    kept_elsewhere: tuple[KeptElsewhere, ...] = ()


@dataclass(frozen=True, slots=True)
class _Time:
    """Seconds that a part of a run usually takes, and the least and the most."""

    usual: float = 0.0
    low: float = 0.0
    high: float = 0.0
    measured: bool = True


def estimate(
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    throughputs: Throughputs,
    cached: Sequence[int] = (),
    reply_tokens: ReplyTokens = _NO_REPLY_TOKENS,
    *,
    loading: LoadingTimes = LoadingTimes(),  # noqa: B008 (frozen)
) -> Estimate:
    """The cost of the cells that can run.

    `datasets` are by `CellPlan.source`; `cached` counts, for each plan, the requests whose
    response is already kept. `loading` is how long models took to load.
    """
    known = tuple(cached) or (0,) * len(plans)
    able = [
        (plan, min(hits, plan.requests))
        for plan, hits in zip(plans, known, strict=True)
        if not plan.impossible
    ]
    sizes = _sizes([plan for plan, _ in able], datasets)
    spent = [
        _cell_time(plan, plan.requests - hits, size, throughputs)
        for (plan, hits), size in zip(able, sizes, strict=True)
    ]
    prices = [
        _dollars(plan, plan.requests - hits, size.sent, reply_tokens)
        for (plan, hits), size in zip(able, sizes, strict=True)
        if plan.entry.input_price or plan.entry.output_price
    ]
    timed = [time for time in spent if time is not None]
    loads = _loading([plan.entry for plan, _ in able if plan.requests], loading)
    time = _in_all([*timed, *loads]) if len(timed) == len(spent) else None
    return Estimate(
        requests=sum(plan.requests for plan, _ in able),
        tokens=sum(
            round(plan.requests * size.sent) for (plan, _), size in zip(able, sizes, strict=True)
        ),
        cached=sum(hits for _, hits in able),
        seconds=time.usual if time else None,
        judged=sum(plan.requests for plan, _ in able if plan.mode.judging),
        dollars=sum(prices) if prices else None,
        range=TimeRange(time.low, time.high, "measured" if time.measured else "guessed")
        if time
        else None,
    )


def _in_all(times: Sequence[_Time]) -> _Time:
    """One after another. What makes one slower than usual makes the others slower, too."""
    return _Time(
        sum(time.usual for time in times),
        sum(time.low for time in times),
        sum(time.high for time in times),
        all(time.measured for time in times),
    )


def _sizes(plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]) -> list[RequestSize]:
    """The size of each plan's requests; models that are sent the same share the sample."""
    known: dict[tuple[str, str], RequestSize] = {}
    for plan in plans:
        key = _size_key(plan)
        if plan.requests and key not in known:
            samples = datasets[plan.source].samples[: plan.questions]
            known[key] = request_size(plan.mode, plan.pattern, samples, plan.setting)
    return [known.get(_size_key(plan), RequestSize()) for plan in plans]


def _size_key(plan: CellPlan) -> tuple[str, str]:
    return plan.source, plan.mode.model_dump_json()


def _cell_time(
    plan: CellPlan, requests: int, size: RequestSize, speeds: Throughputs
) -> _Time | None:
    """By the model's own speeds where its requests were most alike, else by its entry's."""
    if not requests:
        return _Time()
    measured = _speeds_in_mode(plan, speeds)
    known = measured or _speeds_in_other_modes(plan, speeds)
    if not known:
        return _time_by_entry(plan, requests, size)
    usual, shortest, longest = (replace(size, written=n) for n in _reply_lengths(plan))

    def growth(speed: Throughput, now: RequestSize) -> float:
        """How much more a request gives to compute now; a reply is as long as it was."""
        # Where none was timed, prompts tell how fast the model is, but not how long it writes.
        now = replace(now, written=speed.size.written or now.written)
        return workload(plan.entry, now) / workload(plan.entry, speed.size)

    distances = [abs(math.log(growth(speed, usual))) for speed in known]
    nearest = min(distances)
    alike = [
        speed
        for speed, distance in zip(known, distances, strict=True)
        if distance - nearest < math.log(_SAME_SIZE_FACTOR)
    ]
    # Work of another size does not take exactly as much longer as it is larger.
    doubt = math.exp(nearest / 2) * (
        _SINGLE_SPEED_FACTOR ** (1 / len(alike)) if measured else _GUESSED_SPEED_FACTOR
    )
    return _Time(
        median(requests / speed.rate * growth(speed, usual) for speed in alike),
        min(requests / speed.rate * growth(speed, shortest) for speed in alike) / doubt,
        max(requests / speed.rate * growth(speed, longest) for speed in alike) * doubt,
        measured=bool(measured),
    )


def _time_by_entry(plan: CellPlan, requests: int, size: RequestSize) -> _Time | None:
    """By the speed that the catalog states, None if it states none."""
    entry = plan.entry
    if not entry.speed:
        return None
    usual, low, high = (
        requests * workload(entry, replace(size, written=written)) / entry.speed
        for written in _reply_lengths(plan)
    )
    low, high = low / _GUESSED_SPEED_FACTOR, high * _GUESSED_SPEED_FACTOR
    return _Time(usual, low, high, measured=False)


def _reply_lengths(plan: CellPlan) -> tuple[float, float, float]:
    """Tokens of a reply until the model has written one here: as usual, the fewest, the most.

    What a rule replies is there at once, however long it is.
    """
    if not _writes(plan) or traits_of(plan.entry).rule_based:
        return 0.0, 0.0, 0.0
    names_option = MODES[plan.mode_name].shows_options
    usual = float(min(plan.mode.max_tokens, _LETTER_TOKENS if names_option else _REPLY_TOKENS))
    most = min(plan.mode.max_tokens, usual * _GUESSED_REPLY_FACTOR)
    return usual, usual / _GUESSED_REPLY_FACTOR, most


def _speeds_in_mode(plan: CellPlan, speeds: Throughputs) -> list[Throughput]:
    """What was measured of the model in the mode."""
    return [speed for mode, speed in _speeds_of(plan, speeds) if mode == plan.mode_name]


def _speeds_in_other_modes(plan: CellPlan, speeds: Throughputs) -> list[Throughput]:
    """What was measured of the model with requests of the same kind, else any.

    Of another kind only what scored prompts counts: it says how fast the model reads.
    """
    own = _speeds_of(plan, speeds)
    kind = _generates(plan.mode_name)
    return [speed for mode, speed in own if _generates(mode) == kind] or [
        speed for mode, speed in own if not _generates(mode)
    ]


def _speeds_of(plan: CellPlan, speeds: Throughputs) -> list[tuple[str, Throughput]]:
    """What was measured of the model, each with the mode."""
    return [
        (mode, speed)
        for (model, mode, _), measured in speeds.items()
        for speed in measured
        if model == plan.entry.name and speed.size.distinct and mode in MODES
    ]


def _writes(plan: CellPlan) -> bool:
    """Whether the model writes; a judge whose probabilities are read does not."""
    judging = plan.mode.judging
    probable = judging is not None and judging.decided_output == "probabilities"
    return _generates(plan.mode_name) and not probable


def _generates(mode: str) -> bool:
    return MODES[mode].abilities_needed == "generate"


def _loading(entries: Iterable[ModelEntry], times: LoadingTimes) -> list[_Time]:
    """The time until each model that computes here is loaded, one after another.

    The first one of a worker that has not loaded any waits for the libraries, too. One that a
    worker keeps loaded is there at once, unless another one takes its place before.
    """
    here = {entry.name: entry for entry in entries if loads_weights(entry)}
    loads: list[_Time] = []
    for place, entry in enumerate(here.values()):
        weights = entry.parameters / _PARAMETERS_PER_S
        if place == 0 and entry.name in times.loaded:
            continue
        if place == 0 and not times.is_warm:
            others = max(times.cold.values(), default=_IMPORT_S + weights)
            usual = times.cold.get(entry.name, others)
        else:
            usual = times.warm.get(entry.name, _OPEN_S + weights)
        measured = entry.name in times.cold or entry.name in times.warm
        doubt = _SINGLE_SPEED_FACTOR if measured else _GUESSED_SPEED_FACTOR
        loads.append(_Time(usual, usual / doubt, usual * doubt, measured))
    return loads


def _dollars(plan: CellPlan, requests: int, tokens: float, written: ReplyTokens) -> float:
    entry = plan.entry
    # A server writes a token, and charges for it, also where only probabilities are wanted.
    longest = plan.mode.max_tokens if _writes(plan) else 1
    reply = written.get((entry.name, plan.mode_name), longest)
    return requests * (tokens * entry.input_price + reply * entry.output_price) / 1e6


def request_size(
    mode: ModeSpec,
    pattern: Pattern,
    samples: Sequence[Sample],
    setting: ModeSettings,
    *,
    written: float = 0.0,
) -> RequestSize:
    """The size of the cell's requests, roughly, from a sample of questions."""
    sampled = _sampled_requests(mode, pattern, samples, setting)
    requests = [request for each in sampled for request in each]
    if not requests:
        return RequestSize()
    return RequestSize(
        sent=sum(count_tokens(_text(request)) for request in requests) / len(requests),
        distinct=_extrapolated_distinct(sampled, len(samples))
        * len(sampled)
        / len(requests)
        / len(samples),
        written=written,
    )


def workload(entry: ModelEntry, size: RequestSize) -> float:
    """What a request gives the model to compute, in prompt tokens.

    A local model reads what prompts have in common once (docs/speed.md), so only what is distinct
    counts. A token at the place L takes 1 + L / (4 d) times as long as the first, where d is the
    hidden size: beside the 24 d^2 operations of a layer's products stand 4 d L of attention (Kaplan
    et al. 2020, table 1), which run at a lower rate; so does a token written after it. An
    endpoint is sent every prompt whole.
    """
    if traits_of(entry).remote:
        return _TOKENS_PER_REQUEST + size.sent + _TOKENS_PER_WRITTEN * size.written
    attention = size.sent / (4 * (hidden_size(entry) or _DEFAULT_HIDDEN_SIZE))
    return (size.distinct + _TOKENS_PER_WRITTEN * size.written) * (1 + attention)


def count_tokens(text: str) -> int:
    """A rough number of tokens: one per Chinese character, one per four others."""
    chinese = len(HAN_CHARACTER.findall(text))
    return chinese + -(-(len(text) - chinese) // 4)


def _sampled_requests(
    mode: ModeSpec, pattern: Pattern, samples: Sequence[Sample], setting: ModeSettings
) -> list[list[Request]]:
    """The requests of some questions, evenly spread, by question."""
    some = samples[:: max(1, len(samples) // _SAMPLED_QUESTIONS)]
    scorer = MODES[mode.mode]
    requests = [
        [
            request
            for sample, variant in trials
            for request in plan_requests(scorer, sample, variant, setting)
        ]
        for trials in _sampled_trials(mode, pattern, some, setting)
    ]
    return [each for each in requests if each]


def _sampled_trials(
    mode: ModeSpec, pattern: Pattern, samples: Sequence[Sample], setting: ModeSettings
) -> Iterable[list[tuple[Sample, Variant]]]:
    """The first trials of each question. A question may have 362,880 orders: no more are made."""
    if not mode.judging:
        for sample in samples:
            trials = trials_to_run(mode, pattern, (sample,), setting)
            yield list(islice(trials, _SAMPLED_VARIANTS))
        return
    # The pairs to judge are drawn from those of all questions.
    trials = trials_to_run(mode, pattern, samples, setting)
    for _, judged in groupby(trials, key=lambda trial: trial[0].id):
        yield list(judged)[:_SAMPLED_VARIANTS]


def _extrapolated_distinct(sampled: Sequence[Sequence[Request]], n: int) -> float:
    """The distinct prompt tokens of `n` questions, from those of some.

    Half of the questions have less than half of them, because they share their beginnings: what
    the other half adds is what each further question adds.
    """
    half = sampled[::2]
    whole = _trie_tokens(request for each in sampled for request in each)
    if len(half) == len(sampled):
        return float(whole * n)
    each = (whole - _trie_tokens(request for each in half for request in each)) / (
        len(sampled) - len(half)
    )
    return max(0.0, whole - each * len(sampled)) + each * n


def _trie_tokens(requests: Iterable[Request]) -> int:
    """The tokens of a trie of all texts: each as far as it differs from the one before it."""
    tokens, before = 0, ""
    for text in sorted({_text(request) for request in requests}):
        tokens += count_tokens(text[common_prefix_length(before, text) :])
        before = text
    return tokens


def _text(request: Request) -> str:
    prompt: Prompt = request.prompt if isinstance(request, Generate) else request.context
    turns = prompt if isinstance(prompt, tuple) else (Message("user", prompt),)
    scored = request.continuation if isinstance(request, Loglik) else ""
    return "".join(turn.content for turn in turns) + scored
