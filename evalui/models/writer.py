"""What a network writes: token ids in, token ids out.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation.logits_process import LogitsProcessorList
from transformers.generation.stopping_criteria import StoppingCriteriaList

from evalui.models.batches import Tokens
from evalui.models.loading import Causal, listed, out_of_memory, padded, sound


@dataclass(frozen=True, slots=True)
class Written:
    """The tokens a network wrote. `ended`: it came to an end before it ran out of tokens."""

    ids: Tokens
    ended: bool


# Says whether what a row has written so far is enough: (row, token ids) -> bool.
Enough = Callable[[int, Tokens], bool]


class Writer:
    """Writes with a causal language model."""

    def __init__(self, causal: Causal) -> None:
        self._model = causal.model
        self._device = causal.device
        self._ends = causal.ends

    def write(
        self,
        prompts: Sequence[Tokens],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        enough: Enough,
    ) -> list[Written]:
        """Continue each prompt. `seeds`, one per prompt, matter only above temperature 0.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        width = max(len(prompt) for prompt in prompts)
        # The next token is written on the right, so the padding stands on the left.
        ids = padded([prompt[::-1] for prompt in prompts]).flip(1).to(self._device)
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=self._device)
        mask = torch.arange(width, device=self._device)[None] >= width - lengths[:, None]
        stop = _Stop(enough, len(prompts), width)
        noise = [_Noise(temperature, seeds)] if temperature > 0 else []
        processors = LogitsProcessorList([_sound, *noise])
        config = GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=False,
            eos_token_id=list(self._ends) or None,
            pad_token_id=0,
        )
        try:
            with torch.inference_mode():
                out: torch.Tensor = self._model.generate(
                    input_ids=ids,
                    attention_mask=mask.long(),
                    generation_config=config,
                    logits_processor=processors,
                    stopping_criteria=StoppingCriteriaList([stop]),
                )
        except torch.OutOfMemoryError as error:
            raise out_of_memory(ids.numel()) from error
        texts = listed(out[:, width:])
        return [self._cut(ids, length) for ids, length in zip(texts, stop.lengths, strict=True)]

    def _cut(self, ids: list[int], enough_at: int | None) -> Written:
        """The tokens up to the first that ended the row."""
        end = next((place for place, token in enumerate(ids) if token in self._ends), None)
        if end is not None and (enough_at is None or end < enough_at):
            return Written(tuple(ids[:end]), ended=True)
        return Written(tuple(ids[:enough_at]), ended=enough_at is not None)


class _Stop:
    """Ends a row as soon as `enough` says so, and remembers how long it was then."""

    def __init__(self, enough: Enough, rows: int, width: int) -> None:
        self._enough = enough
        self._width = width
        self.lengths: list[int | None] = [None] * rows

    def __call__(self, input_ids: torch.Tensor, _scores: Any, **_: Any) -> torch.Tensor:
        for row, ids in enumerate(listed(input_ids[:, self._width :])):
            if self.lengths[row] is None and self._enough(row, tuple(ids)):
                self.lengths[row] = len(ids)
        done = [length is not None for length in self.lengths]
        return torch.tensor(done, device=input_ids.device)


class _Noise:
    """Turns the most probable token into a sample: Gumbel's trick, seeded for each row.

    argmax(logits / T + g) with independent g = -ln(-ln u), u uniform, is distributed as
    softmax(logits / T). So what a row samples does not depend on its neighbours in the batch.
    """

    def __init__(self, temperature: float, seeds: Sequence[int]) -> None:
        self._temperature = temperature
        self._dice = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        size = scores.shape[-1]
        uniform = torch.stack(
            [torch.rand(size, generator=dice, dtype=torch.float64) for dice in self._dice]
        ).clamp_min(torch.finfo(torch.float64).tiny)
        return scores.double() / self._temperature - (-uniform.log()).log().to(scores.device)


def _sound(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    """`sound` in the form of a logits processor."""
    return sound(scores)
