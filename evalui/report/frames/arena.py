"""The frames of judges and of people as judges: standings, ratings, win rates, single verdicts.

Counts and ratings are of one arena: a dataset as one judge, a panel or people saw it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import get_args

from evalui.report.frames.base import (
    SEPARATOR,
    Columns,
    FrameColumn,
    Row,
    interval,
    percent,
    ranged,
)
from evalui.report.frames.choices import DATASET, ERROR, MODEL, SIGNATURE, STATE
from evalui.scoring.arena.agreement import Kappa
from evalui.scoring.arena.battles import Battle, BattleTally
from evalui.scoring.arena.battles import win_matrix as count_wins
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.figures import PEOPLE, Arena, Standing
from evalui.scoring.arena.people import JudgedDuel, judged_duels, outcome_for
from evalui.scoring.arena.question_groups import Grouping, battles_by_group
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import WINNERS, Verdict

# What a judge does, each a share of what it could have done it to, by the name of its field.
RELIABILITY_SHARES: Mapping[str, str] = {
    "unreadable": "unreadable",
    "changed_with_order": "flip_rate",
    "first": "first_wins",
    "longer": "longer_wins",
    "lists": "more_items_wins",
}
_SHARES = ("win", "tie", "lose", "not_bad")

JUDGE = FrameColumn("category", "who judged: a model, panel or people")
ARENA: Columns = {"dataset": DATASET, "judge": JUDGE}
_TALLY: Columns = {
    "n": FrameColumn("Int64", "battles"),
    "win": FrameColumn("Int64", "battles won"),
    "tie": FrameColumn("Int64", "battles without a winner"),
    "lose": FrameColumn("Int64", "battles lost"),
    "both": FrameColumn("Int64", "ties of two good answers"),
    "neither": FrameColumn("Int64", "ties of two bad answers"),
    "contradicted": FrameColumn("Int64", "ties of two orders that contradict each other"),
    "not_bad": FrameColumn("Int64", "battles in which its answer was found good"),
    **{
        f"{name}_percent": FrameColumn("float64", f"the count of {name} as a share")
        for name in _SHARES
    },
    "score": FrameColumn("Int64", "OpenCompass's score"),
    "win_rate": FrameColumn("float64", "wins and half of the ties"),
}
STANDINGS: Columns = {
    "dataset": DATASET,
    "judge": JUDGE,
    "place": FrameColumn("Int64", "place in the table, from 1"),
    "model": MODEL,
    **_TALLY,
    # As it counts them: without pairs whose two orders contradict each other.
    "opencompass_n": FrameColumn("Int64", "battles as OpenCompass counts them"),
    **{
        f"opencompass_{name}_percent": FrameColumn("float64", f"share of {name} among them")
        for name in _SHARES
    },
    "opencompass_score": FrameColumn("Int64", "its score of them"),
    "elo": FrameColumn("float64", "median ELO over seeded orders of the battles, start 1000"),
    "elo_low": FrameColumn("float64", "lower end of its 95 % interval"),
    "elo_high": FrameColumn("float64", "upper end of its 95 % interval"),
    "opencompass_elo_mean": FrameColumn(
        "float64",
        "OpenCompass's elo_score [Mean]; missing of people and open runs, and where it is not kept",
    ),
    "opencompass_elo_std": FrameColumn(
        "float64", "its [Std]: noise of the random orders, no error of sampling"
    ),
    **ranged("bradley_terry", "Bradley-Terry rating on the scale of ELO"),
    **ranged("style_controlled", "the same with length and style held equal"),
    "rank_low": FrameColumn("Int64", "best rank of its 95 % interval"),
    "rank_high": FrameColumn("Int64", "worst rank of it"),
    "with_leader": FrameColumn("boolean", "whether it does not differ from the leader"),
    "signature": SIGNATURE,
}
DIMENSIONS: Columns = {
    **ARENA,
    "kind": FrameColumn("category", "overall, language or capability"),
    "dimension": FrameColumn("category", "which of them"),
    "model": MODEL,
    **_TALLY,
    "signature": SIGNATURE,
}
WIN_MATRIX: Columns = {
    **ARENA,
    "model": MODEL,
    "against": FrameColumn("category", "the other model"),
    "battles": FrameColumn("Int64", "battles of the two"),
    "wins": FrameColumn("Int64", "battles that the model won"),
    "ties": FrameColumn("Int64", "battles without a winner"),
    **ranged("share_of_points", "wins and half of the ties of the model"),
    "questions": FrameColumn("Int64", "questions that the share rests on"),
    "signature": SIGNATURE,
}
WIN_RATES: Columns = {
    **ARENA,
    "kind": FrameColumn("category", "overall, language or capability"),
    "dimension": FrameColumn("category", "which of them"),
    "questions": FrameColumn("Int64", "its questions that were judged"),
    "model": MODEL,
    "against": FrameColumn("category", "the other model"),
    "battles": FrameColumn("Int64", "battles of the two about these questions"),
    "wins": FrameColumn("Int64", "battles that the model won"),
    "win_percent": FrameColumn("float64", "the same as a share, ties count as none"),
    "signature": SIGNATURE,
}
RELIABILITY: Columns = {
    **ARENA,
    "judges": FrameColumn("category", "the judges of a panel, the people, or the judge"),
    "output": FrameColumn("category", "what verdicts were given in: text, json, probabilities"),
    "orders": FrameColumn("category", "in which orders the answers were shown"),
    "conflict": FrameColumn("category", "what counts where the two orders differ"),
    "strong": FrameColumn("Int64", "battles that a strong verdict counts for"),
    "state": STATE,
    "questions": FrameColumn("Int64", "questions with a readable verdict"),
    "pairs": FrameColumn("Int64", "pairs of models with one"),
    "showings": FrameColumn("Int64", "times that two answers were shown"),
    "planned": FrameColumn("Int64", "times planned"),
    "battles": FrameColumn("Int64", "battles that count"),
    "presentations": FrameColumn("Int64", "showings that were judged"),
    "meaningful": FrameColumn("Int64", "of these, of two different answers"),
    "extracted": FrameColumn("Int64", "of these, with a readable verdict"),
    "extraction_rate": FrameColumn("float64", "the same as a share of the meaningful ones"),
    "consistent": FrameColumn("Int64", "of these, not contradicted by the other order"),
    "consistent_rate": FrameColumn("float64", "the same as a share of the readable ones"),
    "ordered_by": FrameColumn("category", "what the standings go by: bradley_terry or elo"),
    "finite": FrameColumn("boolean", "whether the battles put all models on one finite scale"),
    "components": FrameColumn("str", "groups within which results lead from each to each"),
    "islands": FrameColumn("str", "groups that never met another one"),
    "unbeaten": FrameColumn("str", "models that never lost a point"),
    "winless": FrameColumn("str", "models that never won one"),
    "verdicts": FrameColumn("Int64", "verdicts of the judge, readable or not"),
    "strangers": FrameColumn(
        "Int64", "votes of people on models or questions that the run does not have"
    ),
    "injected": FrameColumn("Int64", "answers that speak to the judge"),
    "unreferenced": FrameColumn("Int64", "answers without a reference, which are not judged"),
    "retried": FrameColumn("Int64", "prompted twice"),
    "recovered": FrameColumn("Int64", "of these, readable then"),
    "as_text": FrameColumn("Int64", "read off a text in place of the form"),
    **{
        name: column
        for share, meaning in (
            ("unreadable", "share of verdicts that cannot be read"),
            ("changed_with_order", "share of pairs whose two orders differ"),
            ("first", "share of decided verdicts for the first answer"),
            ("longer", "share of decided verdicts for the longer answer"),
            ("lists", "share of decided verdicts for the answer with more lists"),
        )
        for name, column in (
            *ranged(share, meaning).items(),
            (f"{share}_n", FrameColumn("Int64", "verdicts or pairs it rests on")),
        )
    },
    **ranged("agreement", "share of pairs on which judges, or people, agree"),
    **ranged("kappa", "the same beyond chance, no share"),
    "agreement_n": FrameColumn("Int64", "pairs that two or more of them judged"),
    **ranged("lead", "how far the first is ahead of the second, in points of the rating"),
    "error": ERROR,
    "signature": SIGNATURE,
}
DUELS: Columns = {
    **ARENA,
    "id": FrameColumn("str", "id of the question"),
    "question": FrameColumn("str", "the question"),
    "language": FrameColumn("category", "its language"),
    "capability": FrameColumn("category", "its capability"),
    "references": FrameColumn("str", "the reference texts, an empty line between them"),
    "model_a": FrameColumn("category", "a model"),
    "model_b": FrameColumn("category", "another model"),
    "a_first": FrameColumn("category", "winner where the answer of model_a was shown first"),
    "b_first": FrameColumn("category", "winner where that of model_b was"),
    "counts_as": FrameColumn("category", "what counts of both; missing where nothing does"),
    "flipped": FrameColumn("boolean", "whether the two orders differ"),
    "answer_a": FrameColumn("str", "the answer of model_a"),
    "answer_b": FrameColumn("str", "the answer of model_b"),
    "signature": SIGNATURE,
}
SIDES: Columns = {
    "model_a": FrameColumn("category", "whose answer was shown first"),
    "model_b": FrameColumn("category", "whose answer was shown second"),
    "winner": FrameColumn("category", "model_a, model_b, tie or neither; missing if unreadable"),
}
VERDICTS: Columns = {
    "dataset": DATASET,
    "question": FrameColumn("str", "id of the question"),
    **SIDES,
    "judge": FrameColumn("category", "the judge"),
    "rule": FrameColumn("category", "the rule that read the verdict"),
    "strength": FrameColumn("Int64", "3 for much better, where the form has it"),
    "reply": FrameColumn("str", "what the judge wrote"),
    "injected": FrameColumn("boolean", "whether an answer spoke to the judge"),
    "retried": FrameColumn("boolean", "whether the judge was prompted twice"),
    "probabilities": FrameColumn("object", "a dict from winner to probability, where there is one"),
    "signature": SIGNATURE,
}


def standings(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per model of each arena, the best first: counts, Elo, ratings, ranks."""
    for arena in arenas:
        for place, standing in enumerate(arena.standings, start=1):
            yield {
                **_arena_names(arena),
                "place": place,
                "model": standing.model,
                **_tally(standing.tally),
                **_opencompass(standing),
                "elo": standing.elo,
                "elo_low": standing.elo_low,
                "elo_high": standing.elo_high,
                **rating("bradley_terry", standing.rating),
                **rating("style_controlled", standing.styled),
                "rank_low": standing.rank_low,
                "rank_high": standing.rank_high,
                "with_leader": standing.with_leader,
                "signature": arena.signature,
            }


