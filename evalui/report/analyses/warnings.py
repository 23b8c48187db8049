"""What a reader must know before believing the figures of a cell, and of a whole run.

Which rules fire is decided by `scoring.cautions`; here they get their weight and their words.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.verdict import above_chance, omitted, other_settings
from evalui.report.blocks import Block, Details, Kind, Link, Links, NoteLine, Notes, Places
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_range,
    format_value,
    p_value,
    percent,
)
from evalui.report.words import join_names_shortened, join_sentences, mode_word
from evalui.scoring.cautions import HIDDEN_BELOW, Caution, CautionEvidence, cautions
from evalui.scoring.cell_summary import Summary, is_decided
from evalui.scoring.choice.answer_format import FormatMetrics
from evalui.scoring.comparisons import comparable_cells
from evalui.scoring.statistics.intervals import n_independent
from evalui.types import LETTERS, Cell, Interval, Language, is_unfinished, signature_parts

add_messages(Path(__file__).with_suffix(".toml"))

Level = Literal["bad", "warn", "info"]

LEVELS: tuple[Level, ...] = ("bad", "warn", "info")
NOTE_KINDS: Mapping[Level, Kind] = {"bad": "bad", "warn": "warn", "info": "na"}
GUESSING = ("chance", "below-chance")  # notes on models no better than guessing
_FILTERS: Mapping[str, str] = {"unreadable-many": "unreadable", "by-number": "", "ties": "tied"}
_OF_FILE = (
    "fewer-than-30",
    "fewer-than-100",
    "repeated-questions",
    "clustered",
    "duplicates",
    "duplicates-text",
    "naming",
    "unbalanced",
    "unbalanced-origin",
)
_NEAR_TIES = 0.02  # of all trials
# The notes on answers that need no question, and no picture.
CHOICES_ONLY_RULE, PICTURES_UNNEEDED_RULE = "choices-only", "pictures-unneeded"
_RULES: Mapping[str, tuple[Level, str]] = {
    # What fired: how serious it is, and the name of its note
    "too-few": ("warn", "fewer-than-30"),
    "exploratory": ("info", "fewer-than-100"),
    "guessing": ("warn", "chance"),
    "unreadable": ("warn", "unreadable-many"),
    "unreadable-many": ("bad", "unreadable-many"),
    "format-gap": ("warn", "format"),
    "index-hits": ("warn", "by-number"),
    "mass-low": ("bad", "mass"),
    "mass": ("warn", "mass-some"),
    "ties": ("warn", "ties"),
    "incomplete": ("warn", "incomplete"),
    "naming": ("info", "naming"),
    "duplicate-options": ("info", "duplicates"),
    "unbalanced": ("info", "unbalanced"),
    "choices-only": ("warn", "choices-only"),
    "debiasing-hurts": ("info", "debiasing-hurts"),
}


@dataclass(frozen=True, slots=True)
class ReportNote:
    """One thing to know about a cell; `rule` names it, in reports as well."""

    level: Level
    rule: str
    text: str


def state_notes(
    state: str, error: str, done: int, total: int, language: Language, *, partial: str
) -> list[ReportNote]:
    """That a cell cannot run, failed, or lacks some of its results: `partial` is the key of that.

    It is another where no more will come.
    """
    made: list[ReportNote] = []
    if state == "impossible":
        text = localized("warnings.not-run", language, reason=error)
        made.append(ReportNote("info", "not-run", text))
    if state == "failed":
        text = localized("warnings.failed", language, reason=error)
        made.append(ReportNote("bad", "failed", text))
    if done < total:
        key = partial if state in ("waiting", "running") else f"{partial}-ended"
        text = localized(key, language, done=count(done), total=count(total))
        made.append(ReportNote("warn", "partial", text))
    return made


def notes(summary: Summary, language: Language) -> tuple[ReportNote, ...]:
    """What a reader must know before believing the figures, most serious first."""
    s = summary
    made = state_notes(s.state, s.error, s.done, s.total, language, partial="warnings.partial")
    if s.state == "impossible":
        return tuple(made[:1])
    if summary.accuracy and summary.chance and summary.format:
        fired = cautions(evidence(summary, summary.accuracy))
        made += [_note(summary, summary.accuracy, each, language) for each in fired]
        made += cluster_notes(s.clusters, s.cell, s.questions, language)
        made += _sampling(summary, language)
        made += _prompts(summary, language)
    return tuple(sorted(made, key=lambda note: LEVELS.index(note.level)))


def cluster_notes(
    clusters: Mapping[str, int], cell: Cell, n: int, language: Language
) -> list[ReportNote]:
    """That the `n` questions are less evidence: some ask the same, or share what a column names."""
    if not clusters:
        return []
    groups = n_independent(n, clusters)
    column = signature_parts(cell.signature).get("cluster")
    fields = {"k": count(n - groups), "n": count(n), "groups": count(groups)}
    if column is not None:
        text = localized("warnings.clustered", language, column=column, **fields)
        return [ReportNote("info", "clustered", text)]
    text = localized("warnings.repeated-questions", language, **fields)
    return [ReportNote("warn", "repeated-questions", text)]


def _sampling(summary: Summary, language: Language) -> list[ReportNote]:
    """How far drawn replies, and not the order of options, make the difference."""
    if not summary.sampled or summary.cell.pattern == "origin":
        return []
    figures = summary.figures
    same, lost = figures.get("same_order"), figures.get("order_loss")
    if not isinstance(same, Interval) or not isinstance(lost, Interval):
        return [ReportNote("warn", "sampled", localized("warnings.sampled", language))]
    shares = {
        part: percent(share)
        for part in ("questions", "sampling", "order")
        if isinstance(share := figures.get(f"variance_{part}"), float)
    }
    if not shares:  # every reply is right, or every one wrong
        return []
    fields = {"same": percent(same.value), "moved": percent(same.value - lost.value)}
    text = localized("warnings.sampled-parts", language, **shares, **fields)
    return [ReportNote("info", "sampled-parts", text)]


def evidence(summary: Summary, accuracy: Interval) -> CautionEvidence:
    """What the rules of `scoring.cautions` look at."""
    form, bias, done = summary.format, summary.main_bias, max(1, summary.done)
    blind = bool(omitted(summary.cell))
    prior = bias.prior if bias else None
    moved = summary.cell.pattern != "origin"
    share = summary.unreadable / done
    return CautionEvidence(
        n=summary.n,
        chance=summary.chance,
        # Without its question or pictures no model should do better than guessing.
        origin=None if blind else accuracy,
        accuracy=accuracy,
        unreadable=Interval(share, share, share, summary.n),
        format_gap=form.format_gap.value if form and form.format_gap else None,
        index_hits=form.index_hits / done if form else None,
        # What a decision gives is not all of its probability: it has no other words.
        mass=form.mass if form and not is_decided(summary.cell) else None,
        tied=summary.ties / done,
        # While a cell is at work its last questions lack orders; that is no finding.
        incomplete=0 if is_unfinished(summary) else len(summary.incomplete),
        refers_to_other_options=len(summary.naming) if moved else 0,
        duplicates=len(summary.duplicates),
        gold_counts=bias.gold_counts if bias and bias.n >= HIDDEN_BELOW else (),
        gold_p=bias.gold_p if bias and bias.n >= HIDDEN_BELOW else None,
        choices_only=(round(accuracy.value * summary.n), summary.n) if blind else None,
        rstd_plain=prior.rstd_plain if prior else None,
        rstd_debiased=prior.rstd_debiased if prior else None,
    )


def _note(summary: Summary, accuracy: Interval, fired: Caution, language: Language) -> ReportNote:
    level, rule = _RULES[fired.rule]
    fields = _VALUES[fired.rule](summary, accuracy, fired)
    rule = _rule_variant(rule, summary, accuracy, fields)
    return ReportNote(level, rule, localized(f"warnings.{rule}", language, **fields))


def _rule_variant(
    rule: str, summary: Summary, accuracy: Interval, fields: Mapping[str, object]
) -> str:
    """The sentence for what else is known of the cell."""
    if rule == "chance" and summary.chance is not None and accuracy.high < summary.chance:
        return "below-chance"
    if rule == "fewer-than-100" and fields["floor"] != _UNKNOWN:
        return "exploratory"
    if rule == CHOICES_ONLY_RULE and omitted(summary.cell) == "pictures":
        return PICTURES_UNNEEDED_RULE
    if rule == "format" and fields["hits"] != "0":
        return "format-index"
    if rule == "unbalanced" and summary.cell.pattern == "origin":
        return "unbalanced-origin"
    if rule == "duplicates" and summary.bias is None:
        return "duplicates-text"
    return rule


_Fields = dict[str, object]
_UNKNOWN = "–"


def _sample_size(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del accuracy, fired
    bias = summary.main_bias
    permuted = bias.tests.permutation if bias else None
    known = permuted is not None and permuted.mean_rstd is not None
    floor = fixed(permuted.mean_rstd, 1) if permuted and permuted.mean_rstd and known else _UNKNOWN
    return {"n": summary.n, "floor": floor}


def _chance(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del fired
    return {"span": format_range(accuracy), "chance": percent(summary.chance or 0.0)}


def _unreadable(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del fired
    best = best_case_accuracy(summary, accuracy)
    k, n = count(summary.unreadable), count(summary.done)
    return {"k": k, "n": n, "low": format_value(accuracy), "high": best}


def _gap(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del summary, accuracy
    gap, hits = fired.values
    return {"gap": fixed(100 * gap, 0), "hits": percent(hits)}


def _share(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del summary, accuracy
    return {"value": percent(fired.values[0])}


def _ties(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del accuracy, fired
    return {"k": count(summary.ties), "n": count(summary.done)}


def _value_count(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del summary, accuracy
    return {"k": count(round(fired.values[0]))}


def _unbalanced(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del accuracy
    bias = summary.main_bias
    assert bias is not None, "what is unbalanced was counted"
    letter = LETTERS[bias.gold_counts.index(max(bias.gold_counts))]
    return {"most": percent(fired.values[0]), "letter": letter}


def _without_question(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del summary
    return {"value": format_value(accuracy), "p": f"p {p_value(fired.values[1])}"}


def _spread_change(summary: Summary, accuracy: Interval, fired: Caution) -> _Fields:
    del summary, accuracy
    before, after = fired.values
    return {"before": fixed(before, 1), "after": fixed(after, 1)}


_VALUES: Mapping[str, Callable[[Summary, Interval, Caution], _Fields]] = {
    "too-few": _sample_size,
    "exploratory": _sample_size,
    "guessing": _chance,
    "unreadable": _unreadable,
    "unreadable-many": _unreadable,
    "format-gap": _gap,
    "index-hits": _share,
    "mass-low": _share,
    "mass": _share,
    "ties": _ties,
    "incomplete": _value_count,
    "naming": _value_count,
    "duplicate-options": _value_count,
    "unbalanced": _unbalanced,
    "choices-only": _without_question,
    "debiasing-hurts": _spread_change,
}


def _prompts(summary: Summary, language: Language) -> list[ReportNote]:
    """What happened to the prompts on their way to the model."""
    form = summary.format
    if form is None:
        return []
    counts: Mapping[str, tuple[Level, int]] = {
        "merged": ("info", form.merged_boundaries),
        "truncated": ("warn", form.truncated),
    }
    return [
        ReportNote(level, rule, localized(f"warnings.{rule}", language, k=count(k)))
        for rule, (level, k) in counts.items()
        if k
    ] + _near_ties(summary, form, language)


def _near_ties(summary: Summary, form: FormatMetrics, language: Language) -> list[ReportNote]:
    """A note once they could move the accuracy by as much as a reader would notice; of decisions
    none, for how far the numbers of a server sway is not known.
    """
    few = not form.near_ties or form.near_ties < _NEAR_TIES * form.n_trials
    if few or is_decided(summary.cell):
        return []
    k, n = count(form.near_ties), count(form.n_trials)
    return [ReportNote("info", "near-ties", localized("warnings.near-ties", language, k=k, n=n))]


def best_case_accuracy(summary: Summary, accuracy: Interval) -> str:
    """The accuracy, in per cent, if every unreadable answer in the order as written were right."""
    best = accuracy.value + summary.unreadable_origin / (summary.n * summary.n_repeats)
    return fixed(100 * best, decimal_places(accuracy))


# ---------------------------------------------------------------- how serious a note is


def severity(rule: str, summary: Summary) -> float:
    """The share of the answers, or of the probability, that a note puts in doubt: 0 to 1."""
    known = _SEVERITIES.get(rule)
    return min(1.0, max(0.0, known(summary))) if known else 0.0


def _share_at_or_below_chance(s: Summary) -> float:
    """How much of the range of the accuracy lies at or under chance."""
    accuracy, chance = s.accuracy, s.chance
    if accuracy is None or chance is None or accuracy.high == accuracy.low:
        return 1.0
    return (chance - accuracy.low) / (accuracy.high - accuracy.low)


def _format_gap(s: Summary) -> float:
    return s.format.format_gap.value if s.format and s.format.format_gap else 0.0


def _mass_outside_labels(s: Summary) -> float:
    """The probability that the letters do not hold."""
    return 1 - s.format.mass if s.format and s.format.mass is not None else 0.0


_SEVERITIES: Mapping[str, Callable[[Summary], float]] = {
    "failed": lambda _: 1.0,
    "partial": lambda s: 1 - s.done / max(1, s.total),
    "fewer-than-30": lambda s: 1 - s.n / 30,
    "chance": _share_at_or_below_chance,
    "below-chance": _share_at_or_below_chance,
    "unreadable-many": lambda s: s.unreadable / max(1, s.done),
    "format": _format_gap,
    "format-index": _format_gap,
    "by-number": lambda s: s.format.index_hits / max(1, s.done) if s.format else 0.0,
    "mass": _mass_outside_labels,
    "mass-some": _mass_outside_labels,
    "ties": lambda s: s.ties / max(1, s.done),
    "incomplete": lambda s: len(s.incomplete) / max(1, s.questions),
    CHOICES_ONLY_RULE: above_chance,
    PICTURES_UNNEEDED_RULE: above_chance,
    "truncated": lambda s: s.format.truncated / max(1, s.done) if s.format else 0.0,
}


# ---------------------------------------------------------------- of a whole run


@dataclass(frozen=True, slots=True)
class _Known:
    """A note and the cells that have it, the gravest first."""

    note: ReportNote
    cells: tuple[Cell, ...]
    scripted: bool


def what_to_know(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str],
    left_out: Sequence[str] = (),
    changes: Sequence[str] = (),
    unless: Collection[str] = (),
    places: Places | None = None,
) -> Details | None:
    """The section; None before there is a figure, if nothing stands against the run.

    `left_out` are sentences on what was not evaluated, `changes` on what servers said of their
    models that was not so all the time, `unless` rules that stand elsewhere on the
    page.
    """
    known = _known(summaries, language, baselines, unless)
    run = localized("warnings.know.run", language)
    lines = [NoteLine("warn", sentence, run) for sentence in changes]
    lines += [_line(one, summaries, language, places) for one in known]
    lines += _settings_lines(summaries, language, baselines)
    lines += [NoteLine("na", sentence, run) for sentence in left_out]
    blocks: list[Block] = [Notes(tuple(lines))] if lines else []
    if places:
        health = Link(localized("warnings.know.health", language), places.view("health"))
        blocks.append(Links((health,)))
    if not lines and not any(summary.done for summary in summaries):
        return None
    if not lines:
        well = localized("warnings.know.well", language)
        name = localized("warnings.know.name-none", language)
        return Details("what-to-know", name, well, tuple(blocks), kind="ok")
    first = lines[0]
    return Details(
        "what-to-know",
        localized("warnings.know.name", language, n=len(lines)),
        _finding(first, language),
        tuple(blocks),
        kind=first.kind if first.kind in ("bad", "warn") else None,
    )


def _settings_lines(
    summaries: Sequence[Summary], language: Language, baselines: Collection[str]
) -> Iterator[NoteLine]:
    """That models which are compared were not all asked with the same settings."""
    for group in comparable_cells([s for s in summaries if s.cell.model not in baselines]):
        for text, (first, *others) in other_settings([s.cell for s in group], language).items():
            also = localized(
                "warnings.know.also", language, names=join_names_shortened(others, language)
            )
            yield NoteLine("na", join_sentences(text, also if others else ""), first)


def first_sentence(text: str) -> str:
    """A text up to the end of its first sentence."""
    for stop in ("。", ". ", "; ", "；"):
        head, ended, _ = text.partition(stop)
        text = head + ("。" if stop in "。；" else ".") if ended else text
    return text


def _finding(line: NoteLine, language: Language) -> str:
    finding = first_sentence(line.text)
    if not line.subject:
        return finding
    return localized("of-model", language, model=line.subject, said=finding)


def _known(
    summaries: Sequence[Summary],
    language: Language,
    baselines: Collection[str],
    unless: Collection[str],
) -> list[_Known]:
    by_rule: dict[tuple[str, str, bool], list[tuple[Summary, ReportNote]]] = {}
    for summary in summaries:
        scripted = summary.cell.model in baselines
        for note in notes(summary, language):
            # That a script guesses stands in its row, how far a cell is above all.
            elsewhere = GUESSING if scripted else unless
            waits = note.rule == "partial" and is_unfinished(summary)
            if note.rule not in elsewhere and not waits:
                # What a file gives is one thing, however many models were asked.
                key = (note.rule, summary.cell.dataset, scripted)
                if note.rule in _OF_FILE:
                    key = (note.rule, "", False)
                by_rule.setdefault(key, []).append((summary, note))
    made: list[tuple[_Known, float]] = []
    for (rule, _, scripted), noted in by_rule.items():
        noted.sort(key=lambda one: -severity(rule, one[0]))
        worst, note = noted[0]
        cells = tuple(summary.cell for summary, _ in noted)
        made.append((_Known(note, cells, scripted), severity(rule, worst)))
    made.sort(key=lambda one: (one[0].scripted, LEVELS.index(one[0].note.level), -one[1]))
    return [one for one, _ in made]


def _line(
    one: _Known, summaries: Sequence[Summary], language: Language, places: Places | None
) -> NoteLine:
    names = list(dict.fromkeys(_name(cell, summaries, language) for cell in one.cells))
    text = one.note.text
    if one.note.rule in _OF_FILE:
        subject, *others = dict.fromkeys(cell.dataset for cell in one.cells)
        if others:
            also = messages(language).count("warnings.know.also-datasets", len(others))
            text = join_sentences(text, also)
    elif len(names) > 1:
        subject = names[0]
        also = join_names_shortened(names[1:], language)
        text = join_sentences(text, localized("warnings.know.also", language, names=also))
    else:
        subject = names[0]
    return NoteLine(NOTE_KINDS[one.note.level], text, subject, _link(one, language, places))


def _link(one: _Known, language: Language, places: Places | None) -> Link | None:
    outcome = _FILTERS.get(one.note.rule)
    if places is None or not outcome:
        return None
    href = places.samples(one.cells[0], outcome=outcome)
    return Link(localized("warnings.know.read", language), href)


def _name(cell: Cell, summaries: Sequence[Summary], language: Language) -> str:
    """A model, with its dataset and its mode where it has others."""
    own = [s.cell for s in summaries if s.cell.model == cell.model]
    parts = [cell.model]
    if len({each.dataset for each in own}) > 1:
        parts.append(cell.dataset)
    if len({each.label for each in own}) > 1:
        parts.append(mode_word(cell, language, capital=False))
    return " · ".join(parts)
