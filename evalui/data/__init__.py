"""Files become samples."""

from evalui.data import ceval, choices, general_qa, mmlu, subjective
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
    "ceval",
    "choices",
    "entries",
    "general_qa",
    "load",
    "mmlu",
    "subjective",
]
