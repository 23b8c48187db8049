"""Battles, verdicts and votes collected elsewhere, one JSON object per line."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from evalui.datasets.containers.json import parse_lines
from evalui.datasets.encoding import decode
from evalui.errors import DataError
from evalui.modes.prompts.rubrics import SINGLE_ANSWER_FORMATS, VERDICT_FORMATS
from evalui.replies import (
    HIGHEST_RATING,
    LOWEST_RATING,
    read_correctness,
    read_rating,
    read_verdict,
)
from evalui.report.imports.predictions import JsonlRow, abbreviated_json, read_rows
from evalui.report.write.json_text import JsonObject
from evalui.scoring.arena.battles import (
    Battle,
    BattleTally,
    encode_battles,
    in_folder_order,
    tallies,
    win_matrix,
)
from evalui.scoring.arena.bradley_terry import (
    BradleyTerry,
    Connectivity,
    fit_ratings,
    rank_intervals,
)
from evalui.scoring.arena.elo import (
    K_FASTCHAT,
    K_OPENCOMPASS,
    MEDIAN_ELO_MAX_BATTLES,
    MEDIAN_ELO_RUNS,
    N_ORDERS,
    PermutedElo,
    elo_intervals,
    median_elos,
    permuted_elo,
    sequential_elo,
)
from evalui.scoring.arena.figures import PEOPLE
from evalui.types import WINNERS, Duel, Outcome, Verdict

OUTCOME_OF: Mapping[str, Outcome] = {
    **{name: outcome for outcome, name in WINNERS.items()},
    "tie (bothbad)": "neither",  # as FastChat publishes its battles
}
_VERDICTS: Mapping[Outcome, str] = {"a": "A", "b": "B", "tie": "tie", "neither": "neither"}


def score_battles(path: Path, *, opencompass_elo: bool = False) -> list[str]:
    """One JSON object: counts, scores and ratings of a file of battles.

    `opencompass_elo` as in `battle_statistics`.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    battles = read_battles(path)
    known = battle_statistics(battles, opencompass_elo=opencompass_elo)
    return [json.dumps(known, ensure_ascii=False, indent=2)]


def score_verdicts(path: Path) -> list[str]:
    """A line for each `{"format", "reply"}` row: its verdict or mark, null if unreadable, the rule.

    A mark of a single answer has `scale` and `criteria` where its row has them.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    lines: list[str] = []
    for row in read_rows(path):
        form = _text(row, "format")
        if form not in VERDICT_FORMATS:
            raise DataError(
                "row-format", place=row.location, format=form, known=", ".join(VERDICT_FORMATS)
            )
        read = _read_mark if form in SINGLE_ANSWER_FORMATS else _read_verdict
        lines.append(json.dumps(read(row, form), ensure_ascii=False))
    return lines


def _read_verdict(row: JsonlRow, form: str) -> JsonObject:
    read = read_verdict(form, _text(row, "reply"), finish_reason=row.finish_reason)
    return {"verdict": read.outcome and _VERDICTS[read.outcome], "rule": read.rule}


def _read_mark(row: JsonlRow, form: str) -> JsonObject:
    reply, reason = _text(row, "reply"), row.finish_reason
    if form == "correctness":
        read = read_correctness(reply, finish_reason=reason)
        return {"mark": read.value, "rule": read.rule}
    lowest, highest = _scale(row)
    value = row.values.get("criteria", [])
    criteria = cast("list[Any]", value) if isinstance(value, list) else [None]
    names = [name for name in criteria if isinstance(name, str)]
    if len(set(names)) < len(criteria):
        raise DataError("row-criteria", place=row.location, value=abbreviated_json(value))
    read = read_rating(reply, scale=(lowest, highest), criteria=tuple(names), finish_reason=reason)
    found: JsonObject = {"mark": read.value, "rule": read.rule}
    return found | {"criteria": dict(read.marks)} if names else found


def _scale(row: JsonlRow) -> tuple[float, float]:
    value = row.values.get("scale", [LOWEST_RATING, HIGHEST_RATING])
    match value:
        case [int() | float() as lowest, int() | float() as highest] if lowest < highest:
            return float(lowest), float(highest)
        case _:
            raise DataError("row-scale", place=row.location, value=abbreviated_json(value))


def read_battles(path: Path) -> tuple[Battle, ...]:
    """The battles of `{"model_a", "model_b", "winner", "question"}` rows; question may be absent.

    A tie of which the other order says something else has what this one said as `judged`.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    battles: list[Battle] = []
    for row in read_rows(path):
        battle = read_battle(row)
        if battles and (battle.question is None) != (battles[0].question is None):
            raise DataError("row-some-questions", place=row.location)
        battles.append(battle)
    return tuple(battles)


