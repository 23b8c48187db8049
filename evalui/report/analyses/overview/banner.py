"""The gravest note of a run, over all its models: the one that stands on top of a page."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from evalui.report.analyses.overview.guessing import with_question
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import LEVELS, Level, notes
from evalui.types import Cell, Language

CHOICES_ONLY_RULE = "choices-only"  # the note on answers that need no question
BIASED = "biased"  # a clear position bias, which is told by its light and not by a note


@dataclass(frozen=True, slots=True)
class Banner:
    """One kind of note and the cells that have it, in the order of the run.

    `most_severe` is the cell with the gravest value and `text` its note ("" of a bias).
    """

    level: Level
    rule: str
    cells: tuple[Cell, ...]
    most_severe: Cell
    text: str


def banner(
    summaries: Sequence[Summary], language: Language, *, unless: Collection[str] = ()
) -> Banner | None:
    """The gravest note, by level and then by how much of the answers it concerns.

    None if no note is more than information. Rules in `unless` are left out: they are told
    elsewhere on the page.
    """
    kinds: defaultdict[tuple[Level, str], list[tuple[Summary, str]]] = defaultdict(list)
    shown = {summary.cell for summary in with_question(summaries)}
    for summary in summaries:
        for level, rule, text in _notes_of(summary, language):
            # Of those asked without the question, only that they could answer matters here.
            counts = summary.cell in shown or rule == CHOICES_ONLY_RULE
            if counts and level != "info" and rule not in unless:
                kinds[level, rule].append((summary, text))
    found = [_banner(level, rule, cells) for (level, rule), cells in kinds.items()]
    # The first of equals is that of the model that stands first.
    return min(found, key=lambda one: (LEVELS.index(one[0].level), -one[1]), default=(None,))[0]


def _notes_of(summary: Summary, language: Language) -> list[tuple[Level, str, str]]:
    told: list[tuple[Level, str, str]] = [
        (note.level, note.rule, note.text) for note in notes(summary, language)
    ]
    bias = summary.main_bias
    if bias and bias.level == "red":
        told.append(("bad", BIASED, ""))
    return told


def _banner(level: Level, rule: str, cells: Sequence[tuple[Summary, str]]) -> tuple[Banner, float]:
    summary, text = max(cells, key=lambda one: _severity(rule, one[0]))
    told = tuple(each.cell for each, _ in cells)
    return Banner(level, rule, told, summary.cell, text), _severity(rule, summary)


def _severity(rule: str, summary: Summary) -> float:
    """The share of the answers, or of the probability, that a note puts in doubt: 0 to 1."""
    known = _SEVERITIES.get(rule)
    return min(1.0, max(0.0, known(summary))) if known else 0.0


def _missing_share(s: Summary) -> float:
    return 1 - s.done / max(1, s.total)


def _sample_shortfall(s: Summary) -> float:
    return 1 - s.n / 30


def _share_at_or_below_chance(s: Summary) -> float:
    """How much of the range of the accuracy lies at or under chance."""
    accuracy, chance = s.accuracy, s.chance
    if accuracy is None or chance is None or accuracy.high == accuracy.low:
        return 1.0
    return (chance - accuracy.low) / (accuracy.high - accuracy.low)


def _above_chance_without_question(s: Summary) -> float:
    return s.accuracy.value - (s.chance or 0.0) if s.accuracy else 0.0


def _format_gap(s: Summary) -> float:
    return s.format.format_gap.value if s.format and s.format.format_gap else 0.0


def _answered_by_number(s: Summary) -> float:
    return s.format.index_hits / max(1, s.done) if s.format else 0.0


def _mass_outside_labels(s: Summary) -> float:
    """The probability that the letters do not hold."""
    return 1 - s.format.mass if s.format and s.format.mass is not None else 0.0


def _truncated(s: Summary) -> float:
    return s.format.truncated / max(1, s.done) if s.format else 0.0


def _max_position_deviation(s: Summary) -> float:
    furthest = s.main_bias.spread.max_share_deviation if s.main_bias else None
    return furthest or 0.0


_SEVERITIES: Mapping[str, Callable[[Summary], float]] = {
    "failed": lambda _: 1.0,
    "partial": _missing_share,
    "fewer-than-30": _sample_shortfall,
    "chance": _share_at_or_below_chance,
    "below-chance": _share_at_or_below_chance,
    "unreadable-many": lambda s: s.unreadable / max(1, s.done),
    "format": _format_gap,
    "format-index": _format_gap,
    "by-number": _answered_by_number,
    "mass": _mass_outside_labels,
    "mass-some": _mass_outside_labels,
    "ties": lambda s: s.ties / max(1, s.done),
    "incomplete": lambda s: len(s.incomplete) / max(1, s.questions),
    CHOICES_ONLY_RULE: _above_chance_without_question,
    "truncated": _truncated,
    BIASED: _max_position_deviation,
}
