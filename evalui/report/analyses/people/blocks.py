"""What people's votes say, as blocks for the screen and the report: alone and beside the judges."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.document import kappa
from evalui.report.analyses.arena.narrative import (
    judge_name,
    standings_title,
)
from evalui.report.analyses.base import Analysis
from evalui.report.analyses.people.standings import Judges, judges_table, standings_table
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Details,
    Heading,
    Paragraph,
    Table,
    text_table,
)
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.report.words import join_names
from evalui.scoring.arena.agreement import PredictionPoweredRate, RaterAgreement, VoterAgreement
from evalui.scoring.arena.people import Disagreement, PeopleFigures
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Duel, Interval, Language, Outcome

_LISTED = 20  # rows of a long table; the exported tables have all
_QUESTION_LENGTH = 80


def people_blocks(
    people: Sequence[PeopleFigures], language: Language, *, rule_based: frozenset[str]
) -> Iterator[Block]:
    """Each dataset that people voted on: sentence, standings, and what folds below them.

    The figures of a dataset stand together, those beside the panel first.
    """
    datasets = dict.fromkeys(figures.judged.dataset for figures in people)
    for place, dataset in enumerate(datasets, 1):
        own = [figures for figures in people if figures.judged.dataset == dataset]
        named = {
            _judge(figures, language, rule_based): figures for figures in own if figures.has_judge
        }
        yield Heading(2, localized("people-part", language, dataset=dataset))
        yield _standings(own[0], named, language, rule_based)
        ending = f"-{place}" if place > 1 else ""
        folded = (
            *_each_judge(own[0], named, language, rule_based),
            *_agreement(own[0], named, language),
            *_prediction_powered(named, language),
            *_disagreements(own[0], named, language),
            *_voters(own[0], language),
        )
        for name, title, finding, blocks in folded:
            yield Details(f"{name}{ending}", title, finding, blocks)


# A section that folds: its key, its name, its finding, and what is in it.
_Section = tuple[str, str, str, tuple[Block, ...]]


def _judge(figures: PeopleFigures, language: Language, rule_based: frozenset[str]) -> str:
    if figures.judged.by == PANEL_NAME:
        return localized("people-the-panel", language)
    return judge_name(figures.judged.by, language, rule_based=rule_based)


def _title(first: PeopleFigures, judges: Judges, language: Language) -> str:
    for judge, figures in judges.items():
        if agreed := figures.agreement:
            fields = {
                "value": format_value(agreed.raw),
                "span": format_range(agreed.raw),
                "n": count(agreed.n),
            }
            return localized("people-agree", language, judge=judge, **fields)
    assert first.human_arena is not None, "there are votes"
    return standings_title(first.human_arena, language)


def _counts(figures: PeopleFigures, language: Language) -> str:
    assert figures.human_arena is not None, "there are votes"
    fields = {
        "votes": count(figures.votes),
        "people": count(figures.people),
        "pairs": count(len({vote.duel for vote in figures.human_arena.verdicts})),
    }
    return localized("people-counts", language, **fields)


def _standings(
    first: PeopleFigures, judges: Judges, language: Language, rule_based: frozenset[str]
) -> Card:
    assert first.human_arena is not None, "there are votes"
    below: list[Block] = []
    title, ranking = _title(first, judges, language), standings_title(first.human_arena, language)
    if judges:
        below += [Paragraph(f"{ranking}.")] if title != ranking else []
        below.append(Paragraph(localized("people-marks", language), small=True))
    if first.adjudicated:
        fields = {"k": count(first.adjudicated)}
        below.append(Paragraph(localized("people-adjudicated", language, **fields)))
    if first.unmatched_votes:
        fields = {"k": count(first.unmatched_votes)}
        below.append(Paragraph(localized("people-strangers", language, **fields)))
    return Card(
        (standings_table(first, judges, language, rule_based), *below),
        title=title,
        caption=_counts(first, language),
    )


def _each_judge(
    first: PeopleFigures, judges: Judges, language: Language, rule_based: frozenset[str]
) -> Iterator[_Section]:
    """The ratings by each judge of a panel."""
    if len(judges) > 1:
        finding = localized("people-judges-is", language, k=count(len(judges) - 1))
        table = judges_table(first, judges, language, rule_based)
        yield "judges", localized("people-judges", language), finding, (table,)


# ---------------------------------------------------------------- agreement


def _agreement(first: PeopleFigures, judges: Judges, language: Language) -> Iterator[_Section]:
    rated = [*_with_judges(judges, language), *_inter_annotator(first, language)]
    if not rated:
        return
    heads = (localized(f"head-{key}", language) for key in ("raters", "same", "kappa", "shared"))
    rows = ((pair, _share(one.raw), kappa(one), count(one.n)) for pair, one in rated[:_LISTED])
    more = ""
    if len(rated) > _LISTED:
        more = localized("people-more-raters", language, k=count(len(rated) - _LISTED))
    pair, one = rated[-1] if len(judges) < len(rated) and judges else rated[0]
    fields = {"pair": pair, "value": _share(one.raw), "n": count(one.n)}
    yield (
        "agreement",
        localized("people-agreement", language),
        localized("people-agreement-is", language, **fields),
        (
            text_table(tuple(heads), tuple(rows)),
            Paragraph(more),
            Paragraph(localized("people-kappa", language), small=True),
        ),
    )


def _with_judges(
    judges: Mapping[str, PeopleFigures], language: Language
) -> Iterator[tuple[str, RaterAgreement]]:
    majority = localized("people-majority", language)
    for judge, figures in judges.items():
        if figures.agreement:
            yield localized("people-two", language, first=judge, second=majority), figures.agreement
    for judge, figures in judges.items():
        # One person is the majority.
        if figures.people > 1:
            for person, agreement in figures.by_person.items():
                yield localized("people-two", language, first=judge, second=person), agreement


def _inter_annotator(
    figures: PeopleFigures, language: Language
) -> Iterator[tuple[str, RaterAgreement]]:
    for (first, second), agreement in figures.between_people.items():
        yield localized("people-two", language, first=first, second=second), agreement


# ---------------------------------------------------------------- win rates


def _prediction_powered(judges: Judges, language: Language) -> Iterator[_Section]:
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
    about = Paragraph(localized("people-powered-about", language), small=True)
    yield (
        "powered",
        localized("people-powered", language),
        sentences[0],
        (*(block for together in zip(*named, strict=True) for block in together), about),
    )


def _powered_sentence(
    judge: str, rates: Mapping[tuple[str, str], PredictionPoweredRate], language: Language
) -> str:
    n = sum(rate.human.n for rate in rates.values() if rate.human)
    fields = {"n": count(n), "total": count(sum(rate.judge.n for rate in rates.values()))}
    return localized("people-powered-is", language, judge=judge, **fields)


def _rates(rates: Mapping[tuple[str, str], PredictionPoweredRate], language: Language) -> Table:
    keys = ("pair", "by-judge", "by-people", "by-both", "voted")
    return text_table(
        tuple(localized(f"head-{key}", language) for key in keys),
        tuple(
            (
                localized("first-against", language, first=first, second=second),
                *(_share(share) for share in (rate.judge, rate.human, rate.combined)),
                f"{count(rate.human.n if rate.human else 0)} / {count(rate.judge.n)}",
            )
            for (first, second), rate in rates.items()
        ),
    )


def _share(share: Interval | None) -> str:
    return f"{format_value(share)} ({format_range(share)})" if share else NONE


# ---------------------------------------------------------------- where opinions part


def _disagreements(first: PeopleFigures, judges: Judges, language: Language) -> Iterator[_Section]:
    """Beside the panel where there is one: its judges' own disagreements are in the tables."""
    judge, figures = next(iter(judges.items()), ("", first))
    # Those with most votes first, else as they were voted on.
    ordered = sorted(figures.disagreements, key=lambda one: -len(one.people))
    if not ordered:
        return
    fields = {"judge": judge, "n": count(len(ordered))} if judge else {"n": count(len(ordered))}
    heads = [localized(f"head-{key}", language) for key in ("question", "pair", "people")]
    rows = [_disagreement_row(one, figures, language) for one in ordered[:_LISTED]]
    if judge:
        heads.append(localized("head-judge", language))
        rows = [
            (*row, _outcome_text(one.duel, one.judge, language))
            for row, one in zip(rows, ordered, strict=False)
        ]
    more = ""
    if len(ordered) > _LISTED:
        more = localized("people-parting-more", language, shown=_LISTED)
    yield (
        "parting",
        localized("people-parting", language),
        localized("people-parting-of" if judge else "people-parting-alone", language, **fields),
        (text_table(tuple(heads), tuple(rows)), Paragraph(more)),
    )


