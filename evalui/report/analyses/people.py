"""Votes of people: their ratings beside those of judges, who agrees, where opinions part."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from evalui.messages import add_messages, localized
from evalui.pictures import ids
from evalui.report.analyses.arena import rating_axis, rating_range, rating_text, standings_title
from evalui.report.analyses.base import Analysis, OpenContext
from evalui.report.analyses.judge import judge_name, kappa_text
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Details,
    Heading,
    Markers,
    ModelCell,
    Paragraph,
    PictureCell,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.report.words import in_words, join_clauses, join_names
from evalui.scoring.arena.agreement import PredictionPoweredRate, RaterAgreement
from evalui.scoring.arena.figures import Arena, Standing
from evalui.scoring.arena.people import Disagreement, PeopleFigures
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Duel, Interval, Language, Outcome, Sample

add_messages(Path(__file__).with_suffix(".toml"))

_LISTED = 20  # rows of a long table; the exported tables have all
_QUESTION_LENGTH = 80

Judges = Mapping[str, PeopleFigures]  # the figures beside each judge, by its name


def people_blocks(people: Sequence[PeopleFigures], context: OpenContext) -> Iterator[Block]:
    """Each dataset that people voted on: sentence, standings, and what folds below them.

    The figures of a dataset stand together, those beside the panel first.
    """
    language = context.language
    datasets = dict.fromkeys(figures.judged.dataset for figures in people)
    for place, dataset in enumerate(datasets, 1):
        own = [figures for figures in people if figures.judged.dataset == dataset]
        named = {_judge(figures, context): figures for figures in own if figures.has_judge}
        markers = contestant_markers(own[0], context.baselines)
        yield Heading(2, localized("people.part", language, dataset=dataset))
        yield _standings(own[0], named, markers, language)
        ending = f"-{place}" if place > 1 else ""
        folded = (
            *_each_judge(own[0], named, markers, language),
            *_agreement(own[0], named, language),
            *_prediction_powered(named, language),
            *_disagreements(own[0], named, context),
            *_voters(own[0], language),
        )
        for section in folded:
            yield replace(section, key=f"{section.key}{ending}")


def contestant_markers(figures: PeopleFigures, baselines: Collection[str]) -> Markers:
    """The markers of the contestants; scripts are grey and take no colour."""
    return Markers([one.name for one in figures.judged.contestants], baselines)


def _judge(figures: PeopleFigures, context: OpenContext) -> str:
    if figures.judged.by == PANEL_NAME:
        return localized("people.the-panel", context.language)
    return judge_name(figures.judged.by, context)


# ---------------------------------------------------------------- standings


def _standings(first: PeopleFigures, judges: Judges, markers: Markers, language: Language) -> Card:
    below: list[Block] = []
    title = _title(first, judges, language)
    ranking = standings_title(_human_arena(first), language)
    if judges:
        below += [Paragraph(f"{ranking}.")] if title != ranking else []
        below.append(Paragraph(localized("people.marks", language), small=True))
    if first.adjudicated:
        fields = {"k": count(first.adjudicated)}
        below.append(Paragraph(localized("people.adjudicated", language, **fields)))
    if first.unmatched_votes:
        fields = {"k": count(first.unmatched_votes)}
        below.append(Paragraph(localized("people.strangers", language, **fields)))
    return Card(
        (_standings_table(first, judges, markers, language), *below),
        title=title,
        caption=_counts(first, language),
    )


def _title(first: PeopleFigures, judges: Judges, language: Language) -> str:
    for judge, figures in judges.items():
        if agreed := figures.agreement:
            fields = {
                "value": format_value(agreed.raw),
                "span": format_range(agreed.raw),
                "n": count(agreed.n),
            }
            return localized("people.agree", language, judge=judge, **fields)
    return standings_title(_human_arena(first), language)


def _counts(figures: PeopleFigures, language: Language) -> str:
    fields = {
        "votes": count(figures.votes),
        "people": count(figures.people),
        "pairs": count(len({vote.duel for vote in _human_arena(figures).verdicts})),
    }
    return localized("people.counts", language, **fields)


def _human_arena(figures: PeopleFigures) -> Arena:
    assert figures.human_arena is not None, "there are votes"
    return figures.human_arena


def _standings_table(
    first: PeopleFigures, judges: Judges, markers: Markers, language: Language
) -> Table:
    """People's ratings with their ranges, beside those of the first judge."""
    standings = _human_arena(first).standings
    panel = [*judges.items()][:1]  # or the one judge
    beside = {one.model: one for _, each in panel for one in each.judged.standings}
    shown = (*standings, *beside.values())
    ends = (end for one in shown for end in (one.elo, one.elo_low, one.elo_high))
    columns = (
        Column(localized("head-model", language), width=200),
        Column("", axis=rating_axis(ends)),
        Column(localized("people.head-elo", language), right=True, lead=True, width=128),
        *(
            Column(localized("people.head-judge-elo", language, judge=name), right=True, width=144)
            for name, _ in panel
        ),
        *(
            Column(localized(f"standings.{key}", language), right=True, width=80)
            for key in ("won", "tied", "lost")
        ),
        Column(localized("standings.rating-score", language), right=True, width=80),
    )
    rows = (
        _standing_row(one, [beside.get(one.model) for _ in panel], markers.cell(one.model))
        for one in standings
    )
    return Table(columns, tuple(rows), lead=True)


