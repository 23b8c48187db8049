"""Requests become responses."""

from evalui.models import openai, scripted, transformers, vllm
from evalui.models.base import BACKENDS, Backend, Metered, Model, ModelEntry
from evalui.models.catalog import ModelState, describe, open_model, read_catalog
from evalui.models.scripted import Learner

__all__ = [
    "BACKENDS",
    "Backend",
    "Learner",
    "Metered",
    "Model",
    "ModelEntry",
    "ModelState",
    "describe",
    "open_model",
    "openai",
    "read_catalog",
    "scripted",
    "transformers",
    "vllm",
]
