"""Text generation with a causal language model: token ids in, token ids out.

Computes with torch. It knows neither texts nor requests.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.generation.configuration_utils import GenerationConfig
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.generation.stopping_criteria import StoppingCriteriaList

from evalui.models.local.forward import OutOfMemory, raise_oom
from evalui.models.local.kv_cache import CachedModel, KVCache, concat, group_by_prefix
from evalui.models.local.loading import (
    LoadedModel,
    check_finite,
    empty_cache,
    out_of_memory,
    pad_left,
    to_list,
)
from evalui.models.local.pictures import PictureInputs
from evalui.models.local.self_check import CheckedPaths
from evalui.models.scoring_requests import TokenIds, batches_by_length

_MAX_RANDOM_NUMBERS = 2**22  # random numbers at once: 32 MiB
_MAX_ROWS = 256  # generated at once; more make no token cheaper


@dataclass(frozen=True, slots=True)
class Generated:
    """Generated token ids. `is_complete`: the text ended before `max_tokens` was reached."""

    ids: TokenIds
    is_complete: bool


# Whether the text of a row ends here: (row, token ids generated so far) -> bool.
StopCheck = Callable[[int, Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class _GenerationTask:
    """The prompts and the parameters of one call of `TokenGenerator.generate`."""

    prompts: Sequence[TokenIds]
    max_tokens: int
    temperature: float
    seeds: Sequence[int]
    stop_check: StopCheck
    eos_ids: frozenset[int]
    warpers: LogitsProcessorList
    with_pictures: Sequence[PictureInputs]

    def max_length(self, row: int) -> int:
        """The most tokens that row number `row` can have, prompt included."""
        return len(self.prompts[row]) + self.max_tokens

    def finished_result(self, row: int, ids: Sequence[int]) -> Generated | None:
        """The result of row number `row` if it ends with `ids`, else None."""
        if ids[-1] in self.eos_ids:
            return Generated(tuple(ids[:-1]), is_complete=True)
        if self.stop_check(row, ids):
            return Generated(tuple(ids), is_complete=True)
        return Generated(tuple(ids), is_complete=False) if len(ids) >= self.max_tokens else None


@dataclass(slots=True)
class _Sequence:
    """A prompt that is being continued; its group shares the first `shared_length` tokens."""

    index: int
    group: int
    shared_length: int
    ids: list[int] = field(default_factory=list[int])
    rng: torch.Generator | None = None


class TokenGenerator:
    """Generates with a causal language model, by continuous batching where its cache allows.

    `checked` states which ways of computing agree with one row at a time.
    """

    def __init__(self, loaded: LoadedModel, checked: CheckedPaths) -> None:
        self._loaded = loaded
        self._checked = checked
        self._cached_model = CachedModel(loaded)
        self._kv_cache_tokens = 0  # tokens whose keys and values fit; measured at the first use

    def generate(
        self,
        prompts: Sequence[TokenIds],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        stop_check: StopCheck,
        sampling: Mapping[str, Any] | None = None,
        token_budget: int = 4096,
        with_pictures: Sequence[PictureInputs] = (),
    ) -> Iterator[tuple[int, Generated]]:
        """Continue each prompt; yields its index and its text as soon as that is complete.

        Waiting prompts take the places of finished rows. A beginning that many prompts share is
        computed once. `seeds`, one per prompt, matter only above temperature 0, as does `sampling`:
        top_k, top_p and min_p as transformers' generate() has them, None for those not wanted.
        `token_budget` is in padded tokens of a forward pass over prompts. `with_pictures` are the
        prompts with their pictures if they have some, each of which is read by itself.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        task = _GenerationTask(
            prompts,
            max_tokens,
            temperature,
            seeds,
            stop_check,
            self._loaded.eos_ids,
            _warpers(sampling or {}),
            with_pictures,
        )
        # The keys of a longer row would depend on the lengths of the others, so none are cached.
        longest = min(self._loaded.rope_safe_length, self._checked.checked_length)
        differs = self._checked.picture_rows if with_pictures else self._checked.cached
        most = 0 if differs else longest
        rows = [row for row in range(len(prompts)) if task.max_length(row) <= most]
        yield from self._generate_with_cache(task, rows, token_budget)
        rest = sorted(set(range(len(prompts))) - set(rows))
        lengths = [task.max_length(row) for row in rest]
        together = 0 if self._checked.left_padded or with_pictures else longest
        groups = batches_by_length(lengths, token_budget=token_budget, rope_safe_length=together)
        yield from self._generate_without_cache(
            task, ([rest[at] for at in group] for group in groups)
        )

    def _generate_with_cache(
        self, task: _GenerationTask, rows: Sequence[int], token_budget: int
    ) -> Iterator[tuple[int, Generated]]:
        """Rows together, as many as the memory can hold."""
        if not rows:
            return
        self._kv_cache_tokens = self._kv_cache_tokens or self._loaded.kv_cache_tokens
        batch = _ContinuousBatch(
            task,
            rows,
            self._cached_model,
            shares=not (self._checked.shared_prefix or task.with_pictures),
            kv_cache_tokens=self._kv_cache_tokens,
            token_budget=token_budget,
        )
        while batch.has_work:
            try:
                with raise_oom():
                    finished = batch.advance()
            except OutOfMemory as error:
                if not batch.shrink():
                    raise out_of_memory(batch.kv_cache_tokens * 2) from error
                self._kv_cache_tokens = batch.kv_cache_tokens
                empty_cache(self._loaded.device)
                continue
            yield from finished

    def _generate_without_cache(
        self, task: _GenerationTask, groups: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Generated]]:
        """By transformers' generate(), where a `KVCache` cannot be used."""
        pending = deque(groups)
        while pending:
            group = pending.popleft()
            try:
                with raise_oom():
                    finished = self._generate_group(task, group)
            except OutOfMemory as error:
                if len(group) == 1:
                    raise out_of_memory(task.max_length(group[0])) from error
                half = len(group) // 2
                pending.extendleft((group[half:], group[:half]))
                empty_cache(self._loaded.device)
                continue
            yield from finished

    @torch.inference_mode()
    def _generate_group(
        self, task: _GenerationTask, group: Sequence[int]
    ) -> list[tuple[int, Generated]]:
        if max(map(task.max_length, group)) > self._loaded.rope_safe_length:
            self._loaded.reset_rope()
        ids, mask = pad_left([task.prompts[index] for index in group], self._loaded.device)
        arguments = {"input_ids": ids, "attention_mask": mask.long()}
        use_cache = not self._checked.own_cache
        if task.with_pictures:
            (index,) = group
            dtype = self._loaded.model.dtype
            arguments = task.with_pictures[index].arguments(self._loaded.device, dtype)
            use_cache = not self._checked.picture_cache
        stop = _StopCriterion(task, group, ids.shape[1])
        processors = LogitsProcessorList([_check_finite_processor])
        if task.temperature > 0:
            rngs = [_rng(task, index) for index in group]

            def add_noise(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
                return _add_gumbel_noise(scores, task, rngs)

            processors.append(add_noise)
        config = GenerationConfig(
            max_new_tokens=task.max_tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            use_cache=use_cache,
        )
        self._loaded.model.generate(
            **arguments,
            generation_config=config,
            logits_processor=processors,
            stopping_criteria=StoppingCriteriaList([stop]),
        )
        return list(stop.finished.items())


class _ContinuousBatch:
    """The prompts of a task: those that wait, and those being continued together."""

    def __init__(
        self,
        task: _GenerationTask,
        rows: Sequence[int],
        cached_model: CachedModel,
        *,
        shares: bool,
        kv_cache_tokens: int,
        token_budget: int,
    ) -> None:
        self.kv_cache_tokens = kv_cache_tokens
        self._task = task
        self._cached_model = cached_model
        self._token_budget = token_budget
        self._waiting = deque(_ordered_sequences(task.prompts, rows, shares=shares))
        self._rows: list[_Sequence] = []
        self._kv_cache: KVCache | None = None
        self._rows_after_admission = 0  # the number of rows after the last admission
        self._shared_prefix: tuple[int, KVCache] | None = None  # a group, its common beginning

    @property
    def has_work(self) -> bool:
        """Whether any row is waiting or unfinished."""
        return bool(self._waiting or self._rows)

    @torch.inference_mode()
    def advance(self) -> list[tuple[int, Generated]]:
        """Generate one token more for each row; returns what that completes."""
        caches: list[KVCache] = []
        logits: list[torch.Tensor] = []
        if self._kv_cache is not None:
            logits.append(
                self._cached_model.decode(self._kv_cache, [row.ids[-1] for row in self._rows])
            )
            caches.append(self._kv_cache)
        for rows in self._admit():
            self._rows += rows
            cache, next_logits = self._prefill(rows)
            caches.append(cache)
            logits.append(next_logits)
        self._kv_cache = concat(caches)
        return self._append_tokens(torch.cat(logits))

    def shrink(self) -> bool:
        """Restart all rows with half the cache; False if there was one row only."""
        rows, self._rows, self._kv_cache, self._shared_prefix = self._rows, [], None, None
        self._waiting.extendleft(
            _Sequence(row.index, row.group, row.shared_length) for row in reversed(rows)
        )
        self._rows_after_admission = 0
        self.kv_cache_tokens = (
            len(rows) * max(self._task.max_length(row.index) for row in rows) // 2
        )
        return len(rows) > 1

    def _admit(self) -> Iterator[list[_Sequence]]:
        """Waiting rows for the free places, in lists of one group that are prefilled together.

        Admitting a few at a time would cost more than the places that stay empty meanwhile.
        """
        if len(self._rows) > self._rows_after_admission * 7 // 8:
            return
        count = len(self._rows)
        width = max((self._task.max_length(row.index) for row in self._rows), default=0)
        group: list[_Sequence] = []
        while self._waiting and count < _MAX_ROWS:
            row = self._waiting[0]
            width = max(width, self._task.max_length(row.index))
            if count and (count + 1) * width > self.kv_cache_tokens:
                break
            if group and not self._fits_group(row, group):
                yield group
                group = []
            group.append(self._waiting.popleft())
            count += 1
        if group:
            yield group
        self._rows_after_admission = count

    def _fits_group(self, row: _Sequence, group: Sequence[_Sequence]) -> bool:
        if self._task.with_pictures:
            return False
        width = max(len(self._suffix(row)), len(self._suffix(group[0])))  # sorted, longest first
        return row.group == group[0].group and (len(group) + 1) * width <= min(
            self._token_budget, self.kv_cache_tokens
        )

    def _suffix(self, row: _Sequence) -> TokenIds:
        return self._task.prompts[row.index][row.shared_length :]

    def _prefill(self, rows: Sequence[_Sequence]) -> tuple[KVCache, torch.Tensor]:
        """The cache of rows of one prefix group, and the logits after their prompts."""
        first = rows[0]
        if self._task.temperature > 0:
            for row in rows:
                row.rng = _rng(self._task, row.index)
        if self._task.with_pictures:
            return self._cached_model.prefill_with_pictures(self._task.with_pictures[first.index])
        if first.shared_length and (
            self._shared_prefix is None or self._shared_prefix[0] != first.group
        ):
            common = self._task.prompts[first.index][: first.shared_length]
            self._shared_prefix = first.group, self._cached_model.prefill([common])[0]
        after = self._shared_prefix[1] if first.shared_length and self._shared_prefix else None
        return self._cached_model.prefill([self._suffix(row) for row in rows], after)

    def _append_tokens(self, logits: torch.Tensor) -> list[tuple[int, Generated]]:
        """Choose the next token of each row, and drop the rows that are complete."""
        finished: dict[int, Generated] = {}
        for row, token in zip(self._rows, self._next_tokens(logits), strict=True):
            row.ids.append(token)
            if result := self._task.finished_result(row.index, row.ids):
                finished[row.index] = result
        self._select_rows([n for n, row in enumerate(self._rows) if row.index not in finished])
        return list(finished.items())

    def _next_tokens(self, logits: torch.Tensor) -> list[int]:
        rngs = [row.rng for row in self._rows if row.rng is not None]
        if not rngs:
            return _argmax(logits)
        # Samples take several numbers of 8 bytes for each token of the vocabulary.
        size = max(1, _MAX_RANDOM_NUMBERS // logits.shape[-1])
        tokens: list[int] = []
        for first in range(0, len(rngs), size):
            part = slice(first, first + size)
            tokens += _argmax(_add_gumbel_noise(logits[part], self._task, rngs[part]))
        return tokens

    def _select_rows(self, rows: Sequence[int]) -> None:
        if len(rows) == len(self._rows):
            return
        self._rows = [self._rows[n] for n in rows]
        if not rows:
            self._kv_cache = None
        elif self._kv_cache is not None:
            self._kv_cache.select_rows(rows)


class _StopCriterion:
    """Ends a row of generate() as soon as its text is complete; `finished` has the results."""

    def __init__(self, task: _GenerationTask, group: Sequence[int], width: int) -> None:
        self._task = task
        self._group = group
        self._width = width
        self.finished: dict[int, Generated] = {}

    def __call__(self, input_ids: torch.Tensor, _scores: Any, **_: Any) -> torch.Tensor:
        rows = to_list(input_ids[:, self._width :])
        for index, ids in zip(self._group, rows, strict=True):
            if index not in self.finished and (result := self._task.finished_result(index, ids)):
                self.finished[index] = result
        done = [index in self.finished for index in self._group]
        return torch.tensor(done, device=input_ids.device)


def _ordered_sequences(
    prompts: Sequence[TokenIds], rows: Sequence[int], *, shares: bool
) -> list[_Sequence]:
    """The rows in the order of their admission, the longest first."""
    if shares:
        groups = group_by_prefix([prompts[index] for index in rows])
        return [
            _Sequence(rows[member], number, group.shared_length)
            for number, group in enumerate(groups)
            for member in group.members
        ]
    order = sorted(rows, key=lambda index: -len(prompts[index]))
    return [_Sequence(index, 0, 0) for index in order]


def _argmax(scores: torch.Tensor) -> list[int]:
    best = scores.max(dim=-1)
    check_finite(best.values)  # torch takes NaN for the largest number of all
    return to_list(best.indices)


def _rng(task: _GenerationTask, index: int) -> torch.Generator:
    return torch.Generator().manual_seed(task.seeds[index])


def _add_gumbel_noise(
    scores: torch.Tensor, task: _GenerationTask, rngs: Sequence[torch.Generator]
) -> torch.Tensor:
    """Scores (rows, vocabulary) whose argmax is a sample: the Gumbel-max trick, seeded per row.

    argmax(logits / T + g) with independent g = -ln(-ln u), u uniform, is distributed as
    softmax(logits / T). So the sample of a row does not depend on the other rows of the batch.
    Tokens that may not be drawn have the score -inf, and keep it.
    """
    size = scores.shape[-1]
    uniform = torch.stack(
        [torch.rand(size, generator=rng, dtype=torch.float64) for rng in rngs]
    ).clamp_min(torch.finfo(torch.float64).tiny)
    scaled: Any = scores.double() / task.temperature
    return task.warpers(_NO_IDS, scaled) - (-uniform.log()).log().to(scores.device)


_NO_IDS: Any = None  # of the text before: the warpers below look at scores alone


def _warpers(sampling: Mapping[str, Any]) -> LogitsProcessorList:
    """What keeps improbable tokens from being drawn, in the order of generate()."""
    kinds = {"top_k": TopKLogitsWarper, "top_p": TopPLogitsWarper, "min_p": MinPLogitsWarper}
    given = ((kind, sampling.get(name)) for name, kind in kinds.items())
    return LogitsProcessorList([kind(value) for kind, value in given if value is not None])


def _check_finite_processor(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    """`check_finite` in the form of a logits processor."""
    return check_finite(scores)
