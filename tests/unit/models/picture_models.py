"""Folders of tiny networks that see pictures, with random weights and their processors."""

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoTokenizer, GenerationConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from evalui.models import ModelEntry
from evalui.pictures import Mark, Picture, mark_of

_TOKENIZER = Path(__file__).parents[3] / "assets" / "models" / "demo-late"
PLACES: Mapping[str, str] = {
    "llava": "<image>",
    "llava_onevision": "<image>",
    "qwen2_5_vl": "<|vision_start|><|image_pad|><|vision_end|>",
    "qwen3_vl": "<|vision_start|><|image_pad|><|vision_end|>",
    "qwen3_5": "<|vision_start|><|image_pad|><|vision_end|>",
    "internvl": "<IMG_CONTEXT>",
    "idefics3": "<image>",
    "gemma3": "<start_of_image>",
    "mllama": "<|image|>",
    "glm4v": "<|begin_of_image|><|image|><|end_of_image|>",
    "paligemma": "<image>",
    "pixtral": "[IMG]",
}
_TEXT: Mapping[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_TOWER: Mapping[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.2,
}
_SQUARE = {"height": 28, "width": 28}
_PIXELS: Mapping[str, Any] = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 3}


@dataclass(frozen=True, slots=True)
class Seeing:
    """A type of model as transformers calls it: the settings of its networks and its processor.

    `tokens` are the special tokens of the processor by the names that it has for them, in the
    order of their ids. `image_id` are settings that name one of them.
    """

    kind: str
    text: dict[str, Any]
    vision: dict[str, Any]
    tokens: dict[str, str]
    image_id: dict[str, str]
    pictures: dict[str, Any]
    processor: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


_QWEN_TOKENS = {
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
}
_QWEN_IDS = {
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
}
_QWEN_PICTURES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "min_pixels": 28 * 28,
    "max_pixels": 112 * 112,
    "temporal_patch_size": 2,
    "merge_size": 2,
}
_MROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
_CLIP = {"model_type": "clip_vision_model", **_TOWER, "image_size": 28, "patch_size": 14}
_SIGLIP = {"model_type": "siglip_vision_model", **_TOWER, "image_size": 28, "patch_size": 14}

