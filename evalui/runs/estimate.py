"""What a run will send and cost, before it starts, and which of its requests are answered already.

Some questions are enough for the length of requests.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, islice
from types import MappingProxyType

from evalui.generation import PICTURE_SIDE
from evalui.models.base import ModelEntry, addresses_of
from evalui.models.catalog import own_addresses
from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.pictures import Mark, parts
from evalui.replies import HAN_CHARACTER
from evalui.runs.cells import CellPlan, trials_to_run
from evalui.runs.spec import ModeSpec
from evalui.store.codec import request_key
from evalui.store.connection import Database
from evalui.store.pictures import read_picture
from evalui.store.response_cache import (
    ReplySource,
    is_deterministic,
    known_responses,
    reply_sources,
)
from evalui.types import (
    Dataset,
    Pattern,
    Request,
    Sample,
    Variant,
    texts_of,
)

# Tokens that a model wrote for each request of a mode, see `store.usage.mean_reply_tokens`.
ReplyTokens = Mapping[tuple[str, str], float]

_NO_REPLY_TOKENS: ReplyTokens = MappingProxyType({})
# Making the prompts of more than this takes longer than a person waits for an estimate.
_MAX_LOOKUPS = 3_000
_SAMPLED_QUESTIONS = 24  # of a cell
_SAMPLED_VARIANTS = 24  # of each question
_PIXELS_PER_TOKEN, _MAX_PICTURE_TOKENS = 750, 1_600


@dataclass(frozen=True, slots=True)
class KeptElsewhere:
    """Replies to a planned run's `requests` of a model, kept of addresses that its entry had
    before, by their digest. The newest are of a `run` that requested them from `made` on, in
    seconds since 1970.
    """

    model: str
    addresses: str
    replies: int
    requests: int
    run: str
    made: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests in all, prompt tokens in all (roughly), and requests already answered.

    `judged` requests go to judges.
    `dollars` is what the requests not yet answered cost, roughly: every reply as long as this
    model's were so far, or as it may be, and the answers that a judge will read of middling length.
    None if no model of the run has a price. `kept_elsewhere` are replies of which somebody has to
    say whether they are the model's.
    """

    requests: int
    tokens: int
    cached: int
    judged: int = 0
    dollars: float | None = None
    kept_elsewhere: tuple[KeptElsewhere, ...] = ()


def estimate(
    database: Database,
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    cached: Sequence[int] = (),
    reply_tokens: ReplyTokens = _NO_REPLY_TOKENS,
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
    lengths = _prompt_lengths(database, [plan for plan, _ in able], datasets)
    prices = [
        _dollars(plan, plan.requests - hits, length, reply_tokens)
        for (plan, hits), length in zip(able, lengths, strict=True)
        if plan.entry.input_price or plan.entry.output_price
    ]
    return Estimate(
        requests=sum(plan.requests for plan, _ in able),
        tokens=sum(
            round(plan.requests * length) for (plan, _), length in zip(able, lengths, strict=True)
        ),
        cached=sum(hits for _, hits in able),
        judged=sum(plan.requests for plan, _ in able if plan.mode.judging),
        dollars=sum(prices) if prices else None,
    )


def count_cached(
    database: Database, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]
) -> tuple[int, ...]:
    """For each plan, how many of its requests are already answered, as far as is known.

    A model that has never run here has no known fingerprint and counts as 0. Of a cell of more than
    3,000 requests those of some questions stand for all. `datasets` are by `CellPlan.source`.
    """
    # The newest fingerprint of a model, at the same addresses, comes last.
    rows = [
        *database.rows("SELECT model, fingerprint FROM pace ORDER BY id"),
        *database.rows("SELECT model, fingerprint FROM reply_source ORDER BY made, id"),
    ]
    newest = {(row["model"], addresses_of(row["fingerprint"])): row["fingerprint"] for row in rows}

    def fingerprint(entry: ModelEntry) -> str:
        addresses = entry.options.get("replies_of") or own_addresses(entry)
        return newest.get((entry.name, addresses), "")

    return tuple(
        _hits(database, plan, datasets[plan.source], fingerprint(plan.entry)) for plan in plans
    )


def kept_elsewhere(
    database: Database,
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    cached: Sequence[int],
) -> tuple[KeptElsewhere, ...]:
    """The replies that are kept of models whose addresses have changed since, unless all of their
    own are kept, too: `cached`, as `count_cached` counts them.

    Judges have none: what they will be shown is not written yet.
    """
    by_model: dict[str, list[CellPlan]] = {}
    own_replies: Counter[str] = Counter()
    for plan, hits in zip(plans, cached, strict=True):
        if plan.requests and not (plan.impossible or plan.mode.judging):
            by_model.setdefault(plan.entry.name, []).append(plan)
            own_replies[plan.entry.name] += hits
    found: list[KeptElsewhere] = []
    for model, own in by_model.items():
        total = sum(plan.requests for plan in own)
        for addresses, source in _sources_elsewhere(database, own[0].entry).items():
            hits = sum(_hits(database, p, datasets[p.source], source.fingerprint) for p in own)
            is_chosen = own[0].entry.options.get("replies_of") == addresses
            if hits and (is_chosen or own_replies[model] < total):
                found.append(KeptElsewhere(model, addresses, hits, total, source.run, source.made))
    return tuple(sorted(found, key=lambda each: -each.made))


