"""Which ways of computing a network agree with computing each text alone.

Prefix trees, padded rows, cached generation and left padding are faster than one row at a time, and
each rests on assumptions that some architecture breaks without an error: a window that its cache
does not state, positions that count padding, a convolution across the branches of a tree. So all
are compared with single rows when a model is opened, on texts longer than its windows, and what
differs is not used. The same rows show whether the network is causal at all.
"""

import json
import logging
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch
from transformers.generation.configuration_utils import GenerationConfig
from transformers.generation.logits_process import LogitsProcessorList

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.local.forward import (
    LogprobResult,
    OutOfMemory,
    PaddedNetwork,
    TreeNetwork,
    raise_oom,
)
from evalui.models.local.kv_cache import CachedModel, KVCache, concat
from evalui.models.local.loading import LoadedModel, largest_number, pad_left, to_list
from evalui.models.local.picture_network import PictureNetwork, PictureScores
from evalui.models.local.pictures import PictureInputs
from evalui.models.local.prefix_tree import TreeBatch, plan_tree_batches
from evalui.models.local.tree_attention import UnsupportedArchitecture
from evalui.models.scoring_requests import (
    UNLIMITED,
    LogprobBatch,
    LogprobQuery,
    TokenIds,
    plan_batches,
)
from evalui.models.tokenization import common_prefix_length

VERSION = "3"  # part of what stored results are found by: raise it when a result may change
FILE = "self-checks.json"
UNSUPPORTED = "unsupported"
NOT_CAUSAL = "not causal"

# In natural logarithms, of the log-probability of a token: at most 1e-3 in float32, 32 units of the
# last place of a coarser type. In float32 it is seen what rounding does to a network, where one
# beginning is followed by different texts, and no more than ten times that or 1e-4 is allowed for.
_TOLERANCE, _ULPS, _LEAST_TOLERANCE, _NOISE_FACTOR = 1e-3, 32, 1e-4, 10
_CAUSAL_FACTOR = 4  # times the larger bound: what follows a token changes it by nats if at all
# What torch and transformers raise when an architecture lacks what is requested of it.
_UNSUPPORTED_ERRORS = (
    *(TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError),
    *(AssertionError, NotImplementedError),
)
_PREFIX_TOKENS = 24  # that most probes begin with
_FORCED_TOKENS = 4  # that are continued one by one where generation is checked
_CACHED_STEPS = 2  # of them with a cache of this program, where no text passes a window's end
_PAST_WINDOW = 15  # tokens of the longest probe beyond a window
# Settings of an architecture that name a length in tokens within which attention differs.
_WINDOW_NAME = re.compile(
    r"(^|_)(sliding_window|window|local_attention)(_size)?$|attention_chunk_size|chunk_length"
    r"|(^|_)block_size$|compress_rates?$"
)
_SELECTED_NAME = re.compile(r"^index_topk(_blocks)?$")
_BLOCK_NAME = re.compile(r"compress_rates?$|^index_block_size$|compress_ratio$")
# Arithmetic operations that the probes past a window may take, on a CPU and on a GPU.
_MAX_WORK = {"cpu": 5e12, "cuda": 1e15}
_PASSES = 8  # over the longest probe, in the whole check

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedPaths:
    """For each way of computing "" if it agrees with single rows, else why it is not used.

    That is `UNSUPPORTED` where the architecture does not allow it, else by how much a
    log-probability differs. `trees` are prefix trees, `rows` padded rows (not compared where trees
    take every text), `cached` rows continued with a cache of this program, `shared_prefix` the same
    after a common beginning, `left_padded` rows continued by transformers together, and `own_cache`
    one row by transformers with a cache. `checked_length` is the longest text in tokens for which
    all this is known.

    Of texts with pictures, `pictures` is why none can be computed, `picture_prefix` are those that
    share a beginning, `picture_rows` rows continued with a cache of this program, and
    `picture_cache` one reply by transformers with a cache.
    """

    trees: str = ""
    rows: str = ""
    cached: str = ""
    shared_prefix: str = ""
    left_padded: str = ""
    own_cache: str = ""
    checked_length: int = UNLIMITED
    pictures: str = ""
    picture_prefix: str = ""
    picture_rows: str = ""
    picture_cache: str = ""

    @property
    def differences(self) -> tuple[str, ...]:
        """The names of the ways that are not used, and the length that is checked if not all is."""
        ways = ("trees", "rows", "cached", "shared_prefix", "left_padded", "own_cache")
        ways += ("pictures", "picture_prefix", "picture_rows", "picture_cache")
        limit = (f"to:{self.checked_length}",) if self.checked_length < UNLIMITED else ()
        return (*(f"not:{way}" for way in ways if getattr(self, way)), *limit)

    def notes(self, kind: str) -> tuple[Sentence, ...]:
        """What a user is to know of a network of the architecture `kind`, a sentence each."""
        alone = sentence("error.pictures-alone", kind=kind) if self.picture_prefix else None
        notes = (
            *(self._scoring_note(kind), alone),
            *(self._generation_note(kind), self._length_note(kind)),
        )
        return tuple(note for note in notes if note)

    def pictures_refused(self, kind: str) -> Sentence | None:
        """Why a network of the architecture `kind` cannot be shown pictures, None if it can."""
        if not self.pictures:
            return None
        if self.pictures == NOT_CAUSAL:
            return sentence("error.pictures-not-causal", kind=kind)
        return sentence("error.not-computable", kind=kind, reason=self.pictures)

    def _scoring_note(self, kind: str) -> Sentence | None:
        if not self.trees:
            return None
        if self.rows:
            return sentence("error.rows-differ", kind=kind)
        if self.trees == UNSUPPORTED:
            return sentence("error.no-tree", kind=kind)
        return sentence("error.tree-differs", off=self.trees)

    def _generation_note(self, kind: str) -> Sentence | None:
        if self.picture_cache:
            return sentence("error.cache-differs", kind=kind)
        if self.picture_rows not in ("", UNSUPPORTED):
            return sentence("error.padding-differs", kind=kind)
        if self.cached and self.left_padded:
            if self.own_cache:
                return sentence("error.cache-differs", kind=kind)
            return sentence("error.padding-differs", kind=kind)
        if self.shared_prefix not in ("", UNSUPPORTED):
            return sentence("error.prefix-differs", kind=kind)
        return None

    def _length_note(self, kind: str) -> Sentence | None:
        if self.checked_length >= UNLIMITED:
            return None
        return sentence("error.unchecked-length", kind=kind, n=self.checked_length)