def _voters(figures: PeopleFigures, language: Language) -> Iterator[_Section]:
    """Each voter beside the others; those who differ most are named first."""
    if len(figures.voters) < 2:
        return
    unlike = [voter.name for voter in figures.voters if voter.outlier]
    finding = localized("people-alike", language, n=count(len(figures.voters)))
    if unlike:
        names = join_names(unlike, language)
        finding = localized("people-outliers", language, names=names)
    heads = (localized(f"head-{key}", language) for key in ("voter", "as-others", "others"))
    rows = [_voter_row(one) for one in figures.voters]
    yield (
        "voters",
        localized("people-voters", language),
        finding,
        (text_table(tuple(heads), rows),),
    )


def _voter_row(one: VoterAgreement) -> tuple[str, ...]:
    others = NONE if one.others_agreement is None else fixed(100 * one.others_agreement, 0)
    return (one.name, _share(one.agreement), others)


def _disagreement_row(
    one: Disagreement, figures: PeopleFigures, language: Language
) -> tuple[str, ...]:
    question = figures.judged.samples[one.duel.sample_id].question
    cut = "…" if len(question) > _QUESTION_LENGTH else ""
    pair = localized("first-against", language, first=one.duel.model_a, second=one.duel.model_b)
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
        f"{one.duel.sample_id} · {question[:_QUESTION_LENGTH]}{cut}",
        pair,
        ("；" if language == "zh" else "; ").join(outcomes),
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
            return localized(f"people-{outcome}", language)


PEOPLE = Analysis(
    lambda report: bool(report.people),
    lambda report, language: people_blocks(report.people, language, rule_based=report.baselines),
)
