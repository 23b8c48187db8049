"""The causal language model of a folder, loaded on its device."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
import transformers
from safetensors import SafetensorError
from transformers.generation.configuration_utils import GenerationConfig
from transformers.models.auto import configuration_auto
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
)
from transformers.utils.logging import disable_progress_bar

from evalui.errors import ModelError
from evalui.models.local.fp32 import Library
from evalui.models.local.lora import AdapterPlacement, attach
from evalui.models.local.weights import PROCESSOR_FILES, own_code, read_json, sees_pictures
from evalui.models.scoring_requests import UNLIMITED

MAX_LOGITS = 2**26  # of one forward pass: 256 MiB in float32
_SCALED_ROPE_TYPES = ("dynamic", "longrope")  # rotary positions, also as a part of a type's name
_CPU_CACHE_BYTES = 2**30  # on a CPU, for the keys and values of texts that are being generated


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A causal language model, ready to compute.

    `eos_ids` are the token ids that end a text. `adapter` states where the weights of an adapter
    are, "" if there is none. `library` multiplies its matrices, "" where there is no choice.
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
        """The longest input in tokens, 0 if its files do not state it."""
        return largest_number(self._config, "max_position_embeddings")

    @property
    def max_logit_rows(self) -> int:
        """How many distributions of the next token one forward pass may give."""
        return max(1, MAX_LOGITS // max(1, largest_number(self._config, "vocab_size")))

    @property
    def kv_cache_tokens(self) -> int:
        """How many tokens' keys and values are kept at once: half of a GPU's free memory."""
        config = self._config
        queries = largest_number(config, "num_attention_heads") or 1
        heads = largest_number(config, "num_key_value_heads") or queries
        size = largest_number(config, "head_dim", "global_head_dim")
        size = size or largest_number(config, "hidden_size") // queries
        layers = largest_number(config, "num_hidden_layers")
        token = max(1, 2 * layers * heads * size * self.model.dtype.itemsize)
        available = _CPU_CACHE_BYTES
        if self.device.type == "cuda":
            empty_cache(self.device)  # what torch keeps for itself would count as used
            available = torch.cuda.mem_get_info(self.device)[0] // 2
        return max(1, available // token)

    @property
    def rope_safe_length(self) -> int:
        """The longest text in tokens whose rotary positions depend on no other text.

        Beyond it, some networks rotate all rows of a batch by angles that follow the longest of
        them, or the longest so far. So a longer text has a batch of its own, after `reset_rope`.
        """
        most = getattr(self._config, "max_position_embeddings", None)
        limits = [
            limit
            for rope in _rope_settings(self._config)
            for limit in (rope.get("original_max_position_embeddings"), most)
            if limit and any(kind in str(rope.get("rope_type")) for kind in _SCALED_ROPE_TYPES)
        ]
        # Only a text below the limit resets a network after a longer one by itself.
        return min((int(limit) - 1 for limit in limits), default=UNLIMITED)

    @torch.inference_mode()
    def reset_rope(self) -> None:
        """Reset angles that follow the last text's length, by a forward pass over one token."""
        ids = torch.zeros((1, 1), dtype=torch.long, device=self.device)
        self.model(input_ids=ids, use_cache=False)

    @property
    def dtype(self) -> str:
        """The type it computes in, e.g. "float32"."""
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
    beside those the model itself names. `merge`: see `lora.attach`.

    Raises:
        ModelError: it cannot be loaded completely and as it was saved.
    """
    # Set even if the number stays: until then MKL may use fewer threads, and the last digits
    # follow their number.
    torch.set_num_threads(threads or min(torch.get_num_threads(), processor_quota()))
    target = _device(device)
    model = _load_model(folder, _torch_dtype(dtype, target))
    eos_ids |= _eos_ids(model.generation_config)
    # A file may have generation defaults (a repetition penalty, say), which generate() would apply.
    # Here the request alone decides how a text is generated.
    model.generation_config = GenerationConfig()
    placement: AdapterPlacement = ""
    if adapter:
        model, placement = attach(model, adapter, base=str(folder), merge=merge)
    return LoadedModel(model.eval().to(target), target, eos_ids, placement)


def processor_quota(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self")) -> int:
    """How many processors this process may keep busy: what a container or a unit is limited to,
    which torch does not ask for; very many where nothing limits it.
    """
    quota = float(UNLIMITED)
    try:
        lines = (own / "cgroup").read_text().splitlines()
    except OSError:  # no Linux
        lines = []
    for line in lines:
        number, _, path = line.partition("::")
        group = groups / path.lstrip("/")
        for each in (group, *group.parents) if number == "0" else ():
            with suppress(OSError, ValueError):  # the root has none, and "max" is no number
                most, period = (each / "cpu.max").read_text().split()
                quota = min(quota, float(most) / float(period))
    return max(1, math.ceil(quota))


def largest_number(config: Any, *names: str) -> int:
    """The largest number that an architecture's settings give under these names, 0 if none.

    Layers may differ in a setting, stated as a list or in settings of their own.
    """
    layers = config.per_layer_config if getattr(config, "is_heterogeneous", False) else [config]
    values: list[Any] = [getattr(each, name, None) for each in layers for name in names]
    listed: list[Any] = [n for value in values if isinstance(value, list) for n in cast(Any, value)]
    return max((n for n in (*values, *listed) if type(n) is int), default=0)


def empty_cache(device: torch.device) -> None:
    """Return to the device the memory that torch caches and no tensor uses."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def out_of_memory(tokens: int) -> ModelError:
    """The error of a device that cannot hold a batch of so many tokens."""
    return ModelError("out-of-memory", n=tokens)


