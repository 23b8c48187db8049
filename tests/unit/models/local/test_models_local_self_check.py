from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evalui.models.local.loading import LoadedModel
from evalui.models.local.self_check import max_tree_length
from evalui.models.scoring_requests import UNLIMITED

DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
LONG = {"rope_type": "longrope", "original_max_position_embeddings": 1024}
FAR = {"rope_type": "dynamic", "original_max_position_embeddings": 8192}
NAMED = {"rope_type": "someones_dynamic", "rope_theta": 1e4}


def causal_of(about: dict[str, Any]) -> LoadedModel:
    config = SimpleNamespace(max_position_embeddings=4096, **about)
    config.get_text_config = lambda: config
    return LoadedModel(SimpleNamespace(config=config), torch.device("cpu"), frozenset())


@pytest.mark.parametrize(
    ("about", "tokens"),
    [
        ({}, UNLIMITED),
        ({"rope_parameters": PLAIN}, UNLIMITED),
        ({"rope_parameters": None}, UNLIMITED),
        ({"rope_parameters": DYNAMIC}, 4095),
        ({"rope_parameters": NAMED}, 4095),
        ({"rope_parameters": FAR}, 4095),
        ({"rope_parameters": LONG}, 1023),
        ({"rope_parameters": {"rope_theta": 1e4}}, UNLIMITED),
        ({"rope_parameters": {"full_attention": DYNAMIC, "sliding_attention": PLAIN}}, 4095),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": LONG}}, 1023),
        ({"rope_parameters": LONG, "sliding_window": 512}, 512),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": None}}, UNLIMITED),
        ({"sliding_window": 512}, 512),
        ({"sliding_window": 512, "layer_types": ["full_attention"]}, UNLIMITED),
        ({"attention_chunk_size": 8192}, 8192),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": True}, 0),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": False}, 8192),
    ],
)
def test_trees_reach_as_far_as_all_layers_see_all(about: dict[str, Any], tokens: int):
    assert max_tree_length(causal_of(about)) == tokens
