"""Answers, arenas, ratings and duels as plain JSON objects, shares in per cent."""

from collections.abc import Iterator, Mapping, Sequence

from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.open_answers.figures import AnswerPair, AnswerSummary, JudgeRating
from evalui.report.export.json import (
    JsonObject,
    cell_identity,
    metric_ranges,
    metric_values,
    percent,
    percent_range,
)
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.battles import BattleTally, WinMatrix
from evalui.scoring.arena.bradley_terry import Connectivity, Rating
from evalui.scoring.arena.categories import CategoryTable, JudgementCounts
from evalui.scoring.arena.verdicts import JudgeReliability
from evalui.scoring.metrics import metrics_in
from evalui.types import CellResult, Interval, Outcome, Trial, Verdict

# A winner as battles name it, see `report.battles`.
WINNERS: Mapping[Outcome, str] = {
    "a": "model_a",
    "b": "model_b",
    "tie": "tie",
    "neither": "neither",
}


def answers_object(summary: AnswerSummary) -> JsonObject:
    """A cell of answers with all its figures; a judge's marks stay on its own scale."""
    corpus, figures = summary.corpus, summary.figures
    compared = [one for one in metrics_in("json", "texts") if figures.get(one.name) is not None]
    return cell_identity(summary.cell) | {
        "signature": summary.cell.signature,
        "state": summary.state,
        "error": summary.error,
        "figures": {
            "questions": summary.questions,
            "n": summary.n,
            "compared": summary.compared,
            "empty": summary.empty,
            "cut": summary.truncated,
            "median_length": summary.length,
            "means": metric_values(compared, figures),
            "ranges": metric_ranges(compared, figures),
            "corpus": {
                "bleu": corpus.bleu,
                "bleu_signature": corpus.bleu_signature,
                "chrf": corpus.chrf,
                "chrf_signature": corpus.chrf_signature,
            }
            if corpus
            else None,
            "rated": [_rating_object(one) for one in summary.ratings],
        },
    }


def pair_object(pair: AnswerPair) -> JsonObject:
    """Two models compared in one text figure."""
    return {
        "dataset": pair.dataset,
        "first": pair.first,
        "second": pair.second,
        "figure": pair.figure,
        "difference": 100 * pair.value,
        "range": [100 * pair.low, 100 * pair.high],
        "p": pair.p,
        "n": pair.n,
    }


def arena_object(arena: Arena) -> JsonObject:
    """An arena with all its figures, but neither its verdicts nor its texts."""
    return {
        "dataset": arena.dataset,
        "by": arena.by,
        "judges": list(arena.judges),
        "orders": arena.orders,
        "conflict": arena.conflict,
        "questions": arena.questions,
        "pairs": arena.pairs,
        "done": arena.done,
        "planned": arena.planned,
        "battles": len(arena.battles),
        "comparisons": _comparisons(arena.comparisons) if arena.comparisons else None,
        "ordered_by": arena.headline,
        "standings": [_standing(standing) for standing in arena.standings],
        "lead": list(arena.lead) if arena.lead else None,
        "win_matrix": matrix_object(arena.matrix) if arena.matrix else None,
        "shares": [
            {"row": row, "column": column, "share": percent(share), "range": percent_range(share)}
            for (row, column), share in arena.shares.items()
        ],
        "connection": _connection(arena.connection) if arena.connection else None,
        "dimensions": [_dimension(dimension) for dimension in arena.dimensions],
        "reliability": _reliability(arena.reliability),
        "agreement": agreement_object(arena.agreement) if arena.agreement else None,
        "state": arena.state,
        "error": arena.error,
        "signature": arena.signature,
    }


def agreement_object(agreement: RaterAgreement) -> JsonObject:
    """How far raters agree; kappa is no share and stays as it is."""
    kappa = agreement.kappa
    return {
        "n": agreement.n,
        "raw": percent(agreement.raw),
        "raw_range": percent_range(agreement.raw),
        "kappa": kappa.value if kappa else None,
        "kappa_range": [kappa.low, kappa.high] if kappa else None,
    }


def answer_objects(result: CellResult) -> Iterator[JsonObject]:
    """The answers of a cell, one object each, in the form in which answers are read again."""
    for trial in result.trials:
        sample = result.samples[trial.sample_id]
        yield {
            **cell_identity(result.cell),
            "id": trial.sample_id,
            "question": sample.question,
            "references": list(sample.references),
            "reply": trial.reply,
            "turns": list(trial.turns),
            "rule": trial.reading.rule,
            "figures": {name: values[0] for name, values in trial.scores.items()},
            "truncated": trial.truncated,
            "signature": result.cell.signature,
        }


def rating_objects(result: CellResult) -> Iterator[JsonObject]:
    """What a judge gave single answers, one object each; an unreadable mark is null."""
    for trial in result.trials:
        yield {
            "dataset": result.cell.dataset,
            "judge": result.cell.model,
            "model": result.contestants[trial.variant.permutation[0]].name,
            "question": trial.sample_id,
            **rating_value(trial),
            "rule": trial.reading.rule,
            "reply": trial.reply,
            "injected": any(trial.scores.get("injected", ())),
            "signature": result.cell.signature,
        }


