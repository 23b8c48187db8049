"""Battles between two models, counted: wins, ties and losses per model and per pair.

A battle names its models by the sides they were shown on, so that a second judging with the
sides exchanged is counted for the right model without further care.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.types import POINTS, Outcome

MIRRORED: dict[Outcome, Outcome] = {"a": "b", "b": "a", "tie": "tie", "neither": "neither"}


@dataclass(frozen=True, slots=True)
class Battle:
    """One judged pair of answers. `tie`: both are good, `neither`: both are bad.

    `question` is the id of the question answered, None if unknown. Where the other order of the
    pair contradicts this one and both count as a tie, `judged` is what this one said, else None.
    """

    model_a: str
    model_b: str
    outcome: Outcome
    question: str | None = None
    judged: Outcome | None = None

    def __post_init__(self) -> None:
        assert self.model_a != self.model_b, "a model does not meet itself"
        assert self.judged is None or self.outcome == "tie", "only a tie replaces what was said"

    @property
    def points(self) -> float:
        """What model_a earned of the one point: 1, 0, or half for a tie and for neither."""
        return POINTS[self.outcome]

    @property
    def is_good(self) -> bool:
        """Whether this showing found the answer of model_a good: it won, or both are good."""
        return (self.judged or self.outcome) in ("a", "tie")

    @property
    def mirrored(self) -> "Battle":
        """The same battle seen from the other side."""
        judged = self.judged and MIRRORED[self.judged]
        return Battle(self.model_b, self.model_a, MIRRORED[self.outcome], self.question, judged)


def in_folder_order(fought: Iterable[Battle], questions: Iterable[str] = ()) -> tuple[Battle, ...]:
    """The battles as OpenCompass reads them: folder after folder, then as in the dataset.

    A folder is named after the two models as they were shown; folders are read by name. Of
    questions that `questions` does not have, the battles stay as they come.
    """
    place = {question: place for place, question in enumerate(questions)}

    def key(battle: Battle) -> tuple[str, int]:
        return f"{battle.model_a}_{battle.model_b}", place.get(battle.question or "", len(place))

    return tuple(sorted(fought, key=key))


@dataclass(frozen=True, slots=True)
class BattleTally:
    """The battles of one model.

    `both_good` counts ties between good answers, `both_bad` between bad, `contradicted` those of
    pairs whose two orders contradict each other; in `contradicted_good` of these the model's answer
    was found good. `says_neither`: verdicts could say that both answers are bad.
    """

    win: int
    both_good: int
    both_bad: int
    lose: int
    contradicted: int = 0
    contradicted_good: int = 0
    says_neither: bool = True

    @property
    def n(self) -> int:
        """All battles of the model."""
        return self.win + self.tie + self.lose

    @property
    def tie(self) -> int:
        """Battles without a winner, as OpenCompass's report counts them."""
        return self.both_good + self.both_bad + self.contradicted

    @property
    def not_bad(self) -> int | None:
        """Battles in which the model's answer was found good: it won, or both were.

        None where a bad answer that does not lose could not be called bad.
        """
        if not self.says_neither:
            return None
        return self.win + self.both_good + self.contradicted_good

    @property
    def score(self) -> int:
        """OpenCompass's score: +3 for a win, +1 for both, -1 for neither, -3 for a loss.

        A tie between two orders that contradict each other is between both and neither: 0.
        """
        return 3 * self.win + self.both_good - self.both_bad - 3 * self.lose

    @property
    def win_rate(self) -> float:
        """The share of wins with half of the ties (MT-bench's adjusted win rate)."""
        return (self.win + self.tie / 2) / self.n


@dataclass(frozen=True, slots=True)
class WinMatrix:
    """Who beat whom: `[i][j]` counts the battles of models[i] against models[j].

    `battles` and `ties` (of either kind) are symmetric, `wins[i][j]` are those that i won.
    """

    models: tuple[str, ...]
    battles: tuple[tuple[int, ...], ...]
    wins: tuple[tuple[int, ...], ...]
    ties: tuple[tuple[int, ...], ...]

    def win_share(self, row: int, column: int) -> float | None:
        """The share of their battles that `row` won, None if they never met."""
        met = self.battles[row][column]
        return self.wins[row][column] / met if met else None


