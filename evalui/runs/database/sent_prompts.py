"""The prompts of a question, made again as they were sent, for the drill-down."""

from dataclasses import dataclass

from evalui.modes import MODES
from evalui.runs.cells import setting_of, work
from evalui.runs.spec import ModeSpec
from evalui.types import Contestant, Dataset, Pattern, Request, Sample, Variant


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model was asked about one order of a question."""

    variant: Variant
    requests: tuple[Request, ...]


def prompts(
    mode: ModeSpec,
    pattern: Pattern,
    dataset: Dataset,
    sample: Sample,
    contestants: tuple[Contestant, ...] = (),
) -> tuple[Asked, ...]:
    """The requests of every variant of one question, in the order of the variants.

    Those that only earlier responses call for are left out.
    """
    scorer = MODES[mode.mode]
    setting = setting_of(mode, dataset.shots, contestants)
    return tuple(
        Asked(variant, scorer.plan(sample, variant, setting))
        for _, variant in work(mode, pattern, (sample,), setting)
    )
