"""A metric: the accuracy in which every subject counts the same, however many questions it has."""

import numpy as np

from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.metrics import Metric


def macro_accuracy(trials: CellTrials) -> float:
    """The mean over subjects of the share of questions right as written."""
    written = trials.columns.is_origin
    credit = trials.columns.reading.credit[written]
    subject = trials.questions.subject[written]
    return float(np.mean([credit[subject == name].mean() for name in sorted(set(subject))]))


MACRO_ACCURACY = Metric(
    "macro_accuracy",
    macro_accuracy,
    needs="subjects",
    label={"en": "Macro accuracy", "zh": "宏平均准确率"},
    docs={"en": "mean over subjects of their accuracy", "zh": "各学科准确率的平均"},
)
