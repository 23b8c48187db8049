"""What a reader must know before trusting a figure.

The thresholds are judgement, not literature; docs/metrics-bias.md lists them with their reasons.
"""

from collections.abc import Callable
from dataclasses import dataclass

from evalui.scoring.statistics.intervals import beats_guessing, blind_accuracy
from evalui.types import Interval

MIN_DRAWN = 5  # questions, from which on a group of them is drawn or listed
HIDDEN_BELOW, EXPLORATORY_BELOW = 30, 100
MIN_LABEL_MASS = 0.1  # the label mass under which picks are no sign of a bias
_MAX_LETTER_SHARE = 0.4  # the most that one letter of four or more may hold of the answers


@dataclass(frozen=True, slots=True)
class Caution:
    """A rule that fired, and the numbers its sentence needs: shares in 0..1, counts, p-values."""

    rule: str
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CautionEvidence:
    """What is known of one cell; None is "not measured" and fires nothing.

    `n` questions, `chance` what a blind answer gives on them. `origin` is the accuracy in the
    original order, `accuracy` that over the trials of which `unreadable`, `format_gap`,
    `index_hits` and `tied` are shares; `mass` is the mean label mass. `top_k`: an interface that
    returns only a few probabilities. `incomplete`, `refers_to_other_options` and `duplicates` count
    questions. `gold_counts` counts the answers per slot in the original order, `gold_p` is its
    chi-square p. `choices_only` is (right, trials) without the question. `flips` is the judge's
    rate of flipped pairs, `judge_unreadable` the share of verdicts that cannot be read;
    `single_order`: the judge saw one order. `rstd_plain` and `rstd_debiased` are PriDe's, in
    points. `incompatibilities` is that of `pairs.incompatibilities`.
    """

    n: int
    chance: float | None = None
    origin: Interval | None = None
    unreadable: Interval | None = None
    accuracy: Interval | None = None
    format_gap: float | None = None
    index_hits: float | None = None
    mass: float | None = None
    tied: float | None = None
    top_k: bool = False
    incomplete: int = 0
    refers_to_other_options: int = 0
    duplicates: int = 0
    gold_counts: tuple[int, ...] = ()
    gold_p: float | None = None
    choices_only: tuple[int, int] | None = None
    flips: Interval | None = None
    judge_unreadable: float | None = None
    single_order: bool = False
    rstd_plain: float | None = None
    rstd_debiased: float | None = None
    incompatibilities: str = ""


def cautions(evidence: CautionEvidence) -> tuple[Caution, ...]:
    """Every rule that fires, in the order a reader should see them."""
    fired = (rule(evidence) for rule in _CHECKS)
    return tuple(caution for caution in fired if caution)


def _check_comparable(e: CautionEvidence) -> Caution | None:
    return Caution(f"not-comparable:{e.incompatibilities}") if e.incompatibilities else None


def _check_sample_size(e: CautionEvidence) -> Caution | None:
    if e.n < HIDDEN_BELOW:
        return Caution("too-few", (e.n,))
    return Caution("exploratory", (e.n,)) if e.n < EXPLORATORY_BELOW else None


def _check_unreadable(e: CautionEvidence) -> Caution | None:
    """Above 2 %, or above half of the accuracy's half-width; values: share and both bounds."""
    if e.unreadable is None:
        return None
    share, known = e.unreadable.value, e.accuracy or e.origin
    values = (share, known.value, min(1.0, known.value + share)) if known else (share,)
    if share > 0.10:
        return Caution("unreadable-many", values)
    half = (known.high - known.low) / 2 if known else 1.0
    return Caution("unreadable", values) if share > 0.02 or share > half / 2 else None


def _check_format_gap(e: CautionEvidence) -> Caution | None:
    if e.format_gap is None or e.format_gap <= 0.05:
        return None
    return Caution("format-gap", (e.format_gap, e.index_hits or 0.0))


def _check_index_replies(e: CautionEvidence) -> Caution | None:
    share = e.index_hits or 0.0
    return Caution("index-hits", (share,)) if share > 0.05 else None


def _check_label_mass(e: CautionEvidence) -> Caution | None:
    if e.mass is None or e.mass >= 0.9:
        return None
    return Caution("mass-low" if e.mass < 0.5 else "mass", (e.mass,))


def _check_ties(e: CautionEvidence) -> Caution | None:
    most = 0.0 if e.top_k else 0.01
    return Caution("ties", (e.tied,)) if e.tied is not None and e.tied > most else None


def _check_incomplete(e: CautionEvidence) -> Caution | None:
    return Caution("incomplete", (e.incomplete,)) if e.incomplete else None


def _check_option_references(e: CautionEvidence) -> Caution | None:
    return Caution("naming", (e.refers_to_other_options,)) if e.refers_to_other_options else None


def _check_duplicates(e: CautionEvidence) -> Caution | None:
    return Caution("duplicate-options", (e.duplicates,)) if e.duplicates else None


def _check_answer_balance(e: CautionEvidence) -> Caution | None:
    """p < .01, or a letter above 40 % (1/K and 15 points with fewer than four options)."""
    if not sum(e.gold_counts):
        return None
    most = max(e.gold_counts) / sum(e.gold_counts)
    rare = e.gold_p is not None and e.gold_p < 0.01
    is_frequent = most > max(_MAX_LETTER_SHARE, 1 / len(e.gold_counts) + 0.15)
    return Caution("unbalanced", (most,)) if rare or is_frequent else None


def _check_choices_only(e: CautionEvidence) -> Caution | None:
    """More right without the question than guessing or the most frequent letter explains."""
    if e.choices_only is None or e.chance is None:
        return None
    from scipy.special import bdtrc

    right, n = e.choices_only
    blind = blind_accuracy(e.chance, e.gold_counts)
    p = float(bdtrc(right - 1, n, blind)) if right else 1.0
    return Caution("choices-only", (right / n, p)) if p < 0.05 else None


def _check_guessing(e: CautionEvidence) -> Caution | None:
    if e.origin is None or e.chance is None or beats_guessing(e.origin, e.chance):
        return None
    return Caution("guessing", (e.origin.value, e.chance))


def _check_debiasing(e: CautionEvidence) -> Caution | None:
    if e.rstd_plain is None or e.rstd_debiased is None or e.rstd_debiased <= e.rstd_plain:
        return None
    return Caution("debiasing-hurts", (e.rstd_plain, e.rstd_debiased))


def _check_flips(e: CautionEvidence) -> Caution | None:
    if e.flips is None or e.flips.value <= 0.10:
        return None
    many = e.flips.value > 0.20 and e.flips.n >= HIDDEN_BELOW
    return Caution("flips-many" if many else "flips", (e.flips.value, e.flips.low, e.flips.high))


def _check_single_order(e: CautionEvidence) -> Caution | None:
    return Caution("single-order") if e.single_order else None


def _check_judge_unreadable(e: CautionEvidence) -> Caution | None:
    share = e.judge_unreadable or 0.0
    return Caution("judge-unreadable", (share,)) if share > 0.02 else None


_CHECKS: tuple[Callable[[CautionEvidence], Caution | None], ...] = (
    _check_comparable,
    _check_sample_size,
    _check_guessing,
    _check_unreadable,
    _check_format_gap,
    _check_index_replies,
    _check_label_mass,
    _check_ties,
    _check_incomplete,
    _check_option_references,
    _check_duplicates,
    _check_answer_balance,
    _check_choices_only,
    _check_debiasing,
    _check_flips,
    _check_single_order,
    _check_judge_unreadable,
)
