"""What a reader must know before believing a cell's figures."""

from dataclasses import dataclass
from typing import Literal

from evalui.report.narrative import at_best
from evalui.report.numbers import count, digits, figure, fixed, percent, span
from evalui.report.sentences import say
from evalui.report.summary import Summary
from evalui.scoring.format import FormatFigures
from evalui.types import Interval, Language

Level = Literal["bad", "warn", "info"]

_LEVELS: tuple[Level, ...] = ("bad", "warn", "info")
# The thresholds are judgement, not theory; what speaks for each stands beside it.
_FEW = 30  # questions: Wilson's half-width is 16 points and more
_EXPLORATORY = 100  # questions: paired differences under 9 to 15 points cannot be seen
_UNREADABLE, _UNREADABLE_BAD = 0.02, 0.10  # of trials: moves accuracy as much as noise does
_FORMAT_GAP = 5.0  # points lost to form alone
_BY_NUMBER = 0.05  # of trials: a model that counts options was asked in the wrong way
_MASS, _MASS_SOME = 0.5, 0.9  # under a half, most of what the model would say is no letter
_TIES = 0.01  # of trials: real probabilities hardly ever tie


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know about a cell. `rule` is the key of its sentence."""

    level: Level
    rule: str
    text: str


def notes(summary: Summary, language: Language) -> tuple[Note, ...]:
    """What a reader must know before believing the figures, most serious first."""
    if summary.state == "impossible":
        return (Note("info", "not-run", say("not-run", language, reason=summary.error)),)
    found: list[Note] = []
    if summary.state == "failed":
        found.append(Note("bad", "failed", say("failed", language, reason=summary.error)))
    if summary.done < summary.total:
        done, total = count(summary.done), count(summary.total)
        found.append(Note("warn", "partial", say("partial", language, done=done, total=total)))
    if summary.accuracy and summary.chance and summary.format:
        found += _about_size(summary, summary.accuracy, summary.chance, language)
        found += _about_replies(summary, summary.accuracy, summary.format, language)
        found += _left_out(summary, summary.format, language)
    return tuple(sorted(found, key=lambda note: _LEVELS.index(note.level)))


def _about_size(
    summary: Summary, accuracy: Interval, chance: float, language: Language
) -> list[Note]:
    found: list[Note] = []
    if summary.n < _FEW:
        text = say("fewer-than-30", language, n=summary.n)
        found.append(Note("warn", "fewer-than-30", text))
    elif summary.n < _EXPLORATORY:
        text = say("fewer-than-100", language, n=summary.n)
        found.append(Note("info", "fewer-than-100", text))
    if accuracy.low <= chance:
        rule = "chance" if accuracy.high >= chance else "below-chance"
        text = say(rule, language, span=span(accuracy), chance=percent(chance))
        found.append(Note("warn", rule, text))
    return found


def _about_replies(
    summary: Summary, accuracy: Interval, form: FormatFigures, language: Language
) -> list[Note]:
    found: list[Note] = []
    k, n = summary.unreadable, summary.done
    if k > _UNREADABLE * n:
        best = fixed(100 * at_best(summary, accuracy), digits(accuracy))
        values = {"k": count(k), "n": count(n), "low": figure(accuracy), "high": best}
        level: Level = "bad" if k > _UNREADABLE_BAD * n else "warn"
        found.append(Note(level, "unreadable-many", say("unreadable-many", language, **values)))
    if form.gap and 100 * form.gap.value > _FORMAT_GAP:
        text = say("format", language, gap=fixed(100 * form.gap.value, 0))
        found.append(Note("warn", "format", text))
    if form.index_hits > _BY_NUMBER * n:
        text = say("by-number", language, value=percent(form.index_hits / n))
        found.append(Note("warn", "by-number", text))
    if form.mass is not None and form.mass < _MASS_SOME:
        level, rule = ("bad", "mass") if form.mass < _MASS else ("info", "mass-some")
        found.append(Note(level, rule, say(rule, language, value=percent(form.mass))))
    if summary.ties > _TIES * n:
        text = say("ties", language, k=count(summary.ties), n=count(n))
        found.append(Note("warn", "ties", text))
    return found


def _left_out(summary: Summary, form: FormatFigures, language: Language) -> list[Note]:
    # While a cell is at work its last questions lack orders; that is no finding.
    incomplete = () if summary.state in ("waiting", "running") else summary.incomplete
    counts = {
        "incomplete": len(incomplete),
        "naming": len(summary.naming) if summary.cell.pattern != "origin" else 0,
        "merged": form.merged_seams,
        "truncated": form.truncated,
    }
    return [
        Note(
            "warn" if rule in ("incomplete", "truncated") else "info",
            rule,
            say(rule, language, k=count(k)),
        )
        for rule, k in counts.items()
        if k
    ]
