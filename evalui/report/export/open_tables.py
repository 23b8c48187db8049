"""Tidy frames of open questions: one row is one thing, shares in per cent, names in every language.

The names of tables and columns are technical and stable, as those of `report.tables`.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.open_answers.figures import (
    ANSWERS,
    AnswerPair,
    AnswerSummary,
    rating_cells,
)
from evalui.report.analyses.people.disagreements import JudgedDuel, judged_duels, outcome_for
from evalui.report.export.open_json import WINNERS, rating_value
from evalui.report.export.tables import (
    TableRow,
    cell_columns,
    frame,
    interval_columns,
    metric_columns,
)
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.metrics import metrics_in
from evalui.types import CellResult, Duel, Trial, Verdict

_SEPARATOR = "\n\n"  # between the turns of one answer, and between references


def open_tables(
    answers: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    arenas: Sequence[Arena],
    results: Sequence[CellResult],
    *,
    people: Sequence[Arena] = (),
) -> dict[str, pd.DataFrame]:
    """Every table of open questions by name, in the order of a reader's interest.

    `people` are the arenas of people's votes: their figures stand below those of the judges.
    """
    everybody = (*arenas, *people)
    return {
        "standings": standings(everybody),
        "dimensions": dimensions(everybody),
        "win_matrix": win_matrix(everybody),
        "reliability": reliability(everybody),
        "answers": answers_table(answers),
        "answer_pairs": answer_pairs(pairs),
        "duels": duels(arenas),
        "verdicts": verdicts(arenas),
        "ratings": ratings(results),
        "replies": replies(results),
    }


def answers_table(summaries: Sequence[AnswerSummary]) -> pd.DataFrame:
    """A row per cell of answers: counts, the means of the text figures, corpus figures, marks."""
    return frame(_answers_row(summary) for summary in summaries)


def answer_pairs(pairs: Sequence[AnswerPair]) -> pd.DataFrame:
    """A row per two models and figure: the difference in per cent points, p adjusted (Holm)."""
    return frame(
        {
            "dataset": pair.dataset,
            "first": pair.first,
            "second": pair.second,
            "figure": pair.figure,
            "difference": 100 * pair.value,
            "difference_low": 100 * pair.low,
            "difference_high": 100 * pair.high,
            "p": pair.p,
            "n": pair.n,
            "signature": pair.signature,
        }
        for pair in pairs
    )


def standings(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per model of each arena, the best first: counts, Elo, ratings, ranks."""
    return frame(
        _arena_columns(arena)
        | {"place": place}
        | _standing_row(standing)
        | _signature_column(arena)
        for arena in arenas
        for place, standing in enumerate(arena.standings, start=1)
    )