def check_paths(loaded: LoadedModel, with_pictures: Sequence[PictureInputs] = ()) -> CheckedPaths:
    """Compute some texts in every way, and each alone; so those with pictures, of which the first
    two begin alike.

    Raises:
        OutOfMemory: the device has too little memory for a hundred tokens.
        ModelError: the network computes NaN, is not causal, or cannot be computed.
    """
    windows = [each for each in _windows_of(loaded) if not 0 < loaded.max_length <= each]
    longest = _affordable_tokens(loaded) - _PAST_WINDOW
    probed = max((each for each in windows if each <= longest), default=0)
    unchecked = [*_selection_lengths_of(loaded), *(each for each in windows if each > probed)]
    try:
        checked = _check_paths(loaded, probed, min(unchecked, default=UNLIMITED))
    except OutOfMemory:
        if not probed:
            raise
        checked = _check_paths(loaded, 0, min([*windows, *unchecked]))
    checked = _check_pictures(loaded, with_pictures, checked) if with_pictures else checked
    for note in checked.notes(str(loaded.model.config.model_type)):
        _LOG.warning("%s", note)
    return checked


def stored_paths(
    folder: Path, key: str, loaded: LoadedModel, with_pictures: Sequence[PictureInputs] = ()
) -> CheckedPaths:
    """The result of `check_paths` stored in the folder under the key, else a new one, stored.

    The key must name everything the result depends on: files, device, precision, versions.

    Raises:
        OutOfMemory, ModelError: as `check_paths`, of which nothing is stored.
    """
    path, key = folder / FILE, f"{VERSION}:{key}"
    if stored := _read_results(path).get(key):
        return stored
    checked = check_paths(loaded, with_pictures)
    try:
        _store_result(path, key, checked)
    except OSError as error:
        _LOG.info("%s cannot be written, so the check will be repeated: %s", path, error.strerror)
    return checked


