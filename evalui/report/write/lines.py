"""JSON Lines: trials, verdicts, battles and votes, as the commands of `evalui score` read them.

A trial is an object with what its question, its order and its mode have to say, nested. Of a part
of a cell each distinct value is made and encoded once: a question has up to 24 trials.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.modes.judge_outputs import CRITERION
from evalui.report.frames.arena import verdicts
from evalui.report.frames.people import votes
from evalui.report.write.json_text import JsonObject, json_text, utf8
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import Votes
from evalui.scoring.arena.verdicts import PANEL_NAME, rating_cells, retried_trials
from evalui.scoring.choice.options import shown_options, variant_label
from evalui.scoring.trial_columns import ABSENT, TrialColumns, columns_of
from evalui.types import LETTERS, WINNERS, CellResult, Sample

_PART = 4096  # trials, some four megabytes of lines
_Columns = Mapping[str, Iterable[str]]  # a JSON text for each row, by name


def trial_lines(results: Iterable[CellResult]) -> Iterator[str]:
    """The trials of multiple-choice cells and the written answers, many lines at once."""
    for result in results:
        if result.cell.gives != "verdicts":
            lines = _answer_lines if result.cell.gives == "answers" else _choice_lines
            for part in columns_of(result.trials).parts(_PART):
                yield from lines(result, part)


def rating_lines(results: Sequence[CellResult]) -> Iterator[str]:
    """What judges gave single answers, many lines at once; an unreadable mark is null."""
    for result in rating_cells(results):
        for part in columns_of(result.trials).parts(_PART):
            yield _rating_lines(result, part)


def duel_lines(arenas: Iterable[Arena]) -> Iterator[str]:
    """Every showing of two answers to a judge, readable or not; a panel's have no words.

    The winner of an unreadable one is null; probabilities are there where it was read off them.
    """
    return json_lines(
        {name: value for name, value in row.items() if name != "probabilities" or value}
        for row in verdicts(arenas)
    )


def battle_lines(arenas: Iterable[Arena]) -> Iterator[str]:
    """The battles that count for each judge, as `evalui score battles` reads them."""
    return json_lines(
        {
            "model_a": battle.model_a,
            "model_b": battle.model_b,
            "winner": WINNERS[battle.outcome],
            **({"judged": WINNERS[battle.judged]} if battle.judged else {}),
            "question": battle.question,
            "dataset": arena.dataset,
            "judge": arena.by,
        }
        for arena in arenas
        if arena.by != PANEL_NAME  # its verdicts are made of its judges'
        for battle in arena.battles
    )


def vote_lines(cast: Votes) -> Iterator[str]:
    """The readable votes of people, in the form in which votes are read again."""
    return json_lines(votes(cast))


def encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """As UTF-8; halves of characters, which that does not have, are written out."""
    return map(utf8, lines)


def json_lines(objects: Iterable[JsonObject]) -> Iterator[str]:
    """An object per line."""
    return (f"{json_text(each)}\n" for each in objects)


# ---------------------------------------------------------------- trials


_Scores = Mapping[str, Sequence[float]]


def _choice_lines(result: CellResult, part: TrialColumns) -> Iterator[str]:
    """Trials that follow each other and hold the same, at once: they differ in their fields.

    What models gave are replies, or probabilities by slot, or a score per option.
    """
    kinds = part.has_mass.astype(np.intp)
    for scores in part.scores.values():
        kinds[scores.lengths >= 0] = 2
    ends = [*(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    for start, end in zip([0, *ends], ends, strict=False):
        alike = part[start:end]
        given: Callable[[TrialColumns], _Columns] = _GIVEN[int(kinds[start])]
        yield _lines(
            {
                **_asked(result, alike),
                **given(alike),
                "headline": _of(alike.headline, alike.headlines.__getitem__),
                "readings": _readings(alike),
                "truncated": _few(alike.truncated),
                "signature": _same(result.cell.signature),
            }
        )


def _asked(result: CellResult, part: TrialColumns) -> _Columns:
    """The question; options and letters are as shown, `permutation` leads to those of the file."""
    cell, samples, n = result.cell, result.samples, len(part.orders)

    def of_question(value: Callable[[Sample], Any]) -> Iterable[str]:
        return _of(part.sample, lambda code: value(samples[part.ids[code]]))

    def shown(pair: int) -> list[str]:
        return shown_options(samples[part.ids[pair // n]].choices, part.orders[pair % n])

    return {
        "dataset": _same(cell.dataset),
        "model": _same(cell.model),
        "mode": _same(cell.label),
        "id": _of(part.sample, part.ids.__getitem__),
        "subject": of_question(lambda sample: sample.subject),
        "question": of_question(lambda sample: sample.question),
        "options": _of(part.sample.astype(np.int64) * n + part.order, shown),
        "answer": _of(part.target, LETTERS.__getitem__),
        "permutation": _of(part.order, lambda code: part.orders[code].permutation),
        "order": _of(part.order, lambda code: variant_label(part.orders[code])),
        **_repeat(part),
        "file_options": of_question(lambda sample: sample.choices),
        "file_answer": of_question(_letter_in_file),
    }


def _letter_in_file(sample: Sample) -> str:
    assert isinstance(sample.target, int), "a question with options"
    return LETTERS[sample.target]


def _given_reply(part: TrialColumns) -> _Columns:
    return {"reply": _each(reply for reply, _ in part.texts(part.number))}


def _given_probabilities(part: TrialColumns) -> _Columns:
    """Where there is no probability on any label, each is 0."""
    shares = zip(part.probabilities.tuples(), part.n_options.tolist(), strict=True)
    masses = zip(part.mass.tolist(), part.has_mass.tolist(), strict=True)
    return {
        "probabilities": _each(own or (0.0,) * n for own, n in shares),
        "label_mass": _each(mass if known else None for mass, known in masses),
        "top_token": _each(reply for reply, _ in part.texts(part.number)),
    }


def _given_scores(part: TrialColumns) -> _Columns:
    return {
        "scores": _each(_scores(part)),
        "merged_seams": _few(part.merged),
    }


_GIVEN = (_given_reply, _given_probabilities, _given_scores)


def _answer_lines(result: CellResult, part: TrialColumns) -> Iterator[str]:
    """Written answers with the first of each text figure."""
    cell, samples, ids = result.cell, result.samples, part.ids
    texts = part.texts(part.number)
    yield _lines(
        {
            "dataset": _same(cell.dataset),
            "model": _same(cell.model),
            "mode": _same(cell.label),
            "id": _of(part.sample, ids.__getitem__),
            "question": _of(part.sample, lambda code: samples[ids[code]].question),
            "references": _of(part.sample, lambda code: samples[ids[code]].references),
            **_repeat(part),
            "reply": _each(reply for reply, _ in texts),
            "turns": _each(turns for _, turns in texts),
            "rule": _of(part.reading.rule, part.rules.__getitem__),
            "figures": _each({name: own[name][0] for name in own} for own in _scores(part)),
            "truncated": _few(part.truncated),
            "signature": _same(cell.signature),
        }
    )


def _rating_lines(result: CellResult, part: TrialColumns) -> str:
    contestants, scores = result.contestants, _scores(part)

    def rated(code: int) -> str:
        return contestants[part.orders[code].permutation[0]].name

    return _lines(
        {
            "dataset": _same(result.cell.dataset),
            "judge": _same(result.cell.model),
            "model": _of(part.order, rated),
            "question": _of(part.sample, part.ids.__getitem__),
            "rating": _each(_first(own, "rating") for own in scores),
            "correct": _each(_first(own, "correct") for own in scores),
            "criteria": _each(map(_criteria, scores)),
            "rule": _of(part.reading.rule, part.rules.__getitem__),
            "reply": _each(reply for reply, _ in part.texts(part.number)),
            "injected": _each(any(own.get("injected", ())) for own in scores),
            "retried": _few(retried_trials(part)),
            "signature": _same(result.cell.signature),
        }
    )


def _repeat(part: TrialColumns) -> _Columns:
    """Which reply it is, from 1 as of logs, where questions were asked several times."""
    return {"repeat": _few(part.repeat + 1)} if part.n_repeats > 1 else {}


def _readings(part: TrialColumns) -> Iterable[str]:
    """The readings of each trial; there are few different sets of them."""
    arrays = [array for own in part.readings.values() for array in own.arrays]
    stacked = np.stack(arrays, axis=1).astype(np.float64)
    _, firsts, places = np.unique(stacked, axis=0, return_index=True, return_inverse=True)
    return _of(places.reshape(-1), lambda kind: _reading_objects(part, firsts[kind]))


def _reading_objects(part: TrialColumns, place: int) -> JsonObject:
    return {
        name: {
            "choice": LETTERS[own.choice[place]] if own.choice[place] >= 0 else None,
            "credit": float(own.credit[place]),
            "rule": part.rules[own.rule[place]],
            "tied": bool(own.tied[place]),
        }
        for name, own in part.readings.items()
        if own.choice[place] != ABSENT
    }


def _scores(part: TrialColumns) -> list[_Scores]:
    """The scores that each trial has, by name."""
    every = {name: own.tuples() for name, own in part.scores.items()}
    return [
        {name: own for name, rows in every.items() if (own := rows[place]) is not None}
        for place in range(len(part))
    ]


def _first(scores: _Scores, name: str) -> float | None:
    return scores[name][0] if name in scores else None


def _criteria(scores: _Scores) -> JsonObject:
    return {
        name.removeprefix(CRITERION): values[0]
        for name, values in scores.items()
        if name.startswith(CRITERION)
    }


# ---------------------------------------------------------------- columns of JSON texts


def _of(codes: NDArray[Any], value_of: Callable[[int], Any]) -> list[str]:
    """The value of each code, made once."""
    used, places = np.unique(codes, return_inverse=True)
    texts = [json_text(value_of(code)) for code in used.tolist()]
    return [texts[place] for place in places.tolist()]


def _few(values: NDArray[Any]) -> list[str]:
    """Values of which many are the same."""
    return _of(values, lambda value: value)


def _each(values: Iterable[Any]) -> Iterator[str]:
    """Values of which few are the same."""
    return map(json_text, values)


def _same(value: Any) -> Iterator[str]:
    """One value for as many rows as there are."""
    return repeat(json_text(value))


def _lines(columns: _Columns) -> str:
    keys = [json_text(name).replace("%", "%%") for name in columns]
    line = f"{{{', '.join([f'{key}: %s' for key in keys])}}}\n"
    return "".join(map(line.__mod__, zip(*columns.values(), strict=False)))
