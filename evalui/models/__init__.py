"""Requests become responses. Importing the package registers the backends."""

from evalui.models.base import (
    BACKENDS,
    Backend,
    BackendTraits,
    Model,
    ModelEntry,
    NeedsAnswerKey,
    UsageTracking,
)
from evalui.models.catalog import ModelState, describe, open_model, read_catalog
from evalui.models.endpoint.backend import OpenAIBackend
from evalui.models.local import TransformersBackend
from evalui.models.scripted import ScriptedBackend
from evalui.models.vllm import VllmBackend

__all__ = [
    "BACKENDS",
    "Backend",
    "BackendTraits",
    "Model",
    "ModelEntry",
    "ModelState",
    "NeedsAnswerKey",
    "OpenAIBackend",
    "ScriptedBackend",
    "TransformersBackend",
    "UsageTracking",
    "VllmBackend",
    "describe",
    "open_model",
    "read_catalog",
]