def dimensions(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per dimension and model: overall, by language, by capability."""
    for arena in arenas:
        for dimension in arena.dimensions:
            for model, tally in dimension.tallies.items():
                if tally:
                    yield {
                        **_arena_names(arena),
                        "kind": dimension.kind,
                        "dimension": dimension.name,
                        "model": model,
                        **_tally(tally),
                        "signature": arena.signature,
                    }


def win_matrix(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per ordered pair of models that met: counts, and the share of points of the first."""
    for arena in arenas:
        matrix = arena.matrix
        for (model, against), share in arena.shares.items() if matrix else ():
            assert matrix is not None, "it has the shares"
            row, column = matrix.models.index(model), matrix.models.index(against)
            yield {
                **_arena_names(arena),
                "model": model,
                "against": against,
                "battles": matrix.battles[row][column],
                "wins": matrix.wins[row][column],
                "ties": matrix.ties[row][column],
                **interval("share_of_points", share),
                "questions": share.n,
                "signature": arena.signature,
            }


def win_rates(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per dimension and ordered pair of models that met there, the best models first."""
    for arena in arenas:
        models = [standing.model for standing in arena.standings]
        whole = [("overall", "overall", arena.battles)] if arena.battles else []
        dimensions: list[tuple[str, str, Sequence[Battle]]] = whole
        for kind in get_args(Grouping):
            dimensions += [(kind, *group) for group in battles_by_group(arena, kind).items()]
        for kind, dimension, fought in dimensions:
            met, questions = count_wins(fought), len({battle.question for battle in fought})
            for row, column in permutations([name for name in models if name in met.models], 2):
                at = met.models.index(row), met.models.index(column)
                if (share := met.win_share(*at)) is not None:
                    yield {
                        **_arena_names(arena),
                        "kind": kind,
                        "dimension": dimension,
                        "questions": questions,
                        "model": row,
                        "against": column,
                        "battles": met.battles[at[0]][at[1]],
                        "wins": met.wins[at[0]][at[1]],
                        "win_percent": percent(share),
                        "signature": arena.signature,
                    }


def reliability(arenas: Iterable[Arena], strangers: Mapping[str, int]) -> Iterator[Row]:
    """A row per arena: what was judged, how the judge behaved, the leader's lead in points.

    `strangers` counts the votes of people that make no figure, by dataset.
    """
    for arena in arenas:
        counted, connected, agreed = arena.comparisons, arena.connection, arena.agreement
        behaved = arena.reliability
        yield {
            **_arena_names(arena),
            "judges": ", ".join(arena.judges),
            "output": arena.output,
            "orders": arena.orders,
            "conflict": arena.conflict,
            "strong": arena.strong,
            "state": arena.state,
            "questions": arena.questions,
            "pairs": arena.pairs,
            "showings": arena.done,
            "planned": arena.planned,
            "battles": len(arena.battles),
            "presentations": counted and counted.total,
            "meaningful": counted and counted.meaningful,
            "extracted": counted and counted.extracted,
            "extraction_rate": percent(counted and counted.extraction_rate),
            "consistent": counted and counted.consistent,
            "consistent_rate": percent(counted and counted.consistent_rate),
            "ordered_by": arena.headline,
            "finite": connected and connected.has_finite_ratings,
            "components": connected and "; ".join(map(", ".join, connected.components)),
            "islands": connected and "; ".join(map(", ".join, connected.disconnected_groups)),
            "unbeaten": connected and ", ".join(connected.unbeaten),
            "winless": connected and ", ".join(connected.winless),
            "verdicts": behaved.n,
            "strangers": strangers.get(arena.dataset) if arena.by == PEOPLE else None,
            "injected": behaved.injected,
            "unreferenced": behaved.unreferenced,
            "retried": behaved.retried,
            "recovered": behaved.recovered,
            "as_text": behaved.as_text,
            **{
                name: value
                for share, field in RELIABILITY_SHARES.items()
                for of in (getattr(behaved, field),)
                for name, value in (*interval(share, of).items(), (f"{share}_n", of.n if of else 0))
            },
            **interval("agreement", agreed and agreed.raw),
            **rating("kappa", agreed and agreed.kappa),
            "agreement_n": agreed and agreed.n,
            **dict(zip(("lead", "lead_low", "lead_high"), arena.lead or (), strict=False)),
            "error": arena.error,
            "signature": arena.signature,
        }


def duels(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per question and pair: both answers, what each order brought, and what counts."""
    for arena in arenas:
        answers = {one.name: one.answers for one in arena.contestants}
        for item in judged_duels(arena):
            sample = arena.samples[item.duel.sample_id]
            first, second = item.duel.model_a, item.duel.model_b
            yield {
                **_arena_names(arena),
                "id": sample.id,
                "question": sample.question,
                "language": sample.metadata.get("language", ""),
                "capability": sample.metadata.get("capability", ""),
                "references": SEPARATOR.join(sample.references),
                "model_a": first,
                "model_b": second,
                "a_first": _winner(item, item.original_order),
                "b_first": _winner(item, item.swapped_order),
                "counts_as": item.outcome and WINNERS[item.outcome],
                "flipped": item.flipped,
                "answer_a": SEPARATOR.join(answers[first].get(sample.id, ())),
                "answer_b": SEPARATOR.join(answers[second].get(sample.id, ())),
                "signature": arena.signature,
            }


def verdicts(arenas: Iterable[Arena]) -> Iterator[Row]:
    """A row per showing with the judge's words; the panel's verdicts are made of its judges'."""
    for arena in arenas:
        for verdict in arena.verdicts if arena.by != PANEL_NAME else ():
            yield {
                "model_a": verdict.duel.model_a,
                "model_b": verdict.duel.model_b,
                "winner": verdict.outcome and WINNERS[verdict.outcome],
                "question": verdict.duel.sample_id,
                "dataset": arena.dataset,
                "judge": arena.by,
                "rule": verdict.rule,
                "strength": verdict.strength,
                "reply": verdict.reply,
                "injected": verdict.injected,
                "retried": verdict.retried,
                "probabilities": dict(zip(WINNERS.values(), verdict.probabilities, strict=True))
                if verdict.probabilities
                else None,
                "signature": arena.signature,
            }


def rating(name: str, of: Rating | Kappa | None) -> Row:
    """The columns of what is no share, and of which an end may be unknown."""
    return {
        name: of and of.value,
        f"{name}_low": of and of.low,
        f"{name}_high": of and of.high,
    }


def _arena_names(arena: Arena) -> Row:
    return {"dataset": arena.dataset, "judge": arena.by}


def _tally(tally: BattleTally) -> Row:
    return {
        "n": tally.n,
        "win": tally.win,
        "tie": tally.tie,
        "lose": tally.lose,
        "both": tally.both_good,
        "neither": tally.both_bad,
        "contradicted": tally.contradicted,
        "not_bad": tally.not_bad,
        **_shares(tally),
        "score": tally.score,
        "win_rate": percent(tally.win_rate),
    }


def _shares(tally: BattleTally) -> Row:
    counts: Mapping[str, int | None] = {name: getattr(tally, name) for name in _SHARES}
    return {
        f"{name}_percent": None if count is None else 100 * count / tally.n
        for name, count in counts.items()
    }


def _opencompass(standing: Standing) -> Row:
    own, elo = standing.opencompass, standing.opencompass_elo
    counted = {"n": own.n, **_shares(own), "score": own.score} if own else {}
    return {f"opencompass_{name}": value for name, value in counted.items()} | {
        "opencompass_elo_mean": elo and elo.mean,
        "opencompass_elo_std": elo and elo.std,
    }


def _winner(item: JudgedDuel, verdict: Verdict | None) -> str | None:
    outcome = outcome_for(item.duel, verdict) if verdict else None
    return outcome and WINNERS[outcome]
