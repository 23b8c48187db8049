"""Who takes part beside the models, who judges, and which answers are shown to the judge."""

import hashlib
import random
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evalui.errors import SpecError, UnknownName
from evalui.generation import SETTINGS, GenerationSettings, MaxTokens
from evalui.messages import sentence
from evalui.modes.prompts.rubrics import LATEST_VERSION, RUBRICS, Rubric, parse_rubric
from evalui.types import (
    Ability,
    ConflictRule,
    Contestant,
    JudgeOutput,
    PresentationOrders,
    Sample,
    Variant,
)

PairPlan = Literal["all", "baseline", "matrix"]
MAX_STRONG = 10  # battles of a verdict
OutputChoice = Literal["auto", "text", "schema", "probabilities", "decision"]
# Rubrics that are chosen by sample, each with its version. "" stands for the first in plans from
# before there was another; in a specification it is the latest one that its version knows.
AUTOMATIC_RUBRICS: Mapping[str, int] = {"": 1, "auto.1": 1, "auto.2": LATEST_VERSION}
# What a model must be able to do to give its verdict in each of them.
_PREFERENCE: tuple[JudgeOutput, ...] = ("schema", "probabilities", "text", "decision")
_ABILITY: Mapping[JudgeOutput, Ability] = {
    "text": "generate",
    "schema": "schema",
    "probabilities": "next_token",
    "decision": "decide",
}
ContestantIndices = tuple[
    int, ...
]  # of the contestants in one showing, without regard to who comes first


class AnswersSpec(BaseModel):
    """Answers collected elsewhere (`path`) or by an earlier run (`run`) of this server.

    A server is sent an `upload` in place of a path: the id of the one file that was uploaded, or
    with `.2` behind it the second of its files.
    `dataset` is the key of the dataset they answer; it may be left out if there is only one
    of open questions.
    `skip_faulty` leaves out rows of the file that cannot be used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    path: str = ""
    run: str = ""
    dataset: str = ""
    skip_faulty: bool = False
    upload: str = ""


@dataclass(frozen=True, slots=True)
class CollectedAnswers:
    """The answers that an `AnswersSpec` names: one tuple of turns by sample id.

    `source` is the key of the dataset in the specification, `unknown` counts rows that answer
    none of its questions.
    """

    model: str
    source: str
    answers: Mapping[str, tuple[str, ...]]
    unknown: int = 0


class JudgingSpec(GenerationSettings):
    """How answers are judged: by whom, on what form, in which pairs and orders.

    `pairs` "baseline" meets everyone with the models in `baseline`, "matrix" each of `baseline`
    with each of `against`. `sample` is the most pairs of answers judged, drawn by the seed; None
    judges all. `chat` None takes the judge's own habit, `seed` None the run's. `output` is what a
    judge gives its verdict in, as far as it and the rubric can; else text. A verdict of "much
    better" is `strong` battles.
    """

    judges: list[str] = Field(min_length=1)
    template: str | dict[str, Any] = ""
    orders: PresentationOrders = "double"
    pairs: PairPlan = "all"
    baseline: list[str] = Field(default=[])
    against: list[str] = Field(default=[])
    sample: int | None = Field(default=None, gt=0)
    conflict: ConflictRule = "tie"
    max_tokens: MaxTokens[int] = 1024  # pyright: ignore[reportIncompatibleVariableOverride] # its default is the mode's
    chat: bool | None = None
    output: OutputChoice = "auto"
    strong: int = Field(default=1, ge=1, le=MAX_STRONG)

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        """A setting that judges have no use for is refused: nothing is shown and not sent."""
        if name := next((name for name in self.given if not SETTINGS[name].setting.of_judges), ""):
            raise ValueError(sentence("error.setting-not-of-judge", setting=SETTINGS[name].label))
        return self

    def read_rubric(self) -> Rubric | None:
        """The form to use, None to choose one by sample.

        Raises:
            UnknownName, SpecError: no such form, or the user's own one is wrong.
        """
        if self._is_automatic:
            return None
        return (
            RUBRICS[self.template]
            if isinstance(self.template, str)
            else parse_rubric(self.template)
        )

    @property
    def _is_automatic(self) -> bool:
        return isinstance(self.template, str) and self.template in AUTOMATIC_RUBRICS

    @property
    def rubric_version(self) -> int:
        """The version of rubrics that are chosen by sample."""
        return AUTOMATIC_RUBRICS[str(self.template)] if self._is_automatic else LATEST_VERSION

    @property
    def says_neither(self) -> bool:
        """Whether a verdict can call both answers bad."""
        rubric = self.read_rubric()
        return rubric is None or rubric.says_neither

    @property
    def decided_output(self) -> JudgeOutput:
        """What verdicts are given in; a plan from before there was a choice has text."""
        return "text" if self.output == "auto" else self.output

    def choose_output(
        self, rubrics: Iterable[Rubric], abilities: Collection[Ability]
    ) -> JudgeOutput:
        """What a judge of these abilities gives its verdicts in, on these rubrics.

        By itself that is what is least mistakable of what all rubrics and the judge can do. A judge
        that cannot do what is wanted writes; one that only decides, decides.
        """
        known = [rubric.outputs for rubric in rubrics]
        order = _PREFERENCE if self.output == "auto" else (self.output, "text", "decision")
        for output in order:
            if _ABILITY[output] in abilities and all(output in each for each in known):
                return output
        return "text"

    @property
    def rates_single(self) -> bool:
        """Whether answers are rated one by one instead of in pairs."""
        rubric = self.read_rubric()
        return rubric is not None and rubric.single


def judged_pairs(judging: JudgingSpec, names: Sequence[str]) -> tuple[ContestantIndices, ...]:
    """Which contestants are shown together: places in `names`, each meeting once.

    Raises:
        SpecError: a name is needed and missing.
        UnknownName: a name is no contestant.
    """
    first, against = (
        _contestant_indices(judging.baseline, names),
        _contestant_indices(judging.against, names),
    )
    if judging.rates_single:
        return tuple((place,) for place in range(len(names)))
    if judging.pairs == "all":
        return tuple(combinations(range(len(names)), 2))
    if not first:
        raise SpecError("no-baseline", pairs=judging.pairs)
    second = against if judging.pairs == "matrix" else tuple(range(len(names)))
    met = {frozenset(pair): pair for pair in product(first, second) if pair[0] != pair[1]}
    return tuple(met.values())


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One question and the contestants whose answers to it are judged together."""

    sample: Sample
    places: ContestantIndices

    def is_able(self, answers: Sequence[Container[str]]) -> bool:
        """Whether all of them have answered; `answers` are the questions of each contestant."""
        return all(self.sample.id in answers[place] for place in self.places)