def max_tree_length(loaded: LoadedModel) -> int:
    """The longest sequence in tokens that may be computed in a prefix tree.

    In a longer one some layer does not attend to all tokens, or positions depend on the other
    sequences of the batch. 0 if attention scores depend on the index in the batch (Llama 4), which
    in a tree is not the position.
    """
    if getattr(loaded.model.config.get_text_config(), "attn_temperature_tuning", False):
        return 0
    return min([loaded.rope_safe_length, *_windows_of(loaded)])


def _windows_of(loaded: LoadedModel) -> list[int]:
    """Lengths in tokens beyond which some layer may not attend to all of a text."""
    return [each for config in _configs_of(loaded) for each in _windows_in(config)]


def _configs_of(loaded: LoadedModel) -> list[Any]:
    """The settings of the text network, of each layer by itself where they differ."""
    config = loaded.model.config.get_text_config()
    return [*config.per_layer_config] if getattr(config, "is_heterogeneous", False) else [config]


def _windows_in(config: Any) -> list[int]:
    kinds = getattr(config, "layer_types", None) or ()
    # Many files state a window that no layer has.
    unused = bool(kinds) and all(kind == "full_attention" for kind in kinds)
    return _lengths_in(config, _WINDOW_NAME, skipped="sliding_window" if unused else "")


def _selection_lengths_of(loaded: LoadedModel) -> list[int]:
    """Lengths in tokens beyond which some layer selects the tokens that it attends to.

    Which of two equal ones it selects depends on the length of the rows of a batch, so no text
    shows what happens to another.
    """
    lengths: list[int] = []
    for config in _configs_of(loaded):
        blocks = _lengths_in(config, _BLOCK_NAME) or [1]
        selected = _lengths_in(config, _SELECTED_NAME)
        lengths += [number * min(blocks) for number in selected]
    return lengths


def _lengths_in(config: Any, names: re.Pattern[str], skipped: str = "") -> list[int]:
    """The lengths that settings of these names state, one or one for each type of layer."""
    lengths: list[Any] = []
    for name, value in cast("dict[str, Any]", vars(config)).items():
        if names.search(name) and name != skipped:
            lengths += [*cast(Any, value).values()] if isinstance(value, dict) else [value]
    return [each for each in lengths if type(each) is int and each > 1]


def _affordable_tokens(loaded: LoadedModel) -> int:
    """How many tokens the longest probe may have, by the work that all probes take."""
    parameters = sum(each.numel() for each in loaded.model.parameters())
    most = _MAX_WORK.get(loaded.device.type, _MAX_WORK["cpu"])
    return int(most / (2 * max(1, parameters) * _PASSES))


# The log-probabilities of the ids looked up, by (number of the text, tokens of it before them).
_Scores = dict[tuple[int, int], tuple[float, ...]]


class _Probes:
    """Texts, some of which begin alike, and the token ids whose probabilities are looked up.

    `siblings` are two texts that begin alike and where generation is checked, beyond the window if
    there is one; `others` are texts that are generated beside them. `branches` share beginnings of
    two lengths.
    """

    branches = (0, 1, 2)

    def __init__(self, vocabulary: int, window: int) -> None:
        # Small ids are letters and common words in any vocabulary, and never those of an image.
        self._limit = max(2, min(vocabulary, 1000))
        prefix = self._some(1, _PREFIX_TOKENS)
        branch = prefix + self._some(2, 9)
        self.texts = [
            branch + self._some(3, 3),
            branch + self._some(8, 8),
            prefix + self._some(11, 17),
            self._some(13, 12),
        ]
        self.siblings, self.others = (2, 0), (3,)
        self.long: tuple[int, ...] = ()
        if window > len(self.texts[1]) - _PAST_WINDOW:
            # Padding between the beginning and the shorter rest is longer than what the window has
            # to spare, and that text passes the end of the window while it is generated.
            stem = self._some(19, window - 9)
            self.texts += [stem + self._some(23, _PAST_WINDOW + 9), stem + self._some(29, 12)]
            self.siblings, self.others = (4, 5), (2, 3)
            self.long = self.siblings
        self.ids = self._some(17, 12)

    def queries(self, *, within: int) -> list[LogprobQuery]:
        """The queries of the texts of at most so many tokens."""
        return [
            LogprobQuery(at, text, tuple((length, self.ids) for length in self._lengths(at)))
            for at, text in enumerate(self.texts)
            if len(text) <= within
        ]

    def prompt(self, at: int) -> TokenIds:
        """The part of a text that is a prompt where generation is checked."""
        return self.texts[at][:-_FORCED_TOKENS]

    def shared(self) -> int:
        """The tokens that the siblings begin with."""
        left, right = self.siblings
        return common_prefix_length(self.texts[left], self.texts[right])

    def _lengths(self, at: int) -> list[int]:
        text = self.texts[at]
        shared = {common_prefix_length(text, other) for other in self.texts if other != text} - {0}
        return sorted({*shared, *range(len(text) - _FORCED_TOKENS, len(text) + 1)})

    def _some(self, seed: int, length: int) -> TokenIds:
        """Fixed ids that look arbitrary."""
        return tuple(
            (seed * 7919 + at * (at + seed) * 31 + 17) % self._limit for at in range(length)
        )


