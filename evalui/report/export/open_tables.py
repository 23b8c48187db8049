"""Tidy tables of open questions and of people's votes: one row is one thing, shares in per cent.

The names of tables and columns are technical and stable, as those of `tables`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from evalui.report.export.choice_names import CELL
from evalui.report.export.encoder import (
    Fields,
    Property,
    bounds,
    interval,
    length,
    pick,
    same,
    within,
)
from evalui.report.export.json import ENCODER
from evalui.report.export.metric_fields import text_columns
from evalui.report.export.open_names import (
    ANSWER_COUNTS,
    ANSWER_PAIR,
    DUEL,
    POWERED_COUNTS,
    RELIABILITY_COLUMNS,
    RELIABILITY_COUNTS,
    TALLY_COUNTS,
    TALLY_POINTS,
    TALLY_SHARES,
    VOTER_TEST,
    voted_rates,
)
from evalui.report.export.tables import table_of
from evalui.report.frames.base import FrameParts
from evalui.report.frames.trials import SEPARATOR
from evalui.report.write.json import JsonObject
from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import (
    JudgedDuel,
    PeopleFigures,
    judged_duels,
    one_per_dataset,
    outcome_for,
)
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.pairs import AnswerPair
from evalui.types import WINNERS, Verdict

_MAJORITY = "majority"  # of the people, as a rater


def _lead(place: int) -> Property:
    return Property("lead", lambda lead: lead[place])


_ANSWER: Fields = {**within("cell", CELL), "state": "state", **ANSWER_COUNTS}
_CORPUS: Fields = {
    f"corpus_{name}": name for name in ("bleu", "bleu_signature", "chrf", "chrf_signature")
}
_ANSWER_PAIR: Fields = {
    **ANSWER_PAIR,
    **bounds("difference", ""),
    **same("p", "n", "signature"),
}
_TALLY: Fields = {
    **TALLY_COUNTS,
    **{f"{name}_percent": share for name, share in TALLY_SHARES.items()},
    **TALLY_POINTS,
}
_OPENCOMPASS: Fields = {
    "n": "n",
    **{f"{name}_percent": share for name, share in TALLY_SHARES.items()},
    "score": "score",
}
_STANDING: Fields = {
    "model": "model",
    **within("tally", _TALLY),
    # As it counts them: without pairs whose two orders contradict each other.
    **{f"opencompass_{name}": at for name, at in within("opencompass", _OPENCOMPASS).items()},
    **same("elo", "elo_low", "elo_high"),
    **within("opencompass_elo", {f"opencompass_elo_{name}": name for name in ("mean", "std")}),
    **interval("bradley_terry", "rating", Property),
    **interval("style_controlled", "styled", Property),
    **same("rank_low", "rank_high", "with_leader"),
}
_AGREEMENT: Fields = {**interval("agreement", "raw"), **interval("kappa", "kappa", Property)}
_RELIABILITY: Fields = {
    "judges": Property("judges", ", ".join),
    **same("output", "orders", "conflict", "strong", "state", "questions", "pairs"),
    "showings": "done",
    "planned": "planned",
    "battles": length("battles"),
    "meaningful": "comparisons.meaningful",
    "extracted": "comparisons.extracted",
    "consistent": "comparisons.consistent",
    **within("reliability", RELIABILITY_COUNTS),
    **within("reliability", RELIABILITY_COLUMNS),
    **within("agreement", _AGREEMENT),
    **{f"lead{end}": _lead(place) for place, end in enumerate(("", "_low", "_high"))},
    "error": "error",
}
_VERDICT = ENCODER.reader(
    {
        "id": "duel.sample_id",
        **pick(DUEL, "model_a", "model_b", "winner"),
        **same("strength", "rule", "injected", "retried", "reply"),
    }
)
_VOTER: Fields = {"shared": "n", **interval("as_most_others", "agreement"), **VOTER_TEST}
_POWERED: Fields = {
    **POWERED_COUNTS,
    **interval("judge_only", "judge"),
    **interval("people_only", "human"),
    **interval("powered", "combined"),
    "weight": "lambda_weight",
}


def open_tables(
    answers: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    arenas: Sequence[Arena],
    *,
    people: Sequence[Arena] = (),
) -> dict[str, FrameParts]:
    """Every table of the figures of open questions by name, in the order of a reader's interest.

    `people` are the arenas of people's votes: their figures stand below those of the judges.
    """
    every_arena = (*arenas, *people)
    return {
        "standings": standings(every_arena),
        "dimensions": dimensions(every_arena),
        "win_matrix": win_matrix(every_arena),
        "reliability": reliability(every_arena),
        "answers": answers_table(answers),
        "answer_pairs": answer_pairs(pairs),
        "duels": duels(arenas),
        "verdicts": verdicts(arenas),
    }


def people_tables(people_figures: Sequence[PeopleFigures]) -> dict[str, FrameParts]:
    """Every table of people's votes by name."""
    return {
        "people": voters_table(people_figures),
        "agreement": agreement_table(people_figures),
        "powered": prediction_powered(people_figures),
        "disagreements": disagreements_table(people_figures),
    }


