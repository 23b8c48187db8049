"""What folds below the lead table: why all guess, how sure it is, subjects and rules of reading.

Each is one section for the whole run; of several datasets each has its own table in it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from evalui.messages import localized, messages
from evalui.modes import MODES
from evalui.report.analyses.overview.standing import DatasetStanding
from evalui.report.analyses.overview.verdict import is_plenty, tied, winner
from evalui.report.analyses.statistics import (
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
)
from evalui.report.blocks import (
    NONE,
    Block,
    Column,
    Details,
    Heading,
    NoteLine,
    Notes,
    Paragraph,
    Places,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_column,
    p_value,
    percent,
)
from evalui.report.words import group_name, join_sentences, mode_name, of_real_models
from evalui.scoring.cautions import EXPLORATORY_BELOW
from evalui.scoring.cell_summary import Measure, SubjectGroup, Summary
from evalui.scoring.choice.answer_format import FormatMetrics, ReadingMetrics
from evalui.scoring.comparisons import CellComparison
from evalui.scoring.statistics.intervals import beats_guessing, share_interval
from evalui.types import Interval, Language, signature_parts

_ROUNDING = 1e-9  # below a point that is one only by the last digit of a difference
_Part = Callable[[DatasetStanding, Language], tuple[str, list[Block]] | None]


def section(
    name: str,
    part: _Part,
    standings: Sequence[DatasetStanding],
    language: Language,
    *,
    kind: str,
    more: Callable[[DatasetStanding], Iterable[Block]] = lambda _: (),
) -> Details | None:
    """A section of all datasets that have something to say, each followed by `more` of it.

    None if none has.
    """
    made = [
        (standing.dataset, parts[0], (*parts[1], *more(standing)))
        for standing in standings
        if (parts := part(standing, language))
    ]
    if not made:
        return None
    if len(standings) == 1:
        _, finding, blocks = made[0]
        return Details(name, localized(f"{kind}.name", language), finding, tuple(blocks))
    won = sum(winner(standing) is not None for standing in standings)
    key = f"{kind}.several-none" if kind == "sure" and not won else f"{kind}.several"
    finding = localized(key, language, k=won, of=len(standings))
    every = [block for dataset, _, own in made for block in (Heading(3, dataset), *own)]
    return Details(name, localized(f"{kind}.name", language), finding, tuple(every))


# ---------------------------------------------------------------- why no model may beat guessing


def why_guessing(standing: DatasetStanding, language: Language, places: Places | None) -> Details:
    """The usual reasons, each with its next step where it can be taken."""
    shots = _shots(standing.leading[0])
    kind = f"examples-{'some' if shots else 'none'}"
    written = [s.cell for s in (*standing.leading, *standing.cells.values()) if _has_replies(s)]
    texts = {"examples": localized(f"why.{kind}", language, n=shots)}
    if written:
        texts["replies"] = localized("why.replies-text", language)
    texts["difficulty"] = localized("why.difficulty-text", language)
    rows: list[tuple[TableCell, ...]] = []
    for key, text in texts.items():
        row = TextCell(localized(f"why.{key}", language), strong=True), text
        if places is None:
            rows.append(row)
            continue
        step = localized(f"why.{kind if key == 'examples' else key}-do", language)
        href = {
            "examples": places.repeat if shots else places.examples,
            "replies": places.samples(written[0], outcome="wrong") if written else "",
            "difficulty": places.sample,
        }[key]
        rows.append((*row, TextCell(step, href=href) if href else NONE))
    columns = tuple(Column("", width=width) for width in (200, 0, 0)[: len(rows[0])])
    return Details(
        "why",
        localized("why.name", language),
        localized("why.finding", language),
        (Table(columns, tuple(rows)),),
        open=True,
    )


def _has_replies(summary: Summary) -> bool:
    mode = summary.cell.mode
    return bool(summary.done) and mode in MODES and MODES[mode].abilities_needed == "generate"


def _shots(summary: Summary) -> int:
    """The worked examples before each question, as its signature has them."""
    shots = signature_parts(summary.cell.signature).get("shots", "")
    return int(shots) if shots.isdigit() else 0


# ---------------------------------------------------------------- how sure is this?


def how_sure(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """How sure the verdict is, and every pair of the mode that ranks."""
    finding = sureness(standing, language)
    if not finding:
        return None
    comparison = standing.comparison
    if comparison is None or not comparison.pairs:
        return finding, []
    pairs = standing.shown_pairs
    blocks: list[Block] = [pairs_table(pairs, language)]
    if len(pairs) < len(comparison.pairs):
        n, total = count(len(pairs)), count(len(comparison.pairs))
        more = localized("statistics.first_pairs", language, n=n, total=total)
        blocks.append(Notes((NoteLine("na", more),)))
    return finding, [*blocks, _pairs_caption(standing, language)]


def pairs_table(pairs: Sequence[CellComparison], language: Language) -> Table:
    """Every pair, the widest difference first, with its range and its corrected p-value."""
    keys = ("pair", "difference", "range", "p", "words")
    heads = [localized(f"sure.{key}", language) for key in keys]
    widest = sorted(pairs, key=lambda pair: -pair.paired.difference)
    columns = tuple(Column(head, right=place in (1, 2, 3)) for place, head in enumerate(heads))
    return Table(columns, tuple(_pair(pair, language) for pair in widest))


def _pair(pair: CellComparison, language: Language) -> tuple[TableCell, ...]:
    tested = pair.finding in ("apart", "level")
    gap = format_points(pair)
    sign = "+" if pair.paired.difference > 0 else ""
    return (
        localized("sure.over", language, first=pair.first.model, second=pair.second.model),
        ValueCell(f"{sign}{gap}", localized("sure.points", language)),
        format_points_range(pair.paired),
        p_column(pair.adjusted) if tested else NONE,
        localized(f"sure.word-{pair.finding}", language),
    )


def _pairs_caption(standing: DatasetStanding, language: Language) -> Paragraph:
    comparison = standing.comparison
    assert comparison is not None, "there are pairs"
    measure = localized(f"measure-{comparison.measure}", language)
    text = localized(
        "sure.caption",
        language,
        measure=measure[:1].upper() + measure[1:],
        n=count(comparison.n),
        k=count(len(comparison.pairs)),
    )
    if not comparison_method(comparison, language):
        return Paragraph("", small=True)
    return Paragraph(join_sentences(text, localized("sure.all-tests", language)), small=True)


def sureness(standing: DatasetStanding, language: Language) -> str:
    """How sure the verdict is, in a sentence; "" while answers are to come."""
    answered = [s for s in standing.real if s.accuracy]
    if standing.unfinished or not answered:
        return ""
    fewest = min(answered, key=lambda s: s.n)
    if standing.guessing:
        needed = needed_share(fewest)
        return localized("sure.guessing", language, n=count(fewest.n), needed=needed)
    if won := winner(standing):
        return _gap(won[1], language)
    level = tied(standing.comparison) if standing.comparison else ()
    pair = standing.pair(level[0], level[1]) if len(level) > 1 else None
    if pair and pair.detectable is not None:
        least = format_least_difference(pair.detectable)
        return localized("sure.level", language, n=count(pair.n), least=least)
    if pair:
        key = "equal" if pair.finding == "same" else "untold"
        return localized(f"sure.{key}", language, n=count(pair.n))
    if len(answered) > 1 and standing.comparison and standing.comparison.incomparable:
        return ""
    share = answered[0].accuracy
    assert share is not None, "it has answers"
    width = fixed(100 * (share.high - share.low), 0)
    return localized("sure.alone", language, n=count(share.n), width=width)


def needed_share(summary: Summary) -> str:
    """The least share of right answers, in whole per cent, that would beat guessing."""
    chance = summary.chance or 0.0
    for right in range(summary.n_independent + 1):
        share = share_interval(right, summary.n_independent)
        if share and beats_guessing(share, chance):
            return fixed(100 * share.value, 0)
    return "100"


def _gap(pair: CellComparison, language: Language) -> str:
    if pair.paired.all_equal:
        return localized("sure.steady", language, n=count(pair.n))
    fields = {
        "gap": format_points(pair).lstrip("−"),
        "span": format_points_range(pair.paired),
        "n": count(pair.n),
    }
    if pair.detectable is not None and is_plenty(pair):
        least = format_least_difference(pair.detectable)
        return localized("sure.very", language, **fields, least=least)
    return localized("sure.fairly", language, **fields, p=p_value(pair.adjusted))


# ---------------------------------------------------------------- by subject


def by_subject(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """Each subject and each group of them, model by model, by the figure that ranks."""
    able = [standing.cell(model) for model in standing.models]
    cells = [summary for summary in able if summary and summary.groups]
    if not cells:
        return None
    measure: Measure = "accuracy" if standing.guessing else standing.measure
    finding = _subject_finding(standing, cells, measure, language)
    name = localized(f"lead.{'origin' if measure == 'accuracy' else measure}", language)
    caption = localized("subjects.caption", language, measure=name)
    table = _subject_table(standing.listed(cells), measure, language)
    return finding, [table, Paragraph(caption, small=True)]


def _subject_table(cells: Sequence[Summary], measure: Measure, language: Language) -> Table:
    keys = dict.fromkeys((group.kind, group.name) for s in cells for group in s.groups)
    order = sorted(keys, key=lambda key: key[0] == "subject")  # groups first
    columns = [
        Column(localized("subjects.head", language)),
        Column(localized("subjects.n", language), right=True),
        *(Column(s.cell.model, right=True) for s in cells),
    ]
    by_cell = [{(group.kind, group.name): group for group in s.groups} for s in cells]
    rows = [
        tuple(_subject_row([own.get(key) for own in by_cell], measure, language)) for key in order
    ]
    return Table(tuple(columns), tuple(rows))


def _subject_row(
    groups: Sequence[SubjectGroup | None], measure: Measure, language: Language
) -> Iterator[TableCell]:
    first = next(group for group in groups if group)
    yield group_name(first, language)
    yield count(first.n)
    for group in groups:
        share = group.share(measure) if group else None
        if group is None or share is None:
            yield NONE
            continue
        macro = group.macro_share(measure) if group.kind != "subject" else None
        mean = fixed(macro, 1) if macro is not None else ""
        yield share_cell(share, localized("subjects.macro", language, value=mean) if mean else "")


def share_cell(share: Interval, below: str = "") -> ValueCell:
    """A share in a row of a plain table."""
    return ValueCell(format_value(share), "%", format_range(share), below)


def _subject_finding(
    standing: DatasetStanding, cells: Sequence[Summary], measure: Measure, language: Language
) -> str:
    def say(cells: Sequence[Summary]) -> str:
        if len(cells) > 1 and (won := winner(standing)):
            first = [s for s in cells if s.cell.model == won[0]]
            others = [s for s in cells if s.cell.model != won[0]]
            return _ahead(won[0], [_subjects(s, measure) for s in (*first, *others)], language)
        known = [share for s in cells for share in _subjects(s, measure).values()]
        (worst, low), (best, high) = (end(known, key=_value) for end in (min, max))
        if low.value == high.value:
            n = count(len({group.name for group, _ in known}))
            return localized("subjects.equal", language, value=format_value(low), of=n)
        return localized(
            "subjects.between",
            language,
            low=format_value(low),
            worst=group_name(worst, language),
            high=format_value(high),
            best=group_name(best, language),
        )

    return of_real_models(cells, lambda s: s.cell.model in standing.baselines, say, language)


def _value(subject: tuple[SubjectGroup, Interval]) -> float:
    return subject[1].value


def _subjects(summary: Summary, measure: Measure) -> dict[str, tuple[SubjectGroup, Interval]]:
    return {
        group.name: (group, share)
        for group in summary.groups
        if group.kind == "subject" and (share := group.share(measure))
    }


def _ahead(
    model: str,
    subjects: Sequence[dict[str, tuple[SubjectGroup, Interval]]],
    language: Language,
) -> str:
    """In how many subjects the winner is ahead of all others."""
    own, *others = subjects
    shared = [name for name in own if all(name in other for other in others)]
    won = sum(all(own[name][1].value > other[name][1].value for other in others) for name in shared)
    sizes = [own[name][1].n for name in shared]
    fields = {"model": model, "k": count(won), "of": count(len(shared))}
    if not sizes or min(sizes) >= EXPLORATORY_BELOW:
        return localized("subjects.ahead-many", language, **fields)
    n = count(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)}–{max(sizes)}"
    key = "ahead-all" if won == len(shared) else "ahead"
    return localized(f"subjects.{key}", language, **fields, n=n)


# ---------------------------------------------------------------- every rule


def every_rule(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """The same answers read by each rule, mode by mode."""
    blocks: list[Block] = []
    read: list[Summary] = []
    for label in sorted(standing.modes, key=lambda label: label != standing.lead):
        cells = [
            summary
            for model in standing.models
            if (summary := standing.cells.get((label, model))) and len(summary.readings) > 1
        ]
        if not cells:
            continue
        mode = mode_name(cells[0].cell, language)
        caption = localized("rules.caption", language, mode=mode[:1].upper() + mode[1:])
        blocks += [_rules_table(standing.listed(cells), language), Paragraph(caption, small=True)]
        read += cells
    if not blocks:
        return None
    say = partial(_rules_finding, guessing=standing.guessing, language=language)
    finding = of_real_models(read, lambda s: s.cell.model in standing.baselines, say, language)
    return finding, blocks


def _rules_table(cells: Sequence[Summary], language: Language) -> Table:
    rules = list(cells[0].readings)
    heads = [localized("rules.head", language), *(s.cell.model for s in cells)]
    heads.append(localized("rules.unreadable", language))
    rows: list[tuple[TableCell, ...]] = []
    for place, rule in enumerate(rules):
        name = localized(f"reading.{rule}", language)
        parts = [s.readings.get(rule) for s in cells]
        text = localized("rules.headline", language, rule=name) if place == 0 else name
        rows.append(
            (
                TextCell(text, strong=place == 0),
                *(_accuracy(reading, language) for reading in parts),
                _unreadable(parts, language),
            )
        )
    if any(s.format for s in cells):
        form = TextCell(localized("rules.form", language))
        rows.append((form, *(_form(s.format, language) for s in cells), NONE))
    columns = tuple(Column(head, right=0 < place <= len(cells)) for place, head in enumerate(heads))
    return Table(columns, tuple(rows))


def _accuracy(reading: ReadingMetrics | None, language: Language) -> TableCell:
    if reading is None:
        return NONE
    tied = messages(language).count("rules.ties", reading.tied) if reading.tied else ""
    return share_cell(reading.accuracy, tied)


def _form(form: FormatMetrics | None, language: Language) -> TableCell:
    """What is lost to the form of a reply, and how much of the probability letters hold."""
    if form is None:
        return NONE
    gap, mass = form.format_gap, form.mass
    lost = localized("rules.gap", language, points=format_value(gap)) if gap else ""
    held = localized("rules.mass", language, value=percent(mass)) if mass is not None else ""
    return TextCell(lost or held or NONE, held if lost else "")


def _unreadable(readings: Sequence[ReadingMetrics | None], language: Language) -> str:
    """The least and the most that a rule cannot read, in per cent."""
    parts = sorted(100 * reading.unreadable.value for reading in readings if reading)
    if not parts or parts[-1] == 0:
        return localized("rules.none", language)
    low, high = fixed(parts[0], 1), fixed(parts[-1], 1)
    return f"{high} %" if low == high else f"{low} – {high} %"


def _rules_finding(cells: Sequence[Summary], *, guessing: bool, language: Language) -> str:
    """What the rules change, in whichever mode they change most."""
    if guessing:
        return _lifting(cells, language)
    modes: dict[str, list[Summary]] = {}
    for summary in cells:
        modes.setdefault(summary.cell.label, []).append(summary)
    moved, other = 0.0, ""
    for own in modes.values():
        first, *others = (rule for rule in own[0].readings if all(rule in s.readings for s in own))
        headline = [s.readings[first].accuracy.value for s in own]
        for rule in others:
            values = [s.readings[rule].accuracy.value for s in own]
            gaps = (abs(one - head) for head, one in zip(headline, values, strict=True))
            moved = max(moved, *gaps)
            if not other and _order(values) != _order(headline):
                other = rule
    points = math.ceil(100 * moved - _ROUNDING)
    t = messages(language)
    if max(map(len, modes.values())) == 1:
        return t.count("rules.alone", points) if points else t("rules.alone-none")
    if other:
        return t.count("rules.other", points, rule=t(f"reading.{other}"))
    if len(modes) > 1:
        key = "same-modes" if points else "same-modes-none"
        return t.count(f"rules.{key}", points, m=len(modes))
    k = len(cells[0].readings)
    return t.count(f"rules.{'same' if points else 'same-none'}", points, k=k)


def _lifting(cells: Sequence[Summary], language: Language) -> str:
    for summary in cells:
        for rule, reading in summary.readings.items():
            if beats_guessing(reading.accuracy, summary.chance or 0.0):
                name = localized(f"reading.{rule}", language)
                return localized("rules.lifts", language, rule=name, model=summary.cell.model)
    return localized("rules.guessing", language)


def _order(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda place: -values[place])