def _check_paths(loaded: LoadedModel, window: int, limit: int) -> CheckedPaths:
    """The check with texts longer than `window`; those over `limit` tokens remain unchecked."""
    config = loaded.model.config.get_text_config()
    probes = _Probes(largest_number(config, "vocab_size"), window)
    plain = PaddedNetwork(loaded)
    alone = _scores_alone(plain, loaded, probes)
    noise = _check_causal(plain, loaded, probes, alone)
    compare = _Comparison(alone, _tolerance(noise, loaded))
    trees, rows = compare(lambda: _tree_scores(loaded, probes)), ""
    # Where every text fits a tree no rows are computed together.
    if trees or not 0 < loaded.max_length <= max_tree_length(loaded):
        rows = compare(lambda: _row_scores(plain, probes, within=loaded.rope_safe_length))
    checked = CheckedPaths(trees=trees, rows=rows, checked_length=limit)
    return _check_generation(loaded, probes, compare, checked)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Called with a function that computes scores: "" if they agree with those of texts alone."""

    alone: _Scores
    tolerance: float

    def __call__(self, compute: Callable[[], _Scores]) -> str:
        try:
            scores = compute()
        except (UnsupportedArchitecture, ModelError, *_UNSUPPORTED_ERRORS) as error:
            _LOG.info("One way to compute is not used: %s", error)
            return UNSUPPORTED
        differences = (_difference(self.alone[at], logprobs) for at, logprobs in scores.items())
        difference = max(differences, default=0.0)
        return "" if difference <= self.tolerance else f"{difference:.2g}"


def _difference(left: Sequence[float], right: Sequence[float]) -> float:
    """The largest difference, infinite where one is no number."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    differences = [abs(a - b) for a, b in pairs]
    return math.inf if any(map(math.isnan, differences)) else max(differences, default=0.0)


def _scores_alone(plain: PaddedNetwork, loaded: LoadedModel, probes: _Probes) -> _Scores:
    """Each text by itself.

    Raises:
        ModelError: this version of transformers cannot compute the network, or it computes NaN.
    """
    try:
        return _padded(plain, probes.queries(within=UNLIMITED), safe_length=0)
    except _UNSUPPORTED_ERRORS as error:
        kind = str(loaded.model.config.model_type)
        reason = f"{type(error).__name__}: {error}"
        raise ModelError("not-computable", kind=kind, reason=reason) from error


def _check_causal(
    plain: PaddedNetwork, loaded: LoadedModel, probes: _Probes, alone: _Scores
) -> float:
    """The largest difference between equal beginnings of texts: that of rounding.

    Raises:
        ModelError: what follows a beginning changes it.
    """
    equal: dict[TokenIds, list[tuple[float, ...]]] = {}
    for (at, length), logprobs in alone.items():
        equal.setdefault(probes.texts[at][:length], []).append(logprobs)
    noise = max(_difference(each[0], other) for each in equal.values() for other in each)
    bound = _bound(loaded)
    if noise <= bound:
        return noise
    # In a coarse type the length of a text alone may change the result so much. So another text of
    # the same length is compared, whose sums are the same if the network is causal.
    query = probes.queries(within=UNLIMITED)[1]
    first = query.targets[0][0]
    text = query.tokens[:first] + query.tokens[: len(query.tokens) - first]
    changed = LogprobQuery(1, text, query.targets[:1])
    logprobs = _padded(plain, [changed], safe_length=0)
    if _difference(logprobs[1, first], alone[1, first]) > _CAUSAL_FACTOR * bound:
        raise ModelError("no-causal-network", kind=str(loaded.model.config.model_type))
    return noise


