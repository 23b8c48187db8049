"""What a network finds probable, computed over packs of tries.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from transformers import AttentionInterface

from evalui.models.local.loading import Causal
from evalui.models.local.padded_forward import Readout, look_up, narrowed, noticing_full
from evalui.models.local.tree.attention import KeysValues, Sight, Unfit, sight
from evalui.models.local.tree.prefix_cache import Trunks
from evalui.models.local.tree.prefix_tree import Pack, chain
from evalui.models.logprob_queries import Tokens

_CHAIN = 1024  # tokens of a trunk computed at once
Layers = dict[int, KeysValues]


class TreeNetwork:
    """Reads packs with a causal language model and keeps the trunks they hang on.

    `trunk_bytes` bounds the memory of the kept trunks.
    """

    def __init__(self, causal: Causal, *, trunk_bytes: int) -> None:
        self._model = causal.model
        self._device = causal.device
        self._library = causal.library
        self.trunks = Trunks[Layers](trunk_bytes, size=_bytes)

    def read(self, pack: Pack) -> Readout:
        """Look up what the pack asks for in one forward pass, after its trunk if that is new.

        Raises:
            ModelError: the network computes NaN.
            Full: the device has too little memory.
            Unfit: the architecture cannot be computed over tries.
        """
        logits, _ = self._forward(pack, self.trunk(pack.trunk, lasting=pack.lasting))
        return look_up(logits, pack.asked)

    def trunk(self, tokens: Tokens, *, lasting: int) -> Layers:
        """Keys and values of a trunk, from the nearest one there is.

        Its first `lasting` tokens are kept; all of it is at hand until the next one.
        """
        if not tokens:
            return {}
        known, layers = self.trunks.nearest(tokens)
        layers = _cut(layers, known) if layers else {}
        begin = known
        while known < len(tokens):
            until = min(len(tokens), known + _CHAIN)
            _, seen = self._forward(chain(tokens[:until], known), layers)
            layers, known = _joined(layers, seen), until
        if lasting and not self.trunks.keeps(tokens[:lasting]):
            self.trunks.put(tokens[:lasting], _copied(_cut(layers, lasting)))
        if max(begin, lasting) < len(tokens):
            self.trunks.hold(tokens, layers)
        return layers

    def _forward(self, pack: Pack, trunk: Layers) -> tuple[torch.Tensor, Layers]:
        """Logits (places, vocabulary) at the places, and keys and values of each layer."""
        places = torch.tensor(pack.places or (0,), device=self._device)

        def only_places(states: torch.Tensor) -> torch.Tensor:
            return states[:, places]

        like = torch.empty(0, dtype=self._model.dtype, device=self._device)
        view = sight(pack, trunk, like=like, library=self._library)
        with (
            torch.inference_mode(),
            narrowed(self._model, only_places),
            self._seeing(view),
            noticing_full(),
        ):
            logits: torch.Tensor = self._model(
                input_ids=torch.tensor([pack.tokens], device=self._device),
                position_ids=torch.tensor([pack.positions], device=self._device),
                use_cache=False,
            ).logits
        if not view.seen or (trunk and view.seen.keys() != trunk.keys()):
            raise Unfit("it does not compute attention where transformers lets others do it")
        return logits[0].float(), view.seen

    @contextmanager
    def _seeing(self, view: Sight) -> Generator[None]:
        """Let the layers attend by `view`. A name without a mask function gets no masks."""
        name = f"evalui_tree_{id(self)}"
        config = self._model.config
        before = config._attn_implementation
        AttentionInterface.register(name, view.attend)
        config._attn_implementation = name
        try:
            yield
        finally:
            config._attn_implementation = before
            # There is no way to take a name back, and this one would keep the tensors alive.
            AttentionInterface._global_mapping.pop(name)  # pyright: ignore[reportPrivateUsage]


def _bytes(layers: Layers) -> int:
    return sum(each.numel() * each.element_size() for pair in layers.values() for each in pair)


def _cut(layers: Layers, length: int) -> Layers:
    return {at: (key[:, :, :length], value[:, :, :length]) for at, (key, value) in layers.items()}


def _copied(layers: Layers) -> Layers:
    return {at: (key.clone(), value.clone()) for at, (key, value) in layers.items()}


def _joined(above: Layers, below: Layers) -> Layers:
    # A copy, since what a layer computed may be a view of much more.
    if not above:
        return {at: (key.contiguous(), value.contiguous()) for at, (key, value) in below.items()}
    return {
        at: (torch.cat([above[at][0], key], dim=2), torch.cat([above[at][1], value], dim=2))
        for at, (key, value) in below.items()
    }
