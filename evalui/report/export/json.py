"""Cells, trials and verdicts as plain JSON objects under their public names."""

from collections.abc import Iterator
from typing import Any

from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.people.figures import Votes
from evalui.report.export.choice_names import (
    ALL_METRICS,
    CELL,
    CELL_STATE,
    CHOICE_NAMES,
    COUNTS,
    METRICS,
    ORDER,
    SIGNATURE,
    TrialOfCell,
)
from evalui.report.export.encoder import (
    Encoder,
    Fields,
    JsonObject,
    Property,
    pick,
    same,
    winner,
    within,
)
from evalui.report.export.metric_fields import choice_values
from evalui.report.export.open_names import DUEL, MARKS, OPEN_NAMES
from evalui.types import LETTERS, CellResult, Trial

_QUESTION: Fields = {
    **within("cell", CELL),
    "id": "trial.sample_id",
    "subject": "sample.subject",
    "question": "sample.question",
    "options": "sample.choices",
    "answer": Property(
        "sample.target", lambda target: LETTERS[target] if isinstance(target, int) else target
    ),
    "permutation": "trial.variant.permutation",
    "order": ORDER,
}
_READINGS: Fields = {**within("trial", same("headline", "readings", "truncated")), **SIGNATURE}
_REPLY: Fields = {**_QUESTION, "reply": "trial.reply", **_READINGS}
_SCORES: Fields = {
    **_QUESTION,
    "scores": "trial.scores",
    "merged_seams": "trial.merged_boundaries",
    **_READINGS,
}
_PROBABILITIES: Fields = {
    **_QUESTION,
    # An empty tuple stands for no probability on any label.
    "probabilities": Property(
        "trial",
        lambda trial: trial.probabilities or (0.0,) * len(trial.variant.permutation),
    ),
    "label_mass": "trial.mass",
    "top_token": "trial.reply",
    **_READINGS,
}
_ANSWER: Fields = {
    **within("cell", CELL),
    "id": "trial.sample_id",
    "question": "sample.question",
    "references": "sample.references",
    "reply": "trial.reply",
    "turns": "trial.turns",
    "rule": "trial.reading.rule",
    "figures": Property(
        "trial.scores", lambda scores: {name: values[0] for name, values in scores.items()}
    ),
    "truncated": "trial.truncated",
    **SIGNATURE,
}
_RATING: Fields = {
    "dataset": "cell.dataset",
    "judge": "cell.model",
    "model": "rated_model",
    "question": "trial.sample_id",
    **MARKS,
    "rule": "trial.reading.rule",
    "reply": "trial.reply",
    "injected": Property("trial.scores", lambda scores: any(scores.get("injected", ()))),
    **SIGNATURE,
}
_BY: Fields = {"dataset": "dataset", "judge": "by"}
_VERDICT: Fields = same("rule", "strength", "reply", "injected")
_BATTLE: Fields = {
    **same("model_a", "model_b"),
    "winner": winner("outcome"),
    "question": "question",
}

ENCODER = Encoder({**CHOICE_NAMES, **OPEN_NAMES})


def encode(value: Any) -> Any:
    """An analysis, or several, under its public names."""
    return ENCODER.encode(value)


def metrics_object(summary: Summary) -> JsonObject:
    """All figures of a cell: OpenCompass's under its names first, then ours."""
    return _registered(summary) | ENCODER.fields(summary, METRICS)


def all_metrics_object(summary: Summary) -> JsonObject:
    """`metrics_object`, then everything known of option bias, clusters and calibration."""
    return _registered(summary) | ENCODER.fields(summary, ALL_METRICS)


def _registered(summary: Summary) -> JsonObject:
    counts = ENCODER.fields(summary, COUNTS)
    return dict(summary.metrics) | counts | choice_values(summary.figures)


def cell_object(summary: Summary) -> JsonObject:
    """A cell with everything known of it."""
    return ENCODER.fields(summary, CELL_STATE) | {"figures": all_metrics_object(summary)}


def trial_objects(result: CellResult) -> Iterator[JsonObject]:
    """The trials of a cell, one object each, in the form that `evalui score choices` reads."""
    for trial in result.trials:
        yield ENCODER.fields(TrialOfCell(result, trial), _trial_fields(trial))


def answer_objects(result: CellResult) -> Iterator[JsonObject]:
    """The answers of a cell, one object each, in the form in which answers are read again."""
    return (ENCODER.fields(TrialOfCell(result, trial), _ANSWER) for trial in result.trials)


def rating_objects(result: CellResult) -> Iterator[JsonObject]:
    """What a judge gave single answers, one object each; an unreadable mark is null."""
    return (ENCODER.fields(TrialOfCell(result, trial), _RATING) for trial in result.trials)


def duel_objects(arena: Arena) -> Iterator[JsonObject]:
    """Every showing, one object each; the winner of an unreadable one is null."""
    by = ENCODER.fields(arena, _BY)
    for verdict in arena.verdicts:
        yield {
            **ENCODER.fields(verdict, DUEL),
            **by,
            **ENCODER.fields(verdict, _VERDICT),
            "signature": arena.signature,
        }


def battle_objects(arena: Arena) -> Iterator[JsonObject]:
    """The rows that count, in the form that `evalui score battles` reads."""
    by = ENCODER.fields(arena, _BY)
    return (ENCODER.fields(battle, _BATTLE) | by for battle in arena.battles)


def vote_objects(votes: Votes) -> Iterator[JsonObject]:
    """The readable votes as battles that name their dataset, one object each."""
    sides = pick(DUEL, "model_a", "model_b", "winner")
    words = pick(DUEL, "question") | {"by": "rater", "comment": "reply"}
    for dataset, cast in votes.items():
        for vote in cast:
            if vote.outcome is not None:
                yield {
                    **ENCODER.fields(vote, sides),
                    "dataset": dataset,
                    **ENCODER.fields(vote, words),
                }


def _trial_fields(trial: Trial) -> Fields:
    """What the model gave: a reply, or probabilities by slot, or a score per option."""
    if trial.scores:
        return _SCORES
    return _REPLY if trial.mass is None else _PROBABILITIES
