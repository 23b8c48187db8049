"""evalui: evaluate language models on your own files, and believe the numbers.

    import evalui

    run = evalui.evaluate("law_val.csv", models=["demo-late"], mode="multiple_choice")
    run.metrics()

The names below are the whole public interface, see docs/python.md. What they need (pandas, numpy,
the store, Plotly, torch) is imported when one of them is used for the first time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evalui.version import __version__

if TYPE_CHECKING:
    from evalui.library import (
        EvaluiError,
        Run,
        RunWarning,
        agreement,
        benchmarks,
        compare,
        evaluate,
        list_runs,
        open,
        position_bias,
        ratings,
        score_choices,
        score_texts,
        text_scores,
    )

__all__ = [
    "EvaluiError",
    "Run",
    "RunWarning",
    "__version__",
    "agreement",
    "benchmarks",
    "compare",
    "evaluate",
    "list_runs",
    "open",
    "position_bias",
    "ratings",
    "score_choices",
    "score_texts",
    "text_scores",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used first; kept, so that this is called once for each."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "benchmarks":  # a package of its own
        return import_module("evalui.benchmarks")
    value = getattr(import_module("evalui.library"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
