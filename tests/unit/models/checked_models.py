"""Scorers and generators of loaded models, after the self check that a model is opened with."""

from evalui.models.local.fp32 import use_onednn
from evalui.models.local.generator import TokenGenerator
from evalui.models.local.loading import LoadedModel
from evalui.models.local.scorer import Scorer
from evalui.models.local.self_check import check_paths


def scorer(loaded: LoadedModel, *, token_budget: int = 4096) -> Scorer:
    """A scorer that computes as the check allows."""
    if loaded.library == "onednn":
        use_onednn(loaded.model)
    return Scorer(loaded, check_paths(loaded), token_budget=token_budget)


def generator(loaded: LoadedModel) -> TokenGenerator:
    """A generator that computes as the check allows."""
    return TokenGenerator(loaded, check_paths(loaded))


def notes(loaded: LoadedModel) -> str:
    """What the model says of the way it is computed, in one text."""
    if loaded.library == "onednn":
        use_onednn(loaded.model)
    return " ".join(check_paths(loaded).notes(str(loaded.model.config.model_type)))