ARCHITECTURES: Mapping[str, Seeing] = {
    each.kind: each
    for each in (
        Seeing(
            "llava",
            {"model_type": "llama", **_TEXT},
            _CLIP,
            {"image_token": "<image>"},
            {"image_token_index": "<image>"},
            {
                "image_processor_type": "CLIPImageProcessor",
                "size": {"shortest_edge": 28},
                "crop_size": _SQUARE,
            },
            {
                "processor_class": "LlavaProcessor",
                "patch_size": 14,
                "vision_feature_select_strategy": "default",
                "num_additional_image_tokens": 1,
            },
            {"vision_feature_layer": -2, "vision_feature_select_strategy": "default"},
        ),
        Seeing(
            "llava_onevision",
            {"model_type": "qwen2", **_TEXT},
            _SIGLIP,
            {"image_token": "<image>", "video_token": "<video>"},
            {"image_token_index": "<image>", "video_token_index": "<video>"},
            {
                "image_processor_type": "LlavaOnevisionImageProcessor",
                "size": _SQUARE,
                "image_grid_pinpoints": [[28, 28], [28, 56], [56, 28]],
            },
            {
                "processor_class": "LlavaOnevisionProcessor",
                "num_image_tokens": 4,
                "vision_feature_select_strategy": "full",
                "vision_aspect_ratio": "anyres_max_9",
            },
            {
                "image_grid_pinpoints": [[28, 28], [28, 56], [56, 28]],
                "vision_feature_select_strategy": "full",
                "vision_feature_layer": -1,
            },
        ),
        Seeing(
            "qwen2_5_vl",
            {"model_type": "qwen2_5_vl_text", **_TEXT, "rope_parameters": _MROPE},
            {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_heads": 4,
                "out_hidden_size": 32,
                "patch_size": 14,
                "window_size": 56,
                "fullatt_block_indexes": [1],
                "initializer_range": 0.2,
            },
            _QWEN_TOKENS,
            _QWEN_IDS,
            _QWEN_PICTURES | {"patch_size": 14},
            {"processor_class": "Qwen2_5_VLProcessor"},
        ),
        Seeing(
            "qwen3_vl",
            {"model_type": "qwen3_vl_text", **_TEXT, "head_dim": 8, "rope_parameters": _MROPE},
            {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_heads": 4,
                "out_hidden_size": 32,
                "patch_size": 14,
                "num_position_embeddings": 16,
                "deepstack_visual_indexes": [0],
                "initializer_range": 0.2,
            },
            _QWEN_TOKENS,
            _QWEN_IDS,
            _QWEN_PICTURES | {"patch_size": 14},
            {"processor_class": "Qwen3VLProcessor"},
        ),
        Seeing(
            "qwen3_5",
            {
                "model_type": "qwen3_5_text",
                **_TEXT,
                "layer_types": ["linear_attention", "full_attention"],
                "head_dim": 8,
                "linear_num_key_heads": 2,
                "linear_num_value_heads": 4,
                "linear_key_head_dim": 8,
                "linear_value_head_dim": 8,
                "rope_parameters": {**_MROPE, "partial_rotary_factor": 1.0},
            },
            {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_heads": 4,
                "out_hidden_size": 32,
                "patch_size": 14,
                "num_position_embeddings": 16,
                "initializer_range": 0.2,
            },
            _QWEN_TOKENS,
            _QWEN_IDS,
            _QWEN_PICTURES | {"patch_size": 14},
            {"processor_class": "Qwen3VLProcessor"},
        ),
        Seeing(
            "internvl",
            {"model_type": "qwen2", **_TEXT},
            {
                **_TOWER,
                "image_size": [28, 28],
                "patch_size": [14, 14],
                "layer_scale_init_value": 1.0,
            },
            {
                "start_image_token": "<img>",
                "end_image_token": "</img>",
                "context_image_token": "<IMG_CONTEXT>",
                "video_token": "<video>",
            },
            {"image_token_id": "<IMG_CONTEXT>"},
            {
                "image_processor_type": "GotOcr2ImageProcessor",
                "size": _SQUARE,
                "min_patches": 1,
                "max_patches": 2,
            },
            {"processor_class": "InternVLProcessor", "image_seq_length": 1},
            {"image_seq_length": 1, "downsample_ratio": 0.5},
        ),
        Seeing(
            "idefics3",
            {"model_type": "llama", **_TEXT},
            {**_TOWER, "image_size": 28, "patch_size": 14},
            {
                "image_token": "<image>",
                "fake_image_token": "<fake_token_around_image>",
                "global_image_token": "<global-img>",
                "end_of_utterance_token": "<end_of_utterance>",
                **{f"row_{row}_{at}": f"<row_{row}_col_{at}>" for row in (1, 2) for at in (1, 2)},
            },
            {"image_token_id": "<image>"},
            {
                "image_processor_type": "Idefics3ImageProcessor",
                "size": {"longest_edge": 56},
                "max_image_size": {"longest_edge": 28},
            },
            {"processor_class": "Idefics3Processor", "image_seq_len": 1},
            {"scale_factor": 2},
        ),
        Seeing(
            "gemma3",
            {"model_type": "gemma3_text", **_TEXT, "head_dim": 8, "sliding_window": 64},
            _SIGLIP,
            {
                "image_token": "<image_soft_token>",
                "boi_token": "<start_of_image>",
                "eoi_token": "<end_of_image>",
            },
            {
                "image_token_index": "<image_soft_token>",
                "boi_token_index": "<start_of_image>",
                "eoi_token_index": "<end_of_image>",
            },
            {"image_processor_type": "Gemma3ImageProcessor", "size": _SQUARE},
            {"processor_class": "Gemma3Processor", "image_seq_length": 4},
            {"mm_tokens_per_image": 4},
        ),
        Seeing(
            "mllama",
            {
                "model_type": "mllama_text_model",
                **_TEXT,
                "num_hidden_layers": 3,
                "cross_attention_layers": [1],
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
            },
            {
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_hidden_layers": 2,
                "num_global_layers": 1,
                "attention_heads": 4,
                "image_size": 28,
                "patch_size": 14,
                "max_num_tiles": 2,
                "vision_output_dim": 96,
                "intermediate_layers_indices": [0, 1],
                "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
                "initializer_range": 0.2,
            },
            {"image_token": "<|image|>", "python_token": "<|python_tag|>"},
            {"image_token_index": "<|image|>"},
            {
                "image_processor_type": "MllamaImageProcessor",
                "size": _SQUARE,
                "max_image_tiles": 2,
            },
            {"processor_class": "MllamaProcessor"},
        ),
        Seeing(
            "glm4v",
            {
                "model_type": "glm4v_text",
                **_TEXT,
                "rope_parameters": {**_MROPE, "partial_rotary_factor": 1.0},
            },
            {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_heads": 4,
                "out_hidden_size": 32,
                "image_size": 28,
                "patch_size": 14,
                "initializer_range": 0.2,
            },
            {
                "image_token": "<|image|>",
                "video_token": "<|video|>",
                "begin_of_image": "<|begin_of_image|>",
                "end_of_image": "<|end_of_image|>",
                "begin_of_video": "<|begin_of_video|>",
                "end_of_video": "<|end_of_video|>",
            },
            {
                "image_token_id": "<|image|>",
                "video_token_id": "<|video|>",
                "image_start_token_id": "<|begin_of_image|>",
                "image_end_token_id": "<|end_of_image|>",
                "video_start_token_id": "<|begin_of_video|>",
                "video_end_token_id": "<|end_of_video|>",
            },
            {
                "image_processor_type": "Glm4vImageProcessor",
                "size": {"shortest_edge": 2 * 28 * 28, "longest_edge": 2 * 112 * 112},
                "patch_size": 14,
                "temporal_patch_size": 2,
                "merge_size": 2,
            },
            {"processor_class": "Glm4vProcessor"},
        ),
        Seeing(
            "paligemma",
            {"model_type": "gemma", **_TEXT, "head_dim": 8},
            _SIGLIP,
            {"image_token": "<image>"},
            {"image_token_index": "<image>"},
            {
                "image_processor_type": "SiglipImageProcessor",
                "size": _SQUARE,
                "image_seq_length": 4,
            },
            {"processor_class": "PaliGemmaProcessor"},
            {"projection_dim": 32},
        ),
        Seeing(
            "pixtral",
            {"model_type": "mistral", **_TEXT, "head_dim": 8},
            {"model_type": "pixtral", **_TOWER, "head_dim": 8, "image_size": 56, "patch_size": 14},
            {
                "image_token": "[IMG]",
                "image_break_token": "[IMG_BREAK]",
                "image_end_token": "[IMG_END]",
            },
            {"image_token_index": "[IMG]"},
            {
                "image_processor_type": "PixtralImageProcessor",
                "size": {"longest_edge": 56},
                "patch_size": 14,
            },
            {"processor_class": "PixtralProcessor", "patch_size": 14},
            {
                "model_type": "llava",
                "vision_feature_layer": -1,
                "vision_feature_select_strategy": "full",
            },
        ),
    )
}