def read_votes(path: Path) -> dict[str, list[Verdict]]:
    """Votes by dataset: `{"model_a", "model_b", "winner", "dataset", "question", "by", "comment"}`.

    `dataset` may be absent and is "" then, `by` too and is "people" then, and so may `comment`.

    Raises:
        DataError: the file is no text, or the first row that does not fit, by file and line.
    """
    decoded = decode(path.read_bytes(), path.name)
    votes: dict[str, list[Verdict]] = defaultdict(list)
    for line, values in parse_lines(decoded.text):
        row = _VoteRow(path.name, line, values)
        votes[_vote_text(row, "dataset", "")].append(_vote(row))
    return dict(votes)


def battle_statistics(battles: Sequence[Battle], *, opencompass_elo: bool = False) -> JsonObject:
    """Everything known of the battles; shares in per cent, models in order of appearance.

    OpenCompass's mean and spread of medians is made of up to 500 battles, of more of them where
    `opencompass_elo` asks for it: 10,000 shuffles take a second of CPU for each 1,000 battles.
    """
    counted = tallies(battles)
    coded = encode_battles(battles)
    rated = fit_ratings(coded)
    finite = rated.connection.has_finite_ratings
    return {
        "battles": len(battles),
        "table": {name: _table_row(tally) for name, tally in counted.items()},
        "scores": {name: tally.score for name, tally in counted.items()},
        "win_matrix": asdict(win_matrix(coded)),
        "elo": {
            "finite": finite,
            "k32": sequential_elo(battles, K_OPENCOMPASS),
            "k4": sequential_elo(battles, K_FASTCHAT),
            "permutations": _elo_permutations(permuted_elo(coded)),
            "opencompass": _opencompass_elo(battles, wanted=opencompass_elo),
            "question_range": {name: list(ends) for name, ends in elo_intervals(coded).items()},
        },
        "bradley_terry": {
            "finite": finite,
            "problem": None if finite else _rating_problem(rated.connection),
            "ratings": _ratings(rated, counted),
            "resampled": rated.unit,
            "units": rated.units,
            "resamples": rated.resamples,
            "resamples_finite": rated.resamples_finite,
            "seed": rated.seed,
            "components": [list(group) for group in rated.connection.components],
            "islands": [list(group) for group in rated.connection.disconnected_groups],
            "unbeaten": list(rated.connection.unbeaten),
            "winless": list(rated.connection.winless),
            "ranks": _ranks(rated, counted),
        },
    }


def read_battle(row: JsonlRow) -> Battle:
    """The battle of one row; raises `DataError` if it is none."""
    model_a, model_b, winner = (_text(row, key) for key in ("model_a", "model_b", "winner"))
    if model_a == model_b:
        raise DataError("row-itself", place=row.location, model=model_a)
    if winner not in OUTCOME_OF:
        raise DataError(
            "row-winner", place=row.location, winner=winner, known=", ".join(OUTCOME_OF)
        )
    return Battle(model_a, model_b, OUTCOME_OF[winner], _question(row), _judged(row, winner))


def _judged(row: JsonlRow, winner: str) -> Outcome | None:
    if "judged" not in row.values:
        return None
    judged = _text(row, "judged")
    if winner != "tie" or judged not in OUTCOME_OF:
        raise DataError(
            "row-judged", place=row.location, judged=judged, known=", ".join(OUTCOME_OF)
        )
    return OUTCOME_OF[judged]


def _question(row: JsonlRow) -> str | None:
    if "question" not in row.values:
        # Other keys may be there, but a misspelt id must not pass for a missing one.
        for key in get_close_matches("question", row.values, 1, 0.8):
            raise DataError("row-unknown-key", place=row.location, key=key, meant="question")
        return None
    return row.name("question")


def _text(row: JsonlRow, key: str) -> str:
    value = row.text(key)
    # An empty reply is a reply; a model or winner without a name is none.
    if not value.strip() and key != "reply":
        raise DataError("row-text", place=row.location, key=key, value=abbreviated_json(value))
    return value


