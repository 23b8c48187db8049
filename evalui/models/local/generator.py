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

from evalui.models.local.kv_cache import Memory, Past, join
from evalui.models.local.loading import Causal, free, listed, out_of_memory, padded, sound
from evalui.models.local.padded_forward import Full, noticing_full
from evalui.models.local.prefix_groups import families
from evalui.models.logprob_queries import Tokens, chunks

_DRAWN = 2**22  # random numbers at once: 32 MiB
_ROWS = 256  # written at once; more make no token cheaper


@dataclass(frozen=True, slots=True)
class Written:
    """The tokens a network wrote. `ended`: it came to an end before it ran out of tokens."""

    ids: Tokens
    ended: bool


# Says whether what a row has written so far is enough: (row, token ids) -> bool.
Enough = Callable[[int, Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class _Task:
    """How to write, and what a row needs to begin."""

    prompts: Sequence[Tokens]
    max_tokens: int
    temperature: float
    seeds: Sequence[int]
    enough: Enough
    ends: frozenset[int]

    def needs(self, row: int) -> int:
        """How many tokens row number `row` has at most when it is written."""
        return len(self.prompts[row]) + self.max_tokens

    def verdict(self, row: int, ids: Sequence[int]) -> Written | None:
        """What row number `row` wrote if it is at its end."""
        if ids[-1] in self.ends:
            return Written(tuple(ids[:-1]), ended=True)
        if self.enough(row, ids):
            return Written(tuple(ids), ended=True)
        return Written(tuple(ids), ended=False) if len(ids) >= self.max_tokens else None


@dataclass(slots=True)
class _Row:
    """A prompt that is being continued. Its first `shared` tokens are those of its family."""

    index: int
    family: int
    shared: int
    ids: list[int] = field(default_factory=list[int])
    dice: torch.Generator | None = None


class Writer:
    """Writes with a causal language model."""

    def __init__(self, causal: Causal) -> None:
        self._causal = causal
        self._memory = Memory(causal)
        self._cells = 0  # tokens whose keys and values fit; known when the first text is written

    def write(
        self,
        prompts: Sequence[Tokens],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        enough: Enough,
        token_budget: int = 4096,
    ) -> Iterator[tuple[int, Written]]:
        """Continue each prompt; yields its index and its text as soon as it is written.

        Rows that are finished make room for prompts that wait. A beginning that many prompts
        share is computed once. `seeds`, one per prompt, matter only above temperature 0.
        `token_budget` is in padded tokens of a forward pass over prompts.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        task = _Task(prompts, max_tokens, temperature, seeds, enough, self._causal.ends)
        steady = self._causal.steady
        # What a longer row remembers would depend on its neighbours' lengths, so it has none.
        rows = [at for at in range(len(prompts)) if self._memory.works and task.needs(at) <= steady]
        yield from self._continue(task, rows, token_budget)
        rest = sorted(set(range(len(prompts))) - set(rows))
        parts = chunks([task.needs(at) for at in rest], token_budget=token_budget, steady=steady)
        yield from self._generate(task, ([rest[n] for n in part] for part in parts))

    def _continue(
        self, task: _Task, rows: Sequence[int], token_budget: int
    ) -> Iterator[tuple[int, Written]]:
        """Rows together, as many as the memory holds."""
        if not rows:
            return
        self._cells = self._cells or self._causal.cells
        page = _Page(task, rows, self._memory, cells=self._cells, token_budget=token_budget)
        while page.open:
            try:
                with noticing_full():
                    finished = page.advance()
            except Full as error:
                if not page.shrink():
                    raise out_of_memory(page.cells * 2) from error
                self._cells = page.cells
                free(self._causal.device)
                continue
            yield from finished

    def _generate(
        self, task: _Task, parts: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Written]]:
        """By the model's own loop, where it remembers in a way of its own."""
        groups = deque(parts)
        while groups:
            group = groups.popleft()
            try:
                with noticing_full():
                    finished = self._generate_together(task, group)
            except Full as error:
                if len(group) == 1:
                    raise out_of_memory(task.needs(group[0])) from error
                half = len(group) // 2
                groups.extendleft((group[half:], group[:half]))
                free(self._causal.device)
                continue
            yield from finished

    @torch.inference_mode()
    def _generate_together(self, task: _Task, group: Sequence[int]) -> list[tuple[int, Written]]:
        if max(map(task.needs, group)) > self._causal.steady:
            self._causal.calm()
        prompts = [task.prompts[index] for index in group]
        width = max(len(prompt) for prompt in prompts)
        ids = padded([prompt[::-1] for prompt in prompts]).flip(1).to(self._causal.device)
        lengths = torch.tensor([[len(prompt)] for prompt in prompts], device=ids.device)
        mask = torch.arange(width, device=ids.device)[None] >= width - lengths
        stop = _Stop(task, group, width)
        processors = LogitsProcessorList([_sound])
        if task.temperature > 0:
            dice = [_dice(task, index) for index in group]

            def noisy(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
                return _noisy(scores, task.temperature, dice)

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
        return list(stop.written.items())


class _Page:
    """The prompts of a task: those that wait, and those being continued together."""

    def __init__(
        self,
        task: _Task,
        rows: Sequence[int],
        memory: Memory,
        *,
        cells: int,
        token_budget: int,
    ) -> None:
        self.cells = cells
        self._task = task
        self._memory = memory
        self._token_budget = token_budget
        self._waiting = deque(_queue(task.prompts, rows, shares=memory.shares))
        self._rows: list[_Row] = []
        self._past: Past | None = None
        self._most = 0  # rows after the last time that some were taken in
        self._shared: tuple[int, Past] | None = None  # a family's common beginning

    @property
    def open(self) -> bool:
        """Whether there is anything left to write."""
        return bool(self._waiting or self._rows)

    @torch.inference_mode()
    def advance(self) -> list[tuple[int, Written]]:
        """Write one token more for each row; what that finishes."""
        pasts: list[Past] = []
        logits: list[torch.Tensor] = []
        if self._past is not None:
            logits.append(self._memory.step(self._past, [row.ids[-1] for row in self._rows]))
            pasts.append(self._past)
        for rows in self._taken():
            self._rows += rows
            past, after = self._begin(rows)
            pasts.append(past)
            logits.append(after)
        self._past = join(pasts)
        return self._write(torch.cat(logits))

    def shrink(self) -> bool:
        """Begin all rows anew, half as much at once; False if there was but one row."""
        rows, self._rows, self._past, self._shared = self._rows, [], None, None
        self._waiting.extendleft(_Row(row.index, row.family, row.shared) for row in reversed(rows))
        self._most = 0
        self.cells = len(rows) * max(self._task.needs(row.index) for row in rows) // 2
        return len(rows) > 1

    def _taken(self) -> Iterator[list[_Row]]:
        """Waiting rows for the free places, in groups of one family that are read together.

        A few at a time would cost more than the places left empty meanwhile.
        """
        if len(self._rows) > self._most * 7 // 8:
            return
        count = len(self._rows)
        width = max((self._task.needs(row.index) for row in self._rows), default=0)
        group: list[_Row] = []
        while self._waiting and count < _ROWS:
            row = self._waiting[0]
            width = max(width, self._task.needs(row.index))
            if count and (count + 1) * width > self.cells:
                break
            if group and not self._goes_with(row, group):
                yield group
                group = []
            group.append(self._waiting.popleft())
            count += 1
        if group:
            yield group
        self._most = count

    def _goes_with(self, row: _Row, group: Sequence[_Row]) -> bool:
        width = max(len(self._own(row)), len(self._own(group[0])))  # the longest come first
        return row.family == group[0].family and (len(group) + 1) * width <= min(
            self._token_budget, self.cells
        )

    def _own(self, row: _Row) -> Tokens:
        return self._task.prompts[row.index][row.shared :]

    def _begin(self, rows: Sequence[_Row]) -> tuple[Past, torch.Tensor]:
        """Read the prompts of rows of one family."""
        first = rows[0]
        if first.shared and (self._shared is None or self._shared[0] != first.family):
            common = self._task.prompts[first.index][: first.shared]
            self._shared = first.family, self._memory.begin([common])[0]
        after = self._shared[1] if first.shared and self._shared else None
        if self._task.temperature > 0:
            for row in rows:
                row.dice = _dice(self._task, row.index)
        return self._memory.begin([self._own(row) for row in rows], after)

    def _write(self, logits: torch.Tensor) -> list[tuple[int, Written]]:
        """Choose the next token of each row, and let go of those that are at their end."""
        finished: dict[int, Written] = {}
        for row, token in zip(self._rows, self._chosen(logits), strict=True):
            row.ids.append(token)
            if written := self._task.verdict(row.index, row.ids):
                finished[row.index] = written
        self._keep([n for n, row in enumerate(self._rows) if row.index not in finished])
        return list(finished.items())

    def _chosen(self, logits: torch.Tensor) -> list[int]:
        dice = [row.dice for row in self._rows if row.dice is not None]
        if not dice:
            return _best(logits)
        # Samples take several numbers of 8 bytes for each token of the vocabulary.
        some = max(1, _DRAWN // logits.shape[-1])
        tokens: list[int] = []
        for first in range(0, len(dice), some):
            few = slice(first, first + some)
            tokens += _best(_noisy(logits[few], self._task.temperature, dice[few]))
        return tokens

    def _keep(self, rows: Sequence[int]) -> None:
        if len(rows) == len(self._rows):
            return
        self._rows = [self._rows[n] for n in rows]
        if not rows:
            self._past = None
        elif self._past is not None:
            self._past.keep(rows)


class _Stop:
    """Ends a row of generate() as soon as its text is finished, and remembers the text."""

    def __init__(self, task: _Task, group: Sequence[int], width: int) -> None:
        self._task = task
        self._group = group
        self._width = width
        self.written: dict[int, Written] = {}

    def __call__(self, input_ids: torch.Tensor, _scores: Any, **_: Any) -> torch.Tensor:
        rows = listed(input_ids[:, self._width :])
        for index, ids in zip(self._group, rows, strict=True):
            if index not in self.written and (text := self._task.verdict(index, ids)):
                self.written[index] = text
        done = [index in self.written for index in self._group]
        return torch.tensor(done, device=input_ids.device)


def _queue(prompts: Sequence[Tokens], rows: Sequence[int], *, shares: bool) -> list[_Row]:
    """The rows in the order in which they are to be taken in, the longest first."""
    if shares:
        found = enumerate(families([prompts[index] for index in rows]))
        return [_Row(rows[at], n, kin.shared) for n, kin in found for at in kin.members]
    order = sorted(rows, key=lambda index: -len(prompts[index]))
    return [_Row(index, 0, 0) for index in order]


def _best(scores: torch.Tensor) -> list[int]:
    best = scores.max(dim=-1)
    sound(best.values)  # torch takes NaN for the largest number of all
    return listed(best.indices)


def _dice(task: _Task, index: int) -> torch.Generator:
    return torch.Generator().manual_seed(task.seeds[index])


def _noisy(
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


def _sound(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    """`sound` in the form of a logits processor."""
    return sound(scores)
