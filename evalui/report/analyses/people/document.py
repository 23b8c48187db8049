"""The part of a written report on people's votes, alone and beside the judges."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.document import kappa
from evalui.report.analyses.arena.figures import Standing
from evalui.report.analyses.arena.narrative import (
    join_names,
    join_sentences,
    judge_name,
    standings_title,
)
from evalui.report.analyses.people.figures import Disagreement, PeopleFigures
from evalui.report.blocks import NONE, Block, Bullets, Heading, Paragraph, Table, text_table
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.prediction_powered import PredictionPoweredRate
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Duel, Interval, Language, Outcome

_LISTED = 20  # rows of a long table; the exported tables have all
_QUESTION_LENGTH = 80


def people_blocks(
    people: Sequence[PeopleFigures], language: Language, *, rule_based: frozenset[str]
) -> Iterator[Block]:
    """Each dataset that people voted on: sentence, standings, agreement, win rates, disagreements.

    The figures of a dataset stand together, those beside the panel first.
    """
    for dataset in dict.fromkeys(figures.judged.dataset for figures in people):
        own = [figures for figures in people if figures.judged.dataset == dataset]
        named = {
            _judge(figures, language, rule_based): figures for figures in own if figures.has_judge
        }
        yield Heading(2, localized("people-part", language, dataset=dataset))
        yield from _dataset(own[0], named, language)


def _dataset(
    first: PeopleFigures, judges: Mapping[str, PeopleFigures], language: Language
) -> Iterator[Block]:
    """`first` has what the votes alone show; `judges` the figures beside each judge."""
    yield Paragraph(_title(first, judges, language), strong=True)
    yield Bullets(tuple(_notes(first, language)))
    yield from _standings(first, judges, language)
    yield from _agreement(first, judges, language)
    yield from _prediction_powered(judges, language)
    yield from _disagreements(first, judges, language)


def _judge(figures: PeopleFigures, language: Language, rule_based: frozenset[str]) -> str:
    if figures.judged.by == PANEL_NAME:
        return localized("people-the-panel", language)
    return judge_name(figures.judged.by, language, rule_based=rule_based)


def _title(first: PeopleFigures, judges: Mapping[str, PeopleFigures], language: Language) -> str:
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


def _notes(figures: PeopleFigures, language: Language) -> Iterator[str]:
    assert figures.human_arena is not None, "there are votes"
    yield localized(
        "people-counts",
        language,
        votes=count(figures.votes),
        people=count(figures.people),
        pairs=count(len({vote.duel for vote in figures.human_arena.verdicts})),
    )
    if figures.unmatched_votes:
        yield localized("people-strangers", language, k=count(figures.unmatched_votes))
    if unlike := [voter.name for voter in figures.voters if voter.outlier]:
        yield localized("people-outliers", language, names=join_names(unlike, language))


# ---------------------------------------------------------------- standings


def _standings(
    first: PeopleFigures, judges: Mapping[str, PeopleFigures], language: Language
) -> Iterator[Block]:
    assert first.human_arena is not None, "there are votes"
    beside = [_by_model(figures.judged.standings) for figures in judges.values()]
    heads = [
        localized(f"head-{key}", language) for key in ("model", "counts", "points", "people-elo")
    ]
    heads += [localized("head-judge-elo", language, judge=judge) for judge in judges]
    yield Heading(3, localized("people-standings", language))
    if judges:  # else it is the title of the part
        yield Paragraph(standings_title(first.human_arena, language))
    yield text_table(
        tuple(heads),
        tuple(
            (
                one.model,
                _tally_text(one),
                str(one.tally.score),
                _elo(one),
                *(_elo(standings.get(one.model)) for standings in beside),
            )
            for one in first.human_arena.standings
        ),
    )
    about = [localized("basic-about", language), localized("scores-about", language)]
    yield Paragraph(join_sentences(about, language))


def _by_model(standings: Sequence[Standing]) -> dict[str, Standing]:
    return {standing.model: standing for standing in standings}


def _tally_text(standing: Standing) -> str:
    tally = standing.tally
    return " / ".join(map(count, (tally.win, tally.tie, tally.lose, tally.not_bad)))


def _elo(standing: Standing | None) -> str:
    if standing is None:
        return NONE
    if standing.elo_low is None or standing.elo_high is None:
        return fixed(standing.elo, 0)
    ends = f"{fixed(standing.elo_low, 0)}–{fixed(standing.elo_high, 0)}"
    return f"{fixed(standing.elo, 0)} ({ends})"


# ---------------------------------------------------------------- agreement


def _agreement(
    first: PeopleFigures, judges: Mapping[str, PeopleFigures], language: Language
) -> Iterator[Block]:
    rated = [*_with_judges(judges, language), *_inter_annotator(first, language)]
    if not rated:
        return
    heads = (localized(f"head-{key}", language) for key in ("raters", "same", "kappa", "shared"))
    rows = ((pair, _share(one.raw), kappa(one), count(one.n)) for pair, one in rated[:_LISTED])
    yield Heading(3, localized("people-agreement", language))
    yield text_table(tuple(heads), tuple(rows))
    if len(rated) > _LISTED:
        yield Paragraph(localized("people-more-raters", language, k=count(len(rated) - _LISTED)))
    yield Paragraph(localized("people-kappa", language))


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


def _prediction_powered(judges: Mapping[str, PeopleFigures], language: Language) -> Iterator[Block]:
    voted = {
        judge: rates
        for judge, figures in judges.items()
        if (
            rates := {pair: rate for pair, rate in figures.prediction_powered.items() if rate.human}
        )
    }
    if not voted:
        return
    yield Heading(3, localized("people-powered", language))
    for judge, rates in voted.items():
        n = sum(rate.human.n for rate in rates.values() if rate.human)
        fields = {"n": count(n), "total": count(sum(rate.judge.n for rate in rates.values()))}
        yield Paragraph(localized("people-powered-is", language, judge=judge, **fields))
        yield _rates(rates, language)
    yield Paragraph(localized("people-powered-about", language))


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


def _disagreements(
    first: PeopleFigures, judges: Mapping[str, PeopleFigures], language: Language
) -> Iterator[Block]:
    """Beside the panel where there is one: its judges' own disagreements are in the tables."""
    judge, figures = next(iter(judges.items()), ("", first))
    # Those with most votes first, else as they were voted on.
    ordered = sorted(figures.disagreements, key=lambda one: -len(one.people))
    if not ordered:
        return
    fields = {"judge": judge, "n": count(len(ordered))} if judge else {"n": count(len(ordered))}
    yield Heading(3, localized("people-parting", language))
    yield Paragraph(
        localized("people-parting-of" if judge else "people-parting-alone", language, **fields)
    )
    heads = [localized(f"head-{key}", language) for key in ("question", "pair", "people")]
    rows = [_disagreement_row(one, figures, language) for one in ordered[:_LISTED]]
    if judge:
        heads.append(localized("head-judge", language))
        rows = [
            (*row, _outcome_text(one.duel, one.judge, language))
            for row, one in zip(rows, ordered, strict=False)
        ]
    yield text_table(tuple(heads), tuple(rows))
    if len(ordered) > _LISTED:
        yield Paragraph(localized("people-parting-more", language, shown=_LISTED))


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