def dimensions(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per dimension and model: overall, by language, by capability."""
    return frame(
        _arena_columns(arena)
        | {"kind": dimension.kind, "dimension": dimension.name, "model": model}
        | _tally_columns(tally)
        | _signature_column(arena)
        for arena in arenas
        for dimension in arena.dimensions
        for model, tally in dimension.tallies.items()
        if tally
    )


def win_matrix(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per ordered pair of models that met: counts, and the share of points of the first."""
    return frame(row for arena in arenas for row in _matrix_rows(arena))


def reliability(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per arena: what was judged, how the judge behaved, the leader's lead in points."""
    return frame(_reliability_row(arena) for arena in arenas)


def duels(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per question and pair: both answers, what each order brought, and what counts."""
    return frame(row for arena in arenas for row in _duel_rows(arena))


def verdicts(arenas: Sequence[Arena]) -> pd.DataFrame:
    """A row per showing with the judge's words; the winner of an unreadable one is empty."""
    return frame(
        _arena_columns(arena)
        | {
            "id": verdict.duel.sample_id,
            "model_a": verdict.duel.model_a,
            "model_b": verdict.duel.model_b,
            "winner": verdict.outcome and WINNERS[verdict.outcome],
            "strength": verdict.strength,
            "rule": verdict.rule,
            "injected": verdict.injected,
            "reply": verdict.reply,
        }
        | _signature_column(arena)
        for arena in arenas
        if arena.by != PANEL_NAME
        for verdict in arena.verdicts
    )


def ratings(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per answer that a judge rated alone, the mark on the judge's own scale."""
    return frame(
        {
            "dataset": result.cell.dataset,
            "judge": result.cell.model,
            "model": result.contestants[trial.variant.permutation[0]].name,
            "id": trial.sample_id,
            "question": result.samples[trial.sample_id].question,
            **rating_value(trial),
            "rule": trial.reading.rule,
            "reply": trial.reply,
            "signature": result.cell.signature,
        }
        for result in rating_cells(results)
        for trial in result.trials
    )


def replies(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per written answer with its question, its references and its text figures."""
    return frame(
        _reply_row(result, trial)
        for result in results
        if result.cell.mode == ANSWERS
        for trial in result.trials
    )


def _reply_row(result: CellResult, trial: Trial) -> TableRow:
    sample = result.samples[trial.sample_id]
    return (
        cell_columns(result.cell)
        | {"id": sample.id, "subject": sample.subject}
        | {name: sample.metadata.get(name, "") for name in ("language", "capability")}
        | {"file": sample.metadata.get("file", ""), "line": sample.metadata.get("line", "")}
        | {"question": _SEPARATOR.join((sample.question, *sample.follow_ups))}
        | {"references": _SEPARATOR.join(sample.references)}
        | {"reply": _SEPARATOR.join(trial.turns) or trial.reply, "rule": trial.reading.rule}
        | {name: 100 * values[0] for name, values in trial.scores.items()}
        | {"truncated": trial.truncated, "signature": result.cell.signature}
    )


def _answers_row(summary: AnswerSummary) -> TableRow:
    row = cell_columns(summary.cell) | {
        "state": summary.state,
        "questions": summary.questions,
        "n": summary.n,
        "compared": summary.compared,
        "empty": summary.empty,
        "cut": summary.truncated,
        "median_length": summary.length,
    }
    compared = (
        one for one in metrics_in("files", "texts") if summary.figures.get(one.name) is not None
    )
    row |= metric_columns(compared, summary.figures)
    if corpus := summary.corpus:
        row |= {"corpus_bleu": corpus.bleu, "corpus_bleu_signature": corpus.bleu_signature}
        row |= {"corpus_chrf": corpus.chrf, "corpus_chrf_signature": corpus.chrf_signature}
    for rated in summary.ratings:
        mean = rated.mean
        name = f"{rated.scale}_by_{rated.judge}"
        row |= {name: mean and mean.value, f"{name}_n": rated.n}
        row |= {f"{name}_low": mean and mean.low, f"{name}_high": mean and mean.high}
        row |= {f"{name}_unscored": rated.unscored}
        row |= {f"{name}_unreferenced": rated.unreferenced}
    return row | {"error": summary.error, "signature": summary.cell.signature}


def _arena_columns(arena: Arena) -> TableRow:
    return {"dataset": arena.dataset, "judge": arena.by}


def _signature_column(arena: Arena) -> TableRow:
    return {"signature": arena.signature}


def _standing_row(standing: Standing) -> TableRow:
    return (
        {"model": standing.model}
        | _tally_columns(standing.tally)
        | {
            "elo": standing.elo,
            "elo_low": standing.elo_low,
            "elo_high": standing.elo_high,
        }
        | _rating_columns("bradley_terry", standing.rating)
        | _rating_columns("style_controlled", standing.styled)
        | {
            "rank_low": standing.rank_low,
            "rank_high": standing.rank_high,
            "with_leader": standing.with_leader,
        }
    )


def _rating_columns(name: str, rating: Rating | None) -> TableRow:
    return {
        name: rating and rating.value,
        f"{name}_low": rating and rating.low,
        f"{name}_high": rating and rating.high,
    }


def _tally_columns(tally: BattleTally) -> TableRow:
    return {
        "n": tally.n,
        "win": tally.win,
        "both": tally.both_good,
        "neither": tally.both_bad,
        "lose": tally.lose,
        "win_percent": 100 * tally.win / tally.n,
        "tie_percent": 100 * tally.tie / tally.n,
        "lose_percent": 100 * tally.lose / tally.n,
        "not_bad_percent": 100 * tally.not_bad / tally.n,
        "score": tally.score,
        "win_rate": 100 * tally.win_rate,
    }


def _matrix_rows(arena: Arena) -> Iterator[TableRow]:
    matrix = arena.matrix
    if matrix is None:
        return
    for (model, against), share in arena.shares.items():
        row, column = matrix.models.index(model), matrix.models.index(against)
        yield (
            _arena_columns(arena)
            | {"model": model, "against": against}
            | {"battles": matrix.battles[row][column], "wins": matrix.wins[row][column]}
            | {"ties": matrix.ties[row][column]}
            | interval_columns("share_of_points", share)
            | _signature_column(arena)
        )


def _reliability_row(arena: Arena) -> TableRow:
    found, head, agreement = arena.reliability, arena.comparisons, arena.agreement
    shares = {
        "unreadable": found.unreadable,
        "changed_with_order": found.flip_rate,
        "first": found.first_wins,
        "longer": found.longer_wins,
        "lists": found.more_items_wins,
    }
    row = _arena_columns(arena) | {
        "judges": ", ".join(arena.judges),
        "orders": arena.orders,
        "conflict": arena.conflict,
        "state": arena.state,
        "questions": arena.questions,
        "pairs": arena.pairs,
        "showings": arena.done,
        "planned": arena.planned,
        "battles": len(arena.battles),
        "extracted": head and head.extracted,
        "consistent": head and head.consistent,
        "injected": found.injected,
        "unreferenced": found.unreferenced,
    }
    for name, share in shares.items():
        row |= interval_columns(name, share) | {f"{name}_n": share.n if share else 0}
    kappa = agreement and agreement.kappa
    row |= interval_columns("agreement", agreement and agreement.raw)
    row |= {"kappa": kappa and kappa.value}
    row |= {"kappa_low": kappa and kappa.low, "kappa_high": kappa and kappa.high}
    points = arena.lead or (None, None, None)
    row |= dict(zip(("lead", "lead_low", "lead_high"), points, strict=True))
    return row | {"error": arena.error, "signature": arena.signature}


def _duel_rows(arena: Arena) -> Iterator[TableRow]:
    answers = {one.name: one.answers for one in arena.contestants}
    for item in judged_duels(arena):
        sample, first, second = arena.samples[item.duel.sample_id], *_sides(item.duel)
        yield (
            _arena_columns(arena)
            | {"id": sample.id, "question": sample.question}
            | {name: sample.metadata.get(name, "") for name in ("language", "capability")}
            | {"references": _SEPARATOR.join(sample.references)}
            | {"model_a": first, "model_b": second}
            | {
                "a_first": _winner(item, item.original_order),
                "b_first": _winner(item, item.swapped_order),
            }
            | {"counts_as": item.outcome and WINNERS[item.outcome], "flipped": item.flipped}
            | {"answer_a": _SEPARATOR.join(answers[first].get(sample.id, ()))}
            | {"answer_b": _SEPARATOR.join(answers[second].get(sample.id, ()))}
            | _signature_column(arena)
        )


def _sides(duel: Duel) -> tuple[str, str]:
    return duel.model_a, duel.model_b


def _winner(item: JudgedDuel, verdict: Verdict | None) -> str | None:
    outcome = outcome_for(item.duel, verdict) if verdict else None
    return outcome and WINNERS[outcome]
