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

__all__ = [
    "MODES",
    "Mode",
    "ModeSettings",
    "MultiTurn",
    "choices_only",
    "cloze",
    "follow_up_requests",
    "judge",
    "multiple_choice",
    "multiple_choice_reply",
    "open_answer",
    "plan_requests",
]