def check_finite(scores: torch.Tensor) -> torch.Tensor:
    """The scores unchanged; raises `ModelError` if one is NaN."""
    if bool(torch.isnan(scores).any()):
        raise ModelError("nan")
    return scores


def to_list(tensor: torch.Tensor) -> list[Any]:
    """The tensor as nested lists."""
    return cast("list[Any]", tensor.tolist())  # torch leaves tolist without a type


def pad_right(rows: Sequence[tuple[int, ...]]) -> torch.Tensor:
    """Rows of token ids as (rows, width), padded with zeros on the right."""
    width = max(map(len, rows))
    return torch.tensor([row + (0,) * (width - len(row)) for row in rows])


def pad_left(
    rows: Sequence[tuple[int, ...]], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of token ids as (rows, width), padded with zeros on the left, and where tokens are."""
    ids = pad_right([row[::-1] for row in rows]).flip(1).to(device)
    width = ids.shape[1]
    padding = torch.tensor([[width - len(row)] for row in rows], device=device)
    return ids, torch.arange(width, device=device)[None] >= padding


def _rope_settings(config: Any) -> list[dict[str, Any]]:
    """The settings of rotary positions, one for all layers or one for each kind of them."""
    settings: dict[str, Any] = getattr(config, "rope_parameters", None) or {}
    return [settings, *(each for each in settings.values() if isinstance(each, dict))]


def _load_model(folder: Path, dtype: Any) -> Any:
    """The model of the files, in the precision `dtype`, none of its weights missing."""
    loader = _auto_class(folder)
    disable_progress_bar()  # a worker has no terminal; a command line shows its own
    try:
        model, report = cast(Any, loader).from_pretrained(  # typed without report
            folder,
            dtype=dtype,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        raise ModelError("model-unloadable", folder=str(folder), reason=str(error)) from error
    # transformers fills missing weights with random numbers without an error.
    if gaps := sorted(report["missing_keys"]):
        raise ModelError("model-gaps", folder=str(folder), n=len(gaps), name=gaps[0])
    code = own_code(folder)
    if code and (spare := sorted(report["unexpected_keys"])):
        raise ModelError(
            "own-code-weights", folder=str(folder), file=code, n=len(spare), name=spare[0]
        )
    if model.get_output_embeddings() is None:
        raise ModelError("not-causal", folder=str(folder))
    return model


def _auto_class(folder: Path) -> type[Any]:
    """What loads the model, with its network for pictures if it sees some.

    Raises:
        ModelError: transformers has no class for it that continues a text, with the way out.
    """
    config = read_json(folder / "config.json")
    kind = str(config.get("model_type"))
    has_pictures = kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    if has_pictures and sees_pictures(folder) and not config.get("is_encoder_decoder"):
        return AutoModelForImageTextToText
    if kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForCausalLM
    if code := own_code(folder):
        raise ModelError("own-code", folder=str(folder), file=code)
    if config.get("is_encoder_decoder"):
        raise ModelError("encoder-decoder", kind=kind)
    if has_pictures:
        files = " / ".join(PROCESSOR_FILES)
        raise ModelError("no-processor", folder=str(folder), kind=kind, files=files)
    if kind in cast(Any, configuration_auto).CONFIG_MAPPING_NAMES:  # typed only in part
        raise ModelError("no-causal-class", kind=kind)
    raise ModelError("unknown-architecture", kind=kind, version=transformers.__version__)


def _torch_dtype(dtype: str, device: torch.device) -> Any:
    """The precision in the form that transformers takes."""
    if dtype == "auto":
        return "auto" if device.type == "cuda" else torch.float32
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
