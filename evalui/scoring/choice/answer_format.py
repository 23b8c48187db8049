"""Did the model answer in the requested form? Knowledge is measured elsewhere.

All shares are over trials and clustered by question; pass the trials of the original order only
to compare with acc_origin.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.scoring.statistics.intervals import clustered_mean_by_id
from evalui.types import Interval, Reading, Trial

# How far one log-probability moved at most when bfloat16 was computed in batches of another shape
# (a model of half a billion parameters beside lm-evaluation-harness): letters, and whole options.
_LETTER_TOLERANCE, _TEXT_TOLERANCE = 0.07, 0.40


@dataclass(frozen=True, slots=True)
class ReadingMetrics:
    """One reading's accuracy, the share it cannot read, and how many trials it left tied.

    With the unreadable counted as wrong, the true accuracy of what the model meant lies between
    `accuracy.value` and `accuracy.value + unreadable.value`. `rules` counts the rules that fired.
    """

    accuracy: Interval
    unreadable: Interval
    tied: int
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FormatMetrics:
    """How well the answers could be read, over `n_trials` trials of `n_questions` questions.

    `format_gap` is the share of trials that are right when read tolerantly and not when read
    strictly: form, not knowledge; None unless both readings exist. `mass` is the mean probability
    of all labels together, None without probabilities. `index_hits` answered by number,
    `label_text_conflicts` named one option's letter with another's text. `near_ties` are decided by
    so little log-probability that a computation in bfloat16 may decide them otherwise.
    """

    n_questions: int
    n_trials: int
    readings: Mapping[str, ReadingMetrics]
    format_gap: Interval | None
    mass: float | None
    index_hits: int
    label_text_conflicts: int
    merged_boundaries: int
    truncated: int
    near_ties: int = 0


def format_metrics(trials: Sequence[Trial]) -> FormatMetrics:
    """The figures of trials that share their readings; at least one trial."""
    assert trials, "no trials, no figures"
    ids = [trial.sample_id for trial in trials]
    read = {name: [trial.readings[name] for trial in trials] for name in trials[0].readings}
    tolerant, strict = read.get("tolerant", []), read.get("strict", [])
    rules = Counter(readings.rule for readings in tolerant)
    masses = [trial.mass for trial in trials if trial.mass is not None]
    return FormatMetrics(
        n_questions=len(set(ids)),
        n_trials=len(trials),
        readings={name: _reading_metrics(ids, readings) for name, readings in read.items()},
        format_gap=_format_gap(ids, tolerant, strict) if tolerant and strict else None,
        mass=sum(masses) / len(masses) if masses else None,
        index_hits=rules["index"],
        label_text_conflicts=rules["label-text-conflict"],
        merged_boundaries=sum(trial.merged_boundaries for trial in trials),
        truncated=sum(trial.truncated for trial in trials),
        near_ties=sum(map(_is_near_tie, trials)),
    )


def _is_near_tie(trial: Trial) -> bool:
    """Whether the best two differ by less than both may sway; equal ones are ties, not near."""
    if trial.probabilities:
        scores, sway = [_safe_log(share) for share in trial.probabilities], _LETTER_TOLERANCE
    else:
        scores, sway = list(trial.scores.get("raw", ())), _TEXT_TOLERANCE
    if len(scores) < 2:
        return False
    second, best = sorted(scores)[-2:]
    return 0 < best - second < 2 * sway


def _safe_log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf


def _reading_metrics(ids: Sequence[str], readings: Sequence[Reading]) -> ReadingMetrics:
    unreadable = [float(each.choice is None and not each.tied) for each in readings]
    return ReadingMetrics(
        accuracy=clustered_mean_by_id(ids, [each.credit for each in readings]).interval,
        unreadable=clustered_mean_by_id(ids, unreadable).interval,
        tied=sum(each.tied for each in readings),
        rules=dict(Counter(each.rule for each in readings).most_common()),
    )


def _format_gap(
    ids: Sequence[str], tolerant: Sequence[Reading], strict: Sequence[Reading]
) -> Interval:
    # Whatever is read strictly is read tolerantly as the same option, so no trial is negative.
    pairs = zip(tolerant, strict, strict=True)
    return clustered_mean_by_id(
        ids, [loose.credit - tight.credit for loose, tight in pairs]
    ).interval
