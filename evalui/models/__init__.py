"""Requests become responses."""

from evalui.models import local, scripted, vllm
from evalui.models.base import BACKENDS, Backend, Model, ModelEntry, UsageTracking
from evalui.models.catalog import ModelState, describe, open_model, read_catalog
from evalui.models.endpoint import backend as endpoint_backend
from evalui.models.scripted import NeedsAnswerKey

__all__ = [
    "BACKENDS",
    "Backend",
    "Model",
    "ModelEntry",
    "ModelState",
    "NeedsAnswerKey",
    "UsageTracking",
    "describe",
    "endpoint_backend",
    "local",
    "open_model",
    "read_catalog",
    "scripted",
    "vllm",
]
