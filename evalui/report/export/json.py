"""Cells, trials and verdicts as plain JSON objects under their public names."""

from collections.abc import Iterator
from typing import Any

from evalui.report.analyses.arena.figures import Arena
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
    trials_of,
)
from evalui.report.export.encoder import (
    Encoder,
    Fields,
    JsonObject,
    Property,
    Reader,
    pick,
    same,
    winner,
    within,
)
from evalui.report.export.metric_fields import choice_values
from evalui.report.export.open_names import DUEL, MARKS, OPEN_NAMES
from evalui.scoring.cell_summary import Summary
from evalui.types import LETTERS, CellResult, Trial

ENCODER = Encoder({**CHOICE_NAMES, **OPEN_NAMES})

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
_REPLY = ENCODER.reader({**_QUESTION, "reply": "trial.reply", **_READINGS})
_SCORES = ENCODER.reader(
    {
        **_QUESTION,
        "scores": "trial.scores",
        "merged_seams": "trial.merged_boundaries",
        **_READINGS,
    }
)
_PROBABILITIES = ENCODER.reader(
    {
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
)
_ANSWER = ENCODER.reader(
    {
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
)
_RATING = ENCODER.reader(
    {
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
)
_BY: Fields = {"dataset": "dataset", "judge": "by"}
_DUEL = ENCODER.reader(DUEL)
_VERDICT = ENCODER.reader(same("rule", "strength", "reply", "injected"))
_BATTLE = ENCODER.reader(
    {
        **same("model_a", "model_b"),
        "winner": winner("outcome"),
        "question": "question",
    }
)
_SIDES = ENCODER.reader(pick(DUEL, "model_a", "model_b", "winner"))
_VOTE = ENCODER.reader(pick(DUEL, "question") | {"by": "rater", "comment": "reply"})


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
    return (_reader(of.trial)(of) for of in trials_of(result))


def answer_objects(result: CellResult) -> Iterator[JsonObject]:
    """The answers of a cell, one object each, in the form in which answers are read again."""
    return map(_ANSWER, trials_of(result))


def rating_objects(result: CellResult) -> Iterator[JsonObject]:
    """What a judge gave single answers, one object each; an unreadable mark is null."""
    return map(_RATING, trials_of(result))


def duel_objects(arena: Arena) -> Iterator[JsonObject]:
    """Every showing, one object each; the winner of an unreadable one is null."""
    by = ENCODER.fields(arena, _BY)
    for verdict in arena.verdicts:
        yield {
            **_DUEL(verdict),
            **by,
            **_VERDICT(verdict),
            "signature": arena.signature,
        }


def battle_objects(arena: Arena) -> Iterator[JsonObject]:
    """The rows that count, in the form that `evalui score battles` reads."""
    by = ENCODER.fields(arena, _BY)
    return (_BATTLE(battle) | by for battle in arena.battles)


def vote_objects(votes: Votes) -> Iterator[JsonObject]:
    """The readable votes as battles that name their dataset, one object each."""
    for dataset, cast in votes.items():
        for vote in cast:
            if vote.outcome is not None:
                yield {**_SIDES(vote), "dataset": dataset, **_VOTE(vote)}


def _reader(trial: Trial) -> Reader:
    """What the model gave: a reply, or probabilities by slot, or a score per option."""
    if trial.scores:
        return _SCORES
    return _REPLY if trial.mass is None else _PROBABILITIES
