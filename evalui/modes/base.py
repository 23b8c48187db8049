"""The mode role, its parameters, and the registry of modes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from evalui.modes.prompts.rubrics import Rubric
from evalui.modes.prompts.templates import Template
from evalui.registry import Registry
from evalui.types import (
    Ability,
    Contestant,
    DatasetKind,
    Gives,
    JudgeOutput,
    Request,
    Response,
    Sample,
    Spellings,
    Trial,
    Variant,
)


@dataclass(frozen=True, slots=True)
class ModeSettings:
    """What all modes need to know beside the sample.

    `shots` are the worked examples by subject, already cut to the requested number; `chat` sends
    conversations instead of plain text; `template` None chooses one by sample (see
    `templates.choose_template`). The last five are a judge's: whose answers it compares, its
    rubric (None chooses by sample, see `rubrics.choose_rubric`, in the `rubric_version`), the
    run's seed, and what it gives its verdict in, where its rubric has it.
    """

    shots: dict[str, tuple[Sample, ...]]
    template: Template | None = None
    chat: bool = False
    max_tokens: int = 64
    unconditional: str | None = None  # cloze's UN context; None takes the template's
    spellings: Spellings = "common"  # which tokens stand for a letter, see `multiple_choice`
    contestants: tuple[Contestant, ...] = ()
    rubric: Rubric | None = None
    rubric_version: int = 1
    seed: int = 0
    output: JudgeOutput = "text"


@runtime_checkable
class Mode(Protocol):
    """Plans the requests that decide one variant of a sample, and grades the responses."""

    abilities_needed: Ability
    gives: Gives  # what its trials hold, which decides their figures
    kinds: tuple[DatasetKind, ...]  # the kinds of dataset it can evaluate
    shows_options: bool  # False: the order of the options cannot matter, only origin is run
    readings: tuple[str, ...]  # the names of the rules each trial is read under
    headline: str

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """The requests whose responses decide this variant."""
        ...

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Turn the responses to `plan`, in its order, into one trial."""
        ...


@runtime_checkable
class MultiTurn(Protocol):
    """A mode whose later requests depend on the earlier responses."""

    def follow_up(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> tuple[Request, ...]:
        """What the responses so far call for; () once `grade` can decide on all of them."""
        ...


MODES: Registry[Mode] = Registry("mode", Mode)


def shown_options(sample: Sample, variant: Variant) -> tuple[tuple[str, ...], int]:
    """The options in the order of the variant, and the slot of the right one."""
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    options = tuple(sample.choices[content] for content in variant.permutation)
    return options, variant.permutation.index(sample.target)
