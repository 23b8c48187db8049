"""A folder's weights become a causal language model on its device."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.utils.logging import disable_progress_bar

from evalui.errors import ModelError
from evalui.models.local.fp32 import Library
from evalui.models.local.lora import AdapterPlacement, attach
from evalui.models.scoring_requests import UNLIMITED

MAX_LOGITS = 2**26  # of one forward pass: 256 MiB in float32
_SCALED_ROPE_TYPES = (
    "dynamic",
    "longrope",
)  # kinds of rotary positions, also as a part of their names
_CPU_CACHE_BYTES = 2**30  # bytes on a CPU for the keys and values of texts that are being written


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A causal language model, ready to compute.

    `eos_ids` are the token ids that end a text. `adapter` says where the weights of an adapter are,
    "" if there is none. `library` multiplies its matrices, "" where that is not ours to choose.
    """

    model: Any  # transformers makes its classes per architecture; they share methods, not a type
    device: torch.device
    eos_ids: frozenset[int]
    adapter: AdapterPlacement = ""
    library: Library | Literal[""] = ""

    @property
    def can_choose_library(self) -> bool:
        """Whether a library can be chosen: in float32 on a CPU."""
        return self.device.type == "cpu" and self.dtype == "float32"

    @property
    def max_length(self) -> int:
        """The tokens it can read at once, 0 if its files do not tell."""
        return int(getattr(self._config, "max_position_embeddings", 0) or 0)

    @property
    def max_logit_rows(self) -> int:
        """How many distributions of the next token one forward pass may give."""
        return max(1, MAX_LOGITS // int(self._config.vocab_size))

    @property
    def kv_cache_tokens(self) -> int:
        """How many tokens' keys and values are kept at once: half of a GPU's free memory."""
        about = self._config
        heads = getattr(about, "num_key_value_heads", None) or about.num_attention_heads
        size = getattr(about, "head_dim", None) or about.hidden_size // about.num_attention_heads
        token = 2 * about.num_hidden_layers * heads * size * self.model.dtype.itemsize
        room = _CPU_CACHE_BYTES
        if self.device.type == "cuda":
            empty_cache(self.device)  # what torch keeps for itself would count as used
            room = torch.cuda.mem_get_info(self.device)[0] // 2
        return max(1, room // token)

    @property
    def rope_safe_length(self) -> int:
        """How many tokens a text may have so that its positions depend on no other text.

        Beyond it, some networks turn all rows of a batch by angles that follow the longest of
        them, or the longest so far. So a longer text has a batch of its own, after `reset_rope`.
        """
        most = getattr(self._config, "max_position_embeddings", None)
        limits = [
            limit
            for rope in _rope_settings(self._config)
            for limit in (rope.get("original_max_position_embeddings"), most)
            if limit and any(kind in str(rope.get("rope_type")) for kind in _SCALED_ROPE_TYPES)
        ]
        # Only a text below the limit brings a network back from a longer one by itself.
        return min((int(limit) - 1 for limit in limits), default=UNLIMITED)

    @torch.inference_mode()
    def reset_rope(self) -> None:
        """Let the network forget how long the last text was, by a text of one token."""
        ids = torch.zeros((1, 1), dtype=torch.long, device=self.device)
        self.model(input_ids=ids, use_cache=False)

    @property
    def dtype(self) -> str:
        """What it computes in, e.g. "float32"."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def _config(self) -> Any:
        return self.model.config.get_text_config()


def load(
    folder: Path,
    *,
    dtype: str,
    device: str,
    threads: int,
    eos_ids: frozenset[int],
    adapter: Path | None = None,
    merge: bool | None = None,
) -> LoadedModel:
    """The model in `folder`, whose weights are safetensors, with the LoRA adapter in `adapter`.

    `dtype` "auto" is the file's own on a GPU and float32 on a CPU, `device` "auto" the GPU if
    there is one, `threads` 0 leaves the number to torch. `eos_ids` are tokens that end a text
    beside those the model itself names. `merge`: see `adapters.attach`.

    Raises:
        ModelError: it cannot be loaded, whole and as it was saved.
    """
    # Also where the number stays: until it is set, MKL may take fewer threads as it sees fit, and
    # the last digits follow their number.
    torch.set_num_threads(threads or torch.get_num_threads())
    place = _device(device)
    model = _load_model(folder, _torch_dtype(dtype, place))
    eos_ids |= _eos_ids(model.generation_config)
    # A file may carry habits (a repetition penalty, say), which generate() would take up.
    # Nothing but the request decides how a text is written here.
    model.generation_config = GenerationConfig()
    where: AdapterPlacement = ""
    if adapter:
        model, where = attach(model, adapter, base=str(folder), merge=merge)
    return LoadedModel(model.eval().to(place), place, eos_ids, where)


def empty_cache(device: torch.device) -> None:
    """Give back what models nobody holds any more had on the device."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def out_of_memory(tokens: int) -> ModelError:
    """The error of a device that cannot hold a batch of so many tokens."""
    return ModelError(
        "out-of-memory",
        n=tokens,
    )


def check_finite(scores: torch.Tensor) -> torch.Tensor:
    """The scores as they are; raises `ModelError` if one is NaN."""
    if bool(torch.isnan(scores).any()):
        raise ModelError("nan")
    return scores


def to_list(tensor: torch.Tensor) -> list[Any]:
    """The tensor as nested lists."""
    return cast("list[Any]", tensor.tolist())  # torch leaves tolist without a type


def pad_right(rows: Sequence[tuple[int, ...]]) -> torch.Tensor:
    """Rows of token ids, filled up with zeros on the right."""
    width = max(len(row) for row in rows)
    return torch.tensor([row + (0,) * (width - len(row)) for row in rows])


def _rope_settings(about: Any) -> list[dict[str, Any]]:
    """The settings of rotary positions, one for all layers or one for each kind of them."""
    told: dict[str, Any] = getattr(about, "rope_parameters", None) or {}
    return [told, *(each for each in told.values() if isinstance(each, dict))]


def _load_model(folder: Path, kind: Any) -> Any:
    """The model as its files have it, in the precision `kind`, none of its weights missing."""
    disable_progress_bar()  # a worker has no terminal; a command line shows its own
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
            "model-unloadable",
            folder=str(folder),
            reason=str(error),
        ) from error
    # transformers fills gaps with random numbers and goes on; the answers would be noise.
    if gaps := sorted(report["missing_keys"]):
        raise ModelError(
            "model-gaps",
            folder=str(folder),
            n=len(gaps),
            name=gaps[0],
        )
    if model.get_output_embeddings() is None:
        raise ModelError("not-causal", folder=str(folder))
    return model


def _torch_dtype(dtype: str, place: torch.device) -> Any:
    """The precision as transformers takes it."""
    if dtype == "auto":
        return "auto" if place.type == "cuda" else torch.float32
    return getattr(torch, dtype)


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelError("no-device", name=name) from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelError("no-gpu")
    return device


def _eos_ids(config: Any) -> frozenset[int]:
    ends = config.eos_token_id
    if isinstance(ends, int):
        return frozenset({ends})
    return frozenset(ends or ())