@dataclass(frozen=True, slots=True)
class _VoteRow:
    """One line of a file: its object, or a text that says why it is none."""

    file: str
    line: int
    values: Mapping[str, Any] | str


def _vote(row: _VoteRow) -> Verdict:
    model_a, model_b, question = (
        _vote_text(row, key) for key in ("model_a", "model_b", "question")
    )
    if model_a == model_b:
        raise DataError("vote-itself", file=row.file, line=row.line, model=model_a)
    winner = _vote_text(row, "winner")
    if winner not in OUTCOME_OF:
        raise DataError(
            "vote-winner",
            file=row.file,
            line=row.line,
            winner=winner,
            known=", ".join(OUTCOME_OF),
        )
    by, comment = _vote_text(row, "by", PEOPLE), _vote_text(row, "comment", "")
    return Verdict(Duel(question, model_a, model_b), OUTCOME_OF[winner], by, "vote", comment)


def _vote_text(row: _VoteRow, key: str, absent: str | None = None) -> str:
    """The text of a key; a number is one too, as the file writes it."""
    if isinstance(row.values, str):
        raise DataError("vote-no-object", file=row.file, line=row.line)
    value = row.values.get(key, absent)
    if not isinstance(value, str) or not (value.strip() or value == absent):
        raise DataError("vote-key", file=row.file, line=row.line, key=key)
    return value


def _table_row(tally: BattleTally) -> JsonObject:
    assert tally.not_bad is not None, "a file of battles has a word for two bad answers"
    counts = {"W": tally.win, "T": tally.tie, "L": tally.lose, "NB": tally.not_bad}
    return {
        "n": tally.n,
        **counts,
        "percent": {name: 100 * count / tally.n for name, count in counts.items()},
        "both": tally.both_good,
        "neither": tally.both_bad,
        **({"contradicted": tally.contradicted} if tally.contradicted else {}),
        "win_rate": 100 * tally.win_rate,
    }


def _elo_permutations(elo: PermutedElo) -> JsonObject:
    return {
        "k": elo.k,
        "runs": elo.runs,
        "seed": elo.seed,
        "median": dict(elo.median),
        "order_range": {name: [low, elo.high[name]] for name, low in elo.low.items()},
    }


def _opencompass_elo(battles: Sequence[Battle], *, wanted: bool) -> JsonObject:
    """Each model's mean and spread of medians, null of many battles unless it is wanted.

    Two orders that contradict each other count there for nothing.
    """
    counted = in_folder_order(one for one in battles if one.judged is None)
    computed = wanted or len(counted) <= MEDIAN_ELO_MAX_BATTLES
    problem = f"Not computed above {MEDIAN_ELO_MAX_BATTLES} battles without --opencompass-elo."
    return {
        "k": K_OPENCOMPASS,
        "runs": MEDIAN_ELO_RUNS,
        "orders": N_ORDERS,
        "problem": None if computed else problem,
        "models": {name: asdict(each) for name, each in median_elos(counted).items()}
        if computed
        else None,
    }


def _ratings(rated: BradleyTerry, names: Mapping[str, BattleTally]) -> JsonObject:
    """Each model's rating with its interval, null for a model without a finite one."""
    return {
        name: {"rating": rating.value, "low": rating.low, "high": rating.high}
        if (rating := rated.ratings.get(name))
        else None
        for name in names
    }


def _ranks(rated: BradleyTerry, names: Mapping[str, BattleTally]) -> JsonObject:
    """Each model's rank with its range, null for a model without a finite rating."""
    ranks = rank_intervals(rated)
    return {
        name: {
            "rank": rank.rank,
            "low": rank.low,
            "high": rank.high,
            "with_leader": rank.tied_with_leader,
        }
        if (rank := ranks.get(name))
        else None
        for name in names
    }


def _rating_problem(connection: Connectivity) -> str:
    if len(connection.disconnected_groups) > 1:
        groups = len(connection.disconnected_groups)
        return f"No finite rating: {groups} groups of models never met each other."
    if connection.unbeaten:
        return f"No finite rating: {', '.join(connection.unbeaten)} never lost a point."
    if connection.winless:
        return f"No finite rating: {', '.join(connection.winless)} never won a point."
    return "No finite rating: some models never lost a point to any of the others."
