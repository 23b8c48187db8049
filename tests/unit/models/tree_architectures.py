"""Tiny networks with random weights, of the architectures people use."""

from typing import Any

import torch
import transformers

from evalui.models.local.loading import LoadedModel

# Weights so large that a token too many in sight is seen in the scores.
_SHAPE = {
    "vocab_size": 300,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.2,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_OLD = {
    "vocab_size": 300,
    "hidden_size": 32,
    "n_embd": 32,
    "d_model": 32,
    "n_layer": 2,
    "n_layers": 2,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "num_layers": 2,
    "num_hidden_layers": 2,
    "n_positions": 256,
    "initializer_range": 0.2,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_HEAD = {"head_dim": 8}
_DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}

# name -> (class of the configuration, what differs from the shape above)
OVER_TRIES: dict[str, tuple[str, dict[str, Any]]] = {
    "Qwen2": ("Qwen2Config", {}),
    "Qwen3": ("Qwen3Config", _HEAD),
    "Llama": ("LlamaConfig", {}),
    "Mistral": ("MistralConfig", {"sliding_window": None}),
    "Mistral, window 64": ("MistralConfig", {"sliding_window": 64}),
    "Gemma": ("GemmaConfig", _HEAD),
    "Gemma 2": ("Gemma2Config", _HEAD | {"sliding_window": 64, "initializer_range": 0.5}),
    "Gemma 3": ("Gemma3TextConfig", _HEAD | {"sliding_window": 64}),
    "GLM": ("GlmConfig", _HEAD),
    "GLM 4": ("Glm4Config", _HEAD),
    "GPT-2": ("GPT2Config", {}),
    "GPT-NeoX": ("GPTNeoXConfig", {}),
    "GPT-J": ("GPTJConfig", {"rotary_dim": 4}),
    "CodeGen": ("CodeGenConfig", {"rotary_dim": 4}),
    "OPT": ("OPTConfig", {"ffn_dim": 48, "init_std": 0.2, "word_embed_proj_dim": 32}),
    "Phi": ("PhiConfig", {}),
    "Phi 3": ("Phi3Config", {}),
    "OLMo 2": ("Olmo2Config", {}),
    "Cohere": ("CohereConfig", {}),
    "StableLM": ("StableLmConfig", {}),
    "StarCoder 2": ("Starcoder2Config", {}),
    "Granite": ("GraniteConfig", {}),
    "SmolLM 3": ("SmolLM3Config", {}),
    "Mixtral": ("MixtralConfig", {"num_local_experts": 4}),
    "Qwen2 MoE": ("Qwen2MoeConfig", _EXPERTS | {"shared_expert_intermediate_size": 16}),
    "Qwen3 MoE": ("Qwen3MoeConfig", _HEAD | _EXPERTS),
    "gpt-oss": ("GptOssConfig", _HEAD | {"num_local_experts": 4, "sliding_window": 64}),
    "Llama, dynamic NTK": (
        "LlamaConfig",
        {"max_position_embeddings": 64, "rope_parameters": _DYNAMIC},
    ),
}
# Beyond 64 tokens their positions follow the longest text of a batch.
STRETCHED: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamic": OVER_TRIES["Llama, dynamic NTK"],
    "longrope": (
        "Phi3Config",
        {
            "original_max_position_embeddings": 64,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 100.0,
                "short_factor": [1.0] * 4,
                "long_factor": [1.0, 4.0, 8.0, 16.0],
            },
        },
    ),
}
ROW_BY_ROW: dict[str, tuple[str, dict[str, Any]]] = {
    "Mistral, window 16": ("MistralConfig", {"sliding_window": 16}),
    "Qwen2, window 16": (
        "Qwen2Config",
        {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1},
    ),
    "Bloom": ("BloomConfig", {}),
    "MPT": ("MptConfig", {}),
    "Falcon": ("FalconConfig", {"num_attention_heads": 4}),
    "Falcon, ALiBi": ("FalconConfig", {"num_attention_heads": 4, "alibi": True}),
    "GPT-Neo": ("GPTNeoConfig", {"attention_types": [[["global", "local"], 1]]}),
    "Llama 4": (
        "Llama4TextConfig",
        _HEAD
        | {"intermediate_size_mlp": 48, "num_local_experts": 2, "num_hidden_layers": 4}
        | {"floor_scale": 64, "attn_temperature_tuning": True, "attention_chunk_size": 256},
    ),
    "Mamba": ("MambaConfig", {}),
    "RWKV": ("RwkvConfig", {}),
    "RecurrentGemma": (
        "RecurrentGemmaConfig",
        {"num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 64},
    ),
}
_OLDER = {"GPT-2", "Bloom", "MPT", "Falcon", "Falcon, ALiBi", "GPT-Neo", "GPT-J", "CodeGen"}
_OLDER |= {"Mamba", "RWKV"}


def tiny(name: str, dtype: torch.dtype = torch.float32) -> LoadedModel:
    """The network of that name, the same whenever it is made."""
    kind, differs = (OVER_TRIES | STRETCHED | ROW_BY_ROW)[name]
    config = getattr(transformers, kind)(**((_OLD if name in _OLDER else _SHAPE) | differs))
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
    model.generation_config = transformers.GenerationConfig()
    return LoadedModel(model, torch.device("cpu"), frozenset())
