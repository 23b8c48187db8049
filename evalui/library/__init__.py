"""What `import evalui` offers, see docs/python.md; `evalui` imports it when it is first used."""

from evalui import benchmarks
from evalui.errors import EvaluiError
from evalui.library.evaluation import RunWarning, evaluate
from evalui.library.places import list_runs
from evalui.library.places import open_run as open
from evalui.library.run import Run
from evalui.library.scores import (
    agreement,
    compare,
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
