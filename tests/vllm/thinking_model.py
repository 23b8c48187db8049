"""A tiny model that thinks before it replies, its weights set by hand.

What it writes follows from the token before alone: its only layer adds nothing. After a line break,
with which its template ends where thinking is on, comes a thought, whose words name another letter
than the reply; after `</think>`, and after any other token, a letter by `LETTERS`; after a letter
the end. So what a right reading of it must find is known without computing it.
"""

import json
import math
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import torch
from vllm_questions import DEMO

from evalui.types import Message

THOUGHT = "It could be C or D"
LETTERS = {"A": 0.2, "B": 0.7, "C": 0.06, "D": 0.04}  # probabilities of the reply
REPLY = 1  # the place of the letter that it replies
QUESTION = (Message("user", "Which of these fits? A. one B. two C. three D. four"),)
THINKING_OFF = {"enable_thinking": False}
_OPEN, _CLOSE = "<think>", "</think>"
# Where thinking is off, Qwen3's template closes empty thoughts by itself.
_TEMPLATE = (
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n<think>\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false -%}{{ '\n</think>\n\n' }}"
    "{%- endif -%}{%- endif -%}"
)
_WIDTH, _CERTAIN = 64, 50.0


def save_thinking_model(folder: Path, letters: Mapping[str, float] = LETTERS) -> None:
    """The model, its tokenizer and its chat template; `letters` are the tokens that it replies."""
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    _save_tokenizer(folder)
    ids = cast(Any, AutoTokenizer).from_pretrained(folder)
    config = Qwen2Config(
        vocab_size=len(ids),
        hidden_size=_WIDTH,
        intermediate_size=_WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=False,
        eos_token_id=ids.eos_token_id,
        bos_token_id=None,
        dtype="float32",
    )
    model = cast(Any, Qwen2ForCausalLM)(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        embed, head = model.model.embed_tokens.weight, model.lm_head.weight
        embed[:, 0] = 1.0  # of any other token
        # A normed embedding is one number, the root of the width, at its place.
        unit = math.sqrt(_WIDTH)
        head[:, 0] = -_CERTAIN / unit
        for letter, probability in letters.items():
            head[ids.convert_tokens_to_ids(letter), 0] = math.log(probability) / unit
        chain: list[int] = ids.encode("\n" + THOUGHT + _CLOSE, add_special_tokens=False)
        assert len(set(chain)) == len(chain), "one token after each"
        replies: list[int] = ids.convert_tokens_to_ids([*letters])
        steps = [*pairwise(chain), *((reply, int(ids.eos_token_id)) for reply in replies)]
        for place, (before, after) in enumerate(steps, start=1):
            embed[before] = 0.0
            embed[before, place] = 1.0
            head[after, place] = _CERTAIN / unit
    model.save_pretrained(folder)


def _save_tokenizer(folder: Path) -> None:
    """That of the demo model with the two marks; the blanks after the second belong to it."""
    tokenizer = json.loads((DEMO / "tokenizer.json").read_text(encoding="utf-8"))
    added = tokenizer["added_tokens"]
    count = len(tokenizer["model"]["vocab"])
    assert max(each["id"] for each in added) < count
    for place, mark in enumerate((_OPEN, _CLOSE)):
        token = dict(added[0], id=count + place, content=mark, special=False)
        added.append(dict(token, rstrip=mark == _CLOSE))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    shutil.copy(DEMO / "tokenizer_config.json", folder)
    template = (DEMO / "chat_template.jinja").read_text(encoding="utf-8")
    turns, found, _ = template.partition("{%- if add_generation_prompt -%}")
    assert found
    (folder / "chat_template.jinja").write_text(turns + _TEMPLATE, encoding="utf-8")
