"""A sample becomes requests, and the responses a trial."""

from evalui.modes import cloze, generation, multiple_choice
from evalui.modes.base import MODES, Mode, Setting

__all__ = ["MODES", "Mode", "Setting", "cloze", "generation", "multiple_choice"]