def _standing_row(
    one: Standing, judged: Sequence[Standing | None], model: ModelCell
) -> tuple[TableCell, ...]:
    marks = [_elo_mark(one), *(_elo_mark(other, hollow=True) for other in judged if other)]
    return (
        model,
        model.marked(*marks, text=rating_text(one.elo)),
        _elo(one, size="lead"),
        *(_elo(other) for other in judged),
        *map(count, (one.tally.win, one.tally.tie, one.tally.lose)),
        str(one.tally.score),
    )


def _elo_mark(one: Standing, *, hollow: bool = False) -> PlotMark:
    return PlotMark(one.elo, one.elo_low, one.elo_high, hollow=hollow)


def _elo(standing: Standing | None, size: Literal["lead", "large", "row"] = "large") -> TableCell:
    if standing is None:
        return NONE
    ends = rating_range(standing.elo_low, standing.elo_high)
    return ValueCell(rating_text(standing.elo), range=ends, size=size)


def _each_judge(
    first: PeopleFigures, judges: Judges, markers: Markers, language: Language
) -> Iterator[Details]:
    """People's ratings beside those of each judge of a panel."""
    if len(judges) < 2:
        return
    beside = [{one.model: one for one in each.judged.standings} for each in judges.values()]
    heads = [localized(key, language) for key in ("head-model", "people.head-elo")]
    heads += [localized("people.head-judge-elo", language, judge=judge) for judge in judges]
    rows = [
        (
            markers.cell(one.model),
            *(_elo(each, "row") for each in (one, *(o.get(one.model) for o in beside))),
        )
        for one in _human_arena(first).standings
    ]
    finding = localized("people.judges-is", language, k=count(len(judges) - 1))
    name = localized("people.judges", language)
    yield Details("judges", name, finding, (text_table(heads, rows),))


# ---------------------------------------------------------------- agreement


def _agreement(first: PeopleFigures, judges: Judges, language: Language) -> Iterator[Details]:
    rated = [*_raters(first, judges, language)]
    if not rated:
        return
    keys = ("raters", "same", "kappa", "shared")
    heads = (localized(f"people.head-{key}", language) for key in keys)
    rows = ((pair, _share(one.raw), kappa_text(one), count(one.n)) for pair, one in rated[:_LISTED])
    more = ""
    if len(rated) > _LISTED:
        more = localized("people.more-raters", language, k=count(len(rated) - _LISTED))
    pair, one = rated[-1] if len(judges) < len(rated) and judges else rated[0]
    fields = {"pair": pair, "value": _share(one.raw), "n": count(one.n)}
    yield Details(
        "agreement",
        localized("people.agreement", language),
        localized("people.agreement-is", language, **fields),
        (
            text_table(tuple(heads), tuple(rows)),
            Paragraph(more),
            Paragraph(localized("people.kappa", language), small=True),
        ),
    )


def _raters(
    first: PeopleFigures, judges: Judges, language: Language
) -> Iterator[tuple[str, RaterAgreement]]:
    """Every two raters: judges and most people, judges and each person, two people."""
    majority = localized("people.majority", language)
    for judge, figures in judges.items():
        if figures.agreement:
            yield localized("people.two", language, first=judge, second=majority), figures.agreement
    for judge, figures in judges.items():
        # One person is the majority.
        if figures.people > 1:
            for person, agreement in figures.by_person.items():
                yield localized("people.two", language, first=judge, second=person), agreement
    for (one, other), agreement in first.between_people.items():
        yield localized("people.two", language, first=one, second=other), agreement


# ---------------------------------------------------------------- win rates


def _prediction_powered(judges: Judges, language: Language) -> Iterator[Details]:
    voted = {
        judge: rates
        for judge, figures in judges.items()
        if (
            rates := {pair: rate for pair, rate in figures.prediction_powered.items() if rate.human}
        )
    }
    if not voted:
        return
    sentences = [_powered_sentence(judge, rates, language) for judge, rates in voted.items()]
    tables = [_rates(rates, language) for rates in voted.values()]
    named = (map(Paragraph, sentences), tables) if len(voted) > 1 else (tables,)
    about = Paragraph(localized("people.powered-about", language), small=True)
    yield Details(
        "powered",
        localized("people.powered", language),
        sentences[0],
        (*(block for together in zip(*named, strict=True) for block in together), about),
    )