def _bound(loaded: LoadedModel) -> float:
    return max(_TOLERANCE, _ULPS * torch.finfo(loaded.model.dtype).eps)


def _tolerance(noise: float, loaded: LoadedModel) -> float:
    """How much a way of computing may differ; in coarse types the shape of a batch alone decides
    between neighbouring numbers.
    """
    bound = _bound(loaded)
    exact = bound == _TOLERANCE
    return min(bound, max(_LEAST_TOLERANCE, _NOISE_FACTOR * noise)) if exact else bound


def _row_scores(plain: PaddedNetwork, probes: _Probes, *, within: int) -> _Scores:
    return _padded(plain, probes.queries(within=UNLIMITED), safe_length=within)


def _padded(plain: PaddedNetwork, queries: Sequence[LogprobQuery], *, safe_length: int) -> _Scores:
    batches = plan_batches(
        queries, token_budget=UNLIMITED, max_logit_rows=UNLIMITED, rope_safe_length=safe_length
    )
    return _by_length((batch, plain.compute_logprobs(batch)) for batch in batches)


def _tree_scores(loaded: LoadedModel, probes: _Probes) -> _Scores:
    within = max_tree_length(loaded)
    queries = [each for each in probes.queries(within=within) if each.key in probes.branches]
    if len(queries) < len(probes.branches):
        raise UnsupportedArchitecture(f"texts of over {within} tokens need another attention")
    tree = TreeNetwork(loaded, prefix_cache_bytes=0)
    # Of the beginnings one is cached and the other is not.
    tree.prefix_states(queries[0].tokens[:_PREFIX_TOKENS], cacheable_length=_PREFIX_TOKENS)
    batches = plan_tree_batches(
        queries,
        cached_prefixes=tree.prefix_cache,
        token_budget=UNLIMITED,
        max_logit_rows=UNLIMITED,
    )
    return _by_length((batch, tree.compute_logprobs(batch)) for batch in batches)


def _by_length(results: Iterable[tuple[TreeBatch | LogprobBatch, LogprobResult]]) -> _Scores:
    scores: _Scores = {}
    for batch, result in results:
        for query, own in batch.query_slices:
            logprobs = iter(result.logprobs[own])
            for length, ids in query.targets:
                scores[query.key, length] = tuple(islice(logprobs, len(ids)))
    return scores


def _check_generation(
    loaded: LoadedModel, probes: _Probes, compare: _Comparison, checked: CheckedPaths
) -> CheckedPaths:
    """`checked` with what holds for generation, the fastest way first: the first one that agrees
    is used, and no slower one is computed.
    """
    # What transformers caches of a longer text depends on its length so far.
    within = loaded.rope_safe_length
    rows = [at for at in (*probes.siblings, *probes.others) if len(probes.texts[at]) <= within]
    cached_model = CachedModel(loaded)
    shared = cached = UNSUPPORTED
    if cached_model.is_supported and len(rows) > 1:
        if cached_model.supports_shared_prefix and set(probes.siblings) <= set(rows):
            shared = compare(lambda: _cached_scores(cached_model, probes, rows, shares=True))
        if shared:
            cached = compare(lambda: _cached_scores(cached_model, probes, rows, shares=False))
        else:
            cached = ""
    checked = replace(checked, cached=cached, shared_prefix=shared)
    if not cached:
        return checked
    padded = UNSUPPORTED
    if len(rows) > 1:
        padded = compare(lambda: _generated_scores(loaded, probes, rows))
    single = ""
    if padded:
        single = compare(
            lambda: {
                key: logprobs
                for at in rows
                for key, logprobs in _generated_scores(loaded, probes, [at]).items()
            }
        )
    return replace(checked, left_padded=padded, own_cache=single)


