"""Cells, trials and verdicts as plain JSON objects under their public names."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.report.export.choice_names import (
    ALL_METRICS,
    CELL,
    CELL_STATE,
    CHOICE_NAMES,
    COUNTS,
    METRICS,
    ORDER,
    REPEAT,
    SHOWN_OPTIONS,
    SIGNATURE,
)
from evalui.report.export.encoder import (
    WINNERS,
    Encoder,
    Fields,
    JsonObject,
    Property,
    json_text,
    letter,
    optional,
    pick,
    same,
    winner,
    within,
)
from evalui.report.export.metric_fields import choice_values
from evalui.report.export.open_names import DUEL, MARKS, MARKS_BY_CRITERION, OPEN_NAMES
from evalui.report.export.trial_cells import ExportColumn, TrialChunk, chunks_of, column_reader
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import Votes
from evalui.scoring.cell_summary import Summary
from evalui.types import CastVote, CellResult

ENCODER = Encoder({**CHOICE_NAMES, **OPEN_NAMES})

_QUESTION: Fields = {
    **within("cell", CELL),
    "id": "trial.sample_id",
    "subject": "sample.subject",
    "question": "sample.question",
    # Options, the right letter and every choice are as shown; `permutation` leads to the file's.
    "options": SHOWN_OPTIONS,
    "answer": letter("trial.target"),
    "permutation": "trial.variant.permutation",
    "order": ORDER,
    **REPEAT,
    "file_options": "sample.choices",
    "file_answer": letter("sample.target"),
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
    **REPEAT,
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
    "criteria": MARKS_BY_CRITERION,
    "rule": "trial.reading.rule",
    "reply": "trial.reply",
    "injected": Property("trial.scores", lambda scores: any(scores.get("injected", ()))),
    "retried": "retried",
    **SIGNATURE,
}
_BY: Fields = {"dataset": "dataset", "judge": "by"}
_DUEL = ENCODER.reader(DUEL)
_VERDICT = ENCODER.reader(
    {
        **same("rule", "strength", "reply", "injected", "retried"),
        # By the winner, of a verdict that was read off them.
        "probabilities": optional(
            Property(
                "probabilities",
                lambda shares: dict(zip(WINNERS.values(), shares, strict=True)) if shares else None,
            )
        ),
    }
)
_BATTLE = ENCODER.reader(
    {
        **same("model_a", "model_b"),
        "winner": winner("outcome"),
        "judged": optional(winner("judged")),
        "question": "question",
    }
)


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


_SIDES = ENCODER.reader(pick(DUEL, "model_a", "model_b", "winner"))
_VOTE = ENCODER.reader(pick(DUEL, "question") | {"by": "rater", "comment": "reply"})
_CAST = ENCODER.reader(
    {"created": Property("created", _utc), **same("seconds", "assigned")}
    | {"adjudicated": winner("adjudicated")}
)


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


def trial_lines(result: CellResult) -> Iterator[str]:
    """The trials of a cell as JSON lines, many at once, as `evalui score choices` reads them."""
    for chunk in chunks_of(result):
        for kind, alike in chunk.alike(_kinds(chunk)):
            yield _TRIAL_WRITERS[kind](alike)


def answer_lines(result: CellResult) -> Iterator[str]:
    """The answers of a cell as JSON lines, many at once, in the form in which they are read."""
    return map(_ANSWER_WRITER, chunks_of(result))


def rating_lines(result: CellResult) -> Iterator[str]:
    """What a judge gave single answers, as JSON lines; an unreadable mark is null."""
    return map(_RATING_WRITER, chunks_of(result))


def json_lines(objects: Iterable[JsonObject]) -> Iterator[str]:
    """An object per line."""
    return (f"{json_text(each)}\n" for each in objects)


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
    """The readable votes as battles that name their dataset, one object each.

    `created` is in UTC, and `adjudicated` what was decided on the pair, null if nothing was.
    """
    for dataset, cast in votes.items():
        for vote in cast:
            if vote.outcome is not None:
                cast_at = _CAST(vote) if isinstance(vote, CastVote) else {}
                yield {**_SIDES(vote), "dataset": dataset, **_VOTE(vote), **cast_at}


def _kinds(chunk: TrialChunk) -> NDArray[np.intp]:
    """What the models gave: a reply, or probabilities by slot, or a score per option."""
    trials = chunk.trials
    kinds = trials.has_mass.astype(np.intp)
    for scores in trials.scores.values():
        kinds[scores.lengths >= 0] = 2
    return kinds


def _writer(fields: Fields) -> Callable[[TrialChunk], str]:
    """What writes a line for each trial of a chunk, each distinct value once."""
    read = column_reader(ENCODER, fields)

    def write(chunk: TrialChunk) -> str:
        columns = read(chunk)
        if chunk.trials.n_repeats == 1:
            columns = {name: each for name, each in columns.items() if name not in REPEAT}
        parts = [_named(name, column) for name, column in columns.items()]
        rows = zip(*parts, strict=True)
        return "".join([f"{{{', '.join(row)}}}\n" for row in rows])

    return write


def _named(name: str, column: ExportColumn) -> Iterable[str]:
    key = f"{json_text(name)}: "
    return column.map(lambda value: key + json_text(value)).listed()


_TRIAL_WRITERS = (_writer(_REPLY), _writer(_PROBABILITIES), _writer(_SCORES))
_ANSWER_WRITER = _writer(_ANSWER)
_RATING_WRITER = _writer(_RATING)