def has_moved(database: Database, entry: ModelEntry) -> bool:
    """Whether replies are kept of other addresses than the entry has now."""
    return bool(_sources_elsewhere(database, entry))


def _sources_elsewhere(database: Database, entry: ModelEntry) -> dict[str, ReplySource]:
    """The newest source of replies from each of the addresses that the entry had before."""
    if not (own := own_addresses(entry)):
        return {}
    sources = {addresses_of(each.fingerprint): each for each in reply_sources(database, entry.name)}
    return {addresses: each for addresses, each in sources.items() if addresses not in ("", own)}


def _hits(database: Database, plan: CellPlan, dataset: Dataset, fingerprint: str) -> int:
    if not fingerprint or plan.impossible or not plan.requests:
        return 0
    if plan.mode.judging:
        return 0  # what it will be shown is not written yet
    mode = MODES[plan.mode_name]
    samples = dataset.samples[: plan.questions][:: -(-plan.requests // _MAX_LOOKUPS)]
    requests = (
        request
        for sample, variant in trials_to_run(plan.mode, plan.pattern, samples, plan.setting)
        for request in plan_requests(mode, sample, variant, plan.setting)
    )
    some = list(islice(requests, _MAX_LOOKUPS))
    keys = [request_key(fingerprint, each) for each in some if is_deterministic(each)]
    known = known_responses(database, dict.fromkeys(keys))
    return round(sum(key in known for key in keys) * plan.requests / len(some))


def count_tokens(text: str) -> int:
    """A rough number of tokens: one per Chinese character, one per four others."""
    chinese = len(HAN_CHARACTER.findall(text))
    return chinese + -(-(len(text) - chinese) // 4)


def _prompt_lengths(
    database: Database, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]
) -> list[float]:
    """The mean tokens of each plan's prompts; models that are sent the same share the sample."""
    known: dict[tuple[str, str], float] = {}
    for plan in plans:
        key = _prompt_key(plan)
        if plan.requests and key not in known:
            samples = datasets[plan.source].samples[: plan.questions]
            sampled = _sampled_requests(plan.mode, plan.pattern, samples, plan.setting)
            size = cache(partial(_size, database, datasets[plan.source].pictures))
            lengths = [_prompt_tokens(request, size) for request in sampled]
            known[key] = sum(lengths) / len(lengths) if lengths else 0.0
    return [known.get(_prompt_key(plan), 0.0) for plan in plans]


def _prompt_key(plan: CellPlan) -> tuple[str, str]:
    return plan.source, plan.mode.model_dump_json()


def _dollars(plan: CellPlan, requests: int, tokens: float, written: ReplyTokens) -> float:
    entry, judging = plan.entry, plan.mode.judging
    probable = judging is not None and judging.decided_output == "probabilities"
    writes = plan.mode.ability == "generate" and not probable
    # A server writes a token, and charges for it, also where only probabilities are wanted.
    longest = plan.mode.max_tokens if writes else 1
    reply = written.get((entry.name, plan.mode_name), longest)
    return requests * (tokens * entry.input_price + reply * entry.output_price) / 1e6


def _sampled_requests(
    mode: ModeSpec, pattern: Pattern, samples: Sequence[Sample], setting: ModeSettings
) -> list[Request]:
    """The requests of some questions, evenly spread."""
    some = samples[:: max(1, len(samples) // _SAMPLED_QUESTIONS)]
    scorer = MODES[mode.mode]
    return [
        request
        for trials in _sampled_trials(mode, pattern, some, setting)
        for sample, variant in trials
        for request in plan_requests(scorer, sample, variant, setting)
    ]


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


def _prompt_tokens(request: Request, size: Callable[[str], tuple[int, int] | None]) -> int:
    """Those of the texts and of the pictures, of which `size` tells the pixels by their ids."""
    side = request.picture_side or PICTURE_SIDE
    pieces = [part for text in texts_of(request) for part in parts(text)]
    sizes = [size(part.id) for part in pieces if isinstance(part, Mark)]
    pictures = sum(picture_tokens(*each, side) for each in sizes if each)
    return count_tokens("".join(each for each in pieces if isinstance(each, str))) + pictures


def picture_tokens(width: int, height: int, side: int) -> int:
    """A rough number of tokens of a picture of so many pixels, made smaller to `side`.

    One for 750 pixels, and 1,600 at most: Anthropic's rule (platform.claude.com/docs, "Vision",
    "Estimate image costs"). Qwen's models have one for 784 pixels, OpenAI's 765 for 1024 x 1024 in
    tiles.
    """
    scale = min(1.0, side / max(width, height))
    return min(_MAX_PICTURE_TOKENS, -(-round(width * scale * height * scale) // _PIXELS_PER_TOKEN))


def _size(database: Database, place: str, id_: str) -> tuple[int, int] | None:
    """Pixels of a picture's width and height, None if the dataset has no such picture."""
    from PIL import Image

    picture = read_picture(database, place, id_)
    if picture is None:
        return None
    with Image.open(io.BytesIO(picture.body)) as image:
        return image.size