def drawn_items(
    judging: JudgingSpec, names: Sequence[str], samples: Sequence[Sample]
) -> tuple[JudgedItem, ...]:
    """What is judged of these contestants, those of a question together, whoever has answered.

    `judging.seed` is decided. Drawn from all, answered or not: an answer that comes later must not
    change who was drawn.
    """
    met = judged_pairs(judging, names)
    items = [JudgedItem(sample, places) for sample in samples for places in met]
    if judging.sample is None:
        return tuple(items)
    numbers = list(range(len(items)))
    random.Random(judging.seed).shuffle(numbers)
    return tuple(items[number] for number in sorted(numbers[: judging.sample]))


def presentations_of(judging: JudgingSpec, item: JudgedItem) -> Iterator[tuple[Sample, Variant]]:
    """The judgements of one item: a variant's permutation names the contestants as shown."""
    for order in _orders(judging, item.sample, item.places):
        yield item.sample, Variant(order)


def presentations(
    judging: JudgingSpec, contestants: Sequence[Contestant], samples: Sequence[Sample]
) -> Iterator[tuple[Sample, Variant]]:
    """Every judgement to ask for, those of a question together; see `drawn_items`.

    Pairs of which one has no answer are passed over.
    """
    answers = [contestant.answers for contestant in contestants]
    for item in drawn_items(judging, [contestant.name for contestant in contestants], samples):
        if item.is_able(answers):
            yield from presentations_of(judging, item)


def _contestant_indices(wanted: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    for name in wanted:
        if name not in names:
            raise UnknownName("no-contestant", name=name, known=", ".join(names))
    return tuple(names.index(name) for name in wanted)


def _orders(
    judging: JudgingSpec, sample: Sample, places: ContestantIndices
) -> tuple[ContestantIndices, ...]:
    if len(places) == 1 or judging.orders == "single":
        return (places,)
    if judging.orders == "double":
        return (places, places[::-1])
    # By a digest and not by a stream: the coin of one pair does not depend on the others.
    text = f"{judging.seed}|{sample.id}|{places}"
    coin = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[0] & 1
    return (places[::-1] if coin else places,)
