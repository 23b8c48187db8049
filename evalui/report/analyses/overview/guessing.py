"""The first sentence of a run in which no model does better than guessing.

Such models are ranked by nothing, so it stands before every other sentence, note and figure.
"""

from collections.abc import Collection, Sequence

from evalui.messages import localized
from evalui.report.analyses.overview.narrative import names
from evalui.report.analyses.overview.summary import Summary, is_unfinished
from evalui.report.analyses.overview.warnings import CHOICES_ONLY
from evalui.report.numbers import format_range, format_value, percent
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.types import Language


def with_question(summaries: Sequence[Summary]) -> list[Summary]:
    """The cells that show their question; all if none does."""
    shown = [summary for summary in summaries if summary.cell.mode != CHOICES_ONLY]
    return shown or list(summaries)


def guessing_lines(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str]
) -> tuple[str, ...]:
    """What stands first if no model beats guessing: the sentence, then the best of them.

    () if some model does better, if none was shown its questions, or if all have fewer than 30:
    of so few nothing is said. Scripted baselines count only where there is nothing else.
    """
    shown = [s for s in with_question(summaries) if s.cell.mode != CHOICES_ONLY]
    own = [s for s in shown if s.cell.model not in baselines] or shown
    known = [s for s in own if s.accuracy and s.n >= HIDDEN_BELOW]
    if not known or any(summary.above_chance for summary in own):
        return ()
    first = "guessing-so-far" if any(map(is_unfinished, own)) else "guessing-all"
    return localized(first, language), _best_result(known, language, alone=len(own) == 1)


def _best_result(known: Sequence[Summary], language: Language, *, alone: bool) -> str:
    """How far the best came; where questions differ in chance, the one least below its own."""
    best = max(known, key=_above_chance)
    assert best.accuracy is not None, "only cells with answers are compared"
    told = {
        "model": " · ".join(filter(None, names(known, language)[best.cell])),
        "value": format_value(best.accuracy),
        "span": format_range(best.accuracy),
        "chance": percent(best.chance or 0.0),
    }
    return localized("guessing-alone" if alone else "guessing-best", language, **told)


def _above_chance(summary: Summary) -> float:
    assert summary.accuracy is not None, "only cells with answers are compared"
    return summary.accuracy.value - (summary.chance or 0.0)
