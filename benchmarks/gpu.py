"""The rows of `models` on a CUDA device, with models of common shapes and random weights.

Speed does not depend on what the weights are. No machine of ours had such a device yet: this has
never been run on one.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.contest import Session
from benchmarks.models import Subject, measured
from benchmarks.questions import MODEL
from benchmarks.rows import Row

_SIDE = 8192  # of the square product whose rate counts as the device's peak
_BATCH = 64
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "Qwen2 0.5B": {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "vocab_size": 151936,
        "tie_word_embeddings": True,
    },
    "Qwen2 7B": {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
        "tie_word_embeddings": False,
    },
}


def rows(session: Session, device: str = "cuda") -> Iterator[Row]:
    """Every task for every shape in bfloat16; ratios are of seconds on the wall."""
    peak = _peak(device)
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            _write(folder, shape, device)
            subject = Subject(
                folder,
                "bfloat16",
                device,
                _BATCH,
                {f"a product at {peak / 1e12:.0f} TFLOP/s": peak},
                None,
                by="wall",
                title=f"{name}: ",
            )
            for row in measured(subject, session):
                yield replace(row, found="; ".join(filter(None, (row.found, _memory(device)))))


def _write(folder: Path, shape: Mapping[str, Any], device: str) -> None:
    """A model of this shape with the small one's tokenizer, whose ids are all in its vocabulary."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen2Config

    for file in MODEL.iterdir():
        if "token" in file.name or file.suffix == ".jinja":
            shutil.copy(file, folder)
    torch.manual_seed(0)
    with torch.device(device):
        config: Any = Qwen2Config(eos_token_id=2, pad_token_id=0, bos_token_id=None, **shape)
        maker: Any = AutoModelForCausalLM
        model = maker.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    del model
    if device != "cpu":
        torch.cuda.empty_cache()


def _peak(device: str) -> float:
    """Floating-point operations a second of a large product in bfloat16."""
    import torch

    left = torch.randn(_SIDE, _SIDE, dtype=torch.bfloat16, device=device)
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        product = left @ left
        product[0, 0].item()  # waits for the device
        best = min(best, time.perf_counter() - began)
    return 2.0 * _SIDE**3 / best


def _memory(device: str) -> str:
    """The most memory we have held on the device; lm-eval's process is not in it."""
    if device == "cpu":
        return ""
    import torch

    held = torch.cuda.max_memory_allocated() / 2**30
    torch.cuda.reset_peak_memory_stats()
    return f"{held:.1f} GiB of the device at most"
