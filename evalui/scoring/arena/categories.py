"""The subjective report of OpenCompass (2023): counts and scores by language and capability.

The formulas are those of its summarizer of October 2023. Three things differ by
intent: a judgement with the sides exchanged counts for the right models, a model without rows in a
dimension is None there instead of moving its column up, and capabilities are compared whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalui.proportions import wilson_interval
from evalui.scoring.arena.battles import Battle, BattleTally, tallies
from evalui.scoring.arena.verdicts import battles_from_verdicts, is_meaningful
from evalui.scoring.statistics.intervals import clustered_ratio, mean_interval
from evalui.types import SAME_ANSWERS, Interval, Language, Sample, Verdict

CategoryKind = Literal["overall", "language", "capability"]
_LANGUAGES: Mapping[str, Language] = {"CN": "zh", "EN": "en"}
_SEPARATOR = re.compile(r"[,，、;；]")


@dataclass(frozen=True, slots=True)
class SampleCategory:
    """What a question is about: its language and the capabilities it needs."""

    language: str
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoryTable:
    """One row of the report: each model's battles in it, None for a model without any.

    `name` is "Overall", "CN" or "EN", or the capability.
    """

    kind: CategoryKind
    name: str
    tallies: Mapping[str, BattleTally | None]


@dataclass(frozen=True, slots=True)
class JudgementCounts:
    """The head of the report, in presentations that were judged.

    `meaningful` are those of two different answers: OpenCompass writes `EM` for the others.
    `extracted` of these could be read. `consistent` of those are not contradicted by the other
    order, be it that there is none.
    """

    total: int
    meaningful: int
    extracted: int
    consistent: int

    @property
    def extraction_rate(self) -> float | None:
        """The share of the meaningful ones that could be read, None without any."""
        return self.extracted / self.meaningful if self.meaningful else None

    @property
    def consistent_rate(self) -> float | None:
        """The share of the readable ones that no other order contradicts, None without any."""
        return self.consistent / self.extracted if self.extracted else None


def count_judgements(
    judged: Sequence[Verdict], consistent: Sequence[Battle] | None = None
) -> JudgementCounts:
    """How many comparisons were made, could be read, and stand in both orders.

    `consistent` are the battles of these verdicts that no other order contradicts, if known.
    """
    if consistent is None:
        consistent = battles_from_verdicts(judged, "drop")
    return JudgementCounts(
        total=sum(not one.unreferenced for one in judged),
        meaningful=sum(not one.unreferenced and is_meaningful(one) for one in judged),
        extracted=sum(one.outcome is not None and is_meaningful(one) for one in judged),
        # Ties of equal answers are in both orders alike.
        consistent=len(consistent) - sum(one.rule == SAME_ANSWERS for one in judged),
    )


def capabilities(cell: str) -> tuple[str, ...]:
    """The capabilities a cell names, separated by a comma, a semicolon or 、."""
    return tuple(dict.fromkeys(name for part in _SEPARATOR.split(cell) if (name := part.strip())))


def category_of(sample: Sample) -> SampleCategory:
    """What the file of a question says that it is about."""
    metadata = sample.metadata
    return SampleCategory(
        metadata.get("language", ""), capabilities(metadata.get("capability", ""))
    )


def category_tables(
    fought: Sequence[Battle],
    topics: Mapping[str, SampleCategory],
    *,
    models: Sequence[str],
    says_neither: bool = True,
) -> tuple[CategoryTable, ...]:
    """Overall, both languages, and each capability in the order of `topics`.

    `topics` are by question; a battle without one counts in Overall alone. A question with
    several capabilities counts in each. `says_neither` as in `BattleTally`.
    """

    def table(kind: CategoryKind, name: str, battles: Sequence[Battle]) -> CategoryTable:
        counted = tallies(battles, says_neither=says_neither)
        return CategoryTable(kind, name, {model: counted.get(model) for model in models})

    known = [(one, topics.get(one.question or "", _NO_CATEGORY)) for one in fought]
    named = dict.fromkeys(name for topic in topics.values() for name in topic.capabilities)
    return (
        table("overall", "Overall", fought),
        *(
            table("language", name, [one for one, of in known if of.language == code])
            for name, code in _LANGUAGES.items()
        ),
        *(
            table("capability", name, [one for one, of in known if name in of.capabilities])
            for name in named
        ),
    )


def won_shares(fought: Sequence[Battle]) -> dict[tuple[str, str], Interval]:
    """The share of points of each of two models that met, with its range over questions."""
    earned: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for question, battle in _by_question(fought):
        one = battle if battle.model_a < battle.model_b else battle.mirrored
        earned.setdefault((one.model_a, one.model_b), []).append((question, one.points))
    shares: dict[tuple[str, str], Interval] = {}
    for (first, second), rows in earned.items():
        questions, points = zip(*rows, strict=True)
        if share := mean_interval(questions, points):
            shares[first, second] = share
            shares[second, first] = Interval(
                1 - share.value, 1 - share.high, 1 - share.low, share.n
            )
    return shares


def not_bad_shares(fought: Sequence[Battle]) -> dict[str, Interval]:
    """Of each model the share of its verdicts that it won, or that found both answers good.

    Two orders that contradict each other count as they were judged, each for itself, under any rule
    for conflicts that keeps them. Ranges are over questions.
    """
    good: dict[str, dict[str, list[float]]] = {}
    for question, battle in _by_question(fought):
        for side in (battle, battle.mirrored):
            good.setdefault(side.model_a, {}).setdefault(question, []).append(float(side.is_good))
    return {model: point_share(list(of.values())) for model, of in good.items()}


def point_share(points: Sequence[Sequence[float]]) -> Interval:
    """The share of points, those of one question in a row, with its range over questions."""
    parts = np.array([sum(row) for row in points])
    wholes = np.array([len(row) for row in points], dtype=np.float64)
    ratio = clustered_ratio(parts, wholes)
    # Questions that all gave the same share have no spread, which says too much.
    return ratio if ratio.low < ratio.high else wilson_interval(ratio.value * ratio.n, ratio.n)


_NO_CATEGORY = SampleCategory("")


def _by_question(fought: Sequence[Battle]) -> Iterator[tuple[str, Battle]]:
    """Each battle behind its question; one that names none is of a question of its own."""
    for number, battle in enumerate(fought):
        yield str(number) if battle.question is None else battle.question, battle