def rating_value(trial: Trial) -> JsonObject:
    """The mark on its own scale: "rating" from 1 to 10, "correct" 0 or 1."""
    return {name: trial.scores.get(name, (None,))[0] for name in ("rating", "correct")}


def duel_objects(arena: Arena) -> Iterator[JsonObject]:
    """Every showing, one object each; the winner of an unreadable one is null."""
    return (_duel(arena, verdict) for verdict in arena.verdicts)


def battle_objects(arena: Arena) -> Iterator[JsonObject]:
    """The rows that count, in the form that `evalui score battles` reads."""
    for battle in arena.battles:
        yield {
            "model_a": battle.model_a,
            "model_b": battle.model_b,
            "winner": WINNERS[battle.outcome],
            "question": battle.question,
            "dataset": arena.dataset,
            "judge": arena.by,
        }


def _duel(arena: Arena, verdict: Verdict) -> JsonObject:
    return {
        "model_a": verdict.duel.model_a,
        "model_b": verdict.duel.model_b,
        "winner": None if verdict.outcome is None else WINNERS[verdict.outcome],
        "question": verdict.duel.sample_id,
        "dataset": arena.dataset,
        "judge": arena.by,
        "rule": verdict.rule,
        "strength": verdict.strength,
        "reply": verdict.reply,
        "injected": verdict.injected,
        "signature": arena.signature,
    }


def _rating_object(rated: JudgeRating) -> JsonObject:
    mean = rated.mean
    return {
        "by": rated.judge,
        "scale": rated.scale,
        "mean": mean.value if mean else None,
        "range": [mean.low, mean.high] if mean else None,
        "n": rated.n,
        "unscored": rated.unscored,
        "unreferenced": rated.unreferenced,
        "state": rated.state,
        "error": rated.error,
    }


def _standing(standing: Standing) -> JsonObject:
    return {
        "model": standing.model,
        **tally_object(standing.tally),
        "elo": standing.elo,
        "elo_range": [standing.elo_low, standing.elo_high],
        "bradley_terry": _rating(standing.rating),
        "style_controlled": _rating(standing.styled),
        "rank_range": [standing.rank_low, standing.rank_high],
        "with_leader": standing.with_leader,
    }


def tally_object(tally: BattleTally) -> JsonObject:
    """Counts of battles, then shares of them."""
    counts = {
        "win": tally.win,
        "both": tally.both_good,
        "neither": tally.both_bad,
        "lose": tally.lose,
    }
    return {
        "n": tally.n,
        **counts,
        "tie": tally.tie,
        "not_bad": tally.not_bad,
        "score": tally.score,
        "win_rate": 100 * tally.win_rate,
        "percent": {
            name: 100 * count / tally.n
            for name, count in {
                "win": tally.win,
                "tie": tally.tie,
                "lose": tally.lose,
                "not_bad": tally.not_bad,
            }.items()
        },
    }


def _rating(rating: Rating | None) -> JsonObject | None:
    if rating is None:
        return None
    return {"rating": rating.value, "low": rating.low, "high": rating.high}


def matrix_object(matrix: WinMatrix) -> JsonObject:
    """Who beat whom, a row and a column per model."""
    return {
        "models": list(matrix.models),
        "battles": [list(row) for row in matrix.battles],
        "wins": [list(row) for row in matrix.wins],
        "ties": [list(row) for row in matrix.ties],
    }


def _connection(connection: Connectivity) -> JsonObject:
    return {
        "finite": connection.has_finite_ratings,
        "components": _lists(connection.components),
        "islands": _lists(connection.disconnected_groups),
        "unbeaten": list(connection.unbeaten),
        "winless": list(connection.winless),
    }


def _lists(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(group) for group in groups]


def _dimension(dimension: CategoryTable) -> JsonObject:
    return {
        "kind": dimension.kind,
        "name": dimension.name,
        "models": {
            model: tally_object(tally) if tally else None
            for model, tally in dimension.tallies.items()
        },
    }


def _comparisons(head: JudgementCounts) -> JsonObject:
    return {
        "total": head.total,
        "extracted": head.extracted,
        "extraction_rate": _share(head.extraction_rate),
        "consistent": head.consistent,
        "consistent_rate": _share(head.consistent_rate),
    }


def _share(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _reliability(found: JudgeReliability) -> JsonObject:
    shares: Mapping[str, Interval | None] = {
        "unreadable": found.unreadable,
        "changed_with_order": found.flip_rate,
        "first": found.first_wins,
        "longer": found.longer_wins,
        "lists": found.more_items_wins,
    }
    return {
        "n": found.n,
        **{name: percent(share) for name, share in shares.items()},
        "ranges": {name: percent_range(share) for name, share in shares.items() if share},
        "counts": {name: share.n for name, share in shares.items() if share},
        "injected": found.injected,
        "unreferenced": found.unreferenced,
    }
