"""What a network finds probable: token ids in, log-probabilities out.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from evalui.models.local.loading import Causal, listed, padded, sound
from evalui.models.logprob_queries import Batch


class Full(Exception):
    """The device has too little memory for a batch; a smaller one may fit."""


@dataclass(frozen=True, slots=True)
class Readout:
    """For each pair `Batch.asked`: its natural log-probability, and the best token there."""

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class Network:
    """Reads with a causal language model."""

    def __init__(self, causal: Causal) -> None:
        self._causal = causal
        self._model = causal.model
        self._device = causal.device
        # The fused attention of torch leaves out the cap on scores without a word (Gemma 2).
        if getattr(self._model.config.get_text_config(), "attn_logit_softcapping", None):
            self._model.set_attn_implementation("eager")

    def read(self, batch: Batch) -> Readout:
        """Look up what the batch asks for in one forward pass.

        A row longer than the network is steady must be alone.

        Raises:
            Full: the device has too little memory.
            ModelError: the network computes NaN.
        """
        rows = torch.tensor([row for row, _ in batch.places], device=self._device)
        columns = torch.tensor([column for _, column in batch.places], device=self._device)

        def only_places(states: torch.Tensor) -> torch.Tensor:
            return states[rows, columns][None]

        # Padding stands on the right, where a causal network cannot see it.
        ids = padded(batch.rows).to(self._device)
        with torch.inference_mode(), noticing_full():
            if ids.shape[1] > self._causal.steady:
                assert len(batch.rows) == 1, "positions would follow the neighbours' lengths"
                self._causal.calm()
            with narrowed(self._model, only_places):
                logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits
            return look_up(logits[0].float(), batch.asked)


@contextmanager
def narrowed(model: Any, narrow: Callable[[torch.Tensor], torch.Tensor]) -> Generator[None]:
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
def noticing_full() -> Generator[None]:
    """Turn what torch raises for want of memory into `Full`."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise Full from error
    except RuntimeError as error:
        if "can't allocate memory" not in str(error):  # what the allocator of a CPU says
            raise
        raise Full from error


def look_up(logits: torch.Tensor, asked: Sequence[tuple[int, int]]) -> Readout:
    """What is `asked` for as (place, token); `logits` is (places, vocabulary) in float32."""
    total = sound(torch.logsumexp(logits, dim=-1))
    places = torch.tensor([place for place, _ in asked], device=logits.device)
    tokens = torch.tensor([token for _, token in asked], device=logits.device)
    logprobs = logits[places, tokens] - total[places]
    best = logits.argmax(dim=-1)[places]
    return Readout(tuple(listed(logprobs)), tuple(listed(best)))