# Those that are shown pictures, and those that are refused with the reason.
REFUSED = ("paligemma", "pixtral")
COMPUTED = tuple(kind for kind in ARCHITECTURES if kind not in REFUSED)


def save_seeing(kind: str, folder: Path, **text: int) -> ModelEntry:
    """The folder of that model with weights, tokenizer and processor as they are published, its
    network of texts with other settings if need be.
    """
    it = ARCHITECTURES[kind]
    folder.mkdir(exist_ok=True)
    size, ids = _save_tokenizer(it, folder)
    _save_processor(it, folder)
    settings = it.settings | {name: ids[token] for name, token in it.image_id.items()}
    config = CONFIG_MAPPING[it.settings.get("model_type", kind)].from_dict(
        settings
        | {"text_config": it.text | {"vocab_size": size} | text, "vision_config": dict(it.vision)}
        | {"tie_word_embeddings": False}
    )
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        model = AutoModelForImageTextToText.from_config(config)
        for name, weight in model.named_parameters():
            # Norms and biases stay; a gate of zero would shut the pictures out.
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.2)
            elif "gate" in name:
                torch.nn.init.ones_(weight)
    model.generation_config = GenerationConfig(eos_token_id=ids["<|im_end|>"])
    model.save_pretrained(folder)
    return ModelEntry("tiny", "transformers", path=str(folder), device="cpu", dtype="float32")


def _save_tokenizer(it: Seeing, folder: Path) -> tuple[int, dict[str, int]]:
    """The tokenizer of the demo models with the tokens of the processor; size, ids of tokens."""
    tokenizer: Any = AutoTokenizer.from_pretrained(_TOKENIZER)
    bos = {"bos_token": "<s>"} if it.kind in ("mllama", "paligemma") else {}
    tokenizer.add_special_tokens({**bos, "additional_special_tokens": [*it.tokens.values()]})
    tokenizer.save_pretrained(folder)
    about = json.loads((folder / "tokenizer_config.json").read_text())
    about |= {"extra_special_tokens": it.tokens, **bos}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in tokenizer.get_vocab()}
    return len(tokenizer), ids


def _save_processor(it: Seeing, folder: Path) -> None:
    template = """{%- for message in messages -%}{{ '<|im_start|>' + message['role'] + '\n' }}
    {%- for part in message['content'] -%}
    {%- if part['type'] == 'image' -%}{{ 'PLACE' }}{%- else -%}{{ part['text'] }}{%- endif -%}
    {%- endfor -%}{{ '<|im_end|>\n' }}{%- endfor -%}
    {%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%}
    {%- if enable_thinking is true -%}{{ '<think>\n' }}{%- endif -%}
    """.rstrip()
    begin = "{{ bos_token }}" if it.kind == "mllama" else ""
    template = begin + template.replace("PLACE", PLACES[it.kind])
    (folder / "chat_template.jinja").write_text(template)
    for name, content in (
        ("preprocessor_config.json", _PIXELS | it.pictures),
        ("processor_config.json", it.processor),
    ):
        (folder / name).write_text(json.dumps(content))


def picture(colour: str, size: tuple[int, int] = (90, 60)) -> Picture:
    """A picture of one colour that darkens from left to right."""
    image = Image.new("RGB", size, colour)
    for at in range(size[0]):
        for row in range(size[1]):
            red, green, blue = image.getpixel((at, row))  # type: ignore[misc]
            keep = 1 - at / size[0] * row / size[1]
            image.putpixel((at, row), (int(red * keep), int(green * keep), int(blue * keep)))
    body = io.BytesIO()
    image.save(body, "PNG")
    return Picture(mark_of(body.getvalue()).id, body.getvalue())


def mark(of: Picture) -> str:
    """The mark of a picture in a text."""
    return str(Mark(of.id))


def without_processor(folder: Path) -> None:
    """Delete what says how the pictures of a folder's model are prepared."""
    for name in ("preprocessor_config.json", "processor_config.json"):
        (folder / name).unlink()


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder."""
    return Path(shutil.copytree(folder, to))
