"""A sample becomes requests, and the responses a trial."""

from evalui.modes import (
    choices_only,
    cloze,
    judge,
    multiple_choice,
    multiple_choice_reply,
    open_answer,
)
from evalui.modes.base import (
    MODES,
    Mode,
    ModeSettings,
    MultiTurn,
    follow_up_requests,
    plan_requests,
)
from evalui.modes.traits import (
    ModeTraits,
    NamesPrompts,
    ability_of,
    grader_of,
    modes_for,
    traits_of,
    usual_max_tokens,
    usual_mode,
    whole_of,
)

__all__ = [
    "MODES",
    "Mode",
    "ModeSettings",
    "ModeTraits",
    "MultiTurn",
    "NamesPrompts",
    "ability_of",
    "choices_only",
    "cloze",
    "follow_up_requests",
    "grader_of",
    "judge",
    "modes_for",
    "multiple_choice",
    "multiple_choice_reply",
    "open_answer",
    "plan_requests",
    "traits_of",
    "usual_max_tokens",
    "usual_mode",
    "whole_of",
]
