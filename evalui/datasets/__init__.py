"""Files become samples."""

from evalui.datasets.base import (
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
from evalui.datasets.bundle import entries, load
from evalui.datasets.formats import ceval, choices, general_qa, mmlu, subjective

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
