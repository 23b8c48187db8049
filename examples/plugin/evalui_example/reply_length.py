"""A metric: how long the replies of a model are."""

import math
from statistics import fmean

from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.metrics import Metric


def mean_reply_length(trials: CellTrials) -> float | None:
    """The mean length of the replies in characters; None where nothing was written."""
    lengths = [len(trial.reply) for trial in trials if trial.reply is not None]
    return fmean(lengths) if lengths else None


REPLY_LENGTH = Metric(
    "reply_length",
    mean_reply_length,
    unit="number",
    direction="lower",
    range=(0.0, math.inf),
    label={"en": "Reply length", "zh": "回答长度"},
    docs={"en": "mean length of the replies in characters", "zh": "回答的平均字符数"},
)
