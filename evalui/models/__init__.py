"""Requests become responses. Importing the package registers the backends."""

from evalui.models import vllm
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
from evalui.models.endpoint import backend as endpoint_backend
from evalui.models.endpoint.backend import OpenAIBackend
from evalui.models.local import backend as local_backend
from evalui.models.local.backend import TransformersBackend
from evalui.models.scripted import backend as scripted_backend
from evalui.models.scripted.backend import ScriptedBackend
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