def answers_table(summaries: Sequence[AnswerSummary]) -> FrameParts:
    """A row per cell of answers: counts, the means of the text figures, corpus figures, marks."""
    return table_of(_answers_row(summary) for summary in summaries)


def answer_pairs(pairs: Sequence[AnswerPair]) -> FrameParts:
    """A row per two models and figure: the difference in per cent points, p adjusted (Holm)."""
    return table_of(ENCODER.fields(pair, _ANSWER_PAIR) for pair in pairs)


def standings(arenas: Sequence[Arena]) -> FrameParts:
    """A row per model of each arena, the best first: counts, Elo, ratings, ranks."""
    return _by_arena(
        arenas,
        lambda arena: (
            {"place": place} | ENCODER.fields(standing, _STANDING)
            for place, standing in enumerate(arena.standings, start=1)
        ),
    )


def dimensions(arenas: Sequence[Arena]) -> FrameParts:
    """A row per dimension and model: overall, by language, by capability."""
    return _by_arena(
        arenas,
        lambda arena: (
            {"kind": dimension.kind, "dimension": dimension.name, "model": model}
            | ENCODER.fields(tally, _TALLY)
            for dimension in arena.dimensions
            for model, tally in dimension.tallies.items()
            if tally
        ),
    )


def win_matrix(arenas: Sequence[Arena]) -> FrameParts:
    """A row per ordered pair of models that met: counts, and the share of points of the first."""
    return _by_arena(arenas, _matrix_rows)


def reliability(arenas: Sequence[Arena]) -> FrameParts:
    """A row per arena: what was judged, how the judge behaved, the leader's lead in points."""
    return _by_arena(arenas, lambda arena: [ENCODER.fields(arena, _RELIABILITY)])


def duels(arenas: Sequence[Arena]) -> FrameParts:
    """A row per question and pair: both answers, what each order brought, and what counts."""
    return _by_arena(arenas, _duel_rows)


def verdicts(arenas: Sequence[Arena]) -> FrameParts:
    """A row per showing with the judge's words; the winner of an unreadable one is empty."""
    return _by_arena(
        [arena for arena in arenas if arena.by != PANEL_NAME],
        lambda arena: map(_VERDICT, arena.verdicts),
    )


def voters_table(people_figures: Sequence[PeopleFigures]) -> FrameParts:
    """A row per person and dataset: votes, how often they agree with most others, outliers."""
    return table_of(
        {"dataset": figures.judged.dataset, "person": voter.name, "votes": votes[voter.name]}
        | ENCODER.fields(voter, _VOTER)
        | {"signature": _signature(figures)}
        for figures in one_per_dataset(people_figures)
        for votes in [_votes_cast(figures)]
        for voter in figures.voters
    )


def agreement_table(people_figures: Sequence[PeopleFigures]) -> FrameParts:
    """A row per two raters: each judge with most people, with each person, and two people."""
    beside = (row for figures in people_figures for row in _with_judge(figures))
    between = (
        _agreement_row(figures, raters, agreement)
        for figures in one_per_dataset(people_figures)
        for raters, agreement in figures.between_people.items()
    )
    return table_of([*beside, *between])


def prediction_powered(people_figures: Sequence[PeopleFigures]) -> FrameParts:
    """A row per judge and pair of models with votes: win rates of the first three times."""
    return table_of(
        _judge_columns(figures)
        | {"model": first, "against": second}
        | ENCODER.fields(rate, _POWERED)
        | {"signature": figures.judged.signature}
        for figures in people_figures
        for (first, second), rate in voted_rates(figures).items()
    )


