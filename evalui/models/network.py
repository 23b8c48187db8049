"""What a network finds probable: token ids in, log-probabilities out.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from evalui.models.batches import Batch
from evalui.models.loading import Causal, listed, out_of_memory, padded, sound


@dataclass(frozen=True, slots=True)
class Readout:
    """For each pair `Batch.asked`: its natural log-probability, and the best token there."""

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class Network:
    """Reads with a causal language model."""

    def __init__(self, causal: Causal) -> None:
        self._model = causal.model
        self._device = causal.device

    def read(self, batch: Batch) -> Readout:
        """Look up what the batch asks for in one forward pass.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        rows = torch.tensor([row for row, _ in batch.places], device=self._device)
        columns = torch.tensor([column for _, column in batch.places], device=self._device)

        def only_places(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
            return inputs[0][rows, columns][None]

        # Padding stands on the right, where a causal network cannot see it.
        ids = padded(batch.rows).to(self._device)
        # The head is the dearest layer of a small network with a large vocabulary. Narrowing
        # its input leaves whatever an architecture does to the logits afterwards in force.
        hook = self._model.get_output_embeddings().register_forward_pre_hook(only_places)
        try:
            with torch.inference_mode():
                logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits
                return _look_up(logits[0].float(), batch.asked)
        except torch.OutOfMemoryError as error:
            raise out_of_memory(ids.numel()) from error
        finally:
            hook.remove()


def _look_up(logits: torch.Tensor, asked: Sequence[tuple[int, int]]) -> Readout:
    """`logits` is (places, vocabulary) in float32."""
    total = sound(torch.logsumexp(logits, dim=-1))
    places = torch.tensor([place for place, _ in asked], device=logits.device)
    tokens = torch.tensor([token for _, token in asked], device=logits.device)
    logprobs = logits[places, tokens] - total[places]
    best = logits.argmax(dim=-1)[places]
    return Readout(tuple(listed(logprobs)), tuple(listed(best)))