@torch.inference_mode()
def _cached_scores(
    cached_model: CachedModel, probes: _Probes, rows: Sequence[int], *, shares: bool
) -> _Scores:
    """The rows continued together as `TokenGenerator` does, the first one only half of the way."""
    caches: list[KVCache] = []
    logits: list[torch.Tensor] = []
    with raise_oom():
        siblings = list(probes.siblings) if shares else []
        if shares:
            shared = probes.shared()
            stem, _ = cached_model.prefill([probes.texts[siblings[0]][:shared]])
            rests = [probes.prompt(at)[shared:] for at in siblings]
            cache, after = cached_model.prefill(rests, stem)
            caches.append(cache)
            logits.append(after)
        # The others are padded by themselves, and again where they join the siblings.
        others = [at for at in rows if at not in siblings]
        if others:
            cache, after = cached_model.prefill([probes.prompt(at) for at in others])
            caches.append(cache)
            logits.append(after)
        order = [*siblings, *others]
        cache, next_logits = concat(caches), torch.cat(logits)
        scores = _forced_scores(next_logits, probes, order, 0)
        steps = _FORCED_TOKENS if probes.long else _CACHED_STEPS
        for step in range(steps):
            if step == steps // 2:
                order = order[1:]
                cache.select_rows(range(1, len(order) + 1))
            next_logits = cached_model.decode(
                cache, [probes.texts[at][step - _FORCED_TOKENS] for at in order]
            )
            scores |= _forced_scores(next_logits, probes, order, step + 1)
    return scores


@torch.inference_mode()
def _generated_scores(loaded: LoadedModel, probes: _Probes, rows: Sequence[int]) -> _Scores:
    """The rows continued together by transformers, padded on the left."""
    ids, mask = pad_left([probes.prompt(at) for at in rows], loaded.device)
    scores: _Scores = {}

    def note(logits: torch.Tensor, step: int) -> None:
        scores.update(_forced_scores(logits, probes, rows, step))

    arguments = {"input_ids": ids, "attention_mask": mask.long()}
    _generate_forced(loaded, [probes.texts[at] for at in rows], arguments, note)
    return scores


def _generate_forced(
    loaded: LoadedModel,
    texts: Sequence[TokenIds],
    arguments: Mapping[str, torch.Tensor],
    note: Callable[[torch.Tensor, int], None],
) -> None:
    """Have transformers write the last tokens of the texts after their prompts, in `arguments`;
    `note` is given the logits of each step.
    """
    steps = iter(range(_FORCED_TOKENS + 1))

    def force(_ids: Any, logits: torch.Tensor) -> torch.Tensor:
        step = next(steps)
        note(logits, step)
        forced = torch.full_like(logits, -torch.inf)
        for row, text in enumerate(texts):
            forced[row, (*text, 0)[len(text) - _FORCED_TOKENS + step]] = 0
        return forced

    with raise_oom():
        loaded.model.generate(
            **arguments,
            generation_config=GenerationConfig(
                max_new_tokens=_FORCED_TOKENS + 1,
                do_sample=False,
                eos_token_id=None,
                pad_token_id=0,
            ),
            logits_processor=LogitsProcessorList([force]),
        )


def _forced_scores(
    logits: torch.Tensor, probes: _Probes, rows: Sequence[int], step: int
) -> _Scores:
    """What (rows, vocabulary) logits say after `step` of the tokens that are continued."""
    return {
        (at, len(probes.prompt(at)) + step): logprobs
        for at, logprobs in zip(rows, _logprobs_of(logits, probes.ids), strict=True)
    }


def _logprobs_of(logits: torch.Tensor, ids: TokenIds) -> list[tuple[float, ...]]:
    """The log-probabilities of some ids in each row of (rows, vocabulary) logits."""
    return [tuple(row) for row in to_list(logits.float().log_softmax(-1)[:, list(ids)])]


