"""The neural network itself: token ids in, log-probabilities and token ids out.

The only module that computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.generation.logits_process import LogitsProcessorList
from transformers.generation.stopping_criteria import StoppingCriteriaList
from transformers.utils.logging import disable_progress_bar

from evalui.errors import ModelError
from evalui.models.batches import Batch, Tokens

_LOGITS = 2**26  # of one forward pass: 256 MiB in float32


@dataclass(frozen=True, slots=True)
class Readout:
    """For each pair `Batch.asked`: its natural log-probability, and the best token there."""

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The tokens a network wrote. `ended`: it came to an end before it ran out of tokens."""

    ids: Tokens
    ended: bool


# Says whether what a row has written so far is enough: (row, token ids) -> bool.
Enough = Callable[[int, Tokens], bool]


class Network:
    """A causal language model on its device."""

    # transformers makes its model classes per architecture; they share methods, not a type.
    def __init__(self, model: Any, device: torch.device, ends: frozenset[int]) -> None:
        self._model: Any = model
        self._device = device
        config = model.config.get_text_config()
        self.max_length = int(getattr(config, "max_position_embeddings", 0) or 0)
        self.place_budget = max(1, _LOGITS // int(config.vocab_size))
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.device = device.type
        self._ends = ends | _ends(model.generation_config)
        # A file may carry habits (a repetition penalty, say), which generate() would take up.
        # Nothing but the request decides how a text is written here.
        model.generation_config = GenerationConfig()

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
        ids = _padded(batch.rows).to(self._device)
        # The head is the dearest layer of a small network with a large vocabulary. Narrowing
        # its input leaves whatever an architecture does to the logits afterwards in force.
        hook = self._model.get_output_embeddings().register_forward_pre_hook(only_places)
        try:
            with torch.inference_mode():
                logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits
                return _look_up(logits[0].float(), batch.asked)
        except torch.OutOfMemoryError as error:
            raise _out_of_memory(ids.numel()) from error
        finally:
            hook.remove()

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
        padded = _padded([prompt[::-1] for prompt in prompts]).flip(1).to(self._device)
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
                    input_ids=padded,
                    attention_mask=mask.long(),
                    generation_config=config,
                    logits_processor=processors,
                    stopping_criteria=StoppingCriteriaList([stop]),
                )
        except torch.OutOfMemoryError as error:
            raise _out_of_memory(padded.numel()) from error
        texts = _listed(out[:, width:])
        return [self._cut(ids, length) for ids, length in zip(texts, stop.lengths, strict=True)]

    def close(self) -> None:
        """Free the device."""
        del self._model
        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def _cut(self, ids: list[int], enough_at: int | None) -> Written:
        """The tokens up to the first that ended the row."""
        end = next((place for place, token in enumerate(ids) if token in self._ends), None)
        if end is not None and (enough_at is None or end < enough_at):
            return Written(tuple(ids[:end]), ended=True)
        return Written(tuple(ids[:enough_at]), ended=enough_at is not None)


def load(folder: Path, *, dtype: str, device: str, threads: int, ends: frozenset[int]) -> Network:
    """The network in `folder`, whose weights are safetensors.

    `dtype` "auto" is the file's own on a GPU and float32 on a CPU, `device` "auto" the GPU if
    there is one, `threads` 0 leaves the number to torch. `ends` are tokens that end a text
    beside those the model itself names.

    Raises:
        ModelError: it cannot be loaded, whole and as it was saved.
    """
    if threads:
        torch.set_num_threads(threads)
    disable_progress_bar()  # a worker has no terminal; a command line shows its own
    place = _device(device)
    if dtype == "auto":
        kind = "auto" if place.type == "cuda" else torch.float32
    else:
        kind = getattr(torch, dtype)
    try:
        model, report = cast(Any, AutoModelForCausalLM).from_pretrained(  # typed without report
            folder,
            dtype=kind,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        raise ModelError(
            "{folder} cannot be loaded: {reason}",
            "model-unloadable",
            folder=str(folder),
            reason=str(error),
        ) from error
    # transformers fills gaps with random numbers and goes on; the answers would be noise.
    if gaps := sorted(report["missing_keys"]):
        raise ModelError(
            "{folder} lacks {n} weights of its architecture, e.g. {name}.",
            "model-gaps",
            folder=str(folder),
            n=len(gaps),
            name=gaps[0],
        )
    if model.get_output_embeddings() is None:
        raise ModelError(
            "{folder} holds no causal language model.", "not-causal", folder=str(folder)
        )
    return Network(model.eval().to(place), place, ends)


class _Stop:
    """Ends a row as soon as `enough` says so, and remembers how long it was then."""

    def __init__(self, enough: Enough, rows: int, width: int) -> None:
        self._enough = enough
        self._width = width
        self.lengths: list[int | None] = [None] * rows

    def __call__(self, input_ids: torch.Tensor, _scores: Any, **_: Any) -> torch.Tensor:
        for row, ids in enumerate(_listed(input_ids[:, self._width :])):
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


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelError(
            "{name!r} is no device. Known: auto, cpu, cuda, cuda:0, ...", "no-device", name=name
        ) from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelError("The model is to run on cuda, but torch finds no GPU here.", "no-gpu")
    return device


def _ends(config: Any) -> frozenset[int]:
    ends = config.eos_token_id
    if isinstance(ends, int):
        return frozenset({ends})
    return frozenset(ends or ())


def _padded(rows: Sequence[Tokens]) -> torch.Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([row + (0,) * (width - len(row)) for row in rows])


def _look_up(logits: torch.Tensor, asked: Sequence[tuple[int, int]]) -> Readout:
    """`logits` is (places, vocabulary) in float32."""
    total = _sound(None, torch.logsumexp(logits, dim=-1))
    places = torch.tensor([place for place, _ in asked], device=logits.device)
    tokens = torch.tensor([token for _, token in asked], device=logits.device)
    logprobs = logits[places, tokens] - total[places]
    best = logits.argmax(dim=-1)[places]
    return Readout(tuple(_listed(logprobs)), tuple(_listed(best)))


def _sound(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    """The scores as they are; in the form of a logits processor."""
    if bool(torch.isnan(scores).any()):
        raise ModelError("The network computes NaN. Load it with dtype float32.", "nan")
    return scores


def _listed(tensor: torch.Tensor) -> list[Any]:
    return cast("list[Any]", tensor.tolist())  # torch leaves tolist without a type


def _out_of_memory(tokens: int) -> ModelError:
    return ModelError(
        "The device ran out of memory on a batch of {n} tokens. Set EVALUI_TOKEN_BUDGET lower.",
        "out-of-memory",
        n=tokens,
    )
