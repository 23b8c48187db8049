"""What a network finds probable: token ids in, log-probabilities out.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from evalui.models.local.loading import LoadedModel, check_finite, pad_right, to_list
from evalui.models.logprob_queries import LogprobBatch


class OutOfMemory(Exception):
    """The device has too little memory for a batch; a smaller one may fit."""


@dataclass(frozen=True, slots=True)
class LogprobResult:
    """For each of `LogprobBatch.lookups`: its natural log-probability, and the best token."""

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class PaddedNetwork:
    """Reads with a causal language model."""

    def __init__(self, causal: LoadedModel) -> None:
        self._causal = causal
        self._model = causal.model
        self._device = causal.device
        # The fused attention of torch leaves out the cap on scores without a word (Gemma 2).
        if getattr(self._model.config.get_text_config(), "attn_logit_softcapping", None):
            self._model.set_attn_implementation("eager")

    def compute_logprobs(self, batch: LogprobBatch) -> LogprobResult:
        """Look up what the batch asks for in one forward pass.

        A row longer than the network is steady must be alone.

        Raises:
            Full: the device has too little memory.
            ModelError: the network computes NaN.
        """
        rows = torch.tensor([row for row, _ in batch.logit_positions], device=self._device)
        columns = torch.tensor([column for _, column in batch.logit_positions], device=self._device)

        def only_places(states: torch.Tensor) -> torch.Tensor:
            return states[rows, columns][None]

        # Padding stands on the right, where a causal network cannot see it.
        ids = pad_right(batch.rows).to(self._device)
        with torch.inference_mode(), raise_oom():
            if ids.shape[1] > self._causal.rope_safe_length:
                assert len(batch.rows) == 1, "positions would follow the neighbours' lengths"
                self._causal.reset_rope()
            with narrow_head_input(self._model, only_places):
                logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits
            return gather_logprobs(logits[0].float(), batch.lookups)


@contextmanager
def narrow_head_input(
    model: Any, narrow: Callable[[torch.Tensor], torch.Tensor]
) -> Generator[None]:
    """Give the model's output head only what `narrow` leaves of its input.

    The head is the dearest layer of a small network with a large vocabulary. Narrowing its input
    leaves whatever an architecture does to the logits afterwards in force.
    """

    def only(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return narrow(inputs[0])

    hook = model.get_output_embeddings().register_forward_pre_hook(only)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def raise_oom() -> Generator[None]:
    """Turn what torch raises for want of memory into `OutOfMemory`."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfMemory from error
    except RuntimeError as error:
        if "can't allocate memory" not in str(error):  # what the allocator of a CPU says
            raise
        raise OutOfMemory from error


def gather_logprobs(logits: torch.Tensor, lookups: Sequence[tuple[int, int]]) -> LogprobResult:
    """What is `lookups` for as (place, token); `logits` is (places, vocabulary) in float32."""
    total = check_finite(torch.logsumexp(logits, dim=-1))
    places = torch.tensor([place for place, _ in lookups], device=logits.device)
    tokens = torch.tensor([token for _, token in lookups], device=logits.device)
    logprobs = logits[places, tokens] - total[places]
    best = logits.argmax(dim=-1)[places]
    return LogprobResult(tuple(to_list(logprobs)), tuple(to_list(best)))
