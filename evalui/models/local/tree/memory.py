"""How much of the device's memory reading may take: tokens of a pass, bytes of kept trunks."""

import psutil
import torch

from evalui.models.local.loading import LoadedModel

_BATCH_SHARE, _CACHE_SHARE = 0.25, 0.125  # shares of the free memory
_MAX_CACHE_BYTES = (
    2**32
)  # bytes of trunks; more than a few subjects' worth of examples is never met again


def max_batch_tokens(causal: LoadedModel) -> int:
    """How many tokens one forward pass may have.

    While a layer computes, a token has about twelve vectors of the model's width (residual,
    norms, queries, keys, values, outputs) and four of the width between its linear layers.
    """
    about = causal.model.config.get_text_config()
    width = int(about.hidden_size)
    inner = int(getattr(about, "intermediate_size", None) or 4 * width)
    token = (12 * width + 4 * inner) * causal.model.dtype.itemsize
    return max(1, int(_free_bytes(causal.device) * _BATCH_SHARE) // token)


def prefix_cache_bytes(causal: LoadedModel) -> int:
    """How many bytes of keys and values may be kept."""
    return min(_MAX_CACHE_BYTES, int(_free_bytes(causal.device) * _CACHE_SHARE))


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available
