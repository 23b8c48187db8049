"""Subjects of a data set, and the groups of subjects or data sets that a specification declares."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.metrics import metric_head, share_cell
from evalui.report.analyses.verdict import DatasetStanding, winner
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Column,
    Details,
    Heading,
    Paragraph,
    Table,
    TableCell,
    TextCell,
)
from evalui.report.numbers import count, fixed, format_figure, format_value
from evalui.report.words import group_name, join_sentences, of_real_models, too_few
from evalui.scoring.cautions import EXPLORATORY_BELOW, MIN_DRAWN
from evalui.scoring.cell_summary import GroupKind, Measure, SubjectGroup, Summary
from evalui.scoring.groups import GroupFigure, GroupSummary
from evalui.scoring.metrics import Metric
from evalui.types import Interval, Language

add_messages(Path(__file__).with_suffix(".toml"))

_OF_CHOICES = ("acc_origin", "robust")  # where the specification chooses no metric
_OF_DRAWN = ("acc_origin", "mean_over_orders")  # the same of replies above temperature 0
_OF_TEXTS = ("exact_match", "rouge-l-f", "bleu-4")
_MOST = 3  # metrics of a table, of those that nobody chose
_Key = tuple[GroupKind, str]


def group_blocks(report: Report, language: Language) -> Iterator[Block]:
    """A table for each mode with the groups of each model, and the members that are missing."""
    tables: dict[str, list[GroupSummary]] = {}
    for group in report.groups:
        tables.setdefault(group.label, []).append(group)
    blocks: list[Block] = []
    for label, groups in tables.items():
        metrics = _metrics(report, groups)
        if len(tables) > 1:
            blocks.append(Heading(3, label))
        blocks.append(_table(report, groups, metrics, language))
        if lines := _missing(groups, metrics, language):
            blocks.append(Bullets(lines))
    if blocks:
        blocks.append(Paragraph(localized("groups.are", language), small=True))
        name, finding = localized("groups.title", language), _finding(report.groups, language)
        yield Details("summary-groups", name, finding, tuple(blocks), open=True)


def _finding(groups: Sequence[GroupSummary], language: Language) -> str:
    names = {group.group.name for group in groups}
    lacking = {group.group.name for group in groups if group.missing}
    key = "groups.lacking" if lacking else "groups.whole"
    return localized(key, language, n=count(len(names)), k=count(len(lacking)))


def _metrics(report: Report, groups: Sequence[GroupSummary]) -> list[Metric]:
    """The metrics that the specification chooses, else those that lead a report."""
    known = {name: each.metric for group in groups for name, each in group.figures.items()}
    if chosen := [known[name] for name in report.metrics if name in known]:
        return chosen
    drawn = any(summary.sampled for summary in report.summaries)
    of_choices = _OF_DRAWN if drawn else _OF_CHOICES
    usual = of_choices if groups[0].answers == "choices" else _OF_TEXTS
    return [known[name] for name in usual if name in known] or list(known.values())[:_MOST]


def _table(
    report: Report, groups: Sequence[GroupSummary], metrics: Sequence[Metric], language: Language
) -> Table:
    context = report.open_context(language)
    counted = any(metric.name == "n" for metric in metrics)
    several = len({group.dataset for group in groups}) > 1
    columns = (
        Column(localized("groups.head", language)),
        *([Column(localized("head-dataset", language))] if several else []),
        Column(localized("head-model", language)),
        *(Column(metric_head(metric, language), right=True) for metric in metrics),
        *([] if counted else [Column(localized("head-n", language), right=True)]),
    )
    rows = tuple(
        (
            TextCell(group.group.name, _kind(group, language)),
            *([group.dataset or NONE] if several else []),
            context.model(group.model),
            *(_cell(metric, group.figures.get(metric.name), language) for metric in metrics),
            *([] if counted else [_questions(group, metrics)]),
        )
        for group in groups
    )
    return Table(columns, rows)


def _kind(group: GroupSummary, language: Language) -> str:
    declared = group.group
    return localized(
        f"groups.{'weighted' if declared.weights else declared.mean}-{declared.of}",
        language,
        n=count(len(declared.members) - len(group.missing)),
        of=count(len(declared.members)),
    )


def _cell(metric: Metric, figure: GroupFigure | None, language: Language) -> TableCell:
    if figure is None:
        return NONE
    if isinstance(figure.figure, Interval) and metric.unit == "share":
        missing = localized("groups.lacks", language, n=count(len(figure.missing)))
        return share_cell(figure.figure, missing if figure.missing else "")
    return format_figure(metric, figure.figure)


def _questions(group: GroupSummary, metrics: Sequence[Metric]) -> str:
    first = next((group.figures[one.name] for one in metrics if one.name in group.figures), None)
    return count(first.n) if first else NONE


def _missing(
    groups: Sequence[GroupSummary], metrics: Sequence[Metric], language: Language
) -> tuple[str, ...]:
    """Which members a group lacks, of which models, a line each."""
    comma = messages(language)("list.comma")
    lacking: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for group in groups:
        absent = dict.fromkeys(group.missing)
        for metric in metrics:
            if figure := group.figures.get(metric.name):
                absent |= dict.fromkeys(figure.missing)
        if absent:
            key = (group.group.name, group.dataset, tuple(absent))
            lacking.setdefault(key, []).append(group.model)
    return tuple(
        localized(
            "groups.missing",
            language,
            group=comma.join(part for part in (name, dataset) if part),
            models=comma.join(models),
            members=comma.join(members),
        )
        for (name, dataset, members), models in lacking.items()
    )


# ---------------------------------------------------------------- each subject


def by_subject(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """Each subject and each group of them, model by model, by the figure that ranks."""
    able = [standing.cell(model) for model in standing.models]
    cells = [summary for summary in able if summary and summary.groups]
    if not cells:
        return None
    measure: Measure = "accuracy" if standing.guessing else standing.measure
    sizes: dict[_Key, int] = {}
    for group in (group for summary in cells for group in summary.groups):
        sizes[_key(group)] = max(group.n, sizes.get(_key(group), 0))
    shown = [key for key, n in sizes.items() if n >= MIN_DRAWN]
    if not shown:
        return None
    finding = _subject_finding(standing, cells, shown, measure, language)
    name = localized(f"verdict.column.{'origin' if measure == 'accuracy' else measure}", language)
    caption = localized("groups.subjects.caption", language, measure=name)
    table = _subject_table(standing.listed(cells), shown, measure, language)
    left = too_few(len(sizes) - len(shown), language)
    return finding, [table, Paragraph(join_sentences(caption, left), small=True)]


def _key(group: SubjectGroup) -> _Key:
    return group.kind, group.name


def _subject_table(
    cells: Sequence[Summary], shown: Sequence[_Key], measure: Measure, language: Language
) -> Table:
    there = {_key(group) for s in cells for group in s.groups}
    order = sorted(there.intersection(shown), key=shown.index)
    order.sort(key=lambda key: key[0] == "subject")  # groups first
    columns = [
        Column(localized("groups.subjects.head", language)),
        Column(localized("groups.subjects.n", language), right=True),
        *(Column(s.cell.model, right=True) for s in cells),
    ]
    by_cell = [{_key(group): group for group in s.groups} for s in cells]
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
        yield share_cell(
            share, localized("groups.subjects.macro", language, value=mean) if mean else ""
        )


def _subject_finding(
    standing: DatasetStanding,
    cells: Sequence[Summary],
    shown: Sequence[_Key],
    measure: Measure,
    language: Language,
) -> str:
    """What the rows say, of subjects where any is shown."""
    subjects = [key for key in shown if key[0] == "subject"]

    def say(cells: Sequence[Summary]) -> str:
        if subjects and len(cells) > 1 and (won := winner(standing)):
            first = [s for s in cells if s.cell.model == won[0]]
            others = [s for s in cells if s.cell.model != won[0]]
            own = [_shares(s, subjects, measure) for s in (*first, *others)]
            return _ahead(won[0], own, language)
        told = subjects or shown
        known = [share for s in cells for share in _shares(s, told, measure).values()]
        (worst, low), (best, high) = (end(known, key=_value) for end in (min, max))
        if low.value == high.value:
            n = count(len({group.name for group, _ in known}))
            return localized("groups.subjects.equal", language, value=format_value(low), of=n)
        return localized(
            "groups.subjects.between",
            language,
            low=format_value(low),
            worst=group_name(worst, language),
            high=format_value(high),
            best=group_name(best, language),
        )

    return of_real_models(cells, lambda s: s.cell.model in standing.baselines, say, language)


def _value(subject: tuple[SubjectGroup, Interval]) -> float:
    return subject[1].value


def _shares(
    summary: Summary, keys: Collection[_Key], measure: Measure
) -> dict[_Key, tuple[SubjectGroup, Interval]]:
    return {
        _key(group): (group, share)
        for group in summary.groups
        if _key(group) in keys and (share := group.share(measure))
    }


def _ahead(
    model: str,
    subjects: Sequence[dict[_Key, tuple[SubjectGroup, Interval]]],
    language: Language,
) -> str:
    """In how many subjects the winner is ahead of all others."""
    own, *others = subjects
    shared = [name for name in own if all(name in other for other in others)]
    won = sum(all(own[name][1].value > other[name][1].value for other in others) for name in shared)
    sizes = [own[name][1].n for name in shared]
    fields = {"model": model, "k": count(won), "of": count(len(shared))}
    if not sizes or min(sizes) >= EXPLORATORY_BELOW:
        return localized("groups.subjects.ahead-many", language, **fields)
    n = count(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)}–{max(sizes)}"
    key = "ahead-all" if won == len(shared) else "ahead"
    return localized(f"groups.subjects.{key}", language, **fields, n=n)


SUMMARY_GROUPS = Analysis(lambda report: bool(report.declared_groups), group_blocks)
