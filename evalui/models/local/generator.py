"""What a network writes: token ids in, token ids out.

Computes with torch. It knows neither texts nor requests.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation.logits_process import LogitsProcessorList
from transformers.generation.stopping_criteria import StoppingCriteriaList

from evalui.models.local.forward import OutOfMemory, raise_oom
from evalui.models.local.kv_cache import CachedModel, KVCache, concat, group_by_prefix
from evalui.models.local.loading import (
    LoadedModel,
    check_finite,
    empty_cache,
    out_of_memory,
    pad_right,
    to_list,
)
from evalui.models.scoring_requests import TokenIds, batches_by_length

_MAX_RANDOM_NUMBERS = 2**22  # random numbers at once: 32 MiB
_MAX_ROWS = 256  # written at once; more make no token cheaper


@dataclass(frozen=True, slots=True)
class Generated:
    """The tokens a network wrote. `is_complete`: it came to an end before it ran out of tokens."""

    ids: TokenIds
    is_complete: bool


# Says whether what a row has written so far is enough: (row, token ids) -> bool.
StopCheck = Callable[[int, Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class _GenerationTask:
    """How to write, and what a row needs to begin."""

    prompts: Sequence[TokenIds]
    max_tokens: int
    temperature: float
    seeds: Sequence[int]
    stop_check: StopCheck
    eos_ids: frozenset[int]

    def max_length(self, row: int) -> int:
        """How many tokens row number `row` has at most when it is written."""
        return len(self.prompts[row]) + self.max_tokens

    def finished_result(self, row: int, ids: Sequence[int]) -> Generated | None:
        """What row number `row` wrote if it is at its end."""
        if ids[-1] in self.eos_ids:
            return Generated(tuple(ids[:-1]), is_complete=True)
        if self.stop_check(row, ids):
            return Generated(tuple(ids), is_complete=True)
        return Generated(tuple(ids), is_complete=False) if len(ids) >= self.max_tokens else None


@dataclass(slots=True)
class _Sequence:
    """A prompt that is being continued. Its group has its first `shared_length` tokens."""

    index: int
    group: int
    shared_length: int
    ids: list[int] = field(default_factory=list[int])
    rng: torch.Generator | None = None


class TokenGenerator:
    """Writes with a causal language model."""

    def __init__(self, causal: LoadedModel) -> None:
        self._causal = causal
        self._cached_model = CachedModel(causal)
        self._kv_cache_tokens = (
            0  # tokens whose keys and values fit; known when the first text is written
        )

    def generate(
        self,
        prompts: Sequence[TokenIds],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        stop_check: StopCheck,
        token_budget: int = 4096,
    ) -> Iterator[tuple[int, Generated]]:
        """Continue each prompt; yields its index and its text as soon as it is written.

        Rows that are finished make room for prompts that wait. A beginning that many prompts
        share is computed once. `seeds`, one per prompt, matter only above temperature 0.
        `token_budget` is in padded tokens of a forward pass over prompts.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        task = _GenerationTask(
            prompts, max_tokens, temperature, seeds, stop_check, self._causal.eos_ids
        )
        steady = self._causal.rope_safe_length
        # What a longer row remembers would depend on its neighbours' lengths, so it has none.
        rows = [
            at
            for at in range(len(prompts))
            if self._cached_model.is_supported and task.max_length(at) <= steady
        ]
        yield from self._generate_with_cache(task, rows, token_budget)
        rest = sorted(set(range(len(prompts))) - set(rows))
        parts = batches_by_length(
            [task.max_length(at) for at in rest], token_budget=token_budget, rope_safe_length=steady
        )
        yield from self._generate_without_cache(task, ([rest[n] for n in part] for part in parts))

    def _generate_with_cache(
        self, task: _GenerationTask, rows: Sequence[int], token_budget: int
    ) -> Iterator[tuple[int, Generated]]:
        """Rows together, as many as the memory holds."""
        if not rows:
            return
        self._kv_cache_tokens = self._kv_cache_tokens or self._causal.kv_cache_tokens
        page = _ContinuousBatch(
            task,
            rows,
            self._cached_model,
            kv_cache_tokens=self._kv_cache_tokens,
            token_budget=token_budget,
        )
        while page.has_work:
            try:
                with raise_oom():
                    finished = page.advance()
            except OutOfMemory as error:
                if not page.shrink():
                    raise out_of_memory(page.kv_cache_tokens * 2) from error
                self._kv_cache_tokens = page.kv_cache_tokens
                empty_cache(self._causal.device)
                continue
            yield from finished

    def _generate_without_cache(
        self, task: _GenerationTask, parts: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Generated]]:
        """By the model's own loop, where it remembers in a way of its own."""
        groups = deque(parts)
        while groups:
            group = groups.popleft()
            try:
                with raise_oom():
                    finished = self._generate_group(task, group)
            except OutOfMemory as error:
                if len(group) == 1:
                    raise out_of_memory(task.max_length(group[0])) from error
                half = len(group) // 2
                groups.extendleft((group[half:], group[:half]))
                empty_cache(self._causal.device)
                continue
            yield from finished

    @torch.inference_mode()
    def _generate_group(
        self, task: _GenerationTask, group: Sequence[int]
    ) -> list[tuple[int, Generated]]:
        if max(map(task.max_length, group)) > self._causal.rope_safe_length:
            self._causal.reset_rope()
        prompts = [task.prompts[index] for index in group]
        width = max(len(prompt) for prompt in prompts)
        ids = pad_right([prompt[::-1] for prompt in prompts]).flip(1).to(self._causal.device)
        lengths = torch.tensor([[len(prompt)] for prompt in prompts], device=ids.device)
        mask = torch.arange(width, device=ids.device)[None] >= width - lengths
        stop = _StopCriterion(task, group, width)
        processors = LogitsProcessorList([_check_finite_processor])
        if task.temperature > 0:
            dice = [_rng(task, index) for index in group]

            def noisy(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
                return _add_gumbel_noise(scores, task.temperature, dice)

            processors.append(noisy)
        config = GenerationConfig(
            max_new_tokens=task.max_tokens, do_sample=False, eos_token_id=None, pad_token_id=0
        )
        self._causal.model.generate(
            input_ids=ids,
            attention_mask=mask.long(),
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
        memory: CachedModel,
        *,
        kv_cache_tokens: int,
        token_budget: int,
    ) -> None:
        self.kv_cache_tokens = kv_cache_tokens
        self._task = task
        self._cached_model = memory
        self._token_budget = token_budget
        self._waiting = deque(
            _ordered_sequences(task.prompts, rows, shares=memory.supports_shared_prefix)
        )
        self._rows: list[_Sequence] = []
        self._kv_cache: KVCache | None = None
        self._rows_after_admission = 0  # rows after the last time that some were taken in
        self._shared_prefix: tuple[int, KVCache] | None = None  # a family's common beginning

    @property
    def has_work(self) -> bool:
        """Whether there is anything left to write."""
        return bool(self._waiting or self._rows)

    @torch.inference_mode()
    def advance(self) -> list[tuple[int, Generated]]:
        """Write one token more for each row; what that finishes."""
        pasts: list[KVCache] = []
        logits: list[torch.Tensor] = []
        if self._kv_cache is not None:
            logits.append(
                self._cached_model.decode(self._kv_cache, [row.ids[-1] for row in self._rows])
            )
            pasts.append(self._kv_cache)
        for rows in self._admit():
            self._rows += rows
            past, after = self._prefill(rows)
            pasts.append(past)
            logits.append(after)
        self._kv_cache = concat(pasts)
        return self._append_tokens(torch.cat(logits))

    def shrink(self) -> bool:
        """Begin all rows anew, half as much at once; False if there was but one row."""
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
        """Waiting rows for the free places, in groups of one family that are read together.

        A few at a time would cost more than the places left empty meanwhile.
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
        width = max(len(self._suffix(row)), len(self._suffix(group[0])))  # the longest come first
        return row.group == group[0].group and (len(group) + 1) * width <= min(
            self._token_budget, self.kv_cache_tokens
        )

    def _suffix(self, row: _Sequence) -> TokenIds:
        return self._task.prompts[row.index][row.shared_length :]

    def _prefill(self, rows: Sequence[_Sequence]) -> tuple[KVCache, torch.Tensor]:
        """Read the prompts of rows of one family."""
        first = rows[0]
        if first.shared_length and (
            self._shared_prefix is None or self._shared_prefix[0] != first.group
        ):
            common = self._task.prompts[first.index][: first.shared_length]
            self._shared_prefix = first.group, self._cached_model.prefill([common])[0]
        after = self._shared_prefix[1] if first.shared_length and self._shared_prefix else None
        if self._task.temperature > 0:
            for row in rows:
                row.rng = _rng(self._task, row.index)
        return self._cached_model.prefill([self._suffix(row) for row in rows], after)

    def _append_tokens(self, logits: torch.Tensor) -> list[tuple[int, Generated]]:
        """Choose the next token of each row, and let go of those that are at their end."""
        finished: dict[int, Generated] = {}
        for row, token in zip(self._rows, self._next_tokens(logits), strict=True):
            row.ids.append(token)
            if written := self._task.finished_result(row.index, row.ids):
                finished[row.index] = written
        self._select_rows([n for n, row in enumerate(self._rows) if row.index not in finished])
        return list(finished.items())

    def _next_tokens(self, logits: torch.Tensor) -> list[int]:
        dice = [row.rng for row in self._rows if row.rng is not None]
        if not dice:
            return _argmax(logits)
        # Samples take several numbers of 8 bytes for each token of the vocabulary.
        some = max(1, _MAX_RANDOM_NUMBERS // logits.shape[-1])
        tokens: list[int] = []
        for first in range(0, len(dice), some):
            few = slice(first, first + some)
            tokens += _argmax(_add_gumbel_noise(logits[few], self._task.temperature, dice[few]))
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
    """Ends a row of generate() as soon as its text is finished, and remembers the text."""

    def __init__(self, task: _GenerationTask, group: Sequence[int], width: int) -> None:
        self._task = task
        self._group = group
        self._width = width
        self.finished: dict[int, Generated] = {}

    def __call__(self, input_ids: torch.Tensor, _scores: Any, **_: Any) -> torch.Tensor:
        rows = to_list(input_ids[:, self._width :])
        for index, ids in zip(self._group, rows, strict=True):
            if index not in self.finished and (text := self._task.finished_result(index, ids)):
                self.finished[index] = text
        done = [index in self.finished for index in self._group]
        return torch.tensor(done, device=input_ids.device)


def _ordered_sequences(
    prompts: Sequence[TokenIds], rows: Sequence[int], *, shares: bool
) -> list[_Sequence]:
    """The rows in the order in which they are to be taken in, the longest first."""
    if shares:
        found = enumerate(group_by_prefix([prompts[index] for index in rows]))
        return [_Sequence(rows[at], n, kin.shared_length) for n, kin in found for at in kin.members]
    order = sorted(rows, key=lambda index: -len(prompts[index]))
    return [_Sequence(index, 0, 0) for index in order]


def _argmax(scores: torch.Tensor) -> list[int]:
    best = scores.max(dim=-1)
    check_finite(best.values)  # torch takes NaN for the largest number of all
    return to_list(best.indices)


def _rng(task: _GenerationTask, index: int) -> torch.Generator:
    return torch.Generator().manual_seed(task.seeds[index])


def _add_gumbel_noise(
    scores: torch.Tensor, temperature: float, dice: Sequence[torch.Generator]
) -> torch.Tensor:
    """Scores whose largest is a sample: Gumbel's trick, seeded for each row.

    argmax(logits / T + g) with independent g = -ln(-ln u), u uniform, is distributed as
    softmax(logits / T). So what a row samples does not depend on its neighbours in the batch.
    """
    size = scores.shape[-1]
    uniform = torch.stack(
        [torch.rand(size, generator=each, dtype=torch.float64) for each in dice]
    ).clamp_min(torch.finfo(torch.float64).tiny)
    return scores.double() / temperature - (-uniform.log()).log().to(scores.device)


def _check_finite_processor(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    """`check_finite` in the form of a logits processor."""
    return check_finite(scores)
