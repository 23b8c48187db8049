"""Finished runs of other harnesses: recognised by their files, read, and kept as runs."""

from evalui.harnesses import (
    evalscope,
    helm,
    inspect_log,
    lm_eval,
    lmms_eval,
    opencompass,
    vlmevalkit,
)
from evalui.harnesses.base import HARNESSES, LogPart, LogReader
from evalui.harnesses.table import table_reader

__all__ = [
    "HARNESSES",
    "LogPart",
    "LogReader",
    "evalscope",
    "helm",
    "inspect_log",
    "lm_eval",
    "lmms_eval",
    "opencompass",
    "table_reader",
    "vlmevalkit",
]
