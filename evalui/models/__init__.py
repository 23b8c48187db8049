"""Requests become responses."""

import evalui.models.endpoint.backend
import evalui.models.local.backend
import evalui.models.scripted.backend
import evalui.models.vllm.backend  # noqa: F401 - each registers its backend
from evalui.models.base import BACKENDS, Backend, Metered, Model, ModelEntry
from evalui.models.catalog import ModelState, describe, open_model, read_catalog
from evalui.models.scripted.backend import Learner

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
    "read_catalog",
]
