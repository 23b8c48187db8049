"""Requests become responses."""

import evalui.models.endpoint.backend
import evalui.models.local.backend
import evalui.models.scripted.backend
import evalui.models.vllm.backend  # noqa: F401 - each registers its backend
from evalui.models.base import BACKENDS, Backend, Model, ModelEntry, UsageTracking
from evalui.models.catalog import ModelState, describe, open_model, read_catalog
from evalui.models.scripted.backend import NeedsAnswerKey

__all__ = [
    "BACKENDS",
    "Backend",
    "Model",
    "ModelEntry",
    "ModelState",
    "NeedsAnswerKey",
    "UsageTracking",
    "describe",
    "open_model",
    "read_catalog",
]
