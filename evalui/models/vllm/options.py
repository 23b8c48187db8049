"""What an entry of models.toml means to vLLM: its options, its arguments, its environment."""

import contextlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import Field

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.local import weights
from evalui.models.validation import CheckedTable, InvalidField, InvalidTable, validated

# The ranks that vLLM has kernels for, see `max_lora_rank` of its LoRAConfig.
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class VllmOptions(CheckedTable):
    """The `options` of an entry that are vLLM's.

    `tensor_parallel` is the number of GPUs, `memory_share` the share of the device's memory that
    vLLM may take (0: vLLM's own default), `python` another interpreter that has vLLM, `eager`
    switches compiled graphs off, which starts faster and computes slower.
    """

    tensor_parallel: int = Field(default=1, ge=1, description=">= 1")
    memory_share: float = Field(default=0.0, ge=0, le=1, description="0..1")
    quantization: str = ""
    python: str = ""
    eager: bool = False
    seed: int = Field(default=0, ge=0, lt=2**32, description="0..2**32 - 1")


def read_options(entry: ModelEntry) -> VllmOptions:
    """The options of the entry; other keys belong to other parts of the program.

    Raises:
        ModelError: one has a wrong type or a value out of its range, or they and the device
            contradict each other.
    """
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", entry.device):
        raise ModelError("no-device", name=entry.device)
    given = {key: entry.options[key] for key in VllmOptions.model_fields if key in entry.options}
    try:
        options = validated(VllmOptions, given)
    except InvalidTable as error:
        raise _option_error(error.field) from None
    if options.tensor_parallel > 1 and ":" in entry.device:
        raise ModelError("vllm-one-gpu", n=options.tensor_parallel, device=entry.device)
    return options


def visible_gpu(entry: ModelEntry, outside: Mapping[str, str]) -> str:
    """The CUDA_VISIBLE_DEVICES with which the process sees the entry's GPU alone; "" if the entry
    does not number one. The number is an index into the GPUs visible outside.

    Raises:
        ModelError: it is not below their number.
    """
    number = entry.device.partition(":")[2]
    if not number or _VISIBLE not in outside:
        return number
    seen = [each.strip() for each in outside[_VISIBLE].split(",") if each.strip()]
    if int(number) >= len(seen):
        raise ModelError("vllm-no-gpu", device=entry.device, n=len(seen))
    return seen[int(number)]


def interpreter(options: VllmOptions) -> Path:
    """The interpreter that runs vLLM."""
    python = Path(options.python or sys.executable)
    with contextlib.suppress(RuntimeError):  # no such user: `missing` reports that it is not there
        python = python.expanduser()
    return python.absolute()


def missing(options: VllmOptions) -> str:
    """Why no vLLM can be started, in one sentence; "" if nothing is known against it."""
    if not options.python:
        spec = importlib.util.find_spec("vllm")
        if spec and spec.origin:  # a folder of that name has a spec, too, but no origin
            return ""
        return sentence("error.vllm-missing")
    python = interpreter(options)
    if not python.is_file():
        return sentence("error.vllm-no-python", file=str(python))
    if _lacks_vllm(python.parent.parent):
        return sentence("error.vllm-python-without", file=str(python))
    return ""


def engine(entry: ModelEntry, options: VllmOptions, folder: Path) -> dict[str, Any]:
    """The arguments of vLLM's engine; names as in its `EngineArgs`."""
    arguments: dict[str, Any] = {
        "model": str(folder),
        "tokenizer": str(folder),
        "dtype": entry.dtype,
        "load_format": "safetensors",
        "trust_remote_code": False,
        "enable_prefix_caching": True,
        "logprobs_mode": "raw_logprobs",
        "enforce_eager": options.eager,
        "tensor_parallel_size": options.tensor_parallel,
        "seed": options.seed,
        "disable_log_stats": True,
    }
    if options.memory_share:
        arguments["gpu_memory_utilization"] = options.memory_share
    if options.quantization:
        arguments["quantization"] = options.quantization
    if entry.max_length > 0:
        # Two more: for the token that is scored, and for the one that vLLM always generates.
        config = weights.text_config(weights.read_json(folder / "config.json"))
        known = int(config.get("max_position_embeddings") or config.get("n_positions") or 0)
        arguments["max_model_len"] = min(entry.max_length + 2, known or entry.max_length + 2)
    if entry.adapter:
        arguments |= {
            "enable_lora": True,
            "max_loras": 1,
            "max_lora_rank": lora_rank(Path(entry.adapter)),
        }
    return arguments


def lora_rank(adapter: Path) -> int:
    """The smallest rank that vLLM supports and that is not below the adapter's ranks.

    Raises:
        ModelError: none is large enough, or the adapter's ranks are not integers.
    """
    config = weights.read_json(adapter / "adapter_config.json")
    pattern: Any = config.get("rank_pattern") or {}
    others: Mapping[str, Any] = cast(Any, pattern) if isinstance(pattern, dict) else {"": pattern}
    ranks = [config.get("r", 8), *others.values()]
    for rank in ranks:
        if type(rank) is not int:
            raise ModelError("adapter-rank", folder=str(adapter), rank=repr(rank))
    most = max(ranks)
    for rank in _RANKS:
        if most <= rank:
            return rank
    raise ModelError("vllm-rank", folder=str(adapter), rank=most, most=_RANKS[-1])


def environment(entry: ModelEntry, outside: Mapping[str, str], threads: int) -> dict[str, str]:
    """The environment of vLLM's process. Values set outside win; raises as `visible_gpu`."""
    values = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # one process is easier to end than two
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if threads:
        values["OMP_NUM_THREADS"] = str(threads)
    values |= outside
    if gpu := visible_gpu(entry, outside):
        values[_VISIBLE] = gpu
    return values


def _option_error(wrong: InvalidField) -> ModelError:
    """A wrong type is reported by the type's name, a wrong value by the field's description."""
    kind = getattr(VllmOptions.model_fields[wrong.name].annotation, "__name__", "")
    wanted = kind if wrong.problem.endswith("_type") else wrong.expected
    return ModelError("vllm-option", field=wrong.name, wanted=wanted, found=repr(wrong.value))


def _lacks_vllm(prefix: Path) -> bool:
    """Whether this is a virtual environment without vLLM; False if nothing is known."""
    config = prefix / "pyvenv.cfg"
    if not config.is_file():
        return False
    settings = config.read_text(encoding="utf-8").lower().replace(" ", "")
    if "include-system-site-packages=true" in settings:
        return False
    return not any(prefix.glob("lib*/python3*/site-packages/vllm/__init__.py"))