def _check_pictures(
    loaded: LoadedModel, texts: Sequence[PictureInputs], checked: CheckedPaths
) -> CheckedPaths:
    """`checked` with what holds for texts with pictures, of which the first two begin alike."""
    ids = _Probes(largest_number(loaded.model.config.get_text_config(), "vocab_size"), 0).ids
    network = PictureNetwork(loaded, max_shared_length=max_tree_length(loaded))
    shared = common_prefix_length(texts[0].ids, texts[1].ids)
    begin = ((shared,), (shared,), *[()] * (len(texts) - 2))
    queries = [
        LogprobQuery(at, text.ids, tuple((length, ids) for length in (*begin[at], *_ends(text))))
        for at, text in enumerate(texts)
    ]
    alone: _Scores = {}
    try:
        for query, text in zip(queries, texts, strict=True):
            alone |= _picture_scores([network.alone(query, text)])
    except (ModelError, *_UNSUPPORTED_ERRORS) as error:
        return replace(checked, pictures=f"{type(error).__name__}: {error}")
    noise = _difference(alone[0, shared], alone[1, shared])
    if noise > _CAUSAL_FACTOR * _bound(loaded):
        return replace(checked, pictures=NOT_CAUSAL)
    compare = _Comparison(alone, _tolerance(noise, loaded))
    by_ids = {text.ids: text for text in texts}
    prefix = compare(lambda: _picture_scores(network.score(queries[:2], by_ids.__getitem__)))
    rows, cache, cached_model = UNSUPPORTED, "", CachedModel(loaded)
    if cached_model.is_supported:
        rows = compare(lambda: _continued_scores(cached_model, texts, ids))
    if rows:
        cache = compare(lambda: _written_scores(loaded, texts, ids))
    return replace(checked, picture_prefix=prefix, picture_rows=rows, picture_cache=cache)


def _ends(text: PictureInputs) -> range:
    """The lengths of a text at which the tokens that are continued begin and end."""
    return range(len(text.ids) - _FORCED_TOKENS, len(text.ids) + 1)


def _picture_scores(scores: Iterable[PictureScores]) -> _Scores:
    return {
        (each.query.key, length): logprobs
        for each in scores
        for (length, _), logprobs in zip(each.query.targets, each.by_target(), strict=True)
    }


@torch.inference_mode()
def _continued_scores(
    cached_model: CachedModel, texts: Sequence[PictureInputs], ids: TokenIds
) -> _Scores:
    """Each text up to its end, then all continued together, the first one only half of the way."""
    order = list(range(len(texts)))
    with raise_oom():
        read = [
            cached_model.prefill_with_pictures(text.beginning(_ends(text)[0])) for text in texts
        ]
        cache, logits = concat([each for each, _ in read]), torch.cat([each for _, each in read])
        scores: _Scores = {}
        for step in range(_FORCED_TOKENS + 1):
            for at, logprobs in zip(order, _logprobs_of(logits, ids), strict=True):
                scores[at, _ends(texts[at])[step]] = logprobs
            if step == _FORCED_TOKENS // 2:
                order = order[1:]
                cache.select_rows(range(1, len(order) + 1))
            if step < _FORCED_TOKENS:
                tokens = [texts[at].ids[step - _FORCED_TOKENS] for at in order]
                logits = cached_model.decode(cache, tokens)
    return scores


@torch.inference_mode()
def _written_scores(loaded: LoadedModel, texts: Sequence[PictureInputs], ids: TokenIds) -> _Scores:
    """Each text continued by transformers after its prompt."""
    scores: _Scores = {}
    for at, text in enumerate(texts):
        prompt = text.beginning(_ends(text)[0])

        def note(logits: torch.Tensor, step: int, at: int = at, n: int = len(prompt.ids)) -> None:
            scores[at, n + step] = _logprobs_of(logits, ids)[0]

        arguments = prompt.arguments(loaded.device, loaded.model.dtype)
        _generate_forced(loaded, [text.ids], arguments, note)
    return scores


def _read_results(path: Path) -> dict[str, CheckedPaths]:
    """The stored results by key; {} if there are none, or the file is damaged, which is logged."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {key: CheckedPaths(**values) for key, values in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _LOG.warning("%s cannot be read, so models are checked again: %s", path, error)
        return {}


def _store_result(path: Path, key: str, checked: CheckedPaths) -> None:
    results = _read_results(path) | {key: checked}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    values = {name: asdict(each) for name, each in results.items()}
    try:
        temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
