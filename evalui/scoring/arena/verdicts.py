"""From a judge's trials to battles, and how far the judge can be trusted.

A pair of answers is usually shown twice, with the sides exchanged. Each showing is a verdict of
its own; a verdict names its sides, so that nothing has to be swapped back by hand.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.replies import MarkdownCounts, count_markdown
from evalui.scoring.arena.battles import Battle
from evalui.scoring.cell_trials import score_values
from evalui.scoring.choice.decisions import NAMED
from evalui.scoring.statistics.intervals import clustered_share
from evalui.scoring.trial_columns import Ragged, TrialColumns, columns_of
from evalui.types import (
    NO_REFERENCE,
    NOT_MEANINGFUL,
    OUTCOMES,
    SAME_ANSWERS,
    CellResult,
    CellState,
    ConflictRule,
    Contestant,
    Duel,
    Interval,
    Outcome,
    Trial,
    Verdict,
)

PANEL_NAME = "panel"
MUCH_BETTER = 3  # the strength of a verdict that says so
# The rules by which a verdict is read off what no words surround.
UNWORDED_RULES = ("schema", "probabilities", NAMED)
# What a state of several cells together is: what is still open first, then what went wrong.
_STATES: tuple[CellState, ...] = (
    "running",
    "waiting",
    "failed",
    "cancelled",
    "impossible",
    "done",
)


@dataclass(frozen=True, slots=True)
class JudgeReliability:
    """How a judge behaved; each share is None where there is nothing to take a share of.

    `n` counts the showings, `unreferenced` those that were not judged for lack of a reference;
    `unreadable` is a share of the others that are meaningful. `flip_rate` is the share of the pairs
    judged readably in both orders whose outcome changed with the order. `first_wins`, `longer_wins`
    and `more_items_wins` are shares of decided verdicts (no ties): those won by the answer shown
    first, by the longer one (in characters), and by the one with more list items, among answers
    that differ in it. The `n` of an interval counts what it is a share of; its width knows that the
    showings of one question belong together. `injected` counts showings with an answer that spoke
    to the judge. `retried` were prompted once more because the first reply could not be read, and
    `recovered` of them could be read then. `as_text` counts the verdicts read off a text, the only
    ones there are unless the judge's output is another.
    """

    judge: str
    n: int
    unreadable: Interval | None
    flip_rate: Interval | None
    first_wins: Interval | None
    longer_wins: Interval | None
    more_items_wins: Interval | None
    injected: int
    unreferenced: int = 0
    retried: int = 0
    recovered: int = 0
    as_text: int = 0


def judge_verdicts(trials: Iterable[Trial], names: Sequence[str], by: str) -> tuple[Verdict, ...]:
    """The verdict of the judge `by` in each trial that showed two of the contestants `names`.

    An unreadable judgement stays, with the outcome None. Trials of single answers are no duels
    and are passed over.
    """
    return tuple(_verdict(trial, names, by) for trial in trials if _is_duel(trial))


def verdicts_of(result: CellResult) -> tuple[Verdict, ...]:
    """The verdicts of one judge."""
    return judge_verdicts(
        result.trials, [one.name for one in result.contestants], result.cell.model
    )


def is_meaningful(verdict: Verdict) -> bool:
    """Whether the two answers could be compared: they differ. OpenCompass writes `EM` where not.

    Of judges only that text, letter for letter, says so; any other is a verdict, readable or not.
    """
    return verdict.rule != SAME_ANSWERS and (
        verdict.outcome is not None or verdict.reply != NOT_MEANINGFUL
    )


def retried_trials(columns: TrialColumns) -> NDArray[np.bool_]:
    """Which judgements were asked for once more, shape (n,)."""
    own = columns.scores.get("retried") or Ragged.absent(len(columns))
    rows, values = score_values(columns, "retried")
    again = np.zeros(len(columns), dtype=np.bool_)
    again[rows] = values > 0
    before = np.flatnonzero(~own.present)
    if len(before):  # judged before there was a score for it: two replies tell
        texts = columns.texts(columns.number[before])
        again[before] = [len(turns) > 1 for _, turns in texts]
    return again


def joint_state(judges: Sequence[CellResult]) -> CellState:
    """The state of several cells together."""
    states: list[CellState] = [one.state for one in judges]
    return min(states, key=_STATES.index)


def joint_error(judges: Sequence[CellResult]) -> str:
    """The different errors of several cells."""
    distinct = [error for error in dict.fromkeys(one.error for one in judges) if error]
    # A sentence alone stays one, and can be translated.
    return distinct[0] if len(distinct) == 1 else " ".join(distinct)


def battles_from_verdicts(
    judged: Iterable[Verdict], conflict: ConflictRule, *, strong: int = 1
) -> tuple[Battle, ...]:
    """The battles of the readable verdicts, in order; the question is the sample.

    `conflict` says what becomes of two orders of one pair whose outcomes differ: both count as
    a tie that keeps what each said of the answers ("tie"), both count as they are ("half"), or
    neither counts ("drop"). A verdict whose other order is missing or unreadable counts as it is.
    "Much better" is `strong` battles, as in Arena-Hard, which takes 3; any other verdict is one.
    """
    rows = [one for one in judged if one.outcome is not None]
    changed = {id(one) for pair in _both_orders(rows) if _outcome_differs(*pair) for one in pair}
    if conflict == "drop":
        rows = [one for one in rows if id(one) not in changed]
    tied = changed if conflict == "tie" else set[int]()
    return tuple(
        _battle(one, tied=id(one) in tied)
        for one in rows
        for _ in range(strong if one.strength == MUCH_BETTER and id(one) not in tied else 1)
    )


def judge_reliability(
    judged: Sequence[Verdict], contestants: Iterable[Contestant]
) -> JudgeReliability:
    """The behaviour of one judge over its verdicts on these contestants."""
    read = [one for one in judged if one.outcome is not None and is_meaningful(one)]
    decided = [one for one in read if one.outcome in ("a", "b")]
    pairs = _both_orders(read)
    marks = _markdown_counts(decided, contestants)
    return JudgeReliability(
        judge=judged[0].rater if judged else "",
        n=len(judged),
        unreadable=_clustered_share(
            (one, one.outcome is None)
            for one in judged
            if not one.unreferenced and is_meaningful(one)
        ),
        flip_rate=_clustered_share((pair[0], _outcome_differs(*pair)) for pair in pairs),
        first_wins=_clustered_share((one, one.outcome == "a") for one in decided),
        longer_wins=_clustered_share(
            _won_by_more(decided, {key: one.length for key, one in marks.items()})
        ),
        more_items_wins=_clustered_share(
            _won_by_more(decided, {key: one.items for key, one in marks.items()})
        ),
        injected=sum(one.injected for one in judged),
        unreferenced=sum(one.unreferenced for one in judged),
        retried=sum(one.retried for one in judged),
        recovered=sum(one.retried for one in read),
        as_text=sum(one.rule not in UNWORDED_RULES for one in read),
    )


def panel_verdicts(per_judge: Sequence[Sequence[Verdict]]) -> tuple[Verdict, ...]:
    """One verdict per showing: the outcome that more than half of its judges gave, else None.

    A judge that cannot be read is one of them but has no vote. Where all of them lack a reference,
    so does the panel; where the verdict of all is `EM`, so is the panel's.
    """
    votes: dict[Duel, list[Verdict]] = {}
    for judged in per_judge:
        for one in judged:
            votes.setdefault(one.duel, []).append(one)
    return tuple(_majority_verdict(duel, cast) for duel, cast in votes.items())


def rating_cells(results: Sequence[CellResult]) -> tuple[CellResult, ...]:
    """The cells of judges who are shown one answer at a time.

    Only a judgement shows how many are shown. The judges of a run are all prompted alike, so
    one that has given none counts as the others do, and as shown two if none has any.
    """
    judged = [result for result in results if result.cell.gives == "verdicts"]
    shown = [int(columns_of(one.trials).n_options[0]) if one.trials else 0 for one in judged]
    alike = 1 if 1 in shown and 2 not in shown else 2
    return tuple(one for one, n in zip(judged, shown, strict=True) if (n or alike) == 1)


# ---------------------------------------------------------------- trials


def _is_duel(trial: Trial) -> bool:
    return len(trial.variant.permutation) == 2


def _verdict(trial: Trial, names: Sequence[str], by: str) -> Verdict:
    first, second = trial.variant.permutation
    strength = trial.scores.get("strength")
    return Verdict(
        duel=Duel(trial.sample_id, names[first], names[second]),
        outcome=None if trial.choice is None else OUTCOMES[trial.choice],
        rater=by,
        rule=trial.reading.rule,
        reply=trial.reply or "",
        strength=int(strength[0]) if strength else None,
        injected=any(trial.scores.get("injected", ())),
        # The turns tell it of runs that were judged before there was a score for it.
        retried=any(trial.scores.get("retried", ())) or len(trial.turns) > 1,
        probabilities=trial.probabilities,
    )


def _battle(one: Verdict, *, tied: bool) -> Battle:
    assert one.outcome is not None, "an unreadable verdict is no battle"
    duel = one.duel
    if tied:
        return Battle(duel.model_a, duel.model_b, "tie", duel.sample_id, judged=one.outcome)
    return Battle(duel.model_a, duel.model_b, one.outcome, duel.sample_id)


# ---------------------------------------------------------------- both orders


def _both_orders(read: Iterable[Verdict]) -> list[tuple[Verdict, Verdict]]:
    """The verdicts of one judge on one pair in both orders: the first showing with the first."""
    seen: dict[tuple[str, Duel], list[Verdict]] = defaultdict(list)
    for one in read:
        seen[one.rater, one.duel].append(one)
    return [
        pair
        for (by, duel), showings in seen.items()
        if duel.model_a < duel.model_b
        for pair in zip(showings, seen.get((by, _swap_sides(duel)), ()), strict=False)
    ]


def _swap_sides(duel: Duel) -> Duel:
    return Duel(duel.sample_id, duel.model_b, duel.model_a)


def _outcome_differs(original: Verdict, swapped: Verdict) -> bool:
    return _battle(original, tied=False) != _battle(swapped, tied=False).mirrored


# ---------------------------------------------------------------- shares


def _clustered_share(hits: Iterable[tuple[Verdict, bool]]) -> Interval | None:
    pairs = list(hits)
    return clustered_share([one.duel.sample_id for one, _ in pairs], [hit for _, hit in pairs])


_AnswerKey = tuple[str, str]  # contestant and sample


def _markdown_counts(
    judged: Iterable[Verdict], contestants: Iterable[Contestant]
) -> Mapping[_AnswerKey, MarkdownCounts]:
    """The make-up of each answer the verdicts are about, as far as it is known."""
    answers = {one.name: one.answers for one in contestants}
    keys = {
        (name, one.duel.sample_id)
        for one in judged
        for name in (one.duel.model_a, one.duel.model_b)
        if one.duel.sample_id in answers.get(name, {})
    }
    return {(name, sample): count_markdown(answers[name][sample]) for name, sample in keys}


def _won_by_more(
    decided: Iterable[Verdict], amounts: Mapping[_AnswerKey, int]
) -> Iterable[tuple[Verdict, bool]]:
    """For answers that differ in an amount: did the one with more of it win?"""
    for one in decided:
        first = amounts.get((one.duel.model_a, one.duel.sample_id))
        second = amounts.get((one.duel.model_b, one.duel.sample_id))
        if first is not None and second is not None and first != second:
            yield one, (one.outcome == "a") == (first > second)


# ---------------------------------------------------------------- panel


def _majority_verdict(duel: Duel, cast: Sequence[Verdict]) -> Verdict:
    if all(one.rule == SAME_ANSWERS for one in cast):
        return Verdict(duel, "tie", PANEL_NAME, SAME_ANSWERS, NOT_MEANINGFUL)
    votes: Counter[Outcome] = Counter(one.outcome for one in cast if one.outcome is not None)
    injected = any(one.injected for one in cast)
    for outcome, count in votes.most_common(1):
        if 2 * count > len(cast):
            return Verdict(duel, outcome, PANEL_NAME, "majority", injected=injected)
    if all(one.unreferenced for one in cast):
        return Verdict(duel, None, PANEL_NAME, NO_REFERENCE, injected=injected)
    if not any(map(is_meaningful, cast)):
        return Verdict(duel, None, PANEL_NAME, "no-majority", NOT_MEANINGFUL, injected=injected)
    return Verdict(duel, None, PANEL_NAME, "no-majority", injected=injected)
