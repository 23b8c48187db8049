"""Dataset health as blocks: what the questions give away, with and without a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from evalui.datasets.health import ChoiceHealth, LengthStatistics, check_choices
from evalui.messages import add_messages, localized, messages
from evalui.modes import whole_of
from evalui.report.analyses.verdict import format_points_range, omitted
from evalui.report.analyses.warnings import CHOICES_ONLY_RULE, PICTURES_UNNEEDED_RULE, notes
from evalui.report.blocks import (
    NONE,
    BarCell,
    Block,
    Bullets,
    Card,
    Column,
    Details,
    Headline,
    Kind,
    Markers,
    NoteLine,
    Notes,
    Paragraph,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_range,
    format_value,
    percent,
    points_between,
)
from evalui.report.words import join_sentences
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Summary
from evalui.scoring.statistics.tests import PairedTTest, paired_t_test
from evalui.types import LETTERS, Interval, Language, Sample, ask_with_pictures, differ_in_pictures

add_messages(Path(__file__).with_suffix(".toml"))

_UNEVEN = 0.05  # the p-value under which the letters of the right answers are not balanced
_MAX_FINDINGS = 2
_HEADS = ("without", "with", "gained", "test")
_UNNEEDED_RULES = (CHOICES_ONLY_RULE, PICTURES_UNNEEDED_RULE)
_Part = Literal["question", "pictures"]


def health_blocks(
    samples: Sequence[Sample],
    language: Language,
    *,
    blind: Sequence[Block] = (),
) -> list[Block]:
    """The worst finding first, then figures and letters; `blind` is `baseline_blocks`."""
    health = check_choices(samples)
    kind, findings = health_findings(health, language)
    counted = messages(language).count("dataset.asked", health.n)
    support = join_sentences(*findings[1:], localized("sentence", language, said=counted))
    return [
        Headline(findings[0], support, kind=kind),
        Card((_figures(health, language),), localized("health.title", language)),
        _letters(health, language),
        *blind,
        *_subjects(health, language),
    ]


def health_findings(health: ChoiceHealth, language: Language) -> tuple[Kind, tuple[str, ...]]:
    """At most two sentences, the worst finding first; that all is well is said in words."""
    warnings: list[str] = []
    if health.longest_option.low > health.chance:
        value = format_value(health.longest_option)
        warnings.append(localized("dataset.longest_tells", language, value=value))
    if health.letters_p is not None and health.letters_p < _UNEVEN:
        best = health.always_letter
        fields = {"letter": best.letter, "value": format_value(best.share)}
        warnings.append(localized("dataset.letter_tells", language, **fields))
    counts = {
        "same_questions": sum(len(group) - 1 for group in health.duplicates),
        "same_options": len(health.duplicate_options),
        "names_options": len(health.refers_to_other_options),
    }
    warnings += [
        messages(language).count(f"dataset.{key}", number)
        for key, number in counts.items()
        if number
    ]
    if warnings:
        return "warn", tuple(warnings[:_MAX_FINDINGS])
    if health.letters_p is None:
        return "ok", (localized("dataset.well_untested", language),)
    letters = f"A–{LETTERS[len(health.letter_counts) - 1]}"
    return "ok", (localized("dataset.well", language, letters=letters),)


def letter_balance(health: ChoiceHealth, language: Language) -> str:
    """Whether the right answers are spread evenly over the letters, as far as can be tested."""
    if health.letters_p is None:
        return localized("dataset.balance_untested", language)
    p = f"{health.letters_p:.2f}".lstrip("0") if health.letters_p >= 0.01 else "< .01"
    sign = "" if p.startswith("<") else "= "
    key = "balanced" if health.letters_p >= _UNEVEN else "unbalanced"
    return localized(f"dataset.{key}", language, p=sign + p)


def _letters(health: ChoiceHealth, language: Language) -> Details:
    most = max(health.letter_counts, default=0) or 1
    rows = tuple(
        (TextCell(LETTERS[slot], strong=True), BarCell(number / most, count(number)))
        for slot, number in enumerate(health.letter_counts)
    )
    heads = (localized("dataset.letter", language), localized("dataset.right_answers", language))
    table = Table(tuple(map(Column, heads)), rows)
    title, finding = localized("dataset.letters", language), letter_balance(health, language)
    return Details("letters", title, finding, (table,))


def _figures(health: ChoiceHealth, language: Language) -> Table:
    tells = health.longest_option.low > health.chance
    longest = f"{format_value(health.longest_option)} % ({format_range(health.longest_option)})"
    always = health.always_letter
    chance = localized("dataset.guess", language, chance=percent(health.chance))
    rows: list[tuple[str, TableCell]] = [
        (localized("health.usable", language), count(health.n)),
        (
            localized("health.longest", language),
            StateCell("warn" if tells else "ok", longest, chance),
        ),
        (
            localized("health.always", language, letter=always.letter),
            f"{format_value(always.share)} %",
        ),
        (
            localized("health.duplicates", language),
            _counted(sum(len(group) - 1 for group in health.duplicates)),
        ),
        (localized("health.naming", language), _counted(len(health.refers_to_other_options))),
        (localized("health.duplicate_options", language), _counted(len(health.duplicate_options))),
        (localized("health.question_length", language), _lengths(health.question_length)),
        (localized("health.option_length", language), _lengths(health.option_length)),
    ]
    heads = [localized(f"figure-head-{name}", language) for name in ("name", "value")]
    return Table(tuple(map(Column, heads)), tuple(rows))


def _counted(number: int) -> StateCell:
    return StateCell("warn" if number else "ok", count(number))


def _lengths(lengths: LengthStatistics) -> str:
    return f"{count(lengths.shortest)} – {fixed(lengths.median, 0)} – {count(lengths.longest)}"


def _subjects(health: ChoiceHealth, language: Language) -> list[Block]:
    if len(health.subjects) < 2:
        return []
    lines = tuple(f"{name} {count(number)}" for name, number in health.subjects.items())
    sizes = health.subjects.values()
    fields = {"low": count(min(sizes)), "high": count(max(sizes))}
    key = "equal_subjects" if len(set(sizes)) == 1 else "per_subject"
    finding = localized(f"dataset.{key}", language, **fields)
    title = localized("dataset.subjects", language, n=count(len(lines)))
    return [Details("subjects", title, finding, (Bullets(lines),))]


# ---------------------------------------------------------------- what is left out


def baseline_blocks(
    summaries: Sequence[Summary],
    dataset: str,
    samples: Sequence[Sample],
    language: Language,
    *,
    markers: Markers,
) -> list[Block]:
    """Each model with and without the question, and the pictures where there are any; how to find
    out if no model ran without.
    """
    own = [summary for summary in summaries if summary.cell.dataset == dataset]
    parts: list[_Part] = ["question", "pictures"] if ask_with_pictures(samples) else ["question"]
    return [_baseline(own, part, language, markers) for part in parts]


def _baseline(
    summaries: Sequence[Summary], part: _Part, language: Language, markers: Markers
) -> Details:
    def say(key: str, **fields: object) -> str:
        own = "only" if part == "question" else "unseen"
        return localized(f"dataset.{own}{key}", language, **fields)

    blind = [summary for summary in summaries if omitted(summary.cell) == part]
    scope = f"without-{part}"
    if not blind:
        missing = Paragraph(say("_missing"))
        return Details(scope, say(""), say("_untested"), (missing,), kind="na")
    heads = (localized("dataset.model", language), *(say(f"_{key}") for key in _HEADS))
    found = {
        summary.cell.model: note.text
        for summary in blind
        for note in notes(summary, language)
        if note.rule in _UNNEEDED_RULES
    }
    rows = tuple(
        (
            markers.cell(summary.cell.model),
            *_result(summary, _whole(summary, summaries), language),
        )
        for summary in blind
    )
    blocks: list[Block] = [
        Paragraph(say("_about"), small=True),
        Table(tuple(map(Column, heads)), rows),
    ]
    if found:
        blocks.append(Notes(tuple(NoteLine("warn", text, name) for name, text in found.items())))
    models = localized("list.comma", language).join(found)
    finding = say("_yes", models=models) if found else say("_no")
    return Details(scope, say(""), finding, tuple(blocks), kind="warn" if found else "ok")


def _whole(blind: Summary, everything: Sequence[Summary]) -> Summary | None:
    """The cell of the same model and mode that leaves out nothing; None if there is none."""
    own = blind.cell
    if omitted(own) == "pictures":
        return next(
            (s for s in everything if differ_in_pictures(own.signature, s.cell.signature)), None
        )
    label = f"{whole_of(own.mode)}{own.label.removeprefix(own.mode)}"
    return next((s for s in everything if (s.cell.model, s.cell.label) == (own.model, label)), None)


def _result(
    blind: Summary, whole: Summary | None, language: Language
) -> tuple[TableCell, TableCell, TableCell, TableCell]:
    if blind.accuracy is None or blind.chance is None:
        failed = localized("dataset.failed", language, reason=blind.error) if blind.error else NONE
        return failed, NONE, NONE, NONE
    benefit = _benefit(blind, whole) if whole else None
    guess = localized("dataset.guess", language, chance=percent(blind.chance))
    known = whole.accuracy if whole else None
    return (
        ValueCell(format_value(blind.accuracy), "%", format_range(blind.accuracy), guess),
        ValueCell(format_value(known), "%", format_range(known)) if known else NONE,
        _benefit_cell(benefit, known, blind.accuracy) if benefit and known else NONE,
        _verdict(blind, language),
    )


def _benefit_cell(benefit: PairedTTest, whole: Interval, blind: Interval) -> ValueCell:
    gained = points_between(benefit.difference, whole, blind, places=decimal_places(benefit))
    return ValueCell(gained, range=format_points_range(benefit))


def _benefit(blind: Summary, whole: Summary) -> PairedTTest | None:
    """What the part that was left out adds, over the questions that were presented both ways."""
    outcomes = whole.outcomes.get("accuracy", {}), blind.outcomes.get("accuracy", {})
    return paired_t_test(*outcomes, whole.clusters)


def _verdict(blind: Summary, language: Language) -> StateCell:
    if blind.n < HIDDEN_BELOW:
        return StateCell("na", localized("dataset.few", language))
    if any(each.rule in _UNNEEDED_RULES for each in notes(blind, language)):
        return StateCell("warn", localized("dataset.yes", language))
    return StateCell("ok", localized("dataset.no", language))