def disagreements_table(people_figures: Sequence[PeopleFigures]) -> FrameParts:
    """A row per vote on a pair of answers on which people and judge, or people, disagree."""
    return table_of(
        _judge_columns(figures)
        | {"id": one.duel.sample_id}
        | {"question": figures.judged.samples[one.duel.sample_id].question}
        | ENCODER.fields(one.duel, same("model_a", "model_b"))
        | {"judge_says": one.judge and WINNERS[one.judge]}
        | {"person": person, "person_says": WINNERS[outcome]}
        | {"signature": figures.judged.signature}
        for figures in people_figures
        for one in figures.disagreements
        for person, outcome in one.people.items()
    )


def _by_arena(arenas: Sequence[Arena], rows: Callable[[Arena], Iterable[JsonObject]]) -> FrameParts:
    """The rows of each arena between its dataset and judge and its signature."""
    return table_of(
        {"dataset": arena.dataset, "judge": arena.by, **row, "signature": arena.signature}
        for arena in arenas
        for row in rows(arena)
    )


def _answers_row(summary: AnswerSummary) -> JsonObject:
    row = ENCODER.fields(summary, _ANSWER)
    row |= text_columns(summary.figures)
    if summary.corpus:
        row |= ENCODER.fields(summary.corpus, _CORPUS)
    for rated in summary.ratings:
        name = f"{rated.scale}_by_{rated.judge}"
        row |= ENCODER.fields(rated, _rating_columns(name))
        row |= {f"{name}_{each}": mean.value for each, mean in rated.criteria.items()}
    return row | {"error": summary.error, "signature": summary.cell.signature}


def _rating_columns(name: str) -> Fields:
    return {
        name: "mean.value",
        f"{name}_n": "n",
        **bounds(name, "mean", Property),
        f"{name}_unscored": "unscored",
        f"{name}_unreferenced": "unreferenced",
        f"{name}_retried": "retried",
        f"{name}_recovered": "recovered",
    }


def _matrix_rows(arena: Arena) -> Iterator[JsonObject]:
    matrix = arena.matrix
    if matrix is None:
        return
    for (model, against), share in arena.shares.items():
        row, column = matrix.models.index(model), matrix.models.index(against)
        counts = {"battles": matrix.battles, "wins": matrix.wins, "ties": matrix.ties}
        yield (
            {"model": model, "against": against}
            | {name: rows[row][column] for name, rows in counts.items()}
            | ENCODER.fields(share, interval("share_of_points", ""))
        )


def _duel_rows(arena: Arena) -> Iterator[JsonObject]:
    answers = {one.name: one.answers for one in arena.contestants}
    for item in judged_duels(arena):
        sample, first, second = (
            arena.samples[item.duel.sample_id],
            item.duel.model_a,
            item.duel.model_b,
        )
        yield {
            "id": sample.id,
            "question": sample.question,
            **{name: sample.metadata.get(name, "") for name in ("language", "capability")},
            "references": SEPARATOR.join(sample.references),
            "model_a": first,
            "model_b": second,
            "a_first": _winner(item, item.original_order),
            "b_first": _winner(item, item.swapped_order),
            "counts_as": item.outcome and WINNERS[item.outcome],
            "flipped": item.flipped,
            "answer_a": SEPARATOR.join(answers[first].get(sample.id, ())),
            "answer_b": SEPARATOR.join(answers[second].get(sample.id, ())),
        }


def _winner(item: JudgedDuel, verdict: Verdict | None) -> str | None:
    outcome = outcome_for(item.duel, verdict) if verdict else None
    return outcome and WINNERS[outcome]


def _votes_cast(figures: PeopleFigures) -> Counter[str]:
    """How many votes each person cast."""
    human = figures.human_arena
    return Counter(vote.rater for vote in human.verdicts) if human else Counter()


def _judge_columns(figures: PeopleFigures) -> JsonObject:
    return {"dataset": figures.judged.dataset, "judge": figures.judged.by or None}


def _with_judge(figures: PeopleFigures) -> Iterator[JsonObject]:
    raters = {_MAJORITY: figures.agreement} | dict(figures.by_person)
    for rater, agreement in raters.items():
        if agreement:
            yield _agreement_row(figures, (figures.judged.by, rater), agreement)


def _agreement_row(
    figures: PeopleFigures, raters: tuple[str, str], agreement: RaterAgreement
) -> JsonObject:
    return (
        {"dataset": figures.judged.dataset, "first": raters[0], "second": raters[1]}
        | {"n": agreement.n}
        | ENCODER.fields(agreement, _AGREEMENT)
        | {"signature": _signature(figures)}
    )


def _signature(figures: PeopleFigures) -> str:
    return figures.human_arena.signature if figures.human_arena else figures.judged.signature