def _powered_sentence(
    judge: str, rates: Mapping[tuple[str, str], PredictionPoweredRate], language: Language
) -> str:
    n = sum(rate.human.n for rate in rates.values() if rate.human)
    fields = {"n": count(n), "total": count(sum(rate.judge.n for rate in rates.values()))}
    return localized("people.powered-is", language, judge=judge, **fields)


def _rates(rates: Mapping[tuple[str, str], PredictionPoweredRate], language: Language) -> Table:
    keys = ("by-judge", "by-people", "by-both", "voted")
    heads = (localized(f"people.head-{key}", language) for key in keys)
    return text_table(
        (localized("head-pair", language), *heads),
        tuple(
            (
                localized("people.against", language, first=first, second=second),
                *(_share(share) for share in (rate.judge, rate.human, rate.combined)),
                f"{count(rate.human.n if rate.human else 0)} / {count(rate.judge.n)}",
            )
            for (first, second), rate in rates.items()
        ),
    )


def _share(share: Interval | None) -> str:
    return f"{format_value(share)} ({format_range(share)})" if share else NONE


# ---------------------------------------------------------------- where opinions part


def _disagreements(first: PeopleFigures, judges: Judges, context: OpenContext) -> Iterator[Details]:
    """Beside the panel where there is one: its judges' own disagreements are in the tables."""
    language = context.language
    judge, figures = next(iter(judges.items()), ("", first))
    # Those with most votes first, else as they were voted on.
    ordered = sorted(figures.disagreements, key=lambda one: -len(one.people))
    if not ordered:
        return
    fields = {"judge": judge, "n": count(len(ordered))}
    keys = ("people.head-question", "head-pair", "people.head-people", "people.head-judge")
    heads = [localized(key, language) for key in keys[: 4 if judge else 3]]
    rows = [_disagreement_row(one, figures, context)[: len(heads)] for one in ordered[:_LISTED]]
    more = ""
    if len(ordered) > _LISTED:
        more = localized("people.parting-more", language, shown=_LISTED)
    yield Details(
        "parting",
        localized("people.parting", language),
        localized("people.parting-of" if judge else "people.parting-alone", language, **fields),
        (text_table(tuple(heads), tuple(rows)), Paragraph(more)),
    )


def _question(sample: Sample, context: OpenContext) -> TableCell:
    """The beginning of a question beside its first picture."""
    question = in_words(sample.question, context.language)
    cut = "…" if len(question) > _QUESTION_LENGTH else ""
    text = f"{sample.id} · {question[:_QUESTION_LENGTH]}{cut}"
    first = ids([sample.question])[:1]
    words = localized("picture.of", context.language, id=sample.id)
    pictures = context.small_pictures(first).values()
    return next((PictureCell(text, each, words) for each in pictures), text)


def _disagreement_row(
    one: Disagreement, figures: PeopleFigures, context: OpenContext
) -> tuple[TableCell, ...]:
    language = context.language
    pair = localized("people.against", language, first=one.duel.model_a, second=one.duel.model_b)
    who: dict[Outcome, list[str]] = defaultdict(list)
    for person, outcome in one.people.items():
        who[outcome].append(person)
    outcomes = (
        localized(
            "of-model",
            language,
            model=_outcome_text(one.duel, outcome, language),
            said=join_names(persons, language),
        )
        for outcome, persons in who.items()
    )
    return (
        _question(figures.judged.samples[one.duel.sample_id], context),
        pair,
        join_clauses(outcomes, language),
        _outcome_text(one.duel, one.judge, language),
    )


def _outcome_text(duel: Duel, outcome: Outcome | None, language: Language) -> str:
    match outcome:
        case None:
            return NONE
        case "a":
            return duel.model_a
        case "b":
            return duel.model_b
        case _:
            return localized(f"people.outcome-{outcome}", language)


def _voters(figures: PeopleFigures, language: Language) -> Iterator[Details]:
    """Each voter beside the others; those who differ most are named first."""
    if len(figures.voters) < 2:
        return
    unlike = [voter.name for voter in figures.voters if voter.outlier]
    finding = localized("people.alike", language, n=count(len(figures.voters)))
    if unlike:
        names = join_names(unlike, language)
        finding = localized("people.outliers", language, names=names)
    keys = ("voter", "as-others", "others")
    heads = (localized(f"people.head-{key}", language) for key in keys)
    rows = [
        (
            one.name,
            _share(one.agreement),
            NONE if one.others_agreement is None else fixed(100 * one.others_agreement, 0),
        )
        for one in figures.voters
    ]
    yield Details(
        "voters",
        localized("people.voters", language),
        finding,
        (text_table(tuple(heads), rows),),
    )


PEOPLE = Analysis(
    lambda report: bool(report.people),
    lambda report, language: people_blocks(report.people, report.open_context(language)),
)
