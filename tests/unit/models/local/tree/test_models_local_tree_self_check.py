from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evalui.models.local.loading import Causal
from evalui.models.local.tree.self_check import reach
from evalui.models.logprob_queries import ENDLESS

DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
LONG = {"rope_type": "longrope", "original_max_position_embeddings": 1024}
FAR = {"rope_type": "dynamic", "original_max_position_embeddings": 8192}
NAMED = {"rope_type": "someones_dynamic", "rope_theta": 1e4}


def causal_of(about: dict[str, Any]) -> Causal:
    config = SimpleNamespace(max_position_embeddings=4096, **about)
    config.get_text_config = lambda: config
    return Causal(SimpleNamespace(config=config), torch.device("cpu"), frozenset())


@pytest.mark.parametrize(
    ("about", "tokens"),
    [
        ({}, ENDLESS),
        ({"rope_parameters": PLAIN}, ENDLESS),
        ({"rope_parameters": None}, ENDLESS),
        ({"rope_parameters": DYNAMIC}, 4095),
        ({"rope_parameters": NAMED}, 4095),
        ({"rope_parameters": FAR}, 4095),
        ({"rope_parameters": LONG}, 1023),
        ({"rope_parameters": {"rope_theta": 1e4}}, ENDLESS),
        ({"rope_parameters": {"full_attention": DYNAMIC, "sliding_attention": PLAIN}}, 4095),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": LONG}}, 1023),
        ({"rope_parameters": LONG, "sliding_window": 512}, 512),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": None}}, ENDLESS),
        ({"sliding_window": 512}, 512),
        ({"sliding_window": 512, "layer_types": ["full_attention"]}, ENDLESS),
        ({"attention_chunk_size": 8192}, 8192),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": True}, 0),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": False}, 8192),
    ],
)
def test_tries_reach_as_far_as_all_layers_see_all(about: dict[str, Any], tokens: int):
    assert reach(causal_of(about)) == tokens
