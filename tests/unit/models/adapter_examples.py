"""Small adapters for the small model, made by peft."""

import warnings
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM


def make_adapter(base: Path, folder: Path, *, zero: bool = False, **settings: Any) -> Path:
    """A LoRA adapter of rank 4 for the model in `base`, all its weights random or B all zero."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    settings = {"r": 4, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"} | settings
    torch.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft warns of shared weights, which a test wants
        tuned = PeftModel(model, LoraConfig(**settings))
        for name, weight in tuned.named_parameters():
            if "lora_B" in name and not zero:
                torch.nn.init.normal_(weight, std=0.05)
        tuned.save_pretrained(str(folder), safe_serialization=True)
    return folder
