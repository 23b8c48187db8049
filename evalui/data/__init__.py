"""Files become samples."""

from evalui.data import arc, ceval, general_qa, subjective
from evalui.data.base import (
    ANSWER_KEYS,
    NOTES,
    READERS,
    RULES,
    Layout,
    Limits,
    Loaded,
    Note,
    Reader,
)
from evalui.data.bundle import entries, load

__all__ = [
    "ANSWER_KEYS",
    "NOTES",
    "READERS",
    "RULES",
    "Layout",
    "Limits",
    "Loaded",
    "Note",
    "Reader",
    "arc",
    "ceval",
    "entries",
    "general_qa",
    "load",
    "subjective",
]