@dataclass(frozen=True, slots=True)
class EncodedBattles:
    """`battles` and the same as arrays of shape (n,).

    `side_a` and `side_b` are indices in `models`, `points` what side a earned, and `question` the
    number of the question; a battle that names none has one of its own.
    """

    battles: tuple[Battle, ...]
    models: tuple[str, ...]
    side_a: NDArray[np.intp]
    side_b: NDArray[np.intp]
    points: NDArray[np.float64]
    question: NDArray[np.intp]

    def __len__(self) -> int:
        """The number of battles."""
        return len(self.battles)

    @property
    def names_questions(self) -> bool:
        """Whether any battle names its question."""
        return any(battle.question is not None for battle in self.battles)


# What ratings are made from: a caller that needs several of them encodes the battles once.
Battles = Sequence[Battle] | EncodedBattles


def encode_battles(battles: Battles) -> EncodedBattles:
    """The battles with models numbered in the order of their first appearance."""
    if isinstance(battles, EncodedBattles):
        return battles
    names = battle_models(battles)
    index = {name: number for number, name in enumerate(names)}
    return EncodedBattles(
        tuple(battles),
        names,
        np.array([index[battle.model_a] for battle in battles], dtype=np.intp),
        np.array([index[battle.model_b] for battle in battles], dtype=np.intp),
        np.array([battle.points for battle in battles], dtype=np.float64),
        _question_numbers(battles),
    )


def battle_models(battles: Sequence[Battle]) -> tuple[str, ...]:
    """The models that met, in the order of their first appearance."""
    return tuple(
        dict.fromkeys(name for battle in battles for name in (battle.model_a, battle.model_b))
    )


def tallies(battles: Sequence[Battle], *, says_neither: bool = True) -> dict[str, BattleTally]:
    """Each model's battles by their outcome; `says_neither` as in `BattleTally`."""
    counts = {name: dict.fromkeys(MIRRORED, 0) for name in battle_models(battles)}
    contradicted: dict[str, list[bool]] = {name: [] for name in counts}
    for battle in battles:
        if battle.judged is None:
            counts[battle.model_a][battle.outcome] += 1
            counts[battle.model_b][MIRRORED[battle.outcome]] += 1
        else:
            for side in (battle, battle.mirrored):
                contradicted[side.model_a].append(side.is_good)
    return {
        name: BattleTally(
            win=count["a"],
            both_good=count["tie"],
            both_bad=count["neither"],
            lose=count["b"],
            contradicted=len(contradicted[name]),
            contradicted_good=sum(contradicted[name]),
            says_neither=says_neither,
        )
        for name, count in counts.items()
    }


def win_matrix(battles: Battles) -> WinMatrix:
    """Wins and ties of each pair of models."""
    coded = encode_battles(battles)
    size = len(coded.models)
    wins = np.zeros((size, size), dtype=np.intp)
    ties = np.zeros((size, size), dtype=np.intp)
    np.add.at(wins, (coded.side_a, coded.side_b), coded.points == 1)
    np.add.at(wins, (coded.side_b, coded.side_a), coded.points == 0)
    np.add.at(ties, (coded.side_a, coded.side_b), coded.points == 0.5)
    ties += ties.T
    return WinMatrix(
        coded.models, _freeze_rows(wins + wins.T + ties), _freeze_rows(wins), _freeze_rows(ties)
    )


def reorder_matrix(matrix: WinMatrix, models: Sequence[str]) -> WinMatrix:
    """The same matrix with its rows and columns in the order of `models`, which are all of them."""
    places = [matrix.models.index(model) for model in models]
    battles, wins, ties = (
        tuple(tuple(rows[row][column] for column in places) for row in places)
        for rows in (matrix.battles, matrix.wins, matrix.ties)
    )
    return WinMatrix(tuple(models), battles, wins, ties)


def _freeze_rows(matrix: NDArray[np.intp]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _question_numbers(battles: Sequence[Battle]) -> NDArray[np.intp]:
    """Each battle's question as a number, shape (n,); a battle that names none has its own."""
    place: dict[str | int, int] = {}
    return np.array(
        [
            place.setdefault(number if one.question is None else one.question, len(place))
            for number, one in enumerate(battles)
        ],
        dtype=np.intp,
    )
