"""Tiny networks with random weights of the architectures that transformers has."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

WEIGHT_STD = 0.25  # so large that letters differ by nats, and a token too many in sight is seen
# Of these an architecture takes what its own settings have.
_SHAPE: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "emb_dim", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "encoder_ffn_dim"), 48),
    **dict.fromkeys(("decoder_ffn_dim", "dim_ff"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rotary_dim": 4,
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), 320),
    **dict.fromkeys(("sliding_window", "attention_chunk_size", "window_size"), 48),
    **dict.fromkeys(("attention_window_size", "local_window_size"), 48),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "moe_num_experts": 4,
    **dict.fromkeys(("num_experts_per_tok", "moe_k"), 2),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("n_group", "topk_group"), 1),
    **dict.fromkeys(("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"), 8),
    "q_lora_rank": 16,
    "embedding_size": 32,
    "tie_word_embeddings": False,  # or a token is followed by itself
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """A type of model as transformers calls it, what differs from the common shape, and which
    settings of the shape are left to the architecture.

    `attention` is the implementation of transformers that it is compared with.
    """

    kind: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    own: tuple[str, ...] = ()
    attention: str = "eager"


def build(architecture: Architecture, *, vocabulary: int, dtype: torch.dtype) -> Any:
    """The network, the same whenever it is made."""
    default = CONFIG_MAPPING[architecture.kind]().get_text_config()
    known = set(default.to_dict()) | set(type(default).attribute_map)
    shape = {
        name: value
        for name, value in {**_SHAPE, "vocab_size": vocabulary}.items()
        if name in known and name not in architecture.own
    }
    config = type(default)(**(shape | architecture.settings))
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        for weight in model.parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=WEIGHT_STD)
        torch.nn.init.normal_(model.get_output_embeddings().weight, std=3 * WEIGHT_STD)
    model.generation_config = GenerationConfig()
    return model.to(dtype)


def save(architecture: Architecture, folder: Path, *, vocabulary: int, dtype: torch.dtype) -> None:
    """Save the network in the folder, in this precision."""
    build(architecture, vocabulary=vocabulary, dtype=dtype).save_pretrained(folder)


_LATENT = {"num_key_value_heads": 4}
_FOUR = {"num_hidden_layers": 4}
_DELTA = {
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
}
_PLAIN = (
    *("apertus", "arcee", "aria_text", "biogpt", "bitnet", "ernie4_5", "ernie4_5_moe"),
    *("flex_olmo", "gemma", "glm", "glm4", "glm4_moe", "gpt2", "gpt_bigcode", "gpt_neox"),
    *("granite", "granitemoe", "granitemoeshared", "helium", "hunyuan_v1_dense"),
    *("hunyuan_v1_moe", "hy_v3", "jais2", "llama", "minimax_m2", "nanochat", "nemotron", "olmo"),
    *("olmo2", "olmoe", "opt", "persimmon", "phi", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"),
    *("seed_oss", "smollm3", "solar_open", "stablelm", "xglm", "bloom", "mpt", "gptj", "codegen"),
    *("gpt_neox_japanese", "openai-gpt", "ctrl", "diffllama"),
    *("bart", "marian", "mbart", "pegasus", "blenderbot", "plbart"),
    *("mamba", "falcon_mamba", "rwkv", "recurrent_gemma"),
    *("afmoe", "cwm", "exaone4", "gemma2", "gemma3_text", "gpt_oss", "granite_swa"),
    *("mimo_v2_flash", "ministral", "mistral", "mixtral", "olmo3", "phi3", "phimoe"),
    *("starcoder2", "vaultgemma", "modernbert-decoder", "llama4_text", "minimax"),
    *("moshi",),
)
ARCHITECTURES: dict[str, Architecture] = {
    **{kind: Architecture(kind) for kind in _PLAIN},
    "falcon": Architecture("falcon", own=("head_dim",)),
    # In transformers 5.19 its eager attention adds the biases twice, and "sdpa" does not.
    "falcon, ALiBi": Architecture("falcon", {"alibi": True}, own=("head_dim",), attention="sdpa"),
    "gpt_neo": Architecture("gpt_neo", {"attention_types": [[["global", "local"], 1]]}),
    "gemma3n_text": Architecture(
        "gemma3n_text",
        {
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "num_hidden_layers": 4,
            "num_kv_shared_layers": 2,
            "hidden_size_per_layer_input": 8,
            "intermediate_size": [48] * 4,
            "activation_sparsity_pattern": [0.0] * 4,
            "vocab_size_per_layer_input": 360,
            "laurel_rank": 8,
        },
    ),
    "gemma4_text": Architecture(
        "gemma4_text",
        {
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "global_head_dim": 16,
            "num_global_key_value_heads": 2,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 360,
            "num_kv_shared_layers": 0,
        },
        own=("attention_chunk_size",),
    ),
    "cohere": Architecture("cohere", {"logit_scale": 1.0}),
    "cohere2": Architecture("cohere2", {"logit_scale": 1.0}),
    "deepseek_v4": Architecture(
        "deepseek_v4",
        {
            **_FOUR,
            "o_lora_rank": 16,
            "index_n_heads": 2,
            "index_head_dim": 8,
            "index_topk": 16,
            "compress_rates": {
                "compressed_sparse_attention": 4,
                "heavily_compressed_attention": 32,
            },
        },
    ),
    "deepseek_v2": Architecture("deepseek_v2", _LATENT),
    "deepseek_v3": Architecture("deepseek_v3", _LATENT),
    "glm4_moe_lite": Architecture("glm4_moe_lite", _LATENT),
    "minicpm3": Architecture("minicpm3", _LATENT | {"dim_model_base": 32, "scale_emb": 1}),
    "lfm2": Architecture("lfm2", {**_FOUR, "layer_types": ["conv", "full_attention"] * 2}),
    "qwen3_next": Architecture("qwen3_next", _FOUR | _DELTA),
    "qwen3_5_text": Architecture("qwen3_5_text", _FOUR | _DELTA),
    "jamba": Architecture(
        "jamba", {"num_hidden_layers": 4, "attn_layer_period": 2, "attn_layer_offset": 1}
    ),
    "mamba2": Architecture(
        "mamba2", {"num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 8, "chunk_size": 16}
    ),
    "hy_v4": Architecture("hy_v4", {"index_topk": 16}),
}
# What is not a causal language model, or none that transformers can compute.
REFUSED: dict[str, Architecture] = {
    kind: Architecture(kind) for kind in ("bert", "roberta", "electra", "roformer", "xlm-roberta")
}
